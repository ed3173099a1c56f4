# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The file of the task store: locked, full, corrupt, newer; and the errors of SQLite."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timezone
import errno
import os
from pathlib import Path
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from typing import Any

from curiosity_rosa_demo.agent.tasks import schema
from curiosity_rosa_demo.agent.tasks.store import Insert, TaskStore
from curiosity_rosa_demo.agent.tasks.store_writer import store_error
from curiosity_rosa_demo.agent.tasks.task import (
    StoreError,
    StoreFull,
    StoreLocked,
    StoreNewer,
    StoreReadOnly,
    Task,
)
from curiosity_rosa_demo.domain.task_state import LifecycleState, TRANSITIONS
from curiosity_rosa_demo.infra.storage.sqlite_file import (
    fault_of,
    FileDamaged,
    FileFault,
    has_other_tables,
)
from full_disk import no_file_beyond
import pytest
from skill_world import in_loop

S = LifecycleState
AT = datetime(2026, 11, 22, 1, 2, 3, tzinfo=timezone.utc)


def write_tasks(path: Path, *tasks: Task) -> None:
    async def run() -> None:
        store = TaskStore(path)
        store.open()
        await store.write([Insert(task) for task in tasks])
        await store.close()

    asyncio.run(run())


def read_tasks(path: Path) -> tuple[list[str], list[str]]:
    """Names of the tasks that have not ended, and the notes."""

    async def run() -> tuple[list[str], list[str]]:
        store = TaskStore(path, clock=lambda: AT)
        names = [task.name for task in store.open()]
        await store.close()
        return names, store.notes

    return asyncio.run(run())


def refusal(path: str | Path) -> StoreError:
    with pytest.raises(StoreError) as caught:
        TaskStore(path).open()
    assert str(path) in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / 'new folder' / 'täsks #1?.db'
    write_tasks(path, Task('dig', seq=1), Task('look', seq=2))
    return path


def test_the_folder_is_made_and_the_tasks_are_there_again(file: Path) -> None:
    assert read_tasks(file) == (['dig', 'look'], [])
    assert sorted(os.listdir(file.parent)) == [file.name, f'{file.name}.lock']


def test_the_database_itself_refuses_what_is_illegal(file: Path) -> None:
    connection = sqlite3.connect(file)
    with pytest.raises(sqlite3.IntegrityError, match='illegal transition'):
        connection.execute("UPDATE task SET state = 'completed'")
    connection.execute("UPDATE task SET state = 'active', reason = 'by hand' WHERE seq = 1")
    rows = 'SELECT before, after, reason FROM history WHERE seq = 1'
    assert connection.execute(rows).fetchall() == [
        (None, 'pending', ''),
        ('pending', 'active', 'by hand'),
    ]
    connection.close()


def test_the_index_of_the_ended_names_the_states_without_a_way_out() -> None:
    ended = ', '.join(f"'{state.value}'" for state in TRANSITIONS if state.terminal)
    assert f'state IN ({ended})' == schema.ENDED_CONDITION


