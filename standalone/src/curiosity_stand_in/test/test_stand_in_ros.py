# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The stand-in as a process, seen from outside."""

from __future__ import annotations

from collections.abc import Callable
import math
import signal
import time
from typing import Any

from curiosity_stand_in.settings import PARAMETERS
import cv2
from geometry_msgs.msg import Twist
from harness import Process, Sandbox, wait_until
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rcl_interfaces.srv import DescribeParameters, SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import BatteryState, CompressedImage, Image, JointState, LaserScan
from std_msgs.msg import Bool
from std_srvs.srv import Empty
from tf2_msgs.msg import TFMessage

pytestmark = pytest.mark.ros

ODOMETRY = '/model/curiosity_mars_rover/odometry'
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SERVICES = {
    '/move_forward',
    '/turn_left',
    '/turn_right',
    '/move_stop',
    '/mast_open',
    '/mast_close',
    '/mast_rotate',
}


def set_parameters(sandbox: Sandbox, **values: Any) -> list[str]:
    """Change parameters of the stand-in; the reasons of those that were refused."""
    request = SetParameters.Request(
        parameters=[
            Parameter(name, value=value).to_parameter_msg() for name, value in values.items()
        ]
    )
    response = sandbox.call(SetParameters, '/curiosity_stand_in/set_parameters', request)
    return [result.reason for result in response.results if not result.successful]


def call(sandbox: Sandbox, name: str) -> float:
    """Call one of the rover's services; the seconds it took to answer."""
    client = sandbox.node.create_client(Empty, name)
    assert client.wait_for_service(timeout_sec=20.0), f'{name} did not appear'
    started = time.monotonic()
    sandbox.call(Empty, name)
    took = time.monotonic() - started
    sandbox.node.destroy_client(client)
    return took


def call_later(sandbox: Sandbox, name: str) -> Any:
    """A future of a call that need not be answered."""
    client = sandbox.node.create_client(Empty, name)
    assert client.wait_for_service(timeout_sec=20.0), f'{name} did not appear'
    return client.call_async(Empty.Request())


def watch(sandbox: Sandbox, msg_type: type, topic: str, qos: Any = 10) -> list[Any]:
    """Messages of a topic, once the first has arrived."""
    messages: list[Any] = sandbox.collect(msg_type, topic, qos)
    wait_until(lambda: messages, f'a message on {topic}')
    return messages


def next_ones(messages: list[Any], count: int, what: str = 'more messages') -> list[Any]:
    seen = len(messages)
    wait_until(lambda: len(messages) >= seen + count, what)
    return messages[seen : seen + count]


def wait_until_frozen(twists: list[Any], odometry: list[Any]) -> None:
    """Until no Twist is repeated any more while the odometry, which is as frequent, goes on."""

    def frozen() -> bool:
        count = len(twists)
        next_ones(odometry, 10)
        return len(twists) == count

    wait_until(frozen, 'the repeated Twist to end')


def seconds(stamp: Any) -> float:
    return float(stamp.sec + stamp.nanosec * 1e-9)


def angle(message: JointState, name: str) -> float:
    return float(message.position[message.name.index(name)])


def x_of(odometry: Odometry) -> float:
    return float(odometry.pose.pose.position.x)


def decoded(message: CompressedImage) -> Any:
    return cv2.imdecode(np.frombuffer(bytes(message.data), np.uint8), cv2.IMREAD_COLOR)


def test_it_says_what_it_is_and_offers_the_demos_nodes_and_services(sandbox: Sandbox) -> None:
    process = sandbox.stand_in()
    wait_until(lambda: 'This is the stand-in rover' in process.output(), 'its first log line')

    def services() -> set[str]:
        found = sandbox.node.get_service_names_and_types()
        return {name for name, types in found if types == ['std_srvs/srv/Empty']}

    wait_until(lambda: services() == SERVICES, 'exactly the seven services')
    nodes = {'run_node', 'mast_node', 'curiosity_stand_in'}
    wait_until(lambda: nodes <= set(sandbox.node.get_node_names()), 'the three nodes')


