# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Consoles attached to a headless agent, each in a pseudo-terminal of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess

from demo_bench import Bench, READY_S, Terminal
from harness import PREFIXES, Process, wait_until
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]
PACKAGE = 'curiosity_rosa_demo'
CONSOLE = str(PREFIXES[PACKAGE] / 'lib' / PACKAGE / 'console')
ORDERS = 'agent: headless; orders come '
UP, TAB = '\x1b[A', '\t'


class Headless:
    def __init__(self, bench: Bench) -> None:
        self._bench, box = bench, bench.box
        box.stand_in()
        box.overlay('adapter_node')
        box.overlay('simulator_node')
        box.env.update(bench.env)  # the folder of its state
        package = 'curiosity_rosa_demo'
        program = str(PREFIXES[package] / 'lib' / package / 'agent_node')
        config = f'config_dir:={box.config_dir()}'
        self.process: Process = box.run(
            [program, '--headless', '--ros-args', '-p', config], 'agent_node'
        )

    @property
    def url(self) -> str:
        """Where orders come from, as it says itself."""
        wait_until(lambda: ORDERS in self.process.output(), ORDERS, READY_S)
        orders = self.process.output().partition(ORDERS)[2].partition('\n')[0]
        return str(orders).partition('at ')[2].partition(' and')[0]

    def ends_well(self, signum: signal.Signals) -> None:
        """It leaves with 0, and by then the rover was told to stop."""
        assert self.process.kill(signum) == 0
        wait_until(lambda: not self._bench.moving, 'the rover to stand', 5.0)
        assert 'Traceback' not in self.process.output()
        assert '[RESULT] move_stop' in self.process.output()


def attach(bench: Bench, url: str) -> Terminal:
    terminal = bench.program(CONSOLE, '--url', url, '--wait', '120')
    terminal.expect('Attached to the agent', 150.0)
    terminal.prompt()
    return terminal


def drive(bench: Bench, terminal: Terminal) -> None:
    terminal.enter(':mast_close')
    terminal.expect(r'\[RESULT\] mast_close: done')
    terminal.enter(':forward 20')
    terminal.expect(r'\[ACT\] move_forward')
    terminal.until(lambda: bench.moving, 'the rover to drive')


def gets_the_outcome_of_each_command(bench: Bench, url: str) -> None:
    """A script that waits for the agent, and in a second go for nothing."""

    def run(*commands: str) -> tuple[int, dict[str, object], str]:
        flags = [word for command in commands for word in ('-c', command)]
        done = subprocess.run(
            [CONSOLE, '--url', url, '--wait', '120', *flags],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=bench.env,
            timeout=150.0,
        )
        assert 'Traceback' not in done.stderr
        return done.returncode, json.loads(done.stdout.splitlines()[-1]), done.stdout

    status, result, output = run(':mast_close', ':forward 1')
    assert (status, result['ok']) == (0, True), output
    assert '[ACT] move_forward' in output
    status, result, output = run(':mast_open', ':forward 1', ':status')
    assert (status, result['ok']) == (1, False), output
    assert '! Need to close mast' in output


def test_two_consoles_one_killed_and_a_stop_from_the_other(bench: Bench) -> None:
    refuses_without_an_agent(bench)
    agent = Headless(bench)
    url = agent.url
    gets_the_outcome_of_each_command(bench, url)
    one, two = attach(bench, url), attach(bench, url)

    drive(bench, one)
    two.expect(r'\S+@\S+ \(console-[0-9a-f]{4}\): :mast_close')  # whose line it was
    two.expect(r'\[RESULT\] mast_close: done')
    two.expect(r'\[ACT\] move_forward')
    two.expect(r'move_forward\([^)]*\)  \d+ s')  # the status line

    os.kill(one.child.pid, signal.SIGKILL)
    assert one.end() == 128 + signal.SIGKILL
    two.enter(':status')
    two.expect('moving')
    assert bench.moving  # a console that dies is no agent that dies

    two.enter(':stop')
    two.expect(r'stopped')
    bench.stands(20.0)

    two.child.send(UP + UP + '\r')  # over :stop to :status
    two.expect('standing still')
    two.child.send(':mast_o' + TAB)
    two.expect('pen')  # the rest of :mast_open
    two.child.send('\r')
    two.expect(r'\[RESULT\] mast_open: done')

    drive(bench, two)
    two.child.send('\x03')
    two.expect(r'\(Ctrl-C: the rover is stopped; press it again to exit\)')
    two.until(lambda: not bench.moving, 'the rover to stand still')

    two.enter(':quit')
    two.expect('Detached; the agent goes on')
    assert two.end() == 0
    three = attach(bench, url)
    assert re.search(
        r'Stopped by \S+@\S+ \(console-', three.text
    )  # among the last texts, which it shows first
    agent.ends_well(signal.SIGTERM)
    three.expect('does not answer any more')
    three.child.send('\x04')
    assert three.end() == 0
    for terminal in (one, two, three):
        assert 'Traceback' not in terminal.text


def refuses_without_an_agent(bench: Bench) -> None:
    done = subprocess.run(
        [CONSOLE, '--url', 'http://127.0.0.1:9', '-c', ':status'],
        capture_output=True,
        text=True,
        env=bench.env,
        timeout=READY_S,
    )
    assert (done.returncode, done.stdout) == (1, '')
    assert done.stderr.startswith('console: no agent answers at http://127.0.0.1:9')
