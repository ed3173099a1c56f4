# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The robots of the page /fleet, each with the address of its agent's server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
import re
from urllib.parse import urlsplit

from curiosity_rosa_demo.infra.config.base import Section
from pydantic import Field, field_validator

MAX_ROBOTS = 50
TOKEN_VARIABLE = 'CURIOSITY_HTTP_TOKEN'
_NAME = r'[A-Za-z0-9_-]{1,40}'


class FleetRobot(Section):
    """``token_variable``: the environment variable with its server's token."""

    name: str = Field(pattern=f'^{_NAME}$')
    url: str
    token_variable: str = Field(default=TOKEN_VARIABLE, pattern=r'^[A-Za-z_][A-Za-z0-9_]*$')

    @field_validator('url')
    @classmethod
    def _is_address(cls, value: str) -> str:
        parts = urlsplit(value)
        _ = parts.port  # raises ValueError if it is no port
        has_only_host = parts.path in ('', '/') and not (parts.query or parts.fragment)
        if parts.scheme not in ('http', 'https') or not parts.hostname or not has_only_host:
            raise ValueError('must be an address such as http://127.0.0.1:8765')
        if parts.username is not None:
            raise ValueError('must not contain a user; its token comes from token_variable')
        return value.rstrip('/')


def unique_names(robots: Sequence[FleetRobot]) -> Sequence[FleetRobot]:
    """Raises ValueError."""
    for name, count in Counter(each.name for each in robots).items():
        if count > 1:
            raise ValueError(f'name {name!r} is taken twice; give each robot its own')
    return robots


def read_fleet(text: str) -> list[FleetRobot]:
    """The robots in text such as ``r1=http://127.0.0.1:8765,r2=http://127.0.0.1:8766``. Raises
    ValueError.
    """
    pairs = [each.partition('=') for each in re.split(r'[,\s]+', text) if each]
    robots = [FleetRobot(name=name, url=url) for name, _, url in pairs]
    if len(robots) > MAX_ROBOTS:
        raise ValueError(f'{len(robots)} robots; at most {MAX_ROBOTS}')
    return list(unique_names(robots))


def fleet_text(urls: dict[str, str]) -> str:
    """The text that ``read_fleet`` reads, of addresses by name."""
    return ','.join(f'{name}={url}' for name, url in urls.items())
