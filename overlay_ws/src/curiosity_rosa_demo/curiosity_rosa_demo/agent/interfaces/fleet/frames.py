# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The newest frame of each robot, requested when a page asks, once for all pages."""

from __future__ import annotations

import asyncio
import time

from curiosity_rosa_demo.agent.interfaces.console_client.agent_api import Frame
from curiosity_rosa_demo.agent.interfaces.fleet.robot_client import RobotClient, RobotUnavailable

FRAME_PX = 448
FRAME_PERIOD_S = 1.0
WAIT_S = 1.0  # a page does not wait longer; the next request finds what has come
MAX_AGE_S = 10.0  # an older frame is not shown at all


class NewestFrame:
    """Of one robot. Use it in one loop."""

    def __init__(self, robot: RobotClient) -> None:
        self._robot = robot
        self._frame: Frame | None = None
        self._asked = float('-inf')  # steady seconds of the last request
        self._came = float('-inf')
        self._why = 'no picture yet'
        self._request: asyncio.Task[None] | None = None

    async def get(self) -> tuple[Frame | None, str]:
        """The frame, or why there is none. Waits at most WAIT_S."""
        request = self._request
        is_idle = request is None or request.done()
        if is_idle and time.monotonic() - self._asked >= FRAME_PERIOD_S:
            self._asked = time.monotonic()
            request = asyncio.get_running_loop().create_task(self._ask())
            self._request = request
        if request is not None:
            await asyncio.wait([request], timeout=WAIT_S)
        if self._frame is not None and time.monotonic() - self._came <= MAX_AGE_S:
            return self._frame, ''
        return None, self._why

    async def _ask(self) -> None:
        try:
            frame = await self._robot.frame(FRAME_PX)
        except RobotUnavailable as error:
            self._why = str(error)
            return
        if frame is None:
            self._why = 'the camera gives no picture'
            return
        self._frame, self._came = frame, time.monotonic()
