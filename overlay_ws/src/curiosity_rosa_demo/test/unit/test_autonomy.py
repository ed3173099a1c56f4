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
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import product
from pathlib import Path
import re
import sqlite3
import threading
from typing import Any

from curiosity_rosa_demo.agent.policy import port
from curiosity_rosa_demo.agent.policy.clock import (
    MAX_MESSAGE_CHARS,
    MAX_MESSAGES,
    TickScheduler,
    WakeReasons,
)
from curiosity_rosa_demo.agent.policy.port import (
    ACTIVITY_KEY,
    AUTO_PRIORITY,
    check_world,
    RuntimePort,
    RuntimeView,
    tasks_of,
)
from curiosity_rosa_demo.agent.policy.store import PolicyStore, PolicyStoreError
from curiosity_rosa_demo.agent.policy.suggestion_provider import (
    LLMPolicyProvider,
    make_provider,
    missing_model_note,
)
from curiosity_rosa_demo.agent.policy.world import (
    Command,
    Ongoing,
    PolicyAction,
    PromptSituation,
    Senses,
    Source,
    WorldModel,
    WorldState,
)
from curiosity_rosa_demo.agent.react.plan import check_plan
from curiosity_rosa_demo.agent.runtime.action_dispatcher import CHARGE_PRIORITY
from curiosity_rosa_demo.agent.runtime.task_skills import MAX_GOAL_SWITCHES
from curiosity_rosa_demo.agent.runtime.threads import PeriodicWorker
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.task import check_task, StoreError, TaskError
from curiosity_rosa_demo.domain.plan import Plan
from curiosity_rosa_demo.infra.config.behaviour import WorldView
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config, shipped_config_dir
from examples import examples
from harness import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_world import instant, PolicyRun, shipped_world, world_of
import pytest
from runtime_world import AutonomyBench, config_with_world, HOUR, MIN, REGISTRY, settle, TEN
from skill_world import no_file_beyond
import yaml


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
    ran, tasks = list(bench.session.ran), len(bench.list_tasks())
    for _ in range(hours):
        bench.at += HOUR
        for _ in range(2):  # its thread looks around after each answer
            bench.autonomy.status()
    assert bench.session.ran == ran
    assert len(bench.list_tasks()) == tasks


def ends_cancelled(bench: AutonomyBench) -> None:
    for name in ('react', 'activity'):
        bench.become(name, 'CANCELLED')
    nothing_begins(bench)


def is_off(bench: AutonomyBench) -> None:
    nothing_begins(bench)
    assert bench.autonomy.status().answer.startswith('auto is off')


def raises(error: Exception) -> Any:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    return fail


# --- a day ----------------------------------------------------------------------------------


def test_what_is_due_begins_as_tasks_of_the_kernel_and_ends_properly(bench: AutonomyBench) -> None:
    surveys(bench)
    bench.replies('action.started: survey, by routine')
    task_id, plan = bench.session.turns[0]
    assert plan is not None
    steps = [step.action for step in Plan.from_dict(plan).steps]
    assert steps == ['mast_open', 'capture_and_score']
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
    bench.pass_time(HOUR)
    assert bench.session.ran == ['answer: surveys the ground']  # again after two hours
    bench.pass_time(HOUR)
    bench.goes_on('survey')
    told = bench.autonomy.decision_log(50).answer
    assert told.count('began survey, by the routine') == 2
    assert 'Tue 24 Nov 10:00' in told


# --- stops ----------------------------------------------------------------------------------


