# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The only thread that writes the task file. Units queued during a write share one commit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
import logging
from queue import SimpleQueue
import sqlite3
from threading import Lock, Thread
from typing import Any, NamedTuple

from curiosity_rosa_demo.agent.tasks import schema
from curiosity_rosa_demo.agent.tasks.task import (
    BadTask,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    Task,
    TaskError,
    UnknownTask,
)
from curiosity_rosa_demo.agent.tasks.transitions import IllegalTransition
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from curiosity_rosa_demo.infra.files import fault_of, FileFault

MAX_GROUP_CHANGES = 240  # changes in one commit; more would delay the first of them
MAX_STATEMENT_CHANGES = 1024  # in one statement: SQLite allows 32,766 values

_log = logging.getLogger('curiosity_rosa.tasks')


@dataclass(frozen=True)
class Insert:
    """A new task in its current state."""

    task: Task


@dataclass(frozen=True)
class Move:
    """A change of state. ``task`` has the new state; its row must still have ``before``."""

    task: Task
    before: LifecycleState


@dataclass(frozen=True)
class Save:
    """A change of any columns except the state and schema.FIXED_COLUMNS."""

    task: Task


Change = Insert | Move | Save
WrittenCallback = Callable[['asyncio.Future[None]'], None]


def to_row(change: Change) -> tuple[Any, ...]:
    """Convert a change to a row of the view ``change``. Raises BadTask."""
    values = schema.to_row(change.task)
    if isinstance(change, Move):
        return ('move', change.before.value, *values)
    return ('insert' if isinstance(change, Insert) else 'save', None, *values)


class WriteUnit(NamedTuple):
    """Rows of the view ``change`` that are stored atomically."""

    rows: list[tuple[Any, ...]]
    done: asyncio.Future[None]
    on_written: WrittenCallback | None  # called in the loop as soon as ``done`` is set


