# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The mission simulator: missions in processes of their own."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
import subprocess
import sys

from harness import ROOT
from missions import planted
import pytest

pytestmark = pytest.mark.slow
MISSIONS = sorted((ROOT / 'standalone/missions/kept').glob('*.json'))
SEEDS_AT_ONCE = 20  # each start costs some seconds
TIMEOUT_S = 900.0


def simulate(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, '-W', 'ignore', '-m', 'missions', *arguments]
    # Coverage would trace each mission, and take several times as long.
    environment = {name: value for name, value in os.environ.items() if name[:3] != 'COV'}
    environment['PYTHONPATH'] = f'{ROOT / "standalone"}:{environment.get("PYTHONPATH", "")}'
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        cwd=ROOT,
        env=environment,
        check=False,
    )


def test_each_planted_fault_replaces_what_the_product_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replaced: list[object] = []
    monkeypatch.setattr(
        planted, '_replace', lambda owner, name, _: replaced.append(getattr(owner, name))
    )
    for plant in planted.PLANTS.values():
        plant(None)
    assert len(replaced) >= len(planted.PLANTS)


def test_two_runs_of_one_seed_have_the_same_record(tmp_path: Path) -> None:
    file = tmp_path / 'record'
    ran = simulate('--seed', '11', '--minutes', '0.3', '--record', str(file))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    record = file.read_bytes()
    assert b'/adapter/' in record
    after_another = simulate('--seed', '10', '--seeds', '2', '--minutes', '0.3')
    assert f' {hashlib.sha256(record).hexdigest()}' in after_another.stdout


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.parametrize('first', [1, 1 + SEEDS_AT_ONCE])
def test_no_seed_violates_a_rule(first: int) -> None:
    ran = simulate(
        *('--seed', str(first), '--seeds', str(SEEDS_AT_ONCE)),
        *('--minutes', '0.25', '--quiet'),
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f'{SEEDS_AT_ONCE} missions' in ran.stdout


@pytest.mark.parametrize('file', MISSIONS, ids=lambda file: file.stem)
def test_a_kept_mission_holds(file: Path) -> None:
    ran = simulate('--mission', str(file))
    assert ran.returncode == 0, ran.stdout + ran.stderr
