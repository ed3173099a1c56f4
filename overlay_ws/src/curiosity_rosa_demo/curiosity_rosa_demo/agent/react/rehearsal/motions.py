# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The motions of one call, as dead reckoning predicts them. Pure. Metres, radians, seconds."""

from __future__ import annotations

from dataclasses import dataclass
import math

from curiosity_rosa_demo.agent.react.guardrails.situation import NAVIGATE_SKILL
from curiosity_rosa_demo.agent.skills.navigation.dubins import PlanarPose
from curiosity_rosa_demo.agent.skills.navigation.path_planner import NavigationGoal, plan_drive
from curiosity_rosa_demo.domain.dead_reckoning import along, DIRECTIONS, MotionSpeeds, Place
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.trace.reporter import finite_float

SAMPLE_M = 0.25  # between two places of a path
MAX_SAMPLES = 200  # of one segment
SIGNS = {'L': 1.0, 'S': 0.0, 'R': -1.0}


class Unpredictable(Exception):
    """Where the call leads cannot be known beforehand."""


@dataclass(frozen=True)
class Segment:
    """``metres`` along an arc that turns by ``turn`` radians, left above 0; 0: straight."""

    metres: float
    turn: float

    def seconds(self, speeds: MotionSpeeds) -> float:
        return abs(self.turn) / speeds.turn if self.turn else self.metres / speeds.straight

    def places(self, start: Place) -> list[Place]:
        """The places on the way, the end last."""
        count = min(MAX_SAMPLES, max(1, math.ceil(self.metres / SAMPLE_M)))
        return [
            _moved(start, self.metres * part / count, self.turn * part / count)
            for part in range(1, count + 1)
        ]


def segments_of(
    op: Operation, start: Place, speeds: MotionSpeeds, config: Config
) -> tuple[Segment, ...]:
    """How ``op``, which moves the base, drives from ``start``. Raises Unpredictable."""
    arguments = op.arguments

    def number(name: str) -> float:
        value = finite_float(arguments.get(name))
        if value is None:
            raise Unpredictable(f'{op.skill} without {name}')
        return value

    if op.skill in DIRECTIONS:
        seconds, side = max(0.0, number('duration_s')), DIRECTIONS[op.skill]
        speed = speeds.arc if side else speeds.straight
        return (Segment(speed * seconds, side * speeds.turn * seconds),)
    if op.skill == 'drive_distance':
        return (Segment(max(0.0, number('distance_m')), 0.0),)
    if op.skill == 'turn_angle':
        turn = math.radians(number('angle_deg'))
        return (Segment(abs(turn) * speeds.radius_m, turn),)
    navigation = config.agent.navigation
    if op.skill == NAVIGATE_SKILL and navigation.provider == 'motions':
        goal = NavigationGoal(number('x'), number('y'), finite_float(arguments.get('yaw_rad')))
        return _way_to(goal, start, speeds, navigation.max_detour)
    raise Unpredictable(op.skill)


def _way_to(
    goal: NavigationGoal, start: Place, speeds: MotionSpeeds, max_detour: float
) -> tuple[Segment, ...]:
    """The path that the navigation plans first."""
    here = PlanarPose(start.x, start.y, start.yaw_rad)
    if goal.is_reached(here):
        return ()
    longest_m = max_detour * goal.distance(here)
    plan = plan_drive(here, goal, speeds.radius_m, longest_m=longest_m)
    return tuple(
        Segment(amount, 0.0)
        if letter == 'S'
        else Segment(amount * speeds.radius_m, SIGNS[letter] * amount)
        for letter, amount in plan.segments
    )


def standing_seconds(op: Operation, config: Config) -> float:
    """How long a call takes that does not move the base; 0 where nobody knows."""
    mast = config.thresholds.mast
    if op.skill == 'wait':
        return finite_float(op.arguments.get('duration_s')) or 0.0
    return {
        'mast_open': mast.open_duration_s,
        'mast_close': mast.close_duration_s,
        'mast_rotate': mast.rotate_duration_s,
    }.get(op.skill, 0.0)


def _moved(start: Place, metres: float, turn: float) -> Place:
    x, y, yaw = along(start.x, start.y, start.yaw_rad, metres, turn)
    return Place(x=x, y=y, yaw_rad=yaw)
