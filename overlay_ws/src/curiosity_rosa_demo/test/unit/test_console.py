# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The console before a real runtime: its lines, ``-c``, what it takes in SAFE; the client that
attaches by HTTP; and that no text from outside forges a line or controls the terminal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from functools import partial
import io
import json
import logging
from pathlib import Path
import signal
import tempfile
import threading
from types import SimpleNamespace
from typing import Any

from curiosity_rosa_demo.agent import console
from curiosity_rosa_demo.agent.interfaces.console_client import main as client_main
from curiosity_rosa_demo.agent.interfaces.console_client.remote_console import (
    AgentApi,
    AgentRefused,
    AgentUnavailable,
    ATTACHED_TEXT,
    LOST_TEXT,
    RemoteConsole,
)
from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread
from curiosity_rosa_demo.agent.interfaces.http.streams import EventFeed
from curiosity_rosa_demo.agent.interfaces.terminal.commands import NO_RECORDING, RULES_NOTE
from curiosity_rosa_demo.agent.interfaces.terminal.terminal import (
    END_SIGNALS,
    InterruptHandler,
    run_commands,
    run_pipe,
    run_terminal,
)
from curiosity_rosa_demo.agent.interfaces.terminal.writer import ConsoleWriter
from curiosity_rosa_demo.agent.kernel.actions import Answer
from curiosity_rosa_demo.agent.kernel.decide import order_refusal, SKILLS_IN_SAFE
from curiosity_rosa_demo.agent.kernel.hear import Answered
from curiosity_rosa_demo.agent.language.questions import Topic
from curiosity_rosa_demo.agent.memory import event_line
from curiosity_rosa_demo.agent.react.plan import plan_question, plan_text
from curiosity_rosa_demo.agent.react.texts import (
    budget_text,
    pending_table,
    question_summary,
    question_text,
)
from curiosity_rosa_demo.agent.runtime.answers import answer_to, AnswerFacts
from curiosity_rosa_demo.agent.startup.logs import IndentingFormatter, LOG_FORMAT
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.agent.tasks.texts import history_table, mode_text, task_text, tasks_table
from curiosity_rosa_demo.agent.topics.node_health import NodeEvents
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    Mode,
    Question,
    ReactState,
    Reading,
    RobotState,
    TasksState,
    WorldState,
)
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.plan import ExecutionResult, Plan
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.config.agent import HttpConfig
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.trace.events import PlanStepEnded
from curiosity_rosa_demo.trace.reporter import status_text
from curiosity_rosa_demo.trace.trace_buffer import EventBus
from curiosity_rosa_demo.trace.trace_codec import decode, encode, new_event
from examples import examples
from harness import wait_until
import httpx
from httpx_sse import EventSource
from hypothesis import given, settings
from hypothesis import strategies as st
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
import pytest
from runtime_world import CONFIG, RobotBench, RuntimeBench, WAIT_S
from strategies import states
from turn_world import REGISTRY

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
    assert [task.reason for task in bench.list_tasks()] == [refused, broken]
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
        assert not any(text.startswith('(http)') for text in bench.said)
        assert bench.console.wait_until_idle(WAIT_S)
        assert len(bench.session.ran) == stops
        bench.until(lambda n=stops: bench.said.count('(2 queued dropped)') == n, 'both to be told')
        assert bench.said.count('! Stopped by the operator') == stops
        assert set(bench.tasks().values()) == {'CANCELLED'}


def test_lines_run_while_the_rover_confirms_no_stop(
    bench: RuntimeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, 'STOP_WAIT_S', 0.0)
    sent, go_on = threading.Semaphore(0), threading.Event()

    def stop_rover() -> Outcome:
        sent.release()
        assert go_on.wait(WAIT_S)
        return Outcome(True, 'stopped')

    monkeypatch.setattr(bench.session, 'stop_rover', stop_rover)
    for _ in range(2):
        assert bench.console.handle_line(':stop')
        assert sent.acquire(timeout=WAIT_S)
    bench.console.handle_line(':mode')
    bench.until(lambda: any('IDLE' in text for text in bench.said), 'the mode')
    assert bench.console.busy
    assert bench.said.count(console.UNCONFIRMED_TEXT) == 2
    go_on.set()
    assert bench.console.wait_until_idle(WAIT_S)
    assert bench.said.count('stopped') == 2


