# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""contrib/space-ros-demos: the folder for the demos repository, and its check on the stand-in."""

from __future__ import annotations

import os
from pathlib import Path
import subprocess

from demo_bench import Bench
import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / 'contrib/space-ros-demos/curiosity_rover_rosa'
SCRIPTS = sorted(FOLDER.glob('*.sh'))


def run(
    script: str, *arguments: str, timeout_s: float = 60.0, **env: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(FOLDER / script), *arguments],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=timeout_s,
    )


def test_the_scripts_say_what_is_missing(tmp_path: Path) -> None:
    alone = tmp_path / 'demos/curiosity_rover_rosa'
    alone.mkdir(parents=True)
    for script in SCRIPTS:
        (alone / script.name).write_text(script.read_text())
        (alone / script.name).chmod(0o755)
    (alone / 'source.env').write_text((FOLDER / 'source.env').read_text())

    def error(script: str, *arguments: str, **env: str) -> str:
        without = {key: value for key, value in os.environ.items() if key != 'CURIOSITY_ROSA'}
        done = subprocess.run(
            [str(alone / script), *arguments],
            env={**without, **env},
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert done.returncode == 1
        return done.stderr

    assert 'run ./build.sh first' in error('run.sh', '--check')
    assert 'set CURIOSITY_ROSA' in error('build.sh')
    assert 'git cannot clone' in error('build.sh', CURIOSITY_ROSA=str(tmp_path / 'nothing'))
    assert 'no CURIOSITY_ROSA_TAG=v9' in error(
        'build.sh', CURIOSITY_ROSA=str(ROOT), CURIOSITY_ROSA_TAG='v9'
    )
    done = subprocess.run(
        [str(alone / 'build.sh'), '--sources'],
        env={**os.environ, 'CURIOSITY_ROSA': str(ROOT), 'CURIOSITY_ROSA_TAG': 'HEAD'},
        timeout=60,
    )
    assert done.returncode == 0
    assert (alone / 'curiosity-rosa/compose.override.yaml').is_file()
    assert 'unknown option --fast' in error('run.sh', '--fast', PATH=_with_docker(tmp_path))
    assert 'no docker-compose.yml' in error('run.sh', PATH=_with_docker(tmp_path))


def _with_docker(folder: Path) -> str:
    program = folder / 'bin/docker'
    program.parent.mkdir(exist_ok=True)
    program.write_text('#!/bin/sh\n')
    program.chmod(0o755)
    return f'{program.parent}:{os.environ["PATH"]}'


@pytest.mark.e2e
@pytest.mark.timeout(300)
def test_the_check_passes_only_if_the_light_was_found(bench: Bench, tmp_path: Path) -> None:
    done = run('check.sh', timeout_s=250.0, **bench.env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'check: passed' in done.stdout
    agent = tmp_path / 'lib/curiosity_rosa_demo/agent_node'
    agent.parent.mkdir(parents=True)
    for node in ('adapter', 'simulator', 'visualizer'):
        agent.with_name(f'{node}_node').symlink_to('/bin/true')
    for said, why in (
        ('{"ok": true, "score": 0.1, "answer": "dark"}', 'score 0.1, needed '),
        ('Traceback', 'the agent gave no result'),
    ):
        agent.write_text(f"#!/bin/sh\necho '{said}'\n")
        agent.chmod(0o755)
        prefixes = f'{tmp_path}:{os.environ["AMENT_PREFIX_PATH"]}'
        done = run('check.sh', **{**bench.env, 'AMENT_PREFIX_PATH': prefixes})
        assert done.returncode == 1, done.stdout + done.stderr
        assert 'check: FAILED, ' in done.stderr
        assert why in done.stderr
