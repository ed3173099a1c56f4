# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the product's SQLite files promise: each write is synced; one that fails leaves nothing
behind; and what was acknowledged outlives the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
import random
import sqlite3
import subprocess
import sys
from typing import Any, Protocol

from curiosity_rosa_demo.agent.policy.policy_store import PolicyStore, PolicyStoreError
from curiosity_rosa_demo.agent.react.checkpointer import TurnCheckpointer
from curiosity_rosa_demo.agent.tasks.store import Insert, TaskStore
from curiosity_rosa_demo.agent.tasks.task import StoreError, StoreFull, Task
from langgraph.checkpoint.base import empty_checkpoint
from missions.disk import Disk, DiskFaults, installed, NO_FAULTS
import pytest
from test_policy_store import decision, STATE, VIEW


class File(Protocol):
    """``write`` returns once ``number`` is stored. ``numbers``: those that are stored."""

    def write(self, number: int) -> None: ...

    def numbers(self) -> set[int]: ...

    def close(self) -> None: ...


class Tasks:
    def __init__(self, path: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._store = TaskStore(path)
        self._found = self._loop.run_until_complete(self._open())

    async def _open(self) -> set[int]:
        return {task.seq for task in self._store.open()}

    def write(self, number: int) -> None:
        self._loop.run_until_complete(self._write(Task('dig', id=str(number), seq=number)))

    async def _write(self, task: Task) -> None:
        await self._store.write([Insert(task)])

    def numbers(self) -> set[int]:
        return self._found

    def close(self) -> None:
        self._loop.run_until_complete(self._end())
        self._loop.close()

    async def _end(self) -> None:
        await self._store.close()


class Turns:
    """Only the newest checkpoint of a turn is kept: each number is a turn of its own."""

    def __init__(self, path: Path) -> None:
        self._saver = TurnCheckpointer(path)

    def write(self, number: int) -> None:
        config: Any = {'configurable': {'thread_id': str(number), 'checkpoint_ns': ''}}
        self._saver.put(config, empty_checkpoint(), {'step': number}, {})

    def numbers(self) -> set[int]:
        return {int(found.config['configurable']['thread_id']) for found in self._saver.list(None)}

    def close(self) -> None:
        self._saver.close()


class Decisions:
    def __init__(self, path: Path) -> None:
        self._store = PolicyStore(path, 10_000)
        self._store.open(VIEW)

    def write(self, number: int) -> None:
        self._store.save(STATE, decision(number), True)

    def numbers(self) -> set[int]:
        return {each.number for each in self._store.recent_decisions(10_000)}

    def close(self) -> None:
        self._store.close()


FILES: dict[str, Callable[[Path], File]] = {
    'tasks': Tasks, 'turns': Turns, 'decisions': Decisions,
}  # fmt: skip
ERRORS = (StoreError, sqlite3.OperationalError, PolicyStoreError)
ROUNDS, MOST_WRITES = 3, 60


def stored(kind: str, path: Path) -> set[int]:
    file = FILES[kind](path)
    try:
        return file.numbers()
    finally:
        file.close()


@pytest.mark.parametrize('kind', FILES)
def test_each_write_is_synced(kind: str, tmp_path: Path) -> None:
    synced: list[bool] = []
    with installed(Disk(random.Random(1), on_write=lambda _, kept: synced.append(kept))):
        file = FILES[kind](tmp_path / 'file.db')
        synced.clear()
        for number in range(1, 4):
            file.write(number)
            assert len(synced) >= number
        file.close()
    assert all(synced)


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('kind', FILES)
def test_a_write_that_fails_is_an_error_and_loses_no_other(
    kind: str, seed: int, tmp_path: Path
) -> None:
    """Whichever of its statements fails, and whether SQLite rolls back by itself or not."""
    path = tmp_path / 'file.db'
    with installed(Disk(random.Random(seed))) as disk:
        file, failed, kept = FILES[kind](path), 0, set[int]()
        for number in range(1, 10):
            disk.fail_at = number
            try:
                file.write(number)
            except ERRORS:
                failed += 1
            else:
                kept.add(number)
            disk.fail_at = 0
        file.write(99)
        file.close()
    assert failed >= 1
    assert kept | {99} <= stored(kind, path)


def test_a_full_disk_is_named_and_the_store_works_again_afterwards(tmp_path: Path) -> None:
    with installed(Disk(random.Random(1))) as disk:
        file = Tasks(tmp_path / 'tasks.db')
        for faults, text in (
            (DiskFaults(full=1.0), 'database or disk is full; free some space'),
            (DiskFaults(errors=1.0), 'disk I/O error; free some space or check the disk'),
        ):
            disk.faults = faults
            for _ in range(3):
                with pytest.raises(StoreFull, match=text):
                    file.write(1)
        disk.faults = NO_FAULTS
        file.write(1)
        file.close()
    assert stored('tasks', tmp_path / 'tasks.db') == {1}


@pytest.mark.parametrize('kind', FILES)
def test_a_killed_process_loses_nothing_that_was_acknowledged(kind: str, tmp_path: Path) -> None:
    path, acknowledged = tmp_path / 'file.db', set[int]()
    paths = f'import sys; sys.path[:0] = {sys.path!r}; '
    program = f'{paths}from test_durable_files import *; write_for_ever({kind!r}, {str(path)!r})'
    for round_ in range(ROUNDS):
        command = [sys.executable, '-W', 'ignore', '-c', program]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            count = random.Random(round_).randrange(1, MOST_WRITES)
            lines = [child.stdout.readline() for _ in range(count)]
            child.kill()
            lines += child.stdout.readlines()
        acknowledged |= {int(line) for line in lines if line.endswith('\n')}
        assert len(acknowledged) > round_
        assert acknowledged <= stored(kind, path)


def write_for_ever(kind: str, path: str) -> None:
    file = FILES[kind](Path(path))
    number = max(file.numbers(), default=0)
    while True:
        number += 1
        file.write(number)
        print(number, flush=True)