def test_the_end_of_a_plans_step_is_printed_unless_its_call_was_just_told(
    bench: RuntimeBench,
) -> None:
    for told, lines in ((True, 1), (False, 3)):
        bench.console.print_event(new_event(TraceKind.RESULT, 'mast_close: done', ok=True))
        ended = PlanStepEnded(ExecutionResult.success_result('p', 1, 'done'), told=told)
        bench.console.print_event(new_event(**ended.trace_fields()))
        assert len(bench.said) == lines


def test_questions_are_answered_while_something_runs(bench: RuntimeBench) -> None:
    bench.runs(':cap')
    for line, words in (
        (':status', 'x 1.23 m, y 0.00 m; moving; mast unknown, may not drive'),
        (':help', RULES_NOTE),
        (':trace', 'no events'),
        (':tasks', 'capture_and_score'),
        (':record on', NO_RECORDING),
    ):
        bench.console.handle_line(line)
        assert words in bench.said[-1]
    bench.mode('EXEC')
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
    ids = {str(t.metadata['text']): t.id[:8] for t in bench.list_tasks()}
    assert said(f':priority {ids["third"]} 7') == f'{ids["third"]} has priority 7'
    bench.console.handle_line(f':cancel {ids["first"]}')
    bench.until(lambda: f'cancelled {ids["first"]}' in bench.said, 'an answer')
    bench.finish()
    assert bench.session.ran[1:] == ['answer: third', 'answer: second']
    assert 'state      COMPLETED' in said(f':task {ids["third"]}')
    assert 'ACTIVE' in said(f':history {ids["third"].upper()}')


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
    ':record yes': "'yes' is neither on, off nor status",
    ':auto yes': "'yes' is neither on nor off",
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


def test_a_template_is_its_text_in_the_language_of_the_askers_last_sentence(
    bench: RuntimeBench, tmp_path: Path
) -> None:
    bench.session.release.set()
    for sentence, goal in (
        ('hello', 'Analyze the ground texture'),
        ('こんにちは', '地面のテクスチャを調査して'),
        ('你好', '分析地面纹理'),
    ):
        bench.console.handle_line(sentence)
        bench.finish()
        bench.console.handle_remote_line('bonjour', 'page', lambda reply: None, Origin.PAGE, 0)
        bench.console.handle_line(':demo')
        bench.finish()
        assert bench.session.ran[-1] == f'good_capture: {goal}'
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
        assert not [t for t in bench.list_tasks() if t.state is LifecycleState.COMPLETED]
        assert not bench.runtime.halt.busy


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
    assert run(bench, '').answer.startswith('The line is empty')
    bench.session.quick = {'get_status'}
    bench.hear('estop', pressed=True)
    bench.mode('SAFE')
    for order in ('go to the light', ':forward 2', ':resume'):
        outcome = run(bench, order)
        assert (outcome.ok, 'e-stop' in outcome.answer) == (False, True)
    assert bench.tasks() == {}
    for line in (':mode', ':stop', ':submit get_status'):  # what only looks or stops
        assert run(bench, line).ok
    table = run(bench, ':help').answer
    assert table.splitlines() == [table]  # all of it is printed, and not said again
    assert any(':quit' in text for text in bench.said)


def test_a_held_command_has_failed(bench: RuntimeBench) -> None:
    handle = bench.console.handle_remote_line
    pausing = threading.Thread(target=partial(handle, ':pause', 'x', print, Origin.PAGE, 0))
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


@pytest.fixture
def signals() -> Iterator[None]:
    """Those that a console handles are as before afterwards."""
    before = {each: signal.getsignal(each) for each in END_SIGNALS}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


PASTES = [
    (':mast_close\n:cap', ['mast_close', 'capture_and_score'], 0),
    (':demo\n:cap\n:stop', [], 1),
    ('\ngo to the light\r\n止まれ\n:mast_close\n', ['mast_close'], 1),
    (':cap\n:stop\n:demo\n:quit\n:stop\n', [], 1),
]


@pytest.mark.parametrize(('text', 'ran', 'stops'), PASTES)
@pytest.mark.usefixtures('signals')
def test_each_line_of_a_paste_is_run_and_a_stop_in_it_waits_for_none(
    bench: RuntimeBench,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    text: str,
    ran: list[str],
    stops: int,
) -> None:
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path))
    bench.session.release.set()
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text(f'\x1b[200~{text}\x1b[201~\r')
        keys.send_text('\x1b[200~\n:help\n:quit\n:demo\x1b[201~\r:quit\r')
        run_terminal(bench.console, lambda: '', InterruptHandler(bench.console))
    assert bench.console.wait_until_idle(WAIT_S)
    assert (bench.session.ran, bench.session.stops) == (ran, stops)
    assert any('  :help ' in each for each in bench.said)


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
        way_out = (
            'Look at the rover, then enter :clear.' if state.robot.safety_latch else 'it is back.'
        )
        if state.robot.estop:
            way_out = 'Release the e-stop, then enter :clear.'
        assert why.endswith(way_out)


