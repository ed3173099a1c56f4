# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Our own rover in MuJoCo, stepped in this process: no ROS, no camera, always the same."""

from __future__ import annotations

from collections.abc import Callable
import functools
import math
from pathlib import Path

from curiosity_physics import demos, rover, worlds
from curiosity_physics.controllers import MAST
from curiosity_physics.drivers import Twist, WheelDriver
from curiosity_physics.model import build
from curiosity_physics.settings import checked
from curiosity_physics.simulation import Simulation, State
import numpy as np
import pytest

STILL_MPS = 0.02
FORWARD, LEFT, RIGHT, STOP = Twist(2.0, 0.0), Twist(1.0, 0.4), Twist(1.0, -0.4), Twist()


def drive(simulation: Simulation, twist: Twist, seconds: float) -> list[State]:
    """A state of each control period, with move_wheel at 10 Hz."""
    driver, states = WheelDriver(simulation.controllers), []
    for period in range(round(100 * seconds)):
        if period % 10 == 0:
            state = simulation.state()
            driver.drive(twist)
            driver.tick(state.seconds, state.angles)
        simulation.advance()
        states.append(simulation.state())
    return states


@functools.cache
def flat() -> Callable[..., Simulation]:
    built = build(rover.ROBOT, worlds.make('flat', 0), friction=1.0)
    return functools.partial(Simulation, built)


@pytest.fixture
def simulation() -> Simulation:
    return flat()()


def test_it_stands_nose_up_where_it_was_put() -> None:
    state = flat()(x=3.0, y=-2.0, yaw=2.0).state()
    assert state.place[:2] == pytest.approx((3.0, -2.0), abs=0.01)
    assert state.yaw == pytest.approx(2.0, abs=0.01)
    assert state.place[2] == pytest.approx(0.89, abs=0.03)
    assert state.pitch == pytest.approx(-0.07, abs=0.02)
    assert math.hypot(*state.velocity) < STILL_MPS


def test_without_a_command_of_the_suspension_it_squats() -> None:
    assert flat()(standing=False).state().place[2] < 0.7


def test_it_drives_straight_at_half_a_metre_a_second_and_rocks_after_a_stop(
    simulation: Simulation,
) -> None:
    end = drive(simulation, FORWARD, 10.0)
    assert end[-1].place[0] == pytest.approx(4.95, abs=0.15)
    assert abs(end[-1].place[1]) < 0.15
    assert np.mean([each.forward for each in end[-300:]]) == pytest.approx(0.494, abs=0.01)
    assert np.mean([each.pitch for each in end[-300:]]) == pytest.approx(-0.124, abs=0.02)
    after = drive(simulation, STOP, 2.0)
    assert min(each.forward for each in after) < -0.1  # it rolls back
    assert all(math.hypot(*each.velocity[:2]) < STILL_MPS for each in after[60:])


@pytest.mark.parametrize(('twist', 'sign'), [(LEFT, 1), (RIGHT, -1)])
def test_it_turns_on_seven_and_a_half_metres(
    simulation: Simulation, twist: Twist, sign: int
) -> None:
    end = drive(simulation, twist, 10.0)
    speed = np.mean([each.forward for each in end[-500:]])
    rate = (end[-1].yaw - end[-500].yaw) / 4.99
    assert speed == pytest.approx(0.216, abs=0.01)
    assert sign * speed / rate == pytest.approx(7.4, abs=0.6)


def test_the_mast_folds_a_tenth_of_a_second_behind_its_trajectory(
    simulation: Simulation,
) -> None:
    mast = simulation.controllers.mast
    actual = simulation.state().angles
    mast.follow(MAST, [(1.0, (1.57, -1.57, 0.0))], now=0.0, actual=actual)
    angles = [each.angles['mast_p_joint'] for each in drive(simulation, STOP, 2.0)]
    assert angles[99] == pytest.approx(1.57 - 0.157, abs=0.02)  # 1.57 rad/s, 0.1 s behind
    assert angles[-1] == pytest.approx(1.57, abs=0.01)
    assert max(angles) < 1.58


def test_two_runs_of_one_sequence_of_commands_are_the_same() -> None:
    first, second = (drive(flat()(), RIGHT, 2.0)[-1] for _ in range(2))
    assert first == second


def test_a_world_is_made_by_its_seed_and_leaves_the_first_way_free() -> None:
    world = worlds.make('relief', 3, rock_ahead_m=5.0)
    assert world.rocks == worlds.make('relief', 3, rock_ahead_m=5.0).rocks
    assert world.rocks != worlds.make('relief', 4, rock_ahead_m=5.0).rocks
    *rocks, added = world.rocks
    assert added.x == 5.0
    in_way = [r for r in rocks if abs(r.y) < worlds.LANE_HALF_M and abs(r.x) < worlds.LANE_M]
    assert not in_way
    assert world.height(0.0, 0.0) == 0.0
    assert world.heights is not None
    assert float(np.ptp(world.heights)) > 1.0


def test_the_lidar_sees_a_rock_where_it_is() -> None:
    rock = worlds.Rock(6.0, 0.0, 3.0, 3.0)
    built = build(rover.ROBOT, worlds.World((rock,)), friction=1.0)
    ranges = Simulation(built).scan()
    hit = ranges[np.isfinite(ranges)]
    assert len(hit) > 5
    assert 3.5 < hit.min() < 6.0  # its near side, from the mast


def test_the_beams_meet_the_relief_where_the_relief_is() -> None:
    world = worlds.make('relief', 0)
    place = np.array((0.0, 0.0, world.height(0.0, 0.0) + 2.2))
    bearings = np.linspace(-math.pi, math.pi, 64)
    rays = np.column_stack((np.cos(bearings), np.sin(bearings), np.full(64, -0.2)))
    rays /= np.linalg.norm(rays, axis=1)[:, None]
    ranges = world.ranges(place, rays, 20.0)
    assert np.isfinite(ranges).sum() > 50
    for ray, reach in zip(rays, ranges, strict=True):
        if math.isfinite(reach):
            x, y, z = place + ray * reach
            assert world.height(x, y) == pytest.approx(z, abs=0.03)


def test_a_folder_that_is_no_clone_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='no clone of space-ros/demos'):
        demos.find(str(tmp_path))
    nodes = tmp_path / 'curiosity_rover/curiosity_rover_demo/nodes'
    nodes.mkdir(parents=True)
    for name in demos.NODES:
        (nodes / name).touch()
    with pytest.raises(ValueError, match=r'curiosity_mars_rover\.xacro is missing'):
        demos.find(str(tmp_path))
    xacro = tmp_path / 'curiosity_rover' / demos.DESCRIPTION
    xacro.parent.mkdir(parents=True)
    xacro.touch()
    assert demos.find(str(tmp_path)) == demos.find(str(tmp_path / 'curiosity_rover'))


@pytest.mark.parametrize(
    ('name', 'value', 'why'),
    [
        ('world', 'moon', 'flat, rocks, relief'),
        ('seed', -1, 'whole number'),
        ('seed', 1.5, 'whole number'),
        ('friction', 0.0, '0.05 to 3'),
        ('time_scale', math.nan, '0.1 to 20'),
        ('e_stop', 'yes', 'true or false'),
    ],
)
def test_a_parameter_that_cannot_be_is_explained(name: str, value: object, why: str) -> None:
    with pytest.raises(ValueError, match=f'parameter {name} is .*{why}'):
        checked({name: value})
