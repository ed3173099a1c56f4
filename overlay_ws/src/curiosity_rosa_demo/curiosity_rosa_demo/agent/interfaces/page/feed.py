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
from collections.abc import Hashable, Sequence
from copy import copy
from functools import partial
from itertools import islice
import json
import logging
import math
import time

from curiosity_rosa_demo.agent.interfaces.http.models import TaskView
from curiosity_rosa_demo.agent.interfaces.http.robot_routes import state_view
from curiosity_rosa_demo.agent.interfaces.http.talk import TalkLines
from curiosity_rosa_demo.agent.interfaces.page.document import (
    about,
    ages,
    Document,
    document,
    trail_shown,
)
from curiosity_rosa_demo.agent.interfaces.page.history import (
    History,
    HistoryFile,
    unreadable_text,
)
from curiosity_rosa_demo.agent.interfaces.page.views import Snapshot, UPDATE_PERIOD_S
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.agent.runtime.task_port import TaskPort
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.task import TaskError
from curiosity_rosa_demo.domain.geometry import XY
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.text import clip, memory_size
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from curiosity_rosa_demo.trace.events import QuestionAsked
from curiosity_rosa_demo.trace.trace_buffer import Subscription
from curiosity_rosa_demo.trace.trace_codec import encode, UNREADABLE

RECORD_PERIOD_S = 1.0
MAX_UNWRITTEN = 100  # changes, while the disk is slow
MAX_LINES = 500  # of the trace, that a page shows
MAX_LINE_CHARS = 6000  # a longer event comes without its data, which GET /trace/ID has
# Of now, whatever time is shown, and the trail, which is recorded place by place.
LIVE_PARTS = ('about', 'approvals', 'talk', 'time', 'trail')

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
        self._robot, self._talk_lines, self._file = robot, talk_lines, file
        self._about = about(config)
        self.history, self._recorded_lines = History(), 0
        self._unwritten: list[str] = []
        self._disk_fails = False
        if file is not None:
            file.restore(self.history, time.time())
            self._unwritten.append(self.history.record_start(time.time()))
        self._events = Subscription(robot.event_bus, 'page', TraceEvent, after=0)
        self._add_earlier(robot.earlier_events(), time.time())
        if self.history.unreadable:
            _log.warning('event=page_history_damaged lines=%d', self.history.unreadable)
        self.note = unreadable_text(self.history.unreadable)
        self._tasks = ShownTasks(robot)
        self._read_task: asyncio.Task[Document] | None = None
        self._last_read: Document = {}
        self._last_snapshot: Snapshot | None = None
        self._trail: tuple[Sequence[XY], list[XY]] = (), []

    def snapshot(self) -> Snapshot:
        """A snapshot that is at most UPDATE_PERIOD_S old."""
        clock = time.monotonic()
        if self._last_snapshot is None or clock - self._last_snapshot.clock > UPDATE_PERIOD_S:
            self._refresh_tasks()
            self._last_snapshot = self._look(time.time(), clock)
            if self._last_snapshot.count != self._recorded_lines:
                self._record(self._last_snapshot)  # so that the document fits the lines
        return self._last_snapshot

    def _look(self, now: float, clock: float) -> Snapshot:
        for each in self._events.read().events[-MAX_LINES:]:
            self.history.add_line(now, line_of(each.event), mark_of(each.event))
        state, lines = state_view(self._robot), self.history.lines
        shown = document(self._robot, state, self._last_read, self._talk_lines)
        if self._trail[0] is not (trail := self._robot.trail()):
            self._trail = trail, trail_shown(trail)
        facts = self.history.facts(self.note)
        shown |= {'about': self._about, 'time': facts, 'trail': self._trail[1]}
        return Snapshot(shown, ages(state), now, clock, lines.newest(MAX_LINES), lines.total)

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
            await run_in_thread('page-history', partial(file.append, '\n'.join(lines).encode()))
        except OSError as error:
            self.history.begin_block()
            if not self._disk_fails:  # once, not each second
                _log.warning('event=page_history_not_kept error=%r', str(error))
            self._disk_fails = True
        else:
            self._disk_fails = False

    def _record(self, shown: Snapshot) -> None:
        kept = {name: each for name, each in shown.document.items() if name not in LIVE_PARTS}
        self._recorded_lines = shown.count
        new = (
            self.history.record(shown.now, kept),
            self.history.record_trail(shown.now, self._robot.trail()),
        )
        self._unwritten += filter(None, new)
        if len(self._unwritten) > MAX_UNWRITTEN:
            self._unwritten.clear()
            self.history.begin_block()

    def _add_earlier(self, stored: Sequence[TraceEvent], now: float) -> None:
        """What the agents before this one told, and the marks of the restarts. Leaves out what
        could not be read and what is later than ``now``: all that follows would have its time.
        """
        history = self.history
        events = [each for each in stored if each.type != UNREADABLE and each.ts <= now]
        history.unreadable += len(stored) - len(events)
        first = min([each.ts for each in events[:1]] + [history.start or math.inf])
        starts = [at for at in history.starts if at > first]
        if events and not starts:
            starts = [now]
        for event in events:
            while starts and starts[0] <= event.ts:
                history.add_line(starts[0], restart_line(starts.pop(0)), 'restart')
            history.add_line(event.ts, line_of(event, earlier=True), mark_of(event))
        for at in starts:
            history.add_line(at, restart_line(at), 'restart')

    def _refresh_tasks(self) -> None:
        """Read the tasks without waiting. The last result stays until a new one arrives."""
        if self._read_task is not None:
            if not self._read_task.done():
                return
            reading, self._read_task = self._read_task, None
            try:
                self._last_read = reading.result()
            except TaskError as error:
                _log.info('event=tasks_not_read error=%r', str(error))
        self._read_task = asyncio.get_running_loop().create_task(self._tasks.read())


