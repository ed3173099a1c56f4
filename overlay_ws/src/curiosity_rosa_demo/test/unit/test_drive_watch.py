# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A drive as odometry shows it: the flight rules, the figures of the profile, what it teaches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import astuple
import math

from curiosity_rosa_demo.adapter.drive_watch import DriveWatch, RAMP_S, tilt_of
from curiosity_rosa_demo.adapter.profile_figures import FAR_OFF, ProfileFigures
from curiosity_rosa_demo.agent.react.rehearsal.twin import MeasuredSpeeds, MIN_SECONDS
from curiosity_rosa_demo.domain.geometry import along, DIRECTIONS
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_stand_in.drivers import DemoRover
from examples import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
import pytest
from tool_rover import STOP_LATE_S

THRESHOLDS = load_config().thresholds
DRIVE = THRESHOLDS.drive
SPEEDS = {'move_forward': 0.5, 'turn_left': 0.25, 'turn_right': 0.25}
periods = st.floats(0.05, 0.4)
motions = st.sampled_from(sorted(SPEEDS))


class Drive:
    """A rover on a plane; its odometry goes to the rules."""

    def __init__(self, period_s: float, noise: Callable[[], float] = lambda: 0.0) -> None:
        self.now = self.x = self.yaw = 0.0
        self._period_s, self._noise = period_s, noise
        self.watch = DriveWatch(DRIVE, THRESHOLDS.motion, lambda: self.now)

    def go(self, motion: str, seconds: float, grip: float = 1.0, tilt: float = 0.0) -> str:
        """The reason of the first stop, or ''."""
        self.watch.begin(motion)
        return next(self._reasons(motion, seconds, grip, tilt), '')

    def _reasons(self, motion: str, seconds: float, grip: float, tilt: float) -> Iterator[str]:
        turn = 0.0 if motion == 'move_forward' else math.copysign(0.1, ('r' in motion) - 0.5)
        until = self.now + seconds
        while self.now < until:
            self.now += self._period_s
            speed = SPEEDS[motion] * grip * (1.0 + self._noise())
            self.x += speed * self._period_s
            self.yaw += turn * grip * self._period_s
            self.watch.record((self.x, 0.0, self.yaw), speed, turn * grip, tilt)
            if reason := self.watch.stop_reason():
                yield reason


@settings(max_examples=examples(50))
@given(st.data(), periods, st.lists(st.tuples(motions, st.floats(0.5, 20.0)), max_size=5))
def test_an_ordinary_drive_is_never_stopped(
    data: st.DataObject, period_s: float, drives: list[tuple[str, float]]
) -> None:
    noise = data.draw(st.randoms(use_true_random=False))
    drive = Drive(period_s, lambda: noise.uniform(-0.2, 0.2))
    for motion, seconds in drives:
        assert drive.go(motion, seconds) == ''
        drive.watch.end()
        assert drive.watch.refusal() == ''


@settings(max_examples=examples(50))
@given(motions, periods, st.floats(0.0, 0.9))
def test_slip_beyond_the_limit_is_found_within_two_windows(
    motion: str, period_s: float, slip: float
) -> None:
    drive = Drive(period_s)
    assert drive.go(motion, RAMP_S + DRIVE.slip_s + 2.0) == ''
    drive.watch.end()
    reason = drive.go(motion, 2 * DRIVE.slip_s + RAMP_S, grip=1.0 - slip)
    if abs(slip - DRIVE.slip_limit) > 0.01:
        assert reason.startswith('Slip of ') == (slip > DRIVE.slip_limit), reason


@settings(max_examples=examples(50))
@given(motions, periods, st.booleans())
def test_a_rover_that_does_not_move_is_stuck(motion: str, period_s: float, silent: bool) -> None:
    drive = Drive(period_s)
    drive.watch.begin(motion)
    if silent:  # nobody knows
        drive.now += 30.0
        assert drive.watch.stop_reason() == ''
    else:
        assert drive.go(motion, DRIVE.stuck_s - 0.5, grip=0.0) == ''
        assert drive.go(motion, 1.0, grip=0.0).startswith('Stuck: ')
    drive = Drive(period_s)
    drive.watch.begin('move_forward')
    for number in range(100):  # its odometry has a pose and no speed
        drive.now += 0.1
        drive.watch.record((0.01 * number, 0.0, 0.0), 0.0, 0.0, 0.0)
        assert drive.watch.stop_reason() == ''


