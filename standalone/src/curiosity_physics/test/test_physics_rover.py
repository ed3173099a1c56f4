# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Our own rover in MuJoCo, its controllers, and the stand-in's body against records of the demo's.

``standalone/physics/record_drives.py --demos`` makes the records: the same services at the same
times. No ROS, no camera, always the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import csv
import functools
from itertools import pairwise
import math
from pathlib import Path

from curiosity_physics import demos, worlds
from curiosity_physics.drivers import WheelDriver
from curiosity_physics.model import build
from curiosity_physics.settings import PARAMETERS
from curiosity_physics.simulation import Simulation, State
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_stand_in.drivers import DemoRover
from curiosity_stand_in.kinematics import FORWARD, LEFT, RIGHT
from curiosity_stand_in.robot import own
from curiosity_stand_in.settings import checked
from harness import Sandbox, wait_until
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CompressedImage, JointState, LaserScan
from std_srvs.srv import Empty
from tf2_msgs.msg import TFMessage

STILL_MPS = 0.02
STOP = (0.0, 0.0)
Twist = tuple[float, float]  # linear.x, angular.z
# --- the rover in MuJoCo ------------------------------------------------------------------------


def drive(simulation: Simulation, twist: Twist, seconds: float) -> list[State]:
    """A state of each control period, with move_wheel at 10 Hz."""
    driver, states = WheelDriver(simulation.controllers), []
    for period in range(round(100 * seconds)):
        if period % 10 == 0:
            state = simulation.state()
            driver.drive(*twist)
            driver.tick(state.seconds, state.angles)
        simulation.advance()
        states.append(simulation.state())
    return states


@functools.cache
def flat() -> Callable[..., Simulation]:
    built = build(own(), worlds.make('flat', 0), friction=1.0)
    return functools.partial(Simulation, built)


def test_it_drives_straight_at_half_a_metre_a_second_and_rocks_after_a_stop() -> None:
    simulation = flat()()
    end = drive(simulation, FORWARD, 10.0)
    assert end[-1].place[:2] == pytest.approx((4.95, 0.0), abs=0.15)
    assert np.mean([each.forward for each in end[-300:]]) == pytest.approx(0.494, abs=0.01)
    assert np.mean([each.roll_pitch[1] for each in end[-300:]]) == pytest.approx(-0.124, abs=0.02)
    after = drive(simulation, STOP, 2.0)
    assert min(each.forward for each in after) < -0.1  # it rolls back
    assert all(math.hypot(*each.velocity[:2]) < STILL_MPS for each in after[60:])


@pytest.mark.parametrize(('twist', 'sign'), [(LEFT, 1), (RIGHT, -1)])
def test_it_turns_on_seven_and_a_half_metres_each_time_the_same(twist: Twist, sign: int) -> None:
    end = drive(flat()(), twist, 10.0)
    speed = np.mean([each.forward for each in end[-500:]])
    rate = (end[-1].yaw - end[-500].yaw) / 4.99
    assert speed == pytest.approx(0.216, abs=0.01)
    assert sign * speed / rate == pytest.approx(7.4, abs=0.6)
    assert drive(flat()(), twist, 2.0)[-1] == end[199]


def test_what_cannot_be_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='no clone of space-ros/demos'):
        demos.find(str(tmp_path))
    for name, value, why in (
        ('world', 'moon', 'flat, rocks, relief'),
        ('seed', 1.5, 'whole number'),
        ('friction', 0.0, '0.05 to 3'),
        ('time_scale', math.nan, '0.1 to 20'),
        ('e_stop', 'yes', 'true or false'),
    ):
        with pytest.raises(ValueError, match=f'parameter {name} is .*{why}'):
            checked({name: value}, PARAMETERS)


# --- the stand-in against the records -----------------------------------------------------------

DRIVES = {'forward': 'move_forward', 'left': 'turn_left', 'right': 'turn_right'}
CALLED_S, STOPPED_S = 1.0, 11.0
MAST_CALLS = {1.0: 'mast_close', 4.0: 'mast_open', 7.0: 'mast_rotate'}
PLACE_M = 0.25  # 5 % of the straight drive; records of other phases of the timers differ by 2 %
Row = Mapping[str, float]


def recorded(name: str) -> list[Row]:
    with (Path(__file__).parent / f'recordings/{name}.csv').open() as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def replayed(rows: list[Row], calls: Mapping[float, str]) -> list[Row]:
    """What the body does at the times of the rows when the same services are called."""
    body = DemoRover(load_config().thresholds)
    waiting, result = sorted(calls.items()), []
    for row in rows:
        while waiting and waiting[0][0] <= row['t']:
            body.advance_to(waiting[0][0])
            body.call(waiting.pop(0)[1])
        state = body.advance_to(row['t'])
        pose = state.pose
        result.append({
            't': row['t'], 'x': pose.x, 'y': pose.y, 'yaw': pose.yaw, 'pitch': pose.pitch,
            'forward': state.velocity.forward, 'turn': state.velocity.turn,
            'mast_p': state.joints.fold, 'mast_02': state.joints.yaw,
        })  # fmt: skip
    return result


