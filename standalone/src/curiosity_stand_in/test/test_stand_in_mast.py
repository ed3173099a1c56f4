# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


from __future__ import annotations

from curiosity_stand_in.mast import CLOSED, INITIAL, Joints, MOVES, OPENED, stowed_from, ZERO
from curiosity_stand_in.trajectory import SERVO_LAG_S, Trajectory, Waypoint
from hypothesis import given
from hypothesis import strategies as st
import pytest

angles = st.floats(-7, 7)
joints = st.builds(Joints, angles, angles, angles)
lags = st.sampled_from([0.0, SERVO_LAG_S])


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    steps = draw(st.lists(st.tuples(st.floats(0.1, 3), joints), max_size=5))
    time, waypoints = 0.0, []
    for step, target in steps:
        time += step
        waypoints.append(Waypoint(time, target))
    return Trajectory(draw(joints), tuple(waypoints), draw(lags))


def near(a: tuple[float, ...], b: tuple[float, ...], within: float = 1e-6) -> bool:
    return max(abs(x - y) for x, y in zip(a, b, strict=True)) <= within


@given(trajectories())
def test_it_starts_at_the_start_and_passes_every_waypoint_within_the_lag(
    trajectory: Trajectory,
) -> None:
    assert near(trajectory.at(0.0), trajectory.start)
    fastest = 14.0 / 0.1  # no leg is shorter than 0.1 s or longer than 14 rad
    for point in trajectory.waypoints:
        behind = fastest * trajectory.lag_s + 1e-6
        assert near(trajectory.at(point.seconds), point.joints, behind)


@given(trajectories(), st.floats(0, 100))
def test_the_last_waypoint_is_held(trajectory: Trajectory, later: float) -> None:
    end = trajectory.waypoints[-1].joints if trajectory.waypoints else trajectory.start
    settled = trajectory.duration_s + 25 * SERVO_LAG_S
    assert near(trajectory.at(settled + later), end)
    assert near(trajectory.speeds(settled + later), ZERO, 1e-6)


@given(trajectories(), st.floats(0, 15))
def test_the_joints_do_not_jump(trajectory: Trajectory, time: float) -> None:
    assert near(trajectory.at(time), trajectory.at(time + 1e-6), 1e-3)


@given(trajectories(), st.floats(0, 15))
def test_a_servo_moves_by_ten_times_its_error(trajectory: Trajectory, time: float) -> None:
    ideal = Trajectory(trajectory.start, trajectory.waypoints, lag_s=0.0)
    lagging = Trajectory(trajectory.start, trajectory.waypoints)
    for wanted, at, speed in zip(
        ideal.at(time), lagging.at(time), lagging.speeds(time), strict=True
    ):
        assert speed == pytest.approx((wanted - at) / SERVO_LAG_S, abs=1e-6)


@given(st.lists(st.floats(-1, 5), min_size=1, max_size=4))
def test_times_that_do_not_rise_are_refused(times: list[float]) -> None:
    waypoints = tuple(Waypoint(time, ZERO) for time in times)
    if times[0] > 0 and sorted(set(times)) == times:
        Trajectory(ZERO, waypoints)
    else:
        with pytest.raises(ValueError, match='must rise'):
            Trajectory(ZERO, waypoints)


def test_the_services_have_the_demos_trajectories() -> None:
    assert MOVES['mast_open'] == (Waypoint(1.0, Joints(0.0, -0.5, 0.0)),)
    assert MOVES['mast_close'] == (Waypoint(1.0, Joints(1.57, -1.57, 0.0)),)
    assert [(p.seconds, *p.joints) for p in MOVES['mast_rotate']] == [
        (2.0, 0.0, -1.57, 0.0),
        (4.0, 0.0, -3.14, 0.0),
        (6.0, 0.0, -6.28, 0.0),
    ]
    assert INITIAL == {'zero': ZERO, 'open': OPENED, 'closed': CLOSED}


def test_rotating_raises_a_closed_mast_on_its_first_leg() -> None:
    rotate = Trajectory(CLOSED, MOVES['mast_rotate'], lag_s=0.0)
    assert rotate.at(1.0)[0] == pytest.approx(1.57 / 2)
    assert rotate.at(2.0)[0] == 0.0


@given(trajectories(), st.floats(0, 10))
def test_a_mast_is_stowed_from_the_moment_that_is_told(
    trajectory: Trajectory, later: float
) -> None:
    since = stowed_from(Trajectory(trajectory.start, trajectory.waypoints))
    assert since is None or near(trajectory.at(since + later)[:2], CLOSED[:2], 0.1 + 1e-6)
    closing = Trajectory(trajectory.start, MOVES['mast_close'])
    from_s = stowed_from(closing)
    assert from_s is not None
    assert near(closing.at(from_s + later)[:2], CLOSED[:2], 0.1 + 1e-6)