# --- Lines of the trace: events as GET /trace gives them ----------------------------------------


def line_of(event: TraceEvent, *, earlier: bool = False) -> str:
    """``earlier``: of the agent that ran before this one."""
    text = encode(event)
    if len(text) > MAX_LINE_CHARS:
        text = encode(event.model_copy(update={'data': None}))
    return f'{text[:-1]},"earlier":true}}' if earlier else text


def restart_line(at: float) -> str:
    """The line between the events of an agent and those of the next one."""
    return json.dumps({'event_id': f'restart-{at:.3f}', 'ts': at, 'kind': 'RESTART'})


def mark_of(event: TraceEvent) -> str:
    """What an event marks on the scrubber: error or question; '': nothing."""
    if QuestionAsked.of(event) is not None:
        return 'question'
    failed = event.kind is TraceKind.ERROR and not event.tool_name
    return 'error' if failed or event.ok is False else ''


# --- The tasks as GET /tasks/ID gives them, each with its history --------------------------------


MAX_TASKS = 30  # tasks
MAX_ROWS = 100  # of a history, the newest
MAX_METADATA_MEMORY = 50_000  # bytes; GET /tasks/ID has larger ones
MAX_REASON_CHARS = 2000


class ShownTasks:
    """The last tasks. Reads the database only for tasks that have changed."""

    def __init__(self, port: TaskPort) -> None:
        self._port = port
        self._shown: dict[str, tuple[Hashable, Document]] = {}

    async def read(self) -> Document:
        """At most MAX_TASKS tasks by ID, in the order of submission; the unfinished ones are
        among them.
        """
        tasks = await self._port.tasks()
        live = [task for task in tasks if not task.terminal]
        ended = (task for task in reversed(tasks) if task.terminal)
        kept = [*live[:MAX_TASKS], *islice(ended, max(0, MAX_TASKS - len(live)))]
        shown = {task.id: await self._task(copy(task)) for task in sorted(kept, key=_seq)}
        self._shown = {task_id: self._shown[task_id] for task_id in shown}
        return shown

    async def _task(self, task: Task) -> Document:
        known: Hashable = (task.updated_at, task.priority, task.held, task.urgent)
        before, shown = self._shown.get(task.id, (None, {}))
        if known == before:
            return shown
        rows = shown.get('history', [])
        try:
            rows = [
                {
                    'at': row.at.timestamp(),
                    'state': row.after.value,
                    'reason': clip(row.reason, MAX_REASON_CHARS),
                }
                for row in (await self._port.history(task.id))[-MAX_ROWS:]
            ]
        except TaskError:  # the database cannot be read now: the last rows
            known = ()
        shown = {**TaskView.of(task).model_dump(mode='json'), 'history': rows}
        shown['reason'] = clip(task.reason, MAX_REASON_CHARS)
        if memory_size(shown['metadata']) > MAX_METADATA_MEMORY:
            shown['metadata'] = {}
        self._shown[task.id] = known, shown
        return shown


def _seq(task: Task) -> int:
    return task.seq