class StoreWriter:
    """Owns ``connection`` until stop(). Its thread then closes it and calls ``at_end``.

    The thread holds ``lock`` while a transaction is open, and while it calls ``after_group`` after
    each group.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        name: str,
        *,
        counters: dict[str, int],
        after_group: Callable[[sqlite3.Connection], None],
        at_end: Callable[[], None],
    ) -> None:
        self.lock = Lock()
        self._connection = connection
        self._name = name
        self._counters = counters
        self._after_group = after_group
        self._at_end = at_end
        self._queue: SimpleQueue[WriteUnit | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name='task-store', daemon=True)
        self._thread.start()

    def put(self, unit: WriteUnit) -> None:
        self._queue.put(unit)

    async def stop(self) -> None:
        """Commit all queued units, then end the thread."""
        self._queue.put(None)
        await run_in_thread('task-store-end', self._thread.join)

    def _run(self) -> None:
        while True:
            item = self._queue.get()
            group: list[WriteUnit] = []
            size = 0
            while item is not None:
                group.append(item)
                size += len(item.rows)
                if size >= MAX_GROUP_CHANGES or self._queue.empty():
                    break
                item = self._queue.get()
            if group:
                with self.lock:
                    errors = self._commit(group, size)
                _resolve_group(group, errors)
                self._prune()
            if item is None:
                self._connection.close()
                self._at_end()
                return

    def _commit(self, group: list[WriteUnit], size: int) -> list[TaskError | None]:
        """Commit ``group``. Returns the error of each unit, or None if it is on the disk."""
        try:
            errors = self._commit_at_once(group, size) or self._commit_one_by_one(group)
        except Exception as error:  # every ``done`` must be set, or its caller waits for ever
            if not isinstance(error, sqlite3.Error):
                _log.exception('event=write_failed')
            self._roll_back()
            return [store_error(error, self._name) for _ in group]
        self._counters['commits'] += errors.count(None)
        self._counters['groups'] += 1
        self._counters['largest_group'] = max(self._counters['largest_group'], len(group))
        return errors

    def _commit_at_once(self, group: list[WriteUnit], size: int) -> list[TaskError | None]:
        """Store the group in one statement. Returns [], with nothing stored, if a unit is refused
        or the group is too large.

        Each execution of a statement releases the GIL. While the loop is busy, the thread gets it
        back only after up to 5 ms. Hence one statement per group, which is its own transaction.
        """
        if not 0 < size <= MAX_STATEMENT_CHANGES:
            return []
        rows = 1 << (size - 1).bit_length()  # few sizes, so that SQLite reuses prepared statements
        values = [*chain.from_iterable(row for unit in group for row in unit.rows)]
        values += schema.NO_CHANGE * (rows - size)
        try:
            self._connection.execute(schema.insert_changes(rows), values)
        except _REFUSALS:
            return []
        return [None] * len(group)

    def _commit_one_by_one(self, group: list[WriteUnit]) -> list[TaskError | None]:
        self._connection.execute('BEGIN IMMEDIATE')
        errors = [self._apply(unit) for unit in group]
        self._connection.execute('COMMIT')
        return errors

    def _apply(self, unit: WriteUnit) -> TaskError | None:
        self._connection.execute('SAVEPOINT unit')
        error = next(filter(None, map(self._apply_row, unit.rows)), None)
        if error:
            self._connection.execute('ROLLBACK TO unit')
        self._connection.execute('RELEASE unit')
        return error

    def _apply_row(self, row: tuple[Any, ...]) -> TaskError | None:
        try:
            self._connection.execute(schema.insert_changes(1), row)
        except _REFUSALS as error:
            return self._refusal(row, str(error))
        return None

    def _refusal(self, row: tuple[Any, ...], message: str) -> TaskError:
        values = dict(zip(schema.CHANGE_COLUMNS, row, strict=True))
        task_id, before, after = values['id'], values['before'], values['state']
        if message == schema.ILLEGAL_TRANSITION:
            fault = IllegalTransition(LifecycleState(before), LifecycleState(after))
            return TaskError(f'Task {task_id!r}: {fault}')
        if message == schema.NOT_AS_BEFORE:
            stored = self._connection.execute('SELECT state FROM task WHERE id = ?', (task_id,))
            state = next(stored, None)
            if state is None:
                return UnknownTask(task_id)
            return TaskError(
                f'Task {task_id!r} is {state[0].upper()} in {self._name}, not {before.upper()}; '
                f'it was not changed to {after.upper()}'
            )
        if message.startswith('UNIQUE'):
            column = message.rpartition('.')[2]
            return TaskError(
                f'Task {task_id!r} was not stored: {self._name} has another task with the '
                f'{column} {values[column]!r}'
            )
        return BadTask(f'Task {task_id!r} cannot be stored: {message}')

    def _prune(self) -> None:
        try:
            with self.lock:
                self._after_group(self._connection)
        except sqlite3.Error as error:  # retried after the next group
            _log.warning('event=prune_failed error=%r', str(error))

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute('ROLLBACK')
        except sqlite3.Error as error:
            _log.warning('event=rollback_failed error=%r', str(error))


# Errors of a row, not of the file. The last four come from values that SQLite cannot store: other
# types, integers of more than 64 bits, text that is not Unicode.
_REFUSALS = (
    *(sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError),
    *(OverflowError, ValueError),
)


def _resolve_group(group: list[WriteUnit], errors: list[TaskError | None]) -> None:
    loop = group[0].done.get_loop()
    try:
        loop.call_soon_threadsafe(_schedule_resolution, loop, group, errors)
    except RuntimeError:
        _log.warning('event=loop_closed units=%d', len(group))


def _schedule_resolution(
    loop: asyncio.AbstractEventLoop, group: list[WriteUnit], errors: list[TaskError | None]
) -> None:
    for (_, done, on_written), error in zip(group, errors, strict=True):
        if done.done():  # the awaiting caller was cancelled
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)
        if on_written is not None:
            try:
                on_written(done)
            except Exception as fault:  # the other units must still be resolved
                message = f'{on_written!r} raised'
                loop.call_exception_handler({'message': message, 'exception': fault})


def store_error(error: Exception, name: str) -> StoreError:
    """Convert ``error`` to a StoreError that names the file, the problem and the remedy."""
    text, fault = str(error), fault_of(error)
    if fault is FileFault.FULL:
        return StoreFull(f'{name} cannot be written: {text}; free some space or check the disk')
    if fault is FileFault.READ_ONLY:
        return StoreReadOnly(
            f'{name} cannot be written: {text}; make the file and its folder writable, or set '
            'tasks.db_path to another'
        )
    if fault is FileFault.LOCKED:
        return StoreLocked(f'{name} is locked by another program; close that program')
    if isinstance(error, ValueError) or fault is FileFault.DAMAGED:
        return StoreError(f'{name} is damaged: {text}; restart, then it is set aside')
    return StoreError(f'{name} cannot be used: {text}')
