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
from typing import Annotated, Literal

from curiosity_rosa_demo.domain.models import Json
from curiosity_rosa_demo.domain.text import clip, visible
from pydantic import ConfigDict, Field


class _Exact:
    """Of the dataclasses that BrainState holds: pydantic reads their fields and no others."""

    __pydantic_config__ = ConfigDict(extra='forbid')


@dataclass(frozen=True)
class Operation(_Exact):
    """One call of a skill. ``arguments`` match the skill's schema. ``plan_step`` is the ID of the
    plan step that the operation executes.
    """

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


# --- What a decision of the agent loop proposes: one value of the union ``DecidedOp`` ----------
# ``react_decide`` makes it and ``compile_ops`` makes an Operation of it, or a question, or a
# result for the model. ``call_id`` is the ID of the call in ``BrainState.messages``.


DECIDE_TOOL = 'decide'  # the tool of the model that changes course instead of acting


@dataclass(frozen=True)
class ToolCall(_Exact):
    """A call of a tool. Its arguments have an exact JSON form; no schema has checked them yet."""

    tool: str
    arguments: Json
    call_id: str
    kind: Literal['tool_call'] = 'tool_call'

    @property
    def text(self) -> str:
        return call_text(self.tool, self.arguments)


@dataclass(frozen=True)
class CourseChange(_Exact):
    """A call of ``decide``: the decision's type, reason and plan_patch say what changes.
    ``text``: the call, for people.
    """

    call_id: str
    text: str
    kind: Literal['course_change'] = 'course_change'


@dataclass(frozen=True)
class ModelQuestion(_Exact):
    """The model asks the operator a yes-or-no question, and reads the answer as a result."""

    question: str
    call_id: str
    kind: Literal['model_question'] = 'model_question'


@dataclass(frozen=True)
class PlanStepCall(_Exact):
    """The call of the plan's step. ``question``: to the operator before the call; '' for none."""

    step_id: int
    call: ToolCall
    question: str = ''
    kind: Literal['plan_step_call'] = 'plan_step_call'


@dataclass(frozen=True)
class PlanStepQuestion(_Exact):
    """A step of the plan that only asks the operator."""

    step_id: int
    question: str
    kind: Literal['plan_step_question'] = 'plan_step_question'


@dataclass(frozen=True)
class PlanStepRejected(_Exact):
    """The operator's no to a step of the plan. ``why`` may be empty."""

    step_id: int
    why: str
    kind: Literal['plan_step_rejected'] = 'plan_step_rejected'


@dataclass(frozen=True)
class RefusedCall(_Exact):
    """A call that makes no operation. ``text``: the call, for people. ``why``: for the model.
    ``code``: of the error map; '' for none.
    """

    tool: str
    text: str
    call_id: str
    why: str
    code: str = ''
    kind: Literal['refused_call'] = 'refused_call'


PlanStepOp = PlanStepCall | PlanStepQuestion | PlanStepRejected
DecidedOp = Annotated[
    ToolCall | CourseChange | ModelQuestion | PlanStepOp | RefusedCall,
    Field(discriminator='kind'),
]
