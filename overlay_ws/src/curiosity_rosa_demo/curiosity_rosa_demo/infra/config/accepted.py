# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Aliases: values that a YAML contract may contain and that are read as another value."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, NamedTuple

_log = logging.getLogger('curiosity_rosa.config')


class Accepted(NamedTuple):
    """An alias: its file and key path, the accepted value, its replacement and the reason."""

    file: str
    keys: tuple[str, ...]
    value: str
    read_as: str
    why: str


ACCEPTED = (
    Accepted(
        'topics',
        ('services', 'capture_and_score', 'type'),
        'curiosity_rosa_demo/srv/CaptureAndScore',
        'curiosity_rosa_interfaces/srv/CaptureAndScore',
        'a Python package of ROS cannot define services, so they have a package of their own',
    ),
)


def with_our_names(path: Path, values: dict[str, Any]) -> dict[str, Any]:
    """Replace the aliases in ``values``, read from ``path``. Each replacement logs a warning."""
    for each in ACCEPTED:
        if each.file == path.stem and _at(values, each.keys) == each.value:
            values = _replaced(values, each.keys, each.read_as)
            _log.warning(
                'event=read_as file=%s key=%s value=%s read_as=%s hint=%r',
                *(path, '.'.join(each.keys), each.value, each.read_as, f'write that: {each.why}'),
            )
    return values


def _at(values: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _replaced(values: dict[str, Any], keys: tuple[str, ...], value: str) -> dict[str, Any]:
    first, *rest = keys
    replaced = _replaced(values[first], tuple(rest), value) if rest else value
    return {**values, first: replaced}
