# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The steering of the rule model: direction and distance to the light, and the next motion. Pure.

World frame, metres, radians, seconds. Speeds come from the results of earlier motions.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

from curiosity_rosa_demo.agent.rule_model.beliefs import (
    Beliefs,
    MotionBelief,
    Pose,
    SCORE_TOLERANCE,
)
from curiosity_rosa_demo.agent.rule_model.reasons import Reason, reason
from curiosity_rosa_demo.agent.rule_model.turn_view import TurnView

FIRST_HOP_S = 6.0  # long enough to measure speed and gradient, short enough to be cheap
FIRST_TURN_S = 5.0
EDGE_OVERSHOOT_M = 0.5  # target distance beyond the edge of the light
ARRIVED_M = 0.3
LEG_M = 5.0  # reach of a slope; at least twice the distance on which it was measured
STRAIGHT_ENOUGH = 0.35  # rad; a forward drive at this error loses 6 % of its length
SEARCH_TURN = 2.1  # rad, about a third of a circle: three searches cover every direction


@dataclass(frozen=True)
class SearchHeading:
    """Drive along ``heading`` for ``remaining`` metres; ``source`` is the reason."""

    heading: float
    remaining: float
    source: Reason


@dataclass(frozen=True)
class Motion:
    tool: str
    duration_s: float
    why: Reason


def gradient(samples: list[tuple[Pose, float]]) -> tuple[float, float] | None:
    """Score per metre along x and y, or None when the samples show no slope.

    Least squares for score = a + gx x + gy y with a small ridge, so that samples on one line give
    the slope along that line. Zero scores lie on the flat part of the light and would bend the
    plane, so they are left out. The newest of them counts if it is the last sample, or if fewer
    than two places have a score above zero.
    """
    lit = [(pose, score) for pose, score in samples if score > 0.0]
    dark = [(pose, score) for pose, score in samples if score <= 0.0]
    if dark and (len({(p.x, p.y) for p, _ in lit}) < 2 or samples[-1][1] <= 0.0):
        lit.append(dark[-1])
    if len(lit) < 2:
        return None
    n = len(lit)
    mx, my = sum(p.x for p, _ in lit) / n, sum(p.y for p, _ in lit) / n
    ms = sum(s for _, s in lit) / n
    rows = [(p.x - mx, p.y - my, s - ms) for p, s in lit]
    xx, yy = sum(x * x for x, _, _ in rows), sum(y * y for _, y, _ in rows)
    xy = sum(x * y for x, y, _ in rows)
    xs, ys = sum(x * s for x, _, s in rows), sum(y * s for _, y, s in rows)
    ridge = 0.003 * (xx + yy) + 1e-9
    xx, yy = xx + ridge, yy + ridge
    det = xx * yy - xy * xy
    gx, gy = (yy * xs - xy * ys) / det, (xx * ys - xy * xs) / det
    return (gx, gy) if math.hypot(gx, gy) > 0.005 else None


def search_heading(view: TurnView, facts: Beliefs) -> SearchHeading | None:
    """The course to the light: by the hint unless it is refuted, else by the slope, else None."""
    pose, samples = facts.pose, facts.samples
    if pose is None:
        return None
    slope = gradient(samples)
    # All samples are dark, or the turn would be over: a sample beyond the edge refutes the hint.
    beyond_edge = [p.x for p, _ in samples if view.bright_x is not None and p.x > view.bright_x]
    if view.bright_x is not None and not beyond_edge and not (slope and slope[0] < 0.0):
        return SearchHeading(
            0.0,
            view.bright_x + EDGE_OVERSHOOT_M - pose.x,
            reason('hint', x=f'{view.bright_x:g}'),
        )
    if slope:
        at, score = samples[-1]
        steepness = math.hypot(*slope)
        ux, uy = slope[0] / steepness, slope[1] / steepness
        left = (at.x - pose.x) * ux + (at.y - pose.y) * uy + 1.1 * (1.0 - score) / steepness
        reach = max(LEG_M, 2.0 * max(math.hypot(p.x - at.x, p.y - at.y) for p, _ in samples))
        left = min(left, reach - math.hypot(at.x - pose.x, at.y - pose.y))
        if not facts.moves_since_capture:
            left = max(left, EDGE_OVERSHOOT_M)  # still dark here: go at least this far
        return SearchHeading(
            math.atan2(uy, ux), left, reason('slope', steepness=f'{steepness:.2f}')
        )
    if beyond_edge:
        return SearchHeading(0.0, max(beyond_edge) + 3.0 - pose.x, reason('further_on'))
    return None


