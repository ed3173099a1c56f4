"""A task: something the robot was asked to do, with a life of its own."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from curiosity_rosa_demo.agent.tasks.transitions import LifecycleState, check_transition


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
