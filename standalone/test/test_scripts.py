# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The containers' files and the scripts around them, around the checkout and for a release."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import Message
import fnmatch
import os
from pathlib import Path
import re
import shlex
import shutil
import signal
import subprocess
import sys
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from harness import ROOT, Sandbox, wait_until
from packaging.requirements import Requirement
import psutil
import pytest
from release.bill import bill_problems, pinned_packages
from release.licences import licences_in
from release.versions import declared_versions, version_problems
import yaml

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

    def forget(self) -> None:
        self._story.write_text('')

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


# A command of the demo that ends as soon as the story tells something.
ENDS_AT = """bash -c 'until grep -q "%s" "$STORY"; do sleep 0.05; done; exit 3'"""


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
    for ended, command, build in (
        ("the demo's command", ENDS_AT % LAUNCHED, 'true\n'),
        ("the demo's command", ENDS_AT % 'builds', 'echo builds >>"$STORY"; sleep 1\n'),
        ('the overlay', str(container.demo), 'sleep 0.2; exit 1\n'),
    ):
        script(container.docker / 'build_overlay.sh', build)
        container.forget()
        run = container.run('with_overlay.sh', *shlex.split(command))
        _, errors = run.communicate(timeout=20)
        assert run.returncode == 1  # so that restart: on-failure starts it again
        assert errors.startswith(f'overlay: {ended} has ended')
        assert (LAUNCHED in container.story) == (LAUNCHED in command)  # not after the build
    assert not runs(str(container.demo))


def test_a_build_begins_without_the_modules_of_the_one_before(container: Container) -> None:
    folder = container.docker.parent
    build = (ROOT / 'docker/build_overlay.sh').read_text().replace('/overlay\n', f'{folder}\n')
    build = build.replace(' /curiosity_rosa/', f' {folder}/').replace('(/cur', f'({folder}/cur')
    script(container.docker / 'build_overlay.sh', build)
    for source in ('curiosity_rosa/overlay_ws/src', 'standalone/src/curiosity_stand_in'):
        script(folder / source / 'new.py', '')
    old = script(folder / 'install/curiosity_rosa_demo/old.py', '')
    container.fake('colcon', f'! [[ -e {old} ]]\n')
    run = container.run('build_overlay.sh')
    assert (run.wait(timeout=20), old.exists()) == (0, False)


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


DOCKER = ROOT / 'docker'
DOCKERFILES = [DOCKER / 'Dockerfile', DOCKER / 'Dockerfile.gui']
SECRET = re.compile(r'(?i)api_key|token|secret|password')
COMPOSE = yaml.safe_load((ROOT / 'compose.override.yaml').read_text())
DEMO, GAZEBO = (COMPOSE['services'][name] for name in ('curiosity_demo', 'curiosity_gui'))


def of(dockerfile: Path, name: str) -> list[str]:
    """The words of each instruction of this name, continued lines joined."""
    text = re.sub(r'^\s*#.*\n', '', dockerfile.read_text(), flags=re.MULTILINE)
    lines = [line.split(None, 1) for line in text.replace('\\\n', ' ').splitlines()]
    return [words[1] for words in lines if len(words) == 2 and words[0] == name]


def ignored(path: str) -> bool:
    """Whether .dockerignore keeps the file out: the last line that fits it or a folder above."""
    verdict = False
    above = [path, *map(str, Path(path).parents[:-1])]
    for line in (ROOT / '.dockerignore').read_text().split('\n'):
        if not line or line.startswith('#'):
            continue
        pattern = line.removeprefix('!')
        patterns = [pattern, pattern.removeprefix('**/')]
        if any(fnmatch.fnmatchcase(each, fit) for each in above for fit in patterns):
            verdict = not line.startswith('!')
    return verdict


# --- compose.override.yaml on the demo's file ---------------------------------------------------


