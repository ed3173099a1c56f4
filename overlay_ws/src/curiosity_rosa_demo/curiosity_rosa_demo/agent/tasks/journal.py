# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Write the changes of the records to the store, and retry while the store cannot write."""

from __future__ import annotations

import asyncio
from functools import partial
import logging
from typing import Protocol

from curiosity_rosa_demo.agent.tasks.entry import PendingChange, TaskRecord
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.task import BadTask, StoreError, TaskError

RETRY_PERIOD_S = 1.0  # between two attempts to write after a failure

_log = logging.getLogger('curiosity_rosa.tasks')


class JournalListener(Protocol):
    """Callbacks of the journal, in the loop's thread. Only applied() may call the journal."""

    def sent(self, record: TaskRecord) -> None:
        """All staged changes of the record were sent to the store, in order."""

    def applied(self, record: TaskRecord, steps: list[PendingChange]) -> None:
        """``steps`` are committed, and ``record.task`` shows them."""

    def rejected(self, record: TaskRecord) -> None:
        """A new task could not be stored. The submitter gets the error."""

    def store_failed(self, error: StoreError) -> None:
        """A change of a known task could not be stored."""

    def store_recovered(self) -> None:
        """All changes that had failed are stored now."""


class Journal:
    """Commits changes in order. A failed unit is kept and retried every RETRY_PERIOD_S, together
    with later changes of the same task. The failed unit of a new task is dropped.
    """

    def __init__(self, store: TaskStore, listener: JournalListener) -> None:
        self.broken: StoreError | None = None
        self._store = store
        self._listener = listener
        self._sending: dict[TaskRecord, asyncio.Future[None]] = {}
        self._stuck: dict[TaskRecord, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def flush(self, record: TaskRecord) -> None:
        if record in self._stuck:
            assert self.broken is not None
            _resolve_waiters(record.staged, self.broken)
        elif record.staged and record not in self._sending:
            self._send(record)

    def committed(self, record: TaskRecord) -> asyncio.Future[None]:
        """A future that is done once all changes of the record are committed. It raises StoreError
        if the write failed and will be retried, TaskError if a new task was refused.
        """
        done = asyncio.get_running_loop().create_future()
        steps = record.staged or record.in_flight
        if not steps:
            done.set_result(None)
        elif record in self._stuck:
            assert self.broken is not None
            done.set_exception(self.broken)
        else:
            steps[-1].waiters.append(done)
        return done

    async def drain(self) -> None:
        """Wait until no write is in flight. Failed units are retried once."""
        if self._timer is not None:
            self._timer.cancel()
        self._retry()
        while self._sending:
            await asyncio.wait(list(self._sending.values()))
        if self._timer is not None:
            self._timer.cancel()

    def _send(self, record: TaskRecord) -> None:
        record.in_flight, record.staged = record.in_flight + record.staged, []
        try:
            future = self._write(record)
        except TaskError as error:
            self._failed(record, error)
            return
        self._sending[record] = future
        self._listener.sent(record)

    def _write(self, record: TaskRecord) -> asyncio.Future[None]:
        changes = [step.change for step in record.in_flight]
        written = partial(self._written, record)
        for change in changes:
            change.task.metadata = record.task.metadata
        try:
            return self._store.write(changes, written)
        except BadTask as error:
            stored = self._store.get(record.task.id) if record.visible else None
            if stored is None:
                raise
            # The skill made the metadata invalid since the last check; the state still matters.
            _log.error('event=metadata_lost task=%s error=%r', record.task.id, error)
            record.task.metadata = stored.metadata
            for change in changes:
                change.task.metadata = stored.metadata
            return self._store.write(changes, written)

    def _written(self, record: TaskRecord, future: asyncio.Future[None]) -> None:
        del self._sending[record]
        error = future.exception()
        if error is not None:
            self._failed(record, error)
            return
        steps, record.in_flight = record.in_flight, []
        record.visible = True
        self._stuck.pop(record, None)
        record.show_committed(steps[-1].change.task)
        if self.broken is not None and not self._stuck:
            _log.warning('event=store_mended')
            self.broken = None
            self._listener.store_recovered()
        self.flush(record)
        self._listener.applied(record, steps)
        for step in steps:
            for waiter in step.waiters:
                if not waiter.done():
                    waiter.set_result(None)

    def _failed(self, record: TaskRecord, error: BaseException) -> None:
        if not record.visible:
            steps, record.in_flight, record.staged = record.in_flight + record.staged, [], []
            self._listener.rejected(record)
            if not isinstance(error, StoreError):
                error = BadTask(str(error))
            _resolve_waiters(steps, error)
            return
        if not isinstance(error, StoreError):
            error = StoreError(f'{self._store.path} and the runner disagree: {error}')
        self._stuck[record] = None
        _resolve_waiters(record.in_flight + record.staged, error)
        if self.broken is None:
            _log.error('event=store_broke error=%r', error)
            self.broken = error
            self._listener.store_failed(error)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(RETRY_PERIOD_S, self._retry)

    def _retry(self) -> None:
        self._timer = None
        for record in list(self._stuck):
            if record not in self._sending:
                self._send(record)


def _resolve_waiters(steps: list[PendingChange], error: BaseException) -> None:
    for step in steps:
        waiters, step.waiters = step.waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_exception(error)