def test_move_services_answer_at_once_and_the_rover_drives_until_the_stop(
    sandbox: Sandbox,
) -> None:
    sandbox.stand_in(time_scale=10)
    odometry = watch(sandbox, Odometry, ODOMETRY)
    twists = sandbox.collect(Twist, '/cmd_vel')
    assert call(sandbox, '/move_forward') < 1.0
    wait_until(lambda: x_of(odometry[-1]) > 3.0, 'the rover to come far without another call')
    assert odometry[-1].twist.twist.linear.x == pytest.approx(0.5)
    call(sandbox, '/move_stop')
    wait_until(lambda: odometry[-1].twist.twist.linear.x == 0.0, 'the rover to stand')
    wait_until(lambda: twists[-1].linear.x == 0.0, 'the zero')
    count = len(twists)
    rest = next_ones(odometry, 10)
    assert x_of(rest[0]) == x_of(rest[-1])
    assert len(twists) == count  # the zero came once
    assert [twist.linear.x for twist in twists[-2:]] == [2.0, 0.0]


@pytest.mark.parametrize(('service', 'side'), [('/turn_left', 1.0), ('/turn_right', -1.0)])
def test_a_turn_is_an_arc_of_two_and_a_half_metres(
    sandbox: Sandbox, service: str, side: float
) -> None:
    sandbox.stand_in(time_scale=10)
    odometry = watch(sandbox, Odometry, ODOMETRY)
    call(sandbox, service)
    wait_until(lambda: odometry[-1].twist.twist.angular.z != 0.0, 'the rover to turn')
    velocity = odometry[-1].twist.twist
    assert velocity.linear.x / velocity.angular.z == pytest.approx(side * 2.5)
    wait_until(lambda: side * odometry[-1].pose.pose.position.y > 1.0, 'the arc to lead aside')
    place = odometry[-1].pose.pose.position
    assert math.hypot(place.x, place.y - side * 2.5) == pytest.approx(2.5)


def test_the_wheels_keep_the_last_twist_of_anyone(sandbox: Sandbox) -> None:
    sandbox.stand_in(time_scale=10)
    odometry = watch(sandbox, Odometry, ODOMETRY)
    publisher = sandbox.node.create_publisher(Twist, '/cmd_vel', 10)
    wait_until(lambda: publisher.get_subscription_count() > 0, 'the wheels to listen')
    twist = Twist()
    twist.linear.x = -1.0
    publisher.publish(twist)
    wait_until(lambda: x_of(odometry[-1]) < -1.0, 'one Twist to move it')
    twist.linear.x = math.nan
    publisher.publish(twist)
    wait_until(lambda: x_of(odometry[-1]) < -4.0, 'it to go on after a Twist of NaN')
    spot = Twist()
    spot.angular.z = 1.0
    publisher.publish(spot)
    wait_until(lambda: odometry[-1].twist.twist.linear.x == 0.0, 'the rover to stand')
    assert odometry[-1].twist.twist.angular.z == 0.0


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


def test_the_e_stop_button_is_told_to_late_listeners_and_stops_no_wheels(
    sandbox: Sandbox,
) -> None:
    sandbox.stand_in(time_scale=5)
    early = watch(sandbox, Bool, '/e_stop', LATCHED)
    assert [message.data for message in early] == [False]
    odometry = watch(sandbox, Odometry, ODOMETRY)
    call(sandbox, '/move_forward')
    wait_until(lambda: x_of(odometry[-1]) > 0.1, 'the rover to drive')
    assert set_parameters(sandbox, e_stop=True) == []
    assert set_parameters(sandbox, fault_tf_lost=True) == []
    late = watch(sandbox, Bool, '/e_stop', LATCHED)
    assert late[0].data
    place = x_of(odometry[-1])
    wait_until(lambda: x_of(odometry[-1]) > place + 1.0, 'the wheels to go on')
    assert set_parameters(sandbox, e_stop=False) == []
    wait_until(lambda: not early[-1].data, 'the button to be released')
    assert [message.data for message in early] == [False, True, False]


