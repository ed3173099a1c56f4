# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The life cycle of tasks: submission, start in the order of rank, end, and storage.

A change is on the disk before it becomes visible: before submit() returns, a task starts, an event
is sent or get_task() shows a state. Before start() there is no file: tasks submitted then can be
queried at once, and start() stores them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
import logging
from typing import Literal

from curiosity_rosa_demo.agent.tasks.engine import Engine, MAX_ENDED_TASKS
from curiosity_rosa_demo.agent.tasks.events import Event, EventType
from curiosity_rosa_demo.agent.tasks.external_skills import ExternalSkills
from curiosity_rosa_demo.agent.tasks.recovery import Recovery
from curiosity_rosa_demo.agent.tasks.skill_runs import TaskSkills
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.submission import TaskSubmission
from curiosity_rosa_demo.agent.tasks.task import BadTask, StoreError, Task, TaskError
from curiosity_rosa_demo.agent.tasks.validation import task_label
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from curiosity_rosa_demo.trace.trace_buffer import EventBus

_S = LifecycleState

_log = logging.getLogger('curiosity_rosa.tasks')

DATABASE = 'tasks.db'  # in the working directory


class RARKKernel(TaskSubmission):
    """Tasks without skills. An external executor runs the ACTIVE tasks and emits TASK_COMPLETE or
    TASK_FAIL. It subscribes to events to learn which tasks are ACTIVE, PAUSED or CANCELLED.

    ``cancel_grace_s``: a skill that ignores its cancellation for longer is abandoned.
    ``ageing_s``: seconds of waiting that count as one step of priority; 0 disables ageing.
    ``retry_backoff_s``: seconds before the first retry; doubled for each further one, up to 60 s.
    ``on_failure`` is called when the file cannot be written; ``failed`` is set until it can.
    ``event_bus`` gets an Event after each commit; None: a bus of its own.

    Use all methods in one event loop. They raise the kinds of TaskError in errors.py. A runner can
    be started once. Its unfinished tasks continue in the next runner with the same file.
    """

    def __init__(
        self,
        db_path: str = DATABASE,
        crash_policy: Literal['resume', 'fail'] = 'resume',
        *,
        cancel_grace_s: float = 3.0,
        ageing_s: float = 0.0,
        retention_days: float = 30.0,
        resources: Iterable[str] = ('base', 'mast', 'camera'),
        retry_backoff_s: float = 1.0,
        on_failure: Callable[[StoreError], None] = lambda error: None,
        event_bus: EventBus | None = None,
    ) -> None:
        if crash_policy not in ('resume', 'fail'):
            raise ValueError(f"crash_policy is {crash_policy!r}; it must be 'resume' or 'fail'")
        store = TaskStore(db_path, retention_days=retention_days)
        skills = self._make_skills(resources)
        engine = Engine(
            store,
            skills,
            cancel_grace_s=cancel_grace_s,
            retry_backoff_s=retry_backoff_s,
            ageing_s=ageing_s,
            on_failure=on_failure,
            event_bus=event_bus or EventBus(),
        )
        super().__init__(engine, store, skills)
        self._recovery = Recovery(
            engine, store, fail=crash_policy == 'fail', backoff_s=retry_backoff_s
        )
        self._recovered: list[str] = []
        self._end = asyncio.Event()

    def _make_skills(self, resources: Iterable[str]) -> TaskSkills:
        return ExternalSkills(resources)

    # --- life cycle --------------------------------------------------------------------------

    async def start(self) -> None:
        """Open the file and recover its tasks. Raises StoreError."""
        if self._phase != 'new':
            raise TaskError('This runner was started before; make a new one')
        tasks = await run_in_thread('task-store-start', self._store.open)
        self._phase = 'started'
        try:
            for task in reversed(self._store.last(MAX_ENDED_TASKS)):
                self._engine.add_ended(task)
            self._seq = self._store.next_seq()
            self._recovered = self._recovery.recover_tasks(tasks)
            await self._commit(list(self._engine.records.values()))
            while self._inbox:
                await self._handle_early(self._inbox.popleft())
        except StoreError:
            await self.stop()
            raise
        for note in self.notes:
            _log.warning('event=recovered note=%r', note)

    async def run_loop(self) -> None:
        """Let tasks start; returns after stop()."""
        self._check()
        self._engine.open = True
        self._engine.dispatch_and_flush()
        try:
            await self._end.wait()
        finally:
            self._engine.open = False

    async def stop(self) -> None:
        """Cancel the running skills, pause their tasks and close the file."""
        if self._stopped is None:
            self._stopped = asyncio.get_running_loop().create_task(self._stop())
        await asyncio.shield(self._stopped)

    async def _stop(self) -> None:
        engine = self._engine
        engine.open = False
        if self._phase == 'started':
            await self._pause(engine.runs.busy(), 'the runner was stopped')
            await engine.journal.drain()
            for record in engine.records.values():
                record.cancel_timers()
                for watcher in record.watchers:
                    if not watcher.done():
                        watcher.set_exception(TaskError('The runner was stopped'))
            if engine.journal.broken is not None:
                _log.error('event=stopped_unwritten error=%r', engine.journal.broken)
            await self._store.close()
        self._phase = 'stopped'
        engine.event_publisher.close()
        self._end.set()

    @property
    def notes(self) -> list[str]:
        """The changes of start() to the file and to tasks that had been active."""
        return [*self._store.notes, *self._recovered]

    async def _handle_early(self, event: Event) -> None:
        """Handle an event emitted before start(). Raises StoreError; other errors become notes."""
        try:
            await self._handle(event)
        except StoreError:
            raise
        except TaskError as error:
            self._recovered.append(f'{event.type.value} from before the start: {error}')
        finally:
            if event.type in (EventType.TASK_SUBMIT, EventType.INTERRUPT):
                self._registered.pop(event.payload['task'].id, None)

    # --- events ------------------------------------------------------------------------------

    def emit(self, event: Event) -> asyncio.Future[None]:
        """Handle ``event`` after all earlier ones. The returned future need not be awaited. It is
        done once the event is handled and committed, and may raise TaskError.
        """
        handled = asyncio.get_running_loop().create_task(self._handle(event))
        handled.add_done_callback(_log_refusal)
        return handled

    async def _handle(self, event: Event) -> None:
        if event.type is EventType.TASK_SUBMIT:
            await self.submit(_task_of(event))
        elif event.type is EventType.INTERRUPT:
            await self.interrupt(_task_of(event))
        elif event.type is EventType.TASK_STATE:
            raise BadTask(f'{event.type.name} reports a change; it cannot ask for one')
        elif event.task_id is None:
            raise BadTask(f'{event.type.name} needs a task_id')
        elif event.type is EventType.TASK_CANCEL:
            await self.cancel(event.task_id, str(event.payload.get('reason', '')))
        elif self._phase == 'new':
            self._inbox.append(event)
        elif event.type is EventType.TASK_COMPLETE:
            await self._report(event.task_id, None)
        else:
            await self._report(event.task_id, str(event.payload.get('error', 'it failed')))

    async def _report(self, task_id: str, error: str | None) -> None:
        """End a task for the external executor. Raises TaskError unless the task is ACTIVE."""
        record = self._live_record(task_id)
        if not record.busy:
            state = record.plan.state.name
            raise TaskError(
                f'Task {task_label(record.plan)} is {state}; only an ACTIVE one can end'
            )
        run_ended = self._engine.runs.wait_until_ended(record)
        assert isinstance(self._skills, ExternalSkills)
        self._skills.report(task_id, error)
        await run_ended
        if record.task.state in (_S.PAUSED, _S.CANCELLED):
            raise TaskError(f'Task {task_label(record.task)} was {record.task.state.name} before')


def _task_of(event: Event) -> Task:
    task = event.payload.get('task')
    if not isinstance(task, Task):
        raise BadTask(f"{event.type.name} needs the payload {{'task': Task}}")
    return task


def _log_refusal(handled: asyncio.Future[None]) -> None:
    if not handled.cancelled() and (error := handled.exception()) is not None:
        _log.warning('event=refused error=%r', error)
