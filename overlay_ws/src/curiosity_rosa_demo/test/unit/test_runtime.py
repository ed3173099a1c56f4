# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Kernel, tasks and skills together, before a session that the test holds the strings of, and what
the HTTP API asks of them from a loop of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, ExitStack
from pathlib import Path
import sqlite3
import tempfile
import threading
from typing import Any

from chat_server import call as model_call
from chat_server import Say
from curiosity_rosa_demo.agent import robot as robot_module
from curiosity_rosa_demo.agent.interfaces.triggers.door import TriggerBoard, TriggerDoor
from curiosity_rosa_demo.agent.kernel import loop as kernel_loop
from curiosity_rosa_demo.agent.kernel.hear import Asked, Ordered, Said, STOP_OVERTOOK_TEXT
from curiosity_rosa_demo.agent.language.understand import Utterance
from curiosity_rosa_demo.agent.react.ask import QuestionNotFound
from curiosity_rosa_demo.agent.robot import NOT_READY_TEXT
from curiosity_rosa_demo.agent.runtime import action_dispatcher, task_port
from curiosity_rosa_demo.agent.runtime import halt as halt_module
from curiosity_rosa_demo.agent.runtime import runtime as runtime_module
from curiosity_rosa_demo.agent.runtime.halt import Watchdog
from curiosity_rosa_demo.agent.runtime.session import turn_thread
from curiosity_rosa_demo.agent.runtime.task_port import RobotBusy
from curiosity_rosa_demo.agent.runtime.task_skills import crash_text
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.rows import Change
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.task import BadTask, StoreError, TaskError
from curiosity_rosa_demo.domain.adapter_status import TriggerState, TriggerStatus
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    Mode,
    Question,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.config.behaviour import TriggerConfig
from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from curiosity_rosa_demo.infra.files import SafetyLatch
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from examples import examples
from hypothesis import given, HealthCheck, Phase, settings
from hypothesis import strategies as st
import pytest
from runtime_world import (
    AgentWorld,
    CONFIG,
    DONE,
    PATIENT_S,
    RobotBench,
    run,
    RuntimeBench,
    RuntimeHarness,
    ScriptedAgentSession,
    settle,
    WAIT_S,
    with_watchdog,
)
from skill_world import Actor, crash, no_file_beyond, skill_named
from turn_world import KEY

# A failure that takes seconds is not made smaller: that could take minutes.
QUICKLY = (Phase.explicit, Phase.reuse, Phase.generate)
WATCHED = with_watchdog(CONFIG, 1.5)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[RuntimeBench]:
    with RuntimeBench(tmp_path) as bench:
        yield bench


def press(bench: RuntimeBench) -> None:
    bench.hear('estop', pressed=True)
    bench.mode('SAFE')


def nothing_begins(bench: RuntimeBench) -> None:
    """What was asked for in CHARGE is stored, and waits; in SAFE it is refused."""
    ran, known, said = len(bench.session.ran), bench.tasks(), len(bench.said)
    safe = bench.runtime.state.tasks.mode is Mode.SAFE
    bench.console.handle_line(':mast_open')
    if safe:
        refused = '! SAFE_MODE: refused, nothing may move. SAFE since 20'
        bench.until(lambda: any(refused in line for line in bench.said[said:]), 'the refusal')
        assert bench.tasks() == known
    else:
        bench.becomes('mast_open', 'PENDING')
        bench.runtime.call(settle())
    assert len(bench.session.ran) == ran


def test_a_low_battery_stops_and_stows_the_rover_and_the_task_goes_on_afterwards(
    bench: RuntimeBench,
) -> None:
    bench.session.quick = {'mast_close'}
    bench.hear('battery', fraction=0.9)
    bench.runs('look around')
    order = bench.session.order
    del order[:]
    bench.hear('battery', fraction=0.15)
    bench.mode('CHARGE')
    bench.becomes('charge', 'ACTIVE')
    bench.until(lambda: 'end mast_close' in order, 'the mast to be stowed')
    # Its work was told before the rover was, and ends in its own time; charging stops it again.
    assert sorted(order[:3]) == ['end answer: look around', 'stop', 'stop']
    assert order[3:] == ['begin mast_close', 'end mast_close']
    assert bench.tasks()['look around'] == 'PAUSED'
    assert bench.task('look around').reason == 'CHARGE: battery is low'
    bench.hear('battery', fraction=0.5)  # not enough yet
    bench.runtime.call(settle())
    assert bench.tasks() == {'look around': 'PAUSED', 'charge': 'ACTIVE'}
    bench.session.started.clear()
    bench.hear('battery', fraction=0.85)
    bench.becomes('charge', 'COMPLETED')
    assert bench.session.started.wait(WAIT_S)
    bench.becomes('look around', 'ACTIVE')
    bench.finish()
    assert bench.tasks() == {'look around': 'COMPLETED', 'charge': 'COMPLETED'}
    assert bench.task('charge').metadata['outcome']['answer'] == 'charged to 85 %'


def test_a_mast_that_cannot_be_stowed_is_tried_again(bench: RuntimeBench) -> None:
    bench.session.fails = 'the mast is stuck'
    bench.session.release.set()
    bench.hear('battery', fraction=0.1)
    bench.until(lambda: bench.session.ran.count('mast_close') >= 2, 'a second try')
    assert bench.task('charge').attempts >= 1


def test_a_stop_while_charging_is_not_overruled(bench: RuntimeBench) -> None:
    bench.session.quick = {'mast_close'}
    bench.hear('battery', fraction=0.1)
    bench.becomes('charge', 'ACTIVE')
    bench.console.handle_line(':stop')
    bench.becomes('charge', 'CANCELLED')
    bench.replies('The battery is low: say resume to charge')
    nothing_begins(bench)
    assert [t.name for t in bench.list_tasks()] == ['charge', 'mast_open']
    bench.console.handle_line(':resume')
    bench.until(lambda: [t.name for t in bench.list_tasks()].count('charge') == 2, 'charging')


