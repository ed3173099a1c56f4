# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""``decide``: the one tool that is no skill. With it a model changes course instead of acting."""

from __future__ import annotations

from typing import Literal

from curiosity_rosa_demo.domain.brain_state import DecisionType
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.operation import DECIDE_TOOL
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field, model_validator

PROPOSED_KEY = 'proposed'  # in a plan's metadata: the model has proposed it
TOOL_DESCRIPTION = (
    'Change course instead of acting. type: REPLAN with plan_patch (propose or revise a plan, '
    'which is then carried out step by step, or drop it); ASK_HUMAN with a yes-or-no question as '
    'reason; SWITCH_TASK with the other goal as reason; FINISH with the answer as reason; ABORT '
    'with the reason why the goal cannot be reached; RETRY or CONTINUE to go on as before.'
)


class PlanPatch(BaseModel):
    """A plan: goal, risk_level (low, medium, high), steps; each step: action (a tool's name),
    parameters, and if need be tool_call_type, preconditions, fallback, requires_confirmation.
    """

    model_config = ConfigDict(extra='forbid')
    action: Literal['propose', 'revise', 'drop']
    plan: dict[str, object] | str | None = None


class DecideArguments(BaseModel):
    model_config = ConfigDict(extra='forbid')
    type: DecisionType
    reason: str = Field(default='', max_length=4000)
    plan_patch: PlanPatch | None = None

    @model_validator(mode='after')
    def _require_goal(self) -> DecideArguments:
        if self.type is DecisionType.SWITCH_TASK and not self.reason.strip():
            raise ValueError('SWITCH_TASK needs the other goal as reason')
        return self


def decide_tool() -> BaseTool:
    """The tool, used for its schema only; it is never run."""

    def decide(**_: object) -> ToolResult:
        raise NotImplementedError

    return StructuredTool.from_function(
        func=decide,
        name=DECIDE_TOOL,
        description=f'{TOOL_DESCRIPTION} Cost: 0.',
        args_schema=DecideArguments,
    )
