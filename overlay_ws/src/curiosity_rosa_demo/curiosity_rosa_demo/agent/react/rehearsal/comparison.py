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

from curiosity_rosa_demo.domain.dead_reckoning import Place
from curiosity_rosa_demo.domain.rehearsal import Comparison, Rehearsal
from curiosity_rosa_demo.infra.config.guardrails import RehearsalRules


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
