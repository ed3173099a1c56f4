# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rules of the adapter, each alone: agent, obstacles, odometry, clocks, drives, standstill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple
from itertools import pairwise
import math
from types import SimpleNamespace
from typing import Any

from curiosity_rosa_demo.adapter.agent_link import AgentLink, MAX_AGE_S, OtherAdapters, Presence
from curiosity_rosa_demo.adapter.steps import ALARM_PERIOD_S, AlarmFold
from curiosity_rosa_demo.adapter.stop import Odometry
from curiosity_rosa_demo.adapter.watches import (
    DriveWatch,
    FAR_OFF,
    HEARD,
    LONGER,
    ObstacleStop,
    RAMP_S,
    Settling,
    tilt_of,
    ViewState,
)
from curiosity_rosa_demo.agent.react.forecast import MeasuredSpeeds, MIN_SECONDS
from curiosity_rosa_demo.domain.geometry import along, DIRECTIONS
from curiosity_rosa_demo.domain.models import (
    OBSTACLE_AHEAD,
    STOPPED_UNASKED,
    ToolResult,
    TWO_AGENTS,
    VIEW_LOST,
)
from curiosity_rosa_demo.infra.clocks import NO_CLOCK, SimulatedTime, SimulationClock
from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.obstacles import ObstacleView
from curiosity_rosa_demo.infra.wheel_speed import WheelSpeed
from curiosity_stand_in.drivers import DemoRover
from examples import examples
from guard_world import CONFIG, drive_off, World
from hypothesis import assume, given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from tool_rover import STOP_LATE_S

WHY = 'an obstacle'


def at(seconds: float, *, factor: float = 1.0) -> Any:
    """The time of a step; ``factor``: steady seconds of a simulated one."""
    return SimpleNamespace(
        steady=seconds, simulated=seconds, stretched=lambda simulated_s: simulated_s * factor
    )


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just('beat'), st.integers(-3, 9), st.sampled_from(['', WHY])),
            st.tuples(st.just('alive'), st.integers(0, 3), st.just('')),
            st.tuples(st.just('forget'), st.just(0), st.just('')),
        )
    )
)
def test_nothing_but_a_beat_of_a_single_agent_lifts_the_latch(
    events: list[tuple[str, int, str]],
) -> None:
    time = at(0.0)
    link, alive = AgentLink(2.0, time), 1
    link.set_publishers(1, ['/agent'])
    for now, (kind, number, latch) in enumerate(events):
        before, time.steady = link.latch, float(now)
        if kind == 'beat':
            link.beat(number, latch)
        elif kind == 'alive':
            alive = number
            link.set_publishers(number, ['/agent'])
        else:
            link.forget()
        if before and not link.latch:
            assert (kind, latch) == ('beat', '')
            assert alive <= 1
        if alive > 1:
            assert link.refusal().startswith(TWO_AGENTS)
            assert link.stop_reason()


@given(st.lists(st.integers(0, 5)))
def test_beats_count_only_while_the_tick_rises(ticks: list[int]) -> None:
    time, highest = at(0.0), -1
    link = AgentLink(2.0, time)
    for now, tick in enumerate(ticks, 1):
        time.steady = 10.0 * now
        link.beat(tick, '')
        assert bool(link.refusal()) is (tick <= highest)
        highest = max(highest, tick)


@given(st.lists(st.tuples(st.sampled_from('ab'), st.floats(0.0, 15.0)), max_size=60))
def test_each_alarm_is_told_once_a_period_and_none_is_lost(
    alarms: list[tuple[str, float]],
) -> None:
    fold, now = AlarmFold(), 0.0
    told: list[tuple[float, str]] = []
    for text, pause in alarms:
        now += pause
        fold.add(text, now)
        told += [(now, line) for line in fold.take_due(now)]
    while (wakeup := fold.next_wakeup()) < math.inf:
        told += [(wakeup, line) for line in fold.take_due(wakeup)]
    for text in 'ab':
        lines = [(at, line) for at, line in told if line.startswith(text)]
        count = sum(_times(line) for _, line in lines)
        assert count == sum(each == text for each, _ in alarms)
        for (first, _), (second, _) in pairwise(lines):
            assert second - first >= ALARM_PERIOD_S - 1e-6


