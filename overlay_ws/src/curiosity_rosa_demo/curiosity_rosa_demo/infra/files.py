# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The agent's files: where they are, the safety latch, files that are replaced as a whole, and
SQLite files for one process.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from enum import Enum
import errno
import fcntl
import itertools
import json
import os
from pathlib import Path
import sqlite3
import threading
from typing import TypeVar

from curiosity_rosa_demo.infra.config.topics import Config

T = TypeVar('T')

# --- Where they are: those of each ROS domain and namespace apart -------------------------------


def state_folder() -> Path:
    """$XDG_STATE_HOME/curiosity_rosa; created if missing. Raises OSError."""
    state = os.environ.get('XDG_STATE_HOME') or os.path.expanduser('~/.local/state')
    folder = Path(state, 'curiosity_rosa')
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _chosen(configured: str, default: str, namespace: str) -> Path:
    """``configured``, else ``default`` in the state folder; with the namespace in its name:
    tasks.db becomes tasks_r1.db in /r1. Raises OSError.
    """
    path = Path(configured).expanduser() if configured else state_folder() / default
    suffix = namespace.strip('/').replace('/', '_')
    return path.with_name(f'{path.stem}_{suffix}{path.suffix}') if suffix else path


def _domain() -> str:
    return os.environ.get('ROS_DOMAIN_ID') or '0'


def agent_log_file(namespace: str = '') -> Path:
    """The log file of the agent in ``namespace``. Raises OSError."""
    return _chosen('', 'agent.log', namespace)


def trace_file(config: Config, namespace: str = '') -> Path | None:
    """The file of recorder.path, or None if that key is empty."""
    path = config.agent.recorder.path
    return _chosen(path, '', namespace) if path else None


def span_file(config: Config, namespace: str = '') -> Path:
    """Raises OSError."""
    return _chosen(config.agent.tracing.file, f'spans_{_domain()}.jsonl', namespace)


def recordings_folder(config: Config, asked: str, namespace: str = '') -> Path:
    """The folder for recordings: ``asked``, else recording.folder. Raises OSError."""
    if asked:
        return Path(asked).expanduser()
    return _chosen(config.agent.recording.folder, 'recordings', namespace)


def task_database_file(configured: str, namespace: str = '') -> Path:
    """The file of tasks.db_path. Raises OSError."""
    is_plain = _domain() == '0' and not namespace.strip('/')
    default = 'tasks.db' if is_plain else f'tasks_{_domain()}.db'
    return _chosen(configured, default, namespace)


def beside(database: Path, *names: str) -> Path:
    """A file or folder beside the task database: tasks.db.usage for ``usage``."""
    return Path('.'.join((str(database), *names)))


def is_restart(mark: Path) -> bool:
    """Whether ``mark_start`` was called with the same file by a process of the same parent."""
    try:
        return mark.read_text(encoding='utf-8') == _parent()
    except (OSError, ValueError):
        return False


def mark_start(mark: Path) -> None:
    """Raises OSError."""
    mark.write_text(_parent(), encoding='utf-8')


def replace_file(path: Path, content: bytes) -> None:
    """Write ``path`` as a whole: a reader sees the old content or the new one. Raises OSError."""
    part = path.with_name(f'.{path.name}.part')
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _parent() -> str:
    """The boot, the number and the start of the parent process: no other process has all three.
    Raises OSError.
    """
    boot, number = Path('/proc/sys/kernel/random/boot_id').read_text().strip(), os.getppid()
    started = Path(f'/proc/{number}/stat').read_text(errors='replace').rpartition(')')[2].split()
    return f'{boot} {number} {started[19]}'


# --- The safety latch, in a file so that it survives a restart ---------------------------------


UNREADABLE = 'the safety file cannot be read: {path}; look at the rover, then clear'
MISSING = 'the safety file is missing: {path}; look at the rover, then clear'


class SafetyLatch:
    """Holds the reason for SAFE; ``reason`` is empty while unlatched. ``since``: when the latch
    was set; None: unlatched, or unknown. ``mode``: the name of the last mode and its reason.
    ``saved``: whether the disk has all that was set, or a ``save`` writes it.

    A file that is empty or unreadable latches. So does one that is missing although it was
    ``expected``.
    """

    def __init__(
        self,
        path: Path,
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
        *,
        expected: bool = False,
    ) -> None:
        self._path, self._now = path, now
        self._writing = threading.Lock()
        self.reason, self.since, self.mode = '', None, ('', '')
        self.saved = True
        try:
            self.reason, self.since, self.mode = _parsed(path.read_bytes())
        except FileNotFoundError:
            self.reason = MISSING.format(path=path) if expected else ''
        except (OSError, ValueError, TypeError, LookupError):
            self.reason = UNREADABLE.format(path=path)

    def set(self, reason: str, mode: tuple[str, str] = ('', '')) -> None:
        """Change the reason and the mode in memory only; ``save`` writes them to the disk."""
        if not reason:
            self.since = None
        elif not self.reason:
            self.since = self._now()
        self.reason, self.mode = reason, mode
        self.saved = False

    def save(self) -> None:
        """Write the latch to the disk; it is durable on return. Concurrent calls run in turn, and
        each writes the newest state. Raises OSError.
        """
        with self._writing:
            self.saved = True  # before it is read: what is set from now on is for the next call
            try:
                self._write()
            except OSError:
                self.saved = False
                raise

    def _write(self) -> None:
        since = None if self.since is None else self.since.isoformat()
        content = json.dumps({'reason': self.reason, 'since': since, 'mode': self.mode})
        fresh = self._path.with_name(f'{self._path.name}.new')
        with fresh.open('w', encoding='utf-8') as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _parsed(content: bytes) -> tuple[str, datetime | None, tuple[str, str]]:
    """Reason, time and mode. Raises ValueError, TypeError, LookupError."""
    stored = json.loads(content)
    reason, since, (mode, mode_reason) = (stored[key] for key in ('reason', 'since', 'mode'))
    if not all(isinstance(text, str) for text in (reason, mode, mode_reason)):
        raise ValueError(stored)
    return reason, since and datetime.fromisoformat(since), (mode, mode_reason)


