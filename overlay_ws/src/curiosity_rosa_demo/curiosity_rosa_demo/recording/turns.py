# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""What the trace of a run tells: turns, plans, questions, rehearsals and costs. Pure.

Times are seconds since the start of the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.operation import call_text
from curiosity_rosa_demo.domain.plan import ExecutionResult, Plan, PlanStep
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.text import count_text
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
)


@dataclass
class Costs:
    """Tokens and money of some calls of models. ``cached`` is a part of ``input``. ``money``:
    amounts by currency. ``unpriced``: calls whose price is unknown. ``estimated``: some tokens
    are.
    """

    calls: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    money: dict[str, float] = field(default_factory=dict)
    unpriced: int = 0
    estimated: bool = False

    def add(self, other: Costs | ModelCalled) -> None:
        self.input += other.input
        self.cached += other.cached
        self.output += other.output
        self.estimated |= other.estimated
        if isinstance(other, Costs):
            calls, money, unpriced = other.calls, other.money, other.unpriced
        else:
            calls, unpriced = 1, int(other.cost is None)
            money = {} if other.cost is None else {other.currency: other.cost}
        self.calls += calls
        self.unpriced += unpriced
        for currency, amount in money.items():
            self.money[currency] = self.money.get(currency, 0.0) + amount

    @property
    def tokens(self) -> int:
        return self.input + self.output

    @property
    def money_text(self) -> str:
        parts = [f'{amount:.6g} {currency}' for currency, amount in self.money.items()]
        parts += [f'{count_text(self.unpriced, "call")} unknown'] if self.unpriced else []
        return ', '.join(parts)


@dataclass
class Turn:
    """``goal``: the text that began it. ``answer``: its answer; without one, the last error.
    ``ended_s`` None: the recording holds no answer.
    """

    at_s: float
    goal: str
    result: Literal['done', 'failed', 'no answer'] = 'no answer'
    answer: str = ''
    ended_s: float | None = None
    costs: Costs = field(default_factory=Costs)


@dataclass
class RecordedPlan:
    """``results``: the last one of each step that has one, by its ID."""

    at_s: float
    plan: Plan
    results: dict[int, ExecutionResult] = field(default_factory=dict)

    @property
    def steps(self) -> list[tuple[PlanStep, str, ExecutionResult | None]]:
        """Each step with what it calls, and its result; None: it has none."""
        return [
            (each, call_text(each.action, each.parameters), self.results.get(each.step_id))
            for each in self.plan.steps
        ]


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
    text: str
    compared: Rehearsal | None = None
    outcome: str = ''
    ended_s: float | None = None

    @property
    def differs(self) -> bool:
        real = None if self.compared is None else self.compared.real
        return real is not None and bool(real.exceeded)


class Turns:
    """``events``: the oldest first. ``costs``: by the name of the model, in the order of its first
    call. ``plans`` and ``questions``: by their IDs.
    """

    def __init__(self, events: Iterable[tuple[float, TraceEvent]] = ()) -> None:
        self.turns: list[Turn] = []
        self.plans: dict[str, RecordedPlan] = {}
        self.questions: dict[str, RecordedQuestion] = {}
        self.rehearsals: list[RecordedRehearsal] = []
        self.costs: dict[str, Costs] = {}
        takers: dict[Any, Any] = {
            TurnStarted: self._on_start,
            TurnAnswered: self._on_answer,
            ModelCalled: self._on_model,
            PlanMade: self._on_plan,
            PlanStepEnded: self._on_step,
            QuestionAsked: self._on_question,
            QuestionAnswered: self._on_reply,
            RehearsalMade: self._on_rehearsal,
            RehearsalCompared: self._on_comparison,
        }
        for at_s, event in events:
            for kind, take in takers.items():
                if (told := kind.of(event)) is not None:
                    take(at_s, event, told)
            if event.kind is TraceKind.ERROR and event.tool_name is None and self._open:
                self._open.answer = event.message

    @property
    def _open(self) -> Turn | None:
        """The turn that has no answer yet."""
        return self.turns[-1] if self.turns and self.turns[-1].ended_s is None else None

    def _on_start(self, at_s: float, event: TraceEvent, start: TurnStarted) -> None:
        """A turn that resumes is the one that was interrupted."""
        if self._open is None or start.calls == 0:
            self.turns.append(Turn(at_s, event.message))

    def _on_answer(self, at_s: float, event: TraceEvent, answer: TurnAnswered) -> None:
        if turn := self._open:
            turn.result = 'failed' if answer.ok is False else 'done'
            turn.answer, turn.ended_s = event.message, at_s

    def _on_model(self, _at_s: float, _event: TraceEvent, call: ModelCalled) -> None:
        self.costs.setdefault(call.model or call.provider, Costs()).add(call)
        if self._open:
            self._open.costs.add(call)

    def _on_plan(self, at_s: float, _event: TraceEvent, made: PlanMade) -> None:
        """A plan that was traced again has the results of both times."""
        self.plans.setdefault(made.plan.plan_id, RecordedPlan(at_s, made.plan)).plan = made.plan

    def _on_step(self, _at_s: float, _event: TraceEvent, ended: PlanStepEnded) -> None:
        if plan := self.plans.get(ended.result.plan_id):
            plan.results[ended.result.step_id] = ended.result

    def _on_question(self, at_s: float, event: TraceEvent, asked: QuestionAsked) -> None:
        question = RecordedQuestion(at_s, event.message, asked.rehearsal)
        self.questions.setdefault(asked.question_id, question)

    def _on_reply(self, at_s: float, _event: TraceEvent, answer: QuestionAnswered) -> None:
        """Only the first answer counts, as it does in a run."""
        question = self.questions.get(answer.question_id)
        if question is None and answer.asked:
            self.questions[answer.question_id] = RecordedQuestion(
                at_s, answer.asked, answer=answer
            )
        elif question is not None and question.answer is None:
            question.answer, question.waited_s = answer, max(0.0, at_s - question.at_s)

    def _on_rehearsal(self, at_s: float, event: TraceEvent, made: RehearsalMade) -> None:
        self.rehearsals.append(RecordedRehearsal(at_s, made.rehearsal, event.message))

    def _on_comparison(self, at_s: float, event: TraceEvent, made: RehearsalCompared) -> None:
        """It belongs to the last rehearsal of this motion; that of an approved operation, which no
        event tells of before, stands alone.
        """
        forecast = made.rehearsal
        motion = (forecast.start, forecast.end, forecast.text)
        for each in reversed(self.rehearsals):
            of = each.rehearsal
            if each.compared is None and (of.start, of.end, of.text) == motion:
                break
        else:
            each = RecordedRehearsal(at_s, forecast, forecast.text)
            self.rehearsals.append(each)
        each.compared, each.outcome, each.ended_s = forecast, event.message, at_s
