# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A figure of the profile that is far from what the rover drives is named, and no other."""

from __future__ import annotations

from curiosity_rosa_demo.adapter.profile_figures import FAR_OFF, MIN_LEG_M, ProfileFigures
from curiosity_rosa_demo.domain.dead_reckoning import along, DIRECTIONS
from curiosity_rosa_demo.infra.config_loader import load_config
from examples import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
import pytest

THRESHOLDS = load_config().thresholds
AHEAD, ARC = THRESHOLDS.body.forward_mps, THRESHOLDS.body.turn_mps
RADIUS = THRESHOLDS.obstacles.turn_radius_m
LONG_S = 20.0
STRAIGHT = float('inf')


class Drive:
    """A rover on a plane, without a ramp; its odometry goes to the figures."""

    def __init__(self, period_s: float = 0.1) -> None:
        self.now, self._place, self._period_s = 0.0, (0.0, 0.0, 0.0), period_s
        self.figures = ProfileFigures(THRESHOLDS, lambda: self.now)

    def go(self, motion: str, speed: float, radius: float, seconds: float = LONG_S) -> list[str]:
        """What the figures say after this leg."""
        turn = DIRECTIONS[motion] * speed / radius
        self.figures.begin(motion)
        until = self.now + seconds
        while self.now < until:
            self.now += self._period_s
            metres, angle = speed * self._period_s, turn * self._period_s
            self._place = along(*self._place, metres, angle)
            self.figures.record(self._place, speed, turn)
        self.figures.end()
        return self.figures.findings()


@pytest.mark.parametrize(
    ('motion', 'speed', 'radius', 'told'),
    [
        ('move_forward', AHEAD, STRAIGHT, []),
        ('move_forward', 0.8 * AHEAD, STRAIGHT, []),
        ('move_forward', 2.0 * AHEAD, STRAIGHT, ['thresholds.body.forward_mps']),
        ('turn_left', ARC, RADIUS, []),
        ('turn_left', 1.2 * ARC, RADIUS, []),
        ('turn_right', ARC, 0.8 * RADIUS, []),
        ('turn_left', ARC, RADIUS / 3.0, ['thresholds.obstacles.turn_radius_m']),
        ('turn_right', ARC, RADIUS * 2.0, ['thresholds.obstacles.turn_radius_m']),
        ('turn_right', ARC, STRAIGHT, ['thresholds.obstacles.turn_radius_m']),
        ('turn_left', 0.5 * ARC, RADIUS, ['thresholds.body.turn_mps']),
        (
            'turn_right',
            2.0 * ARC,
            2.0 * RADIUS,
            ['thresholds.body.turn_mps', 'thresholds.obstacles.turn_radius_m'],
        ),
    ],
)
def test_a_figure_that_is_far_off_is_named_with_its_key(
    motion: str, speed: float, radius: float, told: list[str]
) -> None:
    texts = Drive().go(motion, speed, radius)
    assert [text.split('correct ')[1].split(' in it')[0] for text in texts] == told
    assert all(text.startswith(f'{motion} measures ') for text in texts)


def test_the_text_has_the_thing_both_values_and_the_way_out() -> None:
    assert Drive().go('turn_left', ARC, 2.5) == [
        'turn_left measures 2.5 m of radius, the profile says 7.4: '
        'correct thresholds.obstacles.turn_radius_m in it'
    ]


@settings(max_examples=examples(50))
@given(
    st.sampled_from(sorted(DIRECTIONS)),
    st.floats(0.05, 3.0),
    st.floats(0.5, 50.0),
    st.floats(0.05, 0.4),
)
def test_a_figure_is_named_if_and_only_if_it_differs_by_more_than_a_quarter(
    motion: str, speed: float, radius: float, period_s: float
) -> None:
    figures = [(speed, AHEAD)] if motion == 'move_forward' else [(speed, ARC), (radius, RADIUS)]
    differ = [abs(measured - figure) / figure for measured, figure in figures]
    assume(all(abs(each - FAR_OFF) > 1e-3 for each in differ))
    told = Drive(period_s).go(motion, speed, radius)
    assert len(told) == sum(each > FAR_OFF for each in differ)


@pytest.mark.parametrize('seconds', [0.5, 1.0 + 0.8 * MIN_LEG_M / 0.1])
def test_a_short_leg_tells_nothing(seconds: float) -> None:
    assert Drive().go('turn_left', 0.1, 1.0, seconds) == []


def test_the_last_leg_of_a_motion_that_tells_is_the_one_that_counts() -> None:
    drive = Drive()
    assert len(drive.go('move_forward', 2.0 * AHEAD, STRAIGHT)) == 1
    assert len(drive.go('move_forward', AHEAD, STRAIGHT, seconds=1.2)) == 1
    assert len(drive.go('turn_left', ARC, RADIUS)) == 1
    assert drive.go('move_forward', AHEAD, STRAIGHT) == []


def test_what_cannot_be_measured_tells_nothing() -> None:
    drive = Drive()
    drive.figures.record((0.0, 0.0, 0.0), 9.0, 9.0)  # nobody drives
    drive.figures.begin('turn_left')
    for _ in range(50):
        drive.now += 0.1
        drive.figures.record(None, 9.0, 9.0)
        drive.figures.record((0.0, 0.0, 0.0), float('nan'), 9.0)
    drive.figures.end()
    assert drive.figures.findings() == []