def _times(line: str) -> int:
    words = line.partition('(')[2].split()
    return 1 if not words or words[0] == 'once' else int(words[0])


@pytest.mark.parametrize('forbidden', [True, False])
def test_it_must_stop_when_it_has_moved_for_the_time_to_settle(forbidden: bool) -> None:
    world = World()
    world.restart_adapter(world.new_guard(stop_unexpected=forbidden))
    world.step(5.0)
    world.wheels = 0.5
    world.step(CONFIG.motion.settle_s)
    assert world.guard.moving
    assert not world.guard.stopping
    world.step(0.3)
    assert world.guard.last_error == (STOPPED_UNASKED if forbidden else '')


THRESHOLDS = load_config().thresholds
STOP_M, CLEAR_M = THRESHOLDS.telemetry.obstacle_stop_m, THRESHOLDS.obstacles.clear_m
SCAN_MAX_AGE_S = THRESHOLDS.obstacles.scan_max_age_s
POINTS = np.empty((0, 2))
BLIND = ObstacleView(False, {}, POINTS)


def seen(**free_m: float) -> ObstacleView:
    return ObstacleView(True, {**dict.fromkeys(DIRECTIONS, math.inf), **free_m}, POINTS)


FREE = seen()


class ScanWorld:
    def __init__(self, thresholds: Thresholds = THRESHOLDS) -> None:
        self.time = at(100.0)
        self.rule = ObstacleStop(thresholds, self.time)

    def after(self, seconds: float, *scans: ObstacleView | None) -> ObstacleStop:
        """The rule, after ``seconds``, then the scans."""
        self.time.simulated += seconds
        for scan in scans:
            self.rule.record(*((None, {}) if scan is None else (scan.sees_ahead, scan.free_m)))
        return self.rule


metres = st.floats(0.0, 10.0) | st.sampled_from([STOP_M, CLEAR_M, math.inf])


@given(st.lists(metres | st.sampled_from([None, BLIND]), max_size=30))
def test_a_motion_is_blocked_below_the_stop_distance_until_the_clear_distance(
    scans: list[float | ObstacleView | None],
) -> None:
    world, blocked = ScanWorld(), False
    for each in scans:
        if isinstance(each, float):
            blocked = each < STOP_M or (blocked and each < CLEAR_M)
        rule = world.after(0.0, seen(move_forward=each) if isinstance(each, float) else each)
        assert bool(rule.refusal('move_forward', drives=True)) is blocked
        assert bool(rule.refusal('move_forward')) is blocked


def test_without_a_view_the_rover_drives_and_the_status_says_so() -> None:
    views: Mapping[ViewState, list[ObstacleView | None]] = {
        ViewState.NO_SCAN: [],
        ViewState.NO_TRANSFORM: [None],
        ViewState.NO_VIEW: [BLIND],
    }
    for state, scans in views.items():
        rule = ScanWorld().after(0.0, *scans)
        assert (rule.view, rule.free_m) == (state, None)
        for motion in DIRECTIONS:
            assert (rule.refusal(motion, drives=True), rule.refusal(motion)) == ('', '')
    world = ScanWorld()
    world.after(0.0, seen(move_forward=1.0))
    rule = world.after(SCAN_MAX_AGE_S + 0.1)
    rule.forget()  # its publisher is gone: no scan is waited for, but the obstacle stays
    assert (rule.view, rule.refusal('turn_left')) == (ViewState.NO_SCAN, '')
    assert rule.refusal('move_forward').startswith(OBSTACLE_AHEAD)
    telemetry = THRESHOLDS.telemetry.model_copy(update={'obstacle_stop_m': 0.0})
    world = ScanWorld(THRESHOLDS.model_copy(update={'telemetry': telemetry}))
    rule = world.after(0.0, seen(move_forward=STOP_M / 2))
    assert (rule.view, rule.refusal('move_forward')) == (ViewState.OFF, '')


