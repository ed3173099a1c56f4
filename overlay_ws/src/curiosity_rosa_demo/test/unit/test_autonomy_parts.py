# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parts of the policy: its thread, its clock, its model, its senses, its picture."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
import threading
from typing import Any

from autonomy_world import AutonomyBench, config_of
from curiosity_rosa_demo.agent.policy.action import PolicyAction, ResumeTasks, Senses
from curiosity_rosa_demo.agent.policy.autonomy.ros_clock import RosPolicyClock
from curiosity_rosa_demo.agent.policy.autonomy.runtime_port import RuntimePort, RuntimeView
from curiosity_rosa_demo.agent.policy.autonomy.suggestion_model import (
    make_provider,
    missing_model_note,
)
from curiosity_rosa_demo.agent.policy.autonomy.tree_file import write_tree
from curiosity_rosa_demo.agent.policy.suggestion import (
    NoSuggestion,
    PendingSuggestion,
    PromptSituation,
    Suggestion,
)
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world_state import Ongoing, Source, WorldState
from curiosity_rosa_demo.agent.policy.world_view import WorldModel
from curiosity_rosa_demo.agent.runtime.action_dispatcher import CHARGE_PRIORITY
from curiosity_rosa_demo.agent.runtime.threads.periodic_worker import PeriodicWorker
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.errors import StoreError
from curiosity_rosa_demo.infra.config.contracts import Config
from harness import wait_until
import pytest

DAY_S = 86400.0
DOT = 'digraph tree {\n"a" -> "b";\n}\n'
SITUATION = PromptSituation(place='base', activity='', energy=0.5, options=('rest',), text='')


# --- the thread -----------------------------------------------------------------------------


class Log:
    """A worker, and what it did."""

    def __init__(self, every_s: float | None = None) -> None:
        self.done: list[str] = []
        self.errors: list[Exception] = []
        self.polls = 0
        self.every_s = every_s
        self.worker = PeriodicWorker(
            'test', poll=self.poll, every_s=lambda: self.every_s, on_error=self.error
        )

    def poll(self) -> None:
        self.polls += 1
        self.done.append('look')

    def error(self, error: Exception) -> None:
        self.errors.append(error)
        if str(error) == 'twice':
            raise RuntimeError('in on_error')


@pytest.fixture
def log() -> Iterator[Log]:
    log = Log()
    yield log
    log.worker.close()


def test_jobs_are_done_in_order_with_a_look_after_each(log: Log) -> None:
    for number in range(3):
        log.worker.post(lambda number=number: log.done.append(str(number)))
    assert log.worker.call(lambda: 'answer', 20.0) == 'answer'
    wait_until(lambda: log.polls == 4, 'four looks')
    assert log.done == ['0', 'look', '1', 'look', '2', 'look', 'look']


def test_it_looks_by_itself_and_when_it_is_woken(log: Log) -> None:
    log.worker.wake()
    wait_until(lambda: log.polls == 1, 'a look')
    log.every_s = 0.001
    log.worker.wake()
    wait_until(lambda: log.polls > 10, 'ten more')


@pytest.mark.parametrize('what', ['once', 'twice'])
def test_an_error_is_told_and_the_thread_goes_on(log: Log, what: str) -> None:
    def fail() -> None:
        raise ValueError(what)

    log.worker.post(fail)
    with pytest.raises(ValueError, match=what):
        log.worker.call(fail, 20.0)
    assert log.worker.call(lambda: 1, 20.0) == 1
    assert [str(error) for error in log.errors] == [what, what]


def test_who_asks_is_not_kept_waiting_for_ever(log: Log) -> None:
    go = threading.Event()
    log.worker.post(lambda: go.wait(20.0))
    with pytest.raises(TimeoutError, match=r'No answer within 0\.01 s'):
        log.worker.call(lambda: log.done.append('late'), 0.01)
    go.set()
    wait_until(lambda: 'late' in log.done, 'it to be done nevertheless')


def test_nothing_is_done_after_the_end(log: Log) -> None:
    log.worker.close()
    log.worker.post(lambda: log.done.append('late'))
    with pytest.raises(TimeoutError):
        log.worker.call(lambda: 1, 0.01)
    assert log.done == []


# --- the clock ------------------------------------------------------------------------------


def test_a_clock_for_several_threads_goes_back_for_none() -> None:
    times = iter(range(10**9, 10**9 + 10**6))
    clock = RosPolicyClock(lambda: float(next(times)), lambda: 0.0)
    seen: list[list[float]] = []

    def read() -> None:
        seen.append([clock.now() for _ in range(2000)])

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in seen:
        assert each == sorted(each)
    clock.resume(2e9)
    assert clock.now() >= 2e9


# --- the model ------------------------------------------------------------------------------


