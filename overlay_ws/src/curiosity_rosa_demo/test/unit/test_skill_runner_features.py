# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a task may ask for: dependencies, times, retries, approval, and once only."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
import math
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.agent.tasks import LifecycleState as S
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.errors import BadTask, TaskError, UnknownTask
from curiosity_rosa_demo.agent.tasks.validation import backoff_s
import pytest
from skill_world import ended, in_loop, LONG_S, looping, Stage, staged, titled

BAD_TASKS: list[tuple[dict[str, Any], str]] = [
    ({'name': ' '}, 'name'),
    ({'id': ''}, 'id'),
    ({'id': 'twin'}, "already a task 'twin'"),
    ({'priority': 1001}, '-1000 to 1000'),
    ({'priority': True}, 'priority'),
    ({'priority': 1.5}, 'priority'),
    ({'deadline_s': 0.0}, 'deadline_s'),
    ({'deadline_s': math.inf}, 'deadline_s'),
    ({'deadline_s': math.nan}, 'deadline_s'),
    ({'max_retries': 101}, '0 to 100'),
    ({'not_before': datetime(2026, 1, 1)}, 'zone'),
    ({'resources': frozenset({'wings'})}, 'base'),
    ({'blocked_by': ('nobody',)}, 'nobody'),
    ({'id': 'me', 'blocked_by': ('me',)}, 'cycle'),
    ({'blocked_by': ['x']}, 'tuple'),
    ({'metadata': {'x': {1}}}, 'x'),
    ({'metadata': {'x': math.nan}}, 'x'),
    ({'idempotency_key': ''}, 'idempotency_key'),
    ({'name': 'lone \ud800'}, 'name'),
    ({'state': S.ACTIVE}, 'PENDING'),
]


@in_loop
async def test_a_bad_task_is_refused_and_leaves_nothing():
    runner = staged(':memory:', Stage())
    await runner.start()
    twin = await runner.submit(Task('job', id='twin'))
    for fields, words in BAD_TASKS:
        with pytest.raises(BadTask, match=words):
            await runner.submit(Task(**{'name': 'job', **fields}))
    assert runner.list_tasks() == [twin]
    await runner.stop()


@pytest.mark.parametrize('how', ['failed', 'was cancelled'])
@in_loop
async def test_what_waits_for_a_task_that_did_not_complete_is_cancelled_too(how: str):
    stage = Stage()
    async with looping(staged(':memory:', stage)) as runner:
        first = await runner.submit(Task('job'))
        second = await runner.submit(Task('job', blocked_by=(first.id,)))
        third = await runner.submit(Task('job', blocked_by=(second.id,)))
        await stage.until('begin job')
        if how == 'failed':
            stage.finish(first, RuntimeError('broken'))
        else:
            await runner.cancel(first.id)
        await ended(runner, third)
        late = await runner.submit(Task('job', blocked_by=(first.id,)))
        assert third.reason == f'blocked by {second.id[:8]}, which was cancelled'
        assert second.reason == late.reason == f'blocked by {first.id[:8]}, which {how}'
        assert {task.state for task in (second, third, late)} == {S.CANCELLED}


@in_loop
async def test_a_deadline_cancels_in_the_queue_fails_in_the_run_and_stands_in_a_pause():
    stage = Stage()
    async with looping(staged(':memory:', stage)) as runner:
        paused = await runner.submit(Task('look', deadline_s=0.2))
        await stage.until('begin look')
        await runner.pause(paused.id)
        used_s = paused.used_s
        running = await runner.submit(Task('job', deadline_s=0.3))
        queued = await runner.submit(titled('job', 'late', deadline_s=0.05))
        await ended(runner, running)
        assert stage.log[-2:] == ['begin job', 'cleanup job']
        assert (running.state, running.reason) == (S.FAILED, 'deadline of 0.3 s passed')
        assert queued.state is S.CANCELLED
        assert queued.reason == 'deadline of 0.05 s passed before it began'
        assert (paused.state, paused.used_s) == (S.PAUSED, used_s)
        await runner.resume(paused.id)
        await ended(runner, paused)
        assert (paused.state, paused.reason) == (S.FAILED, 'deadline of 0.2 s passed')


@in_loop
async def test_a_task_does_not_begin_before_its_time(tmp_path: Path):
    start = datetime.now(timezone.utc) + timedelta(seconds=0.3)
    begun: list[datetime] = []
    runner = SkillRunner(str(tmp_path / 't.db'))

    @runner.skill('job')
    async def job(task: Task) -> None:
        begun.append(datetime.now(timezone.utc))

    async with looping(runner):
        later = await runner.submit(Task('job', not_before=start + timedelta(hours=1)))
        assert later.state is S.WAITING
        assert later.reason.startswith('waiting until 20')
        await ended(runner, await runner.submit(Task('job', not_before=start)))
        assert len(begun) == 1
        assert begun[0] >= start


