# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What can be wrong with a request, or with the file. The messages are for people."""

from __future__ import annotations


class TaskError(Exception):
    """The request cannot be met; nothing was changed."""


class BadTask(TaskError, ValueError):
    """A task that cannot be taken: a cycle, an unknown task in blocked_by, metadata that is no
    JSON, a number out of range.
    """


class UnknownTask(TaskError, KeyError):
    """There is no task with this id."""

    def __init__(self, task_id: str) -> None:
        super().__init__(f'There is no task {task_id!r}')

    def __str__(self) -> str:
        return str(self.args[0])


class CannotBeCancelled(TaskError):
    """The task's skill runs and has ``cancel_supported`` false."""

    def __init__(self, skill: str) -> None:
        super().__init__(f'{skill} cannot be cancelled; it ends by itself, or :stop ends it')


class SkillFailed(Exception):
    """Raised by a skill that could not do what it was asked. Its text alone is the reason of the
    failure; any other exception is named by its type, too.
    """


class StoreError(TaskError):
    """The task file cannot be used or written; what was committed before is safe."""


class StoreLocked(StoreError):
    """Another process has the file."""


class StoreNewer(StoreError):
    """The file was written by a newer version."""


class StoreFull(StoreError):
    """No space is left, or the disk failed."""


class StoreReadOnly(StoreError):
    """The file or its folder cannot be written."""
