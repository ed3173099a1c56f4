# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import copy
from datetime import datetime, timedelta, timezone
import json
from pathlib import Path
import sqlite3
from typing import Any

from curiosity_rosa_demo.agent.tasks.schema import COLUMNS, FIXED_COLUMNS
from curiosity_rosa_demo.agent.tasks.store import Insert, Move, Save, TaskStore
from curiosity_rosa_demo.agent.tasks.task import BadTask, StoreError, Task, TaskError, UnknownTask
from curiosity_rosa_demo.domain.task_state import LifecycleState, TRANSITIONS
from hypothesis import example, given
from hypothesis import strategies as st
import pytest
from skill_world import in_loop
from strategies import finite, json_objects, names, text

S = LifecycleState


def moved(task: Task, state: LifecycleState, reason: str = '') -> Move:
    before = task.state
    task.transition(state, reason)
    return Move(task, before)


@asynccontextmanager
async def opened(store: TaskStore) -> AsyncIterator[TaskStore]:
    store.open()
    try:
        yield store
    finally:
        await store.close()


@given(st.sampled_from(S), st.lists(st.tuples(st.sampled_from(S), st.sampled_from(S)), max_size=8))
@in_loop
async def test_exactly_the_moves_of_the_table_are_stored(
    first: LifecycleState, moves: list[tuple[LifecycleState, LifecycleState]]
) -> None:
    async with opened(TaskStore(':memory:')) as store:
        task = Task('walk', state=first)
        await store.write([Insert(task)])
        state, path = first, [(None, first)]
        for before, after in moves:
            task.state, task.reason = after, f'{before.name} {after.name}'
            done = store.write([Move(task, before)])
            if before is state and after in TRANSITIONS[state]:
                await done
                path.append((state, after))
                state = after
            else:
                with pytest.raises(TaskError, match=f'{before.name}.*{after.name}|{after.name}'):
                    await done
            stored = store.get(task.id)
            assert stored is not None
            assert stored.state is state
        assert [(row.before, row.after) for row in store.history(task.id)] == path


@in_loop
async def test_history_says_when_and_why(tmp_path: Path) -> None:
    async with opened(TaskStore(tmp_path / 'tasks.db')) as store:
        task = Task('dig', reason='asked for')
        seen = [(task.updated_at, None, S.PENDING, 'asked for')]
        await store.write([Insert(copy(task)), moved(task, S.ACTIVE, 'its turn')])
        seen.append((task.updated_at, S.PENDING, S.ACTIVE, 'its turn'))
        await store.write([moved(task, S.FAILED, 'Grabber\udcff: \U0001f980')])
        seen.append((task.updated_at, S.ACTIVE, S.FAILED, 'Grabber\\udcff: \U0001f980'))
        assert [(r.at, r.before, r.after, r.reason) for r in store.history(task.id)] == seen
        assert store.history('nobody') == []


@in_loop
async def test_the_snapshot_is_taken_when_write_is_called(tmp_path: Path) -> None:
    async with opened(TaskStore(tmp_path / 'tasks.db')) as store:
        task = Task('dig', metadata={'depth': [1]})
        done = store.write([Insert(task)])
        task.metadata['depth'].append(2)
        task.priority = 9
        await done
        stored = store.get(task.id)
        assert stored is not None
        assert (stored.metadata, stored.priority) == ({'depth': [1]}, 3)


@in_loop
async def test_a_refused_unit_fails_alone_and_whole(tmp_path: Path) -> None:
    async with opened(TaskStore(tmp_path / 'tasks.db')) as store:
        first = Task('first', idempotency_key='once', seq=1)
        await store.write([Insert(first)])
        gone = Task('gone', seq=99)
        units = {
            'fine': [Insert(Task('fine', id='fine', seq=2))],
            'id': [Insert(Task('same id', id='A', seq=3)), Insert(Task('b', id='A', seq=4))],
            'key': [Insert(Task('same key', idempotency_key='once', seq=5))],
            'seq': [Insert(Task('same seq', seq=1))],
            'unknown': [Insert(Task('whole', id='whole', seq=6)), moved(gone, S.ACTIVE)],
            'save': [Save(gone)],
            'also fine': [Insert(Task('also', id='also', seq=7)), Save(first)],
            'empty': [],
        }
        results = await asyncio.gather(
            *(store.write(unit) for unit in units.values()), return_exceptions=True
        )
        errors = {key: repr(result) for key, result in zip(units, results, strict=True) if result}
        assert list(errors) == ['id', 'key', 'seq', 'unknown', 'save']
        assert "the id 'A'" in errors['id']
        assert "the idempotency_key 'once'" in errors['key']
        assert 'the seq 1' in errors['seq']
        assert [type(results[index]) for index in (4, 5)] == [UnknownTask, UnknownTask]
        for task_id, there in {'fine': 1, 'A': 0, 'whole': 0, 'also': 1}.items():
            assert (store.get(task_id) is not None) == there
            assert len(store.history(task_id)) == there
        found = store.by_key('once')
        assert found is not None
        assert found.id == first.id
        assert store.by_key('never') is None