def test_a_lost_view_stops_a_motion_and_forbids_the_next_until_it_is_back() -> None:
    for scans in ([], [None], [BLIND]):
        world = ScanWorld()
        assert not world.after(0.0, FREE).refusal('move_forward', drives=True)
        assert not world.after(SCAN_MAX_AGE_S).refusal('move_forward', drives=True)
        rule = world.after(0.1, *scans)
        assert rule.refusal('move_forward', drives=True) == VIEW_LOST
        if scans != [BLIND]:
            assert rule.refusal('move_forward') == VIEW_LOST
        assert not world.after(0.1, FREE).refusal('move_forward')


SHIPPED = load_config().thresholds.motion
SLOWEST, CLOCK_AGE_S = 0.1, 1.5
STANDS_S = CLOCK_AGE_S
STEPPED = CONFIG.motion.model_copy(
    update={'slowest_real_time_factor': SLOWEST, 'clock_max_age_s': CLOCK_AGE_S}
)


class Clocks:
    """A ROS clock and a steady clock that advance as told, and what the product makes of both."""

    def __init__(self, *, simulated: bool = True) -> None:
        self.steady_s, self.nanoseconds, self.ros_time_is_active = 0.0, 0, simulated
        self.time = SimulatedTime(self.steady, self, STEPPED)
        self.clock = SimulationClock(self, STEPPED, self.steady)

    def steady(self) -> float:
        return self.steady_s

    def now(self) -> Clocks:
        return self

    def pass_by(self, steady_s: float, ros_s: float) -> None:
        self.steady_s += steady_s
        self.nanoseconds += round(ros_s * 1e9)

    def problem_after(self, steady_s: float, ros_s: float) -> str:
        self.pass_by(steady_s, ros_s)
        self.time.read()
        return self.time.problem

    def advance(self, steady_s: float, ros_s: float) -> float:
        """Of the simulation's clock."""
        before = self.clock()
        self.pass_by(steady_s, ros_s)
        return self.clock() - before

    def run(self, seconds: float, factor: float, *, step_s: float = 0.05) -> float:
        return sum(self.advance(step_s, factor * step_s) for _ in range(round(seconds / step_s)))


# The steady clock never goes back; simulated time stands still, jumps and restarts.
@given(st.lists(st.tuples(st.floats(0.0, 100.0), st.floats(-1e6, 1e6)), max_size=40))
def test_a_motion_s_clock_never_falls_behind_and_a_wait_is_bounded(
    steps: list[tuple[float, float]],
) -> None:
    clocks, simulated = Clocks(), 0.0
    for steady_s, ros_s in steps:
        advance = clocks.advance(steady_s, ros_s)
        clocks.time.read()
        simulated += max(0.0, ros_s)
        assert math.isclose(clocks.time.advanced, simulated, abs_tol=1e-6)
        assert SLOWEST * steady_s - 1e-6 <= advance <= steady_s + 1e-6
        assert 1.0 <= clocks.clock.now().stretched(1.0) <= clocks.clock.now().longest_s(1.0) + 1e-9


clock_gaps = st.lists(st.floats(0.01, 5.0), max_size=20)


@given(clock_gaps, st.floats(STANDS_S + 0.01, 60.0), st.floats(0.01, 60.0))
def test_time_that_stands_is_a_problem_however_it_went_before(
    before: list[float], standing_s: float, factor: float
) -> None:
    """And time that advances, at any factor, or is not simulated, is none."""
    clocks, unsimulated = Clocks(), Clocks(simulated=False)
    clocks.problem_after(0.0, 0.0)
    assert (unsimulated.time.has_advanced, clocks.time.has_advanced) == (True, False)
    for gap in before:
        assert clocks.problem_after(gap, factor * gap) == ''
        assert unsimulated.problem_after(gap, 0.0) == ''
    assert clocks.problem_after(STANDS_S - 0.01, 0.0) == ''
    assert clocks.problem_after(standing_s - STANDS_S + 0.01, 0.0).startswith(NO_CLOCK)
    assert clocks.problem_after(0.01, 0.01) == ''  # it goes on
    assert clocks.time.has_advanced


