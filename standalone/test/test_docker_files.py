# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The files of the containers: users, privileges, secrets, layers, pinned packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import fnmatch
import os
from pathlib import Path
import re
import shlex
import subprocess
import sys

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from harness import Sandbox
from packaging.requirements import Requirement
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
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
    above = [path, *map(str, Path(path).parents)]
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


# --- docker/health.py: whether the container is well -------------------------------------------


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
    def run(**env: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, str(DOCKER / 'health.py')],
            env={**os.environ, **sandbox.env, **env},
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
