# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A task in the runner: what is on the disk and what is decided. Decided changes are gathered into
commits, and shown once they are on the disk: ``TaskStore`` has the transaction. What is decided
while one commit runs goes into the next.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from enum import IntEnum
import logging
from typing import NamedTuple

from curiosity_rosa_demo.agent.tasks.rows import Change
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.task import (
    BadTask,
    Event,
    EventType,
    StoreError,
    Task,
    TaskError,
)
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.trace.trace_buffer import EventBus

RETRY_PERIOD_S = 1.0  # between two attempts to write after a failure

Exit = asyncio.Future[None]  # the end of a skill

_log = logging.getLogger('curiosity_rosa.tasks')


class Settled(asyncio.Event):
    """Set once it has happened, or will not, for the reason ``error``."""

    error: TaskError | None = None

    def settle(self, error: TaskError | None) -> None:
        self.error = error
        self.set()


class StopWeight(IntEnum):
    """The precedence of stop causes: the heaviest one holds."""

    PAUSE = 1  # the task resumes by itself
    HOLD = 2  # the task waits for resume()
    DEADLINE = 3
    CANCEL = 4


@dataclass(frozen=True)
class StopCause:
    """The reason of a stop request to a running skill."""

    weight: StopWeight
    reason: str
    preempted: bool = False  # by an interrupt


@dataclass(eq=False)
class TaskRecord:
    """``task`` is public and shows what is on the disk. ``plan`` has what is decided too."""

    task: Task
    plan: Task
    resources: frozenset[str]  # that its skill needs
    stored: bool  # a row has it
    unsaved: int = 0  # decided changes that are not on the disk
    refused: TaskError | None = None  # why a new task was not stored
    ended: Settled = field(default_factory=Settled)  # its end is on the disk

    exit: Exit | None = None  # from the decision to start its skill to the end of the skill
    run: asyncio.Task[None] | None = None
    cause: StopCause | None = None
    grace: asyncio.TimerHandle | None = None

    open_blockers: set[str] = field(default_factory=set)
    retry_at: float | None = None  # seconds of the loop's clock
    unobserved: bool = False  # paused while it was recovering
    wake: asyncio.TimerHandle | None = None
    deadline: asyncio.TimerHandle | None = None
    since: float | None = None  # loop time of the last update of used_s; None: the clock stands

    @property
    def busy(self) -> bool:
        return self.exit is not None

    def left_s(self, loop_s: float) -> float:
        """Seconds to the deadline. The task must have one."""
        assert self.plan.deadline_s is not None
        running = 0.0 if self.since is None else loop_s - self.since
        return self.plan.deadline_s - self.plan.used_s - running

    def count_time(self, loop_s: float) -> None:
        """Update ``used_s``, of a task with a deadline."""
        if self.since is not None:
            self.plan.used_s += loop_s - self.since
        self.since = None if self.plan.state is LifecycleState.PAUSED else loop_s

    def show(self, stored: Task) -> None:
        """Copy the committed ``stored`` to ``task``, except the metadata, which the skill owns."""
        metadata = self.task.metadata
        vars(self.task).update(vars(stored))
        self.task.metadata, self.stored = metadata, True

    def cancel_timers(self) -> None:
        for timer in (self.grace, self.wake, self.deadline):
            if timer is not None:
                timer.cancel()
        self.grace = self.wake = self.deadline = None


class Decided(NamedTuple):
    """A change that is not on the disk yet."""

    record: TaskRecord
    change: Change
    event: EventType | None  # None: nobody is told


