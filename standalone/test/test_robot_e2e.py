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

from action_profile import NAME, write_action_profile
from curiosity_rosa_demo.domain.models import need_to_stow
from demo_bench import Bench
from harness import ROOT, Sandbox, wait_until
from nav_msgs.msg import Odometry
import pytest
from rover_witness import Witness
from sensor_msgs.msg import JointState

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]
STARTS_S = 120.0  # two robots start together


def with_the_rover_of_the_tutorial(sandbox: Sandbox) -> tuple[str, ...]:
    """Start it; the options of a run that drives it."""
    folder = sandbox.config_dir()
    tutorial = (ROOT / 'docs/tutorial/own_rover.md').read_text(encoding='utf-8')
    (profile,) = re.findall(r'^```yaml\n(.*?)^```', tutorial, re.DOTALL | re.MULTILINE)
    robots = Path(folder, 'robots')
    robots.mkdir(exist_ok=True)
    (robots / 'scout.yaml').write_text(profile, encoding='utf-8')
    odometry = sandbox.collect(Odometry, '/scout/odom')
    sandbox.run([sys.executable, str(ROOT / 'examples/scout_rover.py')], 'scout')
    wait_until(lambda: odometry, 'the rover of the tutorial to be up', STARTS_S)
    return '--no-stand-in', '--config-dir', folder, '--robot', 'scout'


def test_the_rover_of_the_tutorial_is_driven_by_its_profile_alone(
    bench: Bench, sandbox: Sandbox
) -> None:
    status, _, output = bench.commands(
        'how are you?', ':status', ':forward 2', 'drive 1 m', 'raise the mast',
        'is the mast open?', ':demo',
        options=with_the_rover_of_the_tutorial(sandbox),
    )  # fmt: skip
    said = output.split('\n> ')
    answered, shown, forward, driven, raised, asked, demo = said[-7:]
    assert re.search(r'moving: no; .*position x = -?\d', answered), output
    assert re.search(r'x -?\d.*; standing still; may (not )?drive', shown), output  # no mast
    assert '[RESULT] move_forward: duration 2.0 s' in forward
    assert '[RESULT] drive_distance' in driven
    assert 'there is no tool mast_open' in raised
    assert 'This robot has no mast.' in asked
    assert 'is_good true' in demo
    assert '[ACT] mast_' not in output
    assert status == 1  # one order was refused


def test_a_drive_that_waits_does_not_begin_after_the_adapter_died_in_mid_drive(
    bench: Bench, sandbox: Sandbox
) -> None:
    options = with_the_rover_of_the_tutorial(sandbox)
    odometry = sandbox.collect(Odometry, '/scout/odom')

    def moves() -> bool:
        return bool(odometry) and abs(odometry[-1].twist.twist.linear.x) > 0.1

    run = bench.run(*options)
    run.expect('Type :help', timeout_s=STARTS_S)
    run.send(':forward 20', ':forward 19')
    run.until(moves, 'the rover to drive')
    old = bench.kill('adapter_node')
    bench.back('adapter_node', old)
    run.expect('! 1 task held (')
    run.until(lambda: not moves(), 'the rover to stand still')
    assert '[ACT] move_forward(duration_s=19.0)' not in run.output()
    run.send(':resume')
    run.expect('[ACT] move_forward(duration_s=19.0)')
    run.until(moves, 'the rover to drive on')
    run.send(':stop')
    run.until(lambda: not moves(), 'the rover to stand still')
    run.send(':quit')
    assert run.end() == 0


def test_an_arm_of_a_profile_of_ones_own_moves_by_actions_until_it_is_told_to_stop(
    bench: Bench, sandbox: Sandbox
) -> None:
    joints = sandbox.collect(JointState, '/joint_states')
    folder = write_action_profile(sandbox.config_dir())
    run = bench.run('--config-dir', folder, '--robot', NAME)

    def elbow() -> float:
        return abs(joints[-1].position[3])

    run.expect('Type :help', timeout_s=STARTS_S)
    run.send('stow the arm')
    run.expect('[RESULT] arm_stow: done')
    run.send('アームを伸ばして')
    run.until(lambda: elbow() > 0.5, 'the arm to move')
    run.send('stop')
    run.expect('[ERROR] Stopped by the operator')
    run.expect('[RESULT] move_stop: done')
    assert 0.5 < elbow() < 2.5
    run.send('收起机械臂')
    run.expect('[RESULT] arm_stow: done', times=2)
    run.send(':quit')
    assert run.end() == 0


def test_an_arm_without_a_base_and_a_rover_with_one_under_one_agent_each(
    bench: Bench, sandbox: Sandbox
) -> None:
    witness = Witness(sandbox, '/mars')
    run = bench.run('--rovers', 'mars=curiosity,iss=canadarm2', '--speed', '4')
    for name in ('mars', 'iss'):
        run.expect(f'[{name}] Type :help', timeout_s=STARTS_S)
    for line, answer in (
        ('@mars :mast_close', '[mars]   [RESULT] mast_close: done'),
        ('@iss move the arm to grapple pose', '[iss]   [ERROR] arm_grapple: arm must first be'),
        ('@mars :forward 1', f'[mars] ! {need_to_stow("arm", "arm_close")}'),
        ('@iss アームを伸ばして', '[iss]   [RESULT] arm_extend: done'),
        ('@mars アームを伸ばして', '[mars]   [RESULT] arm_open: done'),
        ('@iss move the arm to grapple pose', '[iss]   [RESULT] arm_grapple: done'),
        ('@mars drive 2 m', '[mars]   [RESULT] drive_distance'),
        ('@iss drive 2 m', '[iss] ! I cannot do that: there is no tool drive_distance.'),
        ('@iss stow the arm', '[iss]   [RESULT] arm_stow: done'),
    ):
        run.send(line)
        run.expect(answer)
    said = run.output()
    assert said.index('[mars]   [RESULT] arm_close: done') < said.index('[RESULT] drive_distance')
    run.send(':quit')
    assert run.end() == 0
    assert witness.violations() == []
