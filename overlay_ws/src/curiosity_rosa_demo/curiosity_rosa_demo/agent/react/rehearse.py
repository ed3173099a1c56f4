# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rehearsals of a turn: of its plan before the first step, and of an operation before a question;
and the real motion beside its forecast. Metres and radians in the world frame.

A plan that would leave the fence is refused before it begins, or its person is asked, as the gate
says of the step. The gate checks each step again when it is due.
"""

from __future__ import annotations

from collections.abc import Iterator
import math

from curiosity_rosa_demo.agent.language.tables import say
from curiosity_rosa_demo.agent.react.forecast import Call, rehearse, Stage
from curiosity_rosa_demo.agent.react.plan import NoOperation, step_operation, trace_plan
from curiosity_rosa_demo.agent.react.turn import Turn, TurnEnvironment
from curiosity_rosa_demo.agent.tasks.origin import Approval, current_order
from curiosity_rosa_demo.domain.geometry import finite_float, Place
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.plan import Plan, PlanStep, UNFINISHED
from curiosity_rosa_demo.domain.rehearsal import Comparison, Gap, Rehearsal
from curiosity_rosa_demo.infra.config.limits import RehearsalRules
from curiosity_rosa_demo.trace.events import RehearsalCompared, RehearsalMade


def compared(
    rehearsal: Rehearsal,
    real_end: Place,
    rules: RehearsalRules,
    *,
    driven_m: float | None,
    step_id: int | None = None,
) -> Rehearsal | None:
    """The rehearsal with what has come of it up to the end of the step; by default up to its last.
    None: nothing to compare yet. ``driven_m``: what the turn has driven; None: unknown.

    On the way only a gap over its limit counts; once there is one, or at the end, it is over.
    """
    steps = rehearsal.steps
    ends = [at for at, each in enumerate(steps, 1) if step_id in (None, each.step_id)]
    if rehearsal.real is not None or not ends:
        return None
    done = steps[: ends[-1]]
    end, predicted_m = done[-1].end, sum(each.metres for each in done)
    if not predicted_m:
        return None
    real_m = None if driven_m is None else driven_m - rehearsal.driven_m
    distance_m = None if real_m is None else abs(real_m - predicted_m)
    place_m = math.hypot(real_end.x - end.x, real_end.y - end.y)
    heading_rad = abs(math.remainder(real_end.yaw_rad - end.yaw_rad, math.tau))
    limit_m = max(rules.gap_m, rules.gap_share * predicted_m)
    gaps: dict[Gap, bool] = {
        'distance': distance_m is not None and distance_m > limit_m,
        'place': place_m > limit_m,
        'heading': heading_rad > rules.gap_rad,
    }
    real = Comparison(
        predicted_m=predicted_m,
        metres=real_m,
        end=real_end,
        distance_gap_m=distance_m,
        place_gap_m=place_m,
        heading_gap_rad=heading_rad,
        limit_m=limit_m,
        exceeded=[name for name, is_over in gaps.items() if is_over],
    )
    if len(done) < len(steps) and not real.exceeded:
        return None
    return rehearsal.model_copy(update={'real': real})


def comparison_text(real: Comparison, language: str) -> str:
    gaps = say(
        'rehearsal.gaps',
        language,
        place=real.place_gap_m,
        degrees=math.degrees(real.heading_gap_rad),
    )
    if real.metres is not None:
        driven = say('rehearsal.driven', language, real=real.metres, predicted=real.predicted_m)
        gaps = say('rehearsal.comma', language).join((driven, gaps))
    name = 'differs' if real.exceeded else 'as_rehearsed'
    return say(f'rehearsal.{name}', language, gaps=gaps, limit=real.limit_m)


def compare_approved(
    approval: Approval | None, result: ToolResult, env: TurnEnvironment, language: str
) -> None:
    """Tell what came of an approved operation, if it was rehearsed."""
    if approval is not None and approval.rehearsal is not None:
        before_m, metres = approval.rehearsal.driven_m, finite_float(result.data.get('distance_m'))
        driven_m = None if metres is None else before_m + metres
        _compared(approval.rehearsal, env, driven_m, language)


def _compared(
    rehearsal: Rehearsal,
    env: TurnEnvironment,
    driven_m: float | None,
    language: str,
    step_id: int | None = None,
) -> Rehearsal:
    """The rehearsal, with what came of it once that is known. It is traced: a gap over its limit
    is an ERROR.
    """
    end, rules = env.world.pose(), env.config.guardrails.rehearsal
    if end is None:
        return rehearsal
    done = compared(rehearsal, end.place, rules, driven_m=driven_m, step_id=step_id)
    if done is None or done.real is None:
        return rehearsal
    text = comparison_text(done.real, language)
    env.trace(**RehearsalCompared(done).trace_fields(text))
    return done.model_copy(update={'text': f'{done.text}\n{text}'})


# --- Of a turn ---------------------------------------------------------------------------------


def begin_plan(turn: Turn, env: TurnEnvironment, plan: Plan) -> str:
    """Make it the plan of the turn. Why it may not begin, and is not; '': it is."""
    why = rehearse_plan(turn, env, plan)
    if not why:
        trace_plan(env.trace, plan)
        turn.plan = plan
    return why


def rehearse_plan(turn: Turn, env: TurnEnvironment, plan: Plan) -> str:
    """Rehearse the plan, trace it and keep it in the turn. Why the plan may not begin; '': it may.
    A plan that the gate would ask about at the fence asks as a whole first; of a single call the
    gate's own question is enough.
    """
    rehearsal = rehearse(_calls(plan), turn.observation, _stage(env), turn.spent)
    turn.rehearsal = rehearsal
    if rehearsal is None:
        return ''
    env.trace(**RehearsalMade(rehearsal).trace_fields())
    step = rehearsal.at_the_fence
    if step is None:
        return ''
    if step.verdict == 'refuse':  # as the gate traces its own refusal of this call
        skill, failed = step.call.partition('(')[0], {'ok': False, 'error_reason': step.reason}
        text = f'{skill}: {step.reason}'
        env.trace(TraceKind.ERROR, text, tool_name=skill, data=step.refusal, **failed)
        return f'{step.reason} (step {step.step_id}, {step.call}, as rehearsed)'
    if rehearsal.steps != [step] or rehearsal.unknown_from:
        plan.requires_confirmation = True
    return ''


def rehearse_op(turn: Turn, env: TurnEnvironment, op: Operation) -> Rehearsal | None:
    """What the operation would do from here; None: it does not drive."""
    return rehearse([Call(op)], turn.observation, _stage(env), turn.spent)


def compare_plan(turn: Turn, env: TurnEnvironment, step_id: int) -> None:
    """Compare after a step that succeeded: a gap over its limit, and the plan's end, are told."""
    rehearsal, language = turn.rehearsal, env.said.language
    if rehearsal is not None:
        turn.rehearsal = _compared(rehearsal, env, turn.spent.metres, language, step_id)


def _stage(env: TurnEnvironment) -> Stage:
    surroundings, origin = env.world.surroundings(), current_order().origin
    return Stage(env.config, env.registry, surroundings, origin, env.said.language)


def _calls(plan: Plan) -> Iterator[Call]:
    """The operations of the steps that are not done; a step without one only asks or speaks."""
    for step in plan.steps:
        op = _operation(step) if step.status in UNFINISHED else None
        if op is not None:
            fallback = _operation(step, fallback=True) if step.fallback else None
            yield Call(op, step.step_id, fallback)


def _operation(step: PlanStep, *, fallback: bool = False) -> Operation | None:
    try:
        skill, arguments = step_operation(step, fallback=fallback)
    except NoOperation:
        return None
    return Operation(skill, arguments) if skill else None
