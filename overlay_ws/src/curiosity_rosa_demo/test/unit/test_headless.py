# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The agent without a console: its command line, what it says, and how it is told to end."""

from __future__ import annotations

import signal
import subprocess
import sys

from curiosity_rosa_demo.agent.interfaces.terminal.headless import END_SIGNALS, print_addresses
from curiosity_rosa_demo.agent.interfaces.terminal.options import parse_arguments
import pytest

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


def test_nobody_types_to_a_headless_agent(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse_arguments(['--headless']).headless
    assert not parse_arguments([]).headless
    with pytest.raises(SystemExit):
        parse_arguments(['--headless', '-c', ':status'])
    assert 'not allowed with argument' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('url', 'said'),
    [
        (
            'http://127.0.0.1:8765/',
            'agent: headless; orders come at http://127.0.0.1:8765/ and from the action /r1/run\n',
        ),
        ('', 'agent: headless; orders come without a page, only from the action /r1/run\n'),
    ],
)
def test_it_says_on_the_error_stream_where_it_is_reached(
    capsys: pytest.CaptureFixture[str], url: str, said: str
) -> None:
    print_addresses(url, '/r1/run')
    assert capsys.readouterr() == ('', said)


@pytest.mark.parametrize(
    'signals', [*([signum] for signum in END_SIGNALS), [signal.SIGINT, signal.SIGTERM] * 100]
)
def test_a_signal_ends_it_and_a_shower_of_them_does_too(signals: list[signal.Signals]) -> None:
    command = [sys.executable, '-c', WAITER, *(str(int(signum)) for signum in signals)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, 'told\n'), done.stderr
