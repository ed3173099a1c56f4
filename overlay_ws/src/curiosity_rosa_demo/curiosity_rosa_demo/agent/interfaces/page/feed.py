# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Reads the robot's state once for all open pages, and records once a second what a page shows, so
that a page can look back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
import logging
import time

from curiosity_rosa_demo.agent.interfaces.http.talk import TalkLines
from curiosity_rosa_demo.agent.interfaces.page.history import (
    History,
    HistoryFile,
    unreadable_text,
)
from curiosity_rosa_demo.agent.interfaces.page.past_view import (
    LIVE_PARTS,
    Story,
)
from curiosity_rosa_demo.agent.interfaces.page.status_rows import PanelData
from curiosity_rosa_demo.agent.interfaces.page.task_history import TaskHistories, TaskHistory
from curiosity_rosa_demo.agent.interfaces.page.view_model import PageSnapshot, ViewModel
from curiosity_rosa_demo.agent.interfaces.page.views import UPDATE_PERIOD_S
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.agent.tasks.task import TaskError
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.event_thread import run_in_thread

RECORD_PERIOD_S = 1.0
MAX_UNWRITTEN = 100  # changes, while the disk is slow

_log = logging.getLogger('curiosity_rosa.page')


class PageFeed:
    """Use it in the page's loop only. ``file``: of what it records; None: nothing outlives the
    agent.
    """

    def __init__(
        self,
        robot: Robot,
        config: Config,
        talk_lines: TalkLines,
        file: HistoryFile | None = None,
    ) -> None:
        self._robot, self._task_histories, self._file = robot, TaskHistories(robot), file
        self._history, self._recorded_lines = History(), 0
        self._unwritten: list[str] = []
        self._disk_fails = False
        if file is not None:
            file.restore(self._history, time.time())
            self._unwritten.append(self._history.record_start(time.time()))
        if self._history.unreadable:
            _log.warning('event=page_history_damaged lines=%d', self._history.unreadable)
        self._model = ViewModel(robot, config, talk_lines, self._history)
        self.story = Story(
            '',
            self._history,
            self._all_events,
            lambda: self._last_read,
            self._picture_ids,
            note=unreadable_text(self._history.unreadable),
        )
        self._read_task: asyncio.Task[Sequence[TaskHistory]] | None = None
        self._last_read: Sequence[TaskHistory] = ()
        self._last_snapshot: PageSnapshot | None = None

    def snapshot(self) -> PageSnapshot:
        """A snapshot that is at most UPDATE_PERIOD_S old."""
        clock = time.monotonic()
        if self._last_snapshot is None or clock - self._last_snapshot.clock > UPDATE_PERIOD_S:
            self._refresh_histories()
            self._last_snapshot = self._model.snapshot(
                self._last_read, now=time.time(), clock=clock
            )
            if self._last_snapshot.count != self._recorded_lines:
                self._record(self._last_snapshot)  # so that the parts fit the lines
        return self._last_snapshot

    async def detail(self, task_id: str) -> PanelData | None:
        """The task in full, if it is among the newest. Raises TaskError."""
        found = self.snapshot().detail(task_id)
        if found is None:  # it may have come since the last look
            self._last_read, self._last_snapshot = await self._task_histories.read(), None
            found = self.snapshot().detail(task_id)
        return found

    async def record(self) -> None:
        """Record what a page shows, until it is cancelled."""
        while True:
            try:
                await self._record_once()
            except Exception:  # the next second may succeed
                _log.exception('event=page_not_recorded')
            await asyncio.sleep(RECORD_PERIOD_S)

    async def close(self) -> None:
        """Write what is recorded and close the file, once ``record`` has ended."""
        if self._file is None:
            return
        await self._write(self._file)
        self._file.close()

    async def _record_once(self) -> None:
        self._record(self.snapshot())
        if self._file is None:
            self._unwritten.clear()
        else:
            await self._write(self._file)

    async def _write(self, file: HistoryFile) -> None:
        if not self._unwritten:
            return
        lines, self._unwritten = self._unwritten, []
        try:
            await run_in_thread('page-history', partial(file.append, lines))
        except OSError as error:
            self._history.begin_block()
            if not self._disk_fails:  # once, not each second
                _log.warning('event=page_history_not_kept error=%r', str(error))
            self._disk_fails = True
        else:
            self._disk_fails = False

    def _record(self, shown: PageSnapshot) -> None:
        parts = {name: each for name, each in shown.parts.items() if name not in LIVE_PARTS}
        self._recorded_lines = shown.count
        new = (
            self._history.record(shown.now, parts),
            self._history.record_trail(shown.now, self._robot.trail()),
        )
        self._unwritten += filter(None, new)
        if len(self._unwritten) > MAX_UNWRITTEN:
            self._unwritten.clear()
            self._history.begin_block()

    def _all_events(self) -> Sequence[TraceEvent]:
        return [*self._robot.earlier_events(), *self._robot.event_bus.trace_events()]

    def _picture_ids(self) -> set[str]:
        return {each.event_id for each in self._robot.captures()}

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
        self._read_task = asyncio.get_running_loop().create_task(self._task_histories.read())