@pytest.mark.parametrize('where', ['observe', '__init__', 'save', 'post', 'submit'])
def test_a_stop_at_any_moment_of_a_tick_leaves_nothing_that_begins(
    bench: AutonomyBench, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner: Any = {
        'observe': RuntimePort,
        'save': PolicyStore,
        '__init__': TickScheduler,  # it is switched on
        'post': bench.runtime,
        'submit': bench.runtime.runner,
    }[where]
    real, stopped = getattr(owner, where), list[str]()

    def stop_first(*arguments: Any, **named: Any) -> Any:
        if not stopped:
            stopped.append(where)
            bench.runtime.halt.stop('the test').result()
        return real(*arguments, **named)

    monkeypatch.setattr(owner, where, stop_first)
    bench.autonomy.switch_on()
    bench.until(lambda: stopped and not bench.is_on, 'it to be off')
    bench.runtime.call(settle())
    nothing_begins(bench)
    assert [task for task in bench.list_tasks() if not task.terminal] == []
    assert (bench.session.ran, bench.state.activity) == ([], None)


def test_an_activity_that_waited_too_long_for_its_turn_never_begins(
    bench: AutonomyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(port, 'CALL_TIMEOUT_S', 0.3)
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
    is_off(bench)


def test_off_holds_though_it_was_asked_for_while_it_was_being_switched_on(
    bench: AutonomyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    post, made, posted = PeriodicWorker.post, TickScheduler.__init__, threading.Event()

    def tell(*arguments: Any) -> None:
        post(*arguments)
        posted.set()

    off = threading.Thread(target=bench.autonomy.switch_off, args=('by another operator',))

    def ask_first(*arguments: Any) -> None:
        monkeypatch.setattr(PeriodicWorker, 'post', tell)
        off.start()
        assert posted.wait(20.0)
        made(*arguments)

    monkeypatch.setattr(TickScheduler, '__init__', ask_first)
    bench.autonomy.switch_on()
    off.join(20.0)
    is_off(bench)


# --- a person goes first --------------------------------------------------------------------


def test_a_pause_holds_it_until_somebody_says_resume_to_it(bench: AutonomyBench) -> None:
    bench.runs(':mast_open')
    bench.on()
    bench.console.handle_line(':pause')
    bench.replies('auto is held until you say resume')
    bench.console.handle_line(f':resume {bench.task("mast_open").id}')
    bench.finish()
    bench.until(lambda: 'the user said pause' in bench.autonomy.status().answer, 'the pause')
    bench.pass_time(HOUR)
    assert bench.activity == ''
    bench.session.release.clear()
    bench.console.handle_line(':resume')
    bench.replies('auto goes on')
    for _ in range(3):
        bench.become('react', 'ACTIVE')
        bench.console.handle_line(':pause')
        bench.console.handle_line(':resume')
    bench.console.handle_line(':pause')
    bench.until(lambda: bench.state.activity.held, 'it to be held')
    bench.become('react', 'PAUSED')
    bench.pass_time(5 * MIN)
    assert bench.states('react') == ['PAUSED']


def test_a_person_an_e_stop_and_a_message_go_first_and_it_goes_on_afterwards(
    bench: AutonomyBench,
) -> None:
    assert 'ignored: auto is off' in bench.autonomy.post_message('too early').answer
    surveys(bench)
    first = bench.session.turns[0]
    bench.session.quick = {'mast_close'}
    bench.console.handle_line(':mast_close')
    bench.become('mast_close', 'COMPLETED')
    bench.become('react', 'ACTIVE')
    bench.until(lambda: len(bench.session.turns) == 2, 'the survey to go on')
    assert (bench.session.turns[1], bench.activity) == (first, 'survey')
    paths = [part for each in bench.decisions() for part in each.path]
    assert any("a person's task goes first: mast_close" in part for part in paths)
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


def test_its_own_charging_goes_on_when_the_battery_is_low_and_though_it_is_off(
    tmp_path: Path,
) -> None:
    config = config_with_world({'routine': [{'activity': 'charge'}]})
    with AutonomyBench(tmp_path, config=config) as bench:
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
        assert bench.autonomy.switch_off('by the operator').ok
        assert bench.states('charge') == ['ACTIVE']
        bench.hear('battery', fraction=0.95)
        bench.become('charge', 'COMPLETED')
        bench.goes_on('')


# --- messages -------------------------------------------------------------------------------


def test_a_flood_of_messages_is_bounded() -> None:
    woken: list[int] = []
    wake_reasons = WakeReasons(lambda: woken.append(1))
    problems = [wake_reasons.add_message(f'{i} ' * 5000) for i in range(100)]
    assert problems.count('') == MAX_MESSAGES == len(woken)
    assert problems[-1] == f'{MAX_MESSAGES} others wait already'
    assert wake_reasons.add_message(' \n ') == 'it is empty'
    why, messages, notices = wake_reasons.take_all()
    assert (why, len(messages), notices) == ('a message', MAX_MESSAGES, ())
    assert max(map(len, messages)) <= MAX_MESSAGE_CHARS
    assert wake_reasons.take_all() == ('', (), ())


# --- restarts -------------------------------------------------------------------------------


def at_night(folder: Path) -> AutonomyBench:
    bench = AutonomyBench(folder, at=TEN + 12 * HOUR)
    bench.on()
    bench.goes_on('sleep')
    bench.become('activity', 'ACTIVE')
    bench.until(lambda: 'until' in bench.timer.metadata, 'its end to be known')
    return bench


def test_after_an_ordinary_start_it_is_off_and_goes_on_though_the_clock_begins_anew(
    tmp_path: Path,
) -> None:
    with at_night(tmp_path):
        pass
    with AutonomyBench(tmp_path, at=5.0) as bench:  # simulated time after a restart
        bench.replies('auto was on when the agent ended during sleep; :auto on resumes it')
        nothing_begins(bench, 1)
        assert bench.states('activity') == ['PAUSED']
        bench.on()
        bench.become('activity', 'ACTIVE')
        assert bench.activity == 'sleep'
        assert bench.decisions()[-1].at >= TEN + 12 * HOUR
    with AutonomyBench(tmp_path, at=TEN + 14 * HOUR) as bench:
        bench.replies('auto was on when the agent ended')
        assert bench.autonomy.switch_off('by the operator').ok
        assert bench.states('activity') == ['CANCELLED']
    with AutonomyBench(tmp_path, at=TEN + 14 * HOUR, go_on=True) as bench:
        is_off(bench)  # it was off in the run that crashed
        numbers = [each.number for each in bench.decisions()]
        assert numbers == list(range(1, len(numbers) + 1))


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
        bench.console.handle_line(':pause')
        bench.until(lambda: bench.state.activity.held, 'it to be held')
    with AutonomyBench(tmp_path, go_on=True) as bench:  # after a crash in a pause
        is_off(bench)


def test_after_a_crash_of_an_ordinary_start_it_is_off(tmp_path: Path) -> None:
    with at_night(tmp_path):
        pass
    with AutonomyBench(tmp_path, ready=False) as bench:  # it waits for the other nodes
        bench.replies('auto was on when the agent ended during sleep; :auto on resumes it')
    with AutonomyBench(tmp_path, at=TEN + 14 * HOUR, go_on=True) as bench:
        is_off(bench)


def test_off_at_an_ordinary_start_is_saved_as_soon_as_the_file_can_be_used(tmp_path: Path) -> None:
    with at_night(tmp_path):
        pass
    other = sqlite3.connect(tmp_path / 'tasks.db.policy')
    other.execute('BEGIN EXCLUSIVE')
    with AutonomyBench(tmp_path, ready=False) as bench:
        bench.replies('auto cannot be switched on')
        other.close()
        bench.until(lambda: not bench.kept(lambda kept: kept.store.was_on), 'it to be saved')
    with AutonomyBench(tmp_path, at=TEN + 14 * HOUR, go_on=True) as bench:  # it was killed, say
        is_off(bench)


@pytest.mark.parametrize('crashed', [True, False])
def test_a_stop_before_it_began_is_not_forgotten(tmp_path: Path, crashed: bool) -> None:
    if crashed:
        with AutonomyBench(tmp_path) as bench:
            surveys(bench)
    with AutonomyBench(tmp_path, ready=False, go_on=crashed) as bench:
        if not crashed:
            bench.on()
        bench.runtime.halt.stop('the operator').result()
        bench.begin()
        is_off(bench)


def test_off_before_it_goes_on_after_a_crash_is_not_forgotten(tmp_path: Path) -> None:
    evening = TEN + 10.5 * HOUR  # nothing is due
    with AutonomyBench(tmp_path, at=evening) as bench:
        bench.on()
        bench.until(bench.decisions, 'its first tick')
    for _ in range(2):  # and after another crash
        with AutonomyBench(tmp_path, at=evening, ready=False, go_on=True) as bench:
            assert bench.autonomy.switch_off('the test').ok
            bench.begin()
            is_off(bench)


# --- from the console -----------------------------------------------------------------------


def test_the_console_has_a_command_for_each_that_waits_for_nothing(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path, ready=False) as bench:

        def answer(line: str) -> str:
            before = len(bench.said)
            bench.console.handle_line(line)
            return '\n'.join(bench.said[before:])

        assert answer(':auto') == 'auto is off; :auto on switches it on'
        assert answer(':why') == 'it has decided nothing yet'
        assert answer(':message hi').startswith('! The message was ignored: auto is off')
        assert answer(':auto on') == 'auto goes on as soon as the other nodes are up'
        nothing_begins(bench, 1)
        bench.begin()
        bench.goes_on('survey')
        assert answer(':auto on') == 'auto is on already'
        assert answer('：ａｕｔｏ').startswith('auto is on; at base')
        assert 'began survey' in answer(':why 3')
        assert '2 survey' in answer(':tree')
        svg = f'{tmp_path}/tree.svg'
        assert answer(f':tree {svg}') == f'wrote {svg}'
        assert '2 survey begins' in Path(svg).read_text()
        for name in ('tree', 'tree.pdf', 'no/such/tree.svg', '~nobody/x.svg', 'x' * 300 + '.svg'):
            assert answer(f':tree {name}').startswith(f'! {name}: '), name
        bench.console.handle_line(':device battery off')
        bench.replies('state.changed: device battery: usable -> not usable')
        assert not bench.autonomy.set_device('wings', False).ok
        assert answer(':message hi') == 'The message was handed on.'
        bench.goes_on('read')
        assert 'auto is off' in answer(':auto off')
        assert bench.activity == ''


# --- what can go wrong ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ('owner', 'name', 'error'),
    [
        (RuntimePort, 'observe', TaskError('no answer')),
        (PolicyStore, 'save', PolicyStoreError('the disk is full; free some space')),
        (RuntimePort, 'execute', RuntimeError('torn')),
        (RuntimePort, 'resume_stuck_tasks', RuntimeError('torn')),
    ],
)
def test_an_error_in_a_tick_switches_it_off_and_what_it_began_ends(
    bench: AutonomyBench, owner: type, name: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    surveys(bench)
    with monkeypatch.context() as torn:
        torn.setattr(owner, name, raises(error))
        bench.at += MIN
        bench.replies('auto is off: ')
    told = next(each for each in bench.traced() if each.startswith('auto is off: '))
    assert str(error) in told
    assert 'Traceback' not in told
    ends_cancelled(bench)
    assert not bench.kept(lambda kept: kept.store.was_on)
    bench.on()  # and it can be switched on again
    assert any('survey: cancelled' in each.done for each in bench.decisions())


def test_off_on_a_full_disk_is_saved_as_soon_as_there_is_room(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path) as bench:
        surveys(bench)
        with no_file_beyond(0):
            bench.runtime.halt.stop('the operator').result()
            bench.replies('auto is off: ')
        bench.until(lambda: not bench.kept(lambda kept: kept.store.was_on), 'it to be saved')
        bench.become('react', 'CANCELLED')
    with AutonomyBench(tmp_path, go_on=True) as bench:  # it was killed, say
        is_off(bench)


def test_when_even_its_tasks_cannot_be_cancelled_all_is_stopped(
    bench: AutonomyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    surveys(bench)
    monkeypatch.setattr(RuntimePort, 'observe', raises(TaskError('no answer')))
    monkeypatch.setattr(RuntimePort, 'cancel_tasks', raises(TaskError('no answer')))
    bench.at += MIN
    bench.until(lambda: bench.session.stops == 1, 'the rover to be stopped')
    bench.become('react', 'CANCELLED')
    monkeypatch.setattr(bench.runtime, 'failure', 'an internal error')
    assert bench.autonomy.switch_on().answer == 'auto stays off: an internal error'


def test_a_file_that_cannot_be_opened_leaves_the_agent_without_it(tmp_path: Path) -> None:
    (tmp_path / 'tasks.db.policy').mkdir()
    with AutonomyBench(tmp_path) as bench:
        bench.replies('auto cannot be switched on: ')
        outcome = bench.autonomy.switch_on()
        assert not outcome.ok
        assert 'tasks.db.policy' in outcome.answer
        bench.runs(':mast_open')
        bench.finish()


# --- the model ------------------------------------------------------------------------------


def with_model(provider: str = 'llm', model: str = 'openai') -> Config:
    llm = {'provider': model, 'model': 'm'}
    return config_with_world(provider=provider).changed(agent={'llm': llm})


def test_a_model_is_asked_when_both_settings_say_so() -> None:
    for provider, model in product(('routine', 'llm'), ('routine', 'openai')):
        config = with_model(provider, model)
        made = make_provider(config, lambda: None, lambda: None)
        assert (made is not None) is ((provider, model) == ('llm', 'openai'))
        noted = 'Set llm.provider and llm.model' in missing_model_note(config)
        assert noted is ((provider, model) == ('llm', 'routine'))


def test_a_model_that_cannot_be_made_says_why_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()
    situation = PromptSituation('base', '', 0.5, ('rest',), '')
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    made = make_provider(with_model(), lambda: None, told.set)
    assert made is not None
    for at in (0.0, 24 * HOUR):
        told.clear()
        answer = made.poll(situation, at)
        if answer is None:
            assert told.wait(20.0), 'no answer'
            answer = made.poll(situation, at)
        assert answer is not None
        assert answer.action is None
        assert 'OPENAI_API_KEY' in answer.reason


def test_what_the_model_suggests_is_begun(tmp_path: Path) -> None:
    def ask(situation: PromptSituation, _: str) -> PolicyAction:
        assert 'wonder' in situation.options
        return PolicyAction(type='wonder', rationale='it is a fine day')

    config = config_with_world({'routine': []})
    woken = threading.Event()
    provider = LLMPolicyProvider(ask, config.agent.policy, on_answer=woken.set)
    with AutonomyBench(tmp_path, config=config, provider=provider) as bench:
        assert bench.on() == 'auto is on: the model, within the rules of world_view.yaml decide'
        assert woken.wait(20.0)
        bench.at += 60.0
        bench.goes_on('wonder')
        bench.become('react', 'ACTIVE')
        assert bench.task('Find something of interest.').metadata['unasked'] == 'wonder'
        assert 'it is a fine day' in bench.autonomy.decision_log(5).answer


# --- the senses -----------------------------------------------------------------------------


def port_of(bench: AutonomyBench) -> RuntimePort:
    return RuntimePort(bench.runtime, WorldModel(bench.config.world, timezone.utc))


def senses_of(bench: AutonomyBench, held: str = '') -> Senses:
    return port_of(bench).observe([], held).senses


MEASURED = {
    'measured': True,
    'places': {'base': {'zone': 'base', 'leads_to': ['field']}, 'field': {'leads_to': ['base']}},
}


def test_place_and_energy_are_the_rovers_where_they_are_measured(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path / 'computed') as bench:
        assert (senses_of(bench).place, senses_of(bench).energy) == (None, None)
    with AutonomyBench(tmp_path / 'measured', config=config_with_world(MEASURED)) as bench:
        assert (senses_of(bench).place, senses_of(bench).energy) == ('', None)

        def is_seen_at(x: float, place: str) -> bool:  # again and again: odometry falls silent
            still = dict.fromkeys(('y', 'z', 'orientation_z', 'linear_x', 'angular_z'), 0.0)
            bench.hear('odometry', x=x, orientation_w=1.0, **still)
            return senses_of(bench).place == place

        bench.until(lambda: is_seen_at(0.2, 'base'), 'base')
        bench.until(lambda: is_seen_at(4.0, 'field'), 'field')
        bench.hear('battery', fraction=0.42)
        bench.until(lambda: senses_of(bench).energy == pytest.approx(0.42), 'the charge')
        bench.until(lambda: senses_of(bench).place == '', 'silent odometry')


def test_only_what_runs_keeps_it_waiting_and_only_its_own_is_let_go_without_a_stop(
    bench: AutonomyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = bench.runtime.runner.submit
    tomorrow = datetime.now(timezone.utc) + timedelta(days=1)
    bench.runtime.call(submit(Task('get_status', not_before=tomorrow)))
    assert senses_of(bench).hold_reason == ''
    bench.runs(':submit query_world')
    assert senses_of(bench).hold_reason == 'a person\'s task goes first: query_world(query="")'
    bench.console.handle_line(':pause')
    bench.becomes('query_world', 'PAUSED')
    assert senses_of(bench).hold_reason == ''
    assert senses_of(bench, 'the user said pause').hold_reason.endswith('pause')
    task, ours, stops = bench.task('query_world'), port_of(bench), bench.runtime.halt.stops
    own = Ongoing(
        activity='survey', by=Source.ROUTINE, began_at=0.0, energy_at=0.0, task_ids=[task.id]
    )
    nothing = WorldState.first(bench.config.world)
    goes_on = nothing.model_copy(update={'activity': own})
    held = nothing.model_copy(update={'activity': own.model_copy(update={'held': True})})
    free, safe = (RuntimeView(Senses(hold_reason=why), [task]) for why in ('', 'SAFE'))
    for state, view, count in (
        (held, free, stops),
        (goes_on, safe, stops),
        (nothing, free, stops),
        (goes_on, free, stops - 1),
    ):
        ours.resume_stuck_tasks(state, view, count)
    ours.execute([Command('resume', (task.id,))], stops - 1)
    assert bench.task('query_world').held
    ours.resume_stuck_tasks(goes_on, free, stops)
    bench.becomes('query_world', 'ACTIVE')
    bench.finish()
    bench.runtime.call(submit(Task('charge', CHARGE_PRIORITY)))
    assert senses_of(bench).hold_reason == 'the battery is being charged'
    monkeypatch.setattr(type(bench.runtime.runner), 'failed', StoreError('the disk is full'))
    assert senses_of(bench).hold_reason == 'the disk is full'


# --- its tasks --------------------------------------------------------------------------------

RESOURCES = frozenset({'base', 'mast', 'camera'})
NONE_ELSE: dict[str, Any] = {'routine': [], 'emergencies': []}
STEPS = [
    {'skill': 'mast_open'},
    {'skill': 'navigate_to_pose', 'arguments': {'x': 6.5, 'y': 0.0}},
    {'skill': 'speak', 'arguments': {'text': 'Good morning'}},
]
WORKS: list[dict[str, Any]] = [
    {},
    {'does': [{'skill': 'charge'}]},
    {'asks': 'Look around.', 'expects': 'good_capture'},
]
works = st.sampled_from(WORKS) | st.builds(
    lambda does: {'does': does}, st.lists(st.sampled_from(STEPS), min_size=1, max_size=5)
)


def tasks(view: WorldView, name: str, by: Source = Source.ROUTINE) -> list[Task]:
    activity = view.activities[name]
    count = bool(activity.does or activity.asks) + bool(activity.minutes)
    ids = [f'id{number}' for number in range(count)]
    made = tasks_of(Ongoing(activity=name, by=by, began_at=5, energy_at=5, task_ids=ids), view)
    assert [(task.id, task.idempotency_key) for task in made] == [(each, each) for each in ids]
    for task in made:
        check_task(task, RESOURCES)
    return made


@settings(max_examples=examples(60))
@given(works, st.sampled_from([0.5, 20, 1440, 0]), st.sampled_from(Source))
def test_every_activity_becomes_tasks_that_the_kernel_takes(
    work: dict[str, Any], minutes: float, by: Source
) -> None:
    lasts = minutes if work else minutes or 1.0
    activity = {'says': 'does x', 'minutes': lasts, **work}
    made = tasks(config_with_world({'activities': {'x': activity}} | NONE_ELSE).world, 'x', by)
    for index, task in enumerate(made):
        assert task.priority == AUTO_PRIORITY < Task('react').priority
        assert task.blocked_by == tuple(each.id for each in made[:index])
        assert (task.metadata[ACTIVITY_KEY], task.max_retries) == ('x', 0)
    if lasts:
        last = made[-1]
        assert (last.name, last.resources) == ('activity', frozenset())
        assert (last.metadata['activity'], last.metadata['minutes']) == ('x', lasts)
    first = made[0]
    if 'asks' in work:
        assert (first.name, first.resources) == ('react', None)
        told = [first.metadata[key] for key in ('text', 'expects', 'switches')]
        assert told == ['Look around.', 'good_capture', MAX_GOAL_SWITCHES]  # it begins nothing
    elif work == WORKS[1]:
        assert first.name == 'charge'
    elif work:
        assert first.metadata['switches'] == MAX_GOAL_SWITCHES
        plan = Plan.from_dict(first.metadata['plan'])
        assert check_plan(plan, [skill.name for skill in REGISTRY]) == []
        steps = [(each['skill'], each.get('arguments', {})) for each in work['does']]
        assert [(step.action, step.parameters) for step in plan.steps] == steps
        assert (plan.source, plan.requires_confirmation) == (by.value, False)


@pytest.mark.parametrize('name', ['world_view', 'companion', 'stationary'])
def test_the_worlds_that_ship_can_be_lived_in(name: str) -> None:
    world = shipped_world(name)
    check_world(load_config().model_copy(update={'world': world}), REGISTRY)
    for doing in world.activities:
        assert tasks(world, doing)


FAR = {'x': 'far'}
UNDOABLE: list[tuple[list[Any], str]] = [
    ([{'skill': 'mast_open'}, {'skill': 'fly'}], "does[1].skill = 'fly': There is no skill 'fly'"),
    ([{'skill': 'navigate_to_pose', 'arguments': FAR}], f'does[0].arguments = {FAR}: navigate_to'),
    ([{'skill': 'charge'}, {'skill': 'mast_open'}], "does[0].skill = 'charge': it must be the on"),
    ([{'skill': 'react', 'arguments': {'text': 'Go'}}], 'no step of a plan; use asks in its pl'),
    ([{'skill': 'activity', 'arguments': {'activity': 'nap', 'minutes': 5}}], 'use minutes in'),
]


def test_a_step_that_cannot_be_taken_is_found_at_the_start() -> None:
    for does, told in UNDOABLE:
        world = {'activities': {'x': {'says': 'x', 'does': does}}} | NONE_ELSE
        with pytest.raises(ConfigError) as caught:
            check_world(config_with_world(world, world_view='my_world'), REGISTRY)
        assert 'my_world.yaml: activities.x.does[' in str(caught.value)
        assert told in str(caught.value)


def test_the_documented_activity_is_done_at_its_time_and_a_slip_in_it_is_named(
    tmp_path: Path,
) -> None:
    page = (ROOT / 'docs/howto/autonomy.md').read_text(encoding='utf-8')
    added, due = re.findall(r'```yaml\n(.*?)```', page, re.DOTALL)
    shipped = yaml.safe_load((shipped_config_dir() / 'world_view.yaml').read_text('utf-8'))
    routine = [*yaml.safe_load(due)['routine'], *shipped['routine']]

    def with_world(text: str) -> Config:
        (tmp_path / 'world_view.yaml').write_text(text, encoding='utf-8')
        config = load_config(tmp_path)
        check_world(config, make_registry(config))
        return config

    world = world_of(with_world(added + yaml.safe_dump({'routine': routine})).world)
    assert len(world.view.activities) == len(shipped['activities']) + 1
    policy_run = PolicyRun(world, instant('2026-11-23 06:50', world))  # a Monday
    policy_run.until('2026-11-27 00:00')
    assert policy_run.began('photograph_the_horizon') == ['Mon 10:00', 'Thu 10:00']
    assert 'skill: mast_rotate' in added
    with pytest.raises(ConfigError, match=r'activities\.photograph_the_horizon\.does\[1\]\.skill'):
        with_world(added.replace('skill: mast_rotate', 'skill: mast_twirl'))