@in_loop
async def test_writes_are_committed_in_order_and_in_groups(tmp_path: Path) -> None:
    async with opened(TaskStore(tmp_path / 'tasks.db')) as store:
        done: list[int] = []
        task = Task('walk', seq=1)
        futures = [store.write([Insert(task)])]
        for state in [S.WAITING, S.PENDING] * 500:
            futures.append(store.write([moved(task, state)]))
        for number, future in enumerate(futures):
            future.add_done_callback(lambda _, number=number: done.append(number))
        await asyncio.gather(*futures)
        assert done == list(range(1001))
        assert len(store.history(task.id)) == 1001
        assert store.counters['commits'] == 1001
        assert store.counters['groups'] < 100
        assert store.counters['largest_group'] > 100


@pytest.mark.parametrize('count', [1, 2, 3, 239, 241, 1024, 1025, 3000])
@in_loop
async def test_a_unit_of_any_size_is_one_commit(tmp_path: Path, count: int) -> None:
    async with opened(TaskStore(tmp_path / 'tasks.db')) as store:
        made = [Task('many', seq=number) for number in range(count)]
        await store.write([Insert(task) for task in made])
        assert store.counters == {'commits': 1, 'groups': 1, 'largest_group': 1}
        assert store.next_seq() == count
    assert [task.seq for task in store.open()] == list(range(count))
    await store.close()


@in_loop
async def test_closing_commits_all_that_was_accepted(tmp_path: Path) -> None:
    store = TaskStore(tmp_path / 'tasks.db')
    store.open()
    futures = [store.write([Insert(Task('late', seq=number))]) for number in range(500)]
    await store.close()
    await store.close()
    assert all(future.done() and future.exception() is None for future in futures)
    with pytest.raises(StoreError, match='not open'):
        store.write([])
    with pytest.raises(StoreError, match='not open'):
        store.get('x')
    assert len(store.open()) == 500
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
            await store.write([Insert(Task('x', seq=number, state=state, updated_at=at))])
        assert [task.state for task in store.last(2)] == ends[:2]
        assert [task.state for task in store.last(99)] == ends
    live = store.open()
    assert [task.seq for task in live] == [3, 4, 5, 6, 7]
    assert not any(task.terminal for task in live)
    await store.close()


def test_what_ended_long_ago_is_deleted_when_opened_and_hourly(tmp_path: Path) -> None:
    time = datetime(2026, 1, 1, tzinfo=timezone.utc)

    def old(name: str, state: LifecycleState, days: float, seq: int) -> Insert:
        at = time - timedelta(days=days)
        return Insert(Task(name, id=name, state=state, updated_at=at, seq=seq))

    async def run() -> None:
        nonlocal time
        path = tmp_path / 'tasks.db'
        async with opened(TaskStore(path, clock=lambda: time)) as store:
            await store.write([old('kept', S.COMPLETED, 29.9, 1), old('live', S.PAUSED, 99, 2)])
            await store.write([old('old', S.FAILED, 30.1, 3)])
            time += timedelta(minutes=59)
            await store.write([])
            assert store.get('old') is not None
        async with opened(TaskStore(path, clock=lambda: time)) as store:
            assert store.get('old') is None
            assert store.history('old') == []
            assert store.next_seq() == 4  # though 3 is gone
            assert store.get('kept') is not None
            time += timedelta(days=1)
            await store.write([])
            await store.write([])  # the deletion comes after the first was told
            assert store.get('kept') is None
            assert store.get('live') is not None
        async with opened(TaskStore(path, retention_days=float('inf'), clock=lambda: time)):
            with sqlite3.connect(path) as other:
                assert other.execute('SELECT DISTINCT seq FROM history').fetchall() == [(2,)]
            other.close()

    asyncio.run(run())


@in_loop
async def test_whoever_asks_is_called_at_once_and_one_that_raises_spares_the_others() -> None:
    faults: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: faults.append(context['exception']))
    turns: list[str] = []

    def raising(done: asyncio.Future[None]) -> None:
        loop.call_soon(turns.append, 'next turn')
        raise ZeroDivisionError

    async with opened(TaskStore(':memory:')) as store:
        tasks = [Task('x', id='same', seq=number) for number in range(2)]
        first = store.write([Insert(tasks[0])], raising)
        second = store.write([Insert(tasks[1])], lambda done: turns.append(repr(done)))
        _, left = await asyncio.wait([first, second], timeout=20.0)
        assert not left
    assert [type(fault) for fault in faults] == [ZeroDivisionError]
    assert 'exception=TaskError' in next(turn for turn in turns if turn != 'next turn')
    assert second.exception() is not None


