# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy alive, before a real runtime whose rover the test holds the strings of."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
import threading
from typing import Any

from autonomy_world import AutonomyBench, config_of, HOUR, MIN, TEN
from curiosity_rosa_demo.agent.policy.autonomy import runtime_port
from curiosity_rosa_demo.agent.policy.autonomy.activity_tasks import (
    MAX_MESSAGE_CHARS,
    MAX_MESSAGES,
    WakeReasons,
)
from curiosity_rosa_demo.agent.policy.autonomy.persistent_policy import PersistentPolicy
from curiosity_rosa_demo.agent.policy.autonomy.runtime_port import RuntimePort
from curiosity_rosa_demo.agent.policy.policy_store import PolicyStoreError
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.task import TaskError
from curiosity_rosa_demo.domain.plan.plan import Plan
import pytest
from runtime_world import settle


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[AutonomyBench]:
    with AutonomyBench(tmp_path) as bench:
        yield bench


def surveys(bench: AutonomyBench) -> None:
    """It was switched on, and its survey is at work."""
    bench.on()
    bench.goes_on('survey')
    bench.become('react', 'ACTIVE')
    assert bench.session.started.wait(20.0)


def nothing_begins(bench: AutonomyBench, hours: int = 3) -> None:
    """Whatever the hour: what waits for the clock would have been woken by it long ago."""
    ran, tasks = list(bench.session.ran), len(bench.runtime.list_tasks())
    for _ in range(hours):
        bench.at += HOUR
        for _ in range(2):  # its thread looks around after each answer
            bench.autonomy.status()
    assert bench.session.ran == ran
    assert len(bench.runtime.list_tasks()) == tasks


# --- a day ----------------------------------------------------------------------------------


def test_it_is_off_until_somebody_says_on(bench: AutonomyBench) -> None:
    assert bench.autonomy.status().answer == 'auto is off; :auto on switches it on'
    nothing_begins(bench)
    assert bench.on().startswith('auto is on: the rules of world_view.yaml decide')
    bench.goes_on('survey')
    assert bench.on() == 'auto is on already'


def test_what_is_due_begins_as_tasks_of_the_kernel_and_ends_properly(bench: AutonomyBench) -> None:
    surveys(bench)
    bench.replies('action.started: survey, by routine')
    task_id, plan = bench.session.turns[0]
    assert plan is not None
    assert [step.action for step in Plan.from_dict(plan).steps] == [
        'mast_open',
        'capture_and_score',
    ]
    assert task_id == bench.state.activity.task_ids[0]
    bench.become('activity', 'WAITING')
    bench.session.release.set()
    bench.become('activity', 'ACTIVE')
    bench.pass_time(19 * MIN)
    assert bench.activity == 'survey'
    bench.at += 2 * MIN
    bench.become('activity', 'COMPLETED')
    bench.goes_on('')
    bench.replies('action.ended: survey: done')
    assert bench.state.memory.ended['survey'] >= TEN + 20 * MIN
    assert bench.session.ran == ['answer: surveys the ground']
    bench.pass_time(HOUR)
    assert bench.session.ran == ['answer: surveys the ground']  # again after two hours
    bench.pass_time(HOUR)
    bench.goes_on('survey')
    told = bench.autonomy.decision_log(50).answer
    assert told.count('began survey, by the routine') == 2
    assert 'Tue 24 Nov 10:00' in told


# --- stops ----------------------------------------------------------------------------------


def test_a_stop_switches_it_off_and_nothing_begins_any_more(bench: AutonomyBench) -> None:
    surveys(bench)
    bench.console.handle_line(':stop')
    bench.replies('auto is off: stopped by the operator; :auto on switches it on')
    bench.become('react', 'CANCELLED')
    bench.become('activity', 'CANCELLED')
    nothing_begins(bench)
    assert bench.state.activity is None
    assert not bench.kept(lambda kept: kept.was_on)
    bench.on()
    bench.until(lambda: bench.activity == 'sleep' or bench.states('react')[1:], 'it to begin')