@in_loop
async def test_a_failed_skill_is_tried_again_while_retries_last():
    runner = SkillRunner(':memory:', retry_backoff_s=0.01)

    @runner.skill('job')
    async def job(task: Task) -> None:
        task.metadata['tries'] = task.metadata.get('tries', 0) + 1
        raise ValueError('no')

    async with looping(runner):
        task = await runner.submit(Task('job', max_retries=2))
        await ended(runner, task)
        assert (task.state, task.attempts, task.metadata) == (S.FAILED, 2, {'tries': 3})
        again = [row.reason for row in runner.history(task.id) if row.after is S.WAITING]
        assert again == [
            'ValueError: no; retry 1 of 2 in 0.01 s',
            'ValueError: no; retry 2 of 2 in 0.02 s',
        ]
        assert runner.counters['retried'] == 2


def test_the_backoff_doubles_up_to_a_minute():
    assert [backoff_s(1.0, n) for n in (0, 1, 5, 6, 100)] == [1.0, 2.0, 32.0, 60.0, 60.0]


@in_loop
async def test_the_same_key_is_one_task_even_at_the_same_moment_and_after_its_end(tmp_path: Path):
    stage = Stage()
    async with looping(staged(tmp_path / 't.db', stage)) as runner:
        tasks = await asyncio.gather(
            *[runner.submit(Task('job', idempotency_key='once')) for _ in range(3)]
        )
        assert len({id(task) for task in tasks}) == 1
        await stage.until('begin job')
        stage.finish(tasks[0])
        await ended(runner, tasks[0])
        assert await runner.submit(Task('job', idempotency_key='once')) is tasks[0]
    async with looping(staged(tmp_path / 't.db', stage)) as runner:
        again = await runner.submit(Task('job', idempotency_key='once'))
        assert (again.id, again.state) == (tasks[0].id, S.COMPLETED)


@pytest.mark.parametrize(('approved', 'refusal'), [(True, 'approval'), (False, 'ended')])
@in_loop
async def test_a_task_that_needs_approval_waits_for_it(approved: bool, refusal: str):
    stage = Stage()
    async with looping(staged(':memory:', stage)) as runner:
        task = Task('job', needs_approval=True)
        with pytest.raises(BadTask, match='needs_approval is set; what cannot begin now'):
            await runner.interrupt(task)
        await runner.submit(task)
        assert (task.state, task.reason) == (S.WAITING, 'waiting for approval')
        await runner.approve(task.id, approved, 'too far')
        if approved:
            await stage.until('begin job')
        else:
            assert (task.state, task.reason) == (S.CANCELLED, 'too far')
        with pytest.raises(TaskError, match=refusal):
            await runner.approve(task.id, True)


@in_loop
async def test_a_queued_task_can_be_reprioritised_and_a_running_one_not():
    stage = Stage()
    async with looping(staged(':memory:', stage)) as runner:
        first = await runner.submit(titled('job', 'first'))
        await runner.submit(titled('job', 'second'))
        third = await runner.submit(titled('job', 'third'))
        await runner.reprioritise(third.id, 9)
        assert third.priority == 9
        await stage.until('begin first')
        with pytest.raises(TaskError, match='ACTIVE'):
            await runner.reprioritise(first.id, 1)
        with pytest.raises(BadTask, match='1001'):
            await runner.reprioritise(third.id, 1001)
        stage.finish(first)
        await stage.until('begin third')
        assert 'begin second' not in stage.log


@in_loop
async def test_an_unknown_task_is_named_and_waiting_has_an_end():
    async with looping(staged(':memory:', Stage())) as runner:
        for request in (runner.cancel, runner.pause, runner.resume, runner.wait):
            with pytest.raises(UnknownTask, match='nobody'):
                await request('nobody')
        assert runner.get_task('nobody') is None
        with pytest.raises(UnknownTask):
            runner.history('nobody')
        task = await runner.submit(Task('job'))
        with pytest.raises(TimeoutError, match=r'ACTIVE|PENDING'):
            await runner.wait(task.id, 0.02)


def test_a_skill_is_checked_when_it_is_registered():
    runner = SkillRunner(':memory:')
    with pytest.raises(TypeError, match='async def'):
        runner.skill('job')(lambda task: None)  # type: ignore[type-var]

    async def job(task: Task) -> None: ...

    with pytest.raises(ValueError, match='wings'):
        runner.skill('job', resources=('wings',))(job)
    runner.skill('job')(job)
    with pytest.raises(ValueError, match='already'):
        runner.skill('job')(job)
    with pytest.raises(ValueError, match='crash_policy'):
        SkillRunner(':memory:', 'retry')  # type: ignore[arg-type]


@in_loop
async def test_before_the_start_and_after_the_stop_requests_are_refused():
    runner = staged(':memory:', Stage())
    for refused in (runner.cancel_all(), runner.pause('any'), runner.run_loop()):
        with pytest.raises(TaskError, match='start'):
            await refused
    await runner.start()
    loop_task = asyncio.create_task(runner.run_loop())
    task = await runner.submit(Task('job'))
    waiting = asyncio.create_task(runner.wait(task.id))
    await asyncio.sleep(0)
    await asyncio.gather(runner.stop(), runner.stop())
    with pytest.raises(TaskError, match='stopped'):
        await waiting
    await asyncio.wait_for(loop_task, LONG_S)
    with pytest.raises(TaskError, match='stopp'):
        await runner.submit(Task('job'))
    with pytest.raises(TaskError, match='new one'):
        await runner.start()