OWN = Presence(node='/adapter', identity='a', rover='/cmd_vel')

presences = st.builds(
    Presence,
    node=st.sampled_from(['/adapter', '/r1/adapter']),
    identity=st.sampled_from(['a', 'b', 'c']),
    rover=st.sampled_from(['/cmd_vel', '/r1/cmd_vel']),
)


@given(st.lists(st.tuples(presences, st.floats(0.0, 2 * MAX_AGE_S)), max_size=20))
def test_it_names_exactly_the_living_others_of_its_own_rover(
    heard: list[tuple[Presence, float]],
) -> None:
    others, now = OtherAdapters(OWN), 0.0
    last: dict[str, tuple[str, float]] = {}
    for presence, wait_s in heard:
        now += wait_s
        others.record(presence.model_dump_json(), now)
        others.record('{"node": 1, "identity": "d", "rover": "/cmd_vel"}', now)  # is none
        if presence.rover == OWN.rover and presence.identity != OWN.identity:
            last[presence.identity] = (presence.node, now)
        alive = sorted(node for node, at in last.values() if now - at <= MAX_AGE_S)
        assert list(others.names(now)) == alive
    assert others.names(now + MAX_AGE_S + 0.1) == ()


@given(st.floats(0.02, 3.0), st.floats(0.02, 3.0), st.floats(0.01, 0.3))
def test_it_counts_simulated_seconds_at_any_factor_from_the_slowest_to_real_time(
    before: float, factor: float, step_s: float
) -> None:
    clocks, counted = Clocks(), min(1.0, max(SLOWEST, factor))
    clocks.run(5.0, before, step_s=step_s)
    clocks.run(5.0, factor, step_s=step_s)
    assert clocks.run(20.0, factor, step_s=step_s) == pytest.approx(20.0 * counted, rel=0.05)
    assert clocks.clock.now().measured == pytest.approx(factor, rel=0.05)
    assert clocks.clock.now().stretched(1.0) == pytest.approx(1.0 / counted, rel=0.05)


@given(st.floats(SLOWEST, 1.0))
def test_a_clock_that_dies_gains_no_time_and_a_restart_is_no_jump(factor: float) -> None:
    clocks = Clocks()
    assert clocks.advance(0.1, 1234.0) <= 0.1
    clocks.run(5.0, 0.5)
    assert clocks.advance(0.1, -1200.0) <= 0.1
    clocks.run(5.0, factor)
    assert clocks.clock.now().measured == pytest.approx(factor, rel=0.05)
    assert clocks.run(CLOCK_AGE_S, 0.0) == pytest.approx(factor * CLOCK_AGE_S, rel=0.05)
    clocks.run(0.1, 0.0)
    assert clocks.run(10.0, 0.0) == pytest.approx(10.0)
    assert clocks.clock.now().measured is None


JOINTS_AGE_S = CONFIG.mast.joint_max_age_s
SAG_MPS = 0.28  # measured: the demo's free bogie folds


readings = st.tuples(
    st.sampled_from([0.05, 0.1, 0.4, 1.5]),
    st.sampled_from([0.0, 0.01, 0.1, SAG_MPS, 0.5, math.nan, math.inf]),  # its speed
    st.sampled_from([0.0, 0.1, 1.0, math.nan]),  # its turn
    st.none() | st.sampled_from([0.0, 0.05, 0.5, 2.0, math.nan]),  # of the wheels
)