def test_the_mast_closes_in_one_second_of_the_rovers_time(sandbox: Sandbox) -> None:
    sandbox.stand_in(time_scale=5, publish_clock=True)
    joints = watch(sandbox, JointState, '/joint_states')
    assert angle(joints[-1], 'mast_p_joint') == 0.0  # raised at the start
    call(sandbox, '/mast_close')
    wait_until(lambda: angle(joints[-1], 'mast_p_joint') == 1.57, 'the mast to close')
    moving = [m for m in joints if 0.0 < angle(m, 'mast_p_joint') < 1.57]
    first, last = seconds(moving[0].header.stamp), seconds(moving[-1].header.stamp)
    assert last - first < 1.0
    # Every moment in between lies on the straight line.
    for message in moving:
        part = angle(message, 'mast_p_joint') / 1.57
        assert angle(message, 'mast_02_joint') == pytest.approx(-1.57 * part)
        began = first - angle(moving[0], 'mast_p_joint') / 1.57
        assert seconds(message.header.stamp) - began == pytest.approx(part, abs=0.01)
    call(sandbox, '/mast_open')
    wait_until(lambda: angle(joints[-1], 'mast_02_joint') == -0.5, 'the mast to open')
    assert angle(joints[-1], 'mast_p_joint') == 0.0


def test_rotating_answers_at_once_takes_six_seconds_and_raises_a_closed_mast(
    sandbox: Sandbox,
) -> None:
    sandbox.stand_in(time_scale=5, publish_clock=True, initial_mast='closed')
    joints = watch(sandbox, JointState, '/joint_states')
    assert angle(joints[-1], 'mast_p_joint') == 1.57
    assert call(sandbox, '/mast_rotate') < 1.0
    wait_until(lambda: angle(joints[-1], 'mast_02_joint') == -6.28, 'the whole turn')
    moving = [m for m in joints if -6.28 < angle(m, 'mast_02_joint') < -1.58]
    # The turn passes -1.57 two seconds after the start, and takes four more.
    assert seconds(moving[-1].header.stamp) - seconds(moving[0].header.stamp) < 4.0
    assert all(angle(m, 'mast_p_joint') == 0.0 for m in moving)
    later = [m for m in moving if angle(m, 'mast_02_joint') < -3.15]
    speed = angle(later[-1], 'mast_02_joint') - angle(later[0], 'mast_02_joint')
    speed /= seconds(later[-1].header.stamp) - seconds(later[0].header.stamp)
    assert speed == pytest.approx(-1.57, rel=0.02)


@pytest.mark.parametrize(
    ('fault', 'msg_type', 'topic'),
    [
        ('fault_tf_lost', TFMessage, '/tf'),
        ('fault_joint_states', JointState, '/joint_states'),
        ('fault_odometry', Odometry, ODOMETRY),
        ('fault_battery', BatteryState, '/battery_state'),
        ('fault_scan', LaserScan, '/scan'),
    ],
)
def test_a_missing_topic_comes_back(
    sandbox: Sandbox, fault: str, msg_type: type, topic: str
) -> None:
    sandbox.stand_in(time_scale=5)
    other = (Odometry, ODOMETRY) if msg_type is LaserScan else (LaserScan, '/scan')
    others: list[Any] = watch(sandbox, *other)
    messages = watch(sandbox, msg_type, topic)
    assert set_parameters(sandbox, **{fault: True}) == []
    next_ones(others, 3)  # what was on its way has arrived
    count = len(messages)
    next_ones(others, 15, 'the other sensors to go on')
    assert len(messages) == count
    assert set_parameters(sandbox, **{fault: False}) == []
    next_ones(messages, 1, f'{topic} to come back')


def test_transforms_can_turn_into_nan(sandbox: Sandbox) -> None:
    sandbox.stand_in(time_scale=5, fault_tf_nan=True)
    transforms = watch(sandbox, TFMessage, '/tf', 100)
    assert math.isnan(transforms[-1].transforms[0].transform.translation.x)
    set_parameters(sandbox, fault_tf_nan=False)
    wait_until(
        lambda: transforms[-1].transforms[0].transform.translation.x == 0.0, 'a sound transform'
    )


