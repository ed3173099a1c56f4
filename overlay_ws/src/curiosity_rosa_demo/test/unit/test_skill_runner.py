# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The ten scenarios of the design, and the order in which things begin."""

from __future__ import annotations

import asyncio
from pathlib import Path

from curiosity_rosa_demo.agent.tasks import LifecycleState as S
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
from skill_world import (
    crash,
    ended,
    in_loop,
    LONG_S,
    looping,
    reaches,
    Stage,
    staged,
    states,
    titled,
)


@in_loop
async def test_a_skill_that_returns_completes_its_task(tmp_path: Path):
    runner = SkillRunner(db_path=str(tmp_path / 'robot.db'))
    seen = []

    @runner.skill('pour_water')
    async def pour_water(task: Task) -> None:
        seen.append(task.state)

    async with looping(runner):
        task = await runner.submit(Task('pour_water', 3))
        assert (await ended(runner, task)) is task
        assert (task.state, seen) == (S.COMPLETED, [S.ACTIVE])
        assert states(runner, task) == [S.PENDING, S.ACTIVE, S.COMPLETED]


@in_loop
async def test_a_skill_that_raises_fails_its_task_and_says_why(tmp_path: Path):
    stage = Stage()
    async with looping(staged(tmp_path / 'robot.db', stage)) as runner:
        task = await runner.submit(titled('job', 'a'))
        await stage.until('begin a')
        stage.finish(task, ValueError('no\nwater'))
        await ended(runner, task)
        assert (task.state, task.reason) == (S.FAILED, 'ValueError: no water')


@in_loop
async def test_a_task_without_a_skill_fails_naming_it_and_those_there_are(tmp_path: Path):
    async with looping(staged(tmp_path / 'robot.db', Stage())) as runner:
        task = await runner.submit(Task('dance'))
        after = await runner.submit(Task('dance'))
        await ended(runner, task)
        await ended(runner, after)
        assert task.state is S.FAILED
        assert task.reason == (
            "there is no skill 'dance'; registered: drive, job, look, shoot, think, tour"
        )
        assert states(runner, task) == [S.PENDING, S.ACTIVE, S.FAILED]


@in_loop
async def test_an_interrupt_pauses_what_runs_and_it_resumes_from_its_metadata(tmp_path: Path):
    runner, log, gate = SkillRunner(db_path=str(tmp_path / 'robot.db')), [], asyncio.Event()

    @runner.skill('pour_water')
    async def pour_water(task: Task) -> None:
        if task.metadata.get('stage', 0) < 1:
            task.metadata['stage'] = 1
            log.append('move')
            gate.set()
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                log.append('clean-up')
        log.append('pour')

    @runner.skill('avoid')
    async def avoid(task: Task) -> None:
        stored = runner._store.get(pouring.id)
        assert stored is not None
        log.append(f'avoid while {stored.state.value} at {stored.metadata}')

    async with looping(runner):
        pouring = await runner.submit(Task('pour_water', 3))
        await gate.wait()
        avoiding = await runner.interrupt(Task('avoid', 10))
        assert 'clean-up' in log
        await ended(runner, avoiding)
        await ended(runner, pouring)
        assert log == ['move', 'clean-up', "avoid while paused at {'stage': 1}", 'pour']
        assert states(runner, pouring) == [
            *(S.PENDING, S.ACTIVE, S.PAUSED, S.ACTIVE, S.COMPLETED),
        ]
        assert runner.history(pouring.id)[2].reason == f'interrupted by avoid {avoiding.id[:8]}'
        assert runner.counters['preempted'] == 1


@in_loop
async def test_the_queue_runs_by_priority_then_in_order_of_submission(tmp_path: Path):
    order = []
    runner = SkillRunner(db_path=str(tmp_path / 'robot.db'))

    @runner.skill('step')
    async def step(task: Task) -> None:
        order.append(task.metadata['title'])

    await runner.start()
    tasks = [
        await runner.submit(titled('step', title, priority))
        for title, priority in (('low', 1), ('mid 1', 3), ('mid 2', 3), ('high', 5), ('mid 3', 3))
    ]
    loop_task = asyncio.create_task(runner.run_loop())
    for task in tasks:
        await ended(runner, task)
    assert order == ['high', 'mid 1', 'mid 2', 'mid 3', 'low']
    await runner.stop()
    await asyncio.wait_for(loop_task, LONG_S)


@in_loop
async def test_cancelling_what_runs_waits_for_its_clean_up(tmp_path: Path):
    stage = Stage()
    async with looping(staged(tmp_path / 'robot.db', stage)) as runner:
        task = await runner.submit(titled('job', 'a'))
        await stage.until('begin a')
        assert await runner.cancel(task.id, 'not wanted') is True
        assert stage.log == ['begin a', 'cleanup a']
        assert (task.state, task.reason) == (S.CANCELLED, 'not wanted')
        assert await runner.cancel(task.id) is False


@in_loop
async def test_cancelling_what_is_queued_keeps_it_from_ever_beginning(tmp_path: Path):
    stage = Stage()
    async with looping(staged(tmp_path / 'robot.db', stage)) as runner:
        first = await runner.submit(titled('job', 'a'))
        queued = await runner.submit(titled('job', 'b'))
        await runner.cancel(queued.id)
        assert queued.state is S.CANCELLED
        last = await runner.submit(titled('job', 'c'))
        stage.finish(first)
        await stage.until('begin c')
        stage.finish(last)
        await ended(runner, last)
        assert 'begin b' not in stage.log


