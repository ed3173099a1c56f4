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
from curiosity_rosa_demo.agent.policy.autonomy.wake_reasons import (
    MAX_MESSAGE_CHARS,
    MAX_MESSAGES,
    WakeReasons,
)
from curiosity_rosa_demo.agent.policy.policy_store import PolicyStoreError
from curiosity_rosa_demo.agent.runtime.execution.activity import POLL_PERIOD_S
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.errors import TaskError
from curiosity_rosa_demo.domain.plan.plan import Plan
from py_trees.blackboard import Blackboard
import pytest
from runtime_world import settle


@pytest.fixture
def life(tmp_path: Path) -> Iterator[AutonomyBench]:
    with AutonomyBench(tmp_path) as life:
        yield life


def surveys(life: AutonomyBench) -> None:
    """It was switched on, and its survey is at work."""
    life.on()
    life.goes_on('survey')
    life.become('react', 'ACTIVE')
    assert life.session.started.wait(20.0)


def nothing_begins(life: AutonomyBench, hours: int = 3) -> None:
    """Whatever the hour: what waits for the clock would have been woken by it long ago."""
    ran, tasks = list(life.session.ran), len(life.runtime.list_tasks())
    for _ in range(hours):
        life.at += HOUR
        life.autonomy._worker.wake()
        life.autonomy.status()  # its thread has looked around since
    assert life.session.ran == ran
    assert len(life.runtime.list_tasks()) == tasks


# --- a day ----------------------------------------------------------------------------------


def test_it_is_off_until_somebody_says_on(life: AutonomyBench) -> None:
    assert life.autonomy.status().answer == 'auto is off; :auto on switches it on'
    nothing_begins(life)
    assert life.on().startswith('auto is on: the rules of world_view.yaml decide')
    life.goes_on('survey')
    assert life.on() == 'auto is on already'


def test_what_is_due_begins_as_tasks_of_the_kernel_and_ends_properly(life: AutonomyBench) -> None:
    surveys(life)
    task_id, plan = life.session.turns[0]
    assert plan is not None
    assert [step.action for step in Plan.from_dict(plan).steps] == [
        'mast_open',
        'capture_and_score',
    ]
    assert task_id == life.state.activity.task_ids[0]
    life.become('activity', 'WAITING')
    life.session.release.set()
    life.become('activity', 'ACTIVE')
    life.pass_time(19 * MIN)
    assert life.activity == 'survey'
    life.at += 2 * MIN
    life.become('activity', 'COMPLETED')
    life.goes_on('')
    assert life.state.memory.ended['survey'] >= TEN + 20 * MIN
    assert life.session.ran == ['answer: surveys the ground']
    life.pass_time(HOUR)
    assert life.session.ran == ['answer: surveys the ground']  # again after two hours
    life.pass_time(HOUR)
    life.goes_on('survey')
    told = life.autonomy.decision_log(50).answer
    assert told.count('began survey, by the routine') == 2
    assert 'Tue 24 Nov 10:00' in told


def test_events_are_on_the_trace_and_kept_before(life: AutonomyBench) -> None:
    surveys(life)
    life.replies('action.started: survey, by routine')
    life.session.release.set()
    life.become('activity', 'ACTIVE')
    life.at += 21 * MIN
    life.replies('action.ended: survey: done')
    assert life.traced().count('action.started: survey, by routine') == 1


def test_what_it_says_of_itself(life: AutonomyBench) -> None:
    surveys(life)
    assert life.autonomy.status().answer == (
        'auto is on; at base, energy 80%; survey since 10:00, by the routine'
    )
    tree, dot = life.autonomy.tree_text(), life.autonomy.tree_dot()
    assert 'survey' in tree.answer
    assert dot.answer.lstrip().startswith('digraph')


def test_a_stalled_clock_costs_nothing_and_a_leap_is_one_tick(life: AutonomyBench) -> None:
    surveys(life)
    life.pass_time(30 * MIN)
    assert [each.missed for each in life.decisions() if each.missed] == [29]


# --- stops ----------------------------------------------------------------------------------


def test_a_stop_switches_it_off_and_nothing_begins_any_more(life: AutonomyBench) -> None:
    surveys(life)
    life.console.handle_line(':stop')
    life.replies('auto is off: stopped by the operator; :auto on switches it on')
    life.become('react', 'CANCELLED')
    life.become('activity', 'CANCELLED')
    nothing_begins(life)
    assert life.state.activity is None
    assert not life.autonomy._policy.was_on
    life.on()
    life.until(lambda: life.activity == 'sleep' or life.states('react')[1:], 'it to begin')


