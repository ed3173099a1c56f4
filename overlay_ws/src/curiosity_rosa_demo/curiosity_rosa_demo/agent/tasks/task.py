# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A task: something the robot was asked to do, with a life of its own."""

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
    """``name`` is the skill that carries it out; a higher ``priority`` is more urgent.

    ``metadata`` belongs to the skill: JSON values, kept across pauses and restarts.
    ``resources`` None: those of the skill. ``deadline_s``: seconds from the submission, not
    counting those in which the task is paused. The fields after ``metadata`` up to
    ``needs_approval`` are the submitter's, the rest are the runner's.
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

    reason: str = ''  # why it is in its state, in words
    held: bool = False  # not to be run until somebody resumes it
    urgent: bool = False  # submitted by interrupt(): before all that are not
    attempts: int = 0  # how often its skill was started anew after a failure
    seq: int = 0  # order of submission
    used_s: float = 0.0  # seconds of its deadline that had passed at updated_at

    def transition(self, after: LifecycleState, reason: str = '') -> None:
        """Change the state in memory. Raises IllegalTransition."""
        check_transition(self.state, after)
        self.state, self.reason, self.updated_at = after, reason, now()

    @property
    def terminal(self) -> bool:
        return self.state.terminal
