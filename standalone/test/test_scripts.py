# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The scripts around the containers and the checkout, with stand-ins for docker and ros2."""

from __future__ import annotations

from collections.abc import Iterator
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys
from typing import Any

from harness import wait_until
import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
# A child that writes what it hears into the file that all of them share, and ends a moment later.
CHILD = """#!/usr/bin/env bash
trap 'echo "$NAME hears INT" >>"$STORY"; exit 0' INT
trap 'echo "$NAME hears TERM" >>"$STORY"; exit 0' TERM
echo "$NAME $*" >>"$STORY"
while :; do sleep 0.05; done
"""


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


# --- in the container ---------------------------------------------------------------------------


class Container:
    """docker/ in a folder of its own, with a ROS environment that only knows our own ``ros2``."""

    def __init__(self, folder: Path) -> None:
        self.docker, self._bin = folder / 'docker', folder / 'bin'
        shutil.copytree(ROOT / 'docker', self.docker)
        script(self.docker / 'ros_env.sh', f'export PATH="{self._bin}:$PATH"\n')
        script(self.docker / 'build_overlay.sh', 'echo build >>"$STORY"\n')
        self.fake('ros2', CHILD.replace('$NAME', 'overlay'))
        self.demo = script(folder / 'demo', CHILD.replace('$NAME', 'demo'))
        self._story = folder / 'story'
        self._story.touch()
        self._state = {'XDG_STATE_HOME': str(folder), 'ROS_LOG_DIR': str(folder)}
        self._processes: list[subprocess.Popen[Any]] = []
        self._folder = folder

    def run(self, name: str, *arguments: str, **env: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            # scripts/test.sh runs these tests in the background, where a shell ignores SIGINT.
            ['env', '--default-signal=INT', str(self.docker / name), *arguments],
            env={**os.environ, 'STORY': str(self._story), **self._state, **env},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._processes.append(process)
        return process

    def agent(self) -> subprocess.Popen[bytes]:
        """A process that looks like an agent in that container."""
        file = self._folder / 'lib/curiosity_rosa_demo/agent_node'
        text = (
            'import signal, sys\n'
            'def leave(*_):\n'
            f'    open({str(self._story)!r}, "a").write("agent hears TERM\\n"); sys.exit()\n'
            'signal.signal(signal.SIGTERM, leave)\n'
            'print("ready", flush=True)\n'
            'while True: signal.pause()\n'
        )
        script(file, text)
        process = subprocess.Popen([sys.executable, str(file)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b'ready\n'
        self._processes.append(process)
        return process

    def fake(self, program: str, text: str) -> None:
        script(self._bin / program, text)

    @property
    def launch(self) -> int | None:
        """The process that says of itself that it is the overlay."""
        found = [line.rpartition(' ')[2] for line in self.story if line.startswith('overlay is ')]
        return int(found[0]) if found else None

    @property
    def story(self) -> list[str]:
        return self._story.read_text().splitlines()

    def has(self, line: str) -> None:
        wait_until(lambda: line in self.story, f'{line!r} in {self.story}')

    def close(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.terminate()
                process.wait(timeout=40)


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    box = Container(tmp_path)
    # Only what this test started counts as an agent here.
    here = (box.docker / 'agents.sh').read_text()
    pattern = '/overlay/install/*/agent_node'
    assert pattern in here
    script(box.docker / 'agents.sh', here.replace(pattern, f'"{tmp_path}"/*/agent_node'))
    yield box
    box.close()


LAUNCHED = 'overlay launch curiosity_rosa_demo demo.launch.py use_sim_time:=true agent:=headless'


def test_without_a_place_for_its_records_nothing_starts(
    container: Container, tmp_path: Path
) -> None:
    """A missing folder is one that not even root can write, which may run this test."""
    gone = str(tmp_path / 'gone')
    for variable in ('XDG_STATE_HOME', 'ROS_LOG_DIR'):
        run = container.run('with_overlay.sh', str(container.demo), **{variable: gone})
        _, errors = run.communicate(timeout=20)
        assert run.returncode == 1
        [line] = errors.splitlines()
        assert line.startswith(f'overlay: user {os.getuid()} cannot write {gone}: ')
        assert 'down --volumes' in line  # the way out
    assert container.story == []


def test_a_stop_ends_the_console_then_the_overlay_then_the_rover(container: Container) -> None:
    agent = container.agent()
    run = container.run('with_overlay.sh', str(container.demo), CURIOSITY_AGENT='none')
    container.has('demo ')
    container.has(LAUNCHED.replace('headless', 'none'))
    run.terminate()
    # Its parent is this test, and no docker: it must be waited for to be gone.
    agent.wait(timeout=10)
    assert run.wait(timeout=20) == 0
    assert [line for line in container.story if 'hears' in line] == [
        'agent hears TERM',
        'overlay hears INT',
        'demo hears INT',
    ]


# As launch_ros starts it: a node in the group of launch, which hears SIGTERM when launch dies.
ORPHAN = """#!/usr/bin/env bash
{
  trap '' TERM
  while kill -0 $$ 2>/dev/null; do sleep 0.05; done
  %s
  echo "node ends" >>"$STORY"
} &
echo "overlay is $$" >>"$STORY"
wait
"""


@pytest.mark.parametrize(
    ('takes_s', 'told'),
    [
        (1, ['node ends', 'demo hears INT']),  # the adapter needs the rover's nodes to stop it
        (60, ['demo hears INT']),  # a node that hangs does not keep the rover's nodes for ever
    ],
)
def test_when_launch_is_killed_the_rovers_nodes_end_after_the_overlays(
    container: Container, takes_s: int, told: list[str]
) -> None:
    container.fake('ros2', ORPHAN % f'sleep {takes_s}')
    run = container.run('with_overlay.sh', str(container.demo))
    container.has('demo ')
    wait_until(lambda: container.launch is not None, 'launch')
    assert container.launch is not None
    os.kill(container.launch, signal.SIGKILL)
    assert run.wait(timeout=40) == 1  # so that restart: on-failure starts it again
    assert [line for line in container.story if 'ends' in line or 'hears' in line] == told


def runs(words: str) -> bool:
    lines = (' '.join(each.info['cmdline'] or ()) for each in psutil.process_iter(['cmdline']))
    return any(words in line for line in lines)


def test_when_one_of_them_ends_so_does_the_container_and_what_is_deaf_is_killed(
    container: Container,
) -> None:
    deaf = script(
        container.demo.with_name('deaf'), 'trap "" INT TERM\necho up >>"$STORY"\nsleep 60\n'
    )
    run = container.run('with_overlay.sh', 'bash', str(deaf))
    container.has('up')
    container.has(LAUNCHED)
    run.terminate()
    assert run.wait(timeout=30) == 0
    wait_until(lambda: not runs(str(deaf)), f'the end of {deaf}')
    ends = f'until grep -q "{LAUNCHED}" "$STORY"; do sleep 0.05; done; exit 3'
    for who, command in (('demo', ['bash', '-c', ends]), ('overlay', [str(container.demo)])):
        if who == 'overlay':
            fails = 'sleep 0.2; echo "no compiler" >&2; exit 1\n'
            script(container.docker / 'build_overlay.sh', fails)
        run = container.run('with_overlay.sh', *command)
        _, errors = run.communicate(timeout=20)
        assert run.returncode == 1  # so that restart: on-failure starts it again
        assert f'overlay: the {who}' in errors.replace("demo's command", 'demo')
    assert not runs(str(container.demo))


# --- compose.sh and console.sh on the host -----------------------------------------------------


class Host:
    """Our scripts in a folder of their own, beside a demo; docker tells what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.root, self._bin = folder / 'curiosity-rosa', folder / 'bin'
        for name in ('compose.sh', 'console.sh'):
            script(self.root / 'scripts' / name, (ROOT / 'scripts' / name).read_text())
        self.version('2.29.7')
        self.demo = folder / 'demos/curiosity_rover'
        self.demo.mkdir(parents=True)
        (self.demo / 'docker-compose.yml').touch()

    def version(self, version: str) -> None:
        script(
            self._bin / 'docker',
            '#!/usr/bin/env bash\n'
            f'if [[ $2 == version ]]; then echo {version}; exit; fi\n'
            'echo "$CURIOSITY_ROSA_DIR $HOST_UID $HOST_GID"\n'
            'printf "%s\\n" "profiles: ${COMPOSE_PROFILES-}" "$@" ""\n',
        )

    def run(self, name: str, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        without = {key: each for key, each in os.environ.items() if not key.startswith('HOST_')}
        path = f'{self._bin}:{os.environ["PATH"]}'
        return subprocess.run(
            [str(self.root / 'scripts' / name), *arguments],
            env={**without, 'PATH': path, **env},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=20,
        )

    def calls(self, name: str, *arguments: str, **env: str) -> list[list[str]]:
        """What it gave docker at each call: the variables, the profiles and the words."""
        done = self.run(name, *arguments, **env)
        assert done.returncode == 0, done.stderr
        return [call.splitlines() for call in done.stdout.removesuffix('\n\n').split('\n\n')]


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_compose_puts_our_file_on_the_demos_wherever_that_is(host: Host) -> None:
    [[variables, _, *words]] = host.calls('compose.sh', 'up', '-d')
    files = '-f ../demos/curiosity_rover/docker-compose.yml -f compose.override.yaml'
    assert ' '.join(words) == f'--log-level error compose {files} up -d'
    numbers = (os.getuid(), os.getgid()) if os.getuid() else (1000, 1000)  # never root's
    assert variables == ' '.join(map(str, (host.root, *numbers)))
    elsewhere = host.demo.rename(host.demo.with_name('elsewhere'))
    (host.root / '.env').write_text(f'OPENAI_API_KEY=sk-1\nDEMO_DIR={elsewhere}\n')
    [[_, _, *words]] = host.calls('compose.sh', 'ps')
    file = f'compose --env-file {host.root}/.env -f {elsewhere}/docker-compose.yml'
    assert file in ' '.join(words)
    [[_, _, *words]] = host.calls('compose.sh', 'ps', DEMO_DIR='../demos/elsewhere')
    assert '../demos/elsewhere/docker-compose.yml' in words


OFF = ('stop curiosity_demo', 'headless')


# The rover stops while Gazebo, with a screen or without, still shows where it is; but never
# beside the Gazebo with a screen.
CALLS: dict[str, list[tuple[str, str]]] = {
    'down': [OFF, ('down', 'headless')],
    'down --volumes': [OFF, ('down --volumes', 'headless')],
    'stop': [OFF, ('stop', 'headless')],
    'stop curiosity_demo': [OFF, ('stop curiosity_demo', 'headless')],
    'stop curiosity_gui': [('stop curiosity_gui', 'headless')],
    'down --help': [('down --help', 'headless')],
    'kill': [('kill', 'headless')],
    'up -d': [('up -d', '')],
    'exec curiosity_demo console.sh -c stop': [('exec curiosity_demo console.sh -c stop', '')],
}


def test_what_ends_the_containers_ends_all_of_them_and_the_rover_first(host: Host) -> None:
    found = {}
    for words in CALLS:
        heard = host.calls('compose.sh', *words.split())
        found[words] = [
            (' '.join(call[call.index('compose.override.yaml') + 1 :]), call[1].split(': ')[1])
            for call in heard
        ]
    assert found == CALLS


# --- a checkout that was moved or copied, and two in one shell ----------------------------------


def bash(program: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ['bash', '-c', f'set -euo pipefail\n{program}'],
        cwd=folder,
        env={'PATH': os.environ['PATH'], **env},
        capture_output=True,
        text=True,
        timeout=60,
    )


def checkout(folder: Path, *, path: str | None = None) -> Path:
    """A checkout's scripts, and an environment that only looks like one."""
    shutil.copytree(ROOT / 'scripts', folder / 'scripts')
    programs = folder / '.venv/bin'
    programs.mkdir(parents=True)
    (folder / '.venv/.ros').write_text('wheels\n')
    for name in ('python', 'colcon', 'pip'):
        script(programs / name, f'#!{folder}/.venv/bin/python3.11\nexit 1\n')
    if path is not None:
        (folder / '.venv/.path').write_text(f'{path}\n')
    return folder


def test_a_build_in_a_moved_checkout_names_the_way_out_and_the_setup_takes_it(
    tmp_path: Path,
) -> None:
    folder = checkout(tmp_path / 'moved', path='/where/it/was/.venv')
    was = '.venv was made for /where/it/was/.venv'
    ended = bash('scripts/build_overlay.sh', folder)
    assert ended.returncode == 1
    way_out = 'run scripts/setup.sh, which makes it anew'
    assert ended.stderr == f'build_overlay: {folder}/{was}; {way_out}\n'
    (folder / 'standalone').mkdir()
    for name in ('requirements.txt', 'mend_wheels.py'):
        (folder / 'standalone' / name).touch()
    build = folder / 'overlay_ws/build'
    build.mkdir(parents=True)
    # An interpreter that can do everything but make an environment: the setup ends there.
    python = script(folder / 'python', '#!/bin/sh\ncase $1 in -m) exit 3 ;; esac\nexit 0\n')
    ended = bash('scripts/setup.sh --ros wheels', folder, PYTHON=str(python))
    assert ended.returncode == 3, ended.stderr
    assert was in ended.stderr
    assert not (folder / '.venv').exists()
    assert not build.exists()