def test_the_picture_changes_with_the_rover_and_with_the_mast(sandbox: Sandbox) -> None:
    sandbox.stand_in(time_scale=5, initial_mast='open')
    pictures = watch(sandbox, CompressedImage, '/image_raw/compressed')
    first = decoded(pictures[-1])
    assert first.shape == (800, 800, 3)
    assert (decoded(next_ones(pictures, 2)[-1]) == first).all()

    def differs(message: CompressedImage) -> bool:
        return bool(np.abs(decoded(message).astype(int) - first).mean() > 5.0)

    call(sandbox, '/move_forward')
    wait_until(lambda: differs(pictures[-1]), 'another view while driving')
    call(sandbox, '/move_stop')
    call(sandbox, '/mast_close')
    deck = np.array([[0.25, 0.5, 0.25]])

    def shows_the_deck(message: CompressedImage) -> bool:
        grey = (decoded(message)[300:, 300:] @ deck[0]).mean()
        return bool(grey > 130.0)

    wait_until(lambda: shows_the_deck(pictures[-1]), 'the deck below the stowed mast')
    raw = watch(sandbox, Image, '/image_raw')[-1]
    assert (raw.encoding, raw.width, raw.height, len(raw.data)) == ('rgb8', 800, 800, 1_920_000)
    pixels = np.frombuffer(bytes(raw.data), np.uint8).reshape(800, 800, 3)
    same_view = decoded(next_ones(pictures, 1)[-1])[..., ::-1]
    assert np.abs(pixels.astype(int) - same_view).mean() < 6.0  # JPEG is lossy


def test_pictures_can_be_corrupt_or_stop(sandbox: Sandbox) -> None:
    sandbox.stand_in(time_scale=5, fault_image='corrupt')
    pictures = watch(sandbox, CompressedImage, '/image_raw/compressed')
    assert decoded(pictures[-1]) is None
    raw = watch(sandbox, Image, '/image_raw')
    assert len(raw[-1].data) < raw[-1].step * raw[-1].height
    set_parameters(sandbox, fault_image='none')
    wait_until(lambda: decoded(pictures[-1]) is not None, 'a sound picture')
    set_parameters(sandbox, fault_image='stopped')
    scans = watch(sandbox, LaserScan, '/scan')
    next_ones(scans, 3)
    count = len(pictures)
    next_ones(scans, 20)
    assert len(pictures) == count


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


def test_a_hanging_stop_freezes_its_node_and_the_rover_drives_on(sandbox: Sandbox) -> None:
    sandbox.stand_in(time_scale=5)
    odometry = watch(sandbox, Odometry, ODOMETRY)
    twists = sandbox.collect(Twist, '/cmd_vel')
    assert set_parameters(sandbox, fault_services=['move_stop:hang']) == []
    call(sandbox, '/move_forward')
    wait_until(lambda: len(twists) > 3, 'the repeated Twist')
    stop = call_later(sandbox, '/move_stop')
    call(sandbox, '/mast_close')  # another node is not touched
    wait_until_frozen(twists, odometry)
    turn = call_later(sandbox, '/turn_left')  # waits behind the stop
    count, place = len(twists), x_of(odometry[-1])
    wait_until(lambda: x_of(odometry[-1]) > place + 1.0, 'the rover to go on')
    assert len(twists) == count
    assert not stop.done()
    assert not turn.done()
    set_parameters(sandbox, fault_services=[''])
    wait_until(lambda: stop.done() and turn.done(), 'both answers after the thaw')
    wait_until(lambda: odometry[-1].twist.twist.angular.z > 0.0, 'the turn that had waited')


def test_a_late_service_answers_and_moves_only_after_its_delay(sandbox: Sandbox) -> None:
    sandbox.stand_in(time_scale=10, fault_services=['mast_close:late:0.8'])
    joints = watch(sandbox, JointState, '/joint_states')
    closed = call_later(sandbox, '/mast_close')
    started = time.monotonic()
    before = next_ones(joints, 10)
    assert {angle(message, 'mast_p_joint') for message in before} == {0.0}
    wait_until(closed.done, 'the late answer')
    assert time.monotonic() - started > 0.7
    wait_until(lambda: angle(joints[-1], 'mast_p_joint') == 1.57, 'the mast to close')


