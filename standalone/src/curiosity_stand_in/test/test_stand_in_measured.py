# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The body and the demo's drivers against what was measured: the demo's URDF and its own nodes in
MuJoCo, on flat ground, friction 1.0. Each row has the measured range; 10 s of each motion.
"""

from __future__ import annotations

from collections.abc import Callable
import math

from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_stand_in.body import State, WHEELS
from curiosity_stand_in.drivers import DemoRover, MOTIONS
from curiosity_stand_in.mast import CLOSED, Joints, MOVES, OPENED
import pytest

THRESHOLDS = load_config().thresholds
STEP_S = 0.01
DRIVE_S = 10.0
STILL_MPS = THRESHOLDS.motion.still_speed_mps


class Run:
    """One motion from a service call at ``phase_s`` after a tick, and its stop."""

    def __init__(self, motion: str, phase_s: float) -> None:
        self.rover = DemoRover(THRESHOLDS, seconds=phase_s)
        self.standing = self.rover.advance_to(phase_s)
        self.rover.call(motion)
        self.driving = self._states(DRIVE_S)
        self.rover.call('move_stop')
        self.stopped = self._states(3.0)

    def _states(self, seconds: float) -> list[State]:
        began = self.rover.seconds
        steps = range(1, round(seconds / STEP_S) + 1)
        return [self.rover.advance_to(began + step * STEP_S) for step in steps]

    @property
    def start_s(self) -> float:
        began = next(s for s in self.driving if abs(s.velocity.forward) > STILL_MPS)
        return began.seconds - self.standing.seconds

    @property
    def still_s(self) -> float:
        moving = [s for s in self.stopped if abs(s.velocity.forward) > STILL_MPS]
        return moving[-1].seconds - self.driving[-1].seconds

    @property
    def radius_m(self) -> float:
        velocity = self.driving[-1].velocity
        return velocity.forward / velocity.turn if velocity.turn else math.inf

    @property
    def turned_deg(self) -> float:
        return math.degrees(self.stopped[-1].pose.yaw)


Measure = Callable[[Run], float]
MEASURED: list[tuple[str, str, Measure, float, float]] = [
    ('m ahead', 'move_forward', lambda run: run.stopped[-1].pose.x, 4.75, 4.96),
    ('m/s', 'move_forward', lambda run: run.driving[-1].velocity.forward, 0.489, 0.496),
    ('m/s', 'turn_left', lambda run: run.driving[-1].velocity.forward, 0.213, 0.218),
    ('rad/s', 'turn_left', lambda run: run.driving[-1].velocity.turn, 0.028, 0.030),
    ('radius, m', 'turn_left', lambda run: run.radius_m, 7.0, 7.9),
    ('radius, m', 'turn_right', lambda run: -run.radius_m, 7.0, 7.9),
    ('degrees', 'turn_left', lambda run: run.turned_deg, 15.2, 17.5),
    ('degrees', 'turn_right', lambda run: -run.turned_deg, 15.2, 17.5),
    ('standing pitch', 'move_forward', lambda run: -run.standing.pose.pitch, 0.065, 0.075),
    ('driving pitch', 'move_forward', lambda run: -run.driving[-1].pose.pitch, 0.12, 0.13),
    ('pitch after', 'move_forward', lambda run: -run.stopped[-1].pose.pitch, 0.085, 0.095),
    ('height, standing', 'move_forward', lambda run: run.standing.pose.z, 0.885, 0.895),
    ('height, driving', 'move_forward', lambda run: run.driving[-1].pose.z, 0.945, 0.955),
    *(
        row
        for motion in MOTIONS
        for row in (
            ('s to the start', motion, lambda run: run.start_s, 0.19, 0.32),
            ('s to the stand', motion, lambda run: run.still_s, 0.3, 0.5),
        )
    ),
    (
        'm/s backwards',
        'move_forward',
        lambda run: -min(state.velocity.forward for state in run.stopped),
        0.15,
        0.17,
    ),
]


@pytest.mark.parametrize('phase_s', [0.0, 0.03, 0.099])
@pytest.mark.parametrize(
    ('what', 'motion', 'measure', 'least', 'most'),
    MEASURED,
    ids=[f'{motion}: {what}' for what, motion, *_ in MEASURED],
)
def test_a_drive_is_as_measured(
    what: str, motion: str, measure: Measure, least: float, most: float, phase_s: float
) -> None:
    assert least <= measure(Run(motion, phase_s)) <= most, what


@pytest.mark.parametrize(
    ('service', 'before', 'least_s', 'most_s'),
    [
        ('mast_open', 'mast_close', 0.90, 1.16),
        ('mast_close', 'mast_open', 0.90, 1.16),
        ('mast_rotate', 'mast_open', 5.95, 6.15),
    ],
)
def test_the_mast_is_as_fast_as_measured_and_does_not_overshoot(
    service: str, before: str, least_s: float, most_s: float
) -> None:
    rover = DemoRover(THRESHOLDS)
    rover.call(before)
    began = rover.advance_to(20.0)
    target = MOVES[service][-1].joints
    rover.call(service)
    states = [rover.advance_to(20.0 + step * STEP_S) for step in range(1000)]
    off = [state for state in states if not near(state.joints, Joints(*target))]
    assert least_s <= off[-1].seconds - began.seconds <= most_s
    for joint, (start, end) in enumerate(zip(began.joints, target, strict=True)):
        angles = [state.joints[joint] for state in states]
        assert min(start, end) - 1e-9 <= min(angles)
        assert max(angles) <= max(start, end) + 1e-9


def near(a: Joints, b: Joints) -> bool:
    within = THRESHOLDS.mast.tolerance_rad
    return all(abs(x - y) <= within for x, y in zip(a, b, strict=True))


def test_the_products_joints_and_mast_times_are_those_of_the_demo() -> None:
    mast = THRESHOLDS.mast
    for service, target, seconds in (
        ('mast_open', mast.open_rad, mast.open_duration_s),
        ('mast_close', mast.closed_rad, mast.close_duration_s),
        ('mast_rotate', mast.rotated_rad, mast.rotate_duration_s),
    ):
        last = MOVES[service][-1]
        assert (last.joints[:2], last.seconds) == (tuple(target), seconds)
    assert set(THRESHOLDS.motion.wheel_joints) == set(WHEELS)
    assert (OPENED[:2], CLOSED[:2]) == (tuple(mast.open_rad), tuple(mast.closed_rad))
