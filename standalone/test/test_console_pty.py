# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The console in a terminal, keystroke by keystroke."""

from __future__ import annotations

import termios

from demo_bench import Bench
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]
UP = '\x1b[A'


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
    terminal.expect(r'score 0\.\d+, is_good false')
    terminal.enter(':foward')
    terminal.expect('! no command :foward; did you mean :forward')
    terminal.enter(':forward 1')
    terminal.expect('! Need to close mast')

    terminal.enter('ローバーの状態を教えて')
    terminal.expect('状態: マストは展開')
    terminal.enter('What is the status of the rover?')
    terminal.expect('Status: the mast is open')

    terminal.child.send(UP + UP + UP + '\r')  # over the two sentences to :forward 1
    terminal.expect('! Need to close mast')
    terminal.enter('：ｓｔａｔｕｓ')
    terminal.expect('mast open')

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
