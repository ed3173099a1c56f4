# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The methods of sqlite3_io_methods: from C arguments, which are addresses, to an OpenFile.

Each returns SQLite's result code, where None is SQLITE_OK, or raises DiskError.
https://www.sqlite.org/c3ref/io_methods.html
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_int, c_int64, c_void_p, memmove, memset, string_at

from missions.disk.file_content import SECTOR
from missions.disk.open_file import OpenFile
from missions.disk.result_codes import (
    IOERR_SHORT_READ,
    NOTFOUND,
    OK,
    SHM_EXCLUSIVE,
    SHM_UNLOCK,
)


def _read(opened: OpenFile, buffer: int, count: int, offset: int) -> int:
    content = opened.read(offset, count)
    memmove(buffer, content, len(content))
    if len(content) == count:
        return OK
    memset(buffer + len(content), 0, count - len(content))
    return IOERR_SHORT_READ


def _write(opened: OpenFile, buffer: int, count: int, offset: int) -> None:
    opened.write(offset, string_at(buffer, count))


def _truncate(opened: OpenFile, size: int) -> None:
    opened.truncate(size)


def _sync(opened: OpenFile, flags: int) -> None:
    opened.sync()


def _file_size(opened: OpenFile, answer: int) -> None:
    c_int64.from_address(answer).value = opened.size()


def _lock(opened: OpenFile, level: int) -> None:
    opened.lock(level)


def _unlock(opened: OpenFile, level: int) -> None:
    opened.unlock(level)


def _check_reserved_lock(opened: OpenFile, answer: int) -> None:
    c_int.from_address(answer).value = opened.is_reserved()


def _file_control(opened: OpenFile, operation: int, argument: int | None) -> int:
    return NOTFOUND


def _sector_size(opened: OpenFile) -> int:
    return SECTOR


def _device_characteristics(opened: OpenFile) -> int:
    return opened.promises


def _shm_map(opened: OpenFile, region: int, size: int, extend: int, answer: int) -> None:
    address = opened.map_shared(region, size, may_extend=bool(extend))
    c_void_p.from_address(answer).value = address


def _shm_lock(opened: OpenFile, first: int, count: int, flags: int) -> None:
    mask = ((1 << count) - 1) << first
    if flags & SHM_UNLOCK:
        opened.unlock_shared_memory(mask)
    else:
        opened.lock_shared_memory(mask, is_exclusive=bool(flags & SHM_EXCLUSIVE))


def _shm_barrier(opened: OpenFile) -> None:
    """The change from C to Python and back is one."""


def _shm_unmap(opened: OpenFile, delete: int) -> None:
    opened.unmap_shared()


FILE_METHODS: dict[str, Callable[..., int | None]] = {  # all but xClose
    'xRead': _read,
    'xWrite': _write,
    'xTruncate': _truncate,
    'xSync': _sync,
    'xFileSize': _file_size,
    'xLock': _lock,
    'xUnlock': _unlock,
    'xCheckReservedLock': _check_reserved_lock,
    'xFileControl': _file_control,
    'xSectorSize': _sector_size,
    'xDeviceCharacteristics': _device_characteristics,
    'xShmMap': _shm_map,
    'xShmLock': _shm_lock,
    'xShmBarrier': _shm_barrier,
    'xShmUnmap': _shm_unmap,
}
