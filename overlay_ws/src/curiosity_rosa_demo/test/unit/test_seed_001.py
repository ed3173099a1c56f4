# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The interfaces of seed 001, as its snippets use them; only the import path is ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import inspect
from pathlib import Path
import time

from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.tasks import (
    Event,
    EventType,
    LifecycleState,
    RARKKernel,
    Scheduler,
    SkillRunner,
    Task,
)
from curiosity_rosa_demo.agent.tasks.errors import BadTask, SkillFailed, TaskError, UnknownTask
from curiosity_rosa_demo.agent.tasks.external_skills import ExternalSkills
from curiosity_rosa_demo.agent.tasks.transitions import IllegalTransition, TRANSITIONS
import httpx
import pytest
from skill_world import crash, ended, in_loop, LONG_S, looping, reaches, states, stored

S = LifecycleState


def test_the_states_and_their_transitions_hold_those_of_the_seed() -> None:
    matrix = {
        S.PENDING: {S.ACTIVE, S.CANCELLED},
        S.ACTIVE: {S.PAUSED, S.COMPLETED, S.FAILED, S.CANCELLED},
        S.PAUSED: {S.ACTIVE, S.CANCELLED},
        S.COMPLETED: set(),
        S.FAILED: set(),
        S.CANCELLED: set(),
    }
    for before, after in matrix.items():
        assert TRANSITIONS[before] & matrix.keys() == after


def test_the_fields_of_a_task_come_in_the_published_order() -> None:
    published = ['name', 'priority', 'id', 'state', 'created_at', 'updated_at', 'metadata']
    assert list(inspect.signature(Task).parameters)[: len(published)] == published


# --- the scheduler ---------------------------------------------------------------------------


def test_the_scheduler_picks_by_priority_and_skips_what_has_ended() -> None:
    scheduler = Scheduler()
    low, first, second, gone = Task('low', 1), Task('a', 3), Task('b', 3), Task('gone', 9)
    for task in (low, first, second, gone):
        scheduler.add(task)
    gone.transition(S.CANCELLED)
    assert [scheduler.pick_next() for _ in range(4)] == [first, second, low, None]


def test_a_registered_task_is_found_and_not_picked() -> None:
    scheduler, task = Scheduler(), Task('a')
    scheduler.register(task)
    assert scheduler.get(task.id) is task
    assert scheduler.get('other') is None
    assert scheduler.pick_next() is None


def test_a_suspended_task_is_paused_and_keeps_its_place() -> None:
    scheduler, first, second = Scheduler(), Task('a'), Task('b')
    scheduler.add(first)
    scheduler.add(second)
    picked = scheduler.pick_next()
    assert picked is first
    first.transition(S.ACTIVE)
    scheduler.suspend(first.id)
    assert first.state is S.PAUSED
    assert [scheduler.pick_next() for _ in range(3)] == [first, second, None]
    with pytest.raises(IllegalTransition):
        scheduler.suspend(second.id)
    with pytest.raises(UnknownTask):
        scheduler.suspend('other')


# --- the kernel, and somebody else who carries the tasks out ---------------------------------


@asynccontextmanager
async def kernel_at(path: Path) -> AsyncIterator[RARKKernel]:
    kernel = RARKKernel(db_path=str(path))
    await kernel.start()
    loop_task = asyncio.create_task(kernel.run_loop())
    try:
        yield kernel
    finally:
        await asyncio.wait_for(kernel.stop(), LONG_S)
        await asyncio.wait_for(loop_task, LONG_S)


@in_loop
async def test_an_outside_executor_completes_and_fails_tasks(tmp_path: Path) -> None:
    async with kernel_at(tmp_path / 'robot.db') as kernel:
        good, bad = Task('pour_water', 5), Task('dance', 3)
        for task in (good, bad):
            await kernel.emit(Event(EventType.TASK_SUBMIT, payload={'task': task}))
        assert kernel.list_tasks() == [good, bad]
        await reaches(kernel, good, S.ACTIVE)
        assert bad.state is S.PENDING
        await kernel.emit(Event(EventType.TASK_COMPLETE, good.id))
        assert states(kernel, good) == [S.PENDING, S.ACTIVE, S.COMPLETED]
        await reaches(kernel, bad, S.ACTIVE)
        await kernel.emit(Event(EventType.TASK_FAIL, bad.id, payload={'error': 'no music'}))
        assert (bad.state, bad.reason) == (S.FAILED, 'no music')