def test_an_absent_service_is_gone_until_the_fault_is_cleared(sandbox: Sandbox) -> None:
    sandbox.stand_in(fault_services=['move_forward:absent'])
    client = sandbox.node.create_client(Empty, '/move_forward')
    stop = sandbox.node.create_client(Empty, '/mast_open')
    wait_until(stop.service_is_ready, 'the other services')
    assert not client.service_is_ready()
    set_parameters(sandbox, fault_services=['mast_open:absent'])
    wait_until(client.service_is_ready, '/move_forward to come back')
    wait_until(lambda: not stop.service_is_ready(), '/mast_open to go')
    call(sandbox, '/move_forward')
    odometry = watch(sandbox, Odometry, ODOMETRY)
    wait_until(lambda: x_of(odometry[-1]) > 0.0, 'the service to work')


@pytest.mark.parametrize(
    ('parameter', 'value', 'reason'),
    [
        ('time_scale', 1000, 'from 0.1 to 100'),
        ('initial_mast', 'shut', 'zero, open, closed'),
        ('fault_services', ['fly:hang'], "'fly:hang'"),
        ('publish_clock', 'maybe', 'true or false'),
    ],
)
def test_a_bad_parameter_at_the_start_is_one_line_and_status_2(
    sandbox: Sandbox, parameter: str, value: Any, reason: str
) -> None:
    process = sandbox.stand_in(**{parameter: value})
    wait_until(lambda: not process.alive, 'the process to end')
    assert process.popen.returncode == 2
    (line,) = process.output().splitlines()
    assert line.startswith(f'stand_in_node: parameter {parameter} is ')
    assert reason in line


def test_a_bad_parameter_later_is_refused_with_a_reason_and_changes_nothing(
    sandbox: Sandbox,
) -> None:
    sandbox.stand_in(battery=0.75, battery_drain_per_s=0.0)
    assert 'Min: 0.0, Max: 1.0, value: 2.0' in set_parameters(sandbox, battery=2.0)[0]
    assert 'from 0 to 1' in set_parameters(sandbox, battery=2)[0]  # a range binds one type
    assert 'none, stopped, corrupt' in set_parameters(sandbox, fault_image='black')[0]
    assert 'hang, late, absent' in set_parameters(sandbox, fault_services=['move_stop:no'])[0]
    assert 'read-only' in set_parameters(sandbox, time_scale=2.0)[0]
    assert watch(sandbox, BatteryState, '/battery_state')[-1].percentage == 0.75
    assert call(sandbox, '/move_stop') < 1.0


def test_the_numbers_are_declared_with_their_ranges(sandbox: Sandbox) -> None:
    sandbox.stand_in()
    names = [name for name, parameter in PARAMETERS.items() if parameter.range]
    request = DescribeParameters.Request(names=names)
    response = sandbox.call(DescribeParameters, '/curiosity_stand_in/describe_parameters', request)
    declared = {
        each.name: (each.floating_point_range[0].from_value, each.floating_point_range[0].to_value)
        for each in response.descriptors
    }
    assert declared == {name: PARAMETERS[name].range for name in names}
    assert declared['battery'] == (0.0, 1.0)


def end_quickly(process: Process, signum: int) -> None:
    started = time.monotonic()
    assert process.kill(signum) == 0
    assert time.monotonic() - started < 5.0
    assert 'Traceback' not in process.output()


@pytest.mark.parametrize('signum', [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    'prepare',
    [
        pytest.param(lambda box: call(box, '/move_forward'), id='driving'),
        pytest.param(lambda box: _hang(box), id='hanging'),
    ],
)
def test_it_ends_cleanly_on_a_signal(
    sandbox: Sandbox, signum: int, prepare: Callable[[Sandbox], Any]
) -> None:
    process = sandbox.stand_in(time_scale=5)
    prepare(sandbox)
    end_quickly(process, signum)


def _hang(sandbox: Sandbox) -> None:
    set_parameters(sandbox, fault_services=['move_stop:hang', 'mast_open:late:300'])
    twists = sandbox.collect(Twist, '/cmd_vel')
    call(sandbox, '/move_forward')
    wait_until(lambda: len(twists) > 2, 'the rover to drive')
    call_later(sandbox, '/move_stop')
    call_later(sandbox, '/mast_open')
    wait_until_frozen(twists, watch(sandbox, Odometry, ODOMETRY))
