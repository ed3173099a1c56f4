# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The turns of a run: what was asked for, and what came of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.operation import call_text
from curiosity_rosa_demo.domain.plan.plan import ExecutionResult, Plan, PlanStep
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

# --- What the calls of language models used. Pure ----------------------------------------------


@dataclass(frozen=True)
class Costs:
    """Tokens and money of some calls. ``cached`` is a part of ``input``. ``money``: amounts by
    currency. ``unpriced``: calls whose price is unknown. ``estimated``: some tokens are.
    """

    calls: int
    input: int
    cached: int
    output: int
    money: tuple[tuple[str, float], ...]
    unpriced: int
    estimated: bool

    @property
    def tokens(self) -> int:
        return self.input + self.output

    @property
    def money_text(self) -> str:
        parts = [f'{amount:.6g} {currency}' for currency, amount in self.money]
        parts += [f'{count_text(self.unpriced, "call")} unknown'] if self.unpriced else []
        return ', '.join(parts)


def costs_of(calls: Sequence[ModelCalled]) -> Costs:
    money: dict[str, float] = {}
    for call in calls:
        if call.cost is not None:
            money[call.currency] = money.get(call.currency, 0.0) + call.cost
    return Costs(
        calls=len(calls),
        input=sum(call.input for call in calls),
        cached=sum(call.cached for call in calls),
        output=sum(call.output for call in calls),
        money=tuple(money.items()),
        unpriced=sum(call.cost is None for call in calls),
        estimated=any(call.estimated for call in calls),
    )


def costs_by_model(calls: Iterable[ModelCalled]) -> list[tuple[str, Costs]]:
    """By the name of the model, in the order of its first call."""
    found: dict[str, list[ModelCalled]] = {}
    for call in calls:
        found.setdefault(call.model or call.provider, []).append(call)
    return [(model, costs_of(each)) for model, each in found.items()]


Result = Literal['done', 'failed', 'no answer']


@dataclass(frozen=True)
class RecordedTurn:
    """``goal``: the text that began it. ``answer``: its answer; without one, the last error.
    ``ended_s`` None: the recording holds no answer. Seconds since the start of the run.
    """

    at_s: float
    goal: str
    result: Result
    answer: str
    ended_s: float | None
    costs: Costs


@dataclass
class _OpenTurn:
    at_s: float
    goal: str
    calls: list[ModelCalled] = field(default_factory=list)
    error: str = ''

    def ended(self, result: Result, answer: str, ended_s: float | None) -> RecordedTurn:
        return RecordedTurn(self.at_s, self.goal, result, answer, ended_s, costs_of(self.calls))


def recorded_turns(events: Sequence[tuple[float, TraceEvent]]) -> list[RecordedTurn]:
    """``events``: the oldest first. A turn that resumes is the one that was interrupted."""
    turns: list[RecordedTurn] = []
    current: _OpenTurn | None = None
    for at_s, event in events:
        start = TurnStarted.of(event)
        if start is not None and (current is None or start.calls == 0):
            if current is not None:
                turns.append(current.ended('no answer', current.error, None))
            current = _OpenTurn(at_s, event.message)
        elif current is not None:
            answered, call = TurnAnswered.of(event), ModelCalled.of(event)
            if answered is not None:
                result: Result = 'failed' if answered.ok is False else 'done'
                turns.append(current.ended(result, event.message, at_s))
                current = None
            elif call is not None:
                current.calls.append(call)
            elif event.kind is TraceKind.ERROR and event.tool_name is None:
                current.error = event.message
    if current is not None:
        turns.append(current.ended('no answer', current.error, None))
    return turns


# --- The plans of a run, with the results of their steps. Pure ---------------------------------


