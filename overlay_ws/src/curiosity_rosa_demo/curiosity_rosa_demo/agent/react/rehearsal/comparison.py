# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The real motion beside its forecast. Pure. Metres and radians in the world frame."""

from __future__ import annotations

import math

from curiosity_rosa_demo.agent.language.tables import say
from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.rehearsal import Comparison, Rehearsal, StepForecast
from curiosity_rosa_demo.infra.config.limits import RehearsalRules
from curiosity_rosa_demo.trace.events import RehearsalCompared, RehearsalMade
from curiosity_rosa_demo.trace.reporter import TraceFunction


def compare(
    predicted_m: float,
    predicted_end: Place,
    real_m: float | None,
    real_end: Place,
    rules: RehearsalRules,
) -> Comparison:
    """``real_m``: the measured path; None: unknown."""
    limit_m = max(rules.gap_m, rules.gap_share * predicted_m)
    distance_m = None if real_m is None else abs(real_m - predicted_m)
    place_m = math.hypot(real_end.x - predicted_end.x, real_end.y - predicted_end.y)
    turned = real_end.yaw_rad - predicted_end.yaw_rad
    heading_rad = abs(math.remainder(turned, math.tau))
    gaps = {
        'distance': distance_m is not None and distance_m > limit_m,
        'place': place_m > limit_m,
        'heading': heading_rad > rules.gap_rad,
    }
    return Comparison.model_validate(
        {
            'predicted_m': predicted_m,
            'metres': real_m,
            'end': real_end,
            'distance_gap_m': distance_m,
            'place_gap_m': place_m,
            'heading_gap_rad': heading_rad,
            'limit_m': limit_m,
            'exceeded': [name for name, is_over in gaps.items() if is_over],
        }
    )


def compared(
    rehearsal: Rehearsal,
    real_end: Place,
    rules: RehearsalRules,
    *,
    driven_m: float | None,
    step_id: int | None = None,
) -> Rehearsal | None:
    """The rehearsal with what has come of it up to the end of the step; by default up to its last.
    None: nothing to compare yet. ``driven_m``: what the turn has driven.

    On the way only a gap over its limit counts; once there is one, or at the end, it is over.
    """
    steps = rehearsal.steps
    if rehearsal.real is not None or not steps:
        return None
    places = [at for at, each in enumerate(steps) if each.step_id == step_id]
    last = places[-1] if places else -1
    if step_id is None:
        last = len(steps) - 1
    if last < 0:
        return None
    predicted_m = sum(each.metres for each in steps[: last + 1])
    if not predicted_m:
        return None
    real_m = None if driven_m is None else driven_m - rehearsal.driven_m
    real = compare(predicted_m, steps[last].end, real_m, real_end, rules)
    if last < len(steps) - 1 and not real.exceeded:
        return None
    return rehearsal.model_copy(update={'real': real})


# -----------------------------------------------------------------------------------------------
# The rehearsal and its comparison for people, in English, Japanese and Chinese. Pure.


def rehearsal_text(rehearsal: Rehearsal, language: str) -> str:
    """One line of figures; a second one when the fence stands in the way of a plan."""
    if rehearsal.why_not or rehearsal.end is None:
        return say(f'rehearsal.{rehearsal.why_not or "pose_unknown"}', language)
    if not rehearsal.steps:
        return say('rehearsal.unknown', language, call=rehearsal.unknown_from)
    parts = [
        say(
            'rehearsal.way',
            language,
            metres=rehearsal.metres,
            seconds=rehearsal.seconds,
            end=_place(rehearsal.end),
        ),
        say('rehearsal.energy', language, energy=rehearsal.energy_pct),
    ]
    margin = rehearsal.fence_margin_m
    if margin is not None:
        parts.append(
            say(
                f'rehearsal.{"outside" if margin < 0.0 else "fence"}', language, margin=abs(margin)
            )
        )
    if rehearsal.obstacle_margin_m is not None:
        parts.append(say('rehearsal.obstacle', language, margin=rehearsal.obstacle_margin_m))
    if rehearsal.unknown_from:
        parts.append(say('rehearsal.unknown_from', language, call=rehearsal.unknown_from))
    comma, end = say('rehearsal.comma', language), say('rehearsal.end', language)
    lines = [comma.join(parts) + end]
    step = rehearsal.at_the_fence
    if step is not None and step.step_id is not None:  # a question has its own reasons
        call = f'{step.step_id}. {step.call}'
        lines.append(say(f'rehearsal.{step.verdict}', language, call=call, reason=step.reason))
    return '\n'.join(lines)


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


def _place(end: Place) -> str:
    degrees = math.degrees(math.remainder(end.yaw_rad, math.tau))
    return f'x {end.x:.1f} m, y {end.y:.1f} m, {degrees:.0f}°'


# --- A rehearsal, and what came of it, as trace events -----------------------------------------


def trace_rehearsal(trace: TraceFunction, rehearsal: Rehearsal) -> None:
    trace(**RehearsalMade(rehearsal).trace_fields())


def trace_step_refusal(trace: TraceFunction, step: StepForecast) -> None:
    """As the gate traces its own refusal of this call."""
    skill = step.call.partition('(')[0]
    text = f'{skill}: {step.reason}'
    failed = {'ok': False, 'error_reason': step.reason, 'data': step.refusal}
    trace(TraceKind.ERROR, text, tool_name=skill, **failed)


def trace_comparison(trace: TraceFunction, rehearsal: Rehearsal, language: str) -> Rehearsal:
    """Trace ``rehearsal.real``: a gap over its limit is an ERROR. Returns the rehearsal with the
    text of it.
    """
    real = rehearsal.real
    assert real is not None
    text = comparison_text(real, language)
    trace(**RehearsalCompared(rehearsal).trace_fields(text))
    return rehearsal.model_copy(update={'text': f'{rehearsal.text}\n{text}'})