@given(st.lists(readings, max_size=80))
def test_nothing_settles_but_a_body_that_moves_little_on_wheels_that_stand(
    history: list[tuple[float, float, float, float | None]],
) -> None:
    time = at(0.0)
    settling = Settling(SHIPPED, JOINTS_AGE_S, time)
    now, wheels_at, fastest = 0.0, -math.inf, math.nan
    began, moved_at, way_m, before = None, -math.inf, 0.0, 0.0
    for step_s, speed, turn, wheel in history:
        now = time.steady = now + step_s
        if wheel is not None:
            wheels_at, fastest = now, wheel
            settling.record_wheels(wheel)
        still = speed <= SHIPPED.still_speed_mps and turn <= SHIPPED.still_turn_radps
        odometry = Odometry(now, still, speed, turn)
        settling.record(odometry, driving=False)
        way_m, before = way_m + min(before, speed) * step_s, speed
        if not still:
            moved_at = now
        elif now - moved_at >= SHIPPED.settle_s:
            began = None
        assert not settling.goes_on(None)
        if not settling.goes_on(odometry):
            continue
        if began is None:
            began, way_m = now, 0.0
        assert now - began < SHIPPED.settling_max_s
        assert way_m < SHIPPED.settling_way_m
        assert not still
        assert speed <= SHIPPED.settling_speed_mps
        assert turn <= SHIPPED.settling_turn_radps
        assert fastest <= SHIPPED.wheels_still_radps
        assert now - wheels_at <= JOINTS_AGE_S


phases = st.lists(
    st.tuples(
        st.sampled_from([0.1, 0.5, 1.0, 3.0]),  # seconds
        st.sampled_from([0.0, 0.1, SAG_MPS, 0.6]),  # sag
        st.sampled_from([0.0, 0.5]),  # wheels, by somebody
        st.booleans(),  # wheels on the joint states
        st.sampled_from(['', 'stop', 'move']),
    ),
    max_size=12,
)


@given(phases)
def test_no_stop_is_confirmed_and_no_drive_begins_while_the_body_moves(
    history: list[tuple[float, float, float, bool, str]],
) -> None:
    world = World()
    drive_off(world)
    shown_at = -math.inf
    for seconds, sag, turning, shown, act in history:
        world.sag, world.wheels_shown = sag, shown
        number = None
        for tick in range(round(seconds / 0.05) + 4):
            world.wheels = max(world.wheels, turning)
            if tick == 4:  # its odometry has been heard
                number = world.ask_stop() if act == 'stop' else None
            world.step()
            shown_at = world.now if shown else shown_at
            if number is not None and (sag or turning):
                assert world.guard.end_stop(number)
            if tick >= 4 and world.guard.settles:
                assert 0.0 < sag <= SHIPPED.settling_speed_mps
                assert not (shown and turning)
                assert world.now - shown_at <= JOINTS_AGE_S
        if act == 'move' and world.guard.stopping:
            assert world.ask_move()


JOINTS = ('left', 'right')


def joint_states(at_s: float, *positions: float, velocity: tuple[float, ...] = ()) -> Any:
    sec = math.floor(at_s)
    stamp = SimpleNamespace(sec=sec, nanosec=round((at_s - sec) * 1e9))
    return SimpleNamespace(
        header=SimpleNamespace(stamp=stamp),
        name=['mast', *JOINTS],
        position=[0.0, *positions],
        velocity=[0.0, *velocity] if velocity else [],
    )


def measured(*messages: Any) -> list[float]:
    """What is known after the first message, which never shows a speed."""
    speed = WheelSpeed(JOINTS)
    results = [speed.measure(message) for message in messages]
    assert math.isnan(results[0] or 0.0)
    return [result for result in results[1:] if result is not None]


