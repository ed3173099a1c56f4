# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The product's own stores, unmodified, on the disk of the mission simulator."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from random import Random
import sqlite3
from tempfile import TemporaryDirectory
from typing import Any

from curiosity_rosa_demo.agent.kernel.checkpoint import KernelCheckpoint
from curiosity_rosa_demo.agent.policy.policy_store import PolicyStore, PolicyStoreError
from curiosity_rosa_demo.agent.react.checkpointer import TurnCheckpointer
from curiosity_rosa_demo.agent.tasks.errors import StoreError, StoreFull
from curiosity_rosa_demo.agent.tasks.store import Insert, Move, TaskStore
from curiosity_rosa_demo.agent.tasks.task import Task
from curiosity_rosa_demo.domain.brain_state import BrainState, Mode, RobotState, TasksState
from curiosity_rosa_demo.domain.task_state import LifecycleState
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.base import empty_checkpoint
from missions.disk import Disk, DiskFaults, installed
import pytest
from skill_world import ended, in_loop, looping, Stage, staged, titled
from test_policy_store import decision, STATE, VIEW

FULL = 13
ACTIVE = LifecycleState.ACTIVE


@pytest.fixture
def disk() -> Iterator[Disk]:
    with installed(Disk(Random(1))) as disk:
        yield disk
        assert disk.defect is None


# --- the task store -----------------------------------------------------------------------------


async def store_until_the_end(path: Path, disk: Disk, changes: int, loses_power: bool) -> set[str]:
    """Write tasks until the disk has changed that often. Returns those that were acknowledged."""
    store, acknowledged = TaskStore(path), set()
    found = {task.id: task for task in store.open()}
    over: list[bool] = []

    def end() -> None:
        over.append(True)
        if loses_power:
            disk.power_loss()
        else:
            disk.process_killed('')

    disk.call_after(changes, end)
    number = store.next_seq()
    while not over:
        task = Task('dig', id=f't{number}', seq=number, metadata={'map': 'x' * (number % 7 * 999)})
        active = Task('dig', id=task.id, seq=number, state=ACTIVE)
        try:
            await store.write([Insert(task), Move(active, LifecycleState.PENDING)])
        except StoreError:
            assert over, 'only a dead disk refuses'
        else:
            acknowledged |= {*found, task.id}
        number += 1
    await store.close()
    return acknowledged