@pytest.mark.parametrize('where', ['observe', 'rebuild', 'store_tick', 'submit_task', 'submit'])
def test_a_stop_at_any_moment_of_a_tick_leaves_nothing_that_begins(
    life: AutonomyBench, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner: Any = {
        'observe': life.autonomy._runtime_port,
        'store_tick': life.autonomy._policy,
        'submit_task': life.runtime,
        'rebuild': None,
        'submit': life.runtime.runner,
    }[where]
    if where == 'rebuild':
        life.autonomy._worker.call(lambda: life.autonomy._load_state(), 10.0)
        owner = life.autonomy._policy
    real, stopped = getattr(owner, where), []

    def stop_first(*arguments: Any, **named: Any) -> Any:
        if not stopped:
            stopped.append(where)
            life.runtime.stop('the test')
        return real(*arguments, **named)

    monkeypatch.setattr(owner, where, stop_first)
    life.autonomy.switch_on()
    life.until(lambda: stopped, 'the stop')
    life.until(lambda: not life.autonomy._on, 'it to be off')
    life.runtime.call(settle())
    nothing_begins(life)
    live = [task for task in life.runtime.list_tasks() if not task.terminal]
    assert live == []
    assert life.session.ran == []
    assert life.state.activity is None


def test_a_tick_between_the_beginning_of_a_stop_and_its_telling_begins_nothing(
    life: AutonomyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    surveys(life)
    life.session.release.set()
    life.become('activity', 'ACTIVE')
    life.at += 21 * MIN
    life.goes_on('')
    hold = life.runtime._blocking.hold

    def slowly(reason: str) -> Callable[[], None]:
        life.at += 2 * HOUR
        life.goes_on('survey')
        life.autonomy.status()  # what it wants was carried out
        return hold(reason)

    monkeypatch.setattr(life.runtime._blocking, 'hold', slowly)
    life.runtime.stop('the operator')
    life.replies('auto is off: stopped by the operator')
    life.runtime.call(settle())
    assert life.states('react') == ['COMPLETED']
    assert len(life.session.ran) == 1


def test_an_activity_that_waited_too_long_for_its_turn_never_begins(
    life: AutonomyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_port, 'CALL_TIMEOUT_S', 0.3)
    mended, asked, submit = threading.Event(), list[str](), life.runtime.runner.submit

    async def slowly(task: Task) -> Task:
        asked.append(task.name)
        while not mended.is_set():
            await asyncio.sleep(0.01)
        return await submit(task)

    monkeypatch.setattr(life.runtime.runner, 'submit', slowly)
    life.session.release.set()
    life.console.handle_line(':cap')
    life.until(lambda: asked, 'the task before it')
    life.autonomy.switch_on()
    life.replies('was not taken within')
    life.autonomy.switch_off('the test')
    mended.set()
    life.finish()
    life.runtime.call(settle())
    assert asked == life.session.ran == ['capture_and_score']


def test_an_activity_that_the_disk_took_too_late_never_begins(
    life: AutonomyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_port, 'CALL_TIMEOUT_S', 0.3)
    life.session.release.set()
    writer: Any = life.runtime.runner._store._writer
    with writer.lock:
        life.autonomy.switch_on()
        life.until(lambda: life.autonomy._on, 'it to be on')
        life.until(lambda: not life.autonomy._on, 'it to give up')
    life.replies('was not taken within')
    life.autonomy.switch_off('the test')
    life.runtime.call(settle())
    assert {task.state.name for task in life.runtime.list_tasks()} <= {'CANCELLED'}
    assert life.session.ran == []


def test_nothing_of_it_is_left_behind_when_it_is_closed(tmp_path: Path) -> None:
    clients = len(Blackboard.clients)
    with AutonomyBench(tmp_path) as life:
        for _ in range(2):
            life.on()
            life.autonomy.switch_off('the test')
    assert len(Blackboard.clients) == clients


def test_whoever_says_stop_is_heard(life: AutonomyBench) -> None:
    surveys(life)
    life.runtime.stop('the watchdog')
    life.replies('auto is off: stopped by the watchdog')


def test_an_internal_failure_of_the_runtime_switches_it_off_for_good(life: AutonomyBench) -> None:
    surveys(life)
    life.runtime._event_loop.call_soon(life.runtime._on_job_error, RuntimeError('torn'))
    life.replies('auto is off: stopped by an internal error')
    outcome = life.autonomy.switch_on()
    assert not outcome.ok
    assert 'an internal error: RuntimeError' in outcome.answer


def test_off_cancels_what_it_began_and_nothing_else(life: AutonomyBench) -> None:
    surveys(life)
    life.console.handle_line(':pause')
    life.become('react', 'PAUSED')
    life.console.handle_line(':submit get_status')
    life.until(lambda: life.states('get_status'), 'the question to be stored')
    assert life.autonomy.switch_off('by the operator').answer == 'auto is off'
    assert life.states('react') == life.states('activity') == ['CANCELLED']
    assert 'CANCELLED' not in life.states('get_status')
    assert life.timer.reason == life.task('surveys the ground').reason
    assert life.timer.reason == 'survey: off: by the operator'
    nothing_begins(life, 1)
    assert life.autonomy.status().answer.startswith('auto is off')


def test_off_in_the_middle_of_a_tick_begins_nothing(
    life: AutonomyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, switching = life.autonomy._policy.store_tick, []

    def off_first(*arguments: Any, **named: Any) -> Any:
        kept = keep(*arguments, **named)
        if not switching:
            switching.append(threading.Thread(target=life.autonomy.switch_off, args=('the test',)))
            switching[0].start()
            life.until(lambda: not life.autonomy._on, 'it to be off')
        return kept

    monkeypatch.setattr(life.autonomy._policy, 'store_tick', off_first)
    life.on()
    life.replies('auto is off: the test')
    switching[0].join()
    assert life.runtime.list_tasks() == []


# --- a person goes first --------------------------------------------------------------------


def test_a_persons_task_goes_first_and_the_activity_goes_on_afterwards(
    life: AutonomyBench,
) -> None:
    surveys(life)
    first = life.session.turns[0]
    life.session.quick = {'mast_close'}
    life.console.handle_line(':mast_close')
    life.become('mast_close', 'COMPLETED')
    life.become('react', 'ACTIVE')
    life.until(lambda: len(life.session.turns) == 2, 'the survey to go on')
    assert life.session.turns[1] == first
    assert life.activity == 'survey'
    held = [d for d in life.decisions() if any("a person's task goes first" in p for p in d.path)]
    assert held
    assert any('mast_close' in part for part in held[0].path)


def test_a_pause_holds_it_until_somebody_says_resume(life: AutonomyBench) -> None:
    surveys(life)
    life.console.handle_line(':pause')
    life.until(lambda: life.state.activity.held, 'it to be held')
    assert 'held: the user said pause' in life.autonomy.status().answer
    life.replies('auto is held until you say resume')
    life.become('react', 'PAUSED')
    life.pass_time(5 * MIN)
    assert life.states('react') == ['PAUSED']
    life.console.handle_line(':resume')
    life.become('react', 'ACTIVE')
    life.until(lambda: not life.state.activity.held, 'it to go on')
    life.replies('auto goes on')


def test_a_resume_of_another_task_is_not_meant_for_it(life: AutonomyBench) -> None:
    life.runs(':mast_open')
    life.on()
    life.console.handle_line(':pause')
    life.replies('auto is held until you say resume')
    life.console.handle_line(f':resume {life.task("mast_open").id}')
    life.finish()
    life.until(lambda: 'the user said pause' in life.autonomy.status().answer, 'the pause')
    life.pass_time(HOUR)
    assert life.activity == ''


def test_a_pause_while_nothing_goes_on_holds_it_too(life: AutonomyBench) -> None:
    surveys(life)
    life.session.release.set()
    life.become('activity', 'ACTIVE')
    life.at += 21 * MIN
    life.goes_on('')
    life.console.handle_line(':pause')
    life.until(lambda: 'the user said pause' in life.autonomy.status().answer, 'the pause')
    life.pass_time(3 * HOUR)
    assert life.activity == ''
    life.console.handle_line(':resume')
    life.goes_on('survey')


def test_a_pause_and_a_resume_in_a_row_put_nothing_aside_for_good(life: AutonomyBench) -> None:
    for _ in range(3):
        if life.activity != 'survey':
            surveys(life)
        life.console.handle_line(':pause')
        life.console.handle_line(':resume')
        life.become('react', 'ACTIVE')


def test_after_a_crash_in_a_pause_it_does_not_go_on_by_itself(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path) as life:
        surveys(life)
        life.console.handle_line(':pause')
        life.until(lambda: life.state.activity.held, 'it to be held')
    with AutonomyBench(tmp_path, go_on=True) as life:
        nothing_begins(life)
        assert life.autonomy.status().answer.startswith('auto is off')


# --- the kernel's modes ---------------------------------------------------------------------


def test_an_e_stop_holds_it_until_it_is_cleared(life: AutonomyBench) -> None:
    surveys(life)
    life.hear('estop', pressed=True)
    life.become('react', 'PAUSED')
    life.until(lambda: life.state.activity.held, 'it to be held')
    assert 'held: SAFE: e-stop pressed' in life.autonomy.status().answer
    life.pass_time(10 * MIN)
    assert life.states('react') == ['PAUSED']
    life.hear('estop', pressed=False)
    life.until(lambda: not life.runtime.state.robot.estop, 'the e-stop to be released')
    life.console.handle_line(':clear')
    life.become('react', 'ACTIVE')


def test_a_low_battery_holds_it_until_it_is_charged(life: AutonomyBench) -> None:
    life.session.quick = {'mast_close'}
    life.hear('battery', fraction=0.9)
    surveys(life)
    life.hear('battery', fraction=0.1)
    life.become('charge', 'ACTIVE')
    life.until(lambda: life.state.activity.held, 'it to be held')
    assert 'held: CHARGE: battery is low' in life.autonomy.status().answer
    life.hear('battery', fraction=0.95)
    life.become('charge', 'COMPLETED')
    life.become('react', 'ACTIVE')
    life.until(lambda: not life.state.activity.held, 'it to go on')


CHARGES = {'routine': [{'activity': 'charge'}]}


@pytest.mark.parametrize('low_at_first', [True, False])
def test_its_own_charging_goes_on_in_the_mode_that_charges(
    tmp_path: Path, low_at_first: bool
) -> None:
    with AutonomyBench(tmp_path, config=config_of(CHARGES)) as life:
        life.session.quick = {'mast_close'}
        life.hear('battery', fraction=0.5)
        life.on()
        life.become('charge', 'ACTIVE')
        life.hear('battery', fraction=0.1)
        life.mode('CHARGE')
        life.until(lambda: life.state.activity.held, 'it to be held')
        if low_at_first:
            # that ends no charging either
            assert life.autonomy.switch_off('by the operator').ok
        assert life.states('charge') == ['ACTIVE']
        life.hear('battery', fraction=0.95)
        life.become('charge', 'COMPLETED')
        life.goes_on('')


def test_charging_that_was_put_aside_goes_on_when_the_battery_is_low(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path, config=config_of(CHARGES)) as life:
        life.session.quick = {'mast_close'}
        life.hear('battery', fraction=0.5)
        life.on()
        life.become('charge', 'ACTIVE')
        life.autonomy.post_message('look up')
        life.goes_on('read')
        life.become('charge', 'PAUSED')
        life.hear('battery', fraction=0.1)
        life.mode('CHARGE')
        life.become('charge', 'ACTIVE')


def test_a_device_is_switched_off_while_it_acts(life: AutonomyBench) -> None:
    surveys(life)
    life.console.handle_line(':device battery off')
    life.replies('state.changed: device battery: usable -> not usable')
    assert not life.autonomy.set_device('wings', False).ok


# --- messages -------------------------------------------------------------------------------


def test_a_message_interrupts_and_what_it_interrupted_goes_on(life: AutonomyBench) -> None:
    assert 'ignored: auto is off' in life.autonomy.post_message('too early').answer
    surveys(life)
    assert life.autonomy.post_message('  rain is coming ').ok
    life.goes_on('read')
    life.replies('external.message: rain is coming')
    life.until(lambda: life.spoken == ['A message came: rain is coming'], 'it to be spoken')
    assert 'the message is said aloud' in life.autonomy.decision_log(5).answer
    life.become('react', 'PAUSED')
    life.console.handle_line(':resume')  # what it put aside itself is not a person's to let go
    life.until(lambda: any('nothing is paused' in each for each in life.said), 'the answer')
    assert life.states('react') == ['PAUSED']
    life.at += 3 * MIN
    life.goes_on('survey')
    life.become('react', 'ACTIVE')
    assert 'too early' not in '\n'.join(life.traced())


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
    life = AutonomyBench(folder, at=TEN + 12 * HOUR)
    life.on()
    life.goes_on('sleep')
    life.become('activity', 'ACTIVE')
    life.until(lambda: 'until' in life.timer.metadata, 'its end to be known')
    return life


@pytest.mark.parametrize('slept_h', [0, 3, 9])
def test_after_a_crash_sleep_goes_on_and_is_not_begun_twice(tmp_path: Path, slept_h: int) -> None:
    with at_night(tmp_path) as life:
        until = life.timer.metadata['until']
        began = life.state.memory.began
    at = TEN + (12 + slept_h) * HOUR
    with AutonomyBench(tmp_path, go_on=True, at=at) as life:
        life.until(lambda: life.autonomy._on, 'it to be on again')
        life.pass_time(MIN)
        assert life.timer.metadata['until'] == until == TEN + 20 * HOUR
        assert life.state.memory.began['sleep'] == began['sleep']
        if slept_h < 8:
            assert life.activity == 'sleep'
            missed = [each.missed for each in life.decisions() if each.missed]
            assert missed == ([slept_h * 60 - 1] if slept_h else [])
            life.at = until + 1.0
        life.until(lambda: life.states('activity')[0] == 'COMPLETED', 'sleep to be over')
        life.until(lambda: life.activity != 'sleep', 'it to wake')
        assert life.state.memory.ended['sleep'] == until


def test_after_an_ordinary_start_it_is_off_and_says_how_to_go_on(tmp_path: Path) -> None:
    with at_night(tmp_path):
        pass
    with AutonomyBench(tmp_path, at=TEN + 13 * HOUR) as life:
        life.replies('auto was on when the agent ended during sleep; :auto on resumes it')
        nothing_begins(life, 1)
        assert life.states('activity') == ['PAUSED']
        life.console.handle_line(':resume')  # that is for what people asked for
        life.until(lambda: any('nothing is paused' in each for each in life.said), 'the answer')
        assert life.states('activity') == ['PAUSED']
        life.on()
        life.become('activity', 'ACTIVE')
        assert life.activity == 'sleep'
    with AutonomyBench(tmp_path, at=TEN + 13 * HOUR) as life:
        life.replies('auto was on when the agent ended')
    with AutonomyBench(tmp_path, at=TEN + 13 * HOUR, go_on=True) as life:
        nothing_begins(life, 1)  # it was off in the run that crashed
        assert life.autonomy.status().answer.startswith('auto is off')
        numbers = [each.number for each in life.decisions()]
        assert numbers == list(range(1, len(numbers) + 1))


def test_time_goes_on_from_where_it_was_when_the_clock_begins_anew(tmp_path: Path) -> None:
    with at_night(tmp_path):
        pass
    with AutonomyBench(tmp_path, at=5.0) as life:  # simulated time after a restart
        life.replies('auto was on when the agent ended')
        assert life.autonomy._clock.now() >= TEN + 12 * HOUR
        life.on()
        life.become('activity', 'ACTIVE')
        assert life.activity == 'sleep'


def test_what_an_earlier_run_left_can_be_ended(tmp_path: Path) -> None:
    with at_night(tmp_path):
        pass
    with AutonomyBench(tmp_path, at=TEN + 13 * HOUR) as life:
        life.replies('auto was on when the agent ended')
        assert life.autonomy.switch_off('by the operator').ok
        assert life.states('activity') == ['CANCELLED']


def test_a_crash_between_what_is_kept_and_what_is_done_begins_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with AutonomyBench(tmp_path) as life:
        monkeypatch.setattr(life.autonomy._runtime_port, 'execute', lambda *_: None)
        life.on()
        life.goes_on('survey')
    with AutonomyBench(tmp_path, go_on=True) as life:
        life.until(lambda: len(life.session.turns) == 1, 'the survey')
        life.become('react', 'ACTIVE')
        assert any('never began' in each.done for each in life.decisions())


def test_tasks_whose_activity_has_ended_are_no_persons_and_end(
    life: AutonomyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    surveys(life)
    with monkeypatch.context() as crash:  # between what is kept and what is done
        crash.setattr(life.autonomy._runtime_port, 'execute', lambda *_: None)
        assert life.autonomy.switch_off('the test').ok
    life.become('react', 'ACTIVE')
    life.on()
    life.become('react', 'CANCELLED')
    assert not any("a person's task" in part for each in life.decisions() for part in each.path)


def test_switched_on_too_early_it_begins_when_it_can(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path, ready=False) as life:
        assert life.on() == 'auto goes on as soon as the other nodes are up'
        nothing_begins(life, 1)
        life.begin()
        life.goes_on('survey')


@pytest.mark.parametrize('crashed', [True, False])
def test_a_stop_before_it_began_is_not_forgotten(tmp_path: Path, crashed: bool) -> None:
    if crashed:
        with AutonomyBench(tmp_path) as life:
            surveys(life)
    with AutonomyBench(tmp_path, ready=False) as life:
        if not crashed:
            life.on()
        life.runtime.stop('the operator')
        life.begin(go_on=crashed)
        nothing_begins(life)
        assert life.autonomy.status().answer.startswith('auto is off')


# --- from the console -----------------------------------------------------------------------


def test_the_console_has_a_command_for_each(life: AutonomyBench, tmp_path: Path) -> None:
    def answer(line: str) -> str:
        before = len(life.said)
        life.console.handle_line(line)
        return '\n'.join(life.said[before:])

    assert answer(':auto') == 'auto is off; :auto on switches it on'
    assert answer(':why') == 'it has decided nothing yet'
    assert answer(':message hi').startswith('! The message was ignored: auto is off')
    assert answer(':auto on').startswith('auto is on: the rules')
    life.goes_on('survey')
    assert answer('：ａｕｔｏ').startswith('auto is on; at base')
    assert 'began survey' in answer(':why 3')
    assert '2 survey' in answer(':tree')
    assert answer(f':tree {tmp_path}/tree') == f'wrote {tmp_path}/tree.dot'
    assert answer(':message hi') == 'The message was handed on.'
    life.goes_on('read')
    assert 'auto is off' in answer(':auto off')
    assert life.activity == ''


def test_they_wait_for_nothing(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path, ready=False) as life:
        for line in (':auto on', ':auto', ':why', ':tree', ':message hi', ':auto off'):
            before = len(life.said)
            life.console.handle_line(line)
            assert life.said[before:]
            assert 'queued' not in life.said[-1]


# --- what can go wrong ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ('owner', 'name', 'error'),
    [
        ('_runtime_port', 'observe', RuntimeError('torn')),
        ('_runtime_port', 'observe', TaskError('no answer')),
        ('_policy', 'store_tick', PolicyStoreError('the disk is full; free some space')),
        ('_runtime_port', 'execute', RuntimeError('torn')),
        ('_runtime_port', 'resume_stuck_tasks', RuntimeError('torn')),
    ],
)
def test_an_error_in_a_tick_switches_it_off_and_what_it_began_ends(
    life: AutonomyBench, owner: str, name: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    surveys(life)

    def fail(*_: Any, **__: Any) -> None:
        raise error

    with monkeypatch.context() as torn:
        torn.setattr(getattr(life.autonomy, owner), name, fail)
        life.at += MIN
        life.replies('auto is off: ')
    told = next(each for each in life.traced() if each.startswith('auto is off: '))
    assert str(error) in told
    assert 'Traceback' not in told
    life.become('react', 'CANCELLED')
    life.become('activity', 'CANCELLED')
    nothing_begins(life)
    assert life.autonomy._worker._thread.is_alive()
    assert not life.autonomy._worker.call(lambda: life.autonomy._policy.was_on, 10.0)
    life.on()  # and it can be switched on again
    assert any('survey: cancelled' in each.done for each in life.decisions())


def test_when_even_its_tasks_cannot_be_cancelled_all_is_stopped(
    life: AutonomyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    surveys(life)

    def fail(*_: Any, **__: Any) -> None:
        raise TaskError('no answer')

    monkeypatch.setattr(life.autonomy._runtime_port, 'observe', fail)
    monkeypatch.setattr(life.autonomy._runtime_port, 'cancel_tasks', fail)
    life.at += MIN
    life.until(lambda: life.session.stops == 1, 'the rover to be stopped')
    life.become('react', 'CANCELLED')


def test_a_file_that_cannot_be_opened_leaves_the_agent_without_it(tmp_path: Path) -> None:
    (tmp_path / 'tasks.db.policy').mkdir()
    with AutonomyBench(tmp_path) as life:
        life.replies('auto cannot be switched on: ')
        outcome = life.autonomy.switch_on()
        assert not outcome.ok
        assert 'tasks.db.policy' in outcome.answer
        life.runs(':mast_open')
        life.finish()


def test_the_skill_of_an_activity_looks_often_enough() -> None:
    assert POLL_PERIOD_S <= 0.2
