# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The SkillRunner: the scenarios of the design, requests, restarts, a bad file, its queue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing, nullcontext
from datetime import datetime, timedelta, timezone
import math
from pathlib import Path
import runpy
import shutil
import sqlite3
from typing import Any

from curiosity_rosa_demo.agent.tasks import commits, SkillRunner, table, Task
from curiosity_rosa_demo.agent.tasks import LifecycleState as S
from curiosity_rosa_demo.agent.tasks.order import Rank, rank_of, ReadyQueue
from curiosity_rosa_demo.agent.tasks.rows import Change
from curiosity_rosa_demo.agent.tasks.runs import SkillRuns
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.task import (
    BadTask,
    CannotBeCancelled,
    StoreError,
    TaskError,
    UnknownTask,
)
from http_world import running, state_of
import pytest
from skill_world import (
    crash,
    ended,
    in_loop,
    LONG_S,
    looping,
    no_file_beyond,
    reaches,
    Stage,
    staged,
    states,
    titled,
)


@asynccontextmanager
async def crashing(
    path: Path, runner: SkillRunner, *, loops: bool = True
) -> AsyncIterator[SkillRunner]:
    """A runner whose process dies at the end of the block."""
    await runner.start()
    loop_task = asyncio.create_task(runner.run_loop() if loops else asyncio.sleep(0))
    yield runner
    crash(path)
    loop_task.cancel()


def known(runner: SkillRunner, task: Task) -> Task:
    again = runner.get_task(task.id)
    assert again is not None
    return again


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
async def test_what_ran_in_a_crash_resumes_from_its_checkpoint_or_with_the_policy_fail_has_failed(
    tmp_path: Path,
) -> None:
    path, stage = tmp_path / 'robot.db', Stage()
    async with crashing(path, staged(path, stage)) as runner:
        task = await runner.submit(titled('job', 'a'))
        dependent = await runner.submit(titled('job', 'b', blocked_by=(task.id,)))
        paused = await runner.submit(Task('job'))
        await runner.pause(paused.id, 'lunch')
        await stage.until('begin a')
        task.metadata['stage'] = 2
        await runner.checkpoint(task)
        task.metadata['stage'] = 3
    copy, stage = shutil.copy(path, tmp_path / 'copy.db'), Stage()
    async with looping(staged(copy, stage, crash_policy='fail')) as runner:
        failed = await ended(runner, task)
        assert (failed.state, failed.reason) == (S.FAILED, 'the process ended while it ran')
        assert (await ended(runner, dependent)).state is S.CANCELLED
        again = known(runner, paused)
        assert (again.state, again.held, again.reason) == (S.PENDING, True, 'lunch')
        assert stage.log == []
    notes = []
    for _ in range(2):  # nobody lets it run
        async with crashing(path, staged(path, Stage()), loops=False) as runner:
            notes.append([note for note in runner.notes if task.id in note])
    told = f'task job {task.id} was active when the process ended; it is queued again'
    assert notes == [[told], []]
    async with looping(staged(path, stage)) as runner:
        await stage.until('begin a')
        resumed = known(runner, task)
        assert resumed.metadata == {'title': 'a', 'stage': 2}
        stage.finish(resumed)
        await ended(runner, resumed)
        after = [S.PENDING, S.ACTIVE, S.RECOVERING, S.ACTIVE, S.COMPLETED]
        assert states(runner, resumed) == after
        await stage.until('begin b')
        assert known(runner, dependent).state is S.ACTIVE


@in_loop
async def test_a_skill_that_recovers_is_recovering_until_it_has_observed(tmp_path: Path):
    looked = asyncio.Event()

    def made(stage: Stage) -> SkillRunner:
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

    stage = Stage()
    async with crashing(tmp_path / 't.db', made(Stage())) as runner:
        task = await runner.submit(Task('job'))
        await reaches(runner, task, S.ACTIVE)
    async with looping(made(stage)) as runner:
        await stage.until('begin recovering')
        assert known(runner, task).state is S.RECOVERING
        await runner.pause(task.id)
        assert known(runner, task).state is S.PAUSED
    stage = Stage()  # a pause, even over a restart, does not make it know its surroundings
    async with looping(made(stage)) as runner:
        await runner.resume(task.id)
        await stage.until('begin recovering')
        looked.set()
        await stage.until('observed active')
        assert known(runner, task).state is S.ACTIVE


