# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Start and end of the agent's process: nobody waits for ever, and it closes once, whichever line
a signal interrupts: a launcher closes the standard input and sends SIGTERM at the same time.
"""

from __future__ import annotations

from collections.abc import Callable
import json
import math
from pathlib import Path
import signal
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from curiosity_rosa_demo.agent import agent_node
from curiosity_rosa_demo.agent.interfaces.terminal.headless import END_SIGNALS, print_addresses
from curiosity_rosa_demo.agent.interfaces.terminal.options import parse_arguments
from curiosity_rosa_demo.agent.react.turn.request import TurnRequest
from curiosity_rosa_demo.agent.runtime.execution.rosa_loader import ModelUnavailable, RosaLoader
from curiosity_rosa_demo.agent.startup.startup import Startup
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.tools.readiness import wait_for_nodes
from harness import wait_until
import pytest
from runtime_world import CONFIG

FACTORY = 'curiosity_rosa_demo.agent.rosa_agent_factory'
ENDS = [SystemExit(3), KeyboardInterrupt(), ImportError('half a package')]


class Broken(ModuleType):
    """A module that ends the process while it is imported."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(FACTORY)
        self.error = error

    def __getattr__(self, name: str) -> Any:
        raise self.error


@pytest.mark.parametrize('error', ENDS, ids=repr)
def test_an_import_that_ends_the_process_makes_a_model_that_cannot_be_had(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, FACTORY, Broken(error))
    around: Any = SimpleNamespace(world=SimpleNamespace(config=CONFIG), checkpoints=Path('x'))
    loader = RosaLoader(around)
    loader.start()
    loader.wait_until_loaded()
    with pytest.raises(ModelUnavailable, match='ROSA cannot be imported: '):
        loader.run_turn(TurnRequest('look around', Cancellation()))


@pytest.mark.parametrize('error', ENDS, ids=repr)
def test_a_start_that_is_ended_says_so_and_is_not_waited_for(error: BaseException) -> None:
    said: list[str] = []
    started: list[str] = []

    def fail() -> bool:
        raise error

    robot_service = SimpleNamespace(startup_failure='')
    parts: list[Any] = [
        SimpleNamespace(ready=fail, missing=fail),
        SimpleNamespace(rover_status=fail),
        None,
        None,
        SimpleNamespace(print_notice=said.append),
        robot_service,
        SimpleNamespace(start=lambda: started.append('page')),
    ]
    startup = Startup(*parts, crash='')
    startup.start()
    assert startup.complete.wait(20.0), 'somebody would wait for ever'
    assert robot_service.startup_failure.startswith(f'The agent cannot begin: {error!r}')
    assert said == [f'! {robot_service.startup_failure}']
    wait_until(lambda: started, 'the page, which tells it')


AGENT = """
import json, os, signal, sys
import rclpy
from curiosity_rosa_demo.agent import agent_node

traced = {agent_node.run.__code__, agent_node._run_to_the_end.__code__}

class App:
    crashed, outcome, stack_stream = False, None, sys.stderr
    closed = 0

    def start(self):
        pass

    def close(self):
        App.closed += 1
        os.kill(os.getpid(), signal.SIGTERM)  # a launcher that asks again

def end_of_input(app, options):
    global is_ending
    is_ending = True
    return 0

def trace_calls(frame, event, argument):
    return trace_lines if frame.f_code in traced else None

def trace_lines(frame, event, argument):
    global lines
    if event == 'line' and is_ending:
        lines += 1
        if lines == interrupted:
            os.kill(os.getpid(), signal.SIGTERM)
    return trace_lines

agent_node.AgentApp = lambda options: App()
agent_node._read_lines = end_of_input
rclpy.init = lambda **arguments: None
rclpy.try_shutdown = lambda: None
ends, interrupted, all_lines = [], 0, 0  # at line 0 no signal comes
while interrupted <= all_lines:
    is_ending, lines, App.closed = False, 0, 0
    sys.settrace(trace_calls)
    try:
        status = agent_node.run(['agent_node'])
    except SystemExit as error:
        status = error.code
    sys.settrace(None)
    all_lines = all_lines or lines  # a signal ends the tracing
    ends.append([App.closed, status])
    interrupted += 1
print(json.dumps(ends))
"""


def test_a_signal_at_any_line_of_the_end_closes_the_agent_once() -> None:
    done = subprocess.run(
        [sys.executable, '-c', AGENT], capture_output=True, text=True, timeout=120, check=True
    )
    uninterrupted, *ends = json.loads(done.stdout.splitlines()[-1])
    assert uninterrupted == [1, 0]
    assert len(ends) > 5
    for line, (closed, status) in enumerate(ends, start=1):
        assert closed == 1, f'line {line} of {len(ends)}'
        assert status in {0, 130, 143}