def test_no_skill_that_is_taken_in_safe_needs_base_or_mast() -> None:
    taken = [each for each in REGISTRY if each.name in SKILLS_IN_SAFE]
    assert not any(each.resources_required for each in taken)


TEXTS = st.text(st.characters(exclude_categories=['Cs']), max_size=40)


class Served:
    """An agent's console behind a server of HTTP."""

    def __init__(self, bench: RuntimeBench, port: int = 0) -> None:
        self.bench, robot = bench, RobotBench(bench).robot
        settings: HttpConfig = CONFIG.agent.http.model_copy(update={'port': port})
        app = partial(create_app, robot, settings=settings)
        self.server = HttpThread(app, settings)
        self.url = self.server.start().rstrip('/')


class Attached:
    """A console client, and what its person sees."""

    def __init__(self, url: str, name: str) -> None:
        self.seen: list[str] = []
        self.console = RemoteConsole(AgentApi(url, client=name), self.seen.append)
        self.console.attach(0)

    def outcome(self) -> Outcome:
        """What came of its line, once."""
        assert self.console.wait_until_idle(10.0)
        outcome = self.console.take_outcome()
        assert outcome is not None
        return outcome

    def sees(self, part: str) -> None:
        wait_until(lambda: any(part in text for text in self.seen), f'{part!r} in {self.seen}')


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with RuntimeBench(tmp_path) as bench:
        served = Served(bench)
        yield served
        served.server.close()


Attach = Callable[..., Attached]


@pytest.fixture
def attach(served: Served) -> Iterator[Attach]:
    made: list[Attached] = []

    def attached(name: str) -> Attached:
        made.append(Attached(served.url, name))
        return made[-1]

    yield attached
    for each in made:
        each.console.close()


@given(st.lists(TEXTS, max_size=5), st.integers(1, 9))
def test_every_text_arrives_as_it_was_printed(texts: list[str], first: int) -> None:
    bus = EventBus()
    feed = EventFeed(bus)
    for text in texts:
        bus.publish(text)
    feed.close()

    async def sent() -> list[bytes]:
        return [each.encode() async for each in feed.events(None, last=len(texts))]

    stream = b': still here\n\n'.join(asyncio.run(sent()))
    headers = {'Content-Type': 'text/event-stream'}
    arrived = EventSource(httpx.Response(200, content=stream, headers=headers)).iter_sse()
    read = [each for each in arrived if each.data]  # a comment is an event without data
    assert [each.json()['text'] for each in read] == texts
    assert [each.id for each in read] == [
        f'{feed.process}-{number}' for number in range(1, len(texts) + 1)
    ]


def test_quit_detaches_and_a_sentence_that_stops_is_sent_as_a_stop_first(
    served: Served, attach: Attach
) -> None:
    one = attach('console-1')
    assert not one.console.handle_line(':quit')
    assert served.bench.session.stops == 0
    assert one.console.handle_line('stop, then look around')
    assert one.outcome().ok
    assert served.bench.session.stops == 2  # by /stop, and by the sentence


def test_after_a_loss_it_attaches_to_the_next_agent(served: Served, attach: Attach) -> None:
    one = attach('console-1')
    served.server.close()
    one.sees(LOST_TEXT)
    assert one.console.handle_line(':mode')
    one.sees('! no agent answers at')
    again = Served(served.bench, int(served.url.rpartition(':')[2]))
    try:
        one.sees(ATTACHED_TEXT)
        assert one.console.handle_line(':mode')
        one.sees('IDLE: nothing to do')
    finally:
        again.server.close()


@pytest.mark.usefixtures('signals')
def test_commands_end_with_one_object_of_json(served: Served, capfd: Any) -> None:
    served.bench.session.release.set()
    for commands, ok, part in (
        ((':mode',), True, 'IDLE'),
        ((':mode', ':nonsense'), False, 'no command :nonsense'),
        ((':mode', 'go to the light'), True, 'did '),  # it waits for the task
        ((':mode', 'go to the caf\udce9'), True, 'did '),  # of a command line that is no UTF-8
        ((':mode', ':help'), True, '  :help '),  # a table, which is not said again
    ):
        flags = [word for command in commands for word in ('-c', command)]
        assert client_main.run(['--url', served.url, *flags]) == (0 if ok else 1)
        *lines, last = capfd.readouterr().out.splitlines()
        result = json.loads(last)
        assert (result['ok'], part in result['answer']) == (ok, True)
        assert '\n' not in result['answer']
        assert '> :mode' in lines
        assert any('IDLE' in line for line in lines)


