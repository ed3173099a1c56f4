# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The process manager, with harmless children in place of the nodes."""

from __future__ import annotations

from collections.abc import Iterator
import os
from pathlib import Path
import re
import shlex
import signal
import subprocess
import sys

from curiosity_rosa_demo.infra.config_loader import ConfigError
from harness import wait_until
from hypothesis import given
from hypothesis import strategies as st
import psutil
import pytest
from runner.plan import PlannedProcess
from runner.supervision import die_with_parent, process_event_text, Supervisor, supervisord_config
from supervisor.options import UnhosedConfigParser

# Notes its start and, when it is told to end, its end; ignores nothing.
CHILD = """
import os, signal, sys, time
def note(what):
    with open(sys.argv[1], 'a') as file:
        file.write(f'{sys.argv[2]} {what} {os.getpid()}\\n')
def end(*_):
    time.sleep(float(sys.argv[3]))
    note('ended')
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
note('started')
print('hello from', sys.argv[2], flush=True)
while True:
    signal.pause()
"""
PARENT = """
import sys
from pathlib import Path
from runner.plan import PlannedProcess
from runner.supervision import Supervisor
folder, *command = sys.argv[1:]
Supervisor([PlannedProcess('only', tuple(command))], Path(folder), notify=print)
print('ready', flush=True)
sys.stdin.read()
"""


class Diary:
    """What the children noted."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def command(self, name: str, slow_s: float = 0.0) -> tuple[str, ...]:
        script = self.path.with_name('child.py')
        script.write_text(CHILD)
        return (sys.executable, str(script), str(self.path), name, str(slow_s))

    def notes(self, what: str) -> list[tuple[str, int]]:
        """(name, pid) in the order in which they came."""
        text = self.path.read_text() if self.path.exists() else ''
        rows = [row.split() for row in text.splitlines()]
        return [(name, int(pid)) for name, noted, pid in rows if noted == what]


@pytest.fixture
def diary(tmp_path: Path) -> Iterator[Diary]:
    book = Diary(tmp_path / 'diary.txt')
    yield book
    for _, pid in book.notes('started'):
        if psutil.pid_exists(pid):  # a test that failed; a process that ended is nobody's pid yet
            os.kill(pid, signal.SIGKILL)


def test_children_are_restarted_logged_and_stopped_in_order(tmp_path: Path, diary: Diary) -> None:
    told: list[str] = []
    processes = [
        PlannedProcess('rover', diary.command('rover'), stops_last=True),
        PlannedProcess('slow', diary.command('slow', 0.3)),
        PlannedProcess('quick', diary.command('quick')),
    ]
    supervisor = Supervisor(processes, tmp_path, notify=told.append)
    try:
        wait_until(lambda: len(diary.notes('started')) == 3, 'three children')
        pids = dict(diary.notes('started'))
        os.kill(pids['slow'], signal.SIGKILL)
        wait_until(lambda: len(diary.notes('started')) == 4, 'the killed one to be back')
        wait_until(lambda: told, 'the process event')
        assert diary.notes('started')[-1][0] == 'slow'
        assert told == ['The slow process ended (terminated by SIGKILL) and is started again.']
        logged = tmp_path / 'rover.log'
        wait_until(lambda: 'hello from rover' in logged.read_text(), 'the log of a child')
    finally:
        supervisor.stop()
    ended = [name for name, _ in diary.notes('ended')]
    assert sorted(ended) == ['quick', 'rover', 'slow']
    assert ended[-1] == 'rover'
    assert told == told[:1]  # a stop is no process event


@pytest.mark.parametrize('victim', ['parent', 'supervisord'])
def test_everything_is_gone_after_a_kill(tmp_path: Path, diary: Diary, victim: str) -> None:
    root = Path(__file__).resolve().parents[1]
    parent = subprocess.Popen(
        [sys.executable, '-c', PARENT, str(tmp_path), *diary.command('only')],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, 'PYTHONPATH': f'{root}:{os.environ.get("PYTHONPATH", "")}'},
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    try:
        assert parent.stdout.readline() == b'ready\n'
        (_, child), *_ = wait_until(lambda: diary.notes('started'), 'the child')
        supervisord = psutil.Process(child).parent()
        assert supervisord is not None
        os.kill(parent.pid if victim == 'parent' else supervisord.pid, signal.SIGKILL)
        wait_until(lambda: diary.notes('ended'), 'the child to be told to end')
        wait_until(lambda: not alive(child), 'the child to be gone')
        if victim == 'parent':
            wait_until(lambda: not alive(supervisord.pid), 'supervisord to be gone')
    finally:
        parent.kill()
        parent.wait(timeout=10)
        parent.stdin.close()
        parent.stdout.close()


def alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_without_setpriv_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('PATH', '')
    with pytest.raises(FileNotFoundError, match='apt-get install util-linux'):
        die_with_parent(['true'])


def test_only_a_process_that_ended_by_itself_makes_an_event() -> None:
    at, again = '2026-01-01 00:00:00,000', 'and is started again.'
    for line, text in (
        (
            'WARN exited: adapter (terminated by SIGKILL; not expected)',
            f'The adapter process ended (terminated by SIGKILL) {again}',
        ),
        (
            'INFO exited: stand_in (exit status 0; expected)',
            f'The stand_in process ended (exit status 0) {again}',
        ),
        (
            'INFO gave up: adapter entered FATAL state, too many start retries too quickly',
            'The adapter process keeps ending and is no longer started; see its log.',
        ),
        ("INFO spawned: 'adapter' with pid 7", ''),
        ('INFO stopped: adapter (exit status 0)', ''),
    ):
        assert process_event_text(f'{at} {line}\n') == text


NAMES = st.from_regex(r'[a-z][a-z0-9_]{0,8}', fullmatch=True)
WORDS = st.text(st.characters(codec='utf-8', exclude_categories=['Cc', 'Zl', 'Zp']), min_size=1)


@given(st.dictionaries(NAMES, st.lists(WORDS, min_size=1, max_size=4), min_size=1, max_size=4))
def test_the_configuration_holds_each_command_word_by_word(commands: dict[str, list[str]]) -> None:
    processes = [PlannedProcess(name, tuple(words)) for name, words in commands.items()]
    try:
        text = supervisord_config(processes, Path('/log'))
    except ConfigError:
        assert any(re.search(r'\s[;#]', word) for words in commands.values() for word in words)
        return
    parser = UnhosedConfigParser()
    parser.read_string(text)
    for name, words in commands.items():
        section = parser[f'program:{name}']
        command = shlex.split(section['command'].replace('%%', '%'))
        assert command[command.index('sh') + 2 :] == words
        assert section['autorestart'] == 'true'
        assert section['stdout_logfile'] == f'/log/{name}.log'


def test_the_rover_is_in_the_group_that_is_stopped_last() -> None:
    processes = [PlannedProcess('rover', ('a',), stops_last=True), PlannedProcess('x', ('b',))]
    parser = UnhosedConfigParser()
    parser.read_string(supervisord_config(processes, Path('/log')))
    assert parser['group:rover']['programs'] == 'rover'
    assert parser['group:nodes']['programs'] == 'x'
    assert int(parser['group:rover']['priority']) < int(parser['group:nodes']['priority'])


def test_a_process_whose_parent_has_ended_already_does_not_start() -> None:
    me = os.getpid()
    for parent, status in ((me, 0), (me + 1, 143)):
        assert subprocess.call(die_with_parent(['true'], parent=parent), timeout=10) == status
