# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The Dockerfiles, what goes into their layers, and the pinned packages."""

from __future__ import annotations

import ast
import fnmatch
from importlib.metadata import packages_distributions
import os
from pathlib import Path
import re
import shlex
import subprocess

from packaging.requirements import Requirement
import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / 'docker'
DOCKERFILES = [DOCKER / 'Dockerfile', DOCKER / 'Dockerfile.gui']
SECRET = re.compile(r'(?i)api_key|token|secret|password')


def instructions(dockerfile: Path) -> list[tuple[str, str]]:
    """Each with its name, continued lines joined."""
    text = re.sub(r'^\s*#.*\n', '', dockerfile.read_text(), flags=re.MULTILINE)
    lines = text.replace('\\\n', ' ').splitlines()
    return [(words[0], words[1]) for line in lines if len(words := line.split(None, 1)) == 2]


def of(dockerfile: Path, name: str) -> list[str]:
    return [words for each, words in instructions(dockerfile) if each == name]


def sources() -> list[str]:
    """What the image is made of, from the root of the repository."""
    copied = [shlex.split(words)[:-1] for each in DOCKERFILES for words in of(each, 'COPY')]
    return [path for paths in copied for path in paths]


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


def test_the_overlay_runs_as_a_user_with_the_hosts_numbers() -> None:
    users = of(DOCKERFILES[0], 'USER')
    assert users[-1] == 'spaceros-user'
    steps = [name for name, words in instructions(DOCKERFILES[0])]
    assert steps.index('ENTRYPOINT') > len(steps) - 1 - steps[::-1].index('USER')
    arguments = of(DOCKERFILES[0], 'ARG')
    assert {'HOST_UID=1000', 'HOST_GID=1000'} < set(arguments)
    # bash has a UID of its own, which is that of root here.
    assert not re.search(r'\$\{?(UID|GID)\b', DOCKERFILES[0].read_text())


def test_what_is_copied_is_there_and_gets_through() -> None:
    for path in sources():
        assert (ROOT / path).exists()
        assert not ignored(path), path
    assert not ignored('overlay_ws/src/curiosity_rosa_demo/config/agent.yaml')
    assert not ignored('docker/requirements.txt')


def test_what_the_image_runs_is_there_and_can_be_run() -> None:
    words = ' '.join(of(DOCKERFILES[0], 'HEALTHCHECK') + of(DOCKERFILES[0], 'ENTRYPOINT'))
    scripts = re.findall(r'"/curiosity_rosa/(docker/[^"]+)"', words)
    assert scripts == ['docker/health.sh', 'docker/entrypoint.sh']
    assert all(os.access(ROOT / each, os.X_OK) for each in scripts)


@pytest.mark.parametrize(
    'path',
    [
        '.env', '.git/config', '.venv/pyvenv.cfg', 'run/domain-0/agent.log', 'overlay_ws/build/x',
        'docker/.env', 'docker/.env.local', 'overlay_ws/src/a/__pycache__/b.pyc',
        'standalone/install/x', 'standalone/requirements.txt',
    ],
)  # fmt: skip
def test_nothing_else_reaches_a_layer(path: str) -> None:
    assert ignored(path)


@pytest.mark.parametrize('dockerfile', DOCKERFILES, ids=lambda path: path.name)
def test_no_secret_is_an_argument_or_a_variable_of_an_image(dockerfile: Path) -> None:
    for name in ('ARG', 'ENV'):
        assert not any(SECRET.search(words) for words in of(dockerfile, name))


def test_git_leaves_out_the_key_and_keeps_the_example() -> None:
    lines = (ROOT / '.gitignore').read_text().splitlines()
    assert '/.env' in lines
    assert not any(fnmatch.fnmatch('.env.example', line.strip('/')) for line in lines)


def test_the_example_names_what_is_read_and_holds_no_secret() -> None:
    text = (ROOT / '.env.example').read_text()
    settings = dict(re.findall(r'^#?([A-Z][A-Z_]+)=(.*)$', text, re.MULTILINE))
    read = (ROOT / 'compose.override.yaml').read_text() + (ROOT / 'scripts/compose.sh').read_text()
    for name, value in settings.items():
        if SECRET.search(name):
            assert value == ''
        else:
            assert name in read
    assert re.findall(r'^[A-Z]\w*', text, re.MULTILINE) == ['DEMO_DIR']  # the rest is a choice


@pytest.mark.parametrize(
    'script',
    sorted(
        [*DOCKER.glob('*.sh'), *(ROOT / 'scripts').glob('*.sh'), *ROOT.glob('contrib/*/*/*.sh')]
    ),
    ids=lambda path: path.name,
)
def test_every_script_is_bash(script: Path) -> None:
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
    assert int(ours['numpy'].split('.')[0]) < 2
    assert int(ours['setuptools'].split('.')[0]) < 80
    for name, requirement in wanted(DOCKER / 'requirements.in').items():
        assert requirement.specifier.contains(ours[name], prereleases=True), name


def imported(folder: Path) -> set[str]:
    """The top-level packages that the Python files import, in functions too."""
    found: set[str] = set()
    for file in folder.rglob('*.py'):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {name.name.partition('.')[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition('.')[0])
    return found


@pytest.mark.parametrize(
    'folder', ['curiosity_rosa_demo', 'test/unit']
)  # what it runs, and what "colcon test" collects
def test_the_container_has_what_the_overlay_and_its_unit_tests_import(folder: str) -> None:
    providers = packages_distributions()
    names = imported(ROOT / 'overlay_ws/src/curiosity_rosa_demo' / folder)
    tested = pinned(ROOT / 'standalone/requirements.txt', '3.11')
    ours = pinned(DOCKER / 'requirements.txt', '3.11')
    needed = {each.lower().replace('_', '-') for name in names for each in providers.get(name, ())}
    missing = {each for each in needed & set(tested) if not each.startswith('ros-')} - set(ours)
    assert missing == set()


@pytest.mark.parametrize('folder', ['docker', 'standalone'])
def test_the_pinned_pytest_is_one_that_starts_there(folder: str) -> None:
    version = pinned(ROOT / folder / 'requirements.txt', '3.12')['pytest']
    assert int(version.split('.')[0]) < 9
