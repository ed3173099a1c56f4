# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The runner's record of a task: its committed state and the changes not yet committed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from enum import IntEnum

from curiosity_rosa_demo.agent.tasks.events import EventType
from curiosity_rosa_demo.agent.tasks.store import Change, Insert, Move, Save
from curiosity_rosa_demo.agent.tasks.task import now, Task
from curiosity_rosa_demo.domain.task_state import LifecycleState

_END_STATES = {
    LifecycleState.COMPLETED: EventType.TASK_COMPLETE,
    LifecycleState.FAILED: EventType.TASK_FAIL,
    LifecycleState.CANCELLED: EventType.TASK_CANCEL,
}


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
class PendingChange:
    change: Change
    event: EventType | None
    waiters: list[asyncio.Future[None]] = field(default_factory=list)


def snapshot(task: Task) -> Task:
    """A shallow copy, many times faster than copy.copy. Each stored change takes one."""
    copy = object.__new__(Task)
    copy.__dict__.update(task.__dict__)
    return copy


@dataclass(eq=False)
class TaskRecord:
    """``task`` is public and shows the committed state. ``plan`` also has uncommitted decisions.

    At most one write unit of a task is in flight. Changes made meanwhile are staged and sent
    together as the next unit.
    """

    task: Task
    plan: Task
    visible: bool  # its insert is committed

    staged: list[PendingChange] = field(default_factory=list)
    in_flight: list[PendingChange] = field(default_factory=list)
    watchers: list[asyncio.Future[None]] = field(default_factory=list)  # done at its committed end

    busy: bool = False  # from the decision to start its skill to the end of the skill
    starting: bool = False  # busy, but ACTIVE is not committed yet
    run: asyncio.Task[None] | None = None
    cause: StopCause | None = None
    grace: asyncio.TimerHandle | None = None
    leaving: list[asyncio.Future[None]] = field(default_factory=list)  # done after the run
    resources: frozenset[str] = frozenset()  # occupied from the start ...
    freed: bool = True  # ... until its end was sent to the store

    open_blockers: set[str] = field(default_factory=set)
    retry_at: float | None = None  # seconds of the loop's clock
    unobserved: bool = False  # paused while it was recovering
    wake: asyncio.TimerHandle | None = None
    deadline: asyncio.TimerHandle | None = None
    since: float | None = None  # loop time of the last update of used_s; None: the clock stands

    def stage_insert(self, event: EventType) -> None:
        self.staged.append(PendingChange(Insert(snapshot(self.plan)), event))

    def stage_move(self, after: LifecycleState, reason: str) -> None:
        """Raises IllegalTransition."""
        before = self.plan.state
        self.plan.transition(after, reason)
        self._stamp()
        event = _END_STATES.get(after, EventType.TASK_STATE)
        self.staged.append(PendingChange(Move(snapshot(self.plan), before), event))

    def stage_save(self) -> None:
        self.plan.updated_at = now()
        self._stamp()
        self.staged.append(PendingChange(Save(snapshot(self.plan)), None))

    def left_s(self, loop_s: float) -> float:
        """Seconds to the deadline. The task must have one."""
        assert self.plan.deadline_s is not None
        running = 0.0 if self.since is None else loop_s - self.since
        return self.plan.deadline_s - self.plan.used_s - running

    def _stamp(self) -> None:
        if self.plan.deadline_s is None:
            return
        loop_s = asyncio.get_running_loop().time()
        if self.since is not None:
            self.plan.used_s += loop_s - self.since
        self.since = None if self.plan.state is LifecycleState.PAUSED else loop_s

    def show_committed(self, stored: Task) -> None:
        """Copy the committed ``stored`` to ``task``, except the metadata, which the skill owns."""
        metadata = self.task.metadata
        self.task.__dict__.update(stored.__dict__)
        self.task.metadata = metadata

    def cancel_timers(self) -> None:
        for timer in (self.grace, self.wake, self.deadline):
            if timer is not None:
                timer.cancel()
        self.grace = self.wake = self.deadline = None