def with_model(provider: str = 'llm', model: str = 'openai') -> Config:
    config = config_of(provider=provider)
    llm = config.agent.llm.model_copy(update={'provider': model, 'model': 'm'})
    return config.model_copy(update={'agent': config.agent.model_copy(update={'llm': llm})})


@pytest.mark.parametrize(
    ('provider', 'model', 'asked', 'noted'),
    [
        ('routine', 'openai', False, False),
        ('routine', 'routine', False, False),
        ('llm', 'routine', False, True),
        ('llm', 'openai', True, False),
    ],
)
def test_a_model_is_asked_when_both_settings_say_so(
    provider: str, model: str, asked: bool, noted: bool
) -> None:
    config = with_model(provider, model)
    made = make_provider(config, lambda: None, lambda: None)
    assert isinstance(made, LLMPolicyProvider) is asked
    assert ('Set llm.provider and llm.model' in missing_model_note(config)) is noted


def answer_of(made: LLMPolicyProvider | None, told: threading.Event, at: float) -> object:
    """``told`` is set when the model has answered."""
    assert made is not None
    told.clear()
    first = made.poll(SITUATION, at)
    if first != PendingSuggestion():
        return first
    assert told.wait(20.0)
    return made.poll(SITUATION, at)


def test_the_model_is_made_once_and_not_before_the_agents_own_is_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[str] = []
    action = PolicyAction(type='rest')

    def make(llm: Any, config: Any, usage: Any) -> str:
        order.append(f'made with {llm.max_retries} retries')
        return 'model'

    factory = 'curiosity_rosa_demo.agent.llm.chat_model.make_chat_model'
    monkeypatch.setattr(factory, make)
    monkeypatch.setattr(
        'curiosity_rosa_demo.agent.policy.chat_policy.ask_chat_model',
        lambda model, view, llm: lambda situation, refusals: action,
    )
    told = threading.Event()
    made = make_provider(with_model(), lambda: order.append('imported'), told.set)
    for at in (0.0, DAY_S):
        answer = answer_of(made, told, at)
        assert isinstance(answer, Suggestion)
        assert answer.action == action
    assert order == ['imported', 'made with 0 retries', 'imported']


def test_a_model_that_cannot_be_made_says_why_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    told = threading.Event()
    made = make_provider(with_model(), lambda: None, told.set)
    for at in (0.0, DAY_S):
        answer = answer_of(made, told, at)
        assert isinstance(answer, NoSuggestion)
        assert 'OPENAI_API_KEY' in answer.reason


def test_what_the_model_suggests_is_begun(tmp_path: Path) -> None:
    asked: list[PromptSituation] = []

    def ask(situation: PromptSituation, _: str) -> PolicyAction:
        asked.append(situation)
        return PolicyAction(type='wonder', rationale='it is a fine day')

    config = config_of({'routine': []})
    woken = threading.Event()
    provider = LLMPolicyProvider(ask, config.agent.policy, on_answer=woken.set)
    with AutonomyBench(tmp_path, config=config, provider=provider) as bench:
        assert bench.on() == 'auto is on: the model, within the rules of world_view.yaml decide'
        assert woken.wait(20.0)
        bench.at += 60.0
        bench.goes_on('wonder')
        bench.become('react', 'ACTIVE')
        assert bench.task('Find something of interest.').metadata['unasked'] == 'wonder'
        assert 'wonder' in asked[0].options
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


@pytest.fixture
def measured(tmp_path: Path) -> Iterator[AutonomyBench]:
    with AutonomyBench(tmp_path, config=config_of(MEASURED)) as bench:
        yield bench


def test_place_and_energy_of_a_measured_world_are_the_rovers(measured: AutonomyBench) -> None:
    def comes_to(x: float, place: str) -> None:
        def said() -> bool:  # again and again: odometry falls silent
            still = dict.fromkeys(('y', 'z', 'orientation_z', 'linear_x', 'angular_z'), 0.0)
            measured.hear('odometry', x=x, orientation_w=1.0, **still)
            return bool(senses_of(measured).place == place)

        measured.until(said, place)

    assert (senses_of(measured).place, senses_of(measured).energy) == ('', None)
    comes_to(0.2, 'base')
    comes_to(4.0, 'field')
    measured.hear('battery', fraction=0.42)
    measured.until(lambda: senses_of(measured).energy == pytest.approx(0.42), 'the charge')
    measured.until(lambda: senses_of(measured).place == '', 'silent odometry')


def test_in_a_computed_world_nothing_is_measured(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path) as bench:
        bench.hear('battery', fraction=0.42)
        bench.until(lambda: bench.runtime.state.robot.battery_pct == 42.0, 'the battery')
        senses = senses_of(bench)
        assert (senses.place, senses.energy, senses.hold_reason) == (None, None, '')


