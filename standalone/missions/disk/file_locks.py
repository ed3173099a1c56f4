# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The locks of one database file: on the file itself, and on its shared memory. Pure.

A holder is one opened file. No call waits: SQLite asks again.
https://www.sqlite.org/lockingv3.html
"""

from __future__ import annotations

from collections.abc import Hashable

from missions.disk.result_codes import (
    LOCK_EXCLUSIVE,
    LOCK_NONE,
    LOCK_PENDING,
    LOCK_RESERVED,
    LOCK_SHARED,
)


class FileLocks:
    """Many holders may have SHARED, one of them RESERVED or PENDING. EXCLUSIVE excludes all."""

    def __init__(self) -> None:
        self._levels: dict[Hashable, int] = {}

    def lock(self, holder: Hashable, level: int) -> bool:
        """Raise the lock of ``holder`` to ``level``. Returns False if another holder prevents it.
        A refused EXCLUSIVE leaves PENDING, so that no new holder gets SHARED.
        """
        if self._levels.get(holder, LOCK_NONE) >= level:
            return True
        highest = max((held for who, held in self._levels.items() if who != holder), default=0)
        if highest >= (LOCK_PENDING if level == LOCK_SHARED else LOCK_RESERVED):
            return False
        if level == LOCK_EXCLUSIVE and highest >= LOCK_SHARED:
            self._levels[holder] = LOCK_PENDING
            return False
        self._levels[holder] = level
        return True

    def unlock(self, holder: Hashable, level: int) -> None:
        """Lower the lock of ``holder`` to ``level``: SHARED or NONE."""
        if level == LOCK_NONE:
            self._levels.pop(holder, None)
        elif self._levels.get(holder, LOCK_NONE) > level:
            self._levels[holder] = level

    def is_reserved(self) -> bool:
        """Whether any holder has RESERVED or more."""
        return any(level >= LOCK_RESERVED for level in self._levels.values())


class SharedMemoryLocks:
    """Eight slots, each with many shared holders or one exclusive holder. ``mask``: one bit per
    slot.
    """

    def __init__(self) -> None:
        self._shared: dict[Hashable, int] = {}
        self._exclusive: dict[Hashable, int] = {}

    def lock(self, holder: Hashable, mask: int, *, is_exclusive: bool) -> bool:
        """Lock all slots of ``mask``, or none: then returns False."""
        if _held_by_others(self._exclusive, holder, mask):
            return False
        if is_exclusive and _held_by_others(self._shared, holder, mask):
            return False
        slots = self._exclusive if is_exclusive else self._shared
        slots[holder] = slots.get(holder, 0) | mask
        return True

    def unlock(self, holder: Hashable, mask: int) -> None:
        for slots in (self._shared, self._exclusive):
            left = slots.get(holder, 0) & ~mask
            if left:
                slots[holder] = left
            else:
                slots.pop(holder, None)


def _held_by_others(slots: dict[Hashable, int], holder: Hashable, mask: int) -> bool:
    return any(held & mask and who != holder for who, held in slots.items())