@in_loop
async def test_a_report_may_come_before_anybody_waits_for_it() -> None:
    executor, task = ExternalSkills(('base',)), Task('pour_water')
    executor.report(task.id, None)
    executor.report(task.id, 'too late')
    await executor.get('pour_water').function(task)
    executor.report(task.id, 'no water')
    with pytest.raises(SkillFailed, match='no water'):
        await executor.get('pour_water').function(task)


@in_loop
async def test_a_task_is_not_known_between_its_commit_and_its_event(tmp_path: Path) -> None:
    async with kernel_at(tmp_path / 'robot.db') as kernel:
        task = Task('pour_water')
        submitted = asyncio.create_task(kernel.submit(task))
        await asyncio.sleep(0)  # the writer's thread has it
        deadline = time.monotonic() + LONG_S
        while stored(tmp_path / 'robot.db', task) is None:  # the loop hears nothing meanwhile
            assert time.monotonic() < deadline
        assert kernel.get_task(task.id) is None
        await kernel.cancel(task.id)  # reaches it all the same, before it begins
        assert kernel.get_task((await submitted).id) is task
        assert task.state is S.CANCELLED


@in_loop
async def test_an_interrupt_pauses_what_is_active_and_it_becomes_active_again(
    tmp_path: Path,
) -> None:
    async with kernel_at(tmp_path / 'robot.db') as kernel:
        usual, urgent = Task('pour_water', 3), Task('avoid_obstacle', 10)
        await kernel.emit(Event(EventType.TASK_SUBMIT, payload={'task': usual}))
        await reaches(kernel, usual, S.ACTIVE)
        await kernel.emit(Event(EventType.INTERRUPT, payload={'task': urgent}))
        assert usual.state is S.PAUSED
        await reaches(kernel, urgent, S.ACTIVE)
        with pytest.raises(TaskError, match='only an ACTIVE one can end'):
            await kernel.emit(Event(EventType.TASK_COMPLETE, usual.id))
        await kernel.emit(Event(EventType.TASK_COMPLETE, urgent.id))
        await reaches(kernel, usual, S.ACTIVE)
        await kernel.emit(Event(EventType.TASK_CANCEL, usual.id))
        assert usual.state is S.CANCELLED


@in_loop
async def test_a_report_that_races_with_a_cancel_is_refused(tmp_path: Path) -> None:
    async with kernel_at(tmp_path / 'robot.db') as kernel:
        task = await kernel.submit(Task('pour_water'))
        await reaches(kernel, task, S.ACTIVE)
        cancelled = kernel.emit(Event(EventType.TASK_CANCEL, task.id))
        completed = kernel.emit(Event(EventType.TASK_COMPLETE, task.id))
        await cancelled
        with pytest.raises(TaskError, match='was CANCELLED before'):
            await completed


@in_loop
async def test_an_event_that_asks_for_nothing_is_refused(tmp_path: Path) -> None:
    async with kernel_at(tmp_path / 'robot.db') as kernel:
        for event, told in (
            (Event(EventType.TASK_SUBMIT), "needs the payload {'task': Task}"),
            (Event(EventType.INTERRUPT, payload={'task': 'avoid'}), "payload {'task': Task}"),
            (Event(EventType.TASK_COMPLETE), 'TASK_COMPLETE needs a task_id'),
            (Event(EventType.TASK_STATE, 'a'), 'cannot ask for one'),
        ):
            with pytest.raises(BadTask, match=told):
                await kernel.emit(event)


@in_loop
async def test_after_a_crash_what_was_active_is_active_again(tmp_path: Path) -> None:
    kernel = RARKKernel(db_path=str(tmp_path / 'robot.db'))
    await kernel.start()
    running = asyncio.create_task(kernel.run_loop())
    task = await kernel.submit(Task('pour_water'))
    await reaches(kernel, task, S.ACTIVE)
    crash(tmp_path / 'robot.db')
    running.cancel()
    async with kernel_at(tmp_path / 'robot.db') as again:
        found = again.get_task(task.id)
        assert found is not None
        await reaches(again, found, S.ACTIVE)
        await again.emit(Event(EventType.TASK_COMPLETE, found.id))
        assert found.state is S.COMPLETED


# --- the runner ------------------------------------------------------------------------------


def test_the_file_has_a_default_name_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    async def run() -> None:
        async with looping(SkillRunner()):
            pass

    asyncio.run(run())
    assert (tmp_path / 'tasks.db').is_file()
    assert isinstance(SkillRunner('robot.db', crash_policy='fail'), RARKKernel)