@settings(max_examples=examples(15))
@given(
    lives=st.lists(st.tuples(st.integers(1, 150), st.booleans()), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
)
def test_the_task_store_loses_no_acknowledged_task(
    lives: list[tuple[int, bool]], seed: int
) -> None:
    with TemporaryDirectory() as folder, installed(Disk(Random(seed))) as disk:
        path, acknowledged = Path(folder, 'tasks.db'), set()
        for changes, loses_power in lives:
            acknowledged |= asyncio.run(store_until_the_end(path, disk, changes, loses_power))
            found = asyncio.run(read_tasks(path))
            assert acknowledged <= found.keys()
            assert set(found.values()) <= {ACTIVE}, 'a task without its change of state'
        assert disk.defect is None


async def read_tasks(path: Path) -> dict[str, LifecycleState]:
    store = TaskStore(path)
    tasks = {task.id: task.state for task in store.open()}
    await store.close()
    assert store.notes == []
    return tasks


def test_a_disk_that_lies_loses_a_task(tmp_path: Path) -> None:
    """The check above can fail."""
    for seed in range(50):
        path = tmp_path / f'{seed}.db'
        with installed(Disk(Random(seed))) as disk:
            asyncio.run(read_tasks(path))
            disk.faults = DiskFaults(sync_lies=0.3)
            acknowledged = asyncio.run(store_until_the_end(path, disk, 60, True))
            disk.faults = DiskFaults()
            try:
                found = asyncio.run(read_tasks(path))
            except StoreError:
                return
            if acknowledged - found.keys():
                return
    raise AssertionError('50 seeds and nothing was lost')


@in_loop
async def test_each_acknowledged_write_was_synced(disk: Disk, tmp_path: Path) -> None:
    store = TaskStore(tmp_path / 'tasks.db')
    store.open()
    for number in range(1, 20):
        syncs = disk.counts['sync']
        await store.write([Insert(Task('dig', seq=number))])
        assert disk.counts['sync'] > syncs
    await store.close()


@in_loop
async def test_a_full_disk_is_a_store_error_and_the_store_works_again_afterwards(
    disk: Disk, tmp_path: Path
) -> None:
    store = TaskStore(tmp_path / 'tasks.db')
    store.open()
    disk.faults = DiskFaults(full=1.0)
    for _ in range(3):
        with pytest.raises(StoreFull, match='database or disk is full; free some space'):
            await store.write([Insert(Task('dig', id='a', seq=1))])
    disk.faults = DiskFaults()
    disk.fail_next('sync', 1034)
    with pytest.raises(StoreFull, match='disk I/O error; free some space or check the disk'):
        await store.write([Insert(Task('dig', id='a', seq=1))])
    assert store.get('a') is None
    await store.write([Insert(Task('dig', id='a', seq=1))])
    assert store.get('a') is not None
    await store.close()


@in_loop
async def test_the_skill_runner_resumes_after_a_loss_of_power(disk: Disk, tmp_path: Path) -> None:
    path, stage, again = tmp_path / 'tasks.db', Stage(), Stage()
    first, second = titled('drive', 'first'), titled('drive', 'second')
    async with looping(staged(path, stage)) as runner:
        await runner.submit(first)
        await runner.submit(second)
        await stage.until('begin first')
        stage.finish(first)
        await ended(runner, first)
        await stage.until('begin second')
        disk.power_loss()
    async with looping(staged(path, again)) as runner:
        await again.until('begin second')
        resumed = runner.get_task(second.id)
        assert resumed is not None
        again.finish(resumed)
        assert (await ended(runner, resumed)).state is LifecycleState.COMPLETED
        done = runner.get_task(first.id)
        assert done is not None
        assert done.state is LifecycleState.COMPLETED
    assert again.log == ['begin second', 'end second']


# --- the checkpoints and the policy -------------------------------------------------------------


def save_until_the_end(saver: TurnCheckpointer, number: int) -> int:
    """Save checkpoints from ``number`` + 1 on. Returns the last that was acknowledged."""
    while True:
        try:
            save(saver, number + 1)
        except sqlite3.OperationalError:
            return number
        number += 1


def save(saver: TurnCheckpointer, number: int) -> None:
    config: Any = {'configurable': {'thread_id': 'a', 'checkpoint_ns': ''}}
    checkpoint = {**empty_checkpoint(), 'channel_values': {'n': number}, 'ts': str(number)}
    saver.put(config, checkpoint, {'step': number}, {})  # type: ignore[arg-type]


def newest(path: Path) -> int:
    saver = TurnCheckpointer(path)
    config: Any = {'configurable': {'thread_id': 'a', 'checkpoint_ns': ''}}
    found = saver.get_tuple(config)
    saver.close()
    return 0 if found is None else found.checkpoint['channel_values']['n']


@pytest.mark.parametrize('seed', range(10))
def test_a_checkpoint_that_was_saved_is_the_newest_after_a_loss_of_power(
    tmp_path: Path, seed: int
) -> None:
    path = tmp_path / 'turns.db'
    with installed(Disk(Random(seed))) as disk:
        number = 0
        for changes in range(7, 47, 4):
            saver = TurnCheckpointer(path)
            disk.call_after(changes, disk.power_loss)
            number = save_until_the_end(saver, number)
            saver.close()
            found = newest(path)
            assert found in (number, number + 1)
            number = found
        assert number > 5
        assert disk.defect is None


def test_the_kernel_finds_its_latch_after_a_loss_of_power(disk: Disk, tmp_path: Path) -> None:
    errors: list[Exception] = []
    state = BrainState(
        robot=RobotState(safety_latch='e-stop pressed'), tasks=TasksState(mode=Mode.SAFE)
    )

    def opened() -> tuple[KernelCheckpoint, BrainState | None]:
        checkpoint = KernelCheckpoint(
            lambda: TurnCheckpointer(tmp_path / 'kernel.db'), errors.append
        )
        return checkpoint, checkpoint.open()

    checkpoint, found = opened()
    assert found is None
    checkpoint.record(state)
    checkpoint.close()
    disk.power_loss()
    checkpoint, found = opened()
    checkpoint.close()
    assert found is not None
    assert found.robot.safety_latch == 'e-stop pressed'
    assert errors == []


def test_the_policy_finds_its_last_decision_after_a_loss_of_power(
    disk: Disk, tmp_path: Path
) -> None:
    path = tmp_path / 'policy.db'
    store = PolicyStore(path, 10)
    assert store.open(VIEW) is None
    store.save(STATE, decision(1), True)
    disk.fail_next('write', FULL)
    with pytest.raises(PolicyStoreError, match='free some space'):
        store.save(STATE, decision(2), True)
    store.save(STATE, decision(3), True)
    disk.power_loss()
    again = PolicyStore(path, 10)
    assert again.open(VIEW) is not None
    assert [each.number for each in again.recent_decisions(9)] == [1, 3]
    again.close()
    store.close()
