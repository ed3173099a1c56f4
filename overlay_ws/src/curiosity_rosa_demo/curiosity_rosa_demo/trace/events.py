# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The types of trace events.

``Type.of(event)`` reads a TraceEvent; None: it is another event. ``trace_fields`` makes the fields
of one. Its ``type`` names the type; that of an event of an older recording is empty, and what the
event holds decides. The message of an event is for people: a model or a client may have written
it.
"""

from __future__ import annotations

from operator import not_
from typing import Annotated, Any, ClassVar, Literal

from curiosity_rosa_demo.domain.ground import GroundAnalysis
from curiosity_rosa_demo.domain.models import Json, Model, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.plan import ExecutionResult, Plan
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.trace.reporter import TOOL_RESULT
from pydantic import ConfigDict, Field, ValidationError
from typing_extensions import dataclass_transform, Self

Tokens = Annotated[int, Field(ge=0, le=10**12)]  # another node, or a file, may tell any
TriggerChange = Literal['armed', 'fired', 'suppressed']

IN_TASK = 'in_task'  # in an event's data; 'task_id' is the result of a skill for tasks
EVENT_FIELDS = ('tool_name', 'ok', 'score', 'error_reason')  # all others stand in the data


@dataclass_transform(field_specifiers=(Field,))
class TypedEvent(Model):
    """``KINDS``: that the event may have, the usual one first. ``KEY``: of its data, under which
    the fields stand; '': they are the data. A field with the alias ``data`` is all of the data.
    """

    model_config = ConfigDict(strict=True, validate_by_name=True, serialize_by_alias=True)

    TYPE: ClassVar[str]
    KINDS: ClassVar[tuple[TraceKind, ...]] = (TraceKind.OBSERVE,)
    KEY: ClassVar[str] = ''

    def text(self) -> str:
        """The message, for a type that has one of its own."""
        return ''

    def trace_fields(self, message: str = '') -> dict[str, Any]:
        fields = self.model_dump(mode='json')
        of_event = {name: fields.pop(name) for name in EVENT_FIELDS if name in fields}
        data = {**fields.pop('data', {}), **fields}
        return {
            'type': self.TYPE,
            'kind': self.KINDS[0],
            'message': message or self.text(),
            'data': ({self.KEY: data} if self.KEY else data) or None,
            **of_event,
        }

    @classmethod
    def of(cls, event: TraceEvent) -> Self | None:
        if event.type not in ('', cls.TYPE) or event.kind not in cls.KINDS:
            return None
        data: Any = event.data or {}
        data = data.get(cls.KEY) if cls.KEY else data
        of_event = {name: getattr(event, name) for name in EVENT_FIELDS}
        try:
            return cls.model_validate(
                {**data, 'data': data, **of_event}, by_name=False, extra='ignore'
            )
        except (TypeError, ValidationError):  # the data are no object, or not its own
            return None


class TurnStarted(TypedEvent):
    """A turn started, or resumed. ``calls``: that it had made so far; 0 for a new turn. ``door``:
    through which its text came; '' when unknown. ``by``: who asked, as others see it; '' without a
    name.
    """

    TYPE = 'turn_started'

    calls: int = Field(alias='turn_calls')
    door: str = Field(default='', alias='origin', exclude_if=not_)
    by: str = Field(default='', exclude_if=not_)


class TurnAnswered(TypedEvent):
    """A turn ended with an answer; the message is the answer."""

    TYPE, KINDS = 'turn_answered', (TraceKind.RESULT,)

    ok: bool | None
    score: float | None
    tool_name: None = None


class TurnFailed(TypedEvent):
    """A turn ended without success; the message is the reason. In older recordings it is an ERROR
    without a type.
    """

    TYPE, KINDS = 'turn_failed', (TraceKind.ERROR,)

    ok: bool | None
    score: float | None
    error_reason: str | None
    tool_name: None = None


class QuestionAsked(TypedEvent):
    """The agent asked a person. ``rehearsal``: what a yes is expected to do, for people; '' when
    nothing was rehearsed. ``in_task``: the task in which it was asked.
    """

    TYPE, KINDS = 'question_asked', (TraceKind.DECIDE,)

    question_id: str = Field(alias='question')
    rehearsal: str = Field(default='', alias='rehearsed', exclude_if=not_)
    in_task: str = Field(default='', exclude_if=not_)

    @property
    def task_id(self) -> str:
        """The task that waits for approval; '': a turn asked, or an order. The question about a
        task has the ID of the task.
        """
        return self.in_task if self.in_task == self.question_id else ''


class QuestionAnswered(TypedEvent):
    """A question has its answer. ``why``: the reason that came with it. ``by``: who gave it, as
    that person calls himself; '' when nobody did, or when unknown. ``asked``: the question, if
    it was whether a task may run.
    """

    TYPE, KEY = 'question_answered', 'answered'

    question_id: str
    answer: str
    why: str = ''
    by: str = ''
    asked: str = ''

    def text(self) -> str:
        by = f', by {self.by}' if self.by else ''
        why = f': {self.why}' if self.why else ''
        return f'Answer to {self.asked or self.question_id}: {self.answer}{by}{why}'


class SkillProgressed(TypedEvent):
    """A running skill reported ``progress``. ``fraction``: the completed part, 0.0 to 1.0."""

    TYPE = 'skill_progressed'

    skill: str = Field(alias='tool_name')
    task_id: str
    progress: Json
    fraction: float | None


class NodeStarted(TypedEvent):
    """A node started, or was restarted. Such an event is not part of a turn. ``started`` has no
    default: other events name their node, too.
    """

    TYPE = 'node_started'

    node: str
    started: Literal[True]


class CaptureTaken(TypedEvent):
    """A picture was taken and scored, or, with ``ok`` False, could not be. ``image_stamp_s``: of
    its frame. ``judged_good``: the simulator's judgement; None: there is none.
    """

    TYPE, KINDS = TOOL_RESULT, (TraceKind.RESULT,)

    ok: bool | None
    score: float | None
    error_reason: str | None
    image_stamp_s: float | None = None
    judged_good: bool | None = Field(default=None, alias='is_good')
    tool_name: Literal['capture_and_score'] = 'capture_and_score'

    @property
    def stamp_s(self) -> float | None:
        """Stamp of its frame, which its picture has too; None: the frame has none."""
        return self.image_stamp_s or None

    def is_good(self, threshold: float) -> bool:
        """As the simulator judged it, or else by ``threshold``."""
        reached = self.score is not None and self.score >= threshold
        return reached if self.judged_good is None else self.judged_good


class GroundAnalyzed(TypedEvent):
    """The ground of a capture was analyzed. ``stamp_s``: stamp of its frame, which its annotated
    picture has too; None: unknown.
    """

    TYPE, KINDS = TOOL_RESULT, (TraceKind.RESULT,)

    analysis: GroundAnalysis = Field(alias='data')
    stamp_s: float | None = Field(default=None, alias='image_stamp_s')
    ok: Literal[True] = True
    tool_name: Literal['analyze_ground'] = 'analyze_ground'


class ModelCalled(TypedEvent):
    """A call of a language model has ended. Tokens: ``cached`` is a part of ``input``,
    ``reasoning`` one of ``output``; ``estimated``: not all are reported by the provider. ``cost``
    None: the price is unknown. ``task_id``: '' for a call of the policy.
    """

    TYPE, KEY = 'model_called', 'model_call'

    provider: str
    model: str
    input: Tokens
    output: Tokens
    cached: Tokens
    reasoning: Tokens
    estimated: bool
    cost: float | None
    currency: str
    task_id: str

    def text(self) -> str:
        cost = 'cost unknown' if self.cost is None else f'{self.cost:.6f} {self.currency}'
        mark = ' (estimated)' if self.estimated else ''
        return f'{self.model or self.provider}: {self.input} in, {self.output} out{mark}, {cost}'


class BudgetLimitReached(TypedEvent):
    """A call of a language model was not made: it would exceed a limit of llm.budget. ``unit``:
    ``tokens`` or a currency. ``needed``: by its estimated input; None: its price is unknown.
    """

    TYPE, KINDS, KEY = 'budget_limit_reached', (TraceKind.ERROR,), 'budget'

    scope: str
    unit: str
    used: float
    needed: float | None
    limit: float
    ok: Literal[False] = False


class TriggerChanged(TypedEvent):
    """A trigger was armed, has fired, or was suppressed when it was due."""

    TYPE = 'trigger_changed'

    trigger: str
    change: TriggerChange


# --- Plans and rehearsals ----------------------------------------------------------------------


class PlanMade(TypedEvent):
    """The agent has a plan."""

    TYPE, KINDS = 'plan_made', (TraceKind.HYPOTHESIZE,)

    plan: Plan = Field(alias='data')


class PlanStepEnded(TypedEvent):
    """A step of a plan has ended, or was skipped. ``told``: the event of its call's result has
    told people so before.
    """

    TYPE, KINDS = 'plan_step_ended', (TraceKind.RESULT, TraceKind.ERROR)

    result: ExecutionResult = Field(alias='data')
    told: bool = Field(default=False, exclude_if=not_)
    tool_name: Literal['plan'] = 'plan'

    def text(self) -> str:
        return f'plan step {self.result.step_id}: {self.result.message}'

    def trace_fields(self, message: str = '') -> dict[str, Any]:
        ended = {**super().trace_fields(message), 'ok': self.result.success}
        if self.result.success:
            return ended
        return {**ended, 'kind': TraceKind.ERROR, 'error_reason': self.result.message}


class RehearsalMade(TypedEvent):
    """A plan was rehearsed."""

    TYPE = 'rehearsal_made'
    KINDS: ClassVar[tuple[TraceKind, ...]] = (TraceKind.HYPOTHESIZE,)

    rehearsal: Rehearsal
    tool_name: Literal['rehearsal'] = 'rehearsal'

    def text(self) -> str:
        return self.rehearsal.text


class RehearsalCompared(RehearsalMade):
    """What was rehearsed is over: ``rehearsal.real`` holds what came of it. A gap over its limit
    is an ERROR. The path and the steps are those of the rehearsal, and not repeated.
    """

    TYPE, KINDS = 'rehearsal_compared', (TraceKind.OBSERVE, TraceKind.ERROR)

    def trace_fields(self, message: str = '') -> dict[str, Any]:
        compared = super().trace_fields(message)
        compared['data']['rehearsal'] = self.rehearsal.model_dump(
            mode='json', exclude={'path', 'steps'}
        )
        if self.rehearsal.real is None or not self.rehearsal.real.exceeded:
            return compared
        return {**compared, 'kind': TraceKind.ERROR, 'ok': False, 'error_reason': message}


def with_task(data: Json | None, task_id: str) -> Json | None:
    """The ``data`` of an event in the task ``task_id``; '': in none."""
    return {**(data or {}), IN_TASK: task_id} if task_id else data
