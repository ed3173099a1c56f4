# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where the tests of the containers run."""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys

import pytest

TESTS = Path(__file__).resolve().parent / 'test_containers.py'


@pytest.mark.parametrize(
    ('words', 'images', 'status', 'told'),
    [
        ([], True, 5, 'no tests collected'),  # scripts/test.sh does not need Docker
        (['-m', 'not ros'], True, 5, 'no tests collected'),
        (['-m', 'container'], True, 0, 'test_down_in_mid_drive'),
        (['-m', 'container'], False, 5, 'No test of the containers runs: no such image'),
    ],
)
def test_they_run_if_they_are_chosen_and_the_images_are_there(
    tmp_path: Path, words: list[str], images: bool, status: int, told: str
) -> None:
    """A run without any test has status 5, a failure."""
    docker = tmp_path / 'docker'
    docker.write_text('#!/bin/sh\n' + ('' if images else 'echo no such image >&2; exit 1\n'))
    docker.chmod(0o755)
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '--collect-only', str(TESTS), *words],
        env={**os.environ, 'PATH': f'{tmp_path}:{os.environ["PATH"]}'},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == status
    assert told in done.stdout
