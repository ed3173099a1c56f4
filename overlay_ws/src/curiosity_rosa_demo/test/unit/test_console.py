# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The console before a real runtime and a session that the test holds the strings of; the commands
of ``-c``; and what it takes in SAFE.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
import io
import os
from pathlib import Path
import signal
import tempfile
import threading
from typing import Any

from curiosity_rosa_demo.agent.interfaces.terminal.commands import BadCommand, parse
from curiosity_rosa_demo.agent.interfaces.terminal.queries import (
    answer_query,
    NO_RECORDING,
    RULES_NOTE,
)
from curiosity_rosa_demo.agent.interfaces.terminal.terminal import (
    InterruptHandler,
    run_commands,
    run_pipe,
)
from curiosity_rosa_demo.agent.kernel.safe_orders import order_refusal, SKILLS_IN_SAFE
from curiosity_rosa_demo.agent.tasks import LifecycleState
from curiosity_rosa_demo.agent.topics.node_health import read_process_events
from curiosity_rosa_demo.domain.brain_state import BrainState, Mode, RobotState, TasksState
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.config_loader import ConfigError
from examples import examples
from harness import wait_until
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_strategies import states
import pytest
from react_world import REGISTRY
from runtime_world import CONFIG, RuntimeBench, WAIT_S

DEMO = CONFIG.prompts.templates['demo_ground_texture'].text_in('en')


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[RuntimeBench]:
    with RuntimeBench(tmp_path) as bench:
        yield bench


RUNS = {
    ':cap': 'capture_and_score',
    ':mast_rotate': 'mast_rotate',
    ':forward 1': "move_forward{'duration_s': 1.0}",
    ':left 1': "turn_left{'duration_s': 1.0}",
    ':right 1': "turn_right{'duration_s': 1.0}",
    ':demo': f'good_capture: {DEMO}',
    ':demo_ground_texture': f'good_capture: {DEMO}',
    '左へ': 'answer: 左へ',
    ':submit mast_open': 'mast_open',
    ':submit move_forward {"duration_s": 3}': "move_forward{'duration_s': 3.0}",
    ':submit react {"text": "look around"}': 'answer: look around',
}


def test_each_command_does_its_thing_and_what_fails_is_told(bench: RuntimeBench) -> None:
    bench.session.release.set()
    refused, broken = 'Need to close mast', 'RuntimeError: a bug'
    for why, error in ((refused, None), (broken, RuntimeError('a bug'))):
        bench.session.fails, bench.session.broken = refused, error
        bench.console.handle_line(':cap')
        bench.finish()
        assert bench.said == [f'! {why}']
        assert bench.console.last_outcome == Outcome(False, why)
        bench.said.clear()
    assert [task.reason for task in bench.runtime.list_tasks()] == [refused, broken]
    bench.session.fails, bench.session.broken = '', None
    bench.session.ran.clear()
    for line in RUNS:  # the console lives on
        bench.console.handle_line(line)
        bench.finish()
    assert bench.session.ran == [*RUNS.values()]
    assert bench.said == [f'did {ran}' for ran in RUNS.values()]
    assert bench.console.last_outcome.ok


def test_a_stop_overtakes_what_runs_and_drops_what_waits(bench: RuntimeBench) -> None:
    for stops, line in enumerate((':stop', 'stop!!', '止まれ', '停下来！'), 1):
        bench.session.started.clear()
        bench.runs(':demo')
        for each in (':cap', ':forward'):
            bench.console.handle_line(each)
        assert bench.console.handle_line(line)
        assert bench.session.stops == stops
        assert bench.console.wait_until_idle(WAIT_S)
        assert len(bench.session.ran) == stops
        bench.until(lambda n=stops: bench.said.count('(2 queued dropped)') == n, 'both to be told')
        assert bench.said.count('! Stopped by the operator') == stops
        assert set(bench.tasks().values()) == {'CANCELLED'}