def test_the_rovers_container_has_no_privilege_and_does_not_start_for_ever() -> None:
    assert DEMO['cap_drop'] == ['ALL']
    assert DEMO['security_opt'] == ['no-new-privileges:true']
    assert DEMO['restart'] == 'on-failure:5'  # not for ever and not at boot
    assert {'privileged', 'cap_add', 'user', 'command'} & set(DEMO) == set()
    for service in (DEMO, GAZEBO):
        [script] = service['entrypoint']
        assert os.access(ROOT / script.removeprefix('/curiosity_rosa/'), os.X_OK)
        mount = service['volumes'][0]
        assert (mount['target'], mount['read_only']) == ('/curiosity_rosa', True)
        assert not mount['bind']['create_host_path']  # a wrong folder is an error, no empty one
        assert ':?set CURIOSITY_ROSA_DIR to the folder' in mount['source']
    assert of(DOCKERFILES[0], 'USER')[-1] == 'spaceros-user'
    text = DOCKERFILES[0].read_text()
    assert text.rindex('\nENTRYPOINT') > text.rindex('\nUSER')
    assert {'HOST_UID=1000', 'HOST_GID=1000'} < set(of(DOCKERFILES[0], 'ARG'))
    assert not re.search(r'\$\{?(UID|GID)\b', text)  # bash has a UID: root's here
    # What the agent keeps outlives the container.
    [state] = [each for each in DEMO['volumes'] if str(each).endswith(':/state')]
    assert state.partition(':')[0] in COMPOSE['volumes']
    assert re.search(r'install -d -o "\$HOST_UID" .*/state', text)
    assert 'XDG_STATE_HOME=/state' in text


# --- the Dockerfiles ----------------------------------------------------------------------------


def test_only_what_is_copied_gets_through() -> None:
    copied = [shlex.split(words)[:-1] for each in DOCKERFILES for words in of(each, 'COPY')]
    sources = [path for paths in copied for path in paths]
    assert [path for path in sources if not (ROOT / path).exists() or ignored(path)] == []
    assert not ignored('overlay_ws/src/curiosity_rosa_demo/config/agent.yaml')
    secret = ['.env', 'docker/.env', 'docker/.env.local', '.git/config', 'run/domain-0/agent.log']
    others = ['.venv/pyvenv.cfg', 'overlay_ws/build/x', 'overlay_ws/src/a/__pycache__/b.pyc']
    others += ['overlay_ws/src/a/test/.hypothesis/b.gz']  # root's, perhaps, and no source
    assert [path for path in (*secret, *others) if not ignored(path)] == []


def test_no_secret_is_in_an_image_or_in_the_repository() -> None:
    [file] = DEMO['env_file']  # the key's, which need not be there
    assert (file['path'].endswith('/.env'), file['required']) == (True, False)
    assert not re.search(
        r'(?i)key|token|secret|password', f'{DEMO["environment"]} {DEMO["build"]}'
    )
    for dockerfile in DOCKERFILES:
        for name in ('ARG', 'ENV'):
            assert not any(SECRET.search(words) for words in of(dockerfile, name))
    lines = (ROOT / '.gitignore').read_text().splitlines()
    assert '/.env' in lines
    assert not any(fnmatch.fnmatch('.env.example', line.strip('/')) for line in lines)
    text = (ROOT / '.env.example').read_text()
    settings = dict(re.findall(r'^#?([A-Z][A-Z_]+)=(.*)$', text, re.MULTILINE))
    read = (ROOT / 'compose.override.yaml').read_text() + (ROOT / 'scripts/compose.sh').read_text()
    for name, value in settings.items():
        assert value == '' if SECRET.search(name) else name in read
    assert re.findall(r'^[A-Z]\w*', text, re.MULTILINE) == ['DEMO_DIR']  # the rest is a choice


