# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The methods of sqlite3_vfs but xOpen: from C arguments, which are addresses, to a Disk.

Each returns SQLite's result, where None is SQLITE_OK, or raises DiskError.
https://www.sqlite.org/c3ref/vfs.html
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_int, c_int64, memmove
import os

from missions.disk.disk import Disk
from missions.disk.result_codes import CANTOPEN, OK

_UNIX_EPOCH_MS = 210_866_760_000_000  # in SQLite's time, which counts from Julian day 0


def _delete(disk: Disk, name: bytes, syncs_folder: int) -> None:
    disk.delete(os.fsdecode(name), syncs_folder=bool(syncs_folder))


def _access(disk: Disk, name: bytes, flags: int, answer: int) -> None:
    c_int.from_address(answer).value = disk.has_content(os.fsdecode(name))


def _full_pathname(disk: Disk, name: bytes, size: int, answer: int) -> int:
    path = os.path.abspath(name) + b'\0'
    if len(path) > size:
        return CANTOPEN
    memmove(answer, path, len(path))
    return OK


def _randomness(disk: Disk, count: int, answer: int) -> int:
    memmove(answer, disk.host.random_bytes(count), count)
    return count


def _sleep(disk: Disk, microseconds: int) -> int:
    disk.host.sleep(microseconds / 1e6)
    return microseconds


def _current_time(disk: Disk, answer: int) -> None:
    milliseconds = round(disk.host.now_s() * 1000)
    c_int64.from_address(answer).value = _UNIX_EPOCH_MS + milliseconds


DISK_METHODS: dict[str, Callable[..., int | None]] = {
    'xDelete': _delete,
    'xAccess': _access,
    'xFullPathname': _full_pathname,
    'xRandomness': _randomness,
    'xSleep': _sleep,
    'xCurrentTimeInt64': _current_time,
}