def speed(facts: Beliefs) -> float | None:
    """Forward speed in m/s, from the newest drive that moved the rover; None: not measured."""
    for move in reversed(facts.moves):
        if move.tool == 'move_forward' and (move.distance_m or 0.0) > 0.05:
            return (move.distance_m or 0.0) / move.duration_s
    return None


def turn_rate(facts: Beliefs) -> float | None:
    """Turn rate in rad/s, from the newest turn with a clear angle; None: not measured."""
    for move in reversed(facts.moves):
        if move.tool != 'move_forward' and move.start and move.end:
            sign = 1.0 if move.tool == 'turn_left' else -1.0
            turned = (sign * (move.end.yaw - move.start.yaw)) % math.tau
            # A value just below a full turn is jitter around zero.
            if 0.05 < turned < 6.0:
                return turned / move.duration_s
    return None


def motion_along(view: TurnView, facts: Beliefs) -> Motion | None:
    """The next motion, or None if a capture is due."""
    course = search_heading(view, facts)
    if course is None or facts.pose is None:
        return search_motion(view, facts)
    drives = [move for move in facts.moves if move.tool == 'move_forward']
    first_hop_unseen = bool(drives) and drives[0].captures_before == len(facts.captures)
    if course.remaining <= ARRIVED_M or first_hop_unseen:
        return None
    error = math.remainder(course.heading - facts.pose.yaw, math.tau)
    if abs(error) > STRAIGHT_ENOUGH:
        rate = turn_rate(facts)
        wanted = abs(error) / rate if rate else FIRST_TURN_S
        tool = 'turn_left' if error > 0.0 else 'turn_right'
        degrees = math.degrees(abs(error))
        why = reason(f'off_to_the_{tool[5:]}', source=course.source, degrees=f'{degrees:.0f}')
        return Motion(tool, view.seconds(wanted), why)
    speed_mps = speed(facts)
    if speed_mps is None:
        return Motion(
            'move_forward',
            view.seconds(FIRST_HOP_S),
            reason('first_hop_for_speed', source=course.source),
        )
    wanted = course.remaining / (speed_mps * math.cos(error))
    return Motion(
        'move_forward',
        view.seconds(wanted),
        reason('ahead', source=course.source, metres=f'{course.remaining:.1f}'),
    )


def search_motion(view: TurnView, facts: Beliefs) -> Motion | None:
    """The next motion without a course, or None if a capture is due.

    Drives straight on while the score rises, else turns first.
    """
    since = facts.moves_since_capture
    drives = [move for move in facts.moves if move.tool == 'move_forward']
    if since:
        if since[-1].tool == 'move_forward':
            return None
        return Motion('move_forward', view.seconds(2 * FIRST_HOP_S), reason('new_direction'))
    if not drives:
        return Motion('move_forward', view.seconds(FIRST_HOP_S), reason('first_hop_for_score'))
    before = [
        look for look in facts.captures if look.motions_before != facts.captures[-1].motions_before
    ]
    gain = facts.captures[-1].score - before[-1].score if before else 0.0
    if gain >= SCORE_TOLERANCE:
        seconds = sum(move.duration_s for move in _between(facts))
        wanted = 1.1 * (1.0 - facts.captures[-1].score) * seconds / gain
        return Motion(
            'move_forward', view.seconds(wanted), reason('last_hop_gained', gain=f'{gain:.2f}')
        )
    rate = turn_rate(facts)
    angle = math.pi if gain <= -SCORE_TOLERANCE else SEARCH_TURN
    wanted = angle / rate if rate else view.longest_s
    return Motion('turn_left', view.seconds(wanted), reason('last_hop_was_dark'))


def _between(facts: Beliefs) -> list[MotionBelief]:
    """The motions of the newest hop, which a capture has followed."""
    last = facts.moves[-1].captures_before
    return [move for move in facts.moves if move.captures_before == last]
