# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether the charge is enough for a motion and for the way from its end home. Pure.

Home is the charging place of guardrails.yaml. The longest path of the motion and the straight way
home from the farthest place that it may reach must leave ``reserve`` above ``battery.low``: at
that level the rover stops and charges where it stands, and does not come home.

With less, only what leads home passes:

- a straight drive or a way whose end is nearer to home than the rover. The distance to a point is
  convex along a line, so no place on the line is farther from home than the rover is now;
- a turn to the side where home lies, or to any side while home lies behind.

An unknown charge refuses nothing: the rover may have no battery topic. A skill that drives by
motions of its own is not checked as a whole, because each of its motions passes this rule.
"""

from __future__ import annotations

import math

from curiosity_rosa_demo.agent.react.guardrails.geofence import metres_ahead, reach_of
from curiosity_rosa_demo.agent.react.guardrails.situation import (
    Limits,
    NAVIGATE_SKILL,
    Proposal,
    Situation,
)
from curiosity_rosa_demo.domain.refusal import POSE_UNKNOWN, Refusal, RefusalCode

TURN_SIDES = {'turn_left': 1.0, 'turn_right': -1.0}
BEHIND_RAD = 0.75 * math.pi  # from this bearing of home on, a turn to either side leads home


def energy_home(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """The charge is enough for this motion and the way home after it, or the motion leads home."""
    energy, charge = limits.energy, situation.battery
    if not energy.enabled or charge is None or proposal.skill not in limits.motions:
        return None
    least = limits.battery_low + energy.reserve
    needed = needed_charge(proposal, situation, limits)
    if needed is None:
        return _short(POSE_UNKNOWN, least, limits, 'wait for the pose')
    if charge >= needed or _leads_home(proposal, situation, limits):
        return None
    why = f'the battery is at {charge:.1%}, this motion and the way home need {needed:.1%}'
    return _short(why, least, limits, 'charge first: stand with the mast stowed; or drive home')


def needed_charge(proposal: Proposal, situation: Situation, limits: Limits) -> float | None:
    """The charge, 0.0 to 1.0 or more, with which the motion may begin; None: unknown pose."""
    ahead, reach = metres_ahead(proposal, situation, limits), reach_of(proposal, situation, limits)
    if ahead is None or reach is None:
        return None
    if situation.moving is not False:  # it may drive on until a stop ends that motion
        ahead += limits.geofence.max_speed_mps * limits.reaction_s
    farthest = max(math.dist(point, _home(limits)) for point in reach.points) + reach.radius
    least = limits.battery_low + limits.energy.reserve
    return least + limits.energy.charge_per_m * (ahead + farthest)


def _leads_home(proposal: Proposal, situation: Situation, limits: Limits) -> bool:
    reach, yaw = reach_of(proposal, situation, limits), situation.yaw_rad
    if reach is None or situation.moving is not False:
        return False
    (x, y), end, home = reach.points[0], reach.points[-1], _home(limits)
    if proposal.skill == NAVIGATE_SKILL or (proposal.skill not in TURN_SIDES and yaw is not None):
        return math.dist(end, home) < math.dist((x, y), home)
    if yaw is None or (x, y) == home:
        return False
    bearing = math.remainder(math.atan2(home[1] - y, home[0] - x) - yaw, math.tau)
    return TURN_SIDES[proposal.skill] * bearing > 0.0 or abs(bearing) >= BEHIND_RAD


def _home(limits: Limits) -> tuple[float, float]:
    return (limits.energy.home_x, limits.energy.home_y)


def _short(why: str, least: float, limits: Limits, way_out: str) -> Refusal:
    x, y = _home(limits)
    allowed = f'a motion after which {least:.0%} are left at home, x {x:g}, y {y:g}'
    return Refusal(RefusalCode.ENERGY, why, allowed, way_out)
