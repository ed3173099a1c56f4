# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The commands of ``-c``: their common result, and their end when a person is missing."""

from __future__ import annotations

from collections.abc import Iterator
import io
from pathlib import Path
import signal
import threading

from curiosity_rosa_demo.agent.interfaces.terminal.terminal import (
    InterruptHandler,
    run_commands,
    run_pipe,
)
from curiosity_rosa_demo.domain.outcome import Outcome
import pytest
from runtime_world import RuntimeBench

GRACE_S = 0.2


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[RuntimeBench]:
    with RuntimeBench(tmp_path) as bench:
        yield bench


def run(bench: RuntimeBench, *commands: str) -> Outcome:
    return run_commands(bench.console, list(commands), grace_s=GRACE_S)


@pytest.mark.parametrize(
    ('commands', 'ok'),
    [
        ((':mode', ':trace'), True),
        ((':forward far', ':mode'), False),
        ((':mode', ''), False),
        ((), False),
    ],
)
def test_one_failed_command_fails_them_all(
    bench: RuntimeBench, commands: tuple[str, ...], ok: bool
) -> None:
    assert run(bench, *commands).ok is ok


def press(bench: RuntimeBench) -> None:
    bench.hear('estop', pressed=True)
    bench.mode('SAFE')


@pytest.mark.parametrize('order', ['go to the light', ':forward 2', ':resume'])
def test_in_safe_an_order_has_failed_at_once(bench: RuntimeBench, order: str) -> None:
    press(bench)
    outcome = run(bench, order)
    assert not outcome.ok
    assert 'e-stop' in outcome.answer
    assert bench.tasks() == {}


@pytest.mark.parametrize('line', [':mode', ':stop', ':submit get_status'])
def test_in_safe_what_only_looks_or_stops_still_works(bench: RuntimeBench, line: str) -> None:
    bench.session.quick = {'get_status'}
    press(bench)
    assert run(bench, line).ok


def test_a_command_that_safe_interrupts_has_failed_and_is_not_kept(bench: RuntimeBench) -> None:
    bench.session.on_begin = lambda what: bench.hear('estop', pressed=True)
    outcome = run(bench, ':forward 2', ':mast_open')
    assert not outcome.ok
    assert 'SAFE since' in outcome.answer
    assert bench.tasks() == {'move_forward': 'CANCELLED'}


@pytest.mark.parametrize('lines', [':forward 2\n', ':forward 2\n:quit\n'])
def test_a_pipe_that_ends_leaves_what_safe_interrupted(
    bench: RuntimeBench, monkeypatch: pytest.MonkeyPatch, lines: str
) -> None:
    bench.session.on_begin = lambda what: bench.hear('estop', pressed=True)
    monkeypatch.setattr('sys.stdin', io.StringIO(lines))
    run_pipe(bench.console, grace_s=GRACE_S)
    assert bench.tasks() == {'move_forward': 'PAUSED'}


def test_a_held_command_has_failed(bench: RuntimeBench) -> None:
    def pause(what: str) -> None:
        threading.Thread(
            target=bench.console.handle_remote_line, args=(':pause', 'x', print)
        ).start()

    bench.session.on_begin = pause
    outcome = run(bench, 'look around')
    assert not outcome.ok
    assert ':resume' in outcome.answer


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
