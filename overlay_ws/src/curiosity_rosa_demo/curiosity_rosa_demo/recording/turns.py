# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the trace of a run tells: turns, plans, questions, rehearsals and calls of models. Pure.

Times are seconds since the start of the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.plan import ExecutionResult, Plan
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.trace.events import (
    ModelCalled,
    PlanMade,
    PlanStepEnded,
    QuestionAnswered,
    QuestionAsked,
    RehearsalCompared,
    RehearsalMade,
    TurnAnswered,
    TurnStarted,
    TypedEvent,
)


@dataclass
class Turn:
    """``goal``: the text that began it. ``answer``: its answer; without one, the last error.
    ``ended_s`` None: the recording holds no answer. ``calls``: of models.
    """

    at_s: float
    goal: str
    result: Literal['done', 'failed', 'no answer'] = 'no answer'
    answer: str = ''
    ended_s: float | None = None
    calls: list[ModelCalled] = field(default_factory=list)


@dataclass
class RecordedPlan:
    """``results``: the last one of each step that has one, by its ID."""

    at_s: float
    plan: Plan
    results: dict[int, ExecutionResult] = field(default_factory=dict)


@dataclass
class RecordedQuestion:
    """``answer`` None: the recording holds none. ``waited_s``: how long it took; None also if only
    the answer is recorded, at ``at_s``. ``text``: with the reasons to ask.
    """

    at_s: float
    text: str
    rehearsal: str = ''
    answer: QuestionAnswered | None = None
    waited_s: float | None = None


@dataclass
class RecordedRehearsal:
    """``compared``: with what came of it; None: the recording holds no comparison. ``outcome``:
    the comparison for people, at ``ended_s``.
    """

    at_s: float
    rehearsal: Rehearsal
    compared: Rehearsal | None = None
    outcome: str = ''
    ended_s: float | None = None


class Turns:
    """``events``: the oldest first. ``calls``: of models. ``plans`` and ``questions``: by ID.
    ``acts`` and ``failures``: how many.
    """

    KINDS: tuple[type[TypedEvent], ...] = (
        *(TurnStarted, TurnAnswered, ModelCalled, PlanMade, PlanStepEnded),
        *(QuestionAsked, QuestionAnswered, RehearsalMade, RehearsalCompared),
    )

    def __init__(self, events: Iterable[tuple[float, TraceEvent]] = ()) -> None:
        self.turns: list[Turn] = []
        self.calls: list[ModelCalled] = []
        self.plans: dict[str, RecordedPlan] = {}
        self.questions: dict[str, RecordedQuestion] = {}
        self.rehearsals: list[RecordedRehearsal] = []
        self.acts = self.failures = 0
        for at_s, event in events:
            self.acts += event.kind is TraceKind.ACT
            self.failures += event.ok is False
            for kind in self.KINDS:
                if (told := kind.of(event)) is not None:
                    self._take(at_s, event.message, told)
            if event.kind is TraceKind.ERROR and event.tool_name is None and self._open:
                self._open.answer = event.message

    @property
    def _open(self) -> Turn | None:
        """The turn that has no answer yet."""
        return self.turns[-1] if self.turns and self.turns[-1].ended_s is None else None

    def _take(self, at_s: float, message: str, told: TypedEvent) -> None:
        turn = self._open
        match told:
            case TurnStarted() if turn is None or told.calls == 0:  # else the open one resumes
                self.turns.append(Turn(at_s, message))
            case TurnAnswered() if turn is not None:
                turn.result = 'failed' if told.ok is False else 'done'
                turn.answer, turn.ended_s = message, at_s
            case ModelCalled():
                self.calls.append(told)
                if turn is not None:
                    turn.calls.append(told)
            case PlanMade():  # one that was traced again has the results of both times
                plan = self.plans.setdefault(told.plan.plan_id, RecordedPlan(at_s, told.plan))
                plan.plan = told.plan
            case PlanStepEnded() if told.result.plan_id in self.plans:
                self.plans[told.result.plan_id].results[told.result.step_id] = told.result
            case QuestionAsked():
                question = RecordedQuestion(at_s, message, told.rehearsal)
                self.questions.setdefault(told.question_id, question)
            case QuestionAnswered():  # only the first answer counts, as it does in a run
                asked = self.questions.get(told.question_id)
                if asked is None and told.asked:
                    asked = RecordedQuestion(at_s, told.asked, answer=told)
                    self.questions[told.question_id] = asked
                elif asked is not None and asked.answer is None:
                    asked.answer, asked.waited_s = told, max(0.0, at_s - asked.at_s)
            case RehearsalCompared():
                self._compare(at_s, message, told.rehearsal)
            case RehearsalMade():
                self.rehearsals.append(RecordedRehearsal(at_s, told.rehearsal))

    def _compare(self, at_s: float, message: str, compared: Rehearsal) -> None:
        """It belongs to the last rehearsal of this motion; that of an approved operation, which no
        event tells of before, stands alone.
        """
        motion = (compared.start, compared.end, compared.text)
        for each in reversed(self.rehearsals):
            of = each.rehearsal
            if each.compared is None and (of.start, of.end, of.text) == motion:
                break
        else:
            each = RecordedRehearsal(at_s, compared)
            self.rehearsals.append(each)
        each.compared, each.outcome, each.ended_s = compared, message, at_s
