# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The task store: what it keeps and refuses, and its file. Faults of the file that other stores
share are in standalone/test/test_durable_files.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import datetime, timedelta, timezone
import errno
import json
from pathlib import Path
import sqlite3
from typing import Any

from curiosity_rosa_demo.agent.tasks.rows import Change, COLUMNS, FIXED_COLUMNS
from curiosity_rosa_demo.agent.tasks.store import ENDED_CONDITION, SCHEMA, TaskStore
from curiosity_rosa_demo.agent.tasks.task import (
    BadTask,
    StoreError,
    Task,
    TaskError,
    UnknownTask,
)
from curiosity_rosa_demo.domain.task_state import LifecycleState, TRANSITIONS
from curiosity_rosa_demo.infra.files import fault_of, FileDamaged, FileFault
from hypothesis import example, given
from hypothesis import strategies as st
import pytest
from skill_world import in_loop
from strategies import finite, json_objects, names, text

S = LifecycleState
AT = datetime(2026, 11, 22, 1, 2, 3, tzinfo=timezone.utc)


def new(*args: Any, **fields: Any) -> Change:
    return Change(Task(*args, **fields), None)


def moved(task: Task, state: LifecycleState, reason: str = '') -> Change:
    before = task.state
    task.transition(state, reason)
    return Change(task, before)


@asynccontextmanager
async def opened(store: TaskStore) -> AsyncIterator[TaskStore]:
    store.open()
    try:
        yield store
    finally:
        await store.close()


def known(store: TaskStore, task_id: str) -> Task:
    found = store.get(task_id)
    assert found is not None
    return found


@given(st.sampled_from(S), st.lists(st.permutations(S).map(lambda order: order[:2]), max_size=8))
@in_loop
async def test_exactly_the_moves_of_the_table_are_stored(
    first: LifecycleState, moves: list[list[LifecycleState]]
) -> None:
    async with opened(TaskStore(':memory:')) as store:
        task = Task('walk', state=first)
        await store.write([Change(task, None)])
        state, path = first, [(None, first, '')]
        for before, after in moves:
            task.state, task.reason = after, f'{before.name} {after.name} \U0001f980'
            done = store.write([Change(task, before)])
            if before is state and after in TRANSITIONS[state]:
                await done
                path.append((state, after, task.reason))
                state = after
            else:
                with pytest.raises(TaskError, match=f'{before.name}.*{after.name}|{after.name}'):
                    await done
            assert known(store, task.id).state is state
        told = store.history(task.id)
        assert [(row.before, row.after, row.reason) for row in told] == path
        assert {row.at for row in told} == {task.updated_at}


@in_loop
async def test_a_refused_unit_fails_alone_and_whole(tmp_path: Path) -> None:
    async with opened(TaskStore(tmp_path / 'tasks.db')) as store:
        first = Task('first', idempotency_key='once', seq=1)
        await store.write([Change(first, None)])
        gone = Task('gone', seq=99)
        units = {
            'fine': [new('fine', id='fine', seq=2)],
            'id': [new('same id', id='A', seq=3), new('b', id='A', seq=4)],
            'key': [new('same key', idempotency_key='once', seq=5)],
            'seq': [new('same seq', seq=1)],
            'unknown': [new('whole', id='whole', seq=6), moved(gone, S.ACTIVE)],
            'save': [Change(gone, gone.state)],
            'also fine': [new('also', id='also', seq=7), Change(first, first.state)],
            'empty': [],
        }
        results = await asyncio.gather(
            *(store.write(unit) for unit in units.values()), return_exceptions=True
        )
        errors = {key: repr(result) for key, result in zip(units, results, strict=True) if result}
        assert list(errors) == ['id', 'key', 'seq', 'unknown', 'save']
        for key, column in (('id', 'id'), ('key', 'idempotency_key'), ('seq', 'seq')):
            assert f'UNIQUE constraint failed: task.{column}' in errors[key]
        assert [type(results[index]) for index in (4, 5)] == [UnknownTask, UnknownTask]
        for task_id, there in {'fine': 1, 'A': 0, 'whole': 0, 'also': 1}.items():
            assert (store.get(task_id) is not None) == there
            assert len(store.history(task_id)) == there
        assert [getattr(store.by_key(key), 'id', None) for key in ('once', 'never')] == [
            *(first.id, None)
        ]


