# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The disk of one simulated machine: files in memory that a loss of power or a fault can hurt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from random import Random
from threading import RLock

from missions.disk.directory import Directory, File
from missions.disk.faults import (
    DiskFaults,
    FaultInjector,
    NO_FAULTS,
    Operation,
)
from missions.disk.file_content import FileContent
from missions.disk.open_file import OpenFile
from missions.disk.result_codes import (
    CANTOPEN,
    DiskError,
    IOCAP_POWERSAFE_OVERWRITE,
    IOERR,
    IOERR_DELETE_NOENT,
    OPEN_CREATE,
    OPEN_DELETEONCLOSE,
    OPEN_EXCLUSIVE,
    OPEN_MAIN_JOURNAL,
    OPEN_SUPER_JOURNAL,
    OPEN_WAL,
)

_SYNCS_NAME = OPEN_MAIN_JOURNAL | OPEN_SUPER_JOURNAL | OPEN_WAL  # as SQLite's own file layer


@dataclass(frozen=True)
class Host:
    """The machine around the disk. The defaults are deterministic: time stands still."""

    now_s: Callable[[], float] = lambda: 0.0  # Unix time, seconds
    sleep: Callable[[float], None] = lambda seconds: None  # the process that asks waits
    owner: Callable[[], Hashable] = lambda: ''  # the process that runs now; never reused
    random_bytes: Callable[[int], bytes] = field(default_factory=lambda: Random(0).randbytes)


