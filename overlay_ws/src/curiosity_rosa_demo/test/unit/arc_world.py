# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A world whose DemoRover has speeds and a radius of its own, for the skills of navigation."""

from __future__ import annotations

import math
import random
from typing import Any

from curiosity_rosa_demo.agent.skills.navigation.dubins import PlanarPose
from curiosity_rosa_demo.agent.skills.navigation.navigate import DUBINS_MOTIONS
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import RoverPose, ToolResult
from curiosity_rosa_demo.domain.refusal import Refusal
from curiosity_stand_in.drivers import DemoRover
from curiosity_stand_in.kinematics import Pose
from skill_calls import SHIPPED, StillWorld
from tool_rover import STOP_LATE_S, with_figures

THRESHOLDS = SHIPPED.thresholds
PROFILE = THRESHOLDS.speeds
LETTER = {name: letter for letter, name in DUBINS_MOTIONS.items()}


class ArcWorld(StillWorld):
    """``noise``: each leg's speed and radius are off by up to this part. ``coast_s``: each
    leg's stop comes so late.
    """

    def __init__(
        self,
        *,
        forward_mps: float = PROFILE.straight,
        arc_mps: float = PROFILE.arc,
        radius_m: float = PROFILE.radius_m,
        noise: float = 0.0,
        coast_s: float = 0.0,
        seed: int = 0,
        config: Any = SHIPPED,
    ) -> None:
        super().__init__(config)
        self.at = PlanarPose(0.0, 0.0, 0.0)
        self.speeds = {'S': forward_mps, 'L': arc_mps, 'R': arc_mps}
        self.radius_m, self.noise, self.coast_s = radius_m, noise, coast_s
        self.random = random.Random(seed)
        self.blind_after = math.inf  # legs
        self.answers: dict[int, ToolResult] = {}  # of the leg of that number
        self.asked: list[tuple[str, float]] = []
        self.driven_m = 0.0

    def pose(self) -> RoverPose | None:
        if len(self.tools) >= self.blind_after:
            return None
        yaw = math.remainder(self.at.yaw, math.tau)
        return RoverPose(x=self.at.x, y=self.at.y, yaw_rad=yaw, frame_id='odom')

    def drive_refusal(self, name: str, duration_s: float) -> Refusal | None:
        self.asked.append((name, duration_s))
        return super().drive_refusal(name, duration_s)

    def tool(self, name: str, cancellation: Cancellation, **arguments: Any) -> ToolResult:
        super().tool(name, cancellation, **arguments)
        off = self.noise
        speed = self.speeds[LETTER[name]] * (1 + self.random.uniform(-off, off))
        radius = self.radius_m * (1 + self.random.uniform(-off, off))
        figures = with_figures(THRESHOLDS, forward_mps=speed, turn_mps=speed, turn_radius_m=radius)
        rover = DemoRover(figures, pose=Pose(self.at.x, self.at.y, self.at.yaw))
        rover.call(name)
        rover.advance_to(arguments['duration_s'] + self.coast_s)
        rover.call('move_stop')
        state = rover.advance_to(rover.seconds + STOP_LATE_S)
        there = PlanarPose(state.pose.x, state.pose.y, state.pose.yaw)
        turned = abs(math.remainder(there.yaw - self.at.yaw, math.tau))
        ahead_m = math.hypot(there.x - self.at.x, there.y - self.at.y)
        driven = turned * radius if turned else ahead_m
        self.at = there
        self.driven_m += driven
        return self.answers.get(len(self.tools), ToolResult.success(distance_m=driven))

    def off(self, x: float, y: float, yaw: float | None) -> tuple[float, float]:
        turned = 0.0 if yaw is None else math.remainder(self.at.yaw - yaw, math.tau)
        return math.hypot(self.at.x - x, self.at.y - y), abs(turned)


class Blinking(Cancellation):
    """Waits take no time."""

    def sleep(self, seconds: float) -> None:
        self.check()
