# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Plan, PlanStep and ExecutionResult, which a model can write as JSON. Pure.

The constructors validate and raise PlanError, a ValueError. The dict forms are plain JSON and
share no objects with the instances. Times are Unix times in seconds. The docstring below a field
of Plan and PlanStep is its description in the JSON schema.

Over 300 lines in one file: the classes refer to each other, and a third of it is field texts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import time
from typing import Annotated, Any
import uuid

from curiosity_rosa_demo.domain.models import MAX_DEPTH as TOOL_DEPTH
from curiosity_rosa_demo.domain.plan.enums import (
    PlanStatus,
    RiskLevel,
    StepStatus,
    ToolCallType,
)
from curiosity_rosa_demo.domain.plan.reader import read_plan
from curiosity_rosa_demo.domain.plan.repair import repaired
from curiosity_rosa_demo.domain.plan.validation import (
    choice,
    flag,
    given_fields,
    json_object,
    optional_text,
    PlanError,
    required_text,
    seconds,
    short_repr,
    text,
    whole,
    WHOLE_END,
)
from pydantic import ConfigDict, Field

__all__ = [
    'ExecutionResult',
    'Plan',
    'PlanError',
    'PlanStatus',
    'PlanStep',
    'RiskLevel',
    'StepStatus',
    'ToolCallType',
    'create_plan_from_llm_response',
]


RequiredText = Annotated[str, Field(pattern=r'\S')]
WholeNumber = Annotated[int, Field(ge=0, lt=WHOLE_END)]
FOR_SCHEMA = ConfigDict(extra='forbid', use_attribute_docstrings=True)
UNFINISHED = (StepStatus.PENDING, StepStatus.RUNNING, StepStatus.WAIT_CONFIRMATION)