def test_the_parts_start_and_end_in_an_order_and_each_has_its_turn_whatever_the_others_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start, end = [[s.__name__ for s in part] for part in (agent_node.START, agent_node.END)]
    assert end[0] == 'halt'
    for found, names in (
        (start, ['start_runtime', 'start_ros', 'start_tasks']),
        (end, ['halt', 'end_goals', 'close_runtime', 'linger_goals', 'close_ros']),
        (end, ['close_autonomy', 'close_runtime', 'close_ros', 'destroy_nodes']),
        (end, ['halt', 'close_logs', 'close_console_writer']),
    ):
        assert sorted(names, key=found.index) == names
    ended: list[str] = []

    def failing(name: str) -> Callable[[object], None]:
        def fail(_: object) -> None:
            ended.append(name)
            raise OSError(name)

        fail.__name__ = name
        return fail

    monkeypatch.setattr(agent_node, 'END', [failing(name) for name in end])
    agent_node.AgentApp.close(SimpleNamespace())  # type: ignore[arg-type]
    assert ended == end


WAITER = """
import os, signal, sys, threading
from curiosity_rosa_demo.agent.interfaces.terminal.headless import END_SIGNALS, wait_for_a_signal

def shower():
    while not callable(signal.getsignal(END_SIGNALS[-1])):
        threading.Event().wait(0.01)
    for signum in map(int, sys.argv[1:]):
        os.kill(os.getpid(), signum)

threading.Thread(target=shower, daemon=True).start()
wait_for_a_signal()
print('told', flush=True)
"""


def test_nobody_types_to_a_headless_agent_that_says_where_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert parse_arguments(['--headless']).headless
    assert not parse_arguments([]).headless
    with pytest.raises(SystemExit):
        parse_arguments(['--headless', '-c', ':status'])
    assert 'not allowed with argument' in capsys.readouterr().err
    for url, way in (
        ('http://127.0.0.1:8765/', 'at http://127.0.0.1:8765/ and'),
        ('', 'without a page, only'),
    ):
        print_addresses(url, '/r1/run')
        said = f'agent: headless; orders come {way} from the action /r1/run\n'
        assert capsys.readouterr() == ('', said)


@pytest.mark.parametrize(
    'signals', [*([signum] for signum in END_SIGNALS), [signal.SIGINT, signal.SIGTERM] * 100]
)
def test_a_signal_ends_it_and_a_shower_of_them_does_too(signals: list[signal.Signals]) -> None:
    command = [sys.executable, '-c', WAITER, *(str(int(signum)) for signum in signals)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, 'told\n'), done.stderr


NEVER = math.inf
BOUNDS_S = 20.0 + 10.0 + 3.0


class Start(Cancellation):
    """A start in a time of its own. Each part of it is there from its second on."""

    def __init__(self, **seconds: float) -> None:
        super().__init__()
        self.now_s = 0.0
        self._from_s = {
            **dict.fromkeys(('services', 'still', 'heard', 'pose', 'placed'), 0.0),
            **seconds,
        }
        self.said: list[str] = []

    def sleep(self, seconds: float) -> None:
        self.check()
        self.now_s += seconds

    def has(self, part: str) -> bool:
        return self.now_s >= self._from_s[part]

    def status(self) -> dict[str, Any]:
        return {'moving': not self.has('still'), 'rover_x': 1.0 if self.has('placed') else None}

    def wait(self) -> None:
        client: Any = SimpleNamespace(
            ready=lambda: self.has('services'), pose=lambda: object() if self.has('pose') else None
        )
        wait_for_nodes(
            client,
            lambda: ToolResult.success(**self.status()),
            lambda: self.status() if self.has('heard') else None,
            self,
            self.said.append,
        )


@pytest.mark.parametrize(
    ('part', 'notice'),
    [
        ('services', '! The adapter or the simulator node did not appear (within 20 s)'),
        ('still', '! The rover does not stand still: it still moves (within 10 s)'),
        ('heard', '! The status of the rover did not arrive (within 10 s)'),
        ('pose', ''),  # a robot without TF is driven too
        ('placed', ''),
    ],
)
def test_it_waits_for_each_part_of_the_first_status_but_not_for_ever(
    part: str, notice: str
) -> None:
    for seconds in (0.3, 2.5):
        start = Start(**{part: seconds})
        start.wait()
        assert seconds <= start.now_s < seconds + 0.1
        assert start.said == []
    start = Start(**{part: NEVER})
    start.wait()
    assert start.now_s < BOUNDS_S
    assert ''.join(start.said).startswith(notice)
    assert len(start.said) == bool(notice)