def steady(rows: list[Row]) -> list[Row]:
    """The second half of the drive, when the wheels are steered."""
    return [row for row in rows if 6.0 <= row['t'] <= STOPPED_S]


def radius(rows: list[Row]) -> float:
    way = sum(math.dist((a['x'], a['y']), (b['x'], b['y'])) for a, b in pairwise(steady(rows)))
    turned = steady(rows)[-1]['yaw'] - steady(rows)[0]['yaw']
    return way / turned if abs(turned) > 0.1 else math.inf


def moving(rows: list[Row]) -> list[float]:
    return [row['t'] for row in rows if abs(row['forward']) > STILL_MPS]


MANNERS: list[tuple[str, Callable[[list[Row]], float], float]] = [
    ('m/s', lambda rows: float(np.mean([row['forward'] for row in steady(rows)])), 0.01),
    ('radius, m', radius, 0.6),
    ('s to the start', lambda rows: moving(rows)[0] - CALLED_S, 0.25),
    ('s from the stop to the stand', lambda rows: moving(rows)[-1] - STOPPED_S, 0.3),
    ('pitch, rad', lambda rows: float(np.mean([row['pitch'] for row in steady(rows)])), 0.02),
    ('m/s back', lambda rows: min(row['forward'] for row in rows), 0.075),
]


@pytest.mark.parametrize('name', DRIVES)
def test_the_body_drives_as_the_recorded_rover(name: str) -> None:
    record = recorded(name)
    body = replayed(record, {CALLED_S: DRIVES[name], STOPPED_S: 'move_stop'})
    start = record[0]
    for there, here in zip(record, body, strict=True):
        off = math.hypot(there['x'] - start['x'] - here['x'], there['y'] - start['y'] - here['y'])
        assert off < PLACE_M, there['t']
        assert abs(there['yaw'] - here['yaw']) < 0.05, there['t']
    manners = MANNERS if name == 'forward' else MANNERS[:4]
    found = [(what, measure(body), measure(record), within) for what, measure, within in manners]
    assert [row for row in found if row[1] != pytest.approx(row[2], abs=row[3])] == []
    mast = recorded('mast')
    for there, here in zip(mast, replayed(mast, MAST_CALLS), strict=True):
        for joint in ('mast_p', 'mast_02'):
            assert abs(there[joint] - here[joint]) < 0.1, (joint, there['t'])


# --- the node as a process -----------------------------------------------------------------------


ODOMETRY = '/model/curiosity_mars_rover/odometry'
READY_S = 60.0


@pytest.mark.ros
def test_our_own_rover_drives_looks_and_stops(sandbox: Sandbox) -> None:
    sandbox.start('curiosity_physics', 'physics_node', world='rocks', time_scale=2.0)
    odometry = sandbox.collect(Odometry, ODOMETRY)
    joints = sandbox.collect(JointState, '/joint_states')
    scans = sandbox.collect(LaserScan, '/scan')
    frames = sandbox.collect(TFMessage, '/tf')
    clock = sandbox.collect(Clock, '/clock')
    pictures = sandbox.collect(CompressedImage, '/image_raw/compressed')
    sandbox.call(Empty, '/mast_close', timeout_s=READY_S)
    sandbox.call(Empty, '/move_forward')
    wait_until(lambda: odometry and odometry[-1].pose.pose.position.x > 1.0, 'a metre', READY_S)
    sandbox.call(Empty, '/move_stop')
    wait_until(lambda: abs(odometry[-1].twist.twist.linear.x) < 0.02, 'the rover to stand')
    wait_until(lambda: scans and pictures and clock, 'scan, picture and clock', READY_S)

    last = odometry[-1]
    assert (last.header.frame_id, last.child_frame_id) == ('/odom', '/base_footprint')
    assert last.pose.pose.position.z == 0.0
    assert last.pose.pose.orientation.y < 0.0  # nose up
    at = dict(zip(joints[-1].name, joints[-1].position, strict=True))
    rates = dict(zip(joints[-1].name, joints[-1].velocity, strict=True))
    assert at['mast_p_joint'] == pytest.approx(1.57, abs=0.02)
    assert at['front_wheel_L_joint'] > 3.0
    assert at['front_wheel_R_joint'] < -3.0
    assert math.isnan(rates['front_wheel_L_joint'])  # the URDF declares no velocity for it
    assert rates['mast_p_joint'] == pytest.approx(0.0, abs=0.05)
    assert (scans[-1].header.frame_id, len(scans[-1].ranges)) == ('lidar_link', 640)
    assert {each.child_frame_id for each in frames[-1].transforms} >= {
        '/base_footprint', 'mast_p', 'mast_02', 'mast_cameras', 'front_wheel_L',
    }  # fmt: skip
    assert bytes(pictures[-1].data[:2]) == b'\xff\xd8'
