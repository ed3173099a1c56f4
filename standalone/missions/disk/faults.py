# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What goes wrong on a disk: by chance with given rates, or planted at one operation. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from random import Random
from typing import Final, Literal, TypeAlias

from missions.disk.result_codes import (
    DiskError,
    FULL,
    IOERR_FSYNC,
    IOERR_READ,
    IOERR_TRUNCATE,
    IOERR_WRITE,
    OK,
)

Operation: TypeAlias = Literal['open', 'read', 'write', 'truncate', 'sync', 'delete']


@dataclass(frozen=True)
class DiskFaults:
    """Rates from 0.0 to 1.0 per operation, and one time. Raises ValueError for others."""

    full: float = 0.0  # a write that enlarges its file fails with SQLITE_FULL
    write_error: float = 0.0  # a write or truncation fails with SQLITE_IOERR_WRITE, _TRUNCATE
    read_error: float = 0.0  # SQLITE_IOERR_READ
    sync_error: float = 0.0  # SQLITE_IOERR_FSYNC; a later sync makes up for it
    sync_error_loses: float = 0.0  # the same, and what it did not write is never written
    sync_lies: float = 0.0  # reports success, but has made nothing durable
    slow: float = 0.0  # an operation takes a while
    slow_max_s: float = 1.0  # seconds; the longest while

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name != 'slow_max_s' and not 0.0 <= value <= 1.0:
                raise ValueError(f'{each.name} is {value}; a rate is from 0.0 to 1.0')
        if not self.slow_max_s >= 0.0:
            raise ValueError(f'slow_max_s is {self.slow_max_s}; it must be at least 0')


NO_FAULTS: Final = DiskFaults()


@dataclass
class _PlantedFailure:
    operation: Operation
    code: int
    skip: int  # how many operations succeed before it


class FaultInjector:
    """Decides at each operation whether it fails. ``counts``: operations so far, by kind.
    ``changes``: writes, truncations, syncs, and names created, deleted or renamed, so far.
    """

    def __init__(self, chance: Random, faults: DiskFaults, sleep: Callable[[float], None]) -> None:
        self.faults = faults
        self.counts: dict[Operation, int] = dict.fromkeys(
            ('open', 'read', 'write', 'truncate', 'sync', 'delete'), 0
        )
        self.changes = 0
        self._chance = chance
        self._sleep = sleep
        self._failures: list[_PlantedFailure] = []
        self._calls: list[tuple[int, Callable[[], None]]] = []  # at how many changes

    def fail_next(self, operation: Operation, code: int, skip: int) -> None:
        self._failures.append(_PlantedFailure(operation, code, skip))

    def call_after(self, changes: int, action: Callable[[], None]) -> None:
        self._calls.append((self.changes + changes, action))

    def before(self, operation: Operation, *, grows: bool = False) -> None:
        """Count an operation, and delay it. Raises DiskError if it fails. ``grows``: the operation
        is a write that enlarges its file.
        """
        self.counts[operation] += 1
        if self._failures:
            self._raise_planted(operation)
        faults = self.faults
        if faults is NO_FAULTS:  # saves a microsecond of a commit's hundred
            return
        if self._happens(faults.slow):
            self._sleep(self._chance.uniform(0.0, faults.slow_max_s))
        code = self._failure(operation, faults, grows)
        if code != OK:
            raise DiskError(code)

    def after_change(self) -> None:
        """Count a change that took place, then call what was planted there."""
        self.changes += 1
        if self._calls:
            due = [action for at, action in self._calls if at <= self.changes]
            self._calls = [each for each in self._calls if each[0] > self.changes]
            for action in due:
                action()

    def sync_lies(self) -> bool:
        return self._happens(self.faults.sync_lies)

    def sync_error_loses(self) -> bool:
        return self._happens(self.faults.sync_error_loses)

    def _failure(self, operation: Operation, faults: DiskFaults, grows: bool) -> int:
        if operation == 'read':
            return IOERR_READ if self._happens(faults.read_error) else OK
        if operation == 'write':
            if grows and self._happens(faults.full):
                return FULL
            return IOERR_WRITE if self._happens(faults.write_error) else OK
        if operation == 'truncate':
            return IOERR_TRUNCATE if self._happens(faults.write_error) else OK
        if operation == 'sync':
            return IOERR_FSYNC if self._happens(faults.sync_error) else OK
        return OK

    def _happens(self, rate: float) -> bool:
        return rate > 0.0 and self._chance.random() < rate

    def _raise_planted(self, operation: Operation) -> None:
        for failure in self._failures:
            if failure.operation == operation:
                if failure.skip == 0:
                    self._failures.remove(failure)
                    raise DiskError(failure.code)
                failure.skip -= 1