@dataclass
class RecordedPlan:
    """``results``: the last one of each step that has one, by its ID. ``at_s``: seconds since the
    start of the run.
    """

    at_s: float
    plan: Plan
    results: dict[int, ExecutionResult] = field(default_factory=dict)

    @property
    def steps(self) -> list[tuple[PlanStep, str, ExecutionResult | None]]:
        """Each step with what it calls, and its result; None: it has none."""
        return [
            (each, step_text(each), self.results.get(each.step_id)) for each in self.plan.steps
        ]


def step_text(step: PlanStep) -> str:
    """What the step does, as a call."""
    return call_text(step.action, step.parameters)


def recorded_plans(events: Sequence[tuple[float, TraceEvent]]) -> list[RecordedPlan]:
    """``events``: the oldest first. A plan that was traced again has the results of both times."""
    plans: dict[str, RecordedPlan] = {}
    for at_s, event in events:
        made, ended = PlanMade.of(event), PlanStepEnded.of(event)
        if made is not None:
            known = plans.setdefault(made.plan.plan_id, RecordedPlan(at_s, made.plan))
            known.plan = made.plan
        elif ended is not None and (of := plans.get(ended.result.plan_id)) is not None:
            of.results[ended.result.step_id] = ended.result
    return list(plans.values())


# --- The questions of a run and their answers. Pure --------------------------------------------


@dataclass(frozen=True)
class RecordedQuestion:
    """``answer`` None: the recording holds none. ``answered_s``: when it came; None also if only
    the answer is recorded, at ``at_s``. ``text``: with the reasons to ask. Seconds since the start
    of the run.
    """

    at_s: float
    text: str
    rehearsal: str
    answer: QuestionAnswered | None = None
    answered_s: float | None = None

    @property
    def waited_s(self) -> float | None:
        """How long the answer took; None: there is none."""
        return None if self.answered_s is None else max(0.0, self.answered_s - self.at_s)


def recorded_questions(events: Sequence[tuple[float, TraceEvent]]) -> list[RecordedQuestion]:
    """``events``: the oldest first. Only the first answer counts, as it does in a run."""
    questions: dict[str, RecordedQuestion] = {}
    for at_s, event in events:
        asked, answer = QuestionAsked.of(event), QuestionAnswered.of(event)
        if asked is not None and asked.question_id not in questions:
            question = RecordedQuestion(at_s, event.message, asked.rehearsal)
            questions[asked.question_id] = question
        elif answer is not None:
            known = questions.get(answer.question_id)
            if known is None and answer.asked:
                questions[answer.question_id] = RecordedQuestion(at_s, answer.asked, '', answer)
            if known is not None and known.answer is None:
                answered = replace(known, answer=answer, answered_s=at_s)
                questions[answer.question_id] = answered
    return list(questions.values())


# --- The rehearsals of a run, and what came of them. Pure --------------------------------------


@dataclass
class RecordedRehearsal:
    """``compared``: with what came of it; None: the recording holds no comparison. ``outcome``:
    the comparison for people, at ``ended_s``. Seconds since the start of the run.
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


def recorded_rehearsals(events: Sequence[tuple[float, TraceEvent]]) -> list[RecordedRehearsal]:
    """``events``: the oldest first. A comparison belongs to the last rehearsal of this motion;
    that of an approved operation, which no event tells of before, stands alone.
    """
    found: list[RecordedRehearsal] = []
    for at_s, event in events:
        made, compared = RehearsalMade.of(event), RehearsalCompared.of(event)
        if made is not None:
            found.append(RecordedRehearsal(at_s, made.rehearsal, event.message))
        elif compared is not None:
            forecast = compared.rehearsal
            known = [
                each
                for each in found
                if each.compared is None and _is_same(each.rehearsal, forecast)
            ]
            if not known:
                known = [RecordedRehearsal(at_s, forecast, forecast.text)]
                found += known
            last = known[-1]
            last.compared, last.outcome, last.ended_s = forecast, event.message, at_s
    return found


def _is_same(one: Rehearsal, other: Rehearsal) -> bool:
    return (one.start, one.end, one.text) == (other.start, other.end, other.text)