@in_loop
async def test_a_file_that_cannot_be_written_stops_the_robot_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(commits, 'RETRY_PERIOD_S', 0.02)
    stage, told = Stage(), []
    runner: SkillRunner = staged(tmp_path / 't.db', stage, on_failure=told.append)
    async with looping(runner):
        drive, look = await runner.submit(Task('drive')), await runner.submit(Task('look'))
        await stage.until('begin drive', 'begin look')
        with no_file_beyond(0):
            with pytest.raises(StoreError, match='free some space'):
                await runner.submit(Task('shoot'))
            assert runner.failed is None  # nothing acknowledged is in danger
            stage.finish(drive)
            await stage.until('cleanup look')
            assert 'free some space' in str(runner.failed)
            assert told == [runner.failed]
            assert (drive.state, look.state) == (S.ACTIVE, S.ACTIVE)  # as committed
            with pytest.raises(StoreError, match='free some space'):
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


END_IT: dict[str, tuple[Callable[[SkillRunner, str], Awaitable[object]], S]] = {
    'no': (lambda runner, task_id: runner.approve(task_id, False), S.CANCELLED),
    'cancel': (lambda runner, task_id: runner.cancel(task_id), S.CANCELLED),
    'stop': (lambda runner, task_id: runner.cancel_all(), S.CANCELLED),
    'pause': (lambda runner, task_id: runner.pause(task_id), S.PAUSED),
}


@pytest.mark.parametrize('how', END_IT)
@in_loop
async def test_on_a_full_disk_nobody_waits_for_the_end_of_a_skill_that_could_not_begin(
    tmp_path: Path, how: str
) -> None:
    stage, (end, state) = Stage(), END_IT[how]
    async with looping(staged(tmp_path / 't.db', stage)) as runner:
        task = await runner.submit(Task('look', needs_approval=True))
        with no_file_beyond(0):
            with pytest.raises(StoreError):
                await runner.approve(task.id, True)
            assert task.state is S.WAITING  # as committed
            with pytest.raises(StoreError):
                await asyncio.wait_for(end(runner, task.id), LONG_S)
        await reaches(runner, task, state)
        assert stage.log == []


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
async def test_what_comes_while_a_commit_runs_is_one_commit() -> None:
    writes: list[int] = []

    class Store(TaskStore):
        def write(self, changes: Sequence[Change]) -> asyncio.Future[None]:
            writes.append(len(changes))
            return super().write(changes)

    async def noop(task: Task) -> None: ...

    runner = SkillRunner(store=Store(':memory:'))
    runner.skill('noop', resources=())(noop)
    async with looping(runner):
        made = await asyncio.gather(*(runner.submit(Task('noop')) for _ in range(100)))
        await asyncio.gather(*(ended(runner, task) for task in made))
    assert sum(writes) == 300  # PENDING, ACTIVE, COMPLETED
    assert len(writes) < 20


