# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""What a proposed motion costs beyond the planner's best one, in a search for the light. Pure."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

from curiosity_rosa_demo.agent.rule_model.beliefs import Beliefs, beliefs_from, Mast
from curiosity_rosa_demo.agent.rule_model.explore import LOOK_TOOLS
from curiosity_rosa_demo.agent.rule_model.light_belief import LightBelief
from curiosity_rosa_demo.agent.rule_model.look_planner import next_look
from curiosity_rosa_demo.agent.rule_model.motion_search import Motions
from curiosity_rosa_demo.agent.rule_model.steering import motions_of
from curiosity_rosa_demo.agent.rule_model.turn_view import TurnView
from curiosity_rosa_demo.domain.geometry import DIRECTIONS, Place
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.trace.reporter import finite_float

FORWARD = 'move_forward'


def detour_cost(
    view: TurnView, tool: str, arguments: Mapping[str, Any], measured: Place | None = None
) -> float:
    """The price of this call, at most that of a drive, and what the planner expects of the search
    after it, less what it expects now; 0 for what it cannot compare: no search, no pose, no
    motion. ``measured``: the pose, for a turn that has not asked for it.
    """
    facts = beliefs_from(view)
    pose = facts.pose or measured
    if pose is None or view.said.intent.kind != 'explore':
        return 0.0
    after = _pose_after(pose, tool, arguments, motions_of(view, facts))
    if after is None:
        return 0.0
    start = facts.poses[min(facts.poses)] if facts.poses else pose
    belief = LightBelief(start, view.bright_x, facts.samples)
    seen = any(capture.motions_before == facts.spot for capture in facts.captures)
    now = _expected(view, facts, belief, pose, facts.mast, seen_here=seen)
    stowed = facts.mast if facts.mast is Mast.NONE else Mast.CLOSED
    then = _expected(view, facts, belief, after, stowed, seen_here=False)
    if now is None:
        return 0.0
    price = min(view.cost(tool), view.cost(FORWARD))  # a ride is dear for its length
    return math.inf if then is None else price + then - now


def _expected(
    view: TurnView,
    facts: Beliefs,
    belief: LightBelief,
    pose: Place,
    mast: Mast,
    *,
    seen_here: bool,
) -> float | None:
    look = next_look(
        pose,
        mast,
        belief,
        motions_of(view, facts),
        {name: view.cost(name) for name in (*MOTIONS, *LOOK_TOOLS)},
        obstacles=tuple(facts.obstacles),
        seen_here=seen_here,
    )
    return None if look is None else look.expected


def _pose_after(
    pose: Place, tool: str, arguments: Mapping[str, Any], motions: Motions
) -> Place | None:
    """Where the call leads as the rover's motions were measured; None: it is no motion."""
    seconds = finite_float(arguments.get('duration_s'))
    if tool in DIRECTIONS and seconds is not None:
        speed = motions.turn_speed if DIRECTIONS[tool] else motions.speed
        turn = DIRECTIONS[tool] * motions.turn_rate * seconds
        return pose.after(speed * seconds, turn)
    metres = finite_float(arguments.get('distance_m'))
    if tool == 'drive_distance' and metres is not None:
        return pose.after(metres, 0.0)
    degrees = finite_float(arguments.get('angle_deg'))
    if tool == 'turn_angle' and degrees is not None:
        turn = math.radians(degrees)
        return pose.after(abs(turn) * motions.radius_m, turn)
    x, y = finite_float(arguments.get('x')), finite_float(arguments.get('y'))
    if tool == 'navigate_to_pose' and x is not None and y is not None:
        return Place(x, y, math.atan2(y - pose.y, x - pose.x))
    return None
