# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill ``navigate_to_pose`` through Nav2's action; needs nav2_msgs and its configuration.

Nav2 publishes on cmd_vel and bypasses the adapter: set motion.stop_unexpected of thresholds.yaml
to off.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
import math
from typing import Protocol

from curiosity_rosa_demo.agent.skills.navigation.navigate import drive_failed, Heading, Metres
from curiosity_rosa_demo.agent.skills.skill import part_done, SkillCall
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.config_loader import ConfigError

POLL_PERIOD_S = 0.2
NAV2_MISSING_TEXT = (
    "agent.yaml: navigation.provider = 'nav2': the package nav2_msgs is missing; install "
    'ros-$ROS_DISTRO-nav2-msgs and source ROS, or set provider: motions'
)


class Nav2Goal(Protocol):
    """One goal of Nav2's action. The calls block."""

    def send(self, frame: str, x: float, y: float, yaw_rad: float) -> str:
        """Send the goal. Returns the reason of a rejection; empty if Nav2 accepted it."""

    def wait_for_result(self, seconds: float) -> tuple[bool | None, float | None]:
        """Wait up to ``seconds``. Returns whether the goal succeeded (None: it is still active)
        and the remaining metres (None: unknown).
        """

    def cancel(self) -> None: ...

    def close(self) -> None: ...


def make_navigate_skill(
    action: str, connect: Callable[[str], Nav2Goal] | None = None
) -> Callable[..., ToolResult]:
    """Make the skill for the action ``action``. Raises ConfigError if nav2_msgs is missing."""
    if connect is None:
        try:
            from curiosity_rosa_demo.agent.skills.navigation.nav2_client import Nav2Client
        except ImportError:
            raise ConfigError(NAV2_MISSING_TEXT) from None
        connect = Nav2Client
    open_goal = connect

    def navigate_to_pose(
        call: SkillCall, x: Metres, y: Metres, yaw_rad: Heading | None = None
    ) -> ToolResult:
        """Drive to a place in the world frame with Nav2, around obstacles. Needs a closed mast."""
        with closing(open_goal(action)) as nav2:
            return _run_goal(call, nav2, x, y, yaw_rad)

    return navigate_to_pose


def _rejected(why: str) -> ToolResult:
    return drive_failed(RefusalCode.NAV_GOAL_REJECTED, why).result


def _run_goal(
    call: SkillCall, nav2: Nav2Goal, x: float, y: float, yaw_rad: float | None
) -> ToolResult:
    """Run one goal. Nav2 needs a heading; the default is the direction from start to goal."""
    start = call.world.pose()
    if start is None:
        return _rejected('where the rover is is not known')
    why = call.world.may_drive('move_forward', POLL_PERIOD_S)
    if why:
        return _rejected(why)
    yaw = math.atan2(y - start.y, x - start.x) if yaw_rad is None else yaw_rad
    why = nav2.send(start.frame_id, x, y, yaw)
    if why:
        return _rejected(why)
    reached: bool | None = None
    whole_m = math.hypot(x - start.x, y - start.y)
    try:
        while reached is None and not why:
            call.cancellation.check()
            reached, left_m = nav2.wait_for_result(POLL_PERIOD_S)
            done = None if left_m is None else part_done(whole_m, left_m)
            call.progress({'fraction': done, 'distance_m': left_m})
            why = call.world.may_drive('move_forward', POLL_PERIOD_S) if reached is None else ''
    finally:
        if not reached:  # after some failures of Nav2 the rover keeps driving
            nav2.cancel()
            call.world.tool('move_stop', Cancellation())
    end = call.world.pose() or start
    data = {'x': end.x, 'y': end.y, 'yaw_rad': end.yaw_rad}
    if reached:
        return ToolResult.success(**data)
    return drive_failed(RefusalCode.NAV_BLOCKED, why or 'Nav2 gave up', **data).result
