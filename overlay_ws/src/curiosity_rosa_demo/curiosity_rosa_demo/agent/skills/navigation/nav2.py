# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill ``navigate_to_pose`` by Nav2's action, where nav2_msgs exists and is configured.

Nav2 drives past the adapter, on cmd_vel: motion.stop_unexpected of thresholds.yaml must be off.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
import math
from typing import Protocol

from curiosity_rosa_demo.agent.skills.navigation.navigate import Heading, Metres
from curiosity_rosa_demo.agent.skills.progress import part_done
from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config_loader import ConfigError

POLL_PERIOD_S = 0.2
NAV2_MISSING_TEXT = (
    "agent.yaml: navigation.provider = 'nav2': the package nav2_msgs is missing; install "
    'ros-$ROS_DISTRO-nav2-msgs and source ROS, or set provider: motions'
)


class Nav2Goal(Protocol):
    """One goal of Nav2's action. Blocking."""

    def send(self, frame: str, x: float, y: float, yaw_rad: float) -> str:
        """Why the goal was not accepted; empty when it was."""

    def wait_for_result(self, seconds: float) -> tuple[bool | None, float | None]:
        """Wait: whether the goal succeeded, None while it goes on; the metres that are left."""

    def cancel(self) -> None: ...

    def close(self) -> None: ...


def make_navigate_skill(
    action: str, connect: Callable[[str], Nav2Goal] | None = None
) -> Callable[..., ToolResult]:
    """The skill on the action of that name. Raises ConfigError without nav2_msgs."""
    if connect is None:
        try:
            from curiosity_rosa_demo.agent.skills.navigation.nav2_client import Nav2Client
        except ImportError:
            raise ConfigError(NAV2_MISSING_TEXT) from None
        connect = Nav2Client
    opened = connect

    def navigate_to_pose(
        call: SkillCall, x: Metres, y: Metres, yaw_rad: Heading | None = None
    ) -> ToolResult:
        """Drive to a place in the world frame with Nav2, around obstacles. Needs a closed mast."""
        with closing(opened(action)) as nav2:
            return _run_goal(call, nav2, x, y, yaw_rad)

    return navigate_to_pose


def _run_goal(
    call: SkillCall, nav2: Nav2Goal, x: float, y: float, yaw_rad: float | None
) -> ToolResult:
    """Nav2's goals have a heading: without one, it is that in which the goal lies."""
    begin = call.world.pose()
    if begin is None:
        return ToolResult.failure('NAV_GOAL_REJECTED: where the rover is is not known')
    why = call.world.may_drive('move_forward', POLL_PERIOD_S)
    if why:
        return ToolResult.failure(f'NAV_GOAL_REJECTED: {why}')
    yaw = math.atan2(y - begin.y, x - begin.x) if yaw_rad is None else yaw_rad
    why = nav2.send(begin.frame_id, x, y, yaw)
    if why:
        return ToolResult.failure(f'NAV_GOAL_REJECTED: {why}')
    reached: bool | None = None
    whole_m = math.hypot(x - begin.x, y - begin.y)
    try:
        while reached is None and not why:
            call.cancellation.check()
            reached, left_m = nav2.wait_for_result(POLL_PERIOD_S)
            done = None if left_m is None else part_done(whole_m, left_m)
            call.progress({'fraction': done, 'distance_m': left_m})
            why = call.world.may_drive('move_forward', POLL_PERIOD_S) if reached is None else ''
    finally:
        if not reached:  # some of Nav2's own failures leave the rover driving
            nav2.cancel()
            call.world.tool('move_stop', Cancellation())
    end = call.world.pose() or begin
    data = {'x': end.x, 'y': end.y, 'yaw_rad': end.yaw_rad}
    if reached:
        return ToolResult.success(**data)
    return ToolResult.failure(f'NAV_BLOCKED: {why or "Nav2 gave up"}', **data)
