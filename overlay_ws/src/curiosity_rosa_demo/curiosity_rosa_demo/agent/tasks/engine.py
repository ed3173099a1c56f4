# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Decisions about tasks: which start, which end, and the consequences for other tasks.

Every decision is made in the loop's thread, without an await. The journal commits the decisions in
their order. They become visible only after the commit.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable
import logging

from curiosity_rosa_demo.agent.tasks.entry import PendingChange, StopCause, StopWeight, TaskRecord
from curiosity_rosa_demo.agent.tasks.event_publisher import TaskEventPublisher
from curiosity_rosa_demo.agent.tasks.events import EventType
from curiosity_rosa_demo.agent.tasks.journal import Journal
from curiosity_rosa_demo.agent.tasks.ready_queue import PriorityRanks, rank_of, ReadyQueue
from curiosity_rosa_demo.agent.tasks.skill_runs import SkillRuns, TaskSkills
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.task import now, StoreError, Task
from curiosity_rosa_demo.agent.tasks.validation import wait_reason_of
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.trace.trace_buffer import EventBus

MAX_ENDED_TASKS = 1000  # tasks that ended and can still be listed

_S = LifecycleState
_ENDED_TEXTS = {_S.FAILED: 'failed', _S.CANCELLED: 'was cancelled'}

_log = logging.getLogger('curiosity_rosa.tasks')


