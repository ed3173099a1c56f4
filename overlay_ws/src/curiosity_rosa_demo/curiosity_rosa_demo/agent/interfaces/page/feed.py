# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Reads the robot's state once for all open pages, and sends each page the changes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
import logging
import time

from curiosity_rosa_demo.agent.interfaces.page.open_pages import (
    OpenPage,
    OpenPages,
    UPDATE_PERIOD_S,
)
from curiosity_rosa_demo.agent.interfaces.page.talk_lines import TalkLines
from curiosity_rosa_demo.agent.interfaces.page.task_history import TaskHistories, TaskHistory
from curiosity_rosa_demo.agent.interfaces.page.view_model import PageSnapshot, ViewModel
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import SkillRunner
from curiosity_rosa_demo.agent.tasks.errors import TaskError
from curiosity_rosa_demo.infra.config.contracts import Config

_log = logging.getLogger('curiosity_rosa.page')


class PageFeed:
    """Use it in the page's loop only. It reads only while a page is open."""

    def __init__(
        self, robot: Robot, runner: SkillRunner, config: Config, talk_lines: TalkLines
    ) -> None:
        self._robot, self._task_histories = robot, TaskHistories(runner)
        self._model = ViewModel(robot, config, talk_lines)
        self._pages = OpenPages(self.snapshot)
        self._read_task: asyncio.Task[Sequence[TaskHistory]] | None = None
        self._last_read: Sequence[TaskHistory] = ()
        self._last_snapshot: PageSnapshot | None = None

    def add_page(self, page: OpenPage[PageSnapshot]) -> None:
        self._pages.add(page)

    def remove_page(self, page: OpenPage[PageSnapshot]) -> None:
        self._pages.remove(page)

    def snapshot(self) -> PageSnapshot:
        """A snapshot that is at most UPDATE_PERIOD_S old."""
        clock = time.monotonic()
        if self._last_snapshot is None or clock - self._last_snapshot.clock > UPDATE_PERIOD_S:
            self._refresh_histories()
            self._last_snapshot = self._model.snapshot(
                self._last_read, now=time.time(), clock=clock
            )
        return self._last_snapshot

    def _refresh_histories(self) -> None:
        """Read the histories without waiting. The last result stays until a new one arrives."""
        if self._read_task is not None:
            if not self._read_task.done():
                return
            reading, self._read_task = self._read_task, None
            try:
                self._last_read = reading.result()
            except TaskError as error:
                _log.info('event=tasks_not_read error=%r', str(error))
        self._read_task = asyncio.get_running_loop().create_task(self._read_histories())

    async def _read_histories(self) -> Sequence[TaskHistory]:
        return await self._robot.call(self._task_histories.read())