def test_questions_are_answered_while_something_runs(bench: RuntimeBench) -> None:
    def said(line: str) -> str:
        bench.console.handle_line(line)
        return bench.said[-1]

    bench.runs(':cap')
    assert said(':status') == 'x 1.23 m, y 0.00 m; moving; mast unknown, may not drive'
    assert RULES_NOTE in said(':help')
    assert said(':trace') == 'no events'
    for number in range(5):
        bench.session.trace(TraceKind.OBSERVE, f'event {number}')
    assert said(':trace 2') == '[OBSERVE] event 3\n[OBSERVE] event 4'
    rows = [['state', 'prio', 'what'], ['ACTIVE', '3', 'capture_and_score']]
    assert [row.split()[1:4] for row in said(':tasks').splitlines()] == rows
    bench.mode('EXEC')
    assert said(':mode').startswith('EXEC: ')
    assert bench.console.busy
    bench.finish()


def test_a_task_is_looked_at_cancelled_and_gets_a_priority(bench: RuntimeBench) -> None:
    def said(line: str) -> str:
        bench.console.handle_line(line)
        return bench.said[-1]

    bench.runs(':demo')
    for line in ('first', 'second', 'third'):
        bench.console.handle_line(line)
    bench.becomes('third', 'PENDING')
    ids = {str(t.metadata['text']): t.id[:8] for t in bench.runtime.list_tasks()}
    assert said(f':priority {ids["third"]} 7') == f'{ids["third"]} has priority 7'
    bench.console.handle_line(f':cancel {ids["first"]}')
    bench.until(lambda: f'cancelled {ids["first"]}' in bench.said, 'an answer')
    refused = 'is ACTIVE; its priority can be changed while it waits'
    assert refused in said(f':priority {ids[DEMO]} 7')
    bench.finish()
    assert bench.session.ran[1:] == ['answer: third', 'answer: second']
    assert said(f':cancel {ids["first"]}') == f'! {ids["first"]} had ended already'
    shown = said(f':task {ids["third"]}')
    for part in (f'id         {ids["third"]}', 'third', 'state      COMPLETED'):
        assert part in shown
    steps = [row.split()[2:4] for row in said(f':history {ids["third"].upper()}').splitlines()]
    assert steps == [['-', 'PENDING'], ['PENDING', 'ACTIVE'], ['ACTIVE', 'COMPLETED']]
    assert said(':task zz') == "! no task with an ID that begins with 'zz'; :tasks shows them"


WRONG = {
    ':submit fly': 'fly',
    ':submit move_forward {}': 'duration_s',
    ':submit move_forward {"duration_s": 1000}': 'duration_s',
    ':submit move_forward {"duration_s": true}': 'duration_s',
    ':submit mast_open {"far": 1}': 'far',
    ':submit react {"txt": "x"}': 'react takes',
    ':cancel zz': "no task with an ID that begins with 'zz'",
    ':hlep': '! no command :hlep; did you mean :help?',
    ':rover_state': 'did you mean :rover_status?',
    ':rover_status now': '! usage: :rover_status',
}


def test_what_cannot_be_done_is_told_and_nothing_is_kept(bench: RuntimeBench) -> None:
    for line, why in WRONG.items():
        assert bench.console.handle_line(line)
        assert bench.console.wait_until_idle(WAIT_S)
        assert bench.said[-1].startswith('! ')
        assert why in bench.said[-1]
        assert not bench.console.last_outcome.ok
    assert bench.tasks() == {}
    assert bench.console.handle_line('   ')
    assert not bench.console.handle_line(':quit')


def test_lines_wait_until_the_tasks_may_run_and_a_stop_does_not(tmp_path: Path) -> None:
    with RuntimeBench(tmp_path, ready=False) as bench:
        bench.session.release.set()
        bench.console.handle_line(':cap')
        bench.console.handle_line(':status')
        assert '(queued until the other nodes are up; :stop drops it) :status' in bench.said
        bench.console.handle_line(':stop')
        assert '(2 queued dropped)' in bench.said
        assert bench.session.stops == 1
        bench.console.handle_line(':status')
        bench.console.handle_line('hello')
        bench.console.handle_line(':mast_open')
        assert bench.session.ran == []
        bench.begin()
        bench.finish()
        assert bench.session.ran == ['answer: hello', 'mast_open']
        assert any(text.startswith('x 1.23 m') for text in bench.said)


