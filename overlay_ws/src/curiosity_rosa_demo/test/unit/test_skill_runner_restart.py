# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a restart keeps: reasons, and the clocks of deadlines and retries; and what is listed."""

from __future__ import annotations

import asyncio
from pathlib import Path
import sqlite3

from curiosity_rosa_demo.agent.tasks import LifecycleState as S
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
import pytest
from skill_world import crash, ended, in_loop, looping, reaches, Stage, staged, titled

SLACK_S = 30.0  # more than a test takes


def let_pass(path: Path, seconds: float) -> None:
    """While no process runs: everything in the file is so much older."""
    with sqlite3.connect(path) as file:
        file.execute('UPDATE task SET updated_at = updated_at - ?', (round(1e6 * seconds),))
    file.close()


def known(runner: SkillRunner, task: Task) -> Task:
    again = runner.get_task(task.id)
    assert again is not None
    return again


@in_loop
async def test_the_reason_of_a_pause_in_the_queue_survives_a_restart(tmp_path: Path):
    path = tmp_path / 't.db'
    runner = staged(path, Stage())
    await runner.start()
    paused, resumed = await runner.submit(Task('job')), await runner.submit(Task('job'))
    await runner.pause(paused.id, 'lunch')
    await runner.pause(resumed.id, 'lunch')
    await runner.resume(resumed.id)
    crash(path)
    stage = Stage()
    async with looping(staged(path, stage)) as runner:
        paused, resumed = known(runner, paused), known(runner, resumed)
        assert (paused.state, paused.held, paused.reason) == (S.PENDING, True, 'lunch')
        assert (resumed.held, resumed.reason) == (False, '')
        await stage.until('begin job')
        assert resumed.state is S.ACTIVE
        await runner.resume(paused.id)
        assert (paused.held, paused.reason) == (False, '')


@in_loop
async def test_the_file_says_what_a_task_waits_for_now(tmp_path: Path):
    path, stage = tmp_path / 't.db', Stage()
    async with looping(staged(path, stage)) as runner:
        drive, look = await runner.submit(Task('drive')), await runner.submit(Task('look'))
        task = await runner.submit(Task('think', blocked_by=(drive.id, look.id)))
        await stage.until('begin drive', 'begin look')
        first, second = sorted((drive, look), key=lambda blocker: blocker.id)
        assert task.reason == f'waiting for {first.name} {first.id[:8]}'
        stage.finish(first)
        await ended(runner, first)
        await runner.pause(second.id)  # its commit comes after that of the reason
    with sqlite3.connect(path) as file:
        [(reason,)] = file.execute('SELECT reason FROM task WHERE id = ?', (task.id,))
    file.close()
    assert reason == f'waiting for {second.name} {second.id[:8]}'


@pytest.mark.parametrize(('passed_s', 'used_s'), [(0.0, 0.0), (400.0, 400.0), (-400.0, 0.0)])
@in_loop
async def test_time_without_a_process_counts_for_the_deadline_but_a_clock_set_back_does_not(
    tmp_path: Path, passed_s: float, used_s: float
):
    path = tmp_path / 't.db'
    runner = staged(path, Stage())
    await runner.start()
    task = await runner.submit(Task('job', deadline_s=1000.0))
    crash(path)
    let_pass(path, passed_s)
    stage = Stage()
    async with looping(staged(path, stage)) as runner:
        await stage.until('begin job')
        await runner.pause(task.id)
        task = known(runner, task)
        assert used_s <= task.used_s <= used_s + SLACK_S


