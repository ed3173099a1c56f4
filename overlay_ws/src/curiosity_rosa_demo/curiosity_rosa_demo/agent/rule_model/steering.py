# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The measured motions of the rover, and hops without a pose. Pure.

World frame, metres, radians, seconds. Speeds come from the results of earlier motions.
"""

from __future__ import annotations

import math

from curiosity_rosa_demo.agent.rule_model.beliefs import (
    Beliefs,
    MotionBelief,
    SCORE_TOLERANCE,
)
from curiosity_rosa_demo.agent.rule_model.decision import ToolCall, TurnView
from curiosity_rosa_demo.agent.rule_model.motion_search import Motions
from curiosity_rosa_demo.domain.geometry import DIRECTIONS, MotionSpeeds
from curiosity_rosa_demo.domain.skills import MOTIONS

FIRST_HOP_S = 6.0
SHORTEST_M = 0.2  # a shorter way is as much noise as speed
SEARCH_TURN = 2.1  # rad, about a third of a circle: three searches cover every direction


def motions_of(view: TurnView, facts: Beliefs) -> Motions:
    """What the motions do, as measured in this turn; before that, as the profile says."""
    speed, arc = _speed(facts), _arc(facts)
    known = view.rover.speeds
    grip = speed / known.straight if speed else arc[0] / known.arc if arc else 1.0
    turn = arc or (grip * known.arc, grip * known.turn)
    speeds = MotionSpeeds(speed or grip * known.straight, *turn)
    costs = {name: view.cost(name) for name in MOTIONS if name in view.tools}
    return Motions(costs, view.longest_s, speeds, view.rover)


def first_at_most(motions: Motions, facts: Beliefs) -> dict[str, float]:
    """The seconds that each motion may take from here: less than was refused, and none into what
    the scan shows in its way.
    """
    at_most = dict(facts.longest_s)
    for name, free_m in facts.free_m.items():
        speed = motions.speeds.arc if DIRECTIONS[name] else motions.speeds.straight
        seconds = max(0.0, free_m - motions.rover.stop_m) / speed
        at_most[name] = min(seconds, at_most.get(name, seconds))
    return at_most


def _speed(facts: Beliefs) -> float | None:
    """Forward speed in m/s, from the newest drive that moved the rover; None: not measured.

    By the poses at both ends: a measured path counts the noise of each pose as driving.
    """
    for move in reversed(facts.moves):
        if move.tool == 'move_forward' and move.start and move.end:
            metres = math.hypot(move.end.x - move.start.x, move.end.y - move.start.y)
            if metres > SHORTEST_M:
                return metres / move.duration_s
    return None


def _arc(facts: Beliefs) -> tuple[float, float] | None:
    """Speed in m/s and rate in rad/s of the newest turn with a clear angle; None: not measured."""
    for move in reversed(facts.moves):
        if move.tool != 'move_forward' and move.start and move.end:
            sign = 1.0 if move.tool == 'turn_left' else -1.0
            turned = (sign * (move.end.yaw_rad - move.start.yaw_rad)) % math.tau
            # A value just below a full turn is jitter around zero.
            if 0.05 < turned < 6.0:
                chord = math.hypot(move.end.x - move.start.x, move.end.y - move.start.y)
                metres = chord * (turned / 2.0) / math.sin(turned / 2.0)
                return metres / move.duration_s, turned / move.duration_s
    return None


def search_motion(view: TurnView, facts: Beliefs) -> ToolCall | None:
    """The next motion without a course, or None if a capture is due.

    Drives straight on while the score rises, else turns first.
    """
    since = facts.moves_since_capture
    drives = [move for move in facts.moves if move.tool == 'move_forward']
    if since:
        if since[-1].tool == 'move_forward':
            return None
        return _hop(view, 2 * FIRST_HOP_S, 'new_direction')
    if not drives:
        return _hop(view, FIRST_HOP_S, 'first_hop_for_score')
    before = [
        look for look in facts.captures if look.motions_before != facts.captures[-1].motions_before
    ]
    gain = facts.captures[-1].score - before[-1].score if before else 0.0
    if gain >= SCORE_TOLERANCE:
        seconds = sum(move.duration_s for move in _between(facts))
        wanted = 1.1 * (1.0 - facts.captures[-1].score) * seconds / gain
        return _hop(view, wanted, 'last_hop_gained', gain=f'{gain:.2f}')
    arc = _arc(facts)
    angle = math.pi if gain <= -SCORE_TOLERANCE else SEARCH_TURN
    wanted = angle / arc[1] if arc else view.longest_s
    return view.call('turn_left', 'last_hop_was_dark', {'duration_s': view.seconds(wanted)})


def _hop(view: TurnView, wanted_s: float, why: str, **values: str) -> ToolCall:
    return view.call('move_forward', why, {'duration_s': view.seconds(wanted_s)}, **values)


def _between(facts: Beliefs) -> list[MotionBelief]:
    """The motions of the newest hop, which a capture has followed."""
    last = facts.moves[-1].captures_before
    return [move for move in facts.moves if move.captures_before == last]