class Engine:
    """Methods stage decisions; dispatch_and_flush() starts tasks and sends all to the store."""

    def __init__(
        self,
        store: TaskStore,
        skills: TaskSkills,
        *,
        cancel_grace_s: float,
        retry_backoff_s: float,
        ageing_s: float,
        on_failure: Callable[[StoreError], None],
        event_bus: EventBus,
    ) -> None:
        self.open = False  # whether tasks may start
        self.records: dict[str, TaskRecord] = {}
        self.ended: OrderedDict[str, Task] = OrderedDict()
        self.idempotency_keys: dict[str, TaskRecord] = {}
        self.event_publisher = TaskEventPublisher(event_bus)
        self.counters = self.event_publisher.counters
        self.journal = Journal(store, self)
        self.ready_queue = ReadyQueue()
        self.ranks = PriorityRanks()
        self.runs = SkillRuns(
            self, skills, cancel_grace_s=cancel_grace_s, backoff_s=retry_backoff_s
        )
        self._skills = skills
        self._ageing_s = ageing_s
        self._on_failure = on_failure
        self._changed_records: list[TaskRecord] = []
        self._freed = False

    # --- records -----------------------------------------------------------------------------

    def add(self, record: TaskRecord, blockers: Iterable[str]) -> None:
        """Track a task. ``blockers``: the tasks of its ``blocked_by`` that have not ended."""
        plan = record.plan
        self.records[plan.id] = record
        if plan.idempotency_key is not None:
            self.idempotency_keys[plan.idempotency_key] = record
        record.open_blockers = set(blockers)
        own = rank_of(plan, self._ageing_s)
        self._reranked(self.ranks.add(plan.id, own, record.open_blockers))

    def add_ended(self, task: Task) -> None:
        """Keep an ended task for queries; drop the oldest beyond MAX_ENDED_TASKS."""
        self.ended[task.id] = task
        if len(self.ended) > MAX_ENDED_TASKS:
            self.ended.popitem(last=False)

    def _remove(self, record: TaskRecord) -> None:
        task_id = record.plan.id
        del self.records[task_id]
        if record.plan.idempotency_key is not None:
            del self.idempotency_keys[record.plan.idempotency_key]
        self.ready_queue.discard(task_id)
        self._reranked(self.ranks.remove(task_id))
        record.cancel_timers()

    # --- decisions ---------------------------------------------------------------------------

    def move(self, record: TaskRecord, after: LifecycleState, reason: str = '') -> None:
        record.stage_move(after, reason)
        self._changed_records.append(record)
        if after.terminal:
            self.ready_queue.discard(record.plan.id)
        if record.plan.deadline_s is not None:
            self.watch_deadline(record)

    def save(self, record: TaskRecord) -> None:
        record.stage_save()
        self._changed_records.append(record)

    def insert(self, record: TaskRecord, event: EventType) -> None:
        """Stage a new task as PENDING, or as WAITING if it must wait."""
        record.plan.updated_at = now()
        if (reason := self._wait(record)) is None:
            self.ready(record)
        else:
            record.plan.state, record.plan.reason = _S.WAITING, reason
        if record.plan.deadline_s is not None:
            record.since = asyncio.get_running_loop().time()
            self.watch_deadline(record)
        record.stage_insert(event)
        self._changed_records.append(record)

    def reconsider(self, record: TaskRecord) -> None:
        """Check again whether a WAITING task must still wait."""
        if record.plan.state is not _S.WAITING:
            return
        reason = self._wait(record)
        if reason is None:
            record.retry_at = None
            self.move(record, _S.PENDING)
            self.ready(record)
        elif reason and reason != record.plan.reason:
            record.plan.reason = reason
            self.save(record)

    def ready(self, record: TaskRecord) -> None:
        """Queue a task in the scheduler, unless it is held."""
        plan = record.plan
        if not plan.held:
            place = (self.ranks[plan.id], plan.state is not _S.RECOVERING, plan.seq)
            self.ready_queue.add(plan.id, place, self._skills.needs(plan))

    def reprioritise(self, record: TaskRecord, priority: int) -> None:
        plan = record.plan
        plan.priority = priority
        changed = self.ranks.set_own(plan.id, rank_of(plan, self._ageing_s))
        self._reranked(changed)
        self.save(record)

    def cancel(self, record: TaskRecord, reason: str) -> None:
        if record.busy:
            self.runs.request_stop(record, StopCause(StopWeight.CANCEL, reason))
        elif not record.plan.terminal:
            self.move(record, _S.CANCELLED, reason)

    def block(self, record: TaskRecord, blocker: Task) -> None:
        """Cancel ``record``, because ``blocker`` has FAILED or was CANCELLED."""
        reason = f'blocked by {blocker.id[:8]}, which {_ENDED_TEXTS[blocker.state]}'
        self.move(record, _S.CANCELLED, reason)

    def free_resources(self, record: TaskRecord) -> None:
        self.ready_queue.free(record.resources)
        record.freed = self._freed = True

    def dispatch_and_flush(self) -> None:
        """Start the tasks that may start, then send all staged changes to the store.

        In this order, a new task that starts at once needs one commit. Resources freed by a change
        are assigned only after that change is sent, so that the file never shows two active tasks
        with one resource.
        """
        self._dispatch()
        while self._changed_records or self._freed:
            dirty, self._changed_records = self._changed_records, []
            for record in dirty:
                self.journal.flush(record)
            if self._freed:
                self._freed = False
                self._dispatch()

    def _dispatch(self) -> None:
        while self.open and self.journal.broken is None:
            task_id = self.ready_queue.pop_next()
            if task_id is None:
                return
            self.runs.occupy(self.records[task_id])

    def _reranked(self, task_ids: Iterable[str]) -> None:
        for task_id in task_ids:
            self.ready_queue.move(task_id, self.ranks[task_id])

    # --- time --------------------------------------------------------------------------------

    def _wait(self, record: TaskRecord) -> str | None:
        """Return why the task must wait ('': unchanged), or None. Sets the timer that it needs."""
        loop = asyncio.get_running_loop()
        blockers = (self.records[task_id].plan for task_id in sorted(record.open_blockers))
        due = None if record.retry_at is None else record.retry_at - loop.time()
        wait = wait_reason_of(record.plan, blockers, due, now())
        if record.wake is not None:
            record.wake.cancel()
            record.wake = None
        if wait is not None and wait.again_s is not None:
            record.wake = loop.call_later(wait.again_s, self._wake, record)
        return None if wait is None else wait.reason

    def _wake(self, record: TaskRecord) -> None:
        record.wake = None
        self.reconsider(record)
        self.dispatch_and_flush()

    def watch_deadline(self, record: TaskRecord) -> None:
        loop = asyncio.get_running_loop()
        if record.deadline is not None:
            record.deadline.cancel()
            record.deadline = None
        if record.plan.state is not _S.PAUSED and not record.plan.terminal:
            left = max(0.0, record.left_s(loop.time()))
            record.deadline = loop.call_later(left, self._deadline_passed, record)

    def _deadline_passed(self, record: TaskRecord) -> None:
        record.deadline = None
        reason = f'deadline of {record.plan.deadline_s:g} s passed'
        state = record.plan.state
        if record.busy:
            self.runs.request_stop(record, StopCause(StopWeight.DEADLINE, reason))
        elif state is _S.RECOVERING or (state is _S.WAITING and record.plan.attempts):
            self.move(record, _S.FAILED, reason)
        else:
            self.move(record, _S.CANCELLED, f'{reason} before it began')
        self.dispatch_and_flush()

    # --- JournalListener ----------------------------------------------------------------------

    def sent(self, record: TaskRecord) -> None:
        if not record.busy and not record.freed:
            self.free_resources(record)
        if record.plan.terminal:
            self._settle_dependents(record)

    def applied(self, record: TaskRecord, steps: list[PendingChange]) -> None:
        for step in steps:
            self.event_publisher.publish_change(step)
        if record.task.terminal:
            self._ended(record)
        elif record.starting and not (record.in_flight or record.staged):
            self.runs.start_skill(record)
        self.dispatch_and_flush()

    def rejected(self, record: TaskRecord) -> None:
        self._remove(record)
        self.runs.discard(record)
        if not record.freed:
            self.free_resources(record)
        asyncio.get_running_loop().call_soon(self.dispatch_and_flush)

    def store_failed(self, error: StoreError) -> None:
        for record in self.runs.busy():
            self.runs.request_stop(
                record, StopCause(StopWeight.PAUSE, 'the task file cannot be written')
            )
        try:
            self._on_failure(error)
        except Exception:
            _log.exception('event=on_failure_raised')

    def store_recovered(self) -> None:
        asyncio.get_running_loop().call_soon(self.dispatch_and_flush)

    def _ended(self, record: TaskRecord) -> None:
        self._settle_dependents(record)  # those submitted since the change was sent
        self._remove(record)
        self.add_ended(record.task)
        for watcher in record.watchers:
            if not watcher.done():
                watcher.set_result(None)

    def _settle_dependents(self, blocker: TaskRecord) -> None:
        """Release or cancel the dependents of a task whose end was sent to the store.

        Waiting for the commit would let lower tasks overtake them.
        """
        plan = blocker.plan
        dependents = [self.records[task_id] for task_id in self.ranks.dependents(plan.id)]
        for dependent in sorted(dependents, key=lambda dependent: dependent.plan.seq):
            dependent.open_blockers.discard(plan.id)
            if plan.state is _S.COMPLETED:
                self.reconsider(dependent)
            elif not dependent.plan.terminal:
                self.block(dependent, plan)
