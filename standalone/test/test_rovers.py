# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Several agents behind one pair of streams, with harmless children in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import json
import os
from pathlib import Path
import signal
import subprocess
import sys

from curiosity_rosa_demo.agent.interfaces.terminal.options import READY_MESSAGE
from harness import ROOT, wait_until
import pytest

pytestmark = pytest.mark.timeout(60)

# Says what it hears; dies, goes deaf, ends, or gives a result when it is told to.
CHILD = (
    f'READY = {READY_MESSAGE!r}'
    + """
import os, signal, sys, time
name, told, crash = sys.argv[1:]
signal.signal(signal.SIGTERM, lambda *_: (print('told to end', flush=True), os._exit(130)))
print('up', crash, flush=True)
if told:
    time.sleep(0.3 if name == 'r2' else 0.0)  # none begins before the last one is ready
    print(READY, flush=True)
    sys.stdin.readline()
    print('began', flush=True)
for line in [told] if told else sys.stdin:
    word, _, rest = line.strip().partition(' ')
    if word == 'die':
        os._exit(70)
    if word == 'deaf':
        print('deaf', flush=True)
        while True:
            time.sleep(60)
    if word == 'complain':
        print(rest, file=sys.stderr, flush=True)
        continue
    if word == 'lie':
        print(rest, flush=True)
        sys.exit(1)
    if word == 'leave':
        print(rest, flush=True)
        sys.exit(0 if '"ok": true' in rest else 1)
    print('heard', line.strip(), flush=True)
print('no more lines', flush=True)
"""
)
PARENT = """
import asyncio, signal, sys
from pathlib import Path
from runner.agents import Agent, Console

child, folder, lines, *names = sys.argv[1:]
told = dict(zip(names, lines.splitlines()))
agents = {}

def end():
    for each in agents.values():
        each.ending.set()

def agent(name, output):
    def command(crash='', process_events_fd=0):
        return [sys.executable, '-c', child, name, told.get(name, ''), crash]
    return Agent(command, [], Path(folder), commands=bool(told), output=output)

async def main():
    console = Console(end)
    for name in names:
        agents[name] = agent(name, console.output(name))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
    return await console.run(agents, commands=bool(told))

sys.exit(asyncio.run(main()))
"""
ENV = {**os.environ, 'PYTHONPATH': f'{ROOT / "standalone"}:{os.environ.get("PYTHONPATH", "")}'}


class Parent:
    """Rovers of these names in a process; ``told``: a line for each, as a command would be."""

    def __init__(self, folder: Path, *names: str, told: tuple[str, ...] = ()) -> None:
        self.log = folder / 'output.txt'
        with self.log.open('wb') as out:
            self.popen = subprocess.Popen(
                [sys.executable, '-c', PARENT, CHILD, str(folder), '\n'.join(told), *names],
                env={**ENV, 'PYTHONIOENCODING': 'latin-1'},  # as of a locale without Japanese
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def send(self, *lines: str) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.write(''.join(f'{line}\n' for line in lines).encode())
        self.popen.stdin.flush()

    @property
    def lines(self) -> list[str]:
        return self.log.read_text(encoding='utf-8').splitlines()

    def expect(self, line: str, times: int = 1) -> None:
        wait_until(lambda: self.lines.count(line) >= times, f'{line!r} in {self.log}')

    def end(self) -> int:
        assert self.popen.stdin is not None
        self.popen.stdin.close()
        return self.popen.wait(timeout=20)


Start = Callable[..., Parent]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Parent] = []

    def one(*names: str, told: tuple[str, ...] = ()) -> Parent:
        started.append(Parent(tmp_path, *names, told=told))
        return started[-1]

    yield one
    for each in started:
        if each.popen.poll() is None:
            os.killpg(each.popen.pid, signal.SIGKILL)
            each.popen.wait(timeout=10)
        if each.popen.stdin is not None:
            each.popen.stdin.close()


def test_a_line_goes_to_all_or_to_one_and_comes_back_with_its_name(start: Start) -> None:
    run = start('r1', 'r2')
    run.expect('[r1] up ')
    run.expect('[r2] up ')
    run.send('hello', '@r2 地面を見て', '@r1 complain of this')
    for line in ('[r1] heard hello', '[r2] heard hello', '[r2] heard 地面を見て', '[r1] of this'):
        run.expect(line)
    run.send('@r9 hello', '@r1')
    wait_until(lambda: sum('"@r2 text" is for one' in line for line in run.lines) == 3, 'advice')
    assert run.end() == 0
    assert run.lines.count('[r1] heard 地面を見て') == 0
    assert {'[r1] no more lines', '[r2] no more lines'} <= set(run.lines)


def test_one_that_crashed_is_started_again_and_one_that_left_leaves_the_others_alone(
    start: Start,
) -> None:
    run = start('r1', 'r2')
    run.send('@r2 die')
    run.expect('[r2] up exit status 70')
    run.send('again')
    run.expect('[r1] heard again')
    run.expect('[r2] heard again')
    run.send('@r1 leave {"ok": true}')
    run.expect('[r1] {"ok": true}')

    def refused() -> bool:
        run.send('@r1 hello')
        return '[r1] ! has left' in run.lines

    wait_until(refused, 'a refusal')
    run.send('hello')
    run.expect('[r2] heard hello')
    assert run.end() == 0


def test_one_that_does_not_read_holds_up_nobody(start: Start) -> None:
    run = start('r1', 'r2', 'r3')
    run.send('@r1 deaf')
    run.expect('[r1] deaf')
    sent = 0
    while '[r1] ! does not take its lines' not in run.lines:
        sent += 1
        assert sent < 300, 'a pipe of a megabyte'
        run.send('x' * 4000)
    run.send(':stop')
    run.expect('[r2] heard :stop')
    run.send('x' * 5000)
    run.expect('! 5000 bytes; a line may have 4095')
    run.popen.terminate()
    assert run.popen.wait(timeout=20) == 130  # as they say it themselves
    told = sorted(line for line in run.lines if line.endswith('told to end'))
    assert told == [f'[{name}] told to end' for name in ('r1', 'r2', 'r3')]


OK, BAD = '{"ok": true, "answer": "done"}', '{"ok": false, "answer": "no"}'
NO_RESULT = 'No result: the agent ended with status 1; see its lines.'


@pytest.mark.parametrize(
    ('told', 'end'),
    [
        ((f'leave {OK}', f'leave {OK}'), 'done'),
        ((f'leave {BAD}', f'lie {OK}'), 'done'),
        ((f'leave {OK}', 'die'), 'The agent ended by exit status 70.'),
        ((f'leave {OK}', 'leave nonsense'), NO_RESULT),
    ],
)
def test_the_last_line_is_the_result_of_all(start: Start, told: tuple[str, str], end: str) -> None:
    run = start('r1', 'r2', told=told)
    oks = [each == f'leave {OK}' for each in told]
    assert run.end() == int(not all(oks))
    words = [line.partition(' ')[2] for line in run.lines]
    assert max(n for n, line in enumerate(words) if line == READY_MESSAGE) < words.index('began')
    result = json.loads(run.lines[-1])
    assert result['ok'] is all(oks)
    assert [(name, each['ok']) for name, each in result['rovers'].items()] == [
        ('r1', oks[0]),
        ('r2', oks[1]),
    ]
    assert result['rovers']['r2']['answer'] == end