@in_loop
async def test_writes_are_committed_in_order_and_before_the_end(tmp_path: Path) -> None:
    store, done, task = TaskStore(tmp_path / 'tasks.db'), list[int](), Task('walk', seq=1)
    store.open()
    futures = [store.write([Change(task, None)])]
    for state in [S.WAITING, S.PENDING] * 50:
        futures.append(store.write([moved(task, state)]))
    for number, future in enumerate(futures):
        future.add_done_callback(lambda _, number=number: done.append(number))
    await store.close()
    await store.close()
    assert all(future.done() and future.exception() is None for future in futures)
    await asyncio.sleep(0)
    assert done == list(range(101))
    for request in (lambda: store.write([]), lambda: store.get('x')):
        with pytest.raises(StoreError, match='not open'):
            request()
    assert [found.id for found in store.open()] == [task.id]
    assert len(store.history(task.id)) == 101
    with pytest.raises(StoreError, match='already open'):
        store.open()
    await store.close()


@in_loop
async def test_the_ended_are_listed_newest_first_and_not_loaded(tmp_path: Path) -> None:
    start = datetime(2026, 1, 1, tzinfo=timezone.utc)
    ends = [S.COMPLETED, S.FAILED, S.CANCELLED]
    async with opened(TaskStore(tmp_path / 'tasks.db', clock=lambda: start)) as store:
        for number, state in enumerate([*ends, *(set(S) - set(ends))]):
            at = start + timedelta(seconds=-number)
            await store.write([new('x', seq=number, state=state, updated_at=at)])
        assert [task.state for task in store.last(2)] == ends[:2]
        assert [task.state for task in store.last(99)] == ends
    live = store.open()
    assert [task.seq for task in live] == [3, 4, 5, 6, 7]
    assert not any(task.terminal for task in live)
    await store.close()


@in_loop
async def test_what_ended_long_ago_is_deleted_when_opened_and_hourly(tmp_path: Path) -> None:
    path, time = tmp_path / 'tasks.db', AT
    ages = {'kept': (S.COMPLETED, 29.9), 'live': (S.PAUSED, 99), 'old': (S.FAILED, 30.1)}
    async with opened(TaskStore(path, clock=lambda: time)) as store:
        for seq, (name, (state, days)) in enumerate(ages.items(), 1):
            at = time - timedelta(days=days)
            await store.write([new(name, id=name, state=state, updated_at=at, seq=seq)])
        time += timedelta(minutes=59)
        await store.write([])
        assert store.get('old') is not None
    async with opened(TaskStore(path, clock=lambda: time)) as store:
        assert (store.get('old'), store.history('old')) == (None, [])
        assert store.next_seq() == 4  # though 3 is gone
        assert store.get('kept') is not None
        time += timedelta(days=1)
        await store.write([])
        await store.write([])  # the deletion comes after the first was told
        assert store.get('kept') is None
        assert store.get('live') is not None
    async with opened(TaskStore(path, retention_days=float('inf'), clock=lambda: time)):
        with closing(sqlite3.connect(path)) as other:
            assert other.execute('SELECT DISTINCT seq FROM history').fetchall() == [(2,)]
    for days in (-1.0, float('nan')):
        with pytest.raises(ValueError, match='retention_days'):
            TaskStore(':memory:', retention_days=days)


zones = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))
times = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=zones)
int64 = st.integers(-(2**63), 2**63 - 1)
tasks = st.builds(
    Task,
    name=text,
    priority=int64,
    id=names,
    state=st.sampled_from(S),
    created_at=times,
    updated_at=times,
    metadata=json_objects,
    blocked_by=st.lists(text, max_size=3).map(tuple),
    deadline_s=st.none() | finite,
    not_before=st.none() | times,
    max_retries=int64,
    idempotency_key=st.none() | text,
    resources=st.none() | st.frozensets(text, max_size=3),
    needs_approval=st.booleans(),
    reason=text,
    held=st.booleans(),
    urgent=st.booleans(),
    attempts=int64,
    seq=int64,
    used_s=finite,
)


def same(one: Task | None, other: Task) -> None:
    """In the metadata equal texts too: -0.0 == 0.0 and True == 1."""
    assert one is not None
    assert vars(one) == vars(other)
    assert repr(one.metadata) == repr(other.metadata)


ODD = Task('\x00', metadata={'\x00': ['\u2028', 2**70, -0.0, {'': None}]}, reason='\x00\ufffe')


