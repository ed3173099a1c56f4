# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The task: one stored request to run a skill. Its events, its checks, the errors of requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum
import json
from typing import Annotated, Any, Literal
import uuid

from curiosity_rosa_demo.domain.models import MAX_DEPTH, Model
from curiosity_rosa_demo.domain.task_state import LifecycleState, TRANSITIONS
from pydantic import AwareDatetime, ConfigDict, Field, ValidationError

Priority = Annotated[int, Field(strict=True, ge=-1000, le=1000)]
Retries = Annotated[int, Field(strict=True, ge=0, le=100)]


def now() -> datetime:
    return datetime.now(timezone.utc)


class IllegalTransition(ValueError):
    """The table has no such transition. The message names both states."""

    def __init__(self, before: LifecycleState, after: LifecycleState) -> None:
        targets = ', '.join(sorted(state.name for state in TRANSITIONS[before])) or 'nowhere'
        super().__init__(
            f'A task cannot go from {before.name} to {after.name}; '
            f'{before.name} leads to {targets}'
        )


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
        if after not in TRANSITIONS[self.state]:
            raise IllegalTransition(self.state, after)
        self.state, self.reason, self.updated_at = after, reason, now()

    @property
    def terminal(self) -> bool:
        return self.state.terminal

    @property
    def label(self) -> str:
        """The name and the short ID, for messages."""
        return f'{self.name} {self.id[:8]}'


class EventType(str, Enum):
    TASK_SUBMIT = 'task_submit'  # payload: {"name", "priority"}
    TASK_COMPLETE = 'task_complete'
    TASK_FAIL = 'task_fail'  # payload: {"error": str}
    TASK_CANCEL = 'task_cancel'
    INTERRUPT = 'interrupt'  # as TASK_SUBMIT, of the urgent task
    TASK_STATE = 'task_state'  # every other change; payload: {"before", "after", "reason"}


@dataclass(frozen=True)
class Event:
    """A change of a task that is on the disk."""

    type: EventType
    task_id: str | None = None
    payload: dict[str, Any] = field(default_factory=dict)
    at: datetime = field(default_factory=now)


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
    alone; for any other exception, the reason also names the type. ``final``: without a retry.
    """

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


class StoreError(TaskError):
    """The task file cannot be read or written. Earlier commits are safe."""


# --- Checks of a task before its submission, and of metadata -----------------------------------

_Text = Annotated[str, Field(pattern=r'\S')]


class _Submitted(Model):
    """What the submitter may set, but for the metadata."""

    model_config = ConfigDict(strict=True)

    name: _Text
    id: _Text
    idempotency_key: _Text | None
    state: Literal[LifecycleState.PENDING]
    priority: Priority
    max_retries: Retries
    deadline_s: Annotated[float, Field(gt=0.0)] | None
    not_before: AwareDatetime | None
    blocked_by: tuple[_Text, ...]
    resources: frozenset[str] | None


def check_task(task: Task, resources: frozenset[str]) -> None:
    """Raises BadTask with the invalid field, its value and the rule."""
    try:
        _Submitted.model_validate({name: getattr(task, name) for name in _Submitted.model_fields})
    except ValidationError as error:
        first = error.errors()[0]
        text = f'{first["loc"][0]} of the task is {first["input"]!r}: {first["msg"]}'
        raise BadTask(text) from None
    if task.resources is not None and (unknown := task.resources - resources):
        raise BadTask(f'The task needs {sorted(unknown)}; the resources are {sorted(resources)}')
    if task.id in task.blocked_by:  # it can name only earlier tasks: there is no other cycle
        raise BadTask('blocked_by of the task names the task itself (a cycle)')
    check_metadata(task)


def check_metadata(task: Task) -> None:
    """Raises BadTask unless the metadata can be stored: a dict of JSON values."""
    if not isinstance(task.metadata, dict):
        raise BadTask(f'metadata of the task is {task.metadata!r}; it must be a dict')
    to_json(task.metadata, 'metadata')


_encode = json.JSONEncoder(allow_nan=False, separators=(',', ':')).encode


def to_json(value: Any, name: str) -> str:
    """Encode ``value`` as JSON that decodes to an equal value, with lists in place of tuples.

    Raises BadTask with the key that JSON cannot carry.
    """
    _check_json(value, name, MAX_DEPTH)
    return _encode(value)


def _check_json(value: Any, where: str, levels: int) -> None:
    if isinstance(value, dict | list | tuple):
        if levels == 0:
            raise BadTask(f'{where[:200]}... is nested deeper than {MAX_DEPTH} levels')
        if not isinstance(value, dict):
            for index, item in enumerate(value):
                _check_json(item, f'{where}[{index}]', levels - 1)
            return
        for key, item in value.items():
            if not isinstance(key, str):
                raise BadTask(f'{where} has the key {key!r}; keys must be strings')
            _check_json(key, f'key {key!a} of {where}', levels)
            _check_json(item, f'{where}[{key!a}]', levels - 1)
        return
    try:
        same = json.loads(_encode(value)) == value
    except (TypeError, ValueError):
        same = False
    if not same:
        kind = type(value).__name__
        raise BadTask(f'{where} holds a {kind} that JSON does not give back; use text or numbers')
