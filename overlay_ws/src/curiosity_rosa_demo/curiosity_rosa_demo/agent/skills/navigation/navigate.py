# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill ``navigate_to_pose`` for a rover that only drives straight and in arcs.

A closed loop: look where the rover is, plan the shortest way (dubins.py), drive the beginning of
it for a few seconds, look again. How fast it drives and how tightly it turns is learned from what
each leg did. World frame, metres, radians, seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import math
from typing import Annotated

from curiosity_rosa_demo.agent.skills.navigation.dubins import Place, Way, ways
from curiosity_rosa_demo.agent.skills.navigation.speed_estimate import (
    GUESSED_RADIUS_M,
    Pace,
    turning_radius,
)
from curiosity_rosa_demo.agent.skills.progress import part_done
from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.trace.reporter import number
from pydantic import Field

TOLERANCE_M = 0.5
TOLERANCE_RAD = 0.3
HEADINGS = 16  # tried where any will do
LEG_S = 5.0
FIRST_LEG_S = 1.5  # of a motion whose speed is not known yet
SHORTEST_LEG_S = 0.2
MAX_LEGS = 100
STUCK_LEGS = 3  # in a row that hardly moved the rover
MOST_TURN_RAD = 1.5  # of a leg
LOOKS, LOOK_S = 5, 0.2  # for a pose that is missing
MOTION = {'L': 'turn_left', 'S': 'move_forward', 'R': 'turn_right'}

Metres = Annotated[float, Field(ge=-1e4, le=1e4, description='metres in the world frame')]
Heading = Annotated[
    float, Field(ge=-100.0, le=100.0, description='radians, 0 along X; left out: any heading')
]


def navigate_to_pose(
    call: SkillCall, x: Metres, y: Metres, yaw_rad: Heading | None = None
) -> ToolResult:
    """Drive to a place in the world frame, within 0.5 m and, if a heading is asked for, 0.3 rad.
    Needs a closed mast. The rover turns in wide arcs, so a goal close beside it takes long.
    """
    return _Trip(call, Goal(x, y, yaw_rad)).run()


@dataclass(frozen=True)
class Goal:
    x: float
    y: float
    yaw: float | None

    def distance(self, place: Place) -> float:
        return math.hypot(self.x - place.x, self.y - place.y)

    def reached(self, place: Place) -> bool:
        return self.distance(place) <= TOLERANCE_M and (
            self.yaw is None
            or abs(math.remainder(place.yaw - self.yaw, math.tau)) <= TOLERANCE_RAD
        )

    def places(self) -> Iterator[tuple[Place, float]]:
        """Where to aim at, and what each costs in metres beside the way: the middle before the
        rim, which saves a whole circle where the middle was just missed.
        """
        if self.yaw is None:
            yaws = [(math.tau * i / HEADINGS, 0.0) for i in range(HEADINGS)]
        else:
            yaws = [(self.yaw + off, abs(off)) for off in (0.0, 0.2, -0.2)]
        for yaw, cost in yaws:
            yield Place(self.x, self.y, yaw), cost
            for i in range(8):
                dx, dy = (f(math.tau * i / 8) * 0.6 * TOLERANCE_M for f in (math.cos, math.sin))
                yield Place(self.x + dx, self.y + dy, yaw), cost + 0.6 * TOLERANCE_M


def shortest(start: Place, goal: Goal, radius: float) -> Way:
    """The way to the place that is the best to aim at."""
    _, way = min(
        (
            (way.length + cost, way)
            for place, cost in goal.places()
            for way in ways(start, place, radius)
        ),
        key=lambda each: each[0],
    )
    return way


class _Failed(Exception):
    """The reason, for the result."""


