# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A task in the runner: what is on the disk, what is decided, and the run of its skill."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import IntEnum

from curiosity_rosa_demo.agent.tasks.task import Task, TaskError
from curiosity_rosa_demo.domain.task_state import LifecycleState

SkillFunction = Callable[[Task], Awaitable[None]]
Waiter = asyncio.Future[TaskError | None]  # its result: why what it waits for did not happen


@dataclass(frozen=True)
class TaskSkill:
    function: SkillFunction
    resources: frozenset[str]
    recovers: bool = False  # after a crash it re-observes, then calls observed()
    cancel_supported: bool = True  # False: pause, interrupt and cancel do not stop it


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


def new_waiter() -> Waiter:
    return asyncio.get_running_loop().create_future()


@dataclass(eq=False)
class TaskRecord:
    """``task`` is public and shows what is on the disk. ``plan`` has what is decided too."""

    task: Task
    plan: Task
    resources: frozenset[str]  # that its skill needs
    stored: bool  # a row has it
    unsaved: int = 0  # decided changes that are not on the disk
    refused: TaskError | None = None  # why a new task was not stored
    ended: Waiter = field(default_factory=new_waiter)  # its end is on the disk

    exit: Waiter | None = None  # from the decision to start its skill to the end of the skill
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
