# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Calls into the SkillRunner, in the loop to which it belongs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import SkillRunner
from curiosity_rosa_demo.agent.tasks.task import StoreError, TaskError

T = TypeVar('T')


class RunnerAccess:
    """With a ``robot``, the runner belongs to the robot's loop, in another thread.

    Without one, the runner belongs to the server's loop. The first request starts it if needed, so
    that tasks can be submitted and queried without a lifespan. Tasks run only in a lifespan.
    """

    def __init__(self, runner: SkillRunner, robot: Robot | None) -> None:
        self.runner = runner
        self._robot = robot
        self._starting: asyncio.Task[bool] | None = None

    async def call(self, work: Callable[[SkillRunner], Awaitable[T]]) -> T:
        """Run ``work`` in the runner's loop; returns its result or raises its exception."""

        async def run() -> T:
            return await work(self.runner)

        if self._robot is not None:
            return await self._robot.call(run())
        await self.start()
        return await run()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the tasks within the context, then stop the runner. Ignores a foreign runner."""
        if self._robot is not None or not await self.start():
            yield
            return
        loop = asyncio.get_running_loop().create_task(self.runner.run_loop())
        try:
            yield
        finally:
            await self.runner.stop()
            await loop

    async def start(self) -> bool:
        """Start the runner. False: other code had started it already. Raises StoreError."""
        if self._starting is None:
            self._starting = asyncio.get_running_loop().create_task(self._start())
        return await asyncio.shield(self._starting)

    async def _start(self) -> bool:
        try:
            await self.runner.start()
        except StoreError:
            raise
        except TaskError:
            return False
        return True