@given(tasks, tasks)
@example(ODD, Task('x'))
@in_loop
async def test_a_task_comes_back_as_it_was_and_a_save_keeps_all_that_may_change(
    task: Task, other: Task
) -> None:
    async with opened(TaskStore(':memory:')) as store:
        await store.write([Change(task, None)])
        same(store.get(task.id), task)
        kept = {name: getattr(task, name) for name in (*FIXED_COLUMNS, 'state')}
        for name in COLUMNS:
            setattr(task, name, getattr(other, name))
        task.id, task.state = kept['id'], kept['state']
        await store.write([Change(task, task.state)])
        for name, value in kept.items():
            setattr(task, name, value)
        same(store.get(task.id), task)
        assert len(store.history(task.id)) == 1


ENDLESS: dict[str, Any] = {}
ENDLESS['self'] = ENDLESS
NO_ROW: list[tuple[dict[str, Any], str]] = [
    ({'metadata': {'a': {'b': [0, float('nan')]}}}, "metadata['a']['b'][1]"),
    ({'metadata': {'a': float('inf')}}, "metadata['a']"),
    ({'metadata': {'a': {1: 2}}}, "metadata['a'] has the key 1"),
    ({'metadata': {'a': {None: 2}}}, 'has the key None'),
    ({'metadata': {'a': b'raw'}}, "metadata['a'] holds a bytes"),
    ({'metadata': {'a': {1, 2}}}, "metadata['a'] holds a set"),
    ({'metadata': {'a': datetime(2026, 1, 1)}}, "metadata['a'] holds a datetime"),
    ({'metadata': {'a': '\ud83d\ude00'}}, "metadata['a'] holds a str"),
    ({'metadata': {'\ud83d\ude00': 1}}, 'of metadata holds a str'),
    ({'metadata': {'a': 10**5000}}, "metadata['a'] holds a int"),
    ({'metadata': {'a': json.loads('[' * 101 + ']' * 101)}}, 'nested deeper than 100 levels'),
    ({'metadata': {'a': json.loads('{"a":' * 101 + '1' + '}' * 101)}}, 'nested deeper than 100'),
    ({'metadata': ENDLESS}, 'nested'),
    ({'created_at': datetime(2026, 1, 1)}, 'created_at of task'),
    ({'not_before': 5.0}, 'not_before of task'),
    ({'updated_at': datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))}, 'updated_at of '),
    ({'deadline_s': float('nan')}, 'deadline_s of task'),
    ({'used_s': float('inf')}, 'used_s of task'),
]
# What only SQLite refuses.
NO_COLUMN: list[dict[str, Any]] = [
    *({'priority': bad} for bad in (2**63, 'high', 1.5)),
    *({'name': bad} for bad in (None, '\ud800')),
    {'held': []},
]


@in_loop
async def test_values_that_no_row_can_hold_are_refused_at_once() -> None:
    async with opened(TaskStore(':memory:')) as store:
        wrong = []
        for fields, told in NO_ROW:
            bad = Task('bad')
            vars(bad).update(fields)
            try:
                Change(bad, None)
                wrong.append((told, 'is taken'))
            except BadTask as error:
                wrong += [] if told in str(error) else [(told, str(error))]
        assert wrong == []
        for number, fields in enumerate(NO_COLUMN):
            bad = Task('bad', seq=number)
            vars(bad).update(fields)
            with pytest.raises(BadTask, match=f"'{bad.id}', PENDING, cannot be stored"):
                await store.write([new('good'), Change(bad, None)])
            assert store.next_seq() == 1
        deep = json.loads('[' * 99 + ']' * 99)  # a hundred levels are taken
        task = Task('dig', seq=99, metadata={'at': (1, (2, 3)), 'deep': deep})
        await store.write([Change(task, None)])
        assert known(store, task.id).metadata == {'at': [1, [2, 3]], 'deep': deep}


def read_tasks(path: Path) -> tuple[list[str], list[str]]:
    """Names of the tasks that have not ended, and the notes."""

    async def run() -> tuple[list[str], list[str]]:
        store = TaskStore(path, clock=lambda: AT)
        names = [task.name for task in store.open()]
        await store.close()
        return names, store.notes

    return asyncio.run(run())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / 'tasks.db'

    async def write() -> None:
        async with opened(TaskStore(path)) as store:
            await store.write([new('dig', seq=1), new('look', seq=2)])

    asyncio.run(write())
    return path


