# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Pause, gate, clean-up, recovery, events, races, and a file that cannot be written."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.agent.tasks import EventType, journal, SkillRunner, Task
from curiosity_rosa_demo.agent.tasks import LifecycleState as S
from curiosity_rosa_demo.agent.tasks.errors import BadTask, StoreError, StoreFull, TaskError
from full_disk import no_file_beyond
import pytest
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
async def test_a_hold_stops_all_that_it_does_not_allow_and_release_resumes_it():
    stage = Stage()
    async with looping(staged(':memory:', stage)) as runner:
        drive, look = await runner.submit(Task('drive')), await runner.submit(Task('look'))
        await stage.until('begin drive', 'begin look')
        await runner.hold('e-stop', lambda task: task.name in ('look', 'shoot'))
        assert (drive.state, drive.reason, drive.held) == (S.PAUSED, 'e-stop', False)
        assert look.state is S.ACTIVE
        shoot, think = await runner.submit(Task('shoot')), await runner.submit(Task('think'))
        await stage.until('begin shoot')
        urgent = await runner.interrupt(titled('look', 'urgent'))
        await stage.until('begin urgent')
        await runner.hold('all of it')
        assert {t.state for t in (drive, look, shoot, urgent)} == {S.PAUSED}
        assert think.state is S.PENDING
        await runner.release()
        await reaches(runner, think, S.ACTIVE)
        await reaches(runner, urgent, S.ACTIVE)
        await reaches(runner, drive, S.ACTIVE)


@in_loop
@pytest.mark.parametrize('stop', ['cancel', 'pause'])
async def test_a_skill_hears_who_stops_it(stop: str):
    runner, begun, heard = SkillRunner(':memory:'), asyncio.Event(), list[str]()

    @runner.skill('job')
    async def skill(task: Task) -> None:
        begun.set()
        try:
            await asyncio.sleep(LONG_S)
        except asyncio.CancelledError as cancelled:
            heard.append(str(cancelled))
            raise

    async with looping(runner):
        task = await runner.submit(Task('job'))
        await begun.wait()
        reason = 'Cancelled by the client of the action'
        assert await getattr(runner, stop)(task.id, reason) is True
        assert (heard, task.reason) == ([reason], reason)
        if stop == 'cancel':
            assert await runner.cancel(task.id) is False


@in_loop
async def test_a_skill_that_ignores_its_cancellation_is_abandoned():
    runner, free = SkillRunner(':memory:', cancel_grace_s=0.05), asyncio.Event()

    @runner.skill('stubborn')
    async def stubborn(task: Task) -> None:
        while not free.is_set():
            with suppress(asyncio.CancelledError):
                await free.wait()

    @runner.skill('next')
    async def following(task: Task) -> None: ...

    async with looping(runner):
        task = await runner.submit(Task('stubborn'))
        await reaches(runner, task, S.ACTIVE)
        assert await runner.cancel(task.id) is True
        assert (task.state, task.reason) == (S.FAILED, 'ignored its cancellation for 0.05 s')
        after = await runner.submit(Task('next'))
        await ended(runner, after)
        free.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert task.state is S.FAILED
        assert runner.counters['abandoned'] == 1


@in_loop
async def test_a_skill_that_returns_has_completed_unless_it_was_cancelled():
    runner = SkillRunner(':memory:')

    @runner.skill('deaf')
    async def deaf(task: Task) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return

    async with looping(runner):
        first, second = await runner.submit(Task('deaf')), await runner.submit(Task('deaf'))
        await reaches(runner, first, S.ACTIVE)
        await asyncio.sleep(0)
        with pytest.raises(TaskError, match='COMPLETED'):
            await runner.pause(first.id)
        await reaches(runner, second, S.ACTIVE)
        await asyncio.sleep(0)
        await runner.cancel(second.id)
        assert (first.state, second.state) == (S.COMPLETED, S.CANCELLED)


@in_loop
async def test_a_checkpoint_that_is_no_json_is_refused_and_the_last_good_is_kept():
    runner = SkillRunner(':memory:')

    @runner.skill('job')
    async def job(task: Task) -> None:
        task.metadata['n'] = 1
        await runner.checkpoint(task)
        task.metadata['n'] = {1, 2}
        with pytest.raises(BadTask, match='n'):
            await runner.checkpoint(task)

    async with looping(runner):
        task = await runner.submit(Task('job'))
        await ended(runner, task)
        assert (task.state, task.metadata) == (S.FAILED, {'n': 1})


@in_loop
async def test_a_skill_that_recovers_is_recovering_until_it_has_observed(tmp_path: Path):
    def made(stage: Stage, looked: asyncio.Event) -> SkillRunner:
        runner = SkillRunner(str(tmp_path / 't.db'))

        @runner.skill('job', recovers=True)
        async def job(task: Task) -> None:
            stage.note(f'begin {task.state.value}')
            if task.state is S.RECOVERING:
                await looked.wait()
                await runner.observed(task)
                stage.note(f'observed {task.state.value}')
            await asyncio.Event().wait()

        return runner

    stage, looked = Stage(), asyncio.Event()
    first = made(stage, looked)
    await first.start()
    loop_task = asyncio.create_task(first.run_loop())
    task = await first.submit(Task('job'))
    await stage.until('begin active')
    crash(tmp_path / 't.db')
    loop_task.cancel()

    stage = Stage()
    async with looping(made(stage, looked)) as runner:
        again = runner.get_task(task.id)
        assert again is not None
        await stage.until('begin recovering')
        assert again.state is S.RECOVERING
        await runner.pause(again.id)
        assert again.state is S.PAUSED
    stage = Stage()  # a pause, even over a restart, does not make it know its surroundings
    async with looping(made(stage, looked)) as runner:
        again = runner.get_task(task.id)
        assert again is not None
        await runner.resume(again.id)
        await stage.until('begin recovering')
        looked.set()
        await stage.until('observed active')
        assert again.state is S.ACTIVE


