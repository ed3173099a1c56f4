# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The typed events that other parts of the system react to, and their public form, TraceEvent.

``Type.of(event)`` reads a TraceEvent; None: it is another event. ``trace_fields`` makes the fields
of one. The message of an event is for people: a model or a client may have written it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args, Literal

from curiosity_rosa_demo.domain.ground import GroundAnalysis
from curiosity_rosa_demo.domain.models import Json, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.skills import ANALYZE, CAPTURE
from curiosity_rosa_demo.trace.reporter import finite_float
from pydantic import ValidationError

TriggerChange = Literal['armed', 'fired', 'suppressed']
CHANGES: dict[object, TriggerChange] = {each: each for each in get_args(TriggerChange)}

IN_TASK = 'in_task'  # in an event's data; 'task_id' is the result of a skill for tasks


@dataclass(frozen=True)
class TurnStarted:
    """A turn started, or resumed. ``calls``: that it had made so far; 0 for a new turn. ``door``:
    through which its text came; '' when unknown. ``by``: who asked, as others see it; '' without a
    name.
    """

    calls: int
    door: str = ''
    by: str = ''

    def trace_fields(self, message: str) -> dict[str, Any]:
        known = {'origin': self.door, 'by': self.by}
        data: Json = {'turn_calls': self.calls, **{k: v for k, v in known.items() if v}}
        return {'kind': TraceKind.OBSERVE, 'message': message, 'data': data}

    @classmethod
    def of(cls, event: TraceEvent) -> TurnStarted | None:
        data = event.data or {}
        calls, door, by = data.get('turn_calls'), data.get('origin'), data.get('by')
        if event.kind is not TraceKind.OBSERVE or type(calls) is not int:
            return None
        return cls(calls, door if isinstance(door, str) else '', by if isinstance(by, str) else '')


@dataclass(frozen=True)
class TurnAnswered:
    """A turn ended with an answer; the message is the answer. A turn that failed ends with an
    ERROR.
    """

    ok: bool | None
    score: float | None

    def trace_fields(self, message: str) -> dict[str, Any]:
        return {
            'kind': TraceKind.RESULT,
            'message': message,
            'ok': self.ok,
            'score': self.score,
        }

    @classmethod
    def of(cls, event: TraceEvent) -> TurnAnswered | None:
        if event.kind is not TraceKind.RESULT or event.tool_name is not None:
            return None
        return cls(event.ok, event.score)


@dataclass(frozen=True)
class QuestionAsked:
    """The agent asked a person. ``rehearsal``: what a yes is expected to do, for people; '' when
    nothing was rehearsed. ``task_id``: the task that waits for approval; '': a turn asked, or an
    order.
    """

    question_id: str
    rehearsal: str = ''
    task_id: str = ''

    def trace_fields(self, message: str) -> dict[str, Any]:
        data: Json = {'question': self.question_id}
        if self.rehearsal:
            data['rehearsed'] = self.rehearsal
        data = with_task(data, self.task_id) or data
        return {'kind': TraceKind.DECIDE, 'message': message, 'data': data}

    @classmethod
    def of(cls, event: TraceEvent) -> QuestionAsked | None:
        data = event.data or {}
        question_id, rehearsal = data.get('question'), data.get('rehearsed', '')
        if event.kind is not TraceKind.DECIDE or not isinstance(question_id, str):
            return None
        # The question about a task has the ID of the task.
        task_id = question_id if data.get(IN_TASK) == question_id else ''
        return cls(question_id, rehearsal if isinstance(rehearsal, str) else '', task_id)


@dataclass(frozen=True)
class QuestionAnswered:
    """A question has its answer. ``why``: the reason that came with it. ``by``: who gave it, as
    that person calls himself; '' when nobody did, or when unknown. ``asked``: the question, if
    it was whether a task may run.
    """

    question_id: str
    answer: str
    why: str = ''
    by: str = ''
    asked: str = ''

    def trace_fields(self) -> dict[str, Any]:
        by = f' by {self.by}' if self.by else ''
        why = f': {self.why}' if self.why else ''
        return {
            'kind': TraceKind.OBSERVE,
            'message': f'Answer: {self.asked or self.question_id} {self.answer}{by}{why}',
            'data': {'answered': dict(vars(self))},
        }

    @classmethod
    def of(cls, event: TraceEvent) -> QuestionAnswered | None:
        fields: Any = (event.data or {}).get('answered')
        if event.kind is not TraceKind.OBSERVE or not isinstance(fields, dict):
            return None
        names = {'question_id', 'answer', 'why', 'by', 'asked'}
        fits = set(fields) == names and all(isinstance(each, str) for each in fields.values())
        return cls(**fields) if fits else None


