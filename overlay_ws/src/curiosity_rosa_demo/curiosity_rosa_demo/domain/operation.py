# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An operation: one call of a skill. An exchange: a call of a turn with its result."""

from __future__ import annotations

from dataclasses import dataclass
import json
from typing import Any

from curiosity_rosa_demo.domain.models import Json, Model, ToolResult
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.text import clip, visible
from pydantic import ConfigDict


@dataclass(frozen=True)
class Operation:
    """One call of a skill. ``arguments`` match the skill's schema. ``plan_step`` is the ID of the
    plan step that the operation executes.
    """

    __pydantic_config__ = ConfigDict(extra='forbid')

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


DECIDE_TOOL = 'decide'  # the tool of the model that changes course instead of acting
# Of refused calls: nothing is broken and nothing was started.
REFUSALS = frozenset(
    {
        RefusalCode.MAST_NOT_CLOSED,
        RefusalCode.MAST_NOT_OPEN,
        RefusalCode.NOT_STOWED,
        RefusalCode.MAST_IS_CLOSED,
        RefusalCode.MOVE_IN_PROGRESS,
        RefusalCode.OBSTACLE,
        RefusalCode.GEOFENCE,
        RefusalCode.ENERGY,
        RefusalCode.BUDGET,
        RefusalCode.REFUSED_AGAIN,
    }
)


class Exchange(Model):
    """A call of a turn and its result, None while it is not known. ``input``: the arguments as
    JSON, as text, because a model may write NaN. ``thought``: the text beside the call. ``at``:
    when the result came, in seconds since the epoch. ``by``: the rule model's mark. ``op``: what
    was carried out, as text; '' for nothing. ``edited_from``: the call before an operator changed
    it. ``retry_of``: the ID of the call that this one repeats. ``plan_step``: the ID of the plan's
    step that it is. ``picture``: a reference to the picture that a model which can see gets with
    the result, never its pixels.
    """

    tool: str
    input: str
    call_id: str = ''
    thought: str = ''
    by: str = ''
    op: str = ''
    edited_from: str = ''
    retry_of: str = ''
    plan_step: int | None = None
    result: ToolResult | None = None
    at: float = 0.0
    picture: Json | None = None

    @property
    def arguments(self) -> Any:
        return json.loads(self.input)

    @property
    def text(self) -> str:
        """The call, for people."""
        return call_text(self.tool, self.arguments)

    @property
    def code(self) -> str:
        """The error code; '' without one."""
        return '' if self.result is None else self.result.error_code

    @property
    def declined(self) -> bool:
        return self.code == RefusalCode.DECLINED

    @property
    def ok(self) -> bool:
        return self.result is not None and self.result.ok

    @property
    def reason(self) -> str:
        """Why it failed, for people and models; '' for a success."""
        return '' if self.result is None else self.result.error_reason

    @property
    def refused(self) -> bool:
        """A motion that has begun tells its duration; the same code then says why it has ended."""
        return self.code in REFUSALS and 'duration_s' not in self.data

    @property
    def data(self) -> Json:
        """Of its result."""
        return {} if self.result is None else self.result.data
