# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where a motion may lead, and whether that is inside the fence. Pure; metres, world frame.

A reach is the convex hull of points, grown by a radius. It contains every place that the motion
may pass. The fence is a rectangle, so it contains a reach when it contains each grown point.

- Forward: the straight line along the heading.
- Turns: arcs whose radius and rate are not known beforehand. A disc with the path length as its
  radius contains them all, even when the rate changes.
- A rover that may be moving or whose heading is unknown, and every other skill that claims the
  base: the disc, too. A rover that may be moving drives for one more reaction time.
- ``navigate_to_pose`` of a rover that stands: the path that the skill plans with the configured
  radius, grown by a stop. A path that is longer than the skill drives stays where the rover is.
  Each leg is checked again before it is driven.
- ``navigate_to_pose`` of any other rover, or by Nav2: arcs to face the goal, a straight line, arcs
  to face the requested heading. An arc stays within its diameter of its start, so the line from
  pose to goal, grown by the diameter, contains the path.

A path is at most ``max_speed_mps`` times the sum of the motion's time and the reaction time long.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
import math

from curiosity_rosa_demo.agent.react.situation import (
    Limits,
    NAVIGATE_SKILL,
    Proposal,
    Situation,
)
from curiosity_rosa_demo.agent.skills.paths import (
    NavigationGoal,
    plan_drive,
    pose_after,
    too_long,
)
from curiosity_rosa_demo.domain.geometry import finite_float, Place
from curiosity_rosa_demo.domain.refusal import POSE_UNKNOWN, Refusal, RefusalCode
from curiosity_rosa_demo.infra.config.limits import Geofence

ARC_STEP_RAD = 0.1  # between two points of an arc
# A plan is made of numbers that its formulas can take: metres.
MIN_RADIUS_M, FAR_M = 0.05, 1e6
# Radii by which the shortest way between two poses may exceed the straight line. Source: Savla,
# Frazzoli and Bullo, Traveling Salesperson Problems for the Dubins Vehicle, IEEE TAC 53 (2008).
LONGEST_TURNS = 2.658 * math.pi


@dataclass(frozen=True)
class PlannedWay:
    """``metres`` of driving along ``points``, the start first; 0 metres: it does not drive."""

    metres: float
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class ReachableArea:
    points: tuple[tuple[float, float], ...]
    radius: float


def motion_seconds(proposal: Proposal, limits: Limits) -> float:
    """The longest driving time. A motion without a valid duration may use the whole leash."""
    duration_s = finite_float(proposal.op.arguments.get('duration_s'))
    if duration_s is None or not 0.0 <= duration_s <= limits.leash_s:
        duration_s = limits.leash_s
    return duration_s + limits.reaction_s


def metres_ahead(proposal: Proposal, situation: Situation, limits: Limits) -> float | None:
    """The longest path of the motion; None when it is unknown.

    For ``navigate_to_pose``: the planned way and a stop; where no plan is known, the straight
    line, LONGEST_TURNS of turning and a stop.
    """
    fastest = limits.geofence.max_speed_mps
    if proposal.skill != NAVIGATE_SKILL:
        return fastest * motion_seconds(proposal, limits)
    pose, goal = _pose(situation), _goal(proposal)
    if pose is None or goal is None:
        return None
    way = _planned_way(proposal, situation, limits)
    if way is not None:
        return way.metres + fastest * limits.reaction_s
    way_m = math.dist(pose, goal) + LONGEST_TURNS * limits.turn_radius_m
    return way_m + fastest * limits.reaction_s


def reach_of(proposal: Proposal, situation: Situation, limits: Limits) -> ReachableArea | None:
    """The places that the motion may reach; None when the pose or the goal is unknown."""
    pose, fastest = _pose(situation), limits.geofence.max_speed_mps
    if pose is None:
        return None
    stop_m = fastest * limits.reaction_s
    drift_m = 0.0 if situation.moving is False else stop_m
    if proposal.skill == NAVIGATE_SKILL:
        goal = _goal(proposal)
        if goal is None:
            return None
        if way := _planned_way(proposal, situation, limits):
            # Between two points an arc is this far from their line.
            sagitta_m = limits.turn_radius_m * (1.0 - math.cos(ARC_STEP_RAD / 2.0))
            return ReachableArea((*way.points, goal), stop_m + sagitta_m)
        # Of three arcs the middle one may lead four radii away from both ends.
        return ReachableArea((pose, goal), 4 * limits.turn_radius_m + stop_m + drift_m)
    path_m = fastest * motion_seconds(proposal, limits)
    yaw = situation.yaw_rad
    if proposal.skill == 'move_forward' and yaw is not None and situation.moving is False:
        end = (pose[0] + path_m * math.cos(yaw), pose[1] + path_m * math.sin(yaw))
        return ReachableArea((pose, end), 0.0)
    return ReachableArea((pose,), path_m + drift_m)


