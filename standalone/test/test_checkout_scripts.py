# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A checkout that was moved or copied, and two checkouts in one shell."""

from __future__ import annotations

import os
from pathlib import Path
import shutil
import subprocess

import pytest

ROOT = Path(__file__).resolve().parents[2]


def bash(program: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ['bash', '-c', f'set -euo pipefail\n{program}'],
        cwd=folder,
        env={'PATH': os.environ['PATH'], **env},
        capture_output=True,
        text=True,
        timeout=60,
    )


def checkout(folder: Path, *, path: str | None = None, shebang: str | None = None) -> Path:
    """A checkout's scripts, and an environment that only looks like one."""
    shutil.copytree(ROOT / 'scripts', folder / 'scripts')
    programs = folder / '.venv/bin'
    programs.mkdir(parents=True)
    (folder / '.venv/.ros').write_text('wheels\n')
    made_in = shebang or f'{folder}/.venv'
    for name in ('python', 'colcon', 'pip'):
        (programs / name).write_text(f'#!{made_in}/bin/python3.11\nexit 1\n')
        (programs / name).chmod(0o755)
    if path is not None:
        (folder / '.venv/.path').write_text(f'{path}\n')
    return folder


MOVED = """
source scripts/checkout.sh
_cr_is_moved "$PWD/.venv" && echo moved || echo "in its place"
"""


def test_an_environment_where_it_was_made_is_in_its_place(tmp_path: Path) -> None:
    by_pip = checkout(tmp_path / 'by_pip')
    by_path = checkout(tmp_path / 'by_path', path=f'{tmp_path}/by_path/.venv', shebang='/else')
    for folder in (by_pip, by_path):
        assert bash(MOVED, folder).stdout == 'in its place\n'
    (tmp_path / 'link').symlink_to(by_path)
    assert bash(MOVED, tmp_path / 'link').stdout == 'in its place\n'


@pytest.mark.parametrize('original', ['gone', 'still there'])
def test_a_moved_or_copied_environment_is_seen(tmp_path: Path, original: str) -> None:
    first = checkout(tmp_path / 'first', path=f'{tmp_path}/first/.venv')
    if original == 'gone':
        second = first.rename(tmp_path / 'second')
    else:
        second = Path(shutil.copytree(first, tmp_path / 'second'))
    assert bash(MOVED, second).stdout == 'moved\n'
    (second / '.venv/.path').unlink()  # as of an older checkout
    assert bash(MOVED, second).stdout == 'moved\n'


def test_a_build_in_a_moved_checkout_names_the_way_out(tmp_path: Path) -> None:
    folder = checkout(tmp_path / 'moved', path='/where/it/was/.venv')
    ended = bash('scripts/build_overlay.sh', folder)
    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        f'build_overlay: {folder}/.venv was made for /where/it/was/.venv; '
        'run scripts/setup.sh, which makes it anew'
    ]


def test_the_setup_removes_what_was_made_for_another_path(tmp_path: Path) -> None:
    folder = checkout(tmp_path / 'moved', path='/where/it/was/.venv')
    (folder / 'standalone').mkdir()
    for name in ('requirements.txt', 'mend_wheels.py'):
        (folder / 'standalone' / name).touch()
    build = folder / 'overlay_ws/build'
    build.mkdir(parents=True)
    # An interpreter that can do everything but make an environment: the setup ends there.
    stand_in = folder / 'python'
    stand_in.write_text('#!/bin/sh\ncase $1 in -m) exit 3 ;; esac\nexit 0\n')
    stand_in.chmod(0o755)
    ended = bash('scripts/setup.sh --ros wheels', folder, PYTHON=str(stand_in))
    assert ended.returncode == 3, ended.stderr
    assert '.venv was made for /where/it/was/.venv' in ended.stderr
    assert not (folder / '.venv').exists()
    assert not build.exists()


def test_a_shell_leaves_the_checkout_that_it_was_in(tmp_path: Path) -> None:
    first, second = checkout(tmp_path / 'first'), checkout(tmp_path / 'second')
    path = f'{first}/.venv/bin:{os.environ["PATH"]}'
    ended = bash(
        f'cd "{second}"; source scripts/env.sh; env',
        first,
        PATH=path,
        VIRTUAL_ENV=f'{first}/.venv',
        AMENT_PREFIX_PATH=f'{first}/overlay_ws/install/a:{first}/.venv',
        PYTHONPATH=f'{first}/overlay_ws/build/a:/my/own:{first}/standalone/install/b',
        COLCON_PREFIX_PATH=f'{first}/overlay_ws/install',
        LD_LIBRARY_PATH=f'{first}/overlay_ws/install/lib:',
        FASTRTPS_DEFAULT_PROFILES_FILE=f'{first}/standalone/fastdds.xml',
        ROS_AUTOMATIC_DISCOVERY_RANGE='SYSTEM_DEFAULT',
    )
    assert ended.returncode == 0, ended.stderr
    env = dict(line.split('=', 1) for line in ended.stdout.splitlines() if '=' in line)
    assert [name for name, value in env.items() if str(first) in value] == ['OLDPWD']
    assert env['PATH'] == f'{second}/.venv/bin:{os.environ["PATH"]}'
    assert env['VIRTUAL_ENV'] == env['AMENT_PREFIX_PATH'] == f'{second}/.venv'
    assert env['PYTHONPATH'] == '/my/own'
    assert env['FASTRTPS_DEFAULT_PROFILES_FILE'] == f'{second}/standalone/fastdds.xml'


def test_a_shell_keeps_an_environment_that_is_not_ours(tmp_path: Path) -> None:
    folder = checkout(tmp_path / 'checkout')
    mine = tmp_path / 'mine/.venv'
    mine.mkdir(parents=True)
    ended = bash(
        'source scripts/env.sh; echo "$PYTHONPATH"',
        folder,
        VIRTUAL_ENV=str(mine),
        PYTHONPATH=f'{tmp_path}/mine/lib',
    )
    assert ended.stdout == f'{tmp_path}/mine/lib\n', ended.stderr


def test_env_sh_leaves_no_functions_behind(tmp_path: Path) -> None:
    folder = checkout(tmp_path / 'checkout')
    assert bash('source scripts/env.sh; declare -F', folder).stdout == ''