class _Trip:
    def __init__(self, call: SkillCall, goal: Goal) -> None:
        config = call.world.config
        fast = config.guardrails.geofence.max_speed_mps  # too fast a guess makes a leg short
        self._call, self._goal = call, goal
        self._longest_s = min(LEG_S, config.agent.turn.max_motion_s)
        self._codes = tuple(config.skills.error_map)
        self._paces = {
            letter: Pace(fast, 0.0 if letter == 'S' else fast / GUESSED_RADIUS_M)
            for letter in MOTION
        }
        self._place: Place | None = None
        self._legs, self._driven_m, self._stuck = 0, 0.0, 0
        self._whole_m = 0.0  # from the beginning to the goal

    def run(self) -> ToolResult:
        """Raises TurnCancelled."""
        try:
            here = self._look()
            self._whole_m = self._goal.distance(here)
            while not self._goal.reached(here):
                here = self._leg(here)
        except _Failed as failure:
            return ToolResult.failure(str(failure), **self._data())
        return ToolResult.success(**self._data())

    def _leg(self, here: Place) -> Place:
        """Drive the beginning of the shortest way from here."""
        if self._legs >= MAX_LEGS:
            left = self._goal.distance(here)
            raise _Failed(f'NAV_TIMEOUT: not there after {MAX_LEGS} legs, {left:.1f} m are left')
        letter, seconds = self._next(here)
        name, pace = MOTION[letter], self._paces[letter]
        self._ask(name, seconds)
        result = self._call.world.tool(name, self._call.cancellation, duration_s=seconds)
        self._legs += 1
        driven = number(result.data.get('distance_m'))
        self._driven_m += driven or 0.0  # before anything else can fail
        there = self._look()
        metres = math.hypot(there.x - here.x, there.y - here.y)
        self._driven_m += metres if driven is None else 0.0
        if not result.ok:
            raise _Failed(self._told(result.error_reason))
        turned = math.remainder(there.yaw - here.yaw, math.tau)
        if pace.learn(seconds, metres, -turned if letter == 'R' else turned):
            self._stuck = 0
        else:
            self._stuck += 1
        if self._stuck >= STUCK_LEGS:
            raise _Failed(f'NAV_BLOCKED: the rover hardly moved in {STUCK_LEGS} legs')
        left = self._goal.distance(there)
        self._call.progress(
            {
                'fraction': part_done(self._whole_m, left),
                'distance_m': round(left, 3),
                'legs': self._legs,
            }
        )
        return there

    def _next(self, here: Place) -> tuple[str, float]:
        """The motion and its seconds."""
        turns = [self._paces[letter] for letter in 'LR']
        radius = turning_radius(turns)
        parts = [
            (letter, self._seconds(letter, metres, radius))
            for letter, metres in shortest(here, self._goal, radius).parts
        ]
        letter, seconds = next(
            (part for part in parts if part[1] >= SHORTEST_LEG_S),
            max(parts, key=lambda part: part[1]),
        )
        longest_s = self._longest_s
        if not self._paces[letter].known:
            longest_s = min(longest_s, FIRST_LEG_S)
        if letter != 'S':  # a heading is only measured up to half a circle
            longest_s = min(longest_s, MOST_TURN_RAD / self._paces[letter].turn)
        return letter, min(max(seconds, SHORTEST_LEG_S), longest_s)

    def _seconds(self, letter: str, metres: float, radius: float) -> float:
        """By the angle where there is one: the rover may turn tighter than planned."""
        pace = self._paces[letter]
        return metres / pace.speed if letter == 'S' else metres / radius / pace.turn

    def _ask(self, name: str, seconds: float) -> None:
        why = self._call.world.may_drive(name, seconds)
        if why.startswith(self._codes):
            raise _Failed(why)
        if why:
            raise _Failed(f'{"NAV_BLOCKED" if self._legs else "NAV_GOAL_REJECTED"}: {why}')

    def _told(self, why: str) -> str:
        """A reason that others know as it is."""
        return why if why.startswith(self._codes) else f'NAV_BLOCKED: {why}'

    def _look(self) -> Place:
        for _ in range(LOOKS):
            pose = self._call.world.pose()
            if pose is not None:
                self._place = Place(pose.x, pose.y, pose.yaw_rad)
                return self._place
            self._call.cancellation.sleep(LOOK_S)
        self._place = None
        code = 'NAV_BLOCKED' if self._legs else 'NAV_GOAL_REJECTED'
        raise _Failed(f'{code}: where the rover is is not known')

    def _data(self) -> dict[str, float | int | None]:
        place = self._place
        return {
            'x': place.x if place else None,
            'y': place.y if place else None,
            'yaw_rad': place.yaw if place else None,
            'distance_m': self._driven_m,
            'legs': self._legs,
        }