def test_a_retention_that_is_no_number_of_days_is_refused() -> None:
    for days in (-1.0, float('nan')):
        with pytest.raises(ValueError, match='retention_days'):
            TaskStore(':memory:', retention_days=days)


# --- values -----------------------------------------------------------------------------------

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


@given(tasks)
@example(Task('\x00', metadata={'\x00': ['\u2028', 2**70, -0.0, {'': None}]}, reason='\x00\ufffe'))
@in_loop
async def test_a_task_comes_back_as_it_was(task: Task) -> None:
    async with opened(TaskStore(':memory:')) as store:
        await store.write([Insert(task)])
        same(store.get(task.id), task)


@given(tasks, tasks)
@in_loop
async def test_a_save_keeps_all_that_may_change_and_not_the_state(task: Task, new: Task) -> None:
    async with opened(TaskStore(':memory:')) as store:
        await store.write([Insert(task)])
        kept = {name: getattr(task, name) for name in (*FIXED_COLUMNS, 'state')}
        for name in COLUMNS:
            setattr(task, name, getattr(new, name))
        task.id = kept['id']
        await store.write([Save(task)])
        for name, value in kept.items():
            setattr(task, name, value)
        same(store.get(task.id), task)
        assert len(store.history(task.id)) == 1


ENDLESS: dict[str, Any] = {}
ENDLESS['self'] = ENDLESS


@pytest.mark.parametrize(
    ('metadata', 'key'),
    [
        ({'a': {'b': [0, float('nan')]}}, r"metadata\['a'\]\['b'\]\[1\]"),
        ({'a': float('inf')}, r"metadata\['a'\]"),
        ({'a': {1: 2}}, r"metadata\['a'\] has the key 1"),
        ({'a': {None: 2}}, 'has the key None'),
        ({'a': b'raw'}, r"metadata\['a'\] holds a bytes"),
        ({'a': {1, 2}}, r"metadata\['a'\] holds a set"),
        ({'a': datetime(2026, 1, 1)}, r"metadata\['a'\] holds a datetime"),
        ({'a': '\ud83d\ude00'}, r"metadata\['a'\] holds a str"),
        ({'\ud83d\ude00': 1}, r'key .* of metadata holds a str'),
        ({'a': 10**5000}, r"metadata\['a'\] holds a int"),
        ({'a': json.loads('[' * 101 + ']' * 101)}, 'nested deeper than 100 levels'),
        ({'a': json.loads('{"a":' * 101 + '1' + '}' * 101)}, 'nested deeper than 100 levels'),
        (ENDLESS, 'nested'),
    ],
)
@in_loop
async def test_metadata_that_json_does_not_give_back_is_refused_at_once(
    metadata: dict[str, Any], key: str
) -> None:
    async with opened(TaskStore(':memory:')) as store:
        with pytest.raises(BadTask, match=key):
            store.write([Insert(Task('fine', seq=1)), Insert(Task('bad', metadata=metadata))])
        assert store.next_seq() == 1


@in_loop
async def test_tuples_come_back_as_lists_and_a_hundred_levels_are_taken() -> None:
    async with opened(TaskStore(':memory:')) as store:
        deep = json.loads('[' * 99 + ']' * 99)
        wide = [[]] * 500
        task = Task('dig', metadata={'at': (1, (2, 3)), 'deep': deep, 'wide': wide})
        await store.write([Insert(task)])
        stored = store.get(task.id)
        assert stored is not None
        assert stored.metadata == {'at': [1, [2, 3]], 'deep': deep, 'wide': wide}


@pytest.mark.parametrize(
    ('field', 'value'),
    [
        ('created_at', datetime(2026, 1, 1)),
        ('not_before', 5.0),
        ('updated_at', datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))),
        ('deadline_s', float('nan')),
        ('used_s', float('inf')),
    ],
)
@in_loop
async def test_a_time_or_number_that_no_row_can_hold_is_refused_at_once(
    field: str, value: Any
) -> None:
    async with opened(TaskStore(':memory:')) as store:
        bad = Task('bad', seq=1)
        setattr(bad, field, value)
        with pytest.raises(BadTask, match=f'{field} of task .* must be'):
            store.write([Insert(bad)])


@pytest.mark.parametrize(
    ('field', 'value'),
    [
        ('priority', 2**63),
        ('priority', 'high'),
        ('priority', 1.5),
        ('name', None),
        ('name', '\ud800'),
        ('held', []),
    ],
)
@in_loop
async def test_other_values_that_no_row_can_hold_fail_their_unit_alone(
    field: str, value: Any
) -> None:
    async with opened(TaskStore(':memory:')) as store:
        bad, good = Task('bad', seq=1), Task('good', seq=2)
        setattr(bad, field, value)
        refused, stored = store.write([Insert(bad)]), store.write([Insert(good)])
        with pytest.raises(BadTask, match=f"'{bad.id}' cannot be stored"):
            await refused
        await stored
        assert store.get(bad.id) is None
        assert store.get(good.id) is not None
