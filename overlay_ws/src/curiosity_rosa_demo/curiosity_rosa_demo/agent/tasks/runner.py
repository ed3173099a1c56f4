# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The SkillRunner: tasks that survive time. Usable alone, without ROS.

    runner = SkillRunner(db_path='robot.db')

    @runner.skill('pour_water', resources=('base',))
    async def pour_water(task: Task) -> None: ...

    await runner.start()
    loop_task = asyncio.create_task(runner.run_loop())
    task = await runner.submit(Task('pour_water', 3))

Everything is committed before anybody is told of it: submit() returns, a skill starts, an event is
sent, get_task() shows a state only when it is on the disk. A skill runs at least once; after a
crash it runs again, with the metadata of its last checkpoint. What starts when is written in
scheduler.py, what the end of a skill means in runs.py.

A task whose ``blocked_by`` names one that FAILED or was CANCELLED is CANCELLED itself. The clock
of ``deadline_s`` stands while the task is PAUSED; the time in which no process ran counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
import logging
from typing import Literal, TypeVar

from curiosity_rosa_demo.agent.tasks.commands import TaskControl
from curiosity_rosa_demo.agent.tasks.engine import Engine, KEPT
from curiosity_rosa_demo.agent.tasks.entry import Cause, Record, snapshot, Weight
from curiosity_rosa_demo.agent.tasks.errors import BadTask, StoreError, TaskError
from curiosity_rosa_demo.agent.tasks.events import EventType
from curiosity_rosa_demo.agent.tasks.recovery import Recovery
from curiosity_rosa_demo.agent.tasks.skill import SkillFunction, Skills
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.task import Task
from curiosity_rosa_demo.agent.tasks.validation import check_task, label
from curiosity_rosa_demo.domain.task_state import LifecycleState

_S = LifecycleState

_log = logging.getLogger('curiosity_rosa.tasks')

F = TypeVar('F', bound=SkillFunction)


