# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The shortest way of a rover that drives forward and turns in arcs, and whether it is worth it.

Pure. Metres and radians in the world frame. The rover neither reverses nor turns in place, so its
ways are those of L. E. Dubins (1957): at most three arcs and lines. A plan is kept while it still
leads to the goal: a new shortest path after each leg would add a whole circle whenever the rover
narrowly misses a point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
import math

from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.refusal import Refusal, RefusalCode

TOLERANCE_M = 0.5
TOLERANCE_RAD = 0.3
KEPT_PART = 0.9  # of the tolerances: a plan that ends farther off is replaced
LOOP_RAD = math.pi  # a way that turns by more in all leads round a loop
RING_POINTS = 8
# Radii of the rings of target points, and offsets from the heading, in tolerances. The wide ring
# serves only if all else is longer than the rover may still drive.
NEAR_RINGS, WIDE_RINGS = (0.6,), (0.6, 0.85)
RESERVED_PART = 0.1  # of the bound: the first plan leaves it for corrections on the way
ON_CIRCLE = 1.0 - 1e-9  # radii; a place on the circle of an arc, within rounding errors
SIDES = {'L': 1.0, 'R': -1.0, 'S': 0.0}
Segment = tuple[str, float]  # a letter of L, S, R; metres of S, radians of L and R


@dataclass(frozen=True)
class DrivePlan:
    """Segments: a letter of L, S, R with metres for S and radians for L and R. An arc is kept as
    its angle, because the rover may turn on another radius than planned.
    """

    segments: tuple[Segment, ...]

    def length(self, radius: float) -> float:
        """The driven metres if the rover turns on ``radius``."""
        return sum(metres_of(segment, radius) for segment in self.segments)

    @property
    def is_loop(self) -> bool:
        """Whether it leads round a loop: its arcs turn by more than half a circle."""
        return sum(amount for letter, amount in self.segments if letter != 'S') > LOOP_RAD

    def end(self, start: Place, radius: float) -> Place:
        """Where the plan leads from ``start``."""
        for segment in self.segments:
            start = pose_after(start, segment[0], metres_of(segment, radius), radius)
        return start

    def after(self, amount: float) -> DrivePlan:
        """What is left when ``amount`` of the first segment has been driven."""
        (letter, whole), *rest = self.segments
        head = ((letter, whole - amount),) if whole > amount else ()
        return DrivePlan((*head, *rest))


def metres_of(segment: Segment, radius: float) -> float:
    letter, amount = segment
    return amount if letter == 'S' else amount * radius


def pose_after(start: Place, letter: str, metres: float, radius: float) -> Place:
    """The pose at the end of one segment."""
    return start.after(metres, SIDES[letter] * metres / radius)


def dubins_plans(start: Place, goal: Place, radius: float) -> Iterator[DrivePlan]:
    """Yield the ways between two poses that may be the shortest, in no order of length."""
    for first, last in product('LR', repeat=2):
        # from the centre of the first circle to that of the last, in radii
        (x0, y0), (x1, y1) = _centre(start, first, radius), _centre(goal, last, radius)
        apart, bearing = math.hypot(x1 - x0, y1 - y0), math.atan2(y1 - y0, x1 - x0)
        side, end = SIDES[first], SIDES[last]
        out, back = side * (bearing - start.yaw_rad), end * (goal.yaw_rad - bearing)
        if first == last:
            yield _plan((first, out), ('S', apart * radius), (last, back))
        elif apart >= 2.0:
            line = math.sqrt(apart * apart - 4.0)
            lean = math.atan2(2.0, line)
            yield _plan((first, out + lean), ('S', line * radius), (last, back + lean))
        if first == last and apart <= 4.0:  # a circle of the other side touches both
            lean = math.acos(apart / 4.0)
            quarter = lean + math.pi / 2
            other = 'R' if first == 'L' else 'L'
            middle = math.pi + 2.0 * lean
            yield _plan((first, out + quarter), (other, middle), (last, back + quarter))


def plans_to_place(start: Place, x: float, y: float, radius: float) -> Iterator[DrivePlan]:
    """Yield the ways to a place that may be the shortest one, with any heading at its end.

    They are an arc and a straight line to a place outside the circle of that arc, else two arcs of
    opposite directions (Bui, Soueres, Boissonnat and Laumond, "Shortest path synthesis for Dubins
    non-holonomic robot", 1994).
    """
    for first, other in ('LR', 'RL'):
        x0, y0 = _centre(start, first, radius)
        to_x, to_y, side = x / radius - x0, y / radius - y0, SIDES[first]
        away, bearing = math.hypot(to_x, to_y), math.atan2(to_y, to_x)
        if away < ON_CIRCLE:
            continue
        line = math.sqrt(max(away * away - 1.0, 0.0))
        turn = side * (bearing - start.yaw_rad) + math.atan2(1.0, line)
        yield _plan((first, turn), ('S', line * radius))
        if away <= 3.0:  # the second circle touches the first and leads through the place
            at = math.acos(min(1.0, (away * away + 3.0) / (4.0 * away)))
            for touch in (bearing + at, bearing - at):
                # The second circle's centre lies two radii away from the first's at this angle.
                seen = math.atan2(to_y - 2.0 * math.sin(touch), to_x - 2.0 * math.cos(touch))
                turn = side * (touch - start.yaw_rad) + math.pi / 2
                yield _plan((first, turn), (other, side * (touch + math.pi - seen)))


