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
import pytest
from skill_world import (
    crash,
    ended,
    in_loop,
    looping,
    reaches,
    Stage,
    staged,
    states,
    stored,
    titled,
)


async def raises(task: Task) -> None:
    raise ValueError('no\nwater')


async def cancels_itself(task: Task) -> None:
    raise asyncio.CancelledError


async def spoils(task: Task) -> None:
    task.metadata['n'] = {1, 2}


@pytest.mark.parametrize(
    ('name', 'reason'),
    [
        ('raises', 'ValueError: no water'),
        ('cancels_itself', 'its skill was cancelled by itself'),
        ('spoils', "metadata['n'] holds a set"),
        ('dance', "there is no skill 'dance'; registered: cancels_itself, raises, spoils"),
    ],
)
@in_loop
async def test_a_skill_that_fails_says_why_and_the_next_one_runs(name: str, reason: str):
    runner = SkillRunner(':memory:')
    for skill in (raises, cancels_itself, spoils):
        runner.skill(skill.__name__)(skill)
    async with looping(runner):
        for task in [await runner.submit(Task(name, metadata={'n': 1})) for _ in range(2)]:
            await ended(runner, task)
            assert states(runner, task) == [S.PENDING, S.ACTIVE, S.FAILED]
            assert reason in task.reason
            assert task.metadata == {'n': 1}


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
        log.append(f'avoid while {stored(tmp_path / "robot.db", pouring)}')

    async with looping(runner):
        pouring = await runner.submit(Task('pour_water', 3))
        await gate.wait()
        avoiding = await runner.interrupt(Task('avoid', 10))
        assert 'clean-up' in log
        await ended(runner, avoiding)
        await ended(runner, pouring)
        assert log == ['move', 'clean-up', "avoid while ('paused', '{\"stage\":1}')", 'pour']
        assert states(runner, pouring) == [
            *(S.PENDING, S.ACTIVE, S.PAUSED, S.ACTIVE, S.COMPLETED),
        ]
        assert runner.history(pouring.id)[2].reason == f'interrupted by avoid {avoiding.id[:8]}'
        assert runner.counters['preempted'] == 1


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
    crash(tmp_path / 'robot.db')
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
    crash(tmp_path / 'robot.db')
    loop_task.cancel()

    again = Stage()
    async with looping(staged(tmp_path / 'robot.db', again, crash_policy='fail')) as runner:
        failed = await ended(runner, task)
        assert (failed.state, failed.reason) == (S.FAILED, 'the process ended while it ran')
        assert (await ended(runner, dependent)).state is S.CANCELLED
        assert again.log == []


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
