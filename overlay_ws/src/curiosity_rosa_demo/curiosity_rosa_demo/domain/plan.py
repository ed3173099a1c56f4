# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Plan, PlanStep and ExecutionResult, which a model can write as JSON. Pure.

The constructors raise ValueError, and ``from_dict`` raises PlanError, a ValueError. The dict forms
are plain JSON. Times are Unix times in seconds. The docstring below a field of Plan and PlanStep
is its description in the JSON schema.

``python -m curiosity_rosa_demo.domain.plan`` prints schema/plan.schema.json.
"""

from __future__ import annotations

from enum import Enum
import json
import time
from typing import Annotated, Any, TypeVar
import uuid

from curiosity_rosa_demo.domain.models import Json, Model
from curiosity_rosa_demo.domain.serde import first_problem
from pydantic import ConfigDict, Field, field_validator, model_validator, ValidationError
from typing_extensions import dataclass_transform

M = TypeVar('M', bound='PlanModel')

MAX_STEPS = 200


class PlanError(ValueError):
    """The plan is invalid. The message names the place and the value there."""


class RiskLevel(str, Enum):
    LOW = 'low'
    MEDIUM = 'medium'
    HIGH = 'high'


class StepStatus(str, Enum):
    PENDING = 'pending'
    RUNNING = 'running'
    SUCCESS = 'success'
    FAILED = 'failed'
    SKIPPED = 'skipped'
    WAIT_CONFIRMATION = 'wait_confirmation'


class PlanStatus(str, Enum):
    CREATED = 'created'
    APPROVED = 'approved'
    EXECUTING = 'executing'
    COMPLETED = 'completed'
    FAILED = 'failed'
    CANCELLED = 'cancelled'
    WAIT_CONFIRMATION = 'wait_confirmation'


class ToolCallType(str, Enum):
    EXECUTE = 'execute'
    ASK_USER = 'ask_user'
    SPEAK = 'speak'
    QUERY_WORLD = 'query_world'
    QUERY_KNOWLEDGE = 'query_knowledge'
    NOOP = 'noop'


UNFINISHED = (StepStatus.PENDING, StepStatus.RUNNING, StepStatus.WAIT_CONFIRMATION)
RequiredText = Annotated[str, Field(pattern=r'\S')]
WholeNumber = Annotated[int, Field(ge=0, lt=2**63)]  # an SQLite column holds integers below this


@dataclass_transform(field_specifiers=(Field,))
class PlanModel(Model):
    """As Model, but with fields that may be set."""

    model_config = ConfigDict(frozen=False, use_attribute_docstrings=True)

    def to_dict(self) -> dict[str, Any]:
        return self.model_dump(mode='json')

    @classmethod
    def from_dict(cls: type[M], data: dict[str, Any]) -> M:
        """Ignores unknown keys. Raises PlanError."""
        try:
            return cls.model_validate(data, extra='ignore')
        except ValidationError as error:
            raise PlanError(first_problem(error)) from None


class PlanStep(PlanModel):
    """One step. ``fallback``: the action to try once when this one fails; None for none."""

    step_id: WholeNumber
    """Unique in the plan; left out, the step gets a number."""
    action: RequiredText
    """Name of the skill, for execute; a name for the others."""
    parameters: Json = Field(default_factory=dict)
    """Arguments of the skill; speak: text; query_world and query_knowledge: query; ask_user:
    prompt."""
    preconditions: Json = Field(default_factory=dict)
    """What must hold before, else the step fails: name of a fact, and its value; the name may end
    in _above, _below, _at_least, _at_most, _is_not, _in (list), _within ([low, high])."""
    fallback: str | None = None
    """Skill to try once when the step fails; its arguments: metadata.fallback_parameters."""
    status: StepStatus = StepStatus.PENDING
    """How far it is. Set by the agent."""
    description: str = ''
    """For people."""
    tool_call_type: ToolCallType = ToolCallType.EXECUTE
    """What kind of step."""
    requires_confirmation: bool = False
    """A person is asked before the step."""
    confirmation_message: str | None = None
    """What the person is asked."""
    metadata: Json = Field(default_factory=dict)
    """Anything else."""

    def update_status(self, new_status: StepStatus) -> None:
        self.status = StepStatus(new_status)


class Plan(PlanModel):
    """Steps in the order in which they are carried out, towards a goal."""

    plan_id: RequiredText
    """Name of the plan; left out, it gets one."""
    goal: RequiredText
    """What is to be reached."""
    reasoning: str = ''
    """Why these steps."""
    risk_level: RiskLevel = RiskLevel.LOW
    """high: a person is asked first."""
    requires_confirmation: bool = False
    """A person is asked before the first step."""
    confirmation_message: str | None = None
    """What the person is asked."""
    steps: list[PlanStep] = Field(default_factory=list)
    status: PlanStatus = PlanStatus.CREATED
    """How far it is. Set by the agent."""
    created_at: float = Field(default_factory=time.time)
    """Unix time, seconds. Set by the agent."""
    source: str = 'llm'
    """Who wrote it. Set by the agent."""
    metadata: Json = Field(default_factory=dict)
    """Anything else."""

    @field_validator('steps')
    @classmethod
    def _ids_are_unique(cls, steps: list[PlanStep]) -> list[PlanStep]:
        ids = [step.step_id for step in steps]
        if twice := [each for index, each in enumerate(ids) if each in ids[:index]]:
            raise ValueError(f'a step_id must be unique, and {twice[0]} is there twice')
        return steps

    def add_step(self, step: PlanStep) -> None:
        """Append a step. Raises PlanError when the plan already has its ID."""
        if any(step.step_id == other.step_id for other in self.steps):
            free = self.next_step_id()
            raise PlanError(f'step_id {step.step_id} is taken; the next free one is {free}')
        self.steps.append(step)

    def get_pending_steps(self) -> list[PlanStep]:
        return self._steps_that_are(StepStatus.PENDING)

    def get_current_step(self) -> PlanStep | None:
        """The first RUNNING step, or None."""
        return next(iter(self._steps_that_are(StepStatus.RUNNING)), None)

    def get_waiting_confirmation_steps(self) -> list[PlanStep]:
        return self._steps_that_are(StepStatus.WAIT_CONFIRMATION)

    def get_failed_steps(self) -> list[PlanStep]:
        return self._steps_that_are(StepStatus.FAILED)

    def is_finished(self) -> bool:
        """Whether no step is unfinished; true for a plan without steps."""
        return not any(step.status in UNFINISHED for step in self.steps)

    def is_success(self) -> bool:
        """Whether every step is a SUCCESS; false for a plan without steps."""
        return bool(self.steps) and all(s.status is StepStatus.SUCCESS for s in self.steps)

    def next_step_id(self) -> int:
        return max((step.step_id for step in self.steps), default=0) + 1

    @classmethod
    def create_new(
        cls,
        goal: str,
        reasoning: str = '',
        risk_level: RiskLevel = RiskLevel.LOW,
        source: str = 'llm',
    ) -> Plan:
        """A plan without steps, with a new ID."""
        return cls(new_plan_id(), goal, reasoning, risk_level, source=source)

    def _steps_that_are(self, status: StepStatus) -> list[PlanStep]:
        return [step for step in self.steps if step.status is status]


class ExecutionResult(PlanModel):
    """The result of a step. ``success`` must agree with a ``status`` of SUCCESS or FAILED."""

    plan_id: RequiredText
    step_id: WholeNumber
    success: bool
    status: StepStatus
    message: str = ''
    output: Json = Field(default_factory=dict)
    timestamp: float = Field(default_factory=time.time)

    @model_validator(mode='after')
    def _success_fits(self) -> ExecutionResult:
        ends = {StepStatus.SUCCESS: True, StepStatus.FAILED: False}
        if ends.get(self.status, self.success) is not self.success:
            raise ValueError(f'success must not be {self.success} with {self.status.value}')
        return self

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ExecutionResult:
        """As PlanModel's. ``success`` and ``status`` default to a failure."""
        if isinstance(data, dict):
            data = {'success': False, 'status': StepStatus.FAILED, **data}
        return super().from_dict(data)

    @classmethod
    def success_result(
        cls, plan_id: str, step_id: int, message: str = '', output: Json | None = None
    ) -> ExecutionResult:
        message = message or '执行成功'
        return cls(plan_id, step_id, True, StepStatus.SUCCESS, message, output or {})

    @classmethod
    def failure_result(
        cls, plan_id: str, step_id: int, message: str, output: Json | None = None
    ) -> ExecutionResult:
        return cls(plan_id, step_id, False, StepStatus.FAILED, message, output or {})

    @classmethod
    def skipped_result(
        cls, plan_id: str, step_id: int, message: str = '步骤已跳过'
    ) -> ExecutionResult:
        return cls(plan_id, step_id, True, StepStatus.SKIPPED, message)


def new_plan_id() -> str:
    return f'plan_{uuid.uuid4().hex[:8]}'


def plan_schema() -> dict[str, Any]:
    """The JSON schema, for an editor. Every to_dict() with steps is valid against it."""
    schema = Plan.model_json_schema()
    schema['properties']['steps'].update(minItems=1, maxItems=MAX_STEPS)
    # The agent adds missing IDs.
    schema['required'], schema['$defs']['PlanStep']['required'] = ['goal', 'steps'], ['action']
    return {'$schema': 'https://json-schema.org/draft/2020-12/schema', **schema}


def schema_text() -> str:
    return json.dumps(plan_schema(), indent=2) + '\n'


if __name__ == '__main__':
    print(schema_text(), end='')
