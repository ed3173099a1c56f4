# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Events: requests to the kernel through emit(), and its notifications after each commit."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from curiosity_rosa_demo.agent.tasks.task import now


class EventType(str, Enum):
    TASK_SUBMIT = 'task_submit'  # payload: {"task": Task}; notified: {"name", "priority"}
    TASK_COMPLETE = 'task_complete'
    TASK_FAIL = 'task_fail'  # payload: {"error": str}
    TASK_CANCEL = 'task_cancel'
    INTERRUPT = 'interrupt'  # the same, of the urgent task
    TASK_STATE = 'task_state'  # every other change; payload: {"before", "after", "reason"}


@dataclass(frozen=True)
class Event:
    type: EventType
    task_id: str | None = None
    payload: dict[str, Any] = field(default_factory=dict)
    at: datetime = field(default_factory=now)