@dataclass(frozen=True)
class SkillProgressed:
    """A running skill reported ``progress``. ``fraction``: the completed part, 0.0 to 1.0."""

    skill: str
    task_id: str
    progress: Json
    fraction: float | None

    def trace_fields(self, message: str) -> dict[str, Any]:
        return {
            'kind': TraceKind.OBSERVE,
            'message': message,
            'tool_name': self.skill,
            'data': {
                'progress': self.progress,
                'fraction': self.fraction,
                'task_id': self.task_id,
            },
        }

    @classmethod
    def of(cls, event: TraceEvent) -> SkillProgressed | None:
        data = event.data or {}
        progress, fraction, task_id = (
            data.get(key) for key in ('progress', 'fraction', 'task_id')
        )
        if event.kind is not TraceKind.OBSERVE or not isinstance(progress, dict):
            return None
        return cls(
            event.tool_name or '',
            task_id if isinstance(task_id, str) else '',
            progress,
            fraction if isinstance(fraction, float) else None,
        )


@dataclass(frozen=True)
class NodeStarted:
    """A node started, or was restarted. Such an event is not part of a turn."""

    node: str

    def trace_fields(self, message: str) -> dict[str, Any]:
        data = {'node': self.node, 'started': True}
        return {'kind': TraceKind.OBSERVE, 'message': message, 'data': data}

    @classmethod
    def of(cls, event: TraceEvent) -> NodeStarted | None:
        data = event.data or {}
        node = data.get('node')
        if data.get('started') is not True or not isinstance(node, str):
            return None
        return cls(node)


@dataclass(frozen=True)
class CaptureTaken:
    """A picture was taken and scored, or, with ``ok`` False, could not be. ``data``: the result of
    the capture.
    """

    ok: bool | None
    score: float | None
    error_reason: str | None
    data: Json | None

    @property
    def stamp_s(self) -> float | None:
        """Stamp of its frame, which its picture has too; None: the frame has none."""
        return finite_float((self.data or {}).get('image_stamp_s')) or None

    @property
    def judged_good(self) -> bool | None:
        """The simulator's judgement; None: there is none."""
        judged = (self.data or {}).get('is_good')
        return judged if isinstance(judged, bool) else None

    def is_good(self, threshold: float) -> bool:
        """As the simulator judged it, or else by ``threshold``."""
        reached = self.score is not None and self.score >= threshold
        return reached if self.judged_good is None else self.judged_good

    def trace_fields(self, message: str) -> dict[str, Any]:
        return {
            'kind': TraceKind.RESULT,
            'message': message,
            'tool_name': CAPTURE,
            'ok': self.ok,
            'score': self.score,
            'error_reason': self.error_reason,
            'data': self.data,
        }

    @classmethod
    def of(cls, event: TraceEvent) -> CaptureTaken | None:
        if event.kind is not TraceKind.RESULT or event.tool_name != CAPTURE:
            return None
        return cls(event.ok, event.score, event.error_reason, event.data)


@dataclass(frozen=True)
class GroundAnalyzed:
    """The ground of a capture was analyzed. ``stamp_s``: stamp of its frame, which its annotated
    picture has too; None: unknown.
    """

    data: Json
    stamp_s: float | None

    @property
    def analysis(self) -> GroundAnalysis | None:
        """None: the data are not those of an analysis."""
        fields = {key: self.data[key] for key in GroundAnalysis.model_fields if key in self.data}
        try:
            return GroundAnalysis.model_validate(fields)
        except ValidationError:
            return None

    @classmethod
    def of(cls, event: TraceEvent) -> GroundAnalyzed | None:
        if event.kind is not TraceKind.RESULT or event.tool_name != ANALYZE or not event.ok:
            return None
        data = event.data or {}
        return cls(data, finite_float(data.get('image_stamp_s')))