@given(st.floats(-5.0, 5.0), st.floats(-5.0, 5.0), st.floats(0.005, 0.3), st.booleans())
def test_the_fastest_wheel_is_measured_by_positions_and_by_velocities(
    left: float, right: float, period_s: float, broadcast: bool
) -> None:
    velocity = (left, right) if broadcast else (math.nan, math.nan)
    times = [n * period_s for n in range(60)]
    results = measured(
        *(joint_states(10.0 + at, left * at, right * at, velocity=velocity) for at in times)
    )
    fastest = max(abs(left), abs(right))
    assert results
    assert results == pytest.approx([fastest] * len(results), rel=1e-3, abs=1e-6)
    for messages in (
        [joint_states(0.0, 1.0, 1.0)] * 5,  # no stamps
        [joint_states(5.0 - n, 1.0, 1.0) for n in range(5)],  # stamps that go back
        [joint_states(5.0 + n, 1.0, math.nan) for n in range(5)],
        [joint_states(5.0 + n, 1.0, math.inf) for n in range(5)],
    ):
        assert all(map(math.isnan, measured(*messages)))
    for joints in (('left', 'middle'), ()):
        assert WheelSpeed(joints).measure(joint_states(5.0, 1.0, 1.0)) is None


DRIVE = THRESHOLDS.drive
SPEEDS = {'move_forward': 0.5, 'turn_left': 0.25, 'turn_right': 0.25}
periods = st.floats(0.05, 0.4)
motions = st.sampled_from(sorted(SPEEDS))


class Drive:
    """A rover on a plane; its odometry goes to the rules."""

    def __init__(self, period_s: float = 0.1, noise: Any = float, factor: float = 1.0) -> None:
        self.x = self.yaw = 0.0
        self.time, self._period_s, self._noise = at(0.0, factor=factor), period_s, noise
        self.watch = DriveWatch(THRESHOLDS, self.time)

    def hear(self, speed: float = 0.5, turn_rate: float = 0.0) -> None:
        """Odometry, of no known place."""
        self.watch.record(None, speed, turn_rate, None)

    def after(self, seconds: float) -> tuple[str, str]:
        """The warning, and the reason to stop."""
        self.time.steady += seconds
        return self.watch.warning(), self.watch.stop_reason()

    def go(self, motion: str, seconds: float, grip: float = 1.0, tilt: float = 0.0) -> str:
        """The reason of the first stop, or ''."""
        self.watch.begin(motion, self.time.steady)
        return next(self._reasons(motion, seconds, grip, tilt), '')

    def _reasons(self, motion: str, seconds: float, grip: float, tilt: float) -> Iterator[str]:
        turn = 0.0 if motion == 'move_forward' else math.copysign(0.1, ('r' in motion) - 0.5)
        until = self.time.simulated + seconds
        while self.time.simulated < until:
            self.time.simulated += self._period_s
            speed = SPEEDS[motion] * grip * (1.0 + self._noise())
            self.x += speed * self._period_s
            self.yaw += turn * grip * self._period_s
            self.watch.record((self.x, 0.0, self.yaw), speed, turn * grip, tilt)
            if reason := self.watch.stop_reason():
                yield reason


WARN_S, STOP_S = SHIPPED.odometry_max_age_s, SHIPPED.odometry_stop_s
CHECK_S = 0.1  # the guard looks this often while the rover moves
slow = st.floats(1.0, 10.0)  # steady seconds of a simulated one


@settings(max_examples=examples(100), deadline=None)
@given(
    slow,
    st.floats(0.0, 30.0),
    st.floats(0.0, 30.0),
    st.lists(st.floats(0.0, 0.99)),
    st.sampled_from([(), (math.nan, 0.0), (0.5, math.nan), (math.inf, math.inf)]),
)
def test_each_silence_is_warned_of_once_and_stopped_in_time(
    factor: float, driven_s: float, old_s: float, gaps: list[float], no_number: tuple[float, ...]
) -> None:
    """Whether it begins during the motion or ``old_s`` before it; and odometry that comes in time,
    or was never heard, brings neither, at any pace of the simulation. A speed that is no number
    ends no silence.
    """
    drive, silent_from = Drive(factor=factor), old_s
    drive.hear()
    drive.time.steady = old_s
    drive.watch.begin('move_forward', old_s)
    while drive.time.steady < old_s + driven_s:
        drive.hear()
        silent_from = drive.time.steady
        assert drive.after(CHECK_S) == ('', '')
    stops_at, told = silent_from + STOP_S * factor, []
    while drive.time.steady + CHECK_S < stops_at - 0.01:
        if no_number:
            drive.hear(*no_number)
        told.append(drive.after(CHECK_S))
    assert [each for each in told if any(each)] == [('No odometry for 1 s of a motion', '')]
    assert drive.after(stops_at - drive.time.steady + 0.01) == ('', 'No odometry for 3 s')
    drive.watch.end()
    drive.watch.begin('turn_left', drive.time.steady)  # the next motion has the same time
    assert drive.after(0.0) == ('', '')
    assert drive.after(STOP_S * factor + 0.01)[1] == 'No odometry for 3 s'
    for is_heard in (False, True):
        drive = Drive(factor=factor)
        drive.watch.begin('move_forward', 0.0)
        for gap in gaps:
            if is_heard:
                drive.hear()
            assert drive.after(gap * WARN_S * factor) == ('', '')


