# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The runner: its options and processes, its supervisor, shared memory and discovery server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, replace
import fcntl
from itertools import pairwise
import json
import os
from pathlib import Path
import signal
import socket
import subprocess
import sys
import uuid

from curiosity_physics import demos
from curiosity_rosa_demo.infra.config.topics import NodeSpec
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from harness import wait_until
from hypothesis import given
from hypothesis import strategies as st
import psutil
import pytest
from runner import supervision
from runner.fastdds import (
    ADDRESS,
    clean_shared_memory,
    discovery_server,
    FIRST_PORT,
    SHARED_MEMORY,
    VARIABLE,
)
from runner.plan import agent, background, of_each, Options, parse
from runner.supervision import PlannedProcess

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
# Keeps what it is told to until SIGTERM, and prints what it has to say of it.
PARENT = """
import asyncio, json, signal, sys
from pathlib import Path
from runner.supervision import kept_running, PlannedProcess

async def main():
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
    processes = [PlannedProcess(*each) for each in json.loads(sys.argv[2])]
    async with kept_running(processes, Path(sys.argv[1]), lambda text: print(text, flush=True)):
        await ending.wait()

asyncio.run(main())
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


@contextmanager
def supervised(folder: Path, *processes: PlannedProcess) -> Iterator[subprocess.Popen[str]]:
    """A process that keeps them running."""
    planned = json.dumps([astuple(process) for process in processes])
    root = Path(__file__).resolve().parents[1]
    parent = subprocess.Popen(
        [sys.executable, '-c', PARENT, str(folder), planned],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, 'PYTHONPATH': f'{root}:{os.environ.get("PYTHONPATH", "")}'},
    )
    with parent:
        try:
            yield parent
        finally:
            parent.kill()


def test_children_are_restarted_logged_and_stopped_in_order(tmp_path: Path, diary: Diary) -> None:
    processes = [
        PlannedProcess('rover', diary.command('rover'), stops_last=True),
        PlannedProcess('slow', diary.command('slow', 0.3)),
        PlannedProcess('quick', diary.command('quick')),
    ]
    with supervised(tmp_path, *processes) as parent:
        assert parent.stdout is not None
        wait_until(lambda: len(diary.notes('started')) == 3, 'three children')
        pids = dict(diary.notes('started'))
        os.kill(pids['slow'], signal.SIGKILL)
        wait_until(lambda: len(diary.notes('started')) == 4, 'the killed one to be back')
        assert diary.notes('started')[-1][0] == 'slow'
        logged = tmp_path / 'rover.log'
        wait_until(lambda: 'hello from rover' in logged.read_text(), 'the log of a child')
        parent.terminate()
        told = parent.stdout.read().splitlines()  # to its end
        # A stop is no process event.
        assert told == ['The slow process ended (terminated by SIGKILL) and is started again.']
    ended = [name for name, _ in diary.notes('ended')]
    assert sorted(ended) == ['quick', 'rover', 'slow']
    assert ended[-1] == 'rover'


def test_everything_is_gone_after_a_kill(tmp_path: Path, diary: Diary) -> None:
    with supervised(tmp_path, PlannedProcess('only', diary.command('only'))) as parent:
        (_, child), *_ = wait_until(lambda: diary.notes('started'), 'the child')
        parent.kill()
        wait_until(lambda: diary.notes('ended'), 'the child to be told to end')
        wait_until(lambda: not alive(child), 'the child to be gone')


def alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def kept(process: PlannedProcess, folder: Path, until: str) -> list[str]:
    """Keep a process running until it is told of it what begins with ``until``; what was told."""
    told: list[str] = []

    async def keep() -> None:
        over = asyncio.Event()

        def notify(text: str) -> None:
            told.append(text)
            if text.startswith(until):
                over.set()

        async with supervision.kept_running([process], folder, notify):
            await asyncio.wait_for(over.wait(), timeout=20.0)

    asyncio.run(keep())
    return told


def test_one_that_keeps_ending_at_once_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, 'MOST_RETRIES', 1)
    assert kept(PlannedProcess('broken', ('false',)), tmp_path, 'The broken process keeps') == [
        'The broken process ended (exit status 1) and is started again.',
        'The broken process keeps ending and is no longer started; see its log.',
    ]


def test_each_command_is_run_word_by_word(tmp_path: Path) -> None:
    words = ['%s', 'a ;b', '#', '"$HOME"', "'", '地面', 'two\nlines', '']
    command = (sys.executable, '-c', 'import sys; print(sys.argv[1:])', *words)
    kept(PlannedProcess('words', command), tmp_path, 'The words process ended')
    assert (tmp_path / 'words.log').read_text().splitlines()[0] == str(words)


def test_a_long_log_is_moved_while_its_process_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, 'LOG_BYTES', 100)
    monkeypatch.setattr(supervision, 'LOG_LOOK_S', 0.01)
    log, end = tmp_path / 'log.log', tmp_path / 'log.log.1'
    script = (
        f'while [ ! -e {end} ] || [ $(wc -c <{log}) -ge 100 ]; do echo a line; sleep 0.01; done; '
        'echo the last'
    )
    kept(PlannedProcess('log', ('/bin/sh', '-c', script)), tmp_path, 'The log process ended')
    assert end.read_text().startswith('a line\n')
    assert log.read_text().splitlines()[-1] == 'the last'


def test_a_process_whose_parent_has_ended_already_does_not_start() -> None:
    command = supervision.die_with_parent(['true'])
    assert subprocess.call(command, timeout=10) == 0
    by_another = ['/bin/sh', '-c', '"$@"; exit $?', 'sh', *command]
    assert subprocess.call(by_another, timeout=10) == 143


def test_without_setpriv_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('PATH', '')
    with pytest.raises(FileNotFoundError, match='apt-get install util-linux'):
        supervision.die_with_parent(['true'])


# --- shared memory that a dead process has left --------------------------------------------------


@pytest.fixture
def segments() -> Iterator[list[Path]]:
    """Two segments as Fast DDS makes them, each with its lock."""
    names = [f'fastrtps_{uuid.uuid4().hex[:16]}' for _ in range(2)]
    made = [SHARED_MEMORY / f'{name}{end}' for name in names for end in ('', '_el')]
    for each in made:
        each.touch()
    yield made
    for each in made:
        each.unlink(missing_ok=True)


def test_shared_memory_that_no_living_process_has_locked_is_removed(segments: list[Path]) -> None:
    with segments[1].open('rb') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        clean_shared_memory()
        assert [each.exists() for each in segments] == [True, True, False, False]
    clean_shared_memory()
    assert not any(each.exists() for each in segments)


def refusal(domain: int = 0) -> str:
    with pytest.raises(OSError) as refused:
        discovery_server(domain)
    return str(refused.value)


def test_one_that_is_named_already_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, '10.0.0.1:11811')
    line = refusal()
    assert line.startswith('ROS_DISCOVERY_SERVER=10.0.0.1:11811: ')
    assert '--discovery-server' in line
    assert os.environ[VARIABLE] == '10.0.0.1:11811'


def test_without_fast_dds_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv('PATH', str(tmp_path))
    assert 'rmw_fastrtps_cpp' in refusal()


def test_a_port_that_is_taken_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    domain = 232  # nobody's
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind((ADDRESS, FIRST_PORT + domain))
        assert f'UDP port {FIRST_PORT + domain}' in refusal(domain)
    assert VARIABLE not in os.environ


# --- which processes the demo consists of, and the options that shape them -----------------------

ROOT = Path(__file__).resolve().parents[2]
NODES = load_config().nodes.nodes


def test_the_nodes_of_nodes_yaml_run_behind_the_rover() -> None:
    planned = background(Options(), NODES, ROOT)
    assert [process.name for process in planned] == [
        'stand_in', 'adapter', 'simulator', 'visualizer',
    ]  # fmt: skip
    assert [process.name for process in planned if process.stops_last] == ['stand_in']
    assert all(Path(process.command[0]).exists() for process in planned)


def test_each_speed_and_body_has_its_time_everywhere_and_its_name_on_the_page() -> None:
    for arguments, sim, body in (
        ('', 'false', ['http_body:=stand-in']),
        ('--speed 10', 'true', ['http_body:=stand-in']),
        ('--speed 0.5', 'true', ['http_body:=stand-in']),
        ('--body mujoco', 'true', ['http_body:=mujoco']),
        ('--no-stand-in --sim-time true', 'true', []),
        ('--no-stand-in --sim-time false', 'false', []),
    ):
        options = parse(arguments.split())
        front = agent(options, NODES, ROOT, process_events_fd=9)
        assert [word for word in front if word.startswith('http_body:=')] == body
        processes = background(options, NODES, ROOT) if 'stand-in' in str(body) else []
        for command in (front, *(node.command for node in processes[1:])):
            assert f'use_sim_time:={sim}' in command
        for rover in processes[:1]:
            told = {f'time_scale:={options.speed}', f'publish_clock:={sim}'}
            assert told <= set(rover.command)


def test_the_nodes_of_the_demo_run_as_they_are_beside_its_rover(tmp_path: Path) -> None:
    clone = tmp_path / 'curiosity_rover'
    files = [*demos.node_files(clone), clone / demos.DESCRIPTION]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    options = parse(['--body', 'mujoco', '--demos', str(tmp_path), '--physics', 'seed=7'])
    body, *nodes = [each for each in background(options, NODES, ROOT) if each.stops_last]
    assert {f'demos:={clone}', 'seed:=7', 'time_scale:=1.0'} <= set(body.command)
    assert [Path(each.command[1]) for each in nodes] == files[:-1]
    assert all('use_sim_time:=true' in each.command for each in nodes)
    with pytest.raises(ConfigError, match='--demos /nowhere: no clone'):
        background(replace(options, demos='/nowhere'), NODES, ROOT)


def test_the_agent_gets_its_commands_as_they_are() -> None:
    options = Options(commands=(':forward 2', '地面を "調査" して'), artifacts='/a b')
    command = agent(options, NODES, ROOT, crash='signal 9', process_events_fd=7)
    assert command[0].endswith('agent_node')
    assert [b for a, b in pairwise(command) if a == '-c'] == [
        ':forward 2', '地面を "調査" して',
    ]  # fmt: skip
    told = {'--artifacts': '/a b', '--after-crash': 'signal 9', '--process-events-fd': '7'}
    assert {flag: command[command.index(flag) + 1] for flag in told} == told
    assert command.index('--ros-args') > command.index('--process-events-fd')


def test_each_of_several_rovers_has_its_names_its_clock_its_page_and_its_folders() -> None:
    options = parse(['--rovers', '2', '--speed', '3', '--artifacts', '/out', '--record', '/rec'])
    assert options.rovers == {'r1': '', 'r2': ''}
    for number, each in enumerate(of_each(options, 8765), start=1):
        name = f'r{number}'
        rover, *nodes = background(each, NODES, ROOT)
        front = agent(each, NODES, ROOT, process_events_fd=9)
        assert f'__ns:=/{name}' in rover.command
        for command in (*(node.command for node in nodes), front):
            assert {f'__ns:=/{name}', f'rover_namespace:=/{name}'} <= set(command)
            assert f'/clock:=/{name}/clock' in command
        assert f'http_port:={8764 + number}' in front
        assert 'http_fleet:=r1=http://127.0.0.1:8765,r2=http://127.0.0.1:8766' in front
        assert '--together' not in front
        assert front[front.index('--artifacts') + 1] == f'/out/{name}'
        assert front[front.index('--record') + 1] == f'/rec/{name}'


BAD: dict[str, list[str]] = {
    '--rovers 0': ['--rovers', '1 to 6'],
    '--rovers 7': ['1 to 6'],
    '--rovers -1': ['--rovers'],
    '--rovers r1,,r2': ["''", 'letters'],
    '--rovers a/b': ["'a/b'", 'letters'],
    '--rovers r1,r1': ['a name of its own'],
    '--rovers 2 -c @r2': ["-c '@r2'", 'standard input'],
    '--speed 0': ['--speed 0', '0.1 to 60'],
    '--speed nan': ['--speed nan'],
    '--speed fast': ["'fast'"],
    '--stand-in initial_x': ['initial_x', 'NAME=VALUE'],
    '--stand-in initial_z=1': ['initial_z', 'initial_yaw'],
    '--stand-in initial_mast=up': ["'up'", 'closed'],
    '--stand-in initial_x={': ['not YAML'],
    '--no-stand-in --speed 2': ['stand-in rover'],
    '--sped 2': ['--sped'],
    '--body moon': ["'moon'", 'mujoco'],
    '--body mujoco --speed 30': ['--speed 30', '0.1 to 20'],
    '--body mujoco --stand-in initial_x=1': ['--stand-in', '--body stand-in'],
    '--body mujoco --physics world=moon': ["'moon'", 'relief'],
    '--body mujoco --physics initial_mast=zero': ['initial_mast', 'friction'],
    '--body mujoco --physics demos=/': ['no demos'],
    '--body mujoco --rovers 2': ['--rovers', 'one rover'],
    '--body mujoco --no-stand-in': ['--no-stand-in', 'mujoco'],
    '--physics world=rocks': ['--physics', '--body mujoco'],
    '--demos /': ['--demos', '--body mujoco'],
    '--sim-time true': ['--sim-time', '--no-stand-in'],
    '-c': ['-c'],
    'stray': ['stray'],
}


def test_bad_options_are_answered_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, words in BAD.items():
        with pytest.raises(SystemExit) as ended:
            parse(arguments.split())
        output = capsys.readouterr()
        assert (ended.value.code, output.out, output.err.count('\n')) == (2, '', 1)
        assert output.err.startswith('run_demo.sh: ')
        assert all(word in output.err for word in words)


def test_nodes_that_cannot_be_run_are_named() -> None:
    stranger = NodeSpec(name='stranger', package='nowhere', executable='nothing', when='')
    with pytest.raises(FileNotFoundError, match='nowhere/nothing is not built'):
        background(Options(), [stranger], ROOT)
    with pytest.raises(ConfigError, match="'adapter' is taken twice"):
        background(Options(), [*NODES, *NODES], ROOT)
    with pytest.raises(ConfigError, match='0 nodes have when: agent'):
        agent(
            Options(), [node for node in NODES if node.when != 'agent'], ROOT, process_events_fd=9
        )


TEXTS = st.text(st.characters(exclude_categories=['Cs'], exclude_characters='\0'))


@given(st.lists(TEXTS.filter(lambda text: not text.startswith('-'))), st.floats(0.1, 20.0))
def test_any_command_survives_the_command_line(commands: list[str], speed: float) -> None:
    arguments = [part for text in commands for part in ('-c', text)]
    options = parse([*arguments, '--speed', repr(speed)])
    assert list(options.commands) == commands
    assert options.speed == speed
    words = agent(options, NODES, ROOT, process_events_fd=9)
    assert words[3 : 3 + len(arguments)] == arguments