def _planned_way(proposal: Proposal, situation: Situation, limits: Limits) -> PlannedWay | None:
    """What the navigation drives from standstill; None: its path is not known here."""
    pose, goal, yaw = _pose(situation), _goal(proposal), situation.yaw_rad
    detour, radius = limits.max_detour, limits.turn_radius_m
    if pose is None or goal is None or yaw is None or situation.moving is not False:
        return None
    if detour is None or radius < MIN_RADIUS_M or max(map(abs, (*pose, *goal, radius))) > FAR_M:
        return None
    heading = finite_float(proposal.op.arguments.get('yaw_rad'))
    return _way_to(Place(*pose, yaw), NavigationGoal(*goal, heading), radius, detour)


@lru_cache(maxsize=64)  # several rules ask about one proposal, and a plan takes milliseconds
def _way_to(start: Place, goal: NavigationGoal, radius: float, detour: float) -> PlannedWay:
    here, straight_m = (start.x, start.y), goal.distance(start)
    if goal.is_reached(start):
        return PlannedWay(0.0, (here,))
    plan = plan_drive(start, goal, radius, longest_m=detour * straight_m)
    metres = plan.length(radius)
    if too_long(
        straight_m=straight_m, driven_m=0.0, left_m=metres, radius=radius, max_detour=detour
    ):
        return PlannedWay(0.0, (here,))
    points = [here]
    for letter, amount in plan.segments:
        whole_m = amount if letter == 'S' else amount * radius
        steps = 1 if letter == 'S' else math.ceil(amount / ARC_STEP_RAD)
        for step in range(1, steps + 1):
            place = pose_after(start, letter, whole_m * step / steps, radius)
            points.append((place.x, place.y))
        start = pose_after(start, letter, whole_m, radius)
    return PlannedWay(metres, tuple(points))


def fence_margin_m(proposal: Proposal, situation: Situation, limits: Limits) -> float | None:
    """The least distance of the motion's reach from the fence's margin: below 0, and only then,
    ``geofence_refusal`` names the place. None without a fence, a pose or a motion of the base.
    """
    if not limits.geofence.enabled or not limits.may_move_base(proposal):
        return None
    reach = reach_of(proposal, situation, limits)
    return None if reach is None else -_excess(reach, limits.geofence)[0]


def geofence_refusal(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """How the motion may leave the fence; None when it cannot or does not move the base."""
    fence = limits.geofence
    if not fence.enabled or not limits.may_move_base(proposal):
        return None
    reach = reach_of(proposal, situation, limits)
    if reach is None:
        return _leaves(fence, POSE_UNKNOWN, 'wait for the pose')
    here = _is_outside(ReachableArea(reach.points[:1], 0.0), fence)
    if here:
        return _leaves(fence, f'the rover is at {here}', 'a person must drive it back')
    there = _is_outside(reach, fence)
    if there:
        return _leaves(fence, f'may lead to {there}', 'drive for less time or another way')
    return None


def geofence_reason(proposal: Proposal, situation: Situation, limits: Limits) -> str:
    """The text of ``geofence_refusal``; '' for None."""
    refused = geofence_refusal(proposal, situation, limits)
    return refused.reason if refused else ''


def _leaves(fence: Geofence, why: str, way_out: str) -> Refusal:
    allowed = (
        f'x {fence.x_min:g} to {fence.x_max:g}, y {fence.y_min:g} to {fence.y_max:g}, '
        f'margin {fence.margin_m:g}'
    )
    return Refusal(RefusalCode.GEOFENCE, why, allowed, way_out, rule='geofence')


def _is_outside(reach: ReachableArea, fence: Geofence) -> str:
    """The place farthest beyond the fence and its margin; empty when all is inside."""
    excess, place, side = _excess(reach, fence)
    return f'{place}, beyond {side} and its margin {fence.margin_m:g}' if excess > 0.0 else ''


def _excess(reach: ReachableArea, fence: Geofence) -> tuple[float, str, str]:
    """How far the reach goes beyond the margin, the place and the side; below 0: inside."""
    sides = []
    for axis, name in enumerate('xy'):
        low, high = getattr(fence, f'{name}_min'), getattr(fence, f'{name}_max')
        least = min(point[axis] for point in reach.points) - reach.radius
        most = max(point[axis] for point in reach.points) + reach.radius
        sides.append((low + fence.margin_m - least, f'{name} {least:.5g}', f'{name}_min {low:g}'))
        sides.append((most - high + fence.margin_m, f'{name} {most:.5g}', f'{name}_max {high:g}'))
    return max(sides)


def _pose(situation: Situation) -> tuple[float, float] | None:
    return _point(situation.x, situation.y)


def _goal(proposal: Proposal) -> tuple[float, float] | None:
    return _point(*(finite_float(proposal.op.arguments.get(key)) for key in 'xy'))


def _point(x: float | None, y: float | None) -> tuple[float, float] | None:
    return None if x is None or y is None else (x, y)
