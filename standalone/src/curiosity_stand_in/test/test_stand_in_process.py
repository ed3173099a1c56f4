# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What only a fresh process of the stand-in shows: its parameters, its clock and its end."""

from __future__ import annotations

import os
import signal
import sys
import time

from geometry_msgs.msg import Twist
from harness import Sandbox, wait_until
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import BatteryState, CompressedImage, JointState, LaserScan
from stand_in_world import (
    call,
    call_later,
    next_ones,
    ODOMETRY,
    seconds,
    set_parameters,
    wait_until_frozen,
    watch,
)
from tf2_msgs.msg import TFMessage

pytestmark = pytest.mark.ros

# Its renderer is made only once the pipe of the first argument was opened and closed again.
SLOW_RENDERER = """
import pathlib, sys
from curiosity_stand_in import body_node, stand_in_node

class Slow(body_node.Renderer):
    def __init__(self, signs):
        pathlib.Path(sys.argv[1]).read_bytes()
        super().__init__(signs)

body_node.Renderer = Slow
stand_in_node.main()
"""


def test_frames_have_leading_slashes_and_sensors_their_shapes(sandbox: Sandbox) -> None:
    sandbox.stand_in(
        initial_x=2,
        initial_y=-1.5,
        initial_yaw=1.0,
        battery=0.25,
        battery_drain_per_s=0.0,
        lidar='body',
    )
    odometry = watch(sandbox, Odometry, ODOMETRY)[-1]
    transform = watch(sandbox, TFMessage, '/tf', 100)[-1].transforms[0]
    for message in (odometry, transform):
        assert (message.header.frame_id, message.child_frame_id) == ('/odom', '/base_footprint')
        assert abs(seconds(message.header.stamp) - time.time()) < 30.0
    assert transform.transform.translation.x == 2.0
    assert odometry.pose.pose.position.y == -1.5
    ranges = np.array(watch(sandbox, LaserScan, '/scan')[-1].ranges)
    assert ranges.shape == (640,)
    assert np.isfinite(ranges).any()
    battery = watch(sandbox, BatteryState, '/battery_state')
    assert battery[-1].percentage == 0.25
    assert set_parameters(sandbox, battery=0.5) == []
    wait_until(lambda: battery[-1].percentage == 0.5, 'the battery that was set')


def test_the_sensors_go_on_while_the_first_picture_is_prepared(sandbox: Sandbox) -> None:
    pipe = sandbox.folder / 'pipe'
    os.mkfifo(pipe)
    sandbox.run([sys.executable, '-c', SLOW_RENDERER, str(pipe)], 'stand_in')
    joints = watch(sandbox, JointState, '/joint_states')
    pictures = sandbox.collect(CompressedImage, '/image_raw/compressed')
    with pipe.open('wb'):  # waits for its reader, the renderer
        next_ones(joints, 100, 'joint states meanwhile')
        assert pictures == []
    wait_until(lambda: pictures, 'the first picture')


def test_the_battery_drains_and_is_charged_by_a_stowed_rover(sandbox: Sandbox) -> None:
    sandbox.stand_in(time_scale=10, battery_drain_per_s=0.05, battery_charge_per_s=0.1)
    battery = watch(sandbox, BatteryState, '/battery_state')
    call(sandbox, '/mast_close')
    call(sandbox, '/move_forward')
    wait_until(lambda: battery[-1].percentage < 0.9, 'a driving rover to use its battery')
    assert battery[-1].power_supply_status == BatteryState.POWER_SUPPLY_STATUS_DISCHARGING
    assert set_parameters(sandbox, battery_drain_per_s=0.0, battery=0.25) == []
    wait_until(lambda: battery[-1].percentage == 0.25, 'the charge that was forced')
    call(sandbox, '/move_stop')
    charging = BatteryState.POWER_SUPPLY_STATUS_CHARGING
    wait_until(lambda: battery[-1].power_supply_status == charging, 'it to charge')
    assert set_parameters(sandbox, fault_odometry=True) == []  # does not set the charge again
    low = battery[-1].percentage
    wait_until(lambda: battery[-1].percentage > low + 0.1, 'the charge to rise')
    full = BatteryState.POWER_SUPPLY_STATUS_FULL
    wait_until(lambda: battery[-1].power_supply_status == full, 'the full charge')
    assert battery[-1].percentage == 1.0


def test_the_clock_runs_at_the_time_scale(sandbox: Sandbox) -> None:
    sandbox.stand_in(time_scale=8, publish_clock=True)
    received: list[tuple[float, float]] = []
    sandbox.node.create_subscription(
        Clock, '/clock', lambda m: received.append((time.monotonic(), seconds(m.clock))), 10
    )
    wait_until(lambda: len(received) > 30, '30 ticks of the clock')
    assert 0.0 <= received[0][1] < 8 * 20.0  # it began with the process
    wall = received[-1][0] - received[0][0]
    assert (received[-1][1] - received[0][1]) / wall == pytest.approx(8.0, rel=0.15)
    assert [sim for _, sim in received] == sorted(sim for _, sim in received)
    stamp = watch(sandbox, Odometry, ODOMETRY)[-1].header.stamp
    assert abs(seconds(stamp) - received[-1][1]) < 8 * 5.0


def test_a_bad_parameter_at_the_start_is_one_line_and_status_2(sandbox: Sandbox) -> None:
    process = sandbox.stand_in(fault_services=['fly:hang'])
    wait_until(lambda: not process.alive, 'the process to end')
    assert process.popen.returncode == 2
    (line,) = process.output().splitlines()
    assert line.startswith("stand_in_node: parameter fault_services is ['fly:hang']: ")


@pytest.mark.parametrize('signum', [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_on_a_signal_although_it_hangs(sandbox: Sandbox, signum: int) -> None:
    process = sandbox.stand_in(time_scale=5)
    set_parameters(sandbox, fault_services=['move_stop:hang', 'mast_open:late:300'])
    twists = sandbox.collect(Twist, '/cmd_vel')
    call(sandbox, '/move_forward')
    wait_until(lambda: len(twists) > 2, 'the rover to drive')
    call_later(sandbox, '/move_stop')
    call_later(sandbox, '/mast_open')
    wait_until_frozen(twists, watch(sandbox, Odometry, ODOMETRY))
    started = time.monotonic()
    assert process.kill(signum) == 0
    assert time.monotonic() - started < 5.0
    assert 'Traceback' not in process.output()
