"""The console before a session that the test holds the strings of."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curiosity_rosa_demo.agent.cancellation import Cancellation
from curiosity_rosa_demo.agent.console import RULES_NOTE, Console
from curiosity_rosa_demo.agent.peers import listen
from curiosity_rosa_demo.agent.session import Outcome
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.config_models import Template
from curiosity_rosa_demo.trace.trace_buffer import TraceBuffer
from curiosity_rosa_demo.trace.trace_codec import new_event
from harness import wait_until

CONFIG = load_config()
WAIT_S = 10.0


class ScriptedSession:
    """A session whose tools run until they are released, or stopped."""

    def __init__(self) -> None:
        self.events = TraceBuffer(10)
        self.ran: list[str] = []
        self.stops: list[str] = []
        self.release = threading.Event()
        self.started = threading.Event()
        self.broken: Exception | None = None

    def _work(self, what: str, cancellation: Cancellation) -> Outcome:
        cancellation.check()
        self.ran.append(what)
        self.started.set()
        if self.broken:
            raise self.broken
        while not self.release.is_set():
            cancellation.sleep(0.005)
        return Outcome(True, f'did {what}')

    def tool(self, name: str, cancellation: Cancellation, **arguments: Any) -> Outcome:
        return self._work(f'{name}{arguments or ""}', cancellation)

    def say(self, text: str, cancellation: Cancellation) -> Outcome:
        return self._work(f'text {text}', cancellation)

    def template(self, template: Template, cancellation: Cancellation) -> Outcome:
        return self._work(f'template {template.label}', cancellation)

    def status(self) -> ToolResult:
        return ToolResult.success(moving=True, rover_x=1.23456, rover_y=0.0)

    def stop(self, by: str) -> Outcome:
        self.stops.append(by)
        return Outcome(True, 'stopped')


class Bench:
    def __init__(self) -> None:
        self.session = ScriptedSession()
        self.said: list[str] = []
        self.console = Console(self.session, CONFIG, self.said.append)  # type: ignore[arg-type]

    def finish(self) -> None:
        self.session.release.set()
        assert self.console.wait(WAIT_S)

    def runs(self, line: str) -> None:
        self.session.started.clear()
        assert self.console.enter(line)
        assert self.session.started.wait(WAIT_S), f'{line} did not start'


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_commands_run_one_after_another(bench: Bench) -> None:
    bench.runs(':cap')
    bench.console.enter(':forward 2')
    bench.console.enter('hello')
    assert bench.session.ran == ['capture_and_score']
    assert bench.console.busy
    bench.finish()
    assert bench.session.ran == [
        'capture_and_score',
        "move_forward{'duration_s': 2.0}",
        'text hello',
    ]
    assert bench.console.last == Outcome(True, 'did text hello')
    assert '(queued behind what runs; :stop drops it) :forward 2' in bench.said
    assert not bench.console.busy


@pytest.mark.parametrize(
    ('line', 'ran'),
    [
        (':cap', 'capture_and_score'),
        (':mast_open', 'mast_open'),
        (':mast_close', 'mast_close'),
        (':mast_rotate', 'mast_rotate'),
        (':forward 1', "move_forward{'duration_s': 1.0}"),
        (':left 1', "turn_left{'duration_s': 1.0}"),
        (':right 1', "turn_right{'duration_s': 1.0}"),
        (':demo', f'template {CONFIG.prompts.templates.demo_ground_texture.label}'),
        ('左へ', 'text 左へ'),
    ],
)
def test_each_command_does_its_thing(bench: Bench, line: str, ran: str) -> None:
    bench.session.release.set()
    bench.console.enter(line)
    bench.finish()
    assert bench.session.ran == [ran]
    assert bench.said == [f'did {ran}']


def test_a_stop_overtakes_what_runs_and_drops_what_waits(bench: Bench) -> None:
    bench.runs(':demo')
    for line in (':cap', ':forward'):
        bench.console.enter(line)
    assert bench.console.enter(':stop')
    assert bench.session.stops == ['the operator']
    assert bench.console.wait(WAIT_S)
    assert len(bench.session.ran) == 1
    assert '(2 queued dropped)' in bench.said
    assert '! Stopped by the operator' in bench.said
    bench.runs(':cap')  # the console lives on
    bench.finish()


def test_questions_are_answered_while_something_runs(bench: Bench) -> None:
    bench.runs(':cap')
    bench.console.enter(':status')
    assert bench.said[-1] == 'x 1.23 m, y 0.00 m; moving; mast unknown, may not drive'
    bench.console.enter(':help')
    assert RULES_NOTE in bench.said[-1]
    bench.console.enter(':trace')
    assert bench.said[-1] == 'no events'
    assert bench.console.busy
    bench.finish()


def test_trace_shows_the_last_events(bench: Bench) -> None:
    for number in range(5):
        bench.session.events.append(new_event(TraceKind.OBSERVE, f'event {number}'))
    bench.console.enter(':trace 2')
    assert bench.said == ['[OBSERVE] event 3\n[OBSERVE] event 4']


def test_a_wrong_command_is_the_last_outcome(bench: Bench) -> None:
    assert bench.console.enter(':hlep')
    assert bench.console.last is not None
    assert not bench.console.last.ok
    assert bench.said[-1].startswith('! no command :hlep; did you mean :help?')


def test_quit_and_nothing(bench: Bench) -> None:
    assert not bench.console.enter(':quit')
    assert bench.console.enter('   ')
    assert bench.said == []


def test_an_error_of_ours_stops_the_rover_and_the_console_lives_on(bench: Bench) -> None:
    bench.session.broken = RuntimeError('a bug')
    bench.console.enter(':cap')
    assert bench.console.wait(WAIT_S)
    assert bench.session.stops == ['an internal error']
    assert bench.said == ["! Internal error: RuntimeError('a bug'). The rover was told to stop."]
    bench.session.broken = None
    bench.console.enter(':cap')
    bench.finish()
    assert bench.console.last == Outcome(True, 'did capture_and_score')


def test_wait_is_bounded(bench: Bench) -> None:
    assert bench.console.wait(0.0)
    bench.runs(':cap')
    assert not bench.console.wait(0.05)
    bench.finish()


def test_commands_wait_for_the_preparation(bench: Bench) -> None:
    ready = threading.Event()
    bench.session.release.set()

    def prepare(_: Cancellation) -> None:
        assert ready.wait(WAIT_S)

    bench.console.prepare(prepare)
    bench.console.enter(':cap')
    assert bench.session.ran == []
    ready.set()
    bench.finish()
    assert bench.said[-1] == 'did capture_and_score'


def test_a_status_waits_for_the_preparation_and_a_stop_does_not(bench: Bench) -> None:
    ready = threading.Event()

    def prepare(_: Cancellation) -> None:
        assert ready.wait(WAIT_S)

    bench.console.prepare(prepare)
    bench.console.enter(':status')
    assert '(queued until the other nodes are up; :stop drops it) :status' in bench.said
    bench.console.enter(':stop')
    assert bench.session.stops == ['the operator']
    bench.console.enter(':status')
    ready.set()
    bench.finish()
    assert bench.said[-1].startswith('x 1.23 m')


def test_closing_stops_what_moves_but_not_for_the_preparation(bench: Bench) -> None:
    bench.runs(':forward')
    bench.console.close()
    assert bench.session.stops == ['the end of the console']
    assert not bench.console.busy

    preparing = Bench()
    preparing.console.prepare(lambda cancellation: cancellation.sleep(WAIT_S))
    wait_until(lambda: preparing.console.busy, 'the preparation to start')
    preparing.console.close()
    assert preparing.session.stops == []
    assert not preparing.console.busy


def test_progress_is_shown_but_the_answer_only_once(bench: Bench) -> None:
    bench.console.show(new_event(TraceKind.ACT, 'cap()', tool_name='capture_and_score'))
    bench.console.show(new_event(TraceKind.OBSERVE, 'User: hello'))
    bench.console.show(new_event(TraceKind.RESULT, 'the answer', ok=True))
    bench.console.show(new_event(TraceKind.ERROR, 'failed', ok=False, error_reason='failed'))
    assert bench.said == ['  [ACT] cap()', '  [ERROR] failed']


@settings(max_examples=30)
@given(
    st.lists(
        st.sampled_from([':cap', ':forward', 'text', ':stop', ':status', ':bad', '']), max_size=8
    )
)
def test_a_stop_ends_whatever_was_entered_before_it(lines: list[str]) -> None:
    bench = Bench()
    for line in lines:
        bench.console.enter(line)
    bench.console.enter(':stop')
    assert bench.console.wait(WAIT_S)  # although nothing was ever released
    assert not any(text.startswith('did ') for text in bench.said)
    assert bench.session.stops.count('the operator') == lines.count(':stop') + 1


def test_news_of_the_process_manager_are_handed_on() -> None:
    heard: list[str] = []
    read, write = os.pipe()
    listen(read, heard.append)
    os.write(write, 'The adapter process ended\n次\n'.encode())
    os.close(write)
    wait_until(lambda: len(heard) == 2, 'both lines')
    assert heard == ['The adapter process ended', '次']