def test_the_allowed_moves_follow_the_program(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("DELETE FROM allowed WHERE before = 'pending'")
    connection.execute("INSERT INTO allowed VALUES ('completed', 'pending')")
    connection.commit()
    read_tasks(file)
    pairs = {(a.value, b.value) for a, after in TRANSITIONS.items() for b in after}
    assert set(connection.execute('SELECT before, after FROM allowed')) == pairs
    connection.close()


def test_the_next_version_takes_over_the_tasks_of_this_one(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = (
        *schema.MIGRATIONS,
        'ALTER TABLE task ADD COLUMN place TEXT; DELETE FROM task WHERE seq = 1',
    )
    with monkeypatch.context() as patch:
        patch.setattr(schema, 'MIGRATIONS', (*newer[:-1], f'{newer[-1]}; DELETE FROM nowhere'))
        assert 'nowhere' in str(refusal(file))
    assert read_tasks(file) == (['dig', 'look'], [])  # half a version is none
    with monkeypatch.context() as patch:
        patch.setattr(schema, 'MIGRATIONS', newer)
        names, notes = read_tasks(file)
        assert names == ['look']
        assert notes == [f'{file} was brought from version 1 to 2']
    error = refusal(file)
    assert isinstance(error, StoreNewer)
    assert 'has version 2, this program knows versions up to 1; run the newer' in str(error)


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / 'photos.db'
    connection = sqlite3.connect(path)
    connection.execute('CREATE TABLE photo (a)')
    connection.close()
    before = path.read_bytes()
    assert 'is a database of something else; set tasks.db_path' in str(refusal(path))
    assert path.read_bytes() == before


def test_a_second_store_is_told_who_has_the_file(file: Path) -> None:
    async def run() -> None:
        store = TaskStore(file)
        store.open()
        link = file.parent / 'link.db'
        link.symlink_to(file)
        for path in (file, link):
            with pytest.raises(StoreLocked, match=f'in use by process {os.getpid()}; end that'):
                TaskStore(path).open()
        await store.write([Insert(Task('still', seq=3))])
        await store.close()

    asyncio.run(run())
    assert read_tasks(file)[0] == ['dig', 'look', 'still']


@in_loop
async def test_a_program_that_holds_the_database_only_delays_the_writes(file: Path) -> None:
    store = TaskStore(file)
    store.open()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute('BEGIN IMMEDIATE')
    with pytest.raises(StoreLocked, match='locked by another program; close that program'):
        await store.write([Insert(Task('late', seq=3))])
    assert store.next_seq() == 3
    other.close()
    await store.write([Insert(Task('late', seq=3))])
    await store.close()


@pytest.mark.parametrize('count', [1, 1100])  # more do not fit into one statement
def test_when_the_disk_fails_nothing_is_half_stored_and_it_goes_on_afterwards(
    file: Path, count: int
) -> None:
    async def run() -> None:
        store = TaskStore(file)
        store.open()
        await store.write([Insert(Task('before', id='before', seq=3))])
        unit = [
            *(Insert(Task('small', id=f'small {n}', seq=4 + n)) for n in range(count)),
            Insert(Task('big', seq=9999, metadata={'map': 'x' * 500_000})),
        ]
        with no_file_beyond(200_000):
            for _ in range(3):
                with pytest.raises(StoreFull, match='free some space'):
                    await store.write(unit)
            assert store.get('small 0') is None
            assert store.get('before') is not None
        await store.write(unit)
        await store.close()

    asyncio.run(run())
    assert read_tasks(file)[0] == ['dig', 'look', 'before', *['small'] * count, 'big']


def test_when_no_page_is_left_what_was_committed_stays(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = f'{schema.CHANGE_VIEW}; PRAGMA max_page_count = 30'
    stored = 0

    async def fill(store: TaskStore) -> None:
        nonlocal stored
        while stored < 1000:
            task = Task('more', seq=10 + stored, metadata={'note': 'x' * 500})
            await store.write([Insert(task)])
            stored += 1

    async def run() -> None:
        store = TaskStore(file)
        store.open()
        with pytest.raises(StoreFull, match='database or disk is full'):
            await fill(store)
        with pytest.raises(StoreFull):
            await store.write([Insert(Task('more', seq=5000 + n)) for n in range(1100)])
        await store.write([])
        assert store.next_seq() == 10 + stored
        await store.close()

    with monkeypatch.context() as patch:
        patch.setattr(schema, 'CHANGE_VIEW', view)
        asyncio.run(run())
    assert stored > 5
    assert read_tasks(file)[0] == ['dig', 'look', *['more'] * stored]


def torn(content: bytes) -> bytes:
    return content[:4096] + bytes(4096) + content[8192:]


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def no_history(content: bytes) -> bytes:
    """Nothing but quick_check reads it when the file is opened."""
    pages = [content[at : at + 4096] for at in range(0, len(content), 4096)]
    spoilt = [page[0] == 10 and b'pending' in page and b'active' not in page for page in pages]
    assert any(spoilt)
    return b''.join(
        b'\xff' * 4096 if bad else page for bad, page in zip(spoilt, pages, strict=True)
    )


def no_database(content: bytes) -> bytes:
    return b'a letter to the operator' * 50


def bad_row(content: bytes) -> bytes:
    return content.replace(b'{"depth":1}', b'{"depth":1;')


@pytest.mark.parametrize('damage', [torn, cut, no_history, no_database, bad_row])
def test_a_corrupt_file_is_set_aside_and_never_overwritten(
    file: Path, damage: Callable[[bytes], bytes]
) -> None:
    write_tasks(file, *(Task('x', seq=n, metadata={'depth': 1}) for n in range(3, 50)))
    asides = [f'{file.name}.corrupt-20261122T010203Z{end}' for end in ('', '-2', '-3')]
    for count, aside in enumerate(asides, 1):
        content = damage(file.read_bytes())
        file.write_bytes(content)
        Path(f'{file}-wal').write_bytes(b'log')
        names, [note] = read_tasks(file)
        assert names == []
        assert note.startswith(f'{file} was corrupt (')
        assert note.endswith(f'; it was set aside as {file.parent / aside}')
        assert (file.parent / aside).read_bytes() == content
        kept = {path.name for path in file.parent.iterdir() if path.name.endswith(tuple(asides))}
        assert kept == set(asides[:count])
        write_tasks(file, *(Task('x', seq=n, metadata={'depth': 1}) for n in range(3, 50)))
    assert read_tasks(file) == (['x'] * 47, [])


def test_the_log_of_a_corrupt_file_goes_with_it(file: Path) -> None:
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("UPDATE task SET metadata = '{'")  # in the log until the last one closes
    assert read_tasks(file)[0] == []
    aside = sqlite3.connect(f'{file}.corrupt-20261122T010203Z')
    assert aside.execute('SELECT DISTINCT metadata FROM task').fetchall() == [('{',)]
    aside.close()
    other.close()


@in_loop
async def test_what_is_damaged_while_it_is_open_is_a_store_error(file: Path) -> None:
    store = TaskStore(file)
    store.open()
    with sqlite3.connect(file) as other:
        other.execute("UPDATE task SET metadata = '{', id = 'bad' WHERE seq = 1")
        other.execute("UPDATE history SET after = 'flying'")
    other.close()
    for read in (store.get, store.history):
        with pytest.raises(StoreError, match=r'is damaged: .*; restart, then it is set aside'):
            read('bad')
    assert store.get('\ud800') is None
    await store.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / 'file').write_text('')
    for path in (tmp_path / 'file' / 'tasks.db', tmp_path):
        error = refusal(path)
        assert isinstance(error, StoreReadOnly)
        assert 'make the file and its folder writable, or set tasks.db_path' in str(error)


def test_a_reader_that_cannot_be_opened_leaves_no_thread_and_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / 'tasks.db'
    connect = sqlite3.connect

    def no_reader(database: str, **options: Any) -> sqlite3.Connection:
        if 'mode=ro' in database:
            raise sqlite3.OperationalError('unable to open database file')
        return connect(database, **options)

    before = set(threading.enumerate())
    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, 'connect', no_reader)
        with pytest.raises(StoreError, match='unable to open database file'):
            TaskStore(path).open()
    assert set(threading.enumerate()) <= before
    store = TaskStore(path)
    assert store.open() == []  # nobody holds it
    asyncio.run(store.close())


# --- other processes --------------------------------------------------------------------------

UNPRIVILEGED = """
import os, sys
from curiosity_rosa_demo.agent.tasks.task import StoreReadOnly
from curiosity_rosa_demo.agent.tasks.store import TaskStore
if os.geteuid() == 0:
    os.setuid(65534)
for path in sys.argv[1:]:
    try:
        TaskStore(path).open()
    except StoreReadOnly as error:
        print(error)
"""


def test_a_file_or_folder_without_permission_is_named() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        paths = [folder / name / 'tasks.db' for name in ('file', 'folder', 'lock')]
        for path in paths:
            path.parent.mkdir()
            write_tasks(path, Task('dig'))
            path.chmod(0o444 if path.parent.name == 'file' else 0o666)
            Path(f'{path}.lock').chmod(0o444 if path.parent.name == 'lock' else 0o666)
            path.parent.chmod(0o555 if path.parent.name == 'folder' else 0o777)
        paths.append(folder / 'folder' / 'deeper' / 'tasks.db')
        folder.chmod(0o755)
        command = [sys.executable, '-c', UNPRIVILEGED, *map(str, paths)]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert [line.split(' cannot be written: ')[0] for line in answer.stdout.splitlines()] == [
            str(path) for path in paths
        ]
    finally:
        shutil.rmtree(folder)


def failure(path: Path, statement: str, *, uri: str = '') -> sqlite3.Error:
    connection = sqlite3.connect(f'{path.as_uri()}{uri}', uri=True, timeout=0.0)
    try:
        connection.execute(statement)
    except sqlite3.Error as error:
        return error
    finally:
        connection.close()
    raise AssertionError(f'{statement} did not fail')


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / 'a.db'
    connection = sqlite3.connect(path)
    connection.execute('CREATE TABLE one (x)')
    connection.close()
    return path


def test_a_table_that_is_not_there_is_no_damage_but_another_layout(database: Path) -> None:
    error = failure(database, 'SELECT * FROM two')
    assert (fault_of(error), has_other_tables(error)) == (FileFault.OTHER, True)


def test_a_name_within_an_error_decides_nothing(database: Path) -> None:
    """A table called readonly is no file that cannot be written."""
    for name, kind in (('locked', StoreLocked), ('"is full"', StoreFull)):
        error = failure(database, f'SELECT * FROM {name}')
        if hasattr(error, 'sqlite_errorcode'):
            assert fault_of(error) is FileFault.OTHER
            assert type(store_error(error, 'a.db')) is StoreError is not kind


@pytest.mark.parametrize(
    ('error', 'fault'),
    [
        (OSError(errno.ENOSPC, 'No space left on device'), FileFault.FULL),
        (PermissionError(errno.EACCES, 'Permission denied'), FileFault.READ_ONLY),
        (FileDamaged('it is a database of something else'), FileFault.DAMAGED),
        (ValueError('readonly'), FileFault.OTHER),
        # As on Python 3.10: no code.
        (sqlite3.OperationalError('database or disk is full'), FileFault.FULL),
        (sqlite3.OperationalError('disk I/O error'), FileFault.FULL),
        (sqlite3.OperationalError('attempt to write a readonly database'), FileFault.READ_ONLY),
        (sqlite3.OperationalError('database is locked'), FileFault.LOCKED),
        (sqlite3.DatabaseError('database disk image is malformed'), FileFault.DAMAGED),
        (sqlite3.OperationalError('Could not decode to UTF-8 column'), FileFault.DAMAGED),
        (sqlite3.OperationalError('near "x": syntax error'), FileFault.OTHER),
    ],
)
def test_what_has_no_code_is_told_by_its_kind_and_text(error: Exception, fault: FileFault) -> None:
    assert fault_of(error) is fault