def test_a_charge_that_is_lost_begins_again_but_not_one_that_a_person_cancels(
    bench: RuntimeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(action_dispatcher, 'CHARGE_AGAIN_S', 0.2)
    monkeypatch.setattr(halt_module, 'STOP_TIMEOUT_S', 0.1)
    runner, losses = bench.runtime.runner, [StoreError('The disk is full')]
    submit = runner.submit

    async def lose_one(task: Task) -> Task:
        if losses:
            raise losses.pop()
        return await submit(task)

    def charges(*states: str) -> None:
        bench.until(lambda: [t.state.name for t in bench.list_tasks()] == [*states], f'{states}')

    monkeypatch.setattr(runner, 'submit', lose_one)
    bench.hear('battery', fraction=0.1)
    charges('ACTIVE')
    bench.replies('The charge cannot begin: The disk is full')
    bench.console.handle_line(f':cancel {bench.task("charge").id[:8]}')
    bench.until(lambda: '! The battery is low: say resume to charge' in bench.said, 'a way out')
    ticks = bench.runtime.state.trace.metrics['ticks']
    bench.until(lambda: bench.runtime.state.trace.metrics['ticks'] >= ticks + 8, 'some ticks')
    charges('CANCELLED')
    bench.console.handle_line(':resume')
    charges('CANCELLED', 'ACTIVE')
    bench.hear('battery', fraction=0.9)
    bench.mode('EXEC')
    bench.session.release.set()
    charges('CANCELLED', 'COMPLETED')
    bench.session.release.clear()
    bench.hear('battery', fraction=0.3)
    bench.runs(':submit charge')  # without retries
    bench.hear('battery', fraction=0.1)  # the stop ends its stowing
    charges('CANCELLED', 'COMPLETED', 'FAILED', 'ACTIVE')
    assert bench.list_tasks()[2].reason == 'battery is low'


def test_a_latch_that_cannot_be_saved_holds_and_is_told_and_saved_in_the_last_moment(
    tmp_path: Path,
) -> None:
    in_the_way = tmp_path / 'tasks.db.safety.new'
    with RuntimeBench(tmp_path) as bench:
        in_the_way.mkdir()
        press(bench)
        bench.replies('The safety latch cannot be saved')
        nothing_begins(bench)
        assert SafetyLatch(tmp_path / 'tasks.db.safety').reason == ''
        in_the_way.rmdir()
    assert SafetyLatch(tmp_path / 'tasks.db.safety').reason == 'e-stop pressed'


def test_a_latch_that_could_not_be_saved_is_saved_as_soon_as_it_can_be(
    bench: RuntimeBench, tmp_path: Path
) -> None:
    """The agent may be killed before its last moment."""
    in_the_way = tmp_path / 'tasks.db.safety.new'
    in_the_way.mkdir()
    press(bench)
    told = 'The safety latch cannot be saved'
    bench.replies(told)
    in_the_way.rmdir()
    latch = tmp_path / 'tasks.db.safety'
    bench.until(lambda: SafetyLatch(latch).reason == 'e-stop pressed', 'it to be saved')
    assert sum(told in each for each in bench.traced()) == 1


def test_an_e_stop_waits_for_nothing_that_is_being_carried_out(
    bench: RuntimeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.runs('look around')
    runner, going = bench.runtime.runner, asyncio.Event()
    submit = runner.submit

    async def slow(task: Task) -> Task:
        await going.wait()
        return await submit(task)

    monkeypatch.setattr(runner, 'submit', slow)
    bench.console.handle_line(':cap')
    bench.runtime.call(settle())
    bench.hear('estop', pressed=True)
    bench.until(lambda: bench.session.stops == 1, 'the stop')
    assert bench.session.used[0].requested
    bench.in_loop(going.set)
    bench.becomes('look around', 'PAUSED')
    bench.becomes('capture_and_score', 'PENDING')
    assert len(bench.session.ran) == 1


@contextmanager
def adapter(bench: RuntimeBench) -> Iterator[None]:
    """Tells its status until it is switched off."""
    off = threading.Event()

    def talk() -> None:
        while not off.wait(0.05):
            bench.hear('adapter', mast='closed', moving=False)

    bench.hear('adapter', mast='closed', moving=False)
    thread = threading.Thread(target=talk)
    thread.start()
    try:
        yield
    finally:
        off.set()
        thread.join()


def test_what_a_silent_adapter_interrupted_is_held_until_a_person_resumes(tmp_path: Path) -> None:
    config = CONFIG.changed(thresholds={'telemetry': {'adapter_max_age_s': 0.5}})
    with RuntimeBench(tmp_path, config=config) as bench:
        with adapter(bench):
            bench.runs('look around')
        bench.mode('SAFE')
        bench.becomes('look around', 'PAUSED')
        assert bench.runtime.state.robot.safety_latch == ''
        bench.stopped(1)
        nothing_begins(bench)
        with adapter(bench):
            bench.mode('IDLE')
            bench.until(lambda: bench.task('look around').held, 'it to be held')
            bench.until(lambda: any('held (' in each for each in bench.said), 'it to be told')
            assert bench.tasks()['look around'] == 'PAUSED'
            bench.console.handle_line(':resume')
            bench.finish()
        assert set(bench.tasks().values()) == {'COMPLETED'}


def test_what_a_silent_adapter_interrupted_is_held_after_two_crashes_too(tmp_path: Path) -> None:
    config = CONFIG.changed(thresholds={'telemetry': {'adapter_max_age_s': 0.5}})
    file = tmp_path / 'tasks.db'

    def saved_mode() -> str:
        return SafetyLatch(tmp_path / 'tasks.db.safety').mode[0]

    with ExitStack() as all_of_them:
        bench = all_of_them.enter_context(RuntimeBench(tmp_path, config=config))
        with adapter(bench):
            bench.runs('look around')
        bench.until(lambda: saved_mode() == 'SAFE', 'SAFE to be saved')
        bench.becomes('look around', 'PAUSED')
        for _ in range(2):
            crash(file)
            bench = RuntimeBench(tmp_path, config=config, ready=False, go_on=True)
            all_of_them.enter_context(bench)
            all_of_them.enter_context(adapter(bench))
            bench.until(lambda: saved_mode() != 'SAFE', 'its end to be saved')
        bench.begin()
        bench.runtime.call(settle())
        assert (bench.task('look around').held, bench.session.ran) == (True, [])
        assert bench.task('look around').reason == 'SAFE: adapter is silent'
        bench.console.handle_line(':resume')
        bench.becomes('look around', 'ACTIVE')


FAULT = 'Motion ended early: Service unavailable: /adapter/get_status'
ORDERS = (':forward 20', ':left 3', ':mast_close', ':demo', 'drive 2 m', ':cap')


@given(
    running=st.sampled_from(ORDERS),
    waiting=st.lists(st.sampled_from(ORDERS), min_size=1, max_size=4),
    fails=st.booleans(),
    asked=st.booleans(),
)
@settings(max_examples=examples(15), deadline=None)
def test_nothing_that_waits_begins_after_a_fault_before_a_person_resumes(
    running: str, waiting: list[str], fails: bool, asked: bool
) -> None:
    """Not even if a question, ``asked`` meanwhile, has ended before."""
    with tempfile.TemporaryDirectory() as folder, RuntimeBench(Path(folder)) as bench:
        bench.runs(running)
        (driving,) = bench.list_tasks()
        bench.session.faults[driving.id], bench.session.fails = FAULT, FAULT if fails else ''
        if asked:
            bench.session.quick.add('get_status')
            bench.runs(':submit get_status')
            bench.until(lambda: bench.task('get_status').terminal, 'the question to end')
            del bench.session.ran[1:]
        for line in waiting:
            bench.console.handle_line(line)

        def orders() -> list[Task]:
            return [task for task in bench.list_tasks() if task.name != 'get_status']

        bench.until(lambda: len(orders()) > len(waiting), 'all to be queued')
        bench.session.release.set()

        def is_held() -> bool:
            first, *others = orders()
            return first.terminal and all(task.held for task in others)

        bench.until(is_held, 'what waits to be held')
        assert len(bench.session.ran) == 1
        assert all(FAULT in task.reason for task in orders()[1:])
        bench.until(lambda: any('held (' in each for each in bench.said), 'a person to be told')
        bench.console.handle_line(':resume')
        bench.finish()
        assert len(bench.session.ran) == 1 + len(waiting)


def test_a_stop_and_the_watchdog_wait_for_nothing_in_a_blocked_loop(tmp_path: Path) -> None:
    with RuntimeBench(tmp_path, config=WATCHED) as bench:
        bench.runs('look around')
        with bench.blocked_loop():
            bench.console.handle_line(':stop')
            assert bench.runtime.halt.stop('a client').result(WAIT_S).ok
            order = bench.session.order
            assert (order[0], order.count('stop') >= 2) == ('begin answer: look around', True)
            assert bench.session.used[0].requested
            bench.until(lambda: bench.session.stops > 2, 'the watchdog')
        bench.replies('Stopped by the watchdog: the kernel was silent for')
        bench.becomes('look around', 'CANCELLED')
        bench.runs(':cap')  # the agent goes on
        bench.finish()


@given(st.lists(st.tuples(st.sampled_from(['beat', 'look']), st.floats(0.0, 4.0)), max_size=40))
def test_it_barks_at_the_first_look_after_each_silence(script: list[tuple[str, float]]) -> None:
    barks, now_s = list[str](), 100.0
    dog = Watchdog(2.0, barks.append, lambda: now_s)
    last, owed, expected = None, True, 0
    for what, seconds in script:
        now_s += seconds
        if what == 'beat':
            dog.beat()
            last, owed = now_s, True
        else:
            dog.check()
            if last is not None and owed and now_s - last > 2.0:
                expected, owed = expected + 1, False
        assert len(barks) == expected


def fail(*_: object) -> None:
    raise ZeroDivisionError('a bug in a listener')


def test_the_rover_is_told_to_stop_before_any_callback_and_none_that_raises_keeps_it_back(
    bench: RuntimeBench,
) -> None:
    """A callback that waited for the stop would wait for ever if it could keep it back."""
    bench.runs('look around')
    seen: list[int] = []

    def look(*_: object) -> None:
        bench.until(lambda: bench.session.stops, 'the stop to be sent')
        seen.append(bench.session.stops)

    for listener in (fail, look):
        bench.runtime.subscribe_to_stops(listener)
    pressed = bench.session.used[0].call_when_pressed
    with pressed(fail), pressed(look):
        assert bench.runtime.halt.stop('').result(WAIT_S).ok  # by somebody without a name
    bench.until(lambda: len(seen) == 2, 'the skill to be woken')
    assert (bench.session.stops, seen) == (1, [1, 1])
    bench.becomes('look around', 'CANCELLED')
    bench.replies('a bug in a listener')
    bench.runs(':cap')  # the agent goes on, and no message can claim that the rover was stopped
    bench.runtime.post(Said('no', 'an impostor', stops=bench.runtime.halt.stops))
    bench.becomes('capture_and_score', 'CANCELLED')
    bench.stopped(2)
    assert 'impostor' not in bench.task('capture_and_score').reason


def test_a_trigger_whose_edge_comes_while_a_stop_is_told_starts_nothing(
    bench: RuntimeBench,
) -> None:
    watched = TriggerConfig(name='dust', fact='zone', equals='bright', skill='turn_left')
    board, zones = TriggerBoard([watched]), iter(('dark', 'bright'))
    robot = RobotBench(bench, board).robot
    door = TriggerDoor(
        board, robot, facts=lambda: {'zone': next(zones)}, trace=bench.session.trace
    )

    async def tick() -> None:
        door.on_tick(bench.runtime.state)

    bench.runtime.call(tick())
    for listener in (lambda by: bench.runtime.call(tick()), board.on_stop):
        bench.runtime.subscribe_to_stops(listener)
    robot.stop('Anna').result(WAIT_S)
    (trigger,) = board.statuses()
    assert (trigger.state, trigger.fired_count) == (TriggerState.OFF, 0)
    assert trigger.why_not == 'off since a stop by Anna; :triggers on dust'


def test_in_a_pause_no_trigger_fires_until_all_is_resumed(bench: RuntimeBench) -> None:
    watched = TriggerConfig(name='dust', fact='zone', equals='bright', goal='go home')
    board, zone = TriggerBoard([watched]), ['dark']
    robot = RobotBench(bench, board).robot
    door = TriggerDoor(board, robot, facts=lambda: {'zone': zone[0]}, trace=bench.session.trace)
    bench.runtime.subscribe_to_ticks(door.on_tick)

    def edge(state: TriggerState) -> TriggerStatus:
        for zone[:] in (['dark'], ['bright']):
            bench.reply_to(Said('where are you?'))
        bench.until(lambda: board.statuses()[0].state is state, f'{state}')
        return board.statuses()[0]

    bench.runs('look around')
    bench.console.handle_line(':pause')
    bench.becomes('look around', 'PAUSED')
    assert edge(TriggerState.UNARMED).why_not.startswith('the user said pause')
    bench.runs(f':resume {bench.task("look around").id}')  # one task, and nothing else
    assert edge(TriggerState.UNARMED).fired_count == 0
    bench.reply_to(Asked(UserInterruptType.RESUME))
    assert edge(TriggerState.FIRED).fired_count == 1
    bench.becomes('go home', 'PENDING')


def test_a_no_that_counts_as_a_stop_disarms_the_triggers_and_drops_earlier_orders(
    bench: RuntimeBench,
) -> None:
    watched = TriggerConfig(name='dust', fact='zone', equals='bright', skill='speak')
    board, by = TriggerBoard([watched]), list[str]()
    for listener in (board.on_stop, by.append):
        bench.runtime.subscribe_to_stops(listener)
    bench.runs(':forward 6')
    turn = bench.runtime.make_task('turn_left', {'duration_s': 4.0})
    earlier = Ordered(turn, stops=bench.runtime.halt.stops)
    bench.console.handle_line('no')
    bench.becomes('move_forward', 'CANCELLED')
    (trigger,) = board.statuses()
    assert (trigger.state, by) == (TriggerState.OFF, ['the user'])
    bench.runtime.post(earlier)
    assert earlier.reply.result(WAIT_S).dropped
    bench.runs(':cap')  # what comes later runs
    bench.stopped(1)


@pytest.mark.parametrize('skill', ['next', 'react'])
def test_a_resumed_task_waits_for_what_ignored_its_cancellation(
    skill: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    actors = {'deaf': Actor(obedient=False), 'next': Actor()}
    skills = [skill_named(*each, resources_required=['base']) for each in actors.items()]
    config = CONFIG.changed(agent={'tasks': {'cancel_grace_s': 0.05}})
    with AgentWorld(
        tmp_path, model_call('next'), Say('Done.'), skills=(*skills,), config=config
    ) as world:
        runner, call = world.runtime.runner, world.runtime.call
        first = world.submit('deaf')
        assert actors['deaf'].begun.wait(WAIT_S)
        second = world.submit(skill, **({'text': 'go'} if skill == 'react' else {}))
        call(runner.pause(second.id))
        call(runner.cancel(first.id))
        assert 'ignored its cancellation' in call(runner.wait(first.id)).reason
        call(runner.resume(second.id))
        told = 'waits for base, which deaf still holds'
        world.until(
            lambda: told in [event.message for event in world.events], 'the wait to be told'
        )
        assert not actors['next'].begun.is_set()
        actors['deaf'].finish()
        assert actors['next'].begun.wait(WAIT_S), call(runner.wait(second.id))
        actors['next'].finish()
        assert call(runner.wait(second.id)).state.name == 'COMPLETED'


def test_a_pause_holds_back_more_tasks_than_the_kernel_looks_at(bench: RuntimeBench) -> None:
    bench.runs('look around')
    texts = [f'goal {number}' for number in range(runtime_module.MAX_KERNEL_TASKS + 5)]
    for text in texts:
        bench.console.handle_line(text)
    bench.becomes(texts[-1], 'PENDING')
    bench.console.handle_line(':pause')
    bench.becomes('look around', 'PAUSED')
    bench.until(lambda: bench.said[-1].startswith('paused '), 'an answer')
    bench.runtime.call(settle())
    assert bench.session.ran == ['answer: look around']
    assert all(task.held for task in bench.list_tasks())
    bench.console.handle_line(':resume')
    bench.finish()
    assert bench.session.ran[1:] == ['answer: look around', *(f'answer: {t}' for t in texts)]


def test_resume_goes_on_past_a_task_that_ends_meanwhile(
    bench: RuntimeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.runs('look around')
    for text in ('one', 'two'):
        bench.console.handle_line(text)
    bench.becomes('two', 'PENDING')
    bench.console.handle_line(':pause')
    bench.becomes('look around', 'PAUSED')
    bench.until(lambda: bench.said[-1].startswith('paused '), 'an answer')
    runner, ended = bench.runtime.runner, bench.task('one').id
    resume = runner.resume

    async def resume_or_end(task_id: str) -> None:
        if task_id == ended:
            await runner.cancel(ended)
        await resume(task_id)

    monkeypatch.setattr(runner, 'resume', resume_or_end)
    bench.console.handle_line(':resume')
    bench.finish()
    assert bench.session.ran[1:] == ['answer: look around', 'answer: two']
    assert any('has ended: CANCELLED' in each for each in bench.said)


def test_a_pause_holds_what_waits_for_a_retry_or_for_another_task(bench: RuntimeBench) -> None:
    submit = bench.runtime.runner.submit
    bench.session.fails = 'it is dark'
    bench.session.quick = {'answer: look around'}
    again = Task('react', metadata={'text': 'look around'}, max_retries=3)
    bench.runtime.call(submit(again))
    bench.becomes('look around', 'WAITING')
    bench.session.fails = ''
    bench.runs(':mast_rotate')  # it cannot be paused
    rotating = bench.task('mast_rotate')
    bench.runtime.call(submit(Task('mast_close', blocked_by=(rotating.id,))))
    bench.console.handle_line(':pause')
    bench.until(lambda: any('cannot be paused' in each for each in bench.said), 'an answer')
    bench.session.release.set()
    bench.becomes('mast_rotate', 'COMPLETED')
    bench.until(lambda: 'WAITING' not in bench.tasks().values(), 'the waits to end')
    bench.runtime.call(settle())
    assert bench.session.ran == ['answer: look around', 'mast_rotate']
    bench.console.handle_line(':resume')
    bench.becomes('mast_close', 'COMPLETED')
    bench.becomes('look around', 'COMPLETED')


def test_what_cannot_be_cancelled_outlasts_a_pause_and_ends_with_a_stop(tmp_path: Path) -> None:
    skills = dict(CONFIG.skills.skills)
    skills['mast_rotate'] = skills['mast_rotate'].model_copy(update={'preemptible': True})
    shipped = CONFIG.skills.model_copy(update={'skills': skills})
    registry = make_registry(CONFIG.model_copy(update={'skills': shipped}))
    with RuntimeBench(tmp_path, registry=registry) as bench:

        def pause() -> None:
            """The rover stops, and is told so; the skill goes on."""
            told = 'cannot be paused; it ends by itself, or :stop ends it'
            stops, said = bench.session.stops, len(bench.said)
            bench.console.handle_line(':pause')
            bench.until(lambda: any(told in line for line in bench.said[said:]), 'an answer')
            bench.stopped(stops + 1)
            bench.runtime.call(settle())
            assert bench.tasks()['mast_rotate'] == 'ACTIVE'
            assert not bench.session.used[-1].requested

        bench.runs(':mast_rotate')
        bench.console.handle_line('look around')
        bench.becomes('look around', 'PENDING')
        pause()
        bench.session.release.set()
        bench.becomes('mast_rotate', 'COMPLETED')
        bench.runtime.call(settle())
        assert bench.session.ran == ['mast_rotate']
        bench.console.handle_line(':resume')
        bench.becomes('look around', 'COMPLETED')
        bench.session.release.clear()
        for paused in (False, True):
            bench.runs(':mast_rotate')
            if paused:
                pause()
            stops = bench.session.stops
            bench.console.handle_line(':stop')
            assert bench.session.stops == stops + 1  # before the line returns
            assert bench.session.used[-1].requested
            bench.becomes('mast_rotate', 'CANCELLED')


@pytest.mark.parametrize('later_run', [False, True])
def test_a_motion_that_was_interrupted_is_not_repeated(tmp_path: Path, later_run: bool) -> None:
    with RuntimeBench(tmp_path) as bench:
        bench.runs(':forward 2')
        if not later_run:
            bench.console.handle_line(':pause')
            is_not_repeated(bench, ran=1)
    if later_run:
        with RuntimeBench(tmp_path) as bench:
            is_not_repeated(bench, ran=0)


def is_not_repeated(bench: RuntimeBench, *, ran: int) -> None:
    bench.becomes('move_forward', 'PAUSED')
    bench.console.handle_line(':resume')
    bench.becomes('move_forward', 'FAILED')
    told = 'a motion is not repeated by itself'
    bench.until(lambda: any(told in line for line in bench.said), 'its end to be told')
    assert sum(told in line for line in bench.said) == 1
    assert told in bench.task('move_forward').reason
    assert len(bench.session.ran) == ran


def test_a_crash_is_told_with_what_becomes_of_the_tasks() -> None:
    begun, turn = Task('move_forward', metadata={'begun': True}), Task('react')
    for tasks, text in (
        ([], 'no task was running'),
        ([Task('move_forward')], 'resumed tasks: 1'),  # it had not begun
        ([turn, begun], 'resumed tasks: 1; not repeated: move_forward'),
        ([begun], 'not repeated: move_forward'),
        ([turn, Task('react', held=True)], 'resumed tasks: 1; held tasks: 1 (:resume runs them)'),
    ):
        assert crash_text(tasks) == text


def test_a_goal_is_tried_again_in_a_new_turn_and_a_motion_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    script = (model_call('decide', type='ABORT', reason='It is dark.'), Say('Now it is light.'))
    with AgentWorld(tmp_path, *script) as world:
        ends = dict[str, tuple[int, str, str]]()
        world.rover.clock.ros_time_is_active = False  # no wait makes this clock pass
        world.rover.faults['move_forward'] = lambda: ServiceFailed('Obstacle ahead')
        for name, arguments in (
            ('react', {'text': 'Tell me a joke.'}),
            ('move_forward', {'duration_s': 2.0}),
        ):
            task = world.runtime.make_task(name, arguments)
            task.max_retries = 2
            world.reply_to(Ordered(task))
            end = world.runtime.call(world.runtime.runner.wait(task.id, WAIT_S), 2 * WAIT_S)
            outcome = end.metadata['outcome']['answer']
            ends[name] = (end.attempts, end.state.name, f'{outcome}/{end.reason}')
        assert ends == {
            'react': (1, 'COMPLETED', 'Now it is light./'),
            'move_forward': (0, 'FAILED', 'Obstacle ahead/Obstacle ahead'),
        }


def test_a_retry_of_a_goal_has_a_thread_of_its_own_and_that_of_a_plan_has_not() -> None:
    for attempts, metadata, ends in ((0, {}, ''), (2, {}, '/2'), (2, {'plan': {'goal': 'x'}}, '')):
        task = Task('react', metadata=metadata, attempts=attempts)
        assert turn_thread(task) == f'{task.id}{ends}'


def test_a_skill_of_others_that_moves_is_repeated_only_if_it_leads_to_a_state(
    tmp_path: Path,
) -> None:
    registry = make_registry(CONFIG)
    skills = {
        'wiggle': (['base'], False),
        'nod': (['mast', 'camera'], False),
        'park': (['base', 'mast'], True),
        'film': (['camera'], False),
        'think': ([], False),
    }
    for name, (needs, repeatable) in skills.items():
        settings = {'resources_required': needs, 'repeatable': repeatable}
        registry.register(skill_named(name, lambda call: ToolResult.success(), **settings))
    for name in skills:
        with RuntimeBench(tmp_path, registry=registry) as bench:
            bench.runs(f':submit {name}')
            crash(tmp_path / 'tasks.db')
            with RuntimeBench(tmp_path, registry=registry, go_on=True) as again:
                session, task = again.session, again.task(name)
                again.until(lambda s=session, t=task: s.ran or t.terminal, f'{name} to go on')
                is_repeated = name not in ('wiggle', 'nod')
                assert session.ran == [name] * is_repeated
                assert ('not repeated' in task.reason) is not is_repeated


def test_after_a_crash_a_skill_waits_until_the_rover_tells_how_it_stands(tmp_path: Path) -> None:
    with RuntimeBench(tmp_path) as bench:
        bench.runs('look around')
    with closing(sqlite3.connect(tmp_path / 'tasks.db')) as file, file:
        file.execute("UPDATE task SET state = 'active'")
    with RuntimeBench(tmp_path, ready=False, go_on=True) as bench:
        bench.session.answers = False
        bench.begin()
        bench.becomes('look around', 'RECOVERING')
        bench.runtime.call(settle())
        assert bench.session.ran == []
        bench.session.answers = True
        bench.becomes('look around', 'ACTIVE')
        bench.session.release.set()
        bench.becomes('look around', 'COMPLETED')


def test_after_a_crash_of_an_ordinary_start_nothing_of_the_run_before_it_goes_on(
    tmp_path: Path,
) -> None:
    with RuntimeBench(tmp_path) as bench:
        bench.runs('look around')
    with ExitStack() as runs:
        runs.enter_context(RuntimeBench(tmp_path, ready=False))  # waits for the other nodes
        crash(tmp_path / 'tasks.db')
        bench = runs.enter_context(RuntimeBench(tmp_path, go_on=True))
        bench.runtime.call(settle())
        task = bench.task('look around')
        assert (task.held, task.reason) == (True, 'left from an earlier run')
        assert bench.session.ran == []
        bench.console.handle_line(':resume')
        bench.becomes('look around', 'ACTIVE')


def test_a_second_agent_that_is_refused_releases_no_latch(tmp_path: Path) -> None:
    def latch() -> str:
        return SafetyLatch(tmp_path / 'tasks.db.safety').reason

    with RuntimeBench(tmp_path) as bench:
        second = RuntimeHarness(
            tmp_path, ScriptedAgentSession(1.0), CONFIG, bench.runtime.registry
        )
        bench.hear('estop', pressed=True)
        bench.until(latch, 'the latch to be saved')
        with pytest.raises(StoreError, match='in use'):
            second.runtime.start(go_on=False)
        assert latch() == 'e-stop pressed'


def test_a_pause_holds_the_goal_to_which_a_turn_is_just_switching(
    bench: RuntimeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, run_turn = TaskStore.write, bench.session.run_turn
    switching, has_paused = threading.Event(), threading.Event()

    def write_late(store: TaskStore, changes: Sequence[Change]) -> asyncio.Future[None]:
        async def late() -> None:
            await done
            await run_in_thread('disk', has_paused.wait)

        done = write(store, changes)
        if not any(each.before is None and 'switches' in each.task.metadata for each in changes):
            return done
        switching.set()
        return asyncio.ensure_future(late())

    def switch(said: Utterance, task: Task, cancellation: Cancellation) -> Outcome:
        if 'switches' in task.metadata:
            return run_turn(said, task, cancellation)
        return Outcome(True, 'it is dark', goal='find the light')

    monkeypatch.setattr(TaskStore, 'write', write_late)
    monkeypatch.setattr(bench.session, 'run_turn', switch)
    bench.console.handle_line('look around')
    assert switching.wait(WAIT_S)
    bench.console.handle_line(':pause')
    bench.stopped(1)
    bench.runtime.call(settle())
    has_paused.set()
    bench.becomes('look around', 'PAUSED')
    bench.until(lambda: bench.task('find the light').held, 'the new goal to be held')
    bench.runtime.call(settle())
    assert bench.session.ran == []


def test_a_crash_of_the_kernel_ends_all_motion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults: list[str] = []
    tick = kernel_loop.tick

    def failing(state: BrainState, rules: Thresholds) -> BrainState:
        if faults:
            raise ValueError(faults[0])
        return tick(state, rules)

    monkeypatch.setattr(kernel_loop, 'tick', failing)
    with RuntimeBench(tmp_path) as bench:
        bench.runs('look around')
        bench.console.handle_line('then this')
        bench.becomes('then this', 'PENDING')
        bench.runtime.subscribe_to_stops(fail)
        with bench.session.used[0].call_when_pressed(fail):
            faults.append('a bug in the kernel')
            bench.hear('battery', fraction=0.7)
            bench.becomes('look around', 'CANCELLED')
            bench.becomes('then this', 'CANCELLED')
            bench.until(lambda: bench.session.stops, 'the stop')
        bench.replies("Stopped by an internal error: ValueError('a bug in the kernel')")
        bench.console.handle_line(':cap')
        assert bench.console.wait_until_idle(WAIT_S), 'a line that nobody answers'
        assert 'an internal error' in bench.said[-1]
        assert 'start the agent again' in bench.said[-1]
        assert bench.session.ran == ['answer: look around']
        bench.console.handle_line(':stop')
        assert bench.session.stops >= 2


def test_a_store_that_fails_stops_the_rover_and_nothing_begins_until_it_is_mended(
    bench: RuntimeBench,
) -> None:
    bench.runs('look around')
    with no_file_beyond(0):
        bench.console.handle_line(f':cancel {bench.task("look around").id[:8]}')
        assert 'cannot be written' in bench.said[-1]
        bench.until(lambda: bench.session.stops == 1, 'the stop')
        bench.replies('Nothing runs until tasks can be saved again: ')
        bench.console.handle_line(':mast_open')
        bench.until(lambda: 'cannot be written' in bench.said[-1], 'an answer')
        assert bench.session.ran == ['answer: look around']
    bench.becomes('look around', 'CANCELLED')
    bench.until(lambda: bench.runtime.runner.failed is None, 'the store to be mended')
    bench.runs(':cap')
    bench.finish()


steps = st.one_of(
    st.sampled_from(
        [
            *('hello', ':cap', ':forward 1', ':mast_open', ':demo', 'go to the shade immediately'),
            *(':stop', ':pause', ':resume', ':clear', ':clear', 'stop!!'),
            *('press', 'press', 'let go', 'let go', 'finish', 'settle', 'settle'),
        ]
    ),
    st.sampled_from([0.05, 0.2, 0.5, 0.81, 1.0]),
)


def clear(bench: RuntimeBench) -> None:
    """Before the e-stop is released, or it would be granted."""
    heard = len(bench.said)
    bench.console.handle_line(':clear')
    bench.until(lambda: any('clear' in line for line in bench.said[heard:]), 'its answer')


@settings(max_examples=examples(15), deadline=None, phases=QUICKLY)
@given(st.lists(steps, min_size=4, max_size=12))
def test_while_the_e_stop_or_the_latch_holds_no_work_begins(script: list[str | float]) -> None:
    with tempfile.TemporaryDirectory() as folder, RuntimeBench(Path(folder)) as bench:
        runtime, session = bench.runtime, bench.session
        session.quick = {'mast_close'}
        held = threading.Event()
        wrong: list[str] = []
        session.on_begin = lambda what: wrong.append(what) if held.is_set() else None
        for step in script:
            if step == 'press':
                bench.hear('estop', pressed=True)
                bench.mode('SAFE')
                clear(bench)  # refused, once the hold has been carried out
                held.set()
            elif step == 'let go':
                bench.hear('estop', pressed=False)
                bench.until(lambda: not runtime.state.robot.estop, 'the release')
            elif step == 'finish':
                session.release.set()
                bench.runtime.call(settle())
                session.release.clear()
            elif step == 'settle':
                bench.runtime.call(settle())
            elif isinstance(step, float):
                bench.hear('battery', fraction=step)
            else:
                if step == ':clear' and not runtime.state.robot.estop:
                    held.clear()
                if step == ':clear':
                    clear(bench)
                else:
                    bench.console.handle_line(step)
            if held.is_set():
                assert runtime.state.tasks.mode is Mode.SAFE
        bench.hear('estop', pressed=False)
        bench.until(lambda: not runtime.state.robot.estop, 'the release')
        held.clear()
        assert wrong == []
        bench.hear('battery', fraction=1.0)
        bench.console.handle_line(':clear')
        bench.console.handle_line(':resume')
        session.release.set()
        assert bench.console.wait_until_idle(WAIT_S), bench.tasks()
        bench.until(lambda: {*bench.tasks().values()} <= {*DONE}, 'all to end')


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RobotBench]:
    with RuntimeBench(tmp_path) as bench:
        yield RobotBench(bench)


def test_a_loop_that_does_not_answer_or_has_ended_is_told_and_the_work_does_not_come_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, given_up, in_time = (
        Task('react', metadata={'text': text}) for text in ('late', 'given up', 'in time')
    )

    async def ask() -> None:
        await world.robot.call(asyncio.sleep(0))

    with RuntimeBench(tmp_path) as bench:
        world = RobotBench(bench)
        with monkeypatch.context() as quick:
            quick.setattr(task_port, 'CALL_TIMEOUT_S', 0.2)
            with bench.blocked_loop(), pytest.raises(RobotBusy, match=r'within 0\.2 s'):
                run(lambda: world.robot.order(late))

        async def give_up() -> None:
            submitting = asyncio.ensure_future(world.robot.order(given_up))
            await asyncio.sleep(0)  # it is on its way
            submitting.cancel()
            await asyncio.wait([submitting])

        with bench.blocked_loop():
            run(give_up)
        run(lambda: world.robot.order(in_time))  # behind it
        assert list(bench.tasks()) == ['in time']
    with pytest.raises(TaskError, match='The agent ends'):
        run(ask)


def test_what_is_said_to_a_loop_that_does_not_answer_does_not_come_late(
    world: RobotBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its client may say it again."""
    lines = {':forward 2': 'move_forward', 'look around': 'look around'}
    with monkeypatch.context() as quick, world.bench.blocked_loop():
        quick.setattr(task_port, 'CALL_TIMEOUT_S', 0.2)
        for line in lines:
            with pytest.raises(RobotBusy, match='try again'):
                run(lambda line=line: world.robot.say(line))
    for what in lines.values():
        world.bench.becomes(what, 'CANCELLED')
    assert 'nobody answered' in world.bench.task('look around').reason


def test_nothing_is_submitted_before_tasks_may_run(tmp_path: Path) -> None:
    with RuntimeBench(tmp_path, ready=False) as bench:
        early = RobotBench(bench)
        assert early.robot.not_ready_reason() == NOT_READY_TEXT
        with pytest.raises(TaskError, match='not up yet'):
            run(lambda: early.robot.order(Task('capture_and_score')))
        assert bench.list_tasks() == []
        early.robot.startup_failure = 'The agent cannot begin: no database'
        assert early.robot.not_ready_reason() == 'The agent cannot begin: no database'
        early.robot.startup_failure = ''
        bench.begin()
        assert early.robot.not_ready_reason() == ''
        run(lambda: early.robot.order(Task('capture_and_score')))


@pytest.mark.parametrize('way', ['order', 'interrupt'])
def test_a_task_that_a_stop_overtakes_is_not_submitted(
    world: RobotBench, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both come while the kernel is in a tick: it hears of the stop next."""
    in_tick, go_on, tick = threading.Event(), threading.Event(), kernel_loop.tick

    def slow(state: BrainState, rules: Thresholds) -> BrainState:
        in_tick.set()
        go_on.wait(WAIT_S)
        return tick(state, rules)

    async def both() -> Task:
        monkeypatch.setattr(kernel_loop, 'tick', slow)
        await asyncio.to_thread(in_tick.wait, WAIT_S)
        submitting = asyncio.ensure_future(getattr(world.robot, way)(Task('capture_and_score')))
        await asyncio.sleep(0)  # it reads how many stops there were
        await asyncio.wrap_future(world.robot.stop('a test'))
        go_on.set()
        return await submitting

    with pytest.raises(TaskError, match='A stop came first'):
        run(both)
    assert world.bench.session.ran == []


def test_a_stop_drops_what_was_said_before_it_however_late_its_thread_begins(
    world: RobotBench,
) -> None:
    stopped, console = threading.Event(), world.bench.console

    def late(*line: Any) -> None:
        stopped.wait(WAIT_S)
        console.handle_remote_line(*line)

    async def both() -> str:
        saying = [asyncio.ensure_future(world.robot.say(each)) for each in (':cap', 'look around')]
        await asyncio.sleep(0)  # they are said
        await asyncio.wrap_future(world.robot.stop('a test'))
        stopped.set()
        return '; '.join([(await each).text for each in saying])

    world.robot.attach(late, lambda: True)
    assert run(both) == f'{STOP_OVERTOOK_TEXT}; {STOP_OVERTOOK_TEXT}'
    assert world.bench.session.ran == []


def hanging(entered: threading.Semaphore, go_on: threading.Event) -> Callable[..., Any]:
    """Something that does not come back until it is let go."""

    def hang(*_: Any) -> Outcome:
        entered.release()
        assert go_on.wait(WAIT_S)
        return Outcome(True, 'late')

    return hang


def test_no_stop_waits_for_another_stop_or_for_what_somebody_says(
    world: RobotBench,
) -> None:
    entered, go_on = threading.Semaphore(0), threading.Event()
    session, stopping = world.bench.session, threading.Semaphore(0)
    world.bench.robot.rover_status = hanging(entered, go_on)  # of the console

    async def all_at_once() -> list[Outcome]:
        saying = [asyncio.ensure_future(world.robot.say(':status')) for _ in range(40)]
        await asyncio.to_thread(entered.acquire, timeout=WAIT_S)
        assert (await world.robot.say('stop!')).ok
        assert (await asyncio.wrap_future(world.robot.stop('a test'))).ok
        assert not any(each.done() for each in saying)
        session.stop_rover = hanging(stopping, go_on)
        answers = asyncio.gather(
            *[asyncio.wrap_future(world.robot.stop(f'caller {n}')) for n in range(40)]
        )
        await asyncio.sleep(0)
        # All of them are with the rover before one has its answer.
        for _ in range(40):
            assert await asyncio.to_thread(stopping.acquire, timeout=WAIT_S)
        go_on.set()
        await asyncio.gather(*saying, return_exceptions=True)
        return await answers

    assert all(outcome.ok for outcome in run(all_at_once))
    assert session.stops == 2


SAID = [  # and their words; what each command answers is in test_console.py
    (':dance', False, ':dance'),
    ('', False, 'The line is empty'),
    ('  \n', False, 'The line is empty'),
    ('resume', True, 'nothing is paused'),
    ('x' * 10_001, False, '10001 characters; a line may have 10000'),
    ('stop ' * 50_000, False, '250000 characters'),
    (':quit', False, 'for the operator'),
    (':run /etc/passwd', False, 'only at the console'),
    (':tree /tmp/x.svg', False, 'only at the console'),
]


def test_what_is_said_is_answered_in_words(world: RobotBench) -> None:
    for text, ok, words in SAID:
        result = run(lambda text=text: world.robot.say(text))
        assert (result.ok, result.task, words in result.text) == (ok, None, True), text[:40]


@settings(
    deadline=None,
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=st.one_of(
        st.text(max_size=30),
        st.sampled_from([':', '：', ':ed', ':quit ', ':edit {', '\x00', ':why 0', 'yes', 'pause']),
    )
)
def test_whatever_is_said_is_answered(world: RobotBench, text: str) -> None:
    world.bench.session.release.set()
    result = run(lambda: world.robot.say(text))
    assert result.task is not None or result.text
    assert world.bench.console.last_outcome is None
    assert not world.bench.console.busy


def test_a_question_is_answered(world: RobotBench) -> None:
    robot, bench, session = world.robot, world.bench, world.bench.session
    op = {'skill': 'move_forward', 'arguments': {'duration_s': 9}}
    drive = Question(id='q1a2b', text='Drive?', op=op, asked_at=4e9)
    session.asks = [drive]
    session.release.set()
    bench.console.handle_line('go')
    bench.asked(drive)
    assert robot.approval_deadline(drive) == 4e9 + session.approval_queue.timeout_s

    def answer(which: str, action: ApprovalAction, arguments: Any = None) -> Outcome:
        return run(lambda: robot.answer(which, action, arguments, 'slow', by='Anna (page)'))

    for which in ('', 'q9'):
        with pytest.raises(QuestionNotFound, match=r'open: q1a2b|Its id is missing'):
            answer(which, ApprovalAction.APPROVE)
    assert not answer('q1a2b', ApprovalAction.EDIT).ok
    for wrong in ({'duration_s': 'long'}, {'duration_s': -1}, {'speed': 3}, {}):
        with pytest.raises(BadTask):
            answer('q1a2b', ApprovalAction.EDIT, wrong)
    assert [each.id for each in robot.questions()] == ['q1a2b']
    assert answer('q1a2b', ApprovalAction.EDIT, {'duration_s': 2}).ok
    bench.until(lambda: session.answers_to, 'the answer')
    ((_, got),) = session.answers_to
    assert (got.action, got.arguments) == (ApprovalAction.EDIT, {'duration_s': 2})
    assert (got.why, got.by) == ('slow', 'Anna (page)')
    assert robot.questions() == ()
    with pytest.raises(QuestionNotFound, match='No question is open'):
        answer('q1a2b', ApprovalAction.APPROVE)
    told = [line for line in bench.said if line.startswith('(http)')]
    assert any(line.endswith('q1a2b, by Anna (page)') for line in told)


def test_the_trail_follows_the_odometry(world: RobotBench) -> None:
    def drive(x: float) -> None:
        world.bench.hear(
            'odometry',
            **{'x': x, 'y': 0.0, 'z': 0.0, 'orientation_z': 0.0, 'orientation_w': 1.0},
            **{'linear_x': 0.1, 'angular_z': 0.0},
        )
        state = lambda: world.bench.runtime.state.robot.pose.x == x  # noqa: E731
        world.bench.until(state, f'x = {x}')
        world.robot.record_tick(world.bench.runtime.state)

    world.robot.record_tick(world.bench.runtime.state)
    assert world.robot.trail() == ()  # nobody knows where it is
    for x in (1.0, 1.001, 1.5, 1.5, 2.0):
        drive(x)
    assert world.robot.trail() == ((1.0, 0.0), (1.5, 0.0), (2.0, 0.0))


def test_the_health_of_the_kernel_and_the_tasks(
    world: RobotBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def health() -> dict[str, bool]:
        return {each.name: each.ok for each in world.robot.node_statuses()}

    assert health() == {'adapter': True, 'kernel': False, 'tasks': True}  # it has never ticked
    world.robot.record_tick(world.bench.runtime.state)
    assert health() == {'adapter': True, 'kernel': True, 'tasks': True}
    now = robot_module.time.monotonic()
    with monkeypatch.context() as later:
        later.setattr(robot_module.time, 'monotonic', lambda: now + PATIENT_S + 1.0)
        assert health() == {'adapter': True, 'kernel': False, 'tasks': True}  # it hangs
    monkeypatch.setattr(world.bench.runtime, 'failure', 'an internal error')
    assert health()['kernel'] is False
    assert world.robot.not_ready_reason() == 'an internal error'


def test_an_order_to_an_agent_that_has_ended_is_answered_at_once(tmp_path: Path) -> None:
    with RuntimeBench(tmp_path) as bench:
        runtime = bench.runtime
    for message in (Ordered(runtime.make_task('get_status', {})), Said('go')):
        runtime.post(message)
        assert message.reply.result(0).text == 'The agent ends; ask the next one'
