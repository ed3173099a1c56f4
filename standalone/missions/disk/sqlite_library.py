# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The SQLite library that Python's own sqlite3 module uses, and the C structures of a file layer.

https://www.sqlite.org/c3ref/vfs.html, https://www.sqlite.org/c3ref/io_methods.html
"""

from __future__ import annotations

import _sqlite3
import ctypes
from ctypes import c_char_p, c_int, c_void_p, CFUNCTYPE
from functools import cache
import sqlite3
from typing import Any, ClassVar

_int64 = ctypes.c_int64
_CLOSE = CFUNCTYPE(c_int, c_void_p)


class SQLiteNotReachable(Exception):
    """The library behind the sqlite3 module has no functions that another module can call."""


@cache
def library() -> ctypes.CDLL:
    """Raises SQLiteNotReachable."""
    file = getattr(_sqlite3, '__file__', None)
    try:
        # A look-up in an extension module also finds the functions of the libraries that it needs.
        found = ctypes.CDLL(file)
        found.sqlite3_sourceid.restype = c_char_p
        found.sqlite3_vfs_find.restype = ctypes.POINTER(Vfs)
        found.sqlite3_vfs_find.argtypes = [c_char_p]
        found.sqlite3_vfs_register.argtypes = [ctypes.POINTER(Vfs), c_int]
        found.sqlite3_vfs_unregister.argtypes = [ctypes.POINTER(Vfs)]
        found.sqlite3_randomness.argtypes = [c_int, c_void_p]
    except (OSError, AttributeError) as error:
        raise SQLiteNotReachable(
            f'{file or "this Python"} has SQLite built in and hides its functions ({error}); use '
            'a Python that is linked with the shared library libsqlite3.so.0 (Debian, Ubuntu: '
            'the package python3, or pyenv after apt-get install libsqlite3-dev)'
        ) from None
    connection = sqlite3.connect(':memory:')
    (used,) = connection.execute('SELECT sqlite_source_id()').fetchone()
    connection.close()
    if found.sqlite3_sourceid().decode() != used:
        raise SQLiteNotReachable(
            f'{file} uses another SQLite ({used}) than the one that was found '
            f'({found.sqlite3_sourceid().decode()}); unset LD_PRELOAD and LD_LIBRARY_PATH'
        )
    return found


class IoMethods(ctypes.Structure):
    """sqlite3_io_methods, version 2: files with shared memory, without memory-mapped content."""

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ('iVersion', c_int),
        ('xClose', _CLOSE),
        ('xRead', CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, _int64)),
        ('xWrite', CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, _int64)),
        ('xTruncate', CFUNCTYPE(c_int, c_void_p, _int64)),
        ('xSync', CFUNCTYPE(c_int, c_void_p, c_int)),
        ('xFileSize', CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ('xLock', CFUNCTYPE(c_int, c_void_p, c_int)),
        ('xUnlock', CFUNCTYPE(c_int, c_void_p, c_int)),
        ('xCheckReservedLock', CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ('xFileControl', CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)),
        ('xSectorSize', CFUNCTYPE(c_int, c_void_p)),
        ('xDeviceCharacteristics', CFUNCTYPE(c_int, c_void_p)),
        ('xShmMap', CFUNCTYPE(c_int, c_void_p, c_int, c_int, c_int, c_void_p)),
        ('xShmLock', CFUNCTYPE(c_int, c_void_p, c_int, c_int, c_int)),
        ('xShmBarrier', CFUNCTYPE(None, c_void_p)),
        ('xShmUnmap', CFUNCTYPE(c_int, c_void_p, c_int)),
    ]


class Vfs(ctypes.Structure):
    """sqlite3_vfs, version 2."""

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ('iVersion', c_int),
        ('szOsFile', c_int),
        ('mxPathname', c_int),
        ('pNext', c_void_p),
        ('zName', c_char_p),
        ('pAppData', c_void_p),
        ('xOpen', CFUNCTYPE(c_int, c_void_p, c_char_p, c_void_p, c_int, c_void_p)),
        ('xDelete', CFUNCTYPE(c_int, c_void_p, c_char_p, c_int)),
        ('xAccess', CFUNCTYPE(c_int, c_void_p, c_char_p, c_int, c_void_p)),
        ('xFullPathname', CFUNCTYPE(c_int, c_void_p, c_char_p, c_int, c_void_p)),
        ('xDlOpen', c_void_p),
        ('xDlError', c_void_p),
        ('xDlSym', c_void_p),
        ('xDlClose', c_void_p),
        ('xRandomness', CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)),
        ('xSleep', CFUNCTYPE(c_int, c_void_p, c_int)),
        ('xCurrentTime', c_void_p),
        ('xGetLastError', c_void_p),
        ('xCurrentTimeInt64', CFUNCTYPE(c_int, c_void_p, c_void_p)),
    ]
