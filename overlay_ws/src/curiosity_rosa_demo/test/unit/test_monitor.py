# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The independent monitor agrees with the guard over random histories and finds its mutants."""

from __future__ import annotations

from pathlib import Path
import random

from curiosity_rosa_demo.infra.config.robot import RobotProfile
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.monitor.inputs import run
from curiosity_rosa_demo.monitor.monitor import load_requirements, Monitor
from curiosity_rosa_demo.monitor.signals import SIGNALS
from examples import examples
from guard_world import CONFIG, World
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap_world import write_run
from monitored_world import begin_to_drive, drive, hunt, LIMITS, mutant, MUTANTS, Watched
from nav_msgs.msg import Odometry
import pytest
from rclpy.serialization import serialize_message

STEPS = 4000  # of 50 ms


@settings(max_examples=examples(8), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_it_agrees_with_a_sound_guard_in_any_history(seed: int) -> None:
    watched = Watched()
    drive(watched, random.Random(seed), STEPS)
    assert watched.disagreements == []


@pytest.mark.parametrize('name', MUTANTS)
def test_it_finds_each_planted_fault(name: str) -> None:
    verdict, after_s = hunt(name)
    assert verdict is not None, name
    assert verdict.severity == 'critical'
    assert 0.0 < after_s < 60.0


def steps(monitor: Monitor, *parts: tuple[float, str], begin_s: float = 0.0) -> list[str]:
    """Each part lasts its seconds, with these signals. What was found: +S2 holds, -S2 does not."""
    found, now_s = [], begin_s
    for seconds, names in parts:
        signals = dict.fromkeys(SIGNALS, False) | dict.fromkeys(names.split(), True)
        for _ in range(round(seconds / 0.05)):
            now_s += 0.05
            verdicts = monitor.step(now_s, signals)
            found += [f'{"+" if each.ok else "-"}{each.requirement}' for each in verdicts]
    return found


@pytest.mark.parametrize(
    ('parts', 'found'),
    [
        ([(60.0, '')], []),
        ([(LIMITS['leash_s'] - 0.2, 'moving')], []),
        ([(LIMITS['leash_s'] + 0.5, 'moving'), (1.0, '')], ['-S2', '+S2']),
        ([(20.0, 'moving'), (0.1, ''), (20.0, 'moving')], []),
        ([(1.0, 'moving'), (LIMITS['stop_s'] + 0.5, 'moving mast_up')], ['-S1']),
        ([(1.0, 'moving'), (2.5, 'moving mast_up'), (1.0, 'moving')], []),
        ([(1.0, 'mast_up'), (0.4, 'moving mast_up')], ['-S1']),
        ([(2.0, 'moving e_stop')], []),
        ([(4.0, 'moving e_stop')], ['-FR-09']),
        ([(0.1, 'stop_asked moving'), (4.0, 'moving')], ['-S3']),
        ([(0.1, 'stop_asked moving'), (0.1, 'move_asked'), (4.0, 'moving')], []),
        ([(1.0, 'violation')], ['-FR-14']),
        ([(1.0, 'safe'), (0.4, 'agent_started')], ['-S4']),
    ],
)
def test_a_window_is_counted_from_the_change_of_its_signal(
    parts: list[tuple[float, str]], found: list[str]
) -> None:
    chosen = [each for each in load_requirements() if each.formula]
    assert steps(Monitor(chosen, LIMITS), *parts) == found


@pytest.mark.parametrize('deaf', [False, True])
def test_an_arm_that_the_guard_does_not_watch_is_found(deaf: bool) -> None:
    changes = {'record_appendage': lambda *_: None} if deaf else {}
    arm = load_config(robot='curiosity').robot.appendages
    watched = Watched(mutant(**changes), World(RobotProfile(appendages=arm)))
    begin_to_drive(watched, moves=False)
    assert watched.world.ask_appendage('arm', 'arm_close') == ''
    watched.run(8.0)
    watched.ask('move')
    watched.run(1.0)
    assert watched.world.moving
    watched.world.move_appendage('arm', 'arm_open')
    watched.run(8.0)
    assert watched.world.moving is deaf
    assert {verdict.requirement for verdict in watched.found} == ({'FR-21'} if deaf else set())


@pytest.mark.parametrize(
    ('sag_mps', 'sag_s', 'shown', 'found'),
    [
        (0.28, 2.5, True, set()),  # measured: a free bogie folds
        (0.08, LIMITS['stop_s'] + 4.0, True, set()),  # longer than wheels may turn after a stop
        (0.08, LIMITS['stop_s'] + 4.0, False, {'S3', 'FR-14'}),
        (0.28, CONFIG.motion.settling_max_s, True, {'S3', 'FR-14'}),  # it goes too far
        (0.05, CONFIG.motion.settling_max_s + LIMITS['stop_s'] + 1.0, True, {'S3', 'FR-14'}),
    ],
)
def test_a_body_that_settles_is_judged_as_the_guard_judges_it(
    sag_mps: float, sag_s: float, shown: bool, found: set[str]
) -> None:
    watched = Watched()
    watched.world.wheels_shown = shown
    begin_to_drive(watched)
    watched.run(1.0)
    watched.world.sag = sag_mps
    watched.ask('stop')
    watched.run(sag_s)
    watched.world.sag = 0.0
    watched.run(2.0)
    assert {verdict.requirement for verdict in watched.found} == found
    assert watched.disagreements == []


@pytest.mark.parametrize(
    ('seconds', 'status', 'says'),
    [(10, 0, 'no violation'), (40, 1, 'S2     VIOLATED (critical): Every motion ends within')],
)
def test_a_recording_is_checked_with_an_exit_status(
    seconds: int, status: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odometry = Odometry()
    odometry.twist.twist.linear.x = 0.5
    moving = bytes(serialize_message(odometry))
    said = [('odometry', at / 10, moving) for at in range(seconds * 10)]
    file = write_run(tmp_path / 'run.mcap', said)
    assert run([str(file)]) == status
    output = capsys.readouterr().out
    assert says in output
    assert '/kernel/heartbeat' in output.splitlines()[-1]


def test_what_is_no_recording_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / 'run.mcap'
    file.write_text('no MCAP')
    assert run([str(file)]) == 2
    assert f'monitor: {file} is no MCAP file' in capsys.readouterr().err