def test_the_database_itself_refuses_what_is_illegal(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        with pytest.raises(sqlite3.IntegrityError, match='illegal transition'):
            connection.execute("UPDATE task SET state = 'completed'")
        connection.execute("UPDATE task SET state = 'active', reason = 'by hand' WHERE seq = 1")
        rows = 'SELECT before, after, reason FROM history WHERE seq = 1'
        assert connection.execute(rows).fetchall() == [
            (None, 'pending', ''),
            ('pending', 'active', 'by hand'),
        ]
        connection.execute("DELETE FROM allowed WHERE before = 'pending'")
        connection.execute("INSERT INTO allowed VALUES ('completed', 'pending')")
        connection.commit()
        read_tasks(file)  # the moves follow the program
        pairs = {(a.value, b.value) for a, after in TRANSITIONS.items() for b in after}
        assert set(connection.execute('SELECT before, after FROM allowed')) == pairs
    ended = ', '.join(f"'{state.value}'" for state in TRANSITIONS if state.terminal)
    assert f'state IN ({ended})' == ENDED_CONDITION
    assert f'WHERE {ENDED_CONDITION};' in SCHEMA.read_text(encoding='utf-8')  # of the index


def test_a_file_of_an_earlier_program_opens_with_all_its_tasks_and_goes_on(tmp_path: Path) -> None:
    """It has a task in each state, with its history, and had one with the number 12."""
    path, dump = tmp_path / 'tasks.db', Path(__file__).parent / 'corpus/tasks_v1.sql'
    with closing(sqlite3.connect(path)) as file:
        file.executescript(dump.read_text(encoding='utf-8'))

    async def run() -> None:
        async with opened(TaskStore(path, clock=lambda: AT)) as store:
            assert (store.notes, store.next_seq()) == ([], 13)
            for state in S:
                task = known(store, state.value)
                assert (task.state, task.metadata['arguments']) == (state, {'m': 1.5})
                assert store.history(task.id)[-1].after is state
            waiting, paused = known(store, 'waiting'), known(store, 'paused')
            same(store.by_key('once'), waiting)
            assert (waiting.blocked_by, waiting.deadline_s) == (('pending',), 3600.0)
            assert (waiting.resources, waiting.max_retries) == ({'base', 'mast'}, 2)
            assert (paused.held, paused.used_s) == (True, 2.5)
            await store.write([moved(known(store, 'active'), S.COMPLETED)])

    asyncio.run(run())
    assert read_tasks(path) == (['drive'] * 4, [])


@in_loop
async def test_a_program_that_holds_the_database_only_delays_the_writes(file: Path) -> None:
    async with opened(TaskStore(file)) as store:
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute('BEGIN IMMEDIATE')
            with pytest.raises(StoreError, match='locked by another program; close that program'):
                await store.write([new('late', seq=3)])
            assert store.next_seq() == 3
        await store.write([new('late', seq=3)])


def test_the_log_of_a_corrupt_file_goes_with_it(file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("UPDATE task SET metadata = '{'")  # in the log until the last one closes
        names, [note] = read_tasks(file)
        aside = f'{file}.corrupt-20261122T010203Z'
        assert (names, note.rpartition(' as ')[2]) == ([], aside)
        with closing(sqlite3.connect(aside)) as found:
            assert set(found.execute('SELECT metadata FROM task')) == {('{',)}


@in_loop
async def test_what_is_damaged_while_it_is_open_is_a_store_error(file: Path) -> None:
    async with opened(TaskStore(file)) as store:
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("UPDATE task SET metadata = '{', id = 'bad' WHERE seq = 1")
            other.execute("UPDATE history SET after = 'flying'")
        for read in (store.get, store.history):
            with pytest.raises(StoreError, match=r'is damaged: .*; restart, then it is set aside'):
                read('bad')
        assert store.get('\ud800') is None


@pytest.mark.parametrize(
    ('error', 'fault'),
    [
        (OSError(errno.ENOSPC, 'No space left on device'), FileFault.FULL),
        (PermissionError(errno.EACCES, 'Permission denied'), FileFault.READ_ONLY),
        (FileDamaged('it is a database of something else'), FileFault.DAMAGED),
        (ValueError('readonly'), FileFault.OTHER),
        (sqlite3.OperationalError('database or disk is full'), FileFault.FULL),
        (sqlite3.OperationalError('disk I/O error'), FileFault.FULL),
        (sqlite3.OperationalError('attempt to write a readonly database'), FileFault.READ_ONLY),
        (sqlite3.OperationalError('database is locked'), FileFault.LOCKED),
        (sqlite3.DatabaseError('database disk image is malformed'), FileFault.DAMAGED),
        (sqlite3.OperationalError('Could not decode to UTF-8 column'), FileFault.DAMAGED),
        (sqlite3.OperationalError('near "x": syntax error'), FileFault.OTHER),
    ],
)
def test_a_fault_is_told_by_its_kind_and_text(error: Exception, fault: FileFault) -> None:
    assert fault_of(error) is fault
