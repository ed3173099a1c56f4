# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Consoles attached to a headless agent, and that of the demo, each in a pseudo-terminal."""

from __future__ import annotations

import os
import re
import signal
import termios

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


def test_two_consoles_one_killed_and_a_stop_from_the_other(bench: Bench) -> None:
    agent = Headless(bench)
    url = agent.url
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


# --- the console of the demo itself --------------------------------------------------------------


def cooked(descriptor: int) -> bool:
    """Whether the terminal echoes and edits lines by itself."""
    local = termios.tcgetattr(descriptor)[3]
    return bool(local & termios.ECHO and local & termios.ICANON and local & termios.ISIG)


def test_a_conversation_a_ctrl_c_that_stops_the_rover_and_two_that_quit(bench: Bench) -> None:
    terminal = bench.terminal('--speed', '2')
    terminal.prompt()
    assert 'not a language model' in terminal.text
    terminal.enter(':help')
    terminal.expect(r':mast_rotate')
    terminal.expect('the agent reads every other line')

    terminal.enter(':cap')
    terminal.expect(r'\[ACT\] capture_and_score')
    terminal.expect(r'score 0\.\d+, not good')
    terminal.enter(':foward')
    terminal.expect('! no command :foward; did you mean :forward')
    terminal.child.send(':submit cap' + TAB)
    terminal.expect('ture_and_score')
    terminal.child.send('\x15')  # Ctrl-U
    said_before = terminal.text.count('I did not understand')
    terminal.enter('tell me a joke')
    terminal.expect('! I did not understand')
    terminal.enter(':forward 1')
    terminal.expect('! Need to close mast')

    terminal.enter('ローバーの状態を教えて')
    terminal.expect('状態: マストは展開')
    assert terminal.text.count('I did not understand') == said_before + 1
    terminal.child.send(UP + UP + '\r')  # over the sentence to :forward 1
    terminal.expect('! Need to close mast')

    terminal.enter(':demo')
    terminal.expect(r'\[ACT\] move_forward')
    terminal.expect(r'move_forward\([^)]*\)  \d+ s')  # the status line
    terminal.until(lambda: bench.moving, 'the rover to drive')
    terminal.child.send('\x03')
    terminal.expect(r'\(Ctrl-C: the rover is stopped; press it again to exit\)')
    terminal.until(lambda: not bench.moving, 'the rover to stand still')
    terminal.expect('! Stopped by Ctrl-C')
    terminal.enter(':status')
    terminal.expect('standing still')

    terminal.child.send('half a line\x03\x03')
    assert terminal.end() == 0
    assert 'Traceback' not in terminal.text
    bench.nothing_left()


def test_a_killed_agent_is_back_in_the_same_terminal_and_a_closed_window_stops_the_rover(
    bench: Bench,
) -> None:
    terminal = bench.terminal()
    terminal.prompt()
    terminal.enter(':mast_close')
    terminal.expect(r'\[RESULT\] mast_close: done')
    terminal.enter(':forward 20')
    terminal.expect(r'\[ACT\] move_forward')
    terminal.until(lambda: bench.moving, 'the rover to drive')
    # Between two prompts the terminal is itself for a moment.
    terminal.until(lambda: not cooked(terminal.child.child_fd), 'the next prompt')
    bench.kill('agent_node')
    terminal.expect(r'\x1b\[\?2004l')  # written by the runner when the terminal is itself again
    assert cooked(terminal.child.child_fd)
    terminal.expect('The agent was restarted after signal 9')
    terminal.expect('the rover was stopped')
    terminal.until(lambda: not bench.moving, 'the rover to stand still')
    terminal.enter(':forward 1')
    terminal.expect(r'\[RESULT\] move_forward: .*distance 0\.\d')
    terminal.child.send(UP + '\r')  # the history outlives the agent
    terminal.expect(r'\[RESULT\] move_forward: .*distance 0\.\d')

    terminal.enter(':forward 20')
    terminal.until(lambda: bench.moving, 'the rover to drive')
    assert 'Traceback' not in terminal.text
    terminal.child.ptyproc.fileobj.close()
    bench.nothing_left()
    assert not bench.moving
