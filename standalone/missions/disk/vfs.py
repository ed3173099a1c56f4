# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""SQLite's file layer on a simulated disk: its callbacks, and its registration as the default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import ctypes
from ctypes import addressof, c_int, c_void_p
from functools import cache
import os
from weakref import WeakValueDictionary

from missions.disk.disk import Disk
from missions.disk.disk_methods import DISK_METHODS
from missions.disk.file_methods import FILE_METHODS
from missions.disk.open_file import OpenFile
from missions.disk.result_codes import DiskError, IOERR, OK
from missions.disk.sqlite_library import IoMethods, library, Vfs

_MAX_PATH = 1024  # bytes
_FILE_SIZE = ctypes.sizeof(c_void_p)  # of a sqlite3_file: the pointer to its methods


@contextmanager
def installed(disk: Disk) -> Iterator[Disk]:
    """Within the context, every ``sqlite3.connect`` of this process opens its file on ``disk``,
    and SQLite's random numbers come from its host. A connection stays on its disk for ever.

    Raises SQLiteNotReachable.
    """
    sqlite, vfs = library(), _callbacks().new_vfs(disk)
    sqlite.sqlite3_vfs_register(vfs, 1)
    sqlite.sqlite3_randomness(0, None)  # at its next use the generator takes a new seed
    try:
        yield disk
    finally:
        sqlite.sqlite3_vfs_unregister(vfs)
        sqlite.sqlite3_randomness(0, None)


@cache
def _callbacks() -> Callbacks:
    """Never freed, not even at the end of the process: SQLite may call it until then."""
    callbacks = Callbacks()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(callbacks))
    return callbacks


class Callbacks:
    """What SQLite calls. An exception cannot pass through SQLite: it becomes ``Disk.defect``.

    A disk that is not installed any more lives as long as its open files.
    """

    def __init__(self) -> None:
        self._opened: dict[int, tuple[Disk, OpenFile]] = {}  # by the address of a sqlite3_file
        self._disks: WeakValueDictionary[int, Disk] = WeakValueDictionary()  # of a sqlite3_vfs
        self._vfs: list[Vfs] = []  # connections point to them, whether installed or not
        kinds = dict(IoMethods._fields_)
        on_file = {name: self._on_file(method) for name, method in FILE_METHODS.items()}
        on_file['xClose'] = self._close
        self._methods = IoMethods(
            iVersion=2, **{name: kinds[name](callback) for name, callback in on_file.items()}
        )
        kinds = dict(Vfs._fields_)
        on_disk = {name: self._on_disk(method) for name, method in DISK_METHODS.items()}
        on_disk['xOpen'] = self._on_disk(self._open)
        self._functions = {name: kinds[name](callback) for name, callback in on_disk.items()}

    def new_vfs(self, disk: Disk) -> Vfs:
        """A file layer whose files are on ``disk``, not yet registered."""
        original = library().sqlite3_vfs_find(None).contents
        vfs = Vfs(
            iVersion=2,
            szOsFile=_FILE_SIZE,
            mxPathname=_MAX_PATH,
            zName=b'simulated',
            xDlOpen=original.xDlOpen,
            xDlError=original.xDlError,
            xDlSym=original.xDlSym,
            xDlClose=original.xDlClose,
            **self._functions,
        )
        self._vfs.append(vfs)
        self._disks[addressof(vfs)] = disk
        return vfs

    def _open(
        self, disk: Disk, name: bytes | None, address: int, flags: int, flags_out: int | None
    ) -> None:
        c_void_p.from_address(address).value = None  # if this fails, there is nothing to close
        opened = disk.open(None if name is None else os.fsdecode(name), flags)
        self._opened[address] = (disk, opened)
        c_void_p.from_address(address).value = addressof(self._methods)
        if flags_out:
            c_int.from_address(flags_out).value = flags

    def _close(self, address: int) -> int:
        disk, opened = self._opened.pop(address)
        return _result(disk, disk.close, opened)

    def _on_file(self, method: Callable[..., int | None]) -> Callable[..., int]:
        def callback(address: int, *arguments: object) -> int:
            disk, opened = self._opened[address]
            with disk.lock:
                return _result(disk, method, opened, *arguments)

        return callback

    def _on_disk(self, method: Callable[..., int | None]) -> Callable[..., int]:
        def callback(address: int, *arguments: object) -> int:
            disk = self._disks.get(address)
            return IOERR if disk is None else _result(disk, method, disk, *arguments)

        return callback


def _result(disk: Disk, method: Callable[..., int | None], *arguments: object) -> int:
    try:
        return method(*arguments) or OK
    except DiskError as error:
        return error.code
    except BaseException as error:
        disk.defect = disk.defect or error
        return IOERR