@given(*[st.floats(-math.pi, math.pi)] * 3)
def test_the_tilt_is_the_angle_to_the_vertical(roll: float, pitch: float, yaw: float) -> None:
    def half(angle: float) -> tuple[float, float]:
        return math.cos(angle / 2), math.sin(angle / 2)

    (cr, sr), (cp, sp), (cy, sy) = half(roll), half(pitch), half(yaw)
    tilt = tilt_of(
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )
    assert tilt is not None
    assert math.cos(tilt) == pytest.approx(math.cos(roll) * math.cos(pitch), abs=1e-6)
    assert tilt_of(0.0, 0.0, 0.0, 0.0) is None
    assert tilt_of(math.nan, 0.0, 0.0, 1.0) is None


@given(st.lists(st.floats(0.0, math.pi), min_size=1))
def test_a_tilted_rover_neither_goes_on_nor_starts_until_it_stands_more_level(
    tilts: list[float],
) -> None:
    drive = Drive(0.1)
    for tilt in tilts:
        was_refused = bool(drive.watch.refusal())
        drive.watch.record((0.0, 0.0, 0.0), 0.0, 0.0, tilt)
        limit = DRIVE.tilt_limit_rad - (0.05 if was_refused else 0.0)
        assert bool(drive.watch.refusal()) == (tilt > limit)
        assert drive.watch.stop_reason().startswith(drive.watch.refusal())


AHEAD, ARC = THRESHOLDS.body.forward_mps, THRESHOLDS.body.turn_mps
RADIUS = THRESHOLDS.obstacles.turn_radius_m
LONG_S = 20.0


class MeasuredDrive:
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
            self.figures.record(None, 9.0, 9.0)  # what cannot be measured tells nothing
        self.figures.end()
        return self.figures.findings()


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
    told = MeasuredDrive(period_s).go(motion, speed, radius)
    assert len(told) == sum(each > FAR_OFF for each in differ)


Place = tuple[float, float, float]
places = st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.floats(-math.pi, math.pi))
ways = st.floats(-50, 50)
curvatures = st.just(0.0) | st.floats(-2, 2)


@given(places, curvatures, ways, ways)
def test_two_steps_lead_where_one_does(
    place: Place, curvature: float, first: float, second: float
) -> None:
    twice = along(*along(*place, first, first * curvature), second, second * curvature)
    once = along(*place, first + second, (first + second) * curvature)
    assert twice == pytest.approx(once, abs=1e-6)


START_S = THRESHOLDS.body.start_s
ROLLS_BACK_S = 0.16  # of a drive, in its heading, which loses what the way does not


@given(
    name=st.sampled_from(sorted(DIRECTIONS)),
    seconds=st.floats(MIN_SECONDS, 20.0),
    waited_s=st.floats(0.0, 1.0),
)
def test_a_short_drive_teaches_the_speed_of_a_long_one(
    name: str, seconds: float, waited_s: float
) -> None:
    rover = DemoRover(THRESHOLDS)
    rover.advance_to(waited_s)  # somewhere between two of its ticks
    rover.call(name)
    rover.advance_to(waited_s + seconds)
    rover.call('move_stop')
    state = rover.advance_to(rover.seconds + STOP_LATE_S)
    speeds = MeasuredSpeeds(THRESHOLDS.speeds, START_S)
    yaw = state.pose.yaw
    done = ToolResult.success(duration_s=seconds, distance_m=state.path_m, yaw_rad=yaw)
    speeds.learn(name, {'yaw_rad': 0.0}, done)
    for learnt, true in zip(astuple(speeds.now()), astuple(THRESHOLDS.speeds), strict=True):
        assert -ROLLS_BACK_S <= (learnt / true - 1.0) * seconds <= START_S