@dataclass
class PlanStep:
    """One step. ``fallback``: the action to try once when this one fails; None for none."""

    __pydantic_config__ = FOR_SCHEMA

    step_id: WholeNumber
    """Unique in the plan; left out, the step gets a number."""
    action: RequiredText
    """Name of the skill, for execute; a name for the others."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """Arguments of the skill; speak: text; query_world and query_knowledge: query; ask_user:
    prompt."""
    preconditions: dict[str, Any] = field(default_factory=dict)
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
    metadata: dict[str, Any] = field(default_factory=dict)
    """Anything else."""

    def __post_init__(self) -> None:
        whole(self.step_id, 'step_id')
        required_text(self.action, 'action')
        self.parameters = json_object(self.parameters, 'parameters')
        self.preconditions = json_object(self.preconditions, 'preconditions')
        optional_text(self.fallback, 'fallback')
        self.status = choice(StepStatus, self.status, 'status')
        text(self.description, 'description')
        self.tool_call_type = choice(ToolCallType, self.tool_call_type, 'tool_call_type')
        flag(self.requires_confirmation, 'requires_confirmation')
        optional_text(self.confirmation_message, 'confirmation_message')
        self.metadata = json_object(self.metadata, 'metadata')

    def update_status(self, new_status: StepStatus) -> None:
        self.status = choice(StepStatus, new_status, 'status')

    def to_dict(self) -> dict[str, Any]:
        return {
            'step_id': self.step_id,
            'action': self.action,
            'tool_call_type': self.tool_call_type.value,
            'parameters': json_object(self.parameters, 'parameters'),
            'preconditions': json_object(self.preconditions, 'preconditions'),
            'fallback': self.fallback,
            'status': self.status.value,
            'description': self.description,
            'requires_confirmation': self.requires_confirmation,
            'confirmation_message': self.confirmation_message,
            'metadata': json_object(self.metadata, 'metadata'),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PlanStep:
        """Ignores unknown keys. Raises PlanError."""
        return cls(**given_fields(cls, data, 'step'))


@dataclass
class Plan:
    """Steps in the order in which they are carried out, towards a goal."""

    __pydantic_config__ = FOR_SCHEMA

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
    steps: list[PlanStep] = field(default_factory=list)
    status: PlanStatus = PlanStatus.CREATED
    """How far it is. Set by the agent."""
    created_at: float = field(default_factory=time.time)
    """Unix time, seconds. Set by the agent."""
    source: str = 'llm'
    """Who wrote it. Set by the agent."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Anything else."""

    def __post_init__(self) -> None:
        required_text(self.plan_id, 'plan_id')
        required_text(self.goal, 'goal')
        text(self.reasoning, 'reasoning')
        self.risk_level = choice(RiskLevel, self.risk_level, 'risk_level')
        flag(self.requires_confirmation, 'requires_confirmation')
        optional_text(self.confirmation_message, 'confirmation_message')
        if not isinstance(self.steps, list):
            raise PlanError(f'steps must be a list, not {short_repr(self.steps)}')
        seen: set[int] = set()
        for index, step in enumerate(self.steps):
            if not isinstance(step, PlanStep):
                raise PlanError(f'steps[{index}] must be a PlanStep, not {short_repr(step)}')
            if step.step_id in seen:
                raise PlanError(f'steps[{index}].step_id must be unique, not {step.step_id} again')
            seen.add(step.step_id)
        self.status = choice(PlanStatus, self.status, 'status')
        seconds(self.created_at, 'created_at')
        text(self.source, 'source')
        self.metadata = json_object(self.metadata, 'metadata')

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

    def to_dict(self) -> dict[str, Any]:
        return {
            'plan_id': self.plan_id,
            'goal': self.goal,
            'reasoning': self.reasoning,
            'risk_level': self.risk_level.value,
            'requires_confirmation': self.requires_confirmation,
            'confirmation_message': self.confirmation_message,
            'steps': [step.to_dict() for step in self.steps],
            'status': self.status.value,
            'created_at': self.created_at,
            'source': self.source,
            'metadata': json_object(self.metadata, 'metadata'),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Plan:
        """Ignores unknown keys. Raises PlanError."""
        found = given_fields(cls, data, 'plan')
        steps = found.get('steps', [])
        if not isinstance(steps, list):
            raise PlanError(f'steps must be a list, not {short_repr(steps)}')
        found['steps'] = [_step(index, step) for index, step in enumerate(steps)]
        return cls(**found)

    @classmethod
    def create_new(
        cls,
        goal: str,
        reasoning: str = '',
        risk_level: RiskLevel = RiskLevel.LOW,
        source: str = 'llm',
    ) -> Plan:
        """A plan without steps, with a new ID."""
        return cls(_new_id(), goal, reasoning, risk_level, source=source)

    def _steps_that_are(self, status: StepStatus) -> list[PlanStep]:
        return [step for step in self.steps if step.status is status]


@dataclass
class ExecutionResult:
    """The result of a step. ``success`` must agree with a ``status`` of SUCCESS or FAILED."""

    plan_id: str
    step_id: int
    success: bool
    status: StepStatus
    message: str = ''
    output: dict[str, Any] = field(default_factory=dict)
    timestamp: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        required_text(self.plan_id, 'plan_id')
        whole(self.step_id, 'step_id')
        flag(self.success, 'success')
        self.status = choice(StepStatus, self.status, 'status')
        text(self.message, 'message')
        self.output = json_object(self.output, 'output', TOOL_DEPTH)
        seconds(self.timestamp, 'timestamp')
        if self.status is StepStatus.SUCCESS and not self.success:
            raise PlanError('success must be true when status is success, not False')
        if self.status is StepStatus.FAILED and self.success:
            raise PlanError('success must be false when status is failed, not True')

    def to_dict(self) -> dict[str, Any]:
        return {
            'plan_id': self.plan_id,
            'step_id': self.step_id,
            'success': self.success,
            'status': self.status.value,
            'message': self.message,
            'output': json_object(self.output, 'output', TOOL_DEPTH),
            'timestamp': self.timestamp,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ExecutionResult:
        """``success`` and ``status`` default to a failure. Raises PlanError."""
        if isinstance(data, dict):
            data = {'success': False, 'status': StepStatus.FAILED, **data}
        return cls(**given_fields(cls, data, 'result'))

    @classmethod
    def success_result(
        cls, plan_id: str, step_id: int, message: str = '', output: dict[str, Any] | None = None
    ) -> ExecutionResult:
        message = message or '执行成功'
        return cls(plan_id, step_id, True, StepStatus.SUCCESS, message, output or {})

    @classmethod
    def failure_result(
        cls, plan_id: str, step_id: int, message: str, output: dict[str, Any] | None = None
    ) -> ExecutionResult:
        return cls(plan_id, step_id, False, StepStatus.FAILED, message, output or {})

    @classmethod
    def skipped_result(
        cls, plan_id: str, step_id: int, message: str = '步骤已跳过'
    ) -> ExecutionResult:
        return cls(plan_id, step_id, True, StepStatus.SKIPPED, message)


def create_plan_from_llm_response(llm_output: dict[str, Any] | str, source: str = 'llm') -> Plan:
    """Create the plan that a model or a person wrote, as an object or as text that contains one.

    Deviations from JSON and from the schema are accepted if they have only one meaning
    (docs/reference/plans.md). The plan is new: its written status, time and source are ignored.
    Raises PlanError, whose message names the place and a valid form.
    """
    written = read_plan(llm_output) if isinstance(llm_output, str) else llm_output
    plan = repaired(written, plan_type=Plan, step_type=PlanStep)
    return Plan.from_dict({'plan_id': _new_id(), **plan, 'source': source})


def _new_id() -> str:
    return f'plan_{uuid.uuid4().hex[:8]}'


def _step(index: int, data: object) -> PlanStep:
    path = f'steps[{index}]'
    if not isinstance(data, dict):
        raise PlanError(f'{path} must be an object, not {short_repr(data)}')
    try:
        return PlanStep.from_dict(data)
    except PlanError as error:
        raise PlanError(f'{path}.{error}') from None