@pytest.mark.usefixtures('signals')
def test_in_any_locale_each_line_is_read_and_each_text_printed(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, printed = io.BytesIO(':左\n'.encode() + b':mode caf\xe9\n:stop\n'), io.BytesIO()
    monkeypatch.setattr('sys.stdin', io.TextIOWrapper(lines, 'utf-8'))
    monkeypatch.setattr('sys.stdout', io.TextIOWrapper(printed, 'latin-1'))
    assert client_main.run(['--url', served.url]) == 0
    assert served.bench.session.stops == 1
    assert 'no command :左' in printed.getvalue().decode()


def test_no_agent_or_a_bad_address_is_an_error_with_a_way_out(capfd: Any) -> None:
    nobody = 'http://127.0.0.1:9'
    for url, said in (
        (nobody, f'console: no agent answers at {nobody} ('),
        *(
            (url, 'console: --url: ')
            for url in ('nonsense', 'ftp://x', 'http://', 'http://x:port')
        ),
    ):
        assert client_main.run(['--url', url, '-c', ':mode']) == 1
        error = capfd.readouterr().err
        assert error.startswith(said)
        assert '--url' in error
    api = AgentApi(nobody, client='console-1')
    outcome = RemoteConsole(api, print).stop('Ctrl-C')
    assert (outcome.ok, 'did not reach the agent' in outcome.answer) == (False, True)
    with pytest.raises(AgentUnavailable):
        api.stop()


def test_a_name_that_could_pass_for_another_door_is_refused(served: Served) -> None:
    with pytest.raises(AgentRefused) as caught:
        AgentApi(served.url, client=') the operator').say(':mode')
    assert caught.value.status == 422
    assert served.bench.said == []


NOW = datetime(2026, 11, 23, tzinfo=timezone.utc)
FORGED = 'x\n? q1 forged\r\n! \x1b[2J\x9b1A\u2028Rover: \x85\u202e'

# Not blank, so that no optional line comes or goes with it.
hostile = st.text(
    st.sampled_from('a?!:\n\r\t\x0b\x0c\x1b\x07\x7f\x85\x9b\u2028\u2029\u202e\u200b[2J '),
    max_size=30,
).map(lambda text: f'a{text}b')


def a_task(text: str) -> Task:
    metadata = {'text': text, 'note': text}
    task = Task('react', metadata=metadata, reason=text, state=LifecycleState.FAILED)
    task.created_at = task.updated_at = NOW
    return task


def a_state(text: str) -> BrainState:
    adapter = {'rover_x': 1.0, 'mast': text, 'last_error_reason': text}
    heard = Reading(value=adapter, received_s=0.0)
    return BrainState(
        robot=RobotState(safety_latch=text, silent=[text], heard={'adapter': heard}),
        tasks=TasksState(mode_reason=text),
        world=WorldState(summary=text),
        react=ReactState(goal=text),
    )


def an_event(text: str) -> TraceEvent:
    return new_event(TraceKind.ERROR, text, tool_name=text, error_reason=text, ok=False)


def a_question(text: str) -> Question:
    return Question(id='q1', text=text, reasons=[text], op={'skill': text, 'arguments': {}})


def a_plan(text: str) -> Plan:
    words = dict.fromkeys(('action', 'description', 'fallback', 'confirmation_message'), text)
    step = {'step_id': 1, 'tool_call_type': 'execute', 'parameters': {text: text}, **words}
    plan = {'plan_id': 'p', 'goal': text, 'confirmation_message': text, 'steps': [step]}
    return Plan.from_dict(plan)


def answers(text: str) -> str:
    facts = AnswerFacts(
        a_state(text),
        ReactState(goal=text, plan=a_plan(text).to_dict()),
        [a_task(text)],
        [an_event(text), new_event(TraceKind.DECIDE, text)],
        [a_question(text)],
        NOW.timestamp(),
    )
    return '\n'.join(answer_to(Answer([topic], text), facts).answer for topic in Topic)


def node_events(text: str) -> str:
    """A node that calls itself ``text`` fails, starts, and starts again."""
    said: list[str] = []
    subscribed: dict[str, Callable[[Any], None]] = {}

    def subscribe(kind: object, topic: str, on_event: Callable[[Any], None], qos: object) -> None:
        subscribed[topic] = on_event

    node: Any = SimpleNamespace(create_subscription=subscribe)
    NodeEvents(node, CONFIG, said.append)
    starts = {'node': text, 'started': True}
    for event in (
        new_event(TraceKind.ERROR, text, data={'node': text}),
        new_event(TraceKind.OBSERVE, text, data=starts),
        new_event(TraceKind.OBSERVE, text, data=starts),
    ):
        subscribed[CONFIG.topics.trace.events](SimpleNamespace(data=encode(event)))
    return '\n'.join(said)


BUILDERS: dict[str, Callable[[str], str]] = {
    'trace': lambda text: event_line(an_event(text)),
    'tasks': lambda text: tasks_table([a_task(text)], NOW),
    'task': lambda text: task_text(a_task(text)),
    'history': lambda text: history_table([HistoryRow(NOW, None, LifecycleState.FAILED, text)]),
    'mode': lambda text: mode_text(a_state(text)),
    'status': lambda text: status_text({'mast': text, 'last_error_reason': text}),
    'question': lambda text: question_text(a_question(text), 1.0),
    'question in the toolbar': lambda text: question_summary(a_question(text)),
    'pending': lambda text: pending_table([a_question(text)], 0.0),
    'plan': lambda text: plan_text(a_plan(text)),
    'question about a plan': lambda text: plan_question(a_plan(text)),
    'budget': lambda text: budget_text(ReactState(goal=text), CONFIG.guardrails.budget, 40),
    'answers': answers,
    'other nodes': node_events,
}


@pytest.mark.parametrize('name', BUILDERS)
@settings(max_examples=examples(40))
@given(text=hostile)
def test_no_text_adds_a_line_to_what_the_console_shows(name: str, text: str) -> None:
    shown = BUILDERS[name](text)
    assert len(shown.split('\n')) == len(BUILDERS[name]('ab').split('\n'))


@given(st.lists(st.text() | hostile, min_size=1, max_size=3))
def test_no_text_controls_the_terminal(texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        printed: list[str] = []
        patch.setattr('builtins.print', lambda text, flush: printed.append(text))
        bus = EventBus()
        writer = ConsoleWriter(bus)
        writer.start()
        for text in texts:
            writer.write(text)
        writer.close()
    assert printed == [e.event for e in bus.events_after(0).events]
    assert len(printed) == len(texts)
    assert all(line.isprintable() for text in printed for line in text.split('\n'))


@given(hostile)
def test_no_text_is_a_line_of_the_log_or_of_the_trace_file(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError as error:
        info: Any = (type(error), error, error.__traceback__)
    record = logging.LogRecord('x', logging.INFO, 'x.py', 1, 'event=%s', (text,), info)
    first, *more = IndentingFormatter(LOG_FORMAT).format(record).split('\n')
    assert all(line.startswith('    ') for line in more)
    assert all(line.isprintable() for line in (first, *more))
    event = an_event(text)
    assert encode(event).isprintable()
    assert decode(encode(event)) == event


def test_no_outcome_forges_a_line(tmp_path: Path) -> None:
    """A reason for a no, the answer of a turn, the error of a skill, a name, a notice."""
    with RuntimeBench(tmp_path) as bench:
        bench.session.asks = [Question(id='q1', text='Go?', asked_at=NOW.timestamp() + 1e9)]
        bench.session.release.set()
        bench.console.handle_line('look around')
        bench.asked(Question(id='q1', text='Go?'))
        bench.runtime.post(Answered(ApprovalAction.REJECT, 'q1', FORGED))
        bench.finish()
        bench.session.fails = FORGED
        for line in (':cap', f':submit {FORGED}', f'look {FORGED}'):
            bench.console.handle_line(line)
            bench.finish()
        bench.console.print_notice(FORGED)
        outcome = {'outcome': {'ok': True, 'answer': FORGED}}
        ended = Task('react', state=LifecycleState.COMPLETED, metadata=outcome)
        bench.console.report_task_end(ended)
        # -c hands the answer on as it is
        assert bench.console.take_outcome() == Outcome(True, FORGED)
        assert len(bench.said) >= 6
        further = [line for each in bench.said for line in each.split('\n')[1:]]
        assert [line for line in further if not line.startswith('  | ')] == []