def test_every_script_is_bash() -> None:
    folders = ('docker', 'scripts', 'contrib/*/*')
    scripts = [each for folder in folders for each in ROOT.glob(f'{folder}/*.sh')]
    assert len(scripts) > 20
    for script in scripts:
        done = subprocess.run(['bash', '-n', str(script)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


# --- the pinned packages ------------------------------------------------------------------------


def wanted(path: Path) -> dict[str, Requirement]:
    lines = [line.partition('#')[0].strip() for line in path.read_text().splitlines()]
    found = [Requirement(line) for line in lines if line]
    return {each.name.lower().replace('_', '-'): each for each in found}


def pinned(path: Path, python: str) -> dict[str, str]:
    """The versions on Linux with that Python, such as 3.10."""
    there = {
        'python_version': python, 'python_full_version': f'{python}.1', 'sys_platform': 'linux',
        'platform_machine': 'x86_64', 'platform_python_implementation': 'CPython',
        'implementation_name': 'cpython',
    }  # fmt: skip
    lines = [Requirement(line) for line in path.read_text().splitlines() if '==' in line]
    return {
        each.name.lower(): str(each.specifier).removeprefix('==')
        for each in lines
        if each.marker is None or each.marker.evaluate(there)
    }


@pytest.mark.parametrize('python', ['3.10', '3.12'])
def test_the_container_has_the_versions_that_are_tested_here(python: str) -> None:
    ours = pinned(DOCKER / 'requirements.txt', python)
    tested = pinned(ROOT / 'standalone/requirements.txt', python)
    assert ours.items() <= tested.items()
    for name, below in {'numpy': 2, 'setuptools': 80, 'pytest': 9}.items():
        assert int(ours[name].split('.')[0]) < below, name
    for name, requirement in wanted(DOCKER / 'requirements.in').items():
        assert requirement.specifier.contains(ours[name], prereleases=True), name


# --- docker/health.sh: whether the container is well -------------------------------------------


@contextmanager
def speaking(sandbox: Sandbox, *names: str) -> Iterator[None]:
    """Each says ten times a second that it lives, as the nodes do once a second."""
    publisher = sandbox.node.create_publisher(DiagnosticArray, '/diagnostics', 10)
    status = [DiagnosticStatus(name=f'{name}: itself') for name in names]
    timer = sandbox.node.create_timer(
        0.1, lambda: publisher.publish(DiagnosticArray(status=status))
    )
    yield
    sandbox.node.destroy_timer(timer)


@pytest.fixture
def health(sandbox: Sandbox) -> Callable[..., tuple[int, str]]:
    ours = {'CURIOSITY_VENV': sys.prefix, 'CURIOSITY_HEALTHY': f'{sandbox.folder}/healthy'}

    def run(**env: str) -> tuple[int, str]:
        done = subprocess.run(
            [str(DOCKER / 'health.sh')],
            env={**os.environ, **sandbox.env, **ours, **env},
            capture_output=True,
            text=True,
            timeout=40,
        )
        assert 'Traceback' not in done.stderr
        return done.returncode, done.stdout.strip()

    return run


@pytest.mark.ros
def test_it_is_well_when_every_node_speaks_and_names_the_silent_ones(
    sandbox: Sandbox, health: Callable[..., tuple[int, str]]
) -> None:
    with speaking(sandbox, 'adapter', 'simulator', 'visualizer'):
        assert health() == (1, 'silent: agent')
        assert health(CURIOSITY_AGENT='none') == (0, 'all nodes live')


PINNED = (ROOT / 'docker/requirements.txt').read_text()


# --- what scripts/release.sh checks: versions ----------------------------------------------------


def repository(folder: Path, version: str, heading: str) -> Path:
    package = folder / 'overlay_ws/src/one'
    package.mkdir(parents=True)
    (package / 'package.xml').write_text(f'<package><version>{version}</version></package>')
    (package / 'setup.py').write_text(f"setup(\n    version='{version}',\n)\n")
    (folder / 'CHANGELOG.md').write_text(f'# Changelog\n\n## {heading}\n\n- It works.\n')
    return folder


def test_a_version_that_differs_is_named(tmp_path: Path) -> None:
    one, unreleased = (
        repository(tmp_path / name, '1.2.3', name) for name in ('1.2.3', 'Unreleased')
    )
    wrong: list[tuple[str, list[str]]] = []
    for root, asked, problem in (
        (one, '1.2.4', 'overlay_ws/src/one/package.xml has version 1.2.3, not 1.2.4'),
        (unreleased, '1.2.3', 'CHANGELOG.md begins with'),
        (one, 'latest', "'latest' is no version"),
        (one, '1.2.3; ls', 'is no version'),
    ):
        problems = version_problems(root, asked, snapshot=False)
        if problem not in '\n'.join(problems):
            wrong.append((problem, problems))
    assert wrong == []
    versions = declared_versions(ROOT)
    assert (len(versions), len(set(versions.values()))) == (9, 1)
    assert version_problems(ROOT, versions.popitem()[1], snapshot=True) == []
    assert version_problems(unreleased, '1.2.3', snapshot=True) == []
    assert 'CHANGELOG.md begins with' in str(version_problems(one, '1.2.30', snapshot=False))


# --- licences ------------------------------------------------------------------------------------


METADATA: list[tuple[str, dict[str, Any], str, str]] = [
    ('new', {'License_Expression': 'BSD-3-Clause'}, 'BSD-3-Clause', ''),
    ('osi', {'Classifier': ['License :: OSI Approved :: MIT License']}, 'MIT', ''),
    ('spdx', {'License': 'MPL-2.0 AND MIT'}, 'MPL-2.0 AND MIT', ''),
    ('old', {'License': '3-Clause BSD License'}, 'BSD-3-Clause', ''),
    ('two', {'License': 'MIT License, Apache License, Version 2.0'}, 'Apache-2.0', ''),
    ('gpl', {'License': 'GPLv3+'}, 'GPL', 'gpl 1.0 has the licence GPL'),
    ('asks', {'License': 'ask me'}, '', "asks 1.0 names no licence that is known: 'ask me'"),
    ('none', {}, '', "none 1.0 names no licence that is known: ''"),
    ('stdiomask', {'License_Expression': 'MIT'}, 'MIT', 'stdiomask must not be shipped'),
]


def test_a_licence_is_read_from_new_and_old_metadata_and_a_bad_one_is_named(
    tmp_path: Path,
) -> None:
    for name, fields, _, _ in METADATA:
        info = tmp_path / f'{name}-1.0.dist-info'
        info.mkdir(parents=True)
        message = Message()
        for key, value in {'Name': name, 'Version': '1.0', **fields}.items():
            message[key.replace('_', '-')] = value[0] if isinstance(value, list) else value
        (info / 'METADATA').write_text(message.as_string())
    found = {each.name: (each.licence, each.problem) for each in licences_in(tmp_path)}
    assert found == {name: (licence, problem) for name, _, licence, problem in METADATA}


# --- the bill of materials -----------------------------------------------------------------------


def test_a_bill_of_what_is_pinned_is_good_without_what_nothing_imports() -> None:
    pinned = pinned_packages(PINNED)
    components = [{'name': name, 'version': version} for name, version in pinned.items()]
    bill = {'bomFormat': 'CycloneDX', 'components': components}
    assert bill_problems(bill, pinned) == ['stdiomask must not be shipped']
    bill['components'] = [each for each in components if each['name'] != 'stdiomask']
    assert bill_problems(bill, pinned) == []
    dockerfile = (ROOT / 'docker/Dockerfile').read_text()
    assert "grep -v '^stdiomask==' /tmp/docker/requirements.txt" in dockerfile
    assert '--no-deps' in dockerfile
    words = ('import stdiomask', 'import pyinputplus', 'from pyinputplus')
    sources = [*ROOT.glob('overlay_ws/src/*/*/**/*.py'), *ROOT.glob('standalone/*/**/*.py')]
    ours = set(sources) - {Path(__file__).resolve()}
    assert [path for path in ours if any(word in path.read_text() for word in words)] == []


# --- the script ----------------------------------------------------------------------------------


def test_the_archive_is_the_commit_and_has_no_key(tmp_path: Path) -> None:
    root = repository(tmp_path / 'clone', '1.2.3', '1.2.3 - today')
    (root / 'scripts').mkdir()
    shutil.copy(ROOT / 'scripts/release.sh', root / 'scripts')
    no_caches = shutil.ignore_patterns('__pycache__')
    tools = ROOT / 'standalone/release'
    shutil.copytree(tools, root / 'standalone/release', ignore=no_caches)
    (root / '.gitignore').write_text('/run/\n/.env\n__pycache__/\n')
    (root / '.env').write_text('OPENAI_API_KEY=sk-1\n')
    user = ('-c', 'user.name=t', '-c', 'user.email=t@t.invalid')
    for words in (('init', '-q'), ('add', '-A'), ('commit', '-qm', 'all')):
        subprocess.run(['git', *user, *words], cwd=root, check=True, timeout=30)

    def release(*arguments: str) -> str:
        done = subprocess.run(
            [str(root / 'scripts/release.sh'), *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, 'PIP_INDEX_URL': 'http://127.0.0.1:9/', 'PIP_RETRIES': '0'},
            timeout=60,
        )
        return done.stderr

    assert 'has version 1.2.3, not 1.2.4' in release('1.2.4')
    assert not (root / 'run').exists()
    release('1.2.3')  # it goes on to the packages, of which there are none here
    archive = root / 'run/release/curiosity-rosa-1.2.3.tar.gz'
    first = archive.read_bytes()
    listed = subprocess.run(
        ['tar', '-tzf', str(archive)], capture_output=True, text=True, check=True
    )
    names = listed.stdout.splitlines()
    assert 'curiosity-rosa-1.2.3/scripts/release.sh' in names
    assert not [name for name in names if '.env' in name or '.git/' in name]
    release('1.2.3')
    assert archive.read_bytes() == first
    (root / 'new.txt').touch()
    assert 'the working tree has changes' in release('1.2.3')