@dataclass(frozen=True)
class ModelCalled:
    """A call of a language model has ended. Tokens: ``cached`` is a part of ``input``,
    ``reasoning`` one of ``output``; ``estimated``: not all are reported by the provider. ``cost``
    None: the price is unknown. ``task_id``: '' for a call of the policy.
    """

    provider: str
    model: str
    input: int
    output: int
    cached: int
    reasoning: int
    estimated: bool
    cost: float | None
    currency: str
    task_id: str

    def text(self) -> str:
        cost = 'cost unknown' if self.cost is None else f'{self.cost:.6f} {self.currency}'
        mark = ' (estimated)' if self.estimated else ''
        return f'{self.model or self.provider}: {self.input} in, {self.output} out{mark}, {cost}'

    def trace_fields(self, message: str) -> dict[str, Any]:
        return {
            'kind': TraceKind.OBSERVE,
            'message': message,
            'data': {'model_call': dict(vars(self))},
        }

    @classmethod
    def of(cls, event: TraceEvent) -> ModelCalled | None:
        call: Any = (event.data or {}).get('model_call')
        if event.kind is not TraceKind.OBSERVE or not isinstance(call, dict):
            return None
        kinds: dict[str, tuple[type, ...]] = {
            **dict.fromkeys(('provider', 'model', 'currency', 'task_id'), (str,)),
            **dict.fromkeys(('input', 'output', 'cached', 'reasoning'), (int,)),
            'estimated': (bool,),
            'cost': (float, type(None)),
        }
        fits = set(call) == set(kinds) and all(
            type(call[name]) in kind for name, kind in kinds.items()
        )
        return cls(**call) if fits else None


@dataclass(frozen=True)
class BudgetLimitReached:
    """A call of a language model was not made: it would exceed a limit of llm.budget. ``unit``:
    ``tokens`` or a currency. ``needed``: by its estimated input; None: its price is unknown.
    """

    scope: str
    unit: str
    used: float
    needed: float | None
    limit: float

    def trace_fields(self, message: str) -> dict[str, Any]:
        return {
            'kind': TraceKind.ERROR,
            'message': message,
            'ok': False,
            'data': {'budget': dict(vars(self))},
        }

    @classmethod
    def of(cls, event: TraceEvent) -> BudgetLimitReached | None:
        reached: Any = (event.data or {}).get('budget')
        names = {'scope', 'unit', 'used', 'needed', 'limit'}
        if event.kind is not TraceKind.ERROR or event.ok is not False:
            return None
        if not isinstance(reached, dict) or set(reached) != names:
            return None
        numbers = [reached[name] for name in ('used', 'limit')]
        fits = (
            isinstance(reached['scope'], str)
            and isinstance(reached['unit'], str)
            and all(type(each) is float for each in numbers)
            and type(reached['needed']) in (float, type(None))
        )
        return cls(**reached) if fits else None


@dataclass(frozen=True)
class TriggerChanged:
    """A trigger was armed, has fired, or was suppressed when it was due."""

    trigger: str
    change: TriggerChange

    def trace_fields(self, message: str) -> dict[str, Any]:
        data = {'trigger': self.trigger, 'change': self.change}
        return {'kind': TraceKind.OBSERVE, 'message': message, 'data': data}

    @classmethod
    def of(cls, event: TraceEvent) -> TriggerChanged | None:
        data = event.data or {}
        trigger, change = data.get('trigger'), CHANGES.get(str(data.get('change')))
        if event.kind is not TraceKind.OBSERVE or not isinstance(trigger, str) or not change:
            return None
        return cls(trigger, change)


def task_of(event: TraceEvent) -> str:
    """The ID of the task in which the event happened; '': in none, or unknown."""
    typed = ModelCalled.of(event) or SkillProgressed.of(event)
    task_id = (event.data or {}).get(IN_TASK) if typed is None else typed.task_id
    return task_id if isinstance(task_id, str) else ''


def with_task(data: Json | None, task_id: str) -> Json | None:
    """The ``data`` of an event in the task ``task_id``, for ``task_of``; '': in none."""
    return {**(data or {}), IN_TASK: task_id} if task_id else data