class SkillRunner(TaskControl):
    """``cancel_grace_s``: a skill that ignores its cancellation for longer is abandoned.
    ``ageing_s``: so many seconds of waiting count as one step of priority; 0: none do.
    ``retry_backoff_s``: before the first retry; doubled for each, at most 60 s.
    ``on_failure`` is called when the file cannot be written; ``failed`` is set until it can.

    All of it belongs to one event loop. Methods raise TaskError, of which errors.py has the kinds.
    A runner is started once; its tasks go on in the next runner with the same file.
    """

    def __init__(
        self,
        db_path: str,
        crash_policy: Literal['resume', 'fail'] = 'resume',
        *,
        cancel_grace_s: float = 3.0,
        ageing_s: float = 0.0,
        retention_days: float = 30.0,
        resources: Iterable[str] = ('base', 'mast', 'camera'),
        retry_backoff_s: float = 1.0,
        on_failure: Callable[[StoreError], None] = lambda error: None,
    ) -> None:
        if crash_policy not in ('resume', 'fail'):
            raise ValueError(f"crash_policy is {crash_policy!r}; it must be 'resume' or 'fail'")
        store = TaskStore(db_path, retention_days=retention_days)
        skills = Skills(resources)
        engine = Engine(
            store,
            skills,
            cancel_grace_s=cancel_grace_s,
            retry_backoff_s=retry_backoff_s,
            ageing_s=ageing_s,
            on_failure=on_failure,
        )
        super().__init__(engine, store, skills)
        self._recovery = Recovery(
            engine, store, fail=crash_policy == 'fail', backoff_s=retry_backoff_s
        )
        self._recovered: list[str] = []
        self._seq = 0
        self._stopped: asyncio.Task[None] | None = None
        self._end = asyncio.Event()

    # --- life --------------------------------------------------------------------------------

    def skill(
        self, name: str, *, resources: Iterable[str] | None = None, recovers: bool = False
    ) -> Callable[[F], F]:
        """Registers an ``async def`` of one Task. ``resources`` None: all of them.

        ``recovers``: after a crash it looks again and then calls observed(); until that its task
        is RECOVERING. Raises ValueError, TypeError.
        """

        def register(function: F) -> F:
            self._skills.add(name, function, resources, recovers)
            return function

        return register

    async def start(self) -> None:
        """Opens the file and takes over what is in it. Raises StoreError."""
        if self._phase != 'new':
            raise TaskError('This runner was started before; make a new one')
        tasks = await asyncio.to_thread(self._store.open)
        self._phase = 'started'
        try:
            for task in reversed(self._store.last(KEPT)):
                self._engine.remember(task)
            self._seq = self._store.next_seq()
            self._recovered = self._recovery.enter(tasks)
            await self._commit(list(self._engine.records.values()))
        except StoreError:
            await self.stop()
            raise
        for note in self.notes:
            _log.warning('event=recovered note=%r', note)

    async def run_loop(self) -> None:
        """Lets tasks begin; returns after stop()."""
        self._check()
        self._engine.open = True
        self._engine.pump()
        try:
            await self._end.wait()
        finally:
            self._engine.open = False

    async def stop(self) -> None:
        """Cancels the running skills, pauses their tasks and closes the file."""
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
        engine.news.bus.close()
        self._end.set()

    @property
    def notes(self) -> list[str]:
        """What start() did to the file and to what had been active."""
        return [*self._store.notes, *self._recovered]

    # --- new tasks -------------------------------------------------------------------------------

    async def submit(self, task: Task) -> Task:
        """``task`` once it is stored, or the earlier one with its idempotency_key.

        It waits its turn: what runs is not interrupted. Raises BadTask, StoreError.
        """
        return (await self._submit(task, EventType.TASK_SUBMIT))[0]

    async def interrupt(self, task: Task) -> Task:
        """Like submit(), but ``task`` goes before all that is not urgent.

        Running skills that have its resources and rank below it are cancelled and paused; they
        resume by themselves. Returns when they have. Among urgent tasks the higher priority
        interrupts the lower, equals wait. Raises BadTask for a task that would have to wait.
        """
        for name in ('blocked_by', 'not_before', 'needs_approval'):
            if getattr(task, name):
                raise BadTask(f'{name} is set; what cannot begin now cannot interrupt, submit it')
        known, preempted = await self._submit(task, EventType.INTERRUPT)
        await asyncio.gather(*preempted, return_exceptions=True)
        return known

    async def _submit(
        self, task: Task, event: EventType
    ) -> tuple[Task, list[asyncio.Future[None]]]:
        self._check()
        if self._stopped is not None:
            raise TaskError('The runner is stopping; submit to the next one')
        engine = self._engine
        if engine.journal.broken is not None:
            raise engine.journal.broken
        check_task(task, self._skills.resources)
        if task.idempotency_key is not None:
            if (record := engine.keys.get(task.idempotency_key)) is not None:
                if not record.visible:
                    await engine.journal.committed(record)
                return record.task, []
            if (earlier := self._store.by_key(task.idempotency_key)) is not None:
                return engine.ended.get(earlier.id, earlier), []
        blockers = self._blockers(task)
        if task.id in engine.records or task.id in engine.ended:
            raise BadTask(f'There is already a task {task.id!r}; submit a new Task')

        record = Record(task, snapshot(task), visible=False)
        plan = record.plan
        plan.urgent = event is EventType.INTERRUPT
        plan.seq, self._seq = self._seq, self._seq + 1
        plan.held, plan.attempts, plan.used_s, plan.reason = False, 0, 0.0, ''
        engine.enter(record, [blocker.id for blocker in blockers if not blocker.terminal])
        engine.insert(record, event)
        for blocker in blockers:
            if blocker.terminal and blocker.state is not _S.COMPLETED:
                engine.block(record, blocker)
                break
        preempted = self._preempt(record) if plan.urgent else []
        stored = engine.journal.committed(record)
        engine.pump()
        await stored
        return task, preempted

    def _blockers(self, task: Task) -> list[Task]:
        blockers = []
        for task_id in task.blocked_by:
            if (blocker := self.get_task(task_id)) is None:
                raise BadTask(f'blocked_by names {task_id!r}, and there is no such task')
            blockers.append(blocker)
        return blockers

    def _preempt(self, urgent: Record) -> list[asyncio.Future[None]]:
        engine = self._engine
        if not engine.open or not engine.scheduler.admits(urgent.plan.id):
            return []
        needs, rank = self._skills.needs(urgent.plan), engine.ranks[urgent.plan.id]
        left = []
        cause = Cause(Weight.PAUSE, f'interrupted by {label(urgent.plan)}', preempted=True)
        for record in engine.runs.busy():
            if not needs.isdisjoint(record.resources) and engine.ranks[record.plan.id] > rank:
                left.append(engine.runs.leaving(record))
                engine.runs.tell(record, cause)
        return left