parts = st.lists(st.floats(0.0, 0.99), max_size=12)  # of the silence that is allowed


@settings(max_examples=examples(200), deadline=None)
@given(slow, parts, st.floats(1.01, 5.0), st.sampled_from(['never', 'goes on', 'dies with it']))
def test_a_driver_is_found_silent_beyond_its_bound_alone(
    factor: float, parts: list[float], too_long: float, odometry: str
) -> None:
    """Within it nothing is found, nor of one that does not repeat, nor while odometry is silent
    as well, nor after the drive.
    """
    drive, longest_s = Drive(factor=factor), 0.0
    repeats = len(parts) + 1 >= HEARD and odometry != 'dies with it'
    for part in (*parts, too_long):
        allowed_s = max(SHIPPED.driver_silence_s * factor, LONGER * longest_s)
        longest_s = max(longest_s, part * allowed_s)
        drive.watch.record_command('/cmd_vel')
        if odometry == 'dies with it':
            drive.hear()
        drive.time.steady += part * allowed_s
        if odometry == 'goes on':
            drive.hear()
        said = drive.watch.driver_silence()
        assert said.startswith('The driver fell silent on /cmd_vel for ') is bool(said)
        assert bool(said) is (part > 1.0 and repeats)
    drive.watch.end()
    drive.watch.begin('turn_left', drive.time.steady)
    assert not drive.watch.driver_silence()


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
        assert drive.watch.refusal == ''


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
    drive.watch.begin(motion, 0.0)
    if silent:  # nobody knows
        drive.time.simulated += 30.0
        assert drive.watch.stop_reason() == ''
    else:
        assert drive.go(motion, DRIVE.stuck_s - 0.5, grip=0.0) == ''
        assert drive.go(motion, 1.0, grip=0.0).startswith('Stuck: ')
    drive = Drive(period_s)
    drive.watch.begin('move_forward', 0.0)
    for number in range(100):  # its odometry has a pose and no speed
        drive.time.simulated += 0.1
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
        was_refused = bool(drive.watch.refusal)
        drive.watch.record((0.0, 0.0, 0.0), 0.0, 0.0, tilt)
        limit = DRIVE.tilt_limit_rad - (0.05 if was_refused else 0.0)
        assert bool(drive.watch.refusal) == (tilt > limit)
        assert drive.watch.stop_reason().startswith(drive.watch.refusal)


AHEAD, ARC = THRESHOLDS.body.forward_mps, THRESHOLDS.body.turn_mps
RADIUS = THRESHOLDS.obstacles.turn_radius_m


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
    time, place, turn = at(0.0), (0.0, 0.0, 0.0), DIRECTIONS[motion] * speed / radius
    watch = DriveWatch(THRESHOLDS, time)
    watch.begin(motion, 0.0)
    while time.simulated < 20.0:
        time.simulated += period_s
        place = along(*place, speed * period_s, turn * period_s)
        watch.record(place, speed, turn, None)
        watch.record(None, 9.0, 9.0, None)  # what cannot be measured tells nothing
    watch.end()
    assert len(watch.wrong_figures()) == sum(each > FAR_OFF for each in differ)


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
