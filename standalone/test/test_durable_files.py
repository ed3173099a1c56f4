# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the product's SQLite files promise, store by store: each write is synced, of a turn each
that no thought follows; one that fails leaves nothing behind; a file that cannot be used is told
or set aside; what was acknowledged outlives the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
import random
import sqlite3
import subprocess
import sys
from typing import Any

from curiosity_rosa_demo.agent.policy.store import PolicyStore, PolicyStoreError
from curiosity_rosa_demo.agent.react.loop import TurnCheckpointer
from curiosity_rosa_demo.agent.tasks.rows import Change
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.task import StoreError, Task
from langgraph.checkpoint.base import empty_checkpoint
from missions.disk import Disk, installed
import pytest
from test_policy_store import decision, STATE, VIEW


class Tasks:
    def __init__(self, path: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._store = TaskStore(path)
        try:
            self._found = {task.seq for task in self._store.open()}
        except StoreError:
            self._loop.close()
            raise
        self.notes = self._store.notes

    def write(self, number: int, text: str = '') -> None:
        self._loop.run_until_complete(self._write(number, text))

    async def _write(self, number: int, text: str) -> None:
        task = Task('dig', id=str(number), seq=number, metadata={'text': text})
        await self._store.write([Change(task, None)])

    def numbers(self) -> set[int]:
        return self._found

    def close(self) -> None:
        self._loop.run_until_complete(self._store.close())
        self._loop.close()


class Turns:
    """Only the newest checkpoint of a turn is kept: each number is a turn of its own."""

    def __init__(self, path: Path) -> None:
        self._saver, self.notes = TurnCheckpointer(path), list[str]()

    def write(self, number: int, text: str = '') -> None:
        config: Any = {'configurable': {'thread_id': str(number), 'checkpoint_ns': ''}}
        checkpoint = empty_checkpoint()
        checkpoint['channel_values'] = {'text': text}
        self._saver.put(config, checkpoint, {'step': number}, {})

    def numbers(self) -> set[int]:
        return {int(found.config['configurable']['thread_id']) for found in self._saver.list(None)}

    def close(self) -> None:
        self._saver.close()


class Decisions:
    def __init__(self, path: Path) -> None:
        self._store = PolicyStore(path, 10_000, VIEW)
        self.notes = self._store.notes

    def write(self, number: int, text: str = '') -> None:
        made = decision(number).model_copy(update={'answer_text': text})
        self._store.save(STATE, made, True)

    def numbers(self) -> set[int]:
        return {each.number for each in self._store.recent_decisions(10_000)}

    def close(self) -> None:
        self._store.close()


# ``write`` returns once a number is stored; ``numbers``: those that are.
FILES: dict[str, Any] = {'tasks': Tasks, 'turns': Turns, 'decisions': Decisions}
ERRORS = (StoreError, sqlite3.Error, PolicyStoreError)
ROUNDS, MOST_WRITES = 3, 60
each_store = pytest.mark.parametrize('kind', FILES)


def stored(kind: str, path: Path) -> set[int]:
    with closing(FILES[kind](path)) as file:
        return file.numbers()


# --- a file that cannot be used ---------------------------------------------------------------


def change(statement: str) -> Callable[[Path], object]:
    def spoil(path: Path) -> None:
        with closing(sqlite3.connect(path)) as file, file:
            file.execute(statement)

    return spoil


def replace(damage: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(damage(path.read_bytes()))


def no_history(content: bytes) -> bytes:
    """Nothing but quick_check reads it when the file is opened."""
    pages = [content[at : at + 4096] for at in range(0, len(content), 4096)]
    spoilt = [page[0] == 10 and b'pending' in page and b'active' not in page for page in pages]
    assert any(spoilt)
    return b''.join(
        b'\xff' * 4096 if bad else page for bad, page in zip(spoilt, pages, strict=True)
    )


def foreign(path: Path) -> None:
    path.unlink()
    change('CREATE TABLE photo (a)')(path)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


FAULTS: dict[str, Callable[[Path], object]] = {
    'a letter': replace(lambda content: b'a letter to the operator' * 50),
    'cut': replace(lambda content: content[: len(content) // 2]),
    'torn': replace(lambda content: content[:4096] + bytes(4096) + content[8192:]),
    'no history': replace(no_history),
    'a bad row': change("UPDATE task SET metadata = '{'"),
    'no Unicode': change("UPDATE kept SET state = CAST(x'ff' AS TEXT)"),
    'no table': change('DROP TABLE kept'),
    'foreign': foreign,
    'newer': change('PRAGMA user_version = 99'),
    'a folder': a_folder,
}
ASIDE, LOGS = '', ('-wal', '-shm')
OPENINGS = [
    *(('tasks', fault, ASIDE) for fault in ('a letter', 'cut', 'torn', 'no history', 'a bad row')),
    *(('decisions', fault, ASIDE) for fault in ('a letter', 'cut', 'torn', 'no Unicode')),
    *(('decisions', fault, ASIDE) for fault in ('no table', 'foreign')),
    ('tasks', 'foreign', 'is a database of something else; set tasks.db_path'),
    ('tasks', 'newer', 'has version 99, this program knows versions up to 1; run the newer'),
    ('decisions', 'newer', 'has version 99, this program knows versions up to 1; run the newer'),
    ('tasks', 'a folder', 'make the file and its folder writable, or set tasks.db_path'),
    ('decisions', 'a folder', 'make the file and its folder writable'),
    ('turns', 'a letter', 'file is not a database'),
    ('turns', 'cut', 'malformed'),
    ('turns', 'a folder', 'unable to open database file'),
]


@pytest.mark.parametrize(('kind', 'fault', 'told'), OPENINGS)
def test_a_file_that_cannot_be_used_is_told_or_set_aside_and_never_overwritten(
    kind: str, fault: str, told: str, tmp_path: Path
) -> None:
    path, kept = tmp_path / 'new folder' / 'fïle #1?.db', list[bytes]()
    path.parent.mkdir()
    for _ in range(1 if told else 3):
        with closing(FILES[kind](path)) as file:
            for number in range(50):
                file.write(number, 'x' * 100)
        FAULTS[fault](path)
        kept.append(b'' if path.is_dir() else path.read_bytes())
        if told:
            with pytest.raises(ERRORS, match=told) as caught:
                FILES[kind](path)
            assert str(path) in str(caught.value) or kind == 'turns'
            assert path.is_dir() or path.read_bytes() == kept[0]
            return
        with closing(FILES[kind](path)) as file:
            assert file.numbers() == set()
            [note] = file.notes
        assert str(path) in note
        aside = Path(note.rpartition(' as ')[2])
        assert aside.read_bytes() == kept[-1]
        assert aside.name.startswith(f'{path.name}.corrupt-20')
    asides = [each for each in path.parent.glob('*.corrupt-*') if each.name[-4:] not in LOGS]
    assert sorted(each.read_bytes() for each in asides) == sorted(kept)


@pytest.mark.parametrize(
    ('kind', 'told'),
    [('tasks', r'is in use by process \d+; end that'), ('decisions', 'in use by another program')],
)
def test_a_file_has_one_owner_also_under_another_name(
    kind: str, told: str, tmp_path: Path
) -> None:
    path, link = tmp_path / 'file.db', tmp_path / 'link.db'
    link.symlink_to(path)
    with closing(FILES[kind](path)) as file:
        for name in (path, link):
            with pytest.raises(ERRORS, match=told):
                FILES[kind](name)
        file.write(1)
    assert stored(kind, path) == {1}


# --- a disk that fails ------------------------------------------------------------------------


@each_store
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
@each_store
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


# --- kill -9 ----------------------------------------------------------------------------------


@each_store
@pytest.mark.slow
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
