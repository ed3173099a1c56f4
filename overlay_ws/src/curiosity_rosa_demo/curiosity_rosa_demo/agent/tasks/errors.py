# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Errors of requests and of the task file. Their messages are written for people."""

from __future__ import annotations


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
