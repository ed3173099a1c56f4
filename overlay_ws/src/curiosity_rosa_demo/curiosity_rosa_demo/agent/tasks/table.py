# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tasks that have not ended: what is decided about their states, and what follows from it."""

from __future__ import annotations

import asyncio
from collections import deque, OrderedDict
from collections.abc import Callable, Iterable

from curiosity_rosa_demo.agent.tasks.commits import Commits, TaskRecord
from curiosity_rosa_demo.agent.tasks.order import PriorityRanks, rank_of, ReadyQueue
from curiosity_rosa_demo.agent.tasks.task import EventType, now, Task
from curiosity_rosa_demo.domain.task_state import LifecycleState

MAX_ENDED_TASKS = 1000  # tasks that ended and can still be listed
CHECK_PERIOD_S = 10.0  # of a task that waits for a time: the clock may be set meanwhile

_S = LifecycleState
_END_EVENTS = {
    _S.COMPLETED: EventType.TASK_COMPLETE,
    _S.FAILED: EventType.TASK_FAIL,
    _S.CANCELLED: EventType.TASK_CANCEL,
}
# The states of a task that cancel those that wait for it. None: nobody knows it any more.
BLOCKED = {None: 'is not known any more', _S.FAILED: 'has failed', _S.CANCELLED: 'was cancelled'}


class TaskTable:
    """``deadline_passed`` is called for a task at its deadline. ``ageing_s`` as in order.py."""

    def __init__(
        self, commits: Commits, ageing_s: float, deadline_passed: Callable[[TaskRecord], None]
    ) -> None:
        self.records: dict[str, TaskRecord] = {}
        self.keys: dict[str, TaskRecord] = {}  # by idempotency_key
        self.ended: OrderedDict[str, Task] = OrderedDict()
        self.ready, self.ranks = ReadyQueue(), PriorityRanks()
        self._commits, self._ageing_s = commits, ageing_s
        self._deadline_passed = deadline_passed
        self._unsettled: deque[TaskRecord] = deque()  # ended; their dependents do not know it yet

    def add(self, record: TaskRecord, blockers: list[str]) -> None:
        """Track a task. ``blockers``: the tasks of its ``blocked_by`` that have not ended."""
        plan = record.plan
        self.records[plan.id] = record
        if plan.idempotency_key is not None:
            self.keys[plan.idempotency_key] = record
        record.open_blockers = set(blockers)
        self._rerank(self.ranks.add(plan.id, rank_of(plan, self._ageing_s), blockers))

    def remove(self, record: TaskRecord) -> None:
        plan = record.plan
        del self.records[plan.id]
        if plan.idempotency_key is not None:
            del self.keys[plan.idempotency_key]
        self.ready.discard(plan.id)
        self._rerank(self.ranks.remove(plan.id))
        record.cancel_timers()

    def keep_ended(self, task: Task) -> None:
        self.ended[task.id] = task
        if len(self.ended) > MAX_ENDED_TASKS:
            self.ended.popitem(last=False)

    def queue(self, record: TaskRecord) -> None:
        """The task may start, unless it is held."""
        plan = record.plan
        if not plan.held:
            place = (self.ranks[plan.id], plan.state is not _S.RECOVERING, plan.seq)
            self.ready.add(plan.id, place, record.resources)
            self._commits.act_soon()

    def reprioritise(self, record: TaskRecord, priority: int) -> None:
        plan = record.plan
        plan.priority = priority
        self._rerank(self.ranks.set_own(plan.id, rank_of(plan, self._ageing_s)))
        self.save(record)

    def _rerank(self, task_ids: Iterable[str]) -> None:
        for task_id in task_ids:
            self.ready.move(task_id, self.ranks[task_id])

    # --- decisions ---------------------------------------------------------------------------

    def insert(self, record: TaskRecord, event: EventType) -> None:
        """A new task is PENDING, or WAITING if it must wait."""
        record.plan.updated_at = now()
        if (reason := self._wait(record)) is None:
            self.queue(record)
        else:
            record.plan.state, record.plan.reason = _S.WAITING, reason
        self._decide(record, None, event)

    def move(self, record: TaskRecord, after: LifecycleState, reason: str = '') -> None:
        """Raises IllegalTransition."""
        before = record.plan.state
        record.plan.transition(after, reason)
        self._decide(record, before, _END_EVENTS.get(after, EventType.TASK_STATE))
        if after.terminal:
            self.ready.discard(record.plan.id)
            self._unsettled.append(record)

    def save(self, record: TaskRecord) -> None:
        """A change of anything but the state."""
        record.plan.updated_at = now()
        self._decide(record, record.plan.state, None)

    def block(self, record: TaskRecord, blocker_id: str, state: LifecycleState | None) -> None:
        """Cancel ``record``, because its blocker is in this state of BLOCKED."""
        self.move(record, _S.CANCELLED, f'blocked by {blocker_id[:8]}, which {BLOCKED[state]}')

    def settle(self) -> None:
        """Release or cancel the tasks that wait for those that have ended."""
        while self._unsettled:
            self._settle(self._unsettled.popleft().plan)

    def _settle(self, blocker: Task) -> None:
        dependents = [self.records[task_id] for task_id in self.ranks.dependents(blocker.id)]
        for dependent in sorted(dependents, key=lambda each: each.plan.seq):
            dependent.open_blockers.discard(blocker.id)
            if blocker.state is _S.COMPLETED:
                self.reconsider(dependent)
            elif not dependent.plan.terminal:
                self.block(dependent, blocker.id, blocker.state)

    def reconsider(self, record: TaskRecord) -> None:
        """Check again whether a WAITING task must still wait."""
        if record.plan.state is not _S.WAITING:
            return
        reason = self._wait(record)
        if reason is None:
            record.retry_at = None
            self.move(record, _S.PENDING)
            self.queue(record)
        elif reason and reason != record.plan.reason:
            record.plan.reason = reason
            self.save(record)

    def _wait(self, record: TaskRecord) -> str | None:
        """Return why the task must wait ('': unchanged), or None. Sets the timer that it needs."""
        loop, plan = asyncio.get_running_loop(), record.plan
        if record.wake is not None:
            record.wake.cancel()
            record.wake = None
        if plan.needs_approval:
            return 'waiting for approval'
        if record.open_blockers:
            return f'waiting for {self.records[min(record.open_blockers)].plan.label}'
        again_s, reason = 0.0, ''
        if plan.not_before is not None and plan.not_before > (wall := now()):
            again_s = (plan.not_before - wall).total_seconds()
            reason = f'waiting until {plan.not_before.isoformat(timespec="seconds")}'
        elif record.retry_at is not None:
            again_s = record.retry_at - loop.time()
        if again_s <= 0.0:
            return None
        record.wake = loop.call_later(min(again_s, CHECK_PERIOD_S), self.reconsider, record)
        return reason

    def watch_deadline(self, record: TaskRecord) -> None:
        loop, plan = asyncio.get_running_loop(), record.plan
        if record.deadline is not None:
            record.deadline.cancel()
            record.deadline = None
        if plan.deadline_s is not None and plan.state is not _S.PAUSED and not plan.terminal:
            left = max(0.0, record.left_s(loop.time()))
            record.deadline = loop.call_later(left, self._deadline_passed, record)

    def _decide(
        self, record: TaskRecord, before: LifecycleState | None, event: EventType | None
    ) -> None:
        """Arguments as those of Commits.add()."""
        if record.plan.deadline_s is not None:
            record.count_time(asyncio.get_running_loop().time())
            self.watch_deadline(record)
        self._commits.add(record, before, event)