@pytest.mark.parametrize('where', ['observe', 'rebuild', 'store_tick', 'submit_task', 'submit'])
def test_a_stop_at_any_moment_of_a_tick_leaves_nothing_that_begins(
    bench: AutonomyBench, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner: Any = {
        'observe': RuntimePort,
        'store_tick': PersistentPolicy,
        'rebuild': PersistentPolicy,
        'submit_task': bench.runtime,
        'submit': bench.runtime.runner,
    }[where]
    real, stopped = getattr(owner, where), []

    def stop_first(*arguments: Any, **named: Any) -> Any:
        if not stopped:
            stopped.append(where)
            bench.runtime.stop('the test')
        return real(*arguments, **named)

    monkeypatch.setattr(owner, where, stop_first)
    bench.autonomy.switch_on()
    bench.until(lambda: stopped, 'the stop')
    bench.until(lambda: not bench.is_on, 'it to be off')
    bench.runtime.call(settle())
    nothing_begins(bench)
    live = [task for task in bench.runtime.list_tasks() if not task.terminal]
    assert live == []
    assert bench.session.ran == []
    assert bench.state.activity is None


def test_a_tick_between_the_beginning_of_a_stop_and_its_telling_begins_nothing(
    bench: AutonomyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    surveys(bench)
    bench.session.release.set()
    bench.become('activity', 'ACTIVE')
    bench.at += 21 * MIN
    bench.goes_on('')
    hold = bench.runtime._blocking.hold

    def slowly(reason: str) -> Callable[[], None]:
        bench.at += 2 * HOUR
        bench.goes_on('survey')
        bench.autonomy.status()  # what it wants was carried out
        return hold(reason)

    monkeypatch.setattr(bench.runtime._blocking, 'hold', slowly)
    bench.runtime.stop('the operator')
    bench.replies('auto is off: stopped by the operator')
    bench.runtime.call(settle())
    assert bench.states('react') == ['COMPLETED']
    assert len(bench.session.ran) == 1


def test_an_activity_that_waited_too_long_for_its_turn_never_begins(
    bench: AutonomyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_port, 'CALL_TIMEOUT_S', 0.3)
    mended, asked, submit = threading.Event(), list[str](), bench.runtime.runner.submit

    async def slowly(task: Task) -> Task:
        asked.append(task.name)
        await asyncio.to_thread(mended.wait, 20.0)
        return await submit(task)

    monkeypatch.setattr(bench.runtime.runner, 'submit', slowly)
    bench.session.release.set()
    bench.console.handle_line(':cap')
    bench.until(lambda: asked, 'the task before it')
    bench.autonomy.switch_on()
    bench.replies('was not taken within')
    bench.autonomy.switch_off('the test')
    mended.set()
    bench.finish()
    bench.runtime.call(settle())
    assert asked == bench.session.ran == ['capture_and_score']


def test_an_internal_failure_of_the_runtime_switches_it_off_for_good(bench: AutonomyBench) -> None:
    surveys(bench)
    bench.in_loop(bench.runtime._on_job_error, RuntimeError('torn'))
    bench.replies('auto is off: stopped by an internal error')
    outcome = bench.autonomy.switch_on()
    assert not outcome.ok
    assert 'an internal error: RuntimeError' in outcome.answer


def test_off_cancels_what_it_began_and_nothing_else(bench: AutonomyBench) -> None:
    surveys(bench)
    bench.console.handle_line(':pause')
    bench.become('react', 'PAUSED')
    bench.console.handle_line(':submit get_status')
    bench.until(lambda: bench.states('get_status'), 'the question to be stored')
    assert bench.autonomy.switch_off('by the operator').answer == 'auto is off'
    assert bench.states('react') == bench.states('activity') == ['CANCELLED']
    assert 'CANCELLED' not in bench.states('get_status')
    assert bench.timer.reason == bench.task('surveys the ground').reason
    assert bench.timer.reason == 'survey: off: by the operator'
    nothing_begins(bench, 1)
    assert bench.autonomy.status().answer.startswith('auto is off')


def test_off_in_the_middle_of_a_tick_begins_nothing(
    bench: AutonomyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, switching = PersistentPolicy.store_tick, []

    def off_first(*arguments: Any, **named: Any) -> Any:
        kept = keep(*arguments, **named)
        if not switching:
            switching.append(
                threading.Thread(target=bench.autonomy.switch_off, args=('the test',))
            )
            switching[0].start()
            bench.until(lambda: not bench.is_on, 'it to be off')
        return kept

    monkeypatch.setattr(PersistentPolicy, 'store_tick', off_first)
    bench.on()
    bench.replies('auto is off: the test')
    switching[0].join()
    assert bench.runtime.list_tasks() == []


# --- a person goes first --------------------------------------------------------------------


def test_a_persons_task_goes_first_and_the_activity_goes_on_afterwards(
    bench: AutonomyBench,
) -> None:
    surveys(bench)
    first = bench.session.turns[0]
    bench.session.quick = {'mast_close'}
    bench.console.handle_line(':mast_close')
    bench.become('mast_close', 'COMPLETED')
    bench.become('react', 'ACTIVE')
    bench.until(lambda: len(bench.session.turns) == 2, 'the survey to go on')
    assert bench.session.turns[1] == first
    assert bench.activity == 'survey'
    held = [d for d in bench.decisions() if any("a person's task goes first" in p for p in d.path)]
    assert held
    assert any('mast_close' in part for part in held[0].path)


def test_a_pause_holds_it_until_somebody_says_resume(bench: AutonomyBench) -> None:
    surveys(bench)
    bench.console.handle_line(':pause')
    bench.until(lambda: bench.state.activity.held, 'it to be held')
    assert 'held: the user said pause' in bench.autonomy.status().answer
    bench.replies('auto is held until you say resume')
    bench.become('react', 'PAUSED')
    bench.pass_time(5 * MIN)
    assert bench.states('react') == ['PAUSED']
    bench.console.handle_line(':resume')
    bench.become('react', 'ACTIVE')
    bench.until(lambda: not bench.state.activity.held, 'it to go on')
    bench.replies('auto goes on')


def test_a_resume_of_another_task_is_not_meant_for_it(bench: AutonomyBench) -> None:
    bench.runs(':mast_open')
    bench.on()
    bench.console.handle_line(':pause')
    bench.replies('auto is held until you say resume')
    bench.console.handle_line(f':resume {bench.task("mast_open").id}')
    bench.finish()
    bench.until(lambda: 'the user said pause' in bench.autonomy.status().answer, 'the pause')
    bench.pass_time(HOUR)
    assert bench.activity == ''


def test_a_pause_and_a_resume_in_a_row_put_nothing_aside_for_good(bench: AutonomyBench) -> None:
    for _ in range(3):
        if bench.activity != 'survey':
            surveys(bench)
        bench.console.handle_line(':pause')
        bench.console.handle_line(':resume')
        bench.become('react', 'ACTIVE')


def test_after_a_crash_in_a_pause_it_does_not_go_on_by_itself(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path) as bench:
        surveys(bench)
        bench.console.handle_line(':pause')
        bench.until(lambda: bench.state.activity.held, 'it to be held')
    with AutonomyBench(tmp_path, go_on=True) as bench:
        nothing_begins(bench)
        assert bench.autonomy.status().answer.startswith('auto is off')


# --- the kernel's modes ---------------------------------------------------------------------


def test_an_e_stop_holds_it_until_it_is_cleared(bench: AutonomyBench) -> None:
    surveys(bench)
    bench.hear('estop', pressed=True)
    bench.become('react', 'PAUSED')
    bench.until(lambda: bench.state.activity.held, 'it to be held')
    assert 'held: SAFE: e-stop pressed' in bench.autonomy.status().answer
    bench.pass_time(10 * MIN)
    assert bench.states('react') == ['PAUSED']
    bench.hear('estop', pressed=False)
    bench.until(lambda: not bench.runtime.state.robot.estop, 'the e-stop to be released')
    bench.console.handle_line(':clear')
    bench.become('react', 'ACTIVE')


CHARGES = {'routine': [{'activity': 'charge'}]}


@pytest.mark.parametrize('low_at_first', [True, False])
def test_its_own_charging_goes_on_in_the_mode_that_charges(
    tmp_path: Path, low_at_first: bool
) -> None:
    with AutonomyBench(tmp_path, config=config_of(CHARGES)) as bench:
        bench.session.quick = {'mast_close'}
        bench.hear('battery', fraction=0.5)
        bench.on()
        bench.become('charge', 'ACTIVE')
        bench.hear('battery', fraction=0.1)
        bench.mode('CHARGE')
        bench.until(lambda: bench.state.activity.held, 'it to be held')
        if low_at_first:
            # that ends no charging either
            assert bench.autonomy.switch_off('by the operator').ok
        assert bench.states('charge') == ['ACTIVE']
        bench.hear('battery', fraction=0.95)
        bench.become('charge', 'COMPLETED')
        bench.goes_on('')


def test_charging_that_was_put_aside_goes_on_when_the_battery_is_low(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path, config=config_of(CHARGES)) as bench:
        bench.session.quick = {'mast_close'}
        bench.hear('battery', fraction=0.5)
        bench.on()
        bench.become('charge', 'ACTIVE')
        bench.autonomy.post_message('look up')
        bench.goes_on('read')
        bench.become('charge', 'PAUSED')
        bench.hear('battery', fraction=0.1)
        bench.mode('CHARGE')
        bench.become('charge', 'ACTIVE')


# --- messages -------------------------------------------------------------------------------


def test_a_message_interrupts_and_what_it_interrupted_goes_on(bench: AutonomyBench) -> None:
    assert 'ignored: auto is off' in bench.autonomy.post_message('too early').answer
    surveys(bench)
    assert bench.autonomy.post_message('  rain is coming ').ok
    bench.goes_on('read')
    bench.replies('external.message: rain is coming')
    bench.until(lambda: bench.spoken == ['A message came: rain is coming'], 'it to be spoken')
    assert 'the message is said aloud' in bench.autonomy.decision_log(5).answer
    bench.become('react', 'PAUSED')
    bench.console.handle_line(':resume')  # what it put aside itself is not a person's to let go
    bench.until(lambda: any('nothing is paused' in each for each in bench.said), 'the answer')
    assert bench.states('react') == ['PAUSED']
    bench.at += 3 * MIN
    bench.goes_on('survey')
    bench.become('react', 'ACTIVE')
    assert 'too early' not in '\n'.join(bench.traced())


def test_a_flood_of_messages_is_bounded() -> None:
    woken: list[int] = []
    wake_reasons = WakeReasons(lambda: woken.append(1))
    problems = [wake_reasons.add_message(f'{i} ' * 5000) for i in range(100)]
    assert problems.count('') == MAX_MESSAGES == len(woken)
    assert problems[-1] == f'{MAX_MESSAGES} others wait already'
    assert wake_reasons.add_message(' \n ') == 'it is empty'
    why, messages = wake_reasons.take_all()
    assert why == 'a message'
    assert [len(each) <= MAX_MESSAGE_CHARS for each in messages] == [True] * MAX_MESSAGES
    assert wake_reasons.take_all() == ('', ())


# --- restarts -------------------------------------------------------------------------------


def at_night(folder: Path) -> AutonomyBench:
    bench = AutonomyBench(folder, at=TEN + 12 * HOUR)
    bench.on()
    bench.goes_on('sleep')
    bench.become('activity', 'ACTIVE')
    bench.until(lambda: 'until' in bench.timer.metadata, 'its end to be known')
    return bench


@pytest.mark.parametrize('slept_h', [3, 9])
def test_after_a_crash_sleep_goes_on_and_is_not_begun_twice(tmp_path: Path, slept_h: int) -> None:
    with at_night(tmp_path) as bench:
        until = bench.timer.metadata['until']
        began = bench.state.memory.began
    at = TEN + (12 + slept_h) * HOUR
    with AutonomyBench(tmp_path, go_on=True, at=at) as bench:
        bench.until(lambda: bench.is_on, 'it to be on again')
        bench.pass_time(MIN)
        assert bench.timer.metadata['until'] == until == TEN + 20 * HOUR
        assert bench.state.memory.began['sleep'] == began['sleep']
        if slept_h < 8:
            assert bench.activity == 'sleep'
            missed = [each.missed for each in bench.decisions() if each.missed]
            assert missed == [slept_h * 60 - 1]
            bench.at = until + 1.0
        bench.until(lambda: bench.states('activity')[0] == 'COMPLETED', 'sleep to be over')
        bench.until(lambda: bench.activity != 'sleep', 'it to wake')
        assert bench.state.memory.ended['sleep'] == until


def test_after_an_ordinary_start_it_is_off_and_says_how_to_go_on(tmp_path: Path) -> None:
    with at_night(tmp_path):
        pass
    with AutonomyBench(tmp_path, at=TEN + 13 * HOUR) as bench:
        bench.replies('auto was on when the agent ended during sleep; :auto on resumes it')
        nothing_begins(bench, 1)
        assert bench.states('activity') == ['PAUSED']
        bench.console.handle_line(':resume')  # that is for what people asked for
        bench.until(lambda: any('nothing is paused' in each for each in bench.said), 'the answer')
        assert bench.states('activity') == ['PAUSED']
        bench.on()
        bench.become('activity', 'ACTIVE')
        assert bench.activity == 'sleep'
    with AutonomyBench(tmp_path, at=TEN + 13 * HOUR) as bench:
        bench.replies('auto was on when the agent ended')
    with AutonomyBench(tmp_path, at=TEN + 13 * HOUR, go_on=True) as bench:
        nothing_begins(bench, 1)  # it was off in the run that crashed
        assert bench.autonomy.status().answer.startswith('auto is off')
        numbers = [each.number for each in bench.decisions()]
        assert numbers == list(range(1, len(numbers) + 1))


def test_what_an_earlier_run_left_goes_on_though_the_clock_begins_anew_and_can_be_ended(
    tmp_path: Path,
) -> None:
    with at_night(tmp_path):
        pass
    with AutonomyBench(tmp_path, at=5.0) as bench:  # simulated time after a restart
        bench.replies('auto was on when the agent ended')
        bench.on()
        bench.become('activity', 'ACTIVE')
        assert bench.decisions()[-1].at >= TEN + 12 * HOUR
        assert bench.activity == 'sleep'
    with AutonomyBench(tmp_path, at=TEN + 13 * HOUR) as bench:
        bench.replies('auto was on when the agent ended')
        assert bench.autonomy.switch_off('by the operator').ok
        assert bench.states('activity') == ['CANCELLED']


def test_a_crash_between_what_is_kept_and_what_is_done_begins_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with AutonomyBench(tmp_path) as bench, monkeypatch.context() as crash:
        crash.setattr(RuntimePort, 'execute', lambda *_: None)
        bench.on()
        bench.goes_on('survey')
    with AutonomyBench(tmp_path, go_on=True) as bench:
        bench.until(lambda: len(bench.session.turns) == 1, 'the survey')
        bench.become('react', 'ACTIVE')
        assert any('never began' in each.done for each in bench.decisions())


def test_switched_on_too_early_it_begins_when_it_can(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path, ready=False) as bench:
        assert bench.on() == 'auto goes on as soon as the other nodes are up'
        nothing_begins(bench, 1)
        bench.begin()
        bench.goes_on('survey')


@pytest.mark.parametrize('crashed', [True, False])
def test_a_stop_before_it_began_is_not_forgotten(tmp_path: Path, crashed: bool) -> None:
    if crashed:
        with AutonomyBench(tmp_path) as bench:
            surveys(bench)
    with AutonomyBench(tmp_path, ready=False) as bench:
        if not crashed:
            bench.on()
        bench.runtime.stop('the operator')
        bench.begin(go_on=crashed)
        nothing_begins(bench)
        assert bench.autonomy.status().answer.startswith('auto is off')


# --- from the console -----------------------------------------------------------------------


def test_the_console_has_a_command_for_each(bench: AutonomyBench, tmp_path: Path) -> None:
    def answer(line: str) -> str:
        before = len(bench.said)
        bench.console.handle_line(line)
        return '\n'.join(bench.said[before:])

    assert answer(':auto') == 'auto is off; :auto on switches it on'
    assert answer(':why') == 'it has decided nothing yet'
    assert answer(':message hi').startswith('! The message was ignored: auto is off')
    assert answer(':auto on').startswith('auto is on: the rules')
    bench.goes_on('survey')
    assert answer('：ａｕｔｏ').startswith('auto is on; at base')
    assert 'began survey' in answer(':why 3')
    assert '2 survey' in answer(':tree')
    assert answer(f':tree {tmp_path}/tree') == f'wrote {tmp_path}/tree.dot'
    bench.console.handle_line(':device battery off')
    bench.replies('state.changed: device battery: usable -> not usable')
    assert not bench.autonomy.set_device('wings', False).ok
    assert answer(':message hi') == 'The message was handed on.'
    bench.goes_on('read')
    assert 'auto is off' in answer(':auto off')
    assert bench.activity == ''


def test_they_wait_for_nothing(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path, ready=False) as bench:
        for line in (':auto on', ':auto', ':why', ':tree', ':message hi', ':auto off'):
            before = len(bench.said)
            bench.console.handle_line(line)
            assert bench.said[before:]
            assert 'queued' not in bench.said[-1]


# --- what can go wrong ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ('owner', 'name', 'error'),
    [
        (RuntimePort, 'observe', TaskError('no answer')),
        (PersistentPolicy, 'store_tick', PolicyStoreError('the disk is full; free some space')),
        (RuntimePort, 'execute', RuntimeError('torn')),
        (RuntimePort, 'resume_stuck_tasks', RuntimeError('torn')),
    ],
)
def test_an_error_in_a_tick_switches_it_off_and_what_it_began_ends(
    bench: AutonomyBench, owner: type, name: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    surveys(bench)

    def fail(*_: Any, **__: Any) -> None:
        raise error

    with monkeypatch.context() as torn:
        torn.setattr(owner, name, fail)
        bench.at += MIN
        bench.replies('auto is off: ')
    told = next(each for each in bench.traced() if each.startswith('auto is off: '))
    assert str(error) in told
    assert 'Traceback' not in told
    bench.become('react', 'CANCELLED')
    bench.become('activity', 'CANCELLED')
    nothing_begins(bench)
    assert not bench.kept(lambda kept: kept.was_on)
    bench.on()  # and it can be switched on again
    assert any('survey: cancelled' in each.done for each in bench.decisions())


def test_when_even_its_tasks_cannot_be_cancelled_all_is_stopped(
    bench: AutonomyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    surveys(bench)

    def fail(*_: Any, **__: Any) -> None:
        raise TaskError('no answer')

    monkeypatch.setattr(RuntimePort, 'observe', fail)
    monkeypatch.setattr(RuntimePort, 'cancel_tasks', fail)
    bench.at += MIN
    bench.until(lambda: bench.session.stops == 1, 'the rover to be stopped')
    bench.become('react', 'CANCELLED')


def test_a_file_that_cannot_be_opened_leaves_the_agent_without_it(tmp_path: Path) -> None:
    (tmp_path / 'tasks.db.policy').mkdir()
    with AutonomyBench(tmp_path) as bench:
        bench.replies('auto cannot be switched on: ')
        outcome = bench.autonomy.switch_on()
        assert not outcome.ok
        assert 'tasks.db.policy' in outcome.answer
        bench.runs(':mast_open')
        bench.finish()
