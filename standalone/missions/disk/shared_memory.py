# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The shared memory of one database file: its index of the write-ahead log (``-shm``).

Each opened file maps it at addresses of its own. When a process dies, its maps become private
copies: what its connections still write there, while Python closes them, reaches nobody.
"""

from __future__ import annotations

import ctypes
import mmap
import os

_MAP_FIXED = 0x10  # Linux
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [
    *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
]
_LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_FAILED = ctypes.c_void_p(-1).value


class SharedMemory:
    """Regions of zeros at first. Ends with its last view."""

    def __init__(self) -> None:
        self.fd = os.memfd_create('simulated-shm')
        self._views: set[SharedMemoryView] = set()
        self._size = 0

    def open_view(self) -> SharedMemoryView:
        view = SharedMemoryView(self)
        self._views.add(view)
        return view

    def remove(self, view: SharedMemoryView) -> bool:
        """Returns whether that was the last view: then the memory has ended."""
        self._views.discard(view)
        if self._views:
            return False
        os.close(self.fd)
        return True

    def extend(self, size: int, *, is_allowed: bool) -> bool:
        """Whether the memory has ``size`` bytes, if need be after it has grown to them."""
        if size > self._size and is_allowed:
            os.ftruncate(self.fd, size)
            self._size = size
        return size <= self._size


class SharedMemoryView:
    """The maps of one opened file."""

    def __init__(self, memory: SharedMemory) -> None:
        self.memory = memory
        self._maps: list[tuple[int, int]] = []  # address, size; by region

    def address(self, region: int, size: int, *, may_extend: bool) -> int | None:
        """The address of a region of ``size`` bytes; None if it does not exist. Regions are asked
        for in order.
        """
        while len(self._maps) <= region:
            offset = len(self._maps) * _page_aligned(size)
            if not self.memory.extend(offset + _page_aligned(size), is_allowed=may_extend):
                return None
            self._maps.append((_map(None, size, mmap.MAP_SHARED, self.memory.fd, offset), size))
        return self._maps[region][0]

    def make_private(self) -> None:
        """Keep the content at the same addresses, but share it with nobody any more."""
        for region, (address, size) in enumerate(self._maps):
            flags = mmap.MAP_PRIVATE | _MAP_FIXED
            _map(address, size, flags, self.memory.fd, region * _page_aligned(size))

    def unmap(self) -> None:
        for address, size in self._maps:
            _LIBC.munmap(address, size)
        self._maps.clear()


def _page_aligned(size: int) -> int:
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE


def _map(address: int | None, size: int, flags: int, fd: int, offset: int) -> int:
    found = _LIBC.mmap(address, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, fd, offset)
    if found in (None, _FAILED):
        number = ctypes.get_errno()
        raise OSError(number, f'mmap of {size} bytes: {os.strerror(number)}')
    return int(found)