def _centre(pose: Place, letter: str, radius: float) -> tuple[float, float]:
    """The centre of the circle that the rover drives to its left or right, in radii."""
    side = SIDES[letter]
    return (
        pose.x / radius - side * math.sin(pose.yaw_rad),
        pose.y / radius + side * math.cos(pose.yaw_rad),
    )


def _plan(*segments: Segment) -> DrivePlan:
    """Arcs of less than a full turn; rounding errors just below one become 0."""
    amounts = (
        (letter, amount if letter == 'S' else amount % math.tau) for letter, amount in segments
    )
    return DrivePlan(
        tuple(
            (letter, amount)
            for letter, amount in amounts
            if amount > 0.0 and (letter == 'S' or amount <= math.tau - 1e-9)
        )
    )


@dataclass(frozen=True)
class NavigationGoal:
    """``yaw`` None: any heading."""

    x: float
    y: float
    yaw: float | None

    def distance(self, place: Place) -> float:
        return math.hypot(self.x - place.x, self.y - place.y)

    def is_reached(self, place: Place, part: float = 1.0) -> bool:
        """Whether ``place`` is within ``part`` of the tolerances."""
        return self.distance(place) <= part * TOLERANCE_M and (
            self.yaw is None
            or abs(math.remainder(place.yaw_rad - self.yaw, math.tau)) <= part * TOLERANCE_RAD
        )

    def plans(
        self, start: Place, radius: float, rings: tuple[float, ...]
    ) -> Iterator[tuple[DrivePlan, float]]:
        """Yield plans from ``start`` with their penalty in metres: to the centre, then to points
        on rings. A ring point can save a whole circle if the rover narrowly missed the centre.
        """
        offsets = (0.0, *(sign * part * TOLERANCE_RAD for part in rings for sign in (1, -1)))
        for x, y, off_m in self._places(rings):
            if self.yaw is None:
                for plan in plans_to_place(start, x, y, radius):
                    yield plan, off_m
                continue
            for offset in offsets:
                end = Place(x, y, self.yaw + offset)
                for plan in dubins_plans(start, end, radius):
                    yield plan, off_m + abs(offset)

    def _places(self, rings: tuple[float, ...]) -> Iterator[tuple[float, float, float]]:
        yield self.x, self.y, 0.0
        for ring_m in (ring * TOLERANCE_M for ring in rings):
            for i in range(RING_POINTS):
                angle = math.tau * i / RING_POINTS
                dx, dy = ring_m * math.cos(angle), ring_m * math.sin(angle)
                yield self.x + dx, self.y + dy, ring_m


def plan_drive(
    start: Place,
    goal: NavigationGoal,
    radius: float,
    *,
    longest_m: float,
    current: DrivePlan | None = None,
) -> DrivePlan:
    """The plan from ``start``: ``current`` while it leads to the goal, else the shortest path.

    The result may be longer than ``longest_m``; then no shorter one was found.
    """
    if (
        current is not None
        and current.length(radius) <= longest_m
        and goal.is_reached(current.end(start, radius), KEPT_PART)
    ):
        return current
    plan = _shortest(start, goal, radius, NEAR_RINGS)
    if plan.length(radius) <= longest_m:
        return plan
    wide = _shortest(start, goal, radius, WIDE_RINGS, penalty=0.0)
    return min(plan, wide, key=lambda each: each.length(radius))


def _shortest(
    start: Place,
    goal: NavigationGoal,
    radius: float,
    rings: tuple[float, ...],
    penalty: float = 1.0,
) -> DrivePlan:
    """The plan with the least sum of length and weighted penalty."""
    costs = (
        (plan.length(radius) + penalty * cost, plan)
        for plan, cost in goal.plans(start, radius, rings)
    )
    return min(costs, key=lambda each: each[0])[1]


def too_long(
    *, straight_m: float, driven_m: float, left_m: float, radius: float, max_detour: float
) -> Refusal | None:
    """Why a drive that needs ``left_m`` more is not worth it; None if it is.

    The bound is ``max_detour`` times the straight way from the start to the goal. The first plan
    must leave RESERVED_PART of it.
    """
    bound_m = max_detour * straight_m
    usable_m = bound_m if driven_m else (1.0 - RESERVED_PART) * bound_m
    if driven_m + left_m <= usable_m:
        return None
    done = f'{driven_m:.1f} m are driven, ' if driven_m else ''
    return Refusal(
        RefusalCode.NAV_TOO_LONG,
        f'{done}the way there takes {left_m:.1f} m for a point {straight_m:.1f} m from the start; '
        f'the rover turns on {radius:.1f} m and neither reverses nor turns in place',
        f'up to {bound_m:.1f} m, navigation.max_detour = {max_detour:g} times the straight way',
        f'at most {bound_m:.1f} m are driven; raise navigation.max_detour to '
        f'{_needed_detour(driven_m + left_m, straight_m):g}, or choose another heading, or a '
        'point farther away or straighter ahead',
        rule='max_detour',
    )


def _needed_detour(way_m: float, straight_m: float) -> float:
    """The least max_detour, in tenths, that lets a first plan of ``way_m`` pass."""
    return math.ceil(10.0 * way_m / ((1.0 - RESERVED_PART) * max(straight_m, TOLERANCE_M))) / 10.0