class Disk:
    """Paths are absolute; every folder exists. ``faults`` may change at any time. ``defect``: the
    first exception that a hook or the disk itself raised; SQLite saw it as SQLITE_IOERR.
    ``powersafe_overwrite``: promise SQLite that a torn write spares the bytes beside it, as its
    own file layer does by default; without that promise SQLite pads its log to whole sectors.

    Methods are thread-safe. None of them may be called while SQLite waits for the disk, but by the
    ``action`` of call_after() and by the hooks of ``host``, which in turn must not call SQLite.
    """

    def __init__(
        self,
        chance: Random,
        faults: DiskFaults = NO_FAULTS,
        host: Host | None = None,
        *,
        powersafe_overwrite: bool = False,
    ) -> None:
        self.host = host or Host()
        self.powersafe_overwrite = powersafe_overwrite
        self.defect: BaseException | None = None
        self.lock = RLock()
        self._chance = chance
        self._injector = FaultInjector(chance, faults, self.host.sleep)
        self._directory = Directory()
        self._open: dict[OpenFile, None] = {}  # ordered, unlike a set
        self._power_losses = 0
        self._kills: Counter[Hashable] = Counter()

    @property
    def faults(self) -> DiskFaults:
        return self._injector.faults

    @faults.setter
    def faults(self, faults: DiskFaults) -> None:
        self._injector.faults = faults

    @property
    def changes(self) -> int:
        """Writes, truncations, syncs, and names created, deleted or renamed, so far."""
        return self._injector.changes

    @property
    def counts(self) -> dict[Operation, int]:
        """Operations so far, also those that failed."""
        return dict(self._injector.counts)

    # --- faults ------------------------------------------------------------------------------

    def fail_next(self, operation: Operation, code: int, *, skip: int = 0) -> None:
        """Let one operation fail with SQLite's result ``code``, after ``skip`` of its kind."""
        with self.lock:
            self._injector.fail_next(operation, code, skip)

    def call_after(self, changes: int, action: Callable[[], None]) -> None:
        """Call ``action`` once, as soon as that many more changes took place. A change after which
        ``action`` kills the process or cuts the power has happened, unsynced as it is.
        """
        if changes < 1:
            raise ValueError(f'changes is {changes}; it must be at least 1')
        with self.lock:
            self._injector.call_after(changes, action)

    def power_loss(self) -> None:
        """Lose what was not synced: each write, or each sector of it, and each change of a name
        may or may not have reached the disk. Every process has died.
        """
        with self.lock:
            self._power_losses += 1
            self._end(lambda opened: True)
            self._directory.power_loss(self._chance)

    def process_killed(self, owner: Hashable) -> None:
        """End one process. Nothing is lost, its locks are free."""
        with self.lock:
            self._kills[owner] += 1
            self._end(lambda opened: opened.owner == owner)

    def _end(self, is_affected: Callable[[OpenFile], bool]) -> None:
        for opened in [each for each in self._open if is_affected(each)]:
            opened.die()
            del self._open[opened]

    # --- contents ----------------------------------------------------------------------------

    def files(self) -> list[str]:
        """The paths of all files, sorted."""
        with self.lock:
            return sorted(self._directory.files)

    def read_file(self, path: str) -> bytes:
        """The content as a program reads it now. Raises FileNotFoundError."""
        with self.lock:
            return bytes(self._file(path).content.current)

    def durable_file(self, path: str) -> bytes:
        """The content that certainly survives a loss of power. Raises FileNotFoundError."""
        with self.lock:
            return bytes(self._file(path).content.durable)

    def write_file(self, path: str, content: bytes) -> None:
        """Create or replace a file, durably. Connections keep the old one."""
        with self.lock:
            self._directory.put(path, File(FileContent(content)))
            self._directory.sync(path)

    def rename(self, old: str, new: str) -> None:
        """As os.replace; durable with the next sync of the folder. Raises FileNotFoundError."""
        with self.lock:
            self._file(old)
            self._directory.rename(old, new)
            self._injector.after_change()

    def _file(self, path: str) -> File:
        try:
            return self._directory.files[path]
        except KeyError:
            raise FileNotFoundError(f'{path} is not on the simulated disk') from None

    # --- for the file layer ------------------------------------------------------------------

    def open(self, path: str | None, flags: int) -> OpenFile:
        """Open a file, without a path a temporary one. ``flags``: SQLite's. Raises DiskError."""
        with self.lock:
            self._injector.before('open')
            file = None if path is None else self._directory.files.get(path)
            creates = file is None and (path is None or bool(flags & OPEN_CREATE))
            if file is None:
                if not creates:
                    raise DiskError(CANTOPEN)
                file = File(FileContent(is_temporary=path is None))
            elif flags & OPEN_EXCLUSIVE:
                raise DiskError(CANTOPEN)
            opened = OpenFile(
                file,
                path or '',
                owner=self.host.owner(),
                syncs_name=bool(flags & OPEN_CREATE and flags & _SYNCS_NAME),
                directory=self._directory,
                injector=self._injector,
                chance=self._chance,
                promises=IOCAP_POWERSAFE_OVERWRITE if self.powersafe_overwrite else 0,
            )
            self._open[opened] = None
            if creates and path is not None:
                self._directory.put(path, file)
                self._injector.after_change()
            if opened.is_dead:
                raise DiskError(CANTOPEN)
            if path is not None and flags & OPEN_DELETEONCLOSE:
                self._directory.delete(path)  # as on Unix: an open file may lose its name
            return opened

    def close(self, opened: OpenFile) -> None:
        with self.lock:
            opened.close()
            self._open.pop(opened, None)

    def delete(self, path: str, *, syncs_folder: bool) -> None:
        """Raises DiskError."""
        with self.lock:
            self._injector.before('delete')
            if path not in self._directory.files:
                raise DiskError(IOERR_DELETE_NOENT)
            life = self._life()
            self._directory.delete(path)
            if syncs_folder:
                self._directory.sync(path)
            self._injector.after_change()
            if life != self._life():
                raise DiskError(IOERR)  # the caller has died, so it must not hear of success

    def has_content(self, path: str) -> bool:
        """As SQLite's own file layer: an empty file counts as none."""
        with self.lock:
            file = self._directory.files.get(path)
            return file is not None and len(file.content.current) > 0

    def _life(self) -> tuple[int, int]:
        """Differs after the death of the process that runs now."""
        return self._power_losses, self._kills[self.host.owner()]