@in_loop
async def test_a_deadline_that_passed_without_a_process_ends_what_was_not_paused(tmp_path: Path):
    path, stage = tmp_path / 't.db', Stage()
    runner = staged(path, stage)
    await runner.start()
    loop_task = asyncio.create_task(runner.run_loop())
    drive = await runner.submit(Task('drive', deadline_s=1000.0))
    look = await runner.submit(Task('look', deadline_s=1000.0))
    queued = await runner.submit(Task('drive', deadline_s=1000.0))
    await stage.until('begin drive', 'begin look')
    await runner.pause(look.id)
    used_s = look.used_s
    crash(path)
    loop_task.cancel()
    let_pass(path, 1001.0)
    runner = staged(path, Stage())
    await runner.start()
    drive, look, queued = [known(runner, task) for task in (drive, look, queued)]
    await ended(runner, drive)
    await ended(runner, queued)
    assert (drive.state, drive.reason) == (S.FAILED, 'deadline of 1000 s passed')
    assert queued.state is S.CANCELLED
    assert queued.reason == 'deadline of 1000 s passed before it began'
    await runner.resume(look.id)  # commits its clock
    assert (look.state, look.used_s) == (S.PAUSED, used_s)
    await runner.stop()


@pytest.mark.parametrize(
    ('backoff_s', 'passed_s', 'begins'),
    [
        (60.0, 0.0, False),
        (60.0, 20.0, False),
        (60.0, 59.8, True),  # after the rest
        (60.0, 61.0, True),
        (0.2, -400.0, True),  # a clock that was set back makes it no longer
    ],
)
@in_loop
async def test_a_retry_waits_for_the_rest_of_its_backoff_after_a_restart(
    tmp_path: Path, backoff_s: float, passed_s: float, begins: bool
):
    path, stage = tmp_path / 't.db', Stage()
    async with looping(staged(path, stage, retry_backoff_s=60.0)) as runner:
        task = await runner.submit(Task('job', max_retries=1))
        await stage.until('begin job')
        stage.finish(task, ValueError('no'))
        await reaches(runner, task, S.WAITING)
    let_pass(path, passed_s)
    stage = Stage()
    async with looping(staged(path, stage, retry_backoff_s=backoff_s)) as runner:
        task = known(runner, task)
        if begins:
            await stage.until('begin job')
            stage.finish(task, ValueError('again'))
            await ended(runner, task)
            assert (task.state, task.reason) == (S.FAILED, 'ValueError: again')
        else:
            assert (task.state, task.attempts) == (S.WAITING, 1)
            assert task.reason == 'ValueError: no; retry 1 of 1 in 60 s'
            assert stage.log == []


@in_loop
async def test_the_live_are_listed_with_what_runs_first_and_no_more_than_asked_for():
    stage = Stage()
    async with looping(staged(':memory:', stage)) as runner:
        first = await runner.submit(Task('job'))
        await stage.until('begin job')
        queued = [await runner.submit(titled('job', str(number), number)) for number in range(4)]
        assert runner.live() == [first, *queued]
        stage.finish(first)
        await stage.until('begin 3')
        assert runner.live() == [queued[3], *queued[:3]]
        for limit in range(6):
            assert runner.live(limit) == [queued[3], *queued[:3]][:limit]
        await runner.cancel_all()
        assert runner.live() == []


def test_a_task_needs_its_own_resources_or_those_of_its_skill_or_all():
    runner = staged(':memory:', Stage())
    assert runner.needs(Task('tour')) == {'base', 'mast'}
    assert runner.needs(Task('tour', resources=frozenset())) == frozenset()
    assert runner.needs(Task('tour', resources=frozenset({'camera'}))) == {'camera'}
    assert runner.needs(Task('unheard of')) == {'base', 'mast', 'camera'}


@in_loop
async def test_a_restart_tells_of_an_interrupted_task_once(tmp_path: Path):
    path, stage = tmp_path / 't.db', Stage()
    first = staged(path, stage)
    await first.start()
    loop_task = asyncio.create_task(first.run_loop())
    task = await first.submit(Task('job'))
    await stage.until('begin job')
    notes = []
    for _ in range(3):
        crash(path)
        again = staged(path, Stage())
        await again.start()  # and nobody lets it run
        notes.append([note for note in again.notes if task.id in note])
    loop_task.cancel()
    assert notes == [
        [f'task job {task.id} was active when the process ended; it is queued again'],
        [],
        [],
    ]
    crash(path)
    stage = Stage()
    async with looping(staged(path, stage)) as runner:
        await stage.until('begin job')
        stage.finish(known(runner, task))
        await ended(runner, task)
