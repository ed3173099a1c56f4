# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Rehearsals of a turn: of its plan before the first step, and of an operation before a question.

A plan that would leave the fence is refused before it begins, or its person is asked, as the gate
says of the step. The gate checks each step again when it is due.
"""

from __future__ import annotations

from collections.abc import Iterator

from curiosity_rosa_demo.agent.language.tables import detect_language
from curiosity_rosa_demo.agent.react.guardrails.gate import current_order
from curiosity_rosa_demo.agent.react.plan.steps import NoOperation, step_operation
from curiosity_rosa_demo.agent.react.rehearsal.comparison import (
    compared,
    trace_comparison,
    trace_rehearsal,
    trace_step_refusal,
)
from curiosity_rosa_demo.agent.react.rehearsal.twin import Call, rehearse, Stage, stage_of
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.messages import with_react_fields
from curiosity_rosa_demo.domain.brain_state import BrainState
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.plan import Plan, PlanStep, UNFINISHED
from curiosity_rosa_demo.domain.rehearsal import Rehearsal


def rehearse_plan(
    state: BrainState, turn: TurnContext, plan: Plan
) -> tuple[BrainState, Plan, str]:
    """Rehearse the plan, trace it and keep it in the state. The text is why the plan may not
    begin; '': it may. A plan that the gate would ask about at the fence asks as a whole first; of
    a single call the gate's own question is enough.
    """
    rehearsal = rehearse(_calls(plan), state.react.observation, _stage(turn), state.react.spent)
    state = with_react_fields(state, rehearsal=rehearsal)
    if rehearsal is None:
        return state, plan, ''
    step = rehearsal.at_the_fence
    trace_rehearsal(turn.trace, rehearsal)
    if step is None:
        return state, plan, ''
    if step.verdict == 'refuse':
        trace_step_refusal(turn.trace, step)
        return state, plan, f'{step.reason} (step {step.step_id}, {step.call}, as rehearsed)'
    if rehearsal.steps == [step] and not rehearsal.unknown_from:
        return state, plan, ''
    return state, plan.model_copy(update={'requires_confirmation': True}), ''


def rehearse_op(state: BrainState, turn: TurnContext, op: Operation) -> Rehearsal | None:
    """What the operation would do from here; None: it does not drive."""
    return rehearse([Call(op)], state.react.observation, _stage(turn), state.react.spent)


def with_plan_compared(state: BrainState, turn: TurnContext, step_id: int) -> BrainState:
    """Compare after a step that succeeded: a gap over its limit, and the plan's end, are told."""
    rehearsal = state.react.rehearsal
    end = None if rehearsal is None else turn.world.pose()
    if rehearsal is None or end is None:
        return state
    rules = turn.config.guardrails.rehearsal
    done = compared(
        rehearsal,
        end.place,
        rules,
        driven_m=state.react.spent.metres,
        step_id=step_id,
    )
    if done is None:
        return state
    done = trace_comparison(turn.trace, done, detect_language(turn.text))
    return with_react_fields(state, rehearsal=done)


def _stage(turn: TurnContext) -> Stage:
    return stage_of(
        turn.config,
        turn.registry,
        turn.world.surroundings(),
        current_order().origin,
        detect_language(turn.text),
    )


def _calls(plan: Plan) -> Iterator[Call]:
    """The operations of the steps that are not done; a step without one only asks or speaks."""
    for step in plan.steps:
        if step.status not in UNFINISHED:
            continue
        op = _operation(step)
        if op is not None:
            fallback = _operation(step, fallback=True) if step.fallback else None
            yield Call(op, step.step_id, fallback)


def _operation(step: PlanStep, *, fallback: bool = False) -> Operation | None:
    try:
        skill, arguments = step_operation(step, fallback=fallback)
    except NoOperation:
        return None
    return Operation(skill, arguments) if skill else None


def trace_op_compared(rehearsal: Rehearsal, turn: TurnContext, metres: float | None) -> None:
    """Tell what came of an approved operation that drove ``metres``; None: unknown."""
    end = turn.world.pose()
    if end is None:
        return
    driven_m = None if metres is None else rehearsal.driven_m + metres
    rules = turn.config.guardrails.rehearsal
    done = compared(rehearsal, end.place, rules, driven_m=driven_m)
    if done is not None:
        trace_comparison(turn.trace, done, detect_language(turn.text))