SENTENCES = (  # its language has the demo and the template
    ('', 'Analyze the ground texture', ''),  # the configured default
    ('hello', 'Analyze the ground texture', 'What is the current state of the rover?'),
    ('こんにちは', '地面のテクスチャを調査して', '現在のローバーの状態を教えて'),
    ('你好', '分析地面纹理', '现在漫游车的状态怎么样'),
)


def test_a_template_is_its_text_in_the_language_of_the_askers_last_sentence(
    bench: RuntimeBench, tmp_path: Path
) -> None:
    bench.session.release.set()
    for sentence, goal, text in SENTENCES:
        if sentence:
            bench.console.handle_line(sentence)
            bench.finish()
        bench.console.handle_remote_line('bonjour', 'page', lambda reply: None, Origin.PAGE)
        bench.console.handle_line(':demo')
        bench.finish()
        assert bench.session.ran[-1] == f'good_capture: {goal}'
        ran, answers = len(bench.session.ran), []
        for line in (text, ':rover_status', '：ＲＯＶＥＲ＿ＳＴＡＴＵＳ')[not text :]:
            bench.said.clear()
            bench.console.handle_line(line)
            wait_until(lambda: bench.said, f'an answer to {line}')
            answers.append(bench.said[0])
        assert len(set(answers)) == 1
        assert len(bench.session.ran) == ran  # a question about the rover is no task
    bench.console.handle_line(':help')
    for name in ('demo_ground_texture', 'rover_status'):
        assert f'  :{name} ' in bench.said[-1]
    templates = {'stop': CONFIG.prompts.templates['rover_status']}
    prompts = CONFIG.prompts.model_copy(update={'templates': templates})
    with pytest.raises(ConfigError, match=r'templates\.stop: a command has this name'):
        RuntimeBench(tmp_path, config=CONFIG.model_copy(update={'prompts': prompts}))