def test_what_waits_or_was_put_aside_keeps_nobody_waiting(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path) as bench:
        bench.runs(':submit query_world')
        assert senses_of(bench).hold_reason == 'a person\'s task goes first: query_world(query="")'
        bench.console.handle_line(':pause')
        bench.becomes('query_world', 'PAUSED')
        assert senses_of(bench).hold_reason == ''
        assert senses_of(bench, 'the user said pause').hold_reason.endswith('pause')
        bench.console.handle_line(':resume')
        bench.becomes('query_world', 'ACTIVE')
        assert senses_of(bench).hold_reason != ''
        bench.finish()
        assert senses_of(bench).hold_reason == ''


def test_what_waits_for_its_time_keeps_nobody_waiting(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path) as bench:
        tomorrow = datetime.now(timezone.utc) + timedelta(days=1)
        bench.runtime.call(bench.runtime.runner.submit(Task('get_status', not_before=tomorrow)))
        assert bench.tasks() == {'get_status': 'WAITING'}
        assert senses_of(bench).hold_reason == ''
        bench.runtime.call(bench.runtime.runner.submit(Task('charge', CHARGE_PRIORITY)))
        assert senses_of(bench).hold_reason == 'the battery is being charged'


def test_nothing_begins_while_tasks_cannot_be_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with AutonomyBench(tmp_path) as bench:
        full = StoreError('the disk is full')
        monkeypatch.setattr(type(bench.runtime.runner), 'failed', full)
        assert senses_of(bench).hold_reason == 'the disk is full'


def test_only_what_the_policy_wants_to_go_on_is_let_go_and_only_without_a_stop(
    tmp_path: Path,
) -> None:
    with AutonomyBench(tmp_path) as bench:
        bench.runs(':submit query_world')
        bench.console.handle_line(':pause')
        bench.becomes('query_world', 'PAUSED')
        task = bench.task('query_world')
        port, stops = port_of(bench), bench.runtime.stop_count
        ongoing = Ongoing(
            activity='survey', by=Source.ROUTINE, began_at=0.0, energy_at=0.0, task_ids=[task.id]
        )
        held = ongoing.model_copy(update={'held': True})
        first = WorldState.first(bench.config.world)

        def state(goes_on: Ongoing) -> WorldState:
            return first.model_copy(update={'activity': goes_on})

        port.resume_stuck_tasks(state(held), RuntimeView(Senses(), (task,)), stops)
        port.resume_stuck_tasks(
            state(ongoing), RuntimeView(Senses(hold_reason='SAFE'), (task,)), stops
        )
        port.resume_stuck_tasks(first, RuntimeView(Senses(), (task,)), stops)
        port.resume_stuck_tasks(state(ongoing), RuntimeView(Senses(), (task,)), stops - 1)
        port.execute([ResumeTasks((task.id,))], stops - 1)
        assert bench.task('query_world').held
        port.resume_stuck_tasks(state(ongoing), RuntimeView(Senses(), (task,)), stops)
        bench.becomes('query_world', 'ACTIVE')


# --- the picture ----------------------------------------------------------------------------


@pytest.mark.parametrize('name', ['tree', 'tree.dot', 'my tree.DOT'])
def test_the_tree_goes_into_a_file(tmp_path: Path, name: str) -> None:
    outcome = write_tree(DOT, str(tmp_path / name))
    written = tmp_path / f'{name.split(".")[0]}.dot'
    assert outcome.ok
    assert outcome.answer == f'wrote {written}'
    assert written.read_text() == DOT


def graphviz(folder: Path, script: str) -> None:
    program = folder / 'dot'
    program.write_text(f'#!/bin/sh\n{script}\n')
    program.chmod(0o755)


def test_a_picture_is_drawn_where_graphviz_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('PATH', str(tmp_path))
    for name in ('tree.svg', 'tree.PNG'):
        outcome = write_tree(DOT, str(tmp_path / name))
        assert not outcome.ok
        assert "graphviz's dot is not installed; apt install graphviz" in outcome.answer
        assert (tmp_path / 'tree.dot').read_text() == DOT
    graphviz(tmp_path, 'echo "$1" > "$3"')
    for name, kind in (('tree.svg', 'svg'), ('-o.PNG', 'png')):
        monkeypatch.chdir(tmp_path)
        outcome = write_tree(DOT, name)
        assert outcome.ok, outcome.answer
        assert (tmp_path / name).read_text() == f'-T{kind}\n'
    graphviz(tmp_path, 'echo "syntax error" >&2; exit 1')
    outcome = write_tree(DOT, 'tree.svg')
    assert not outcome.ok
    assert outcome.answer.endswith('but not tree.svg: syntax error')


@pytest.mark.parametrize(
    'name', ['no/such/folder/tree.dot', '.', '/', 'a\0b', 'tree.pdf', 'x' * 300]
)
def test_a_file_that_cannot_be_written_is_named(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = write_tree(DOT, name)
    assert not outcome.ok
    assert outcome.answer.startswith(name)
    assert list(tmp_path.iterdir()) == []
