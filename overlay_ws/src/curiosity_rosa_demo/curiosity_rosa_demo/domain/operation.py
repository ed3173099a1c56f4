# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An operation: one call of a skill, as the nodes of the agent loop pass it on.

JSON exists only in a checkpoint, which pydantic writes and reads.
"""

from __future__ import annotations

from dataclasses import dataclass
import json

from curiosity_rosa_demo.domain.models import Json
from curiosity_rosa_demo.domain.text import clip, visible
from pydantic import ConfigDict

EXACT = ConfigDict(extra='forbid')  # of the dataclasses that BrainState holds


@dataclass(frozen=True)
class Operation:
    """One call of a skill. ``arguments`` match the skill's schema. ``plan_step`` is the ID of the
    plan step that the operation executes.
    """

    __pydantic_config__ = EXACT

    skill: str
    arguments: Json
    call_id: str = ''
    plan_step: int | None = None

    @property
    def text(self) -> str:
        """The operation as a call, for people. Equal operations have equal texts."""
        return call_text(self.skill, self.arguments)

    @property
    def full_text(self) -> str:
        """The operation as a call, whole, for the person who approves it."""
        return full_call_text(self.skill, self.arguments)


def call_text(name: str, arguments: object) -> str:
    return clip(_call(name, arguments))


def full_call_text(name: str, arguments: object) -> str:
    """The call without a cut, with invisible characters escaped."""
    return visible(_call(name, arguments))


def _call(name: str, arguments: object) -> str:
    if not isinstance(arguments, dict):
        return f'{name}({_json(arguments)})'
    pairs = (f'{key}={_json(value)}' for key, value in arguments.items())
    return f'{name}({", ".join(pairs)})'


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