# --- A SQLite file that cannot be read is moved aside, and never overwritten: it can be recovered


_SQLITE_SUFFIXES = ('-wal', '-shm', '')  # write-ahead log, shared memory, database


class FileDamaged(Exception):
    """The file is not a database, is corrupt, or belongs to another program."""


def set_aside(path: str, at: datetime) -> str:
    """Rename the database with its log and shared memory. Returns the new path, which contains the
    time ``at`` (UTC). Never overwrites a file. Raises OSError.
    """
    stem = f'{path}.corrupt-{at:%Y%m%dT%H%M%SZ}'
    names = (stem if number == 1 else f'{stem}-{number}' for number in itertools.count(1))
    aside = next(
        name for name in names if not any(os.path.lexists(name + end) for end in _SQLITE_SUFFIXES)
    )
    # The database comes last: SQLite would replay an old log into a new database.
    for end in _SQLITE_SUFFIXES:
        if os.path.lexists(path + end):
            os.rename(path + end, aside + end)
    return aside


# --- What an error of SQLite means --------------------------------------------------------------


class FileFault(Enum):
    FULL = 'no space is left, or the disk failed'
    READ_ONLY = 'the file or its folder cannot be written, or not be opened'
    LOCKED = 'another program has the file'
    DAMAGED = 'the file is no database, or not a sound one'
    OTHER = 'anything else'


# By a part of the text: Python has SQLite's code from 3.11 on, and none of its own errors.
_FAULTS = {
    'locked': FileFault.LOCKED,
    'readonly': FileFault.READ_ONLY,
    'unable to open': FileFault.READ_ONLY,
    'disk I/O': FileFault.FULL,
    'is full': FileFault.FULL,
    'malformed': FileFault.DAMAGED,
    'not a database': FileFault.DAMAGED,
    'decode to UTF-8': FileFault.DAMAGED,
}
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_OTHER_TABLES = ('no such table', 'no such column')


def fault_of(error: BaseException) -> FileFault:
    """Classify an error of SQLite or of the operating system, or a FileDamaged."""
    if isinstance(error, FileDamaged):
        return FileFault.DAMAGED
    if isinstance(error, OSError):
        return FileFault.FULL if error.errno in _NO_SPACE else FileFault.READ_ONLY
    if not isinstance(error, sqlite3.Error):
        return FileFault.OTHER
    found = (fault for words, fault in _FAULTS.items() if words in str(error))
    return next(found, FileFault.OTHER)


def has_other_tables(error: BaseException) -> bool:
    """Whether the file is a valid database with other tables than ours."""
    text = str(error)
    return isinstance(error, sqlite3.Error) and any(part in text for part in _OTHER_TABLES)


class FileInUse(Exception):
    """Another process holds the lock. ``pid``: its process ID, or '' if unknown."""

    def __init__(self, pid: str) -> None:
        super().__init__(f'in use by process {pid or "?"}')
        self.pid = pid


def connect(database: str, *, patience_s: float, is_uri: bool = False) -> sqlite3.Connection:
    """Open a connection without implicit transactions, for use from any thread. ``patience_s``:
    the longest wait while another program has locked the file. Raises sqlite3.Error.
    """
    return sqlite3.connect(
        database, uri=is_uri, timeout=patience_s, isolation_level=None, check_same_thread=False
    )


def make_durable(connection: sqlite3.Connection) -> str:
    """Enable the write-ahead log and sync it on each commit. Returns the journal mode, which is
    not 'wal' if the file system lacks shared memory. Raises sqlite3.Error.
    """
    (mode,) = connection.execute('PRAGMA journal_mode = WAL').fetchone()
    connection.execute('PRAGMA synchronous = FULL')
    return str(mode)


def check_integrity(connection: sqlite3.Connection) -> None:
    """Run SQLite's quick check. Raises FileDamaged, sqlite3.Error."""
    (verdict,) = connection.execute('PRAGMA quick_check(1)').fetchone()
    if verdict != 'ok':
        raise FileDamaged(verdict)


def open_or_set_aside(
    path: str, at: datetime, prepare: Callable[[sqlite3.Connection], T], *, patience_s: float
) -> tuple[sqlite3.Connection, T, str]:
    """Connect, as ``connect`` does, and ``prepare`` the connection. If the file is damaged, set it
    aside and do that again with a new one.

    Returns the connection, the result of ``prepare``, and a note of the damage, or ''. Raises
    OSError, sqlite3.Error and the errors of ``prepare``, with the connection closed.
    """
    note = ''
    while True:
        connection = connect(path, patience_s=patience_s)
        try:
            return connection, prepare(connection), note
        except BaseException as error:
            connection.close()
            if note or fault_of(error) is not FileFault.DAMAGED:
                raise
            aside = set_aside(path, at)
            note = f'{path} could not be read ({error}); it was set aside as {aside}'


def lock_file(path: str) -> int:
    """Lock ``path`` and write the process ID into it. Returns the file descriptor; the lock ends
    when it is closed or the process exits. Raises FileInUse, OSError.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(file, 0)
        os.pwrite(file, f'{os.getpid()}\n'.encode(), 0)
    except BlockingIOError:
        pid = os.pread(file, 20, 0).decode(errors='replace').strip()
        os.close(file)
        raise FileInUse(pid) from None
    except OSError:
        os.close(file)
        raise
    return file