LINES = [':cap', ':forward', 'text', ':stop', ':status', ':bad', ':pause', '']


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=8))
def test_a_stop_ends_whatever_was_entered_before_it(lines: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, RuntimeBench(Path(folder)) as bench:
        for line in lines:
            bench.console.handle_line(line)
        bench.console.handle_line(':stop')
        assert bench.console.wait_until_idle(WAIT_S)  # although nothing was ever released
        assert not any(text.startswith('did ') for text in bench.said)
        assert bench.session.stops >= lines.count(':stop') + 1
        assert not [t for t in bench.runtime.list_tasks() if t.state is LifecycleState.COMPLETED]
        assert not bench.runtime.busy


def test_process_events_are_handed_on() -> None:
    heard: list[str] = []
    read, write = os.pipe()
    read_process_events(read, heard.append)
    os.write(write, 'The adapter process ended\n次\n'.encode())
    os.close(write)
    wait_until(lambda: len(heard) == 2, 'both lines')
    assert heard == ['The adapter process ended', '次']


class Told:
    """A recording that says what it was told."""

    def run_command(self, what: str) -> Outcome:
        return Outcome(True, f'told {what!r}')


def test_what_is_typed_reaches_the_recording_or_is_refused_with_what_there_is() -> None:
    def said(line: str, recording: Any) -> Outcome:
        command: Any = parse(line, longest_drive_s=1.0)
        nobody: Any = None
        return answer_query(command, nobody, nobody, nobody, nobody, recording)

    for line, what in ((':record', ''), (':RECORD OFF', 'off'), ('：ｒｅｃｏｒｄ　ｏｎ', 'on')):
        assert said(line, Told()) == Outcome(True, f'told {what!r}')
    assert said(':record on', None) == Outcome(False, NO_RECORDING)
    for line, why in (
        (':record yes', "'yes' is neither on, off nor status"),
        (':record on now', r':record \[on\|off\|status\]'),
        (':auto yes', "'yes' is neither on nor off"),
    ):
        with pytest.raises(BadCommand, match=why):
            said(line, Told())


GRACE_S = 0.2


def run(bench: RuntimeBench, *commands: str) -> Outcome:
    return run_commands(bench.console, list(commands), grace_s=GRACE_S)


def test_one_failed_command_fails_them_all_and_in_safe_an_order_fails_at_once(
    bench: RuntimeBench,
) -> None:
    for commands, ok in (
        ((':mode', ':trace'), True),
        ((':forward far', ':mode'), False),
        ((':mode', ''), False),
        ((), False),
    ):
        assert run(bench, *commands).ok is ok
    bench.session.quick = {'get_status'}
    bench.hear('estop', pressed=True)
    bench.mode('SAFE')
    for order in ('go to the light', ':forward 2', ':resume'):
        outcome = run(bench, order)
        assert (outcome.ok, 'e-stop' in outcome.answer) == (False, True)
    assert bench.tasks() == {}
    for line in (':mode', ':stop', ':submit get_status'):  # what only looks or stops
        assert run(bench, line).ok


def test_a_held_command_has_failed(bench: RuntimeBench) -> None:
    handle = bench.console.handle_remote_line
    pausing = threading.Thread(target=handle, args=(':pause', 'x', print))
    bench.session.on_begin = lambda what: pausing.start()
    outcome = run(bench, 'look around')
    assert (outcome.ok, ':resume' in outcome.answer) == (False, True)


def test_a_command_that_safe_interrupts_has_failed_and_a_pipe_leaves_it(
    bench: RuntimeBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.session.on_begin = lambda what: bench.hear('estop', pressed=True)
    outcome = run(bench, ':forward 2', ':mast_open')
    assert (outcome.ok, 'SAFE since' in outcome.answer) == (False, True)
    assert bench.tasks() == {'move_forward': 'CANCELLED'}
    monkeypatch.setattr('sys.stdin', io.StringIO(':forward 2\n:quit\n'))
    with RuntimeBench(tmp_path / 'pipe') as other:
        other.session.on_begin = lambda what: other.hear('estop', pressed=True)
        run_pipe(other.console, grace_s=GRACE_S)
        assert other.tasks() == {'move_forward': 'PAUSED'}


def test_an_interrupt_stops_the_rover_and_no_further_command_begins(bench: RuntimeBench) -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        interrupts = InterruptHandler(bench.console, exit_at_once=True)
        bench.session.on_begin = lambda what: signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            run(bench, ':forward 2', ':mast_open')
        interrupts.wait_for_stop()
    finally:
        signal.signal(signal.SIGINT, before)
    assert bench.session.stops >= 1
    bench.becomes('move_forward', 'CANCELLED')
    assert 'mast_open' not in bench.tasks()


SINCE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
SKILLS = ['', *(definition.name for definition in REGISTRY)]


@given(states(), st.sampled_from(SKILLS), st.none() | st.just(SINCE))
def test_safe_alone_refuses_and_says_why_since_when_and_the_way_out(
    state: BrainState, skill: str, since: datetime | None
) -> None:
    why = order_refusal(state, skill, since)
    assert bool(why) is (state.tasks.mode is Mode.SAFE and skill not in SKILLS_IN_SAFE)
    if why:
        assert why.startswith('SAFE_MODE: refused')
        assert state.tasks.mode_reason in why
        assert (f'{SINCE.astimezone():%Y-%m-%d %H:%M:%S}' in why) is (since is not None)
        assert (':clear' in why) is bool(state.robot.estop or state.robot.safety_latch)


def test_the_way_out_fits_the_cause_and_no_skill_in_safe_needs_base_or_mast() -> None:
    for robot, way_out in (
        ({'estop': True, 'safety_latch': 'x'}, 'Release the e-stop, then enter :clear.'),
        ({'safety_latch': 'x'}, 'Look at the rover, then enter :clear.'),
        ({'silent': ['adapter']}, 'SAFE ends when it is back.'),
    ):
        tasks = TasksState(mode=Mode.SAFE, mode_reason='x')
        state = BrainState(robot=RobotState(**robot), tasks=tasks)
        assert order_refusal(state, 'react', SINCE).endswith(way_out)
    taken = [each for each in REGISTRY if each.name in SKILLS_IN_SAFE]
    assert not any(each.resources_required for each in taken)