@in_loop
async def test_a_task_that_is_submitted_before_the_start_is_known_at_once_and_stored_later(
    tmp_path: Path,
) -> None:
    runner, done = SkillRunner(db_path=str(tmp_path / 'robot.db')), []

    @runner.skill('pour_water')
    async def pour_water(task: Task) -> None:
        done.append(task.metadata['target'])

    first = await runner.submit(Task('pour_water', 5, metadata={'target': 'kitchen'}))
    urgent = await runner.interrupt(Task('pour_water', 10, metadata={'target': 'hall'}))
    unwanted = await runner.submit(Task('pour_water', 1))
    assert await runner.cancel(unwanted.id, 'not wanted') is True
    assert runner.list_tasks() == [first, urgent, unwanted]
    assert (runner.get_task(first.id), runner.get_task('other')) == (first, None)
    assert {task.state for task in runner.list_tasks()} == {S.PENDING}
    with pytest.raises(UnknownTask):
        await runner.cancel('other')
    async with looping(runner):
        assert runner.list_tasks() == [first, urgent, unwanted]
        await ended(runner, first)
        assert done == ['hall', 'kitchen']
        assert states(runner, unwanted) == [S.PENDING, S.CANCELLED]
        assert unwanted.reason == 'not wanted'
        assert states(runner, first)[0] is S.PENDING


@in_loop
async def test_before_the_start_a_task_is_checked_as_well(tmp_path: Path) -> None:
    runner = SkillRunner(db_path=str(tmp_path / 'robot.db'))
    task = await runner.submit(Task('a', idempotency_key='k'))
    assert await runner.submit(Task('b', idempotency_key='k')) is task
    with pytest.raises(BadTask, match='priority'):
        await runner.submit(Task('a', priority=5000))
    with pytest.raises(BadTask, match='already a task'):
        await runner.submit(task)
    with pytest.raises(BadTask, match='cannot interrupt'):
        await runner.interrupt(Task('a', needs_approval=True))
    waits = await runner.submit(Task('a', blocked_by=('nobody',)))
    async with looping(runner):
        [note] = runner.notes
        assert note.startswith("task_submit from before the start: blocked_by names 'nobody'")
        assert runner.get_task(waits.id) is None
        assert runner.get_task(task.id) is task


@in_loop
async def test_what_runs_as_a_skill_is_not_ended_from_outside(tmp_path: Path) -> None:
    runner, begun = SkillRunner(db_path=str(tmp_path / 'robot.db')), asyncio.Event()

    @runner.skill('pour_water')
    async def pour_water(task: Task) -> None:
        begun.set()
        await asyncio.Event().wait()

    async with looping(runner):
        task = await runner.submit(Task('pour_water'))
        await begun.wait()
        for kind in (EventType.TASK_COMPLETE, EventType.TASK_FAIL):
            with pytest.raises(TaskError, match='ends when its skill does'):
                await runner.emit(Event(kind, task.id))
        assert task.state is S.ACTIVE


@in_loop
async def test_the_http_examples_without_a_lifespan() -> None:
    runner = SkillRunner(':memory:')

    @runner.skill('pour_water')
    async def pour_water(task: Task) -> None: ...

    @runner.skill('avoid_obstacle')
    async def avoid_obstacle(task: Task) -> None: ...

    transport = httpx.ASGITransport(app=create_app(runner))
    async with httpx.AsyncClient(transport=transport, base_url='http://localhost') as client:
        assert (await client.get('/health')).json()['active_task'] is None
        wanted = {'name': 'pour_water', 'priority': 5, 'metadata': {'target': 'kitchen'}}
        answer = await client.post('/tasks', json=wanted)
        task = answer.json()
        assert (answer.status_code, task['state']) == (201, 'pending')
        assert {key: task[key] for key in wanted} == wanted
        urgent = {'name': 'avoid_obstacle', 'priority': 10}
        assert (await client.post('/interrupt', json=urgent)).status_code == 201
        known = (await client.get('/tasks')).json()
        assert [each['name'] for each in known] == ['pour_water', 'avoid_obstacle']
        assert (await client.get(f'/tasks/{task["id"]}')).status_code == 200
        assert (await client.get('/tasks/missing')).status_code == 404
        assert (await client.delete(f'/tasks/{task["id"]}')).json()['state'] == 'cancelled'
        assert (await client.delete('/tasks/missing')).status_code == 404
    await runner.stop()
