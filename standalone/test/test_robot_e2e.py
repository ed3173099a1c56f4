# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A rover with an arm, by its profile alone: a person drives it with orders in three languages."""

from __future__ import annotations

from pathlib import Path
import re
import sys

from adapter_world import Witness
from demo_bench import Bench
from harness import ROOT, Sandbox, wait_until
from nav_msgs.msg import Odometry
import pytest
from test_tutorial import follows, transcript

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]
STARTS_S = 120.0  # two robots start together


def test_the_rover_of_the_tutorial_is_driven_by_its_profile_alone(
    bench: Bench, sandbox: Sandbox
) -> None:
    folder = sandbox.config_dir()
    tutorial = (ROOT / 'docs/tutorial/own_rover.md').read_text(encoding='utf-8')
    (profile,) = re.findall(r'^```yaml\n(.*?)^```', tutorial, re.DOTALL | re.MULTILINE)
    robots = Path(folder, 'robots')
    robots.mkdir(exist_ok=True)
    (robots / 'scout.yaml').write_text(profile, encoding='utf-8')
    odometry = sandbox.collect(Odometry, '/scout/odom')
    sandbox.run([sys.executable, str(ROOT / 'examples/scout_rover.py')], 'scout')
    wait_until(lambda: odometry, 'the rover of the tutorial to be up', STARTS_S)

    run = bench.run('--no-stand-in', '--config-dir', folder, '--robot', 'scout')
    run.expect('Type :help', timeout_s=STARTS_S)
    for order, answer in (
        ('how are you?', 'moving: no; '),
        ('drive 1 m', '[RESULT] drive_distance'),
        ('raise the mast', 'there is no tool mast_open'),
        ('is the mast open?', 'This robot has no mast.'),
        (':demo', ', good, '),
    ):
        run.send(order)
        run.expect(answer)
    assert '[ACT] mast_' not in run.output()
    since = len(run.output())
    run.send(':forward 3')
    follows(run, since, dict(transcript('own_rover.md', '> '))[':forward 3'])

    run.send(':quit')
    assert run.end() == 0


def test_an_arm_without_a_base_and_a_rover_with_one_under_one_agent_each(
    bench: Bench, sandbox: Sandbox
) -> None:
    witness = Witness(sandbox, '/mars')
    run = bench.run('--rovers', 'mars=curiosity,iss=canadarm2', '--speed', '4')
    for name in ('mars', 'iss'):
        run.expect(f'[{name}] Type :help', timeout_s=STARTS_S)
    page = (ROOT / 'docs/reference/robots.md').read_text(encoding='utf-8')
    (refused, *rest) = re.findall(r'^(@iss .*)\n(\[iss\] .*)$', page, re.MULTILINE)
    for line, answer in (
        ('@mars :mast_close', '[mars]   [RESULT] mast_close: done'),
        refused,
        ('@mars :forward 1', '[mars] ! Need to stow arm: arm_close'),
        ('@mars アームを伸ばして', '[mars]   [RESULT] arm_open: done'),
        *rest,
        ('@mars drive 2 m', '[mars]   [RESULT] drive_distance'),
        ('@iss アームを格納して', '[iss]   [RESULT] arm_stow: done'),
    ):
        run.send(line)
        run.expect(answer)
    said = run.output()
    assert said.index('[mars]   [RESULT] arm_close: done') < said.index('[RESULT] drive_distance')
    run.send(':quit')
    assert run.end() == 0
    assert witness.violations() == []
