# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The names of the files on a disk: as programs see them, and as a loss of power leaves them.

Creating, deleting and renaming become durable when the folder is synced; before that, a loss of
power keeps or loses each of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import os
from random import Random

from missions.disk.file_content import FileContent
from missions.disk.file_locks import FileLocks, SharedMemoryLocks
from missions.disk.shared_memory import SharedMemory


@dataclass(eq=False)
class File:
    """A file and what its connections share. It may have lost its name."""

    content: FileContent
    locks: FileLocks = field(default_factory=FileLocks)
    shm_locks: SharedMemoryLocks = field(default_factory=SharedMemoryLocks)
    shm: SharedMemory | None = None


class Directory:
    """Absolute paths of files. Each folder exists."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self._durable: dict[str, File] = {}
        self._pending: list[dict[str, File | None]] = []  # each at once; None: without the name

    def put(self, path: str, file: File) -> None:
        """Give ``file`` the name ``path``; an earlier file of that name loses it."""
        self.files[path] = file
        self._pending.append({path: file})

    def delete(self, path: str) -> None:
        """Raises KeyError if there is no such file."""
        del self.files[path]
        self._pending.append({path: None})

    def rename(self, old: str, new: str) -> None:
        """Both names change at once. Raises KeyError if there is no such file."""
        file = self.files[new] = self.files.pop(old)
        self._pending.append({old: None, new: file})

    def sync(self, path: str) -> None:
        """Make the names in the folder of ``path`` durable."""
        folder = os.path.dirname(path)
        left = []
        for change in self._pending:
            if any(os.path.dirname(name) == folder for name in change):
                self._make_durable(change)
            else:
                left.append(change)
        self._pending = left

    def power_loss(self, chance: Random) -> None:
        """Decide for each unsynced change whether it took place, and lose unsynced content."""
        for change in self._pending:
            if chance.random() < 0.5:
                self._make_durable(change)
        self._pending.clear()
        self.files = dict(sorted(self._durable.items()))
        for file in self.files.values():
            file.content.power_loss(chance)

    def _make_durable(self, change: dict[str, File | None]) -> None:
        for name, file in change.items():
            if file is None:
                self._durable.pop(name, None)
            else:
                self._durable[name] = file