@in_loop
async def test_events_follow_the_commits(tmp_path: Path):
    stage = Stage()
    async with looping(staged(tmp_path / 't.db', stage)) as runner:
        events = runner.subscribe()
        task = await runner.submit(Task('job'))
        await stage.until('begin job')
        urgent = await runner.interrupt(titled('job', 'urgent'))
        await stage.until('begin urgent')
        stage.finish(urgent, ValueError('no'))
        await ended(runner, urgent)
        await runner.cancel(task.id)
        events.close()
        told = [(e.type, e.task_id, e.payload.get('after')) async for e in events]
        mine = [(kind, after) for kind, task_id, after in told if task_id == task.id]
        assert mine[:3] == [
            (EventType.TASK_SUBMIT, None),
            (EventType.TASK_STATE, S.ACTIVE),
            (EventType.TASK_STATE, S.PAUSED),
        ]
        assert mine[-1] == (EventType.TASK_CANCEL, S.CANCELLED)
        theirs = [kind for kind, task_id, _ in told if task_id == urgent.id]
        assert theirs == [EventType.INTERRUPT, EventType.TASK_STATE, EventType.TASK_FAIL]
        assert events.dropped == 0


@in_loop
async def test_a_file_that_cannot_be_written_stops_the_robot_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(journal, 'RETRY_PERIOD_S', 0.02)
    stage, told = Stage(), []
    runner: SkillRunner = staged(tmp_path / 't.db', stage, on_failure=told.append)
    async with looping(runner):
        drive, look = await runner.submit(Task('drive')), await runner.submit(Task('look'))
        await stage.until('begin drive', 'begin look')
        with no_file_beyond(0):
            with pytest.raises(StoreFull):
                await runner.submit(Task('shoot'))
            assert runner.failed is None  # nothing acknowledged is in danger
            stage.finish(drive)
            await stage.until('cleanup look')
            assert isinstance(runner.failed, StoreFull)
            assert told == [runner.failed]
            assert (drive.state, look.state) == (S.ACTIVE, S.ACTIVE)  # as committed
            with pytest.raises(StoreFull):
                await runner.submit(Task('shoot'))
            for _ in range(2):  # the second finds the record stuck
                with pytest.raises(StoreError):
                    await runner.cancel(look.id)
        await ended(runner, drive)
        await ended(runner, look)
        assert (drive.state, look.state) == (S.COMPLETED, S.CANCELLED)
        shoot = await runner.submit(Task('shoot'))
        await reaches(runner, shoot, S.ACTIVE)
        assert runner.failed is None


@in_loop
async def test_a_cancel_while_the_start_is_being_committed_keeps_the_skill_from_beginning():
    stage = Stage()
    async with looping(staged(':memory:', stage)) as runner:
        task = Task('job')
        submitting = asyncio.create_task(runner.submit(task))
        await asyncio.sleep(0)
        assert await runner.cancel_all('at once') == [task.id]
        await submitting
        assert states(runner, task) == [S.PENDING, S.ACTIVE, S.CANCELLED]
        assert stage.log == []


@in_loop
async def test_cancel_wins_over_a_pause_that_is_under_way():
    stage = Stage()
    async with looping(staged(':memory:', stage)) as runner:
        task = await runner.submit(Task('job'))
        await stage.until('begin job')
        pausing = asyncio.create_task(runner.pause(task.id))
        await asyncio.sleep(0)
        assert await runner.cancel(task.id) is True
        with pytest.raises(TaskError, match='CANCELLED'):
            await pausing
        assert task.state is S.CANCELLED


@in_loop
async def test_a_hold_while_a_task_completes_lets_it_complete():
    stage = Stage()
    async with looping(staged(':memory:', stage)) as runner:
        task = await runner.submit(Task('job'))
        await stage.until('begin job')
        stage.finish(task)
        await asyncio.sleep(0)  # the skill returns, and the runner has not heard of it
        await runner.hold('e-stop')
        assert task.state is S.COMPLETED


@in_loop
async def test_a_skill_may_submit_and_may_cancel_itself():
    runner = SkillRunner(':memory:')
    made: list[Task] = []

    @runner.skill('parent', resources=('base',))
    async def parent(task: Task) -> None:
        made.append(await runner.submit(Task('child')))
        await runner.wait(made[0].id, LONG_S)
        await runner.cancel(task.id, 'enough')

    @runner.skill('child', resources=('mast',))
    async def child(task: Task) -> None: ...

    async with looping(runner):
        task = await runner.submit(Task('parent'))
        await ended(runner, task)
        assert (made[0].state, task.state, task.reason) == (S.COMPLETED, S.CANCELLED, 'enough')


@in_loop
async def test_an_idle_runner_has_no_timer(monkeypatch: pytest.MonkeyPatch):
    loop, timers = asyncio.get_running_loop(), list[asyncio.TimerHandle]()
    call_at = loop.call_at

    def noted(*args: Any, **options: Any) -> asyncio.TimerHandle:
        timers.append(call_at(*args, **options))
        return timers[-1]

    monkeypatch.setattr(loop, 'call_at', noted)
    async with looping(staged(':memory:', Stage())) as runner:
        task = await runner.submit(Task('job', needs_approval=True))
        await runner.pause(task.id)
        assert all(timer.cancelled() for timer in timers)
