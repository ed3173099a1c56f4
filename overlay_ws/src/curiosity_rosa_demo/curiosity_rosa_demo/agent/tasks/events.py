"""What the runner tells its subscribers, after it was committed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from curiosity_rosa_demo.agent.tasks.task import now


class EventType(str, Enum):
    TASK_SUBMIT = 'task_submit'  # payload: {"task": Task}
    TASK_COMPLETE = 'task_complete'
    TASK_FAIL = 'task_fail'  # payload: {"error": str}
    TASK_CANCEL = 'task_cancel'
    INTERRUPT = 'interrupt'  # payload: {"task": Task}, the urgent one
    TASK_STATE = 'task_state'  # every other change; payload: {"before", "after", "reason"}


@dataclass(frozen=True)
class Event:
    type: EventType
    task_id: str
    payload: dict[str, Any] = field(default_factory=dict)
    at: datetime = field(default_factory=now)
