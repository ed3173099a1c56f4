# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The end of the agent's process: it closes once, whichever line a signal interrupts.

The end of a launcher closes the agent's standard input and sends it SIGTERM at the same time. A
signal that met the agent between the two once left it without a close, and its threads for ever.
"""

from __future__ import annotations

import json
import subprocess
import sys

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
