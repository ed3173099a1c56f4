# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which tasks the store takes, and that they come back as they were."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, timezone
import json
from typing import Any

from curiosity_rosa_demo.agent.tasks.errors import BadTask
from curiosity_rosa_demo.agent.tasks.schema import COLUMNS, FIXED_COLUMNS
from curiosity_rosa_demo.agent.tasks.store import Insert, Save, TaskStore
from curiosity_rosa_demo.agent.tasks.task import Task
from curiosity_rosa_demo.domain.task_state import LifecycleState
from hypothesis import example, given
from hypothesis import strategies as st
import pytest
from strategies import finite, json_objects, names, text

S = LifecycleState
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


@asynccontextmanager
async def opened(store: TaskStore) -> AsyncIterator[TaskStore]:
    store.open()
    try:
        yield store
    finally:
        await store.close()


def same(one: Task | None, other: Task) -> None:
    """In the metadata equal texts too: -0.0 == 0.0 and True == 1."""
    assert one is not None
    assert vars(one) == vars(other)
    assert repr(one.metadata) == repr(other.metadata)


@given(tasks)
@example(Task('\x00', metadata={'\x00': ['\u2028', 2**70, -0.0, {'': None}]}, reason='\x00\ufffe'))
def test_a_task_comes_back_as_it_was(task: Task) -> None:
    async def run() -> None:
        async with opened(TaskStore(':memory:')) as store:
            await store.write([Insert(task)])
            same(store.get(task.id), task)

    asyncio.run(run())


@given(tasks, tasks)
def test_a_save_keeps_all_that_may_change_and_not_the_state(task: Task, new: Task) -> None:
    async def run() -> None:
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

    asyncio.run(run())


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
    ],
)
def test_metadata_that_json_does_not_give_back_is_refused_at_once(
    metadata: dict[str, Any], key: str
) -> None:
    async def run() -> None:
        async with opened(TaskStore(':memory:')) as store:
            with pytest.raises(BadTask, match=key):
                store.write([Insert(Task('fine', seq=1)), Insert(Task('bad', metadata=metadata))])
            assert store.next_seq() == 1

    asyncio.run(run())


def test_metadata_that_contains_itself_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop['self'] = loop

    async def run() -> None:
        async with opened(TaskStore(':memory:')) as store:
            with pytest.raises(BadTask, match='nested'):
                store.write([Insert(Task('bad', metadata=loop))])

    asyncio.run(run())


def test_tuples_come_back_as_lists_and_a_hundred_levels_are_taken() -> None:
    async def run() -> None:
        async with opened(TaskStore(':memory:')) as store:
            deep = json.loads('[' * 99 + ']' * 99)
            wide = [[]] * 500
            task = Task('dig', metadata={'at': (1, (2, 3)), 'deep': deep, 'wide': wide})
            await store.write([Insert(task)])
            stored = store.get(task.id)
            assert stored is not None
            assert stored.metadata == {'at': [1, [2, 3]], 'deep': deep, 'wide': wide}

    asyncio.run(run())


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
def test_a_time_or_number_that_no_row_can_hold_is_refused_at_once(field: str, value: Any) -> None:
    async def run() -> None:
        async with opened(TaskStore(':memory:')) as store:
            bad = Task('bad', seq=1)
            setattr(bad, field, value)
            with pytest.raises(BadTask, match=f'{field} of task .* must be'):
                store.write([Insert(bad)])

    asyncio.run(run())


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
def test_other_values_that_no_row_can_hold_fail_their_unit_alone(field: str, value: Any) -> None:
    async def run() -> None:
        async with opened(TaskStore(':memory:')) as store:
            bad, good = Task('bad', seq=1), Task('good', seq=2)
            setattr(bad, field, value)
            refused, stored = store.write([Insert(bad)]), store.write([Insert(good)])
            with pytest.raises(BadTask, match=f"'{bad.id}' cannot be stored"):
                await refused
            await stored
            assert store.get(bad.id) is None
            assert store.get(good.id) is not None

    asyncio.run(run())
