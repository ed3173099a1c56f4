# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The task: one stored request to run a skill, with a state and a history."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any
import uuid

from curiosity_rosa_demo.agent.tasks.transitions import check_transition
from curiosity_rosa_demo.domain.task_state import LifecycleState


def now() -> datetime:
    return datetime.now(timezone.utc)


@dataclass(eq=False)
class Task:
    """``name`` is the name of the skill; a higher ``priority`` is more urgent.

    ``metadata`` belongs to the skill: JSON values that survive pauses and restarts.
    ``resources`` None means those of the skill. ``deadline_s`` counts seconds from the submission,
    without the time in which the task is paused. The submitter may set the fields up to
    ``needs_approval``, except ``state``; the runner sets the others.
    """

    name: str
    priority: int = 3
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    state: LifecycleState = LifecycleState.PENDING
    created_at: datetime = field(default_factory=now)
    updated_at: datetime = field(default_factory=now)
    metadata: dict[str, Any] = field(default_factory=dict)
    blocked_by: tuple[str, ...] = ()
    deadline_s: float | None = None
    not_before: datetime | None = None
    max_retries: int = 0
    idempotency_key: str | None = None
    resources: frozenset[str] | None = None
    needs_approval: bool = False

    reason: str = ''  # why the task is in its state
    held: bool = False  # does not run until resume()
    urgent: bool = False  # submitted by interrupt(): runs before tasks that are not
    attempts: int = 0  # number of retries so far
    seq: int = 0  # order of submission
    used_s: float = 0.0  # seconds of the deadline used up at updated_at

    def transition(self, after: LifecycleState, reason: str = '') -> None:
        """Change the state in memory. Raises IllegalTransition."""
        check_transition(self.state, after)
        self.state, self.reason, self.updated_at = after, reason, now()

    @property
    def terminal(self) -> bool:
        return self.state.terminal


# --- Errors of requests and of the task file. Their messages are written for people ------------


class TaskError(Exception):
    """The request was refused; nothing was changed."""


class BadTask(TaskError, ValueError):
    """The task is invalid: a cycle, an unknown task in blocked_by, metadata that is not JSON, or a
    number out of range.
    """


class UnknownTask(TaskError, KeyError):
    """No task has this ID."""

    def __init__(self, task_id: str) -> None:
        super().__init__(f'There is no task {task_id!r}')

    def __str__(self) -> str:
        return str(self.args[0])


class CannotBeCancelled(TaskError):
    """The task's skill is running and has ``cancel_supported`` false."""

    def __init__(self, skill: str) -> None:
        super().__init__(f'{skill} cannot be cancelled; it ends by itself, or :stop ends it')


class OrderRefused(TaskError):
    """The rover may not move now. The message has the cause, its time, and the way out."""


class SkillFailed(Exception):
    """Raise it in a skill that cannot complete its task. The reason of the failure is its text
    alone; for any other exception, the reason also names the type.
    """


class StoreError(TaskError):
    """The task file cannot be read or written. Earlier commits are safe."""


class StoreLocked(StoreError):
    """Another process has locked the file."""


class StoreNewer(StoreError):
    """A newer version of the program wrote the file."""


class StoreFull(StoreError):
    """The disk is full, or it failed."""


class StoreReadOnly(StoreError):
    """The file or its folder is not writable."""