@in_loop
async def test_after_a_crash_another_runner_resumes_from_the_checkpoint(tmp_path: Path):
    stage = Stage()
    first = staged(tmp_path / 'robot.db', stage)
    await first.start()
    loop_task = asyncio.create_task(first.run_loop())
    task = await first.submit(titled('job', 'a'))
    queued = await first.submit(titled('job', 'b'))
    await stage.until('begin a')
    task.metadata['stage'] = 2
    await first.checkpoint(task)
    task.metadata['stage'] = 3
    crash(first)
    loop_task.cancel()

    again = Stage()
    async with looping(staged(tmp_path / 'robot.db', again)) as runner:
        await again.until('begin a')
        resumed = runner.get_task(task.id)
        assert resumed is not None
        assert resumed.metadata == {'title': 'a', 'stage': 2}
        again.finish(resumed)
        await ended(runner, resumed)
        assert states(runner, resumed) == [
            *(S.PENDING, S.ACTIVE, S.RECOVERING, S.ACTIVE, S.COMPLETED),
        ]
        assert any(task.id in note for note in runner.notes)
        await again.until('begin b')
        assert runner.get_task(queued.id).state is S.ACTIVE  # type: ignore[union-attr]


@in_loop
async def test_with_the_policy_fail_what_ran_in_a_crash_has_failed(tmp_path: Path):
    stage = Stage()
    first = staged(tmp_path / 'robot.db', stage)
    await first.start()
    loop_task = asyncio.create_task(first.run_loop())
    task = await first.submit(titled('job', 'a'))
    dependent = await first.submit(titled('job', 'b', blocked_by=(task.id,)))
    await stage.until('begin a')
    crash(first)
    loop_task.cancel()

    again = Stage()
    async with looping(staged(tmp_path / 'robot.db', again, crash_policy='fail')) as runner:
        failed = await ended(runner, task)
        assert (failed.state, failed.reason) == (S.FAILED, 'the process ended while it ran')
        assert (await ended(runner, dependent)).state is S.CANCELLED
        assert again.log == []


@in_loop
async def test_a_task_can_be_queried_before_the_loop_runs(tmp_path: Path):
    runner = staged(tmp_path / 'robot.db', Stage())
    await runner.start()
    task = await runner.submit(Task('job', 3))
    assert runner.get_task(task.id) is task
    assert runner.list_tasks() == [task]
    assert task.state is S.PENDING
    await runner.stop()


@in_loop
async def test_tasks_with_disjoint_resources_run_side_by_side(tmp_path: Path):
    stage = Stage()
    async with looping(staged(tmp_path / 'robot.db', stage)) as runner:
        for name in ('drive', 'look', 'shoot', 'think', 'think'):
            await runner.submit(Task(name))
        blocked = await runner.submit(Task('tour'))
        await stage.until('begin drive', 'begin look', 'begin shoot', 'begin think')
        assert len(stage.playing) == 5
        assert blocked.state is S.PENDING


@in_loop
async def test_resources_of_the_task_go_before_those_of_its_skill(tmp_path: Path):
    stage = Stage()
    async with looping(staged(tmp_path / 'robot.db', stage)) as runner:
        await runner.submit(titled('job', 'a', resources=frozenset({'mast'})))
        await runner.submit(titled('job', 'b', resources=frozenset({'base'})))
        await stage.until('begin a', 'begin b')


@in_loop
async def test_an_interrupt_leaves_alone_what_it_does_not_need(tmp_path: Path):
    stage = Stage()
    async with looping(staged(tmp_path / 'robot.db', stage)) as runner:
        driving = await runner.submit(Task('drive'))
        looking = await runner.submit(Task('look', 900))
        await stage.until('begin drive', 'begin look')
        urgent = await runner.interrupt(titled('look', 'urgent', -5))
        await stage.until('begin urgent')
        assert (driving.state, looking.state) == (S.ACTIVE, S.PAUSED)
        stage.finish(urgent)
        await reaches(runner, looking, S.ACTIVE)
        assert stage.log.count('begin drive') == 1


@in_loop
async def test_a_second_interrupt_waits_for_an_equal_and_preempts_a_lower_one(tmp_path: Path):
    stage = Stage()
    async with looping(staged(tmp_path / 'robot.db', stage)) as runner:
        await runner.submit(titled('job', 'plain'))
        await stage.until('begin plain')
        first, equal, higher = await asyncio.gather(
            runner.interrupt(titled('job', 'first', 5)),
            runner.interrupt(titled('job', 'equal', 5)),
            runner.interrupt(titled('job', 'higher', 6)),
        )
        await stage.until('begin higher')
        stage.finish(higher)
        for title, task in (('first', first), ('equal', equal)):
            await stage.until(f'begin {title}')
            await reaches(runner, task, S.ACTIVE)
            stage.finish(task)
            await ended(runner, task)
        assert stage.log[0:2] == ['begin plain', 'cleanup plain']
        assert [line for line in stage.log if line.startswith('end')] == [
            *('end higher', 'end first', 'end equal'),
        ]
