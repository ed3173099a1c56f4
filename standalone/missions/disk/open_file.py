# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One file as one connection has it open. Errors are DiskError, with SQLite's result code."""

from __future__ import annotations

from collections.abc import Hashable
from random import Random

from missions.disk.directory import Directory, File
from missions.disk.faults import FaultInjector
from missions.disk.file_content import by_sector
from missions.disk.result_codes import (
    BUSY,
    DiskError,
    IOERR,
    IOERR_FSYNC,
    LOCK_NONE,
)
from missions.disk.shared_memory import SharedMemory, SharedMemoryView

_ALL_SLOTS = 0xFF


class OpenFile:
    """``owner``: the process that opened it. After die() every operation fails with SQLITE_IOERR.
    ``syncs_name``: the first sync makes the file's name durable as well. ``promises``: SQLite's
    device characteristics.
    """

    def __init__(
        self,
        file: File,
        path: str,
        *,
        owner: Hashable,
        syncs_name: bool,
        directory: Directory,
        injector: FaultInjector,
        chance: Random,
        promises: int,
    ) -> None:
        self.file = file
        self.path = path
        self.owner = owner
        self.promises = promises
        self.is_dead = False
        self._syncs_name = syncs_name
        self._directory = directory
        self._injector = injector
        self._chance = chance
        self._view: SharedMemoryView | None = None

    def read(self, offset: int, count: int) -> bytes:
        self._check_alive()
        self._injector.before('read')
        return self.file.content.read(offset, count)

    def write(self, offset: int, content: bytes) -> None:
        self._check_alive()
        target = self.file.content
        try:
            self._injector.before('write', grows=offset + len(content) > len(target.current))
        except DiskError:
            pieces = by_sector(offset, content)
            for start, piece in pieces[: self._chance.randrange(len(pieces))]:
                target.write(start, piece)
            raise
        target.write(offset, content)
        self._changed()

    def truncate(self, size: int) -> None:
        self._check_alive()
        self._injector.before('truncate')
        self.file.content.truncate(size)
        self._changed()

    def sync(self) -> None:
        self._check_alive()
        self._injector.before('sync')
        if self._injector.sync_error_loses():
            self.file.content.lose_unsynced(self._chance)
            raise DiskError(IOERR_FSYNC)
        if not self._injector.sync_lies():
            self.file.content.sync()
            if self._syncs_name:
                self._directory.sync(self.path)
        self._syncs_name = False
        self._changed()

    def size(self) -> int:
        self._check_alive()
        return len(self.file.content.current)

    def lock(self, level: int) -> None:
        self._check_alive()
        if not self.file.locks.lock(self, level):
            raise DiskError(BUSY)

    def unlock(self, level: int) -> None:
        self._check_alive()
        self.file.locks.unlock(self, level)

    def is_reserved(self) -> bool:
        self._check_alive()
        return self.file.locks.is_reserved()

    def map_shared(self, region: int, size: int, *, may_extend: bool) -> int | None:
        """The address of a region of shared memory; None if it does not exist."""
        self._check_alive()
        if self._view is None:
            if self.file.shm is None:
                self.file.shm = SharedMemory()
            self._view = self.file.shm.open_view()
        return self._view.address(region, size, may_extend=may_extend)

    def lock_shared_memory(self, mask: int, *, is_exclusive: bool) -> None:
        self._check_alive()
        if not self.file.shm_locks.lock(self, mask, is_exclusive=is_exclusive):
            raise DiskError(BUSY)

    def unlock_shared_memory(self, mask: int) -> None:
        self._check_alive()
        self.file.shm_locks.unlock(self, mask)

    def unmap_shared(self) -> None:
        """Also of a dead one: its private copy ends."""
        if self._view is not None:
            if not self.is_dead:
                self._leave_shared_memory(self._view)
            self._view.unmap()
            self._view = None

    def close(self) -> None:
        self.unmap_shared()
        self._release_locks()

    def die(self) -> None:
        """The process ended without closing the file: locks and shared memory are free again."""
        if not self.is_dead:
            self._release_locks()
            if self._view is not None:
                self._view.make_private()
                self._leave_shared_memory(self._view)
            self.is_dead = True

    def _leave_shared_memory(self, view: SharedMemoryView) -> None:
        if view.memory.remove(view):
            self.file.shm = None

    def _release_locks(self) -> None:
        self.file.locks.unlock(self, LOCK_NONE)
        self.file.shm_locks.unlock(self, _ALL_SLOTS)

    def _changed(self) -> None:
        """If a planted kill or loss of power follows, the program never hears of the change."""
        self._injector.after_change()
        self._check_alive()

    def _check_alive(self) -> None:
        if self.is_dead:
            raise DiskError(IOERR)
