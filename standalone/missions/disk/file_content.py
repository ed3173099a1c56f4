# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The bytes of one file: as programs read them, and as they would be after a loss of power. Pure.

Between two syncs a write may reach the disk at any time, in any order, sector by sector.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import NamedTuple

SECTOR = 512  # bytes; the disk writes a sector whole or not at all


class _Write(NamedTuple):
    offset: int
    content: bytes


class _Truncation(NamedTuple):
    size: int


class FileContent:
    """``current``: what a read returns. ``durable``: what certainly survives. Offsets and sizes
    are in bytes. A file with ``is_temporary`` survives nothing.
    """

    def __init__(self, content: bytes = b'', *, is_temporary: bool = False) -> None:
        self.current = bytearray(content)
        self.durable = bytearray(content)
        self._is_temporary = is_temporary
        self._pending: list[_Write | _Truncation] = []  # since the last sync, in order

    def read(self, offset: int, count: int) -> bytes:
        """Up to ``count`` bytes; fewer at the end of the file."""
        return bytes(self.current[offset : offset + count])

    def write(self, offset: int, content: bytes) -> None:
        _put(self.current, offset, content)
        if not self._is_temporary:
            self._pending.append(_Write(offset, content))

    def truncate(self, size: int) -> None:
        del self.current[size:]
        if not self._is_temporary:
            self._pending.append(_Truncation(size))

    def sync(self) -> None:
        """Make all that was written durable."""
        for change in self._pending:
            if isinstance(change, _Write):
                _put(self.durable, change.offset, change.content)
            else:
                del self.durable[change.size :]
        self._pending.clear()

    def lose_unsynced(self, chance: Random) -> None:
        """Decide for each unsynced change whether it becomes durable. Reads still see them all."""
        for change in self._pending:
            if isinstance(change, _Truncation):
                if chance.random() < 0.5:
                    del self.durable[change.size :]
                continue
            fate = chance.randrange(3)
            if fate == 0:
                continue
            for offset, piece in by_sector(change.offset, change.content):
                if fate == 1 or chance.random() < 0.5:
                    _put(self.durable, offset, piece)
        self._pending.clear()

    def power_loss(self, chance: Random) -> None:
        """As lose_unsynced(); then reads see the durable content only."""
        self.lose_unsynced(chance)
        self.current = bytearray(self.durable)


def by_sector(offset: int, content: bytes) -> list[tuple[int, bytes]]:
    """The parts of a write, cut where sectors end, each with its offset."""
    first_end = SECTOR - offset % SECTOR
    cuts = [0, *range(first_end, len(content), SECTOR), len(content)]
    return [(offset + start, content[start:end]) for start, end in pairwise(cuts)]


def _put(data: bytearray, offset: int, content: bytes) -> None:
    """A gap between the end of ``data`` and ``offset`` reads as zeros."""
    if offset > len(data):
        data.extend(bytes(offset - len(data)))
    data[offset : offset + len(content)] = content
