# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from curiosity_stand_in.mast import (
    CLOSED,
    INITIAL,
    Joints,
    MOVES,
    OPENED,
    Trajectory,
    Waypoint,
    ZERO,
)
from hypothesis import given
from hypothesis import strategies as st
import pytest

angles = st.floats(-7, 7)
joints = st.builds(Joints, angles, angles, angles)


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    steps = draw(st.lists(st.tuples(st.floats(0.1, 3), joints), max_size=5))
    time, waypoints = 0.0, []
    for step, target in steps:
        time += step
        waypoints.append(Waypoint(time, target))
    return Trajectory(draw(joints), tuple(waypoints))


def near(a: Joints, b: Joints) -> bool:
    return (a.fold, a.yaw, a.tilt) == pytest.approx((b.fold, b.yaw, b.tilt), abs=1e-6)


@given(trajectories())
def test_it_starts_at_the_start_and_passes_every_waypoint(trajectory: Trajectory) -> None:
    assert near(trajectory.at(0.0), trajectory.start)
    for point in trajectory.waypoints:
        assert near(trajectory.at(point.seconds), point.joints)


@given(trajectories(), st.floats(0, 100))
def test_the_last_waypoint_is_held(trajectory: Trajectory, later: float) -> None:
    end = trajectory.waypoints[-1] if trajectory.waypoints else Waypoint(0.0, trajectory.start)
    assert near(trajectory.at(end.seconds + later), end.joints)


@given(trajectories(), st.floats(0, 15))
def test_the_joints_do_not_jump(trajectory: Trajectory, time: float) -> None:
    # No leg is shorter than 0.1 s or longer than 14 rad.
    a, b = trajectory.at(time), trajectory.at(time + 1e-6)
    assert max(abs(a.fold - b.fold), abs(a.yaw - b.yaw), abs(a.tilt - b.tilt)) < 1e-3


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
    assert [(p.seconds, p.joints.fold, p.joints.yaw) for p in MOVES['mast_rotate']] == [
        (2.0, 0.0, -1.57),
        (4.0, 0.0, -3.14),
        (6.0, 0.0, -6.28),
    ]
    assert INITIAL == {'zero': ZERO, 'open': OPENED, 'closed': CLOSED}


def test_rotating_raises_a_closed_mast_on_its_first_leg() -> None:
    rotate = Trajectory(CLOSED, MOVES['mast_rotate'])
    assert rotate.at(1.0).fold == pytest.approx(1.57 / 2)
    assert rotate.at(2.0).fold == 0.0