class Commits:
    """Commits what is decided, in order, and then shows and tells it: nobody sees a change before
    it is on the disk. A commit that fails is tried again each RETRY_PERIOD_S, with all that was
    decided meanwhile; of a task that is new, the submitter gets the error, and it is dropped.

    All in the runner's loop. ``decide`` is called before each commit, and may add to it.
    ``shown`` is called for each record whose changes were committed, ``dropped`` for each new one
    that could not be, ``broke`` when the file cannot be written.
    """

    def __init__(
        self,
        store: TaskStore,
        bus: EventBus,
        *,
        decide: Callable[[], None],
        shown: Callable[[TaskRecord], None],
        dropped: Callable[[TaskRecord], None],
        broke: Callable[[StoreError], None],
    ) -> None:
        self.failed: StoreError | None = None  # until the file can be written again
        self.counters: Counter[str] = Counter()
        self._store, self._bus = store, bus
        self._decide, self._shown, self._dropped, self._broke = decide, shown, dropped, broke
        self.decided: list[Decided] = []  # for the next commit
        self._next: Settled | None = None  # that commit
        self._running: Settled | None = None
        self._retry: asyncio.TimerHandle | None = None  # until then nothing is written
        self._scheduled = False

    def add(
        self, record: TaskRecord, before: LifecycleState | None, event: EventType | None
    ) -> None:
        """``record.plan`` as it is now is for the next commit. ``before`` as that of Change."""
        task = copy(record.plan)
        task.metadata = record.task.metadata
        try:
            change = Change(task, before)
        except BadTask as error:  # of the metadata; the state still matters
            _log.error('event=metadata_lost task=%s error=%r', task.id, error)
            stored = self._store.get(task.id)
            record.task.metadata = task.metadata = {} if stored is None else stored.metadata
            change = Change(task, before)
        self.decided.append(Decided(record, change, event))
        record.unsaved += 1
        if self._next is None:
            self._next = Settled()
        self.act_soon()

    async def done(self) -> None:
        """Wait until all that is decided is on the disk. Raises StoreError if it cannot be."""
        commit = self._next or self._running
        error: TaskError | None = self.failed
        if error is None and commit is not None:
            await commit.wait()
            error = commit.error
        if error is not None:
            raise error

    async def close(self) -> None:
        """Wait for the commit that runs. What could not be written is tried once more."""
        if self._retry is not None:
            self._retry.cancel()
            self._write()
        while self._running is not None:
            await self._running.wait()
        if self._retry is not None:
            self._retry.cancel()
            _log.error('event=stopped_unwritten error=%r', self.failed)

    def act_soon(self) -> None:
        """Decide and commit after all that happens in this iteration of the loop."""
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._act)

    def _act(self) -> None:
        self._scheduled = False
        self._decide()
        if (self.decided or self._next) and self._running is None and self._retry is None:
            self._write()

    def _write(self) -> None:
        batch, self.decided, self._retry = self.decided, [], None
        self._running, self._next = self._next or Settled(), None
        done = self._store.write([each.change for each in batch])
        done.add_done_callback(lambda done: self._written(batch, done.exception()))

    def _written(self, batch: list[Decided], error: BaseException | None) -> None:
        running, self._running = self._running, None
        assert running is not None
        if error is None:
            self._show(batch)
        else:
            self._keep(batch, error)
        running.settle(self.failed)
        self.act_soon()

    def _show(self, batch: list[Decided]) -> None:
        if self.failed is not None:
            _log.warning('event=store_mended')
            self.failed = None
        for record, change, event in batch:
            record.unsaved -= 1
            record.show(change.task)
            if event is not None:
                self._tell(change, event)
        for record in dict.fromkeys(each.record for each in batch):
            self._shown(record)

    def _keep(self, batch: list[Decided], error: BaseException) -> None:
        kept = [each for each in batch if each.record.stored]
        decided = [*kept, *self.decided]
        if kept:
            if not isinstance(error, StoreError):
                error = StoreError(f'{self._store.path} and the runner disagree: {error}')
            self._retry = asyncio.get_running_loop().call_later(RETRY_PERIOD_S, self._write)
            batch = [*batch, *self.decided]  # nothing new is stored until then
            if self._next is not None:
                self._next.settle(error)
                self._next = None
        if not isinstance(error, StoreError):
            error = BadTask(str(error))
        for record in dict.fromkeys(each.record for each in batch if not each.record.stored):
            record.refused = error
            self._dropped(record)
        self.decided = [each for each in decided if each.record.refused is None]
        if kept and self.failed is None:
            assert isinstance(error, StoreError)
            _log.error('event=store_broke error=%r', error)
            self.failed = error
            self._broke(error)

    def _tell(self, change: Change, event: EventType) -> None:
        task = change.task
        payload: dict[str, object] = {
            'before': change.before,
            'after': task.state,
            'reason': task.reason,
        }
        if change.before is None:
            self.counters['submitted'] += 1
            payload = {'name': task.name, 'priority': task.priority}
        elif task.terminal:
            self.counters[task.state.value] += 1
            payload = {'error': task.reason} if event is EventType.TASK_FAIL else payload
        _log.info(
            'event=%s task=%s name=%s state=%s reason=%r',
            *(event.value, task.id, task.name, task.state.value, task.reason),
        )
        self._bus.publish(Event(event, task.id, payload, task.updated_at))