BAD_TASKS: list[tuple[dict[str, Any], str]] = [
    ({'name': ' '}, 'name'),
    ({'id': ''}, 'id'),
    ({'id': 'twin'}, "already a task 'twin'"),
    ({'priority': 1001}, 'less than or equal to 1000'),
    ({'priority': True}, 'priority'),
    ({'priority': 1.5}, 'priority'),
    ({'deadline_s': 0.0}, 'deadline_s'),
    ({'deadline_s': math.inf}, 'deadline_s'),
    ({'deadline_s': math.nan}, 'deadline_s'),
    ({'max_retries': 101}, 'less than or equal to 100'),
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
async def test_a_bad_task_is_refused_an_unknown_one_is_named_and_waiting_has_an_end():
    async with looping(staged(':memory:', Stage())) as runner:
        twin = await runner.submit(Task('job', id='twin'))
        for fields, words in BAD_TASKS:
            with pytest.raises(BadTask, match=words):
                await runner.submit(Task(**{'name': 'job', **fields}))
        assert runner.list_tasks() == [twin]
        for request in (runner.cancel, runner.pause, runner.resume, runner.wait):
            with pytest.raises(UnknownTask, match='nobody'):
                await request('nobody')
        assert runner.get_task('nobody') is None
        with pytest.raises(UnknownTask):
            runner.history('nobody')
        with pytest.raises(TimeoutError, match=r'ACTIVE|PENDING'):
            await runner.wait(twin.id, 0.02)


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
    commits: Any = None
    runs = SkillRuns(commits, commits, (), cancel_grace_s=1.0, retry_backoff_s=1.0)
    assert [runs.backoff_s(n) for n in (0, 1, 5, 6, 100)] == [1.0, 2.0, 32.0, 60.0, 60.0]


def test_a_skill_is_checked_when_it_is_registered():
    runner = SkillRunner(':memory:')

    async def job(task: Task) -> None: ...

    runner.register('job', job)
    for error, told, register in (
        (TypeError, 'async def', lambda: runner.skill('x')(lambda task: None)),
        (ValueError, 'wings', lambda: runner.skill('x', resources=('wings',))(job)),
        (ValueError, 'already', lambda: runner.skill('job')(job)),
        (ValueError, 'crash_policy', lambda: SkillRunner(':memory:', 'retry')),
    ):
        with pytest.raises(error, match=told):
            register()


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
    with pytest.raises(TaskError, match='The runner is stopped'):
        await runner.start()


REFUSAL = 'firm cannot be cancelled; it ends by itself, or :stop ends it'


def runner_of(stage: Stage) -> SkillRunner:
    """With a skill that can be cancelled, and one that cannot."""
    runner = SkillRunner(':memory:', retry_backoff_s=0.01)
    runner.skill('soft', resources=('mast',))(stage.play)
    runner.skill('firm', resources=('mast',), cancel_supported=False)(stage.play)
    return runner


async def ask(runner: SkillRunner, how: str, task: Task) -> None:
    """What somebody asks for while ``task`` runs."""
    requests = {
        'pause': lambda: runner.pause(task.id),
        'interrupt': lambda: runner.interrupt(titled('soft', 'urgent', 9)),
        'cancel': lambda: runner.cancel(task.id),
        'hold': lambda: runner.hold('e-stop'),
        'stop': lambda: runner.cancel_all('stop'),
        'deadline': lambda: ended(runner, task),
    }
    firm = (how, task.name) == ('cancel', 'firm')
    with pytest.raises(CannotBeCancelled, match=REFUSAL) if firm else nullcontext():
        await requests[how]()


ENDS = {
    'pause': (S.PAUSED, S.ACTIVE),
    'interrupt': (S.PAUSED, S.ACTIVE),
    'cancel': (S.CANCELLED, S.ACTIVE),
    'hold': (S.PAUSED, S.PAUSED),
    'stop': (S.CANCELLED, S.CANCELLED),
    'deadline': (S.FAILED, S.FAILED),
}


@pytest.mark.parametrize('paused', [False, True])
@pytest.mark.parametrize('how', ENDS)
@in_loop
async def test_what_stops_a_skill(how: str, paused: bool) -> None:
    """``paused``: a pause waits for the end of what cannot be cancelled."""
    for name, after in list(zip(('soft', 'firm'), ENDS[how], strict=True))[paused:]:
        stage = Stage()
        async with looping(runner_of(stage)) as runner:
            deadline_s = 0.05 if how == 'deadline' else None
            task = await runner.submit(titled(name, 'job', deadline_s=deadline_s))
            await stage.until('begin job')
            if paused:
                assert await runner.pause(task.id) is False
            await ask(runner, how, task)
            assert task.state is after, name
            assert ('cleanup job' in stage.log) is (after is not S.ACTIVE)
            if after is S.ACTIVE:
                assert 'begin urgent' not in stage.log
                stage.finish(task)
                assert (await ended(runner, task)).state is S.COMPLETED
            elif how != 'pause':
                assert task.held is (paused and after is S.PAUSED)
            if how == 'interrupt':
                await stage.until('begin urgent')


SLACK_S = 30.0  # more than a test takes


@in_loop
async def test_a_clock_that_is_set_forward_delays_no_task(monkeypatch: pytest.MonkeyPatch):
    """As at the first contact with a time server after power-on."""
    behind = timedelta(hours=2)
    true_time = datetime.now(timezone.utc)
    monkeypatch.setattr(table, 'now', lambda: datetime.now(timezone.utc) - behind)
    monkeypatch.setattr(table, 'CHECK_PERIOD_S', 0.05)
    stage = Stage()
    async with looping(staged(':memory:', stage)) as runner:
        task = await runner.submit(Task('job', not_before=true_time))
        assert task.state is S.WAITING
        behind = timedelta()
        await stage.until('begin job')


def let_pass(path: Path, seconds: float) -> None:
    """While no process runs: everything in the file is so much older."""
    with closing(sqlite3.connect(path)) as file, file:
        file.execute('UPDATE task SET updated_at = updated_at - ?', (round(1e6 * seconds),))


@pytest.mark.parametrize('passed_s', [0.0, 400.0, -400.0, 1001.0])
@in_loop
async def test_time_without_a_process_counts_for_the_deadline_but_not_in_a_pause_nor_backwards(
    tmp_path: Path, passed_s: float
):
    path, stage = tmp_path / 't.db', Stage()
    async with crashing(path, staged(path, stage)) as runner:
        names = ('drive', 'look', 'drive')
        made = [await runner.submit(Task(name, deadline_s=1000.0)) for name in names]
        await stage.until('begin drive', 'begin look')
        await runner.pause(made[1].id)
        paused_s = made[1].used_s
    let_pass(path, passed_s)
    stage = Stage()
    async with looping(staged(path, stage)) as runner:
        drive, look, queued = [known(runner, task) for task in made]
        assert (look.state, look.used_s) == (S.PAUSED, paused_s)
        if passed_s > 1000.0:
            await ended(runner, drive)
            await ended(runner, queued)
            assert (drive.state, drive.reason) == (S.FAILED, 'deadline of 1000 s passed')
            assert queued.state is S.CANCELLED
            assert queued.reason == 'deadline of 1000 s passed before it began'
            return
        await stage.until('begin drive')
        await runner.pause(drive.id)
        assert max(0.0, passed_s) <= drive.used_s <= max(0.0, passed_s) + SLACK_S


@pytest.mark.parametrize(
    ('backoff_s', 'passed_s', 'begins'),
    [
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


EXAMPLES = Path(__file__).resolve().parents[5] / 'examples'


def test_the_interrupted_task_goes_on_where_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / 'interrupt_demo.py'), run_name='__main__')
    told = capsys.readouterr().out.splitlines()
    cups = [line for line in told if line.startswith('pour_water: cup')]
    assert cups == [f'pour_water: cup {number} of 4' for number in range(1, 5)]
    assert sorted(set(told) - set(cups)) == [
        'avoid_obstacle: COMPLETED',
        'avoid_obstacle: the rover waits',
        'avoid_obstacle: the way is free',
        'pour_water: COMPLETED',
        'pour_water: PAUSED',
    ]
    assert told.index('avoid_obstacle: the way is free') < told.index(cups[-1])


@in_loop
async def test_the_server_runs_and_interrupts_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # for its database
    runner = runpy.run_path(str(EXAMPLES / 'server_demo.py'))['runner']
    async with running(runner) as http:
        water = (await http.post('/tasks', json={'name': 'pour_water'})).json()
        await state_of(http, water['id'], 'active')
        obstacle = await http.post('/interrupt', json={'name': 'avoid_obstacle', 'priority': 10})
        assert obstacle.status_code == 201
        await state_of(http, water['id'], 'paused')
        answer = (await http.delete(f'/tasks/{water["id"]}')).json()
        assert (answer['state'], answer['cancelled']) == ('cancelled', True)


def rank(priority: int = 3, *, urgent: bool = False) -> Rank:
    return rank_of(Task('x', priority, urgent=urgent), 0.0)


@pytest.mark.parametrize('ageing_s', [10.0, 600.0])
def test_waiting_for_ageing_s_counts_as_one_step_of_priority(ageing_s: float):
    def at(priority: int, waited_steps: float, counted_s: float = ageing_s) -> Rank:
        created = datetime(2026, 11, 22) - timedelta(seconds=waited_steps * ageing_s)
        return rank_of(Task('x', priority, created_at=created), counted_s)

    assert at(3, 1.1) < at(4, 0.0) < at(3, 0.9)
    assert at(3, 9999.0, 0.0) == at(3, 0.0, 0.0)  # without ageing


def test_a_decision_costs_no_more_than_the_logarithm():
    compared = 0

    class Place(tuple):
        def __lt__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return tuple.__lt__(self, other)

    made = ReadyQueue()
    for number in range(40_000):
        place: Any = Place((rank(number % 50), True, number))
        made.add(str(number), place, frozenset({'base' if number % 2 else 'mast'}))
    compared = 0
    for _ in range(100):
        assert made.pop_next() is not None
        made.free(frozenset({'base', 'mast'}))
    assert compared < 100 * 60  # twice log2(20,000) and the heads of two lanes
