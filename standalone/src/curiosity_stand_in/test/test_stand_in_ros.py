# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The stand-in as a process, seen from outside: one for all the tests of this module."""

from __future__ import annotations

from collections.abc import Iterator
import math
import time
from typing import Any

from curiosity_rosa_demo.infra.config_loader import load_config
from geometry_msgs.msg import Twist
from harness import Process, Sandbox, wait_until
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from sensor_msgs.msg import BatteryState, CompressedImage, Image, JointState, LaserScan
from stand_in_world import (
    angle,
    call,
    call_later,
    decoded,
    LATCHED,
    next_ones,
    ODOMETRY,
    pitch_of,
    reset,
    set_parameters,
    stops,
    wait_until_frozen,
    wait_until_still,
    watch,
)
from std_msgs.msg import Bool, Float64MultiArray
from std_srvs.srv import Empty
from tf2_msgs.msg import TFMessage

pytestmark = pytest.mark.ros

THRESHOLDS = load_config().thresholds
BODY, RADIUS_M = THRESHOLDS.body, THRESHOLDS.obstacles.turn_radius_m
SERVICES = {
    '/open_arm',
    '/close_arm',
    '/move_forward',
    '/turn_left',
    '/turn_right',
    '/move_stop',
    '/mast_open',
    '/mast_close',
    '/mast_rotate',
}


class Way:
    """Where the rover is, seen from where it stood before, metres."""

    def __init__(self, odometry: list[Odometry]) -> None:
        self._odometry = odometry
        pose = odometry[-1].pose.pose
        self._start = pose.position
        self._yaw = 2 * math.atan2(pose.orientation.z, pose.orientation.w)

    def point(self) -> tuple[float, float]:
        """Ahead and to the left."""
        here = self._odometry[-1].pose.pose.position
        x, y = here.x - self._start.x, here.y - self._start.y
        cos, sin = math.cos(self._yaw), math.sin(self._yaw)
        return x * cos + y * sin, y * cos - x * sin

    @property
    def ahead(self) -> float:
        return self.point()[0]


@pytest.fixture(scope='module')
def running() -> Iterator[tuple[Sandbox, Process]]:
    with Sandbox() as box:
        yield box, box.stand_in(time_scale=5, publish_clock=True, initial_mast='open')


@pytest.fixture
def box(running: tuple[Sandbox, Process]) -> Iterator[Sandbox]:
    """The module's rover, sound and standing somewhere with its mast open."""
    sandbox, process = running
    assert process.alive, process.output()
    reset(sandbox)
    with sandbox.lent():
        yield sandbox


def test_it_says_what_it_is_and_offers_the_demos_nodes_and_services(
    box: Sandbox, running: tuple[Sandbox, Process]
) -> None:
    _, process = running
    wait_until(lambda: 'This is the stand-in rover' in process.output(), 'its first log line')

    def services() -> set[str]:
        found = box.node.get_service_names_and_types()
        return {name for name, types in found if types == ['std_srvs/srv/Empty']}

    wait_until(lambda: services() == SERVICES, 'exactly its services')
    nodes = {'run_node', 'mast_node', 'arm_node', 'curiosity_stand_in'}
    wait_until(lambda: nodes <= set(box.node.get_node_names()), 'its nodes')


def test_move_services_answer_at_once_and_the_rover_drives_until_the_stop(box: Sandbox) -> None:
    odometry = watch(box, Odometry, ODOMETRY)
    way = Way(odometry)
    twists = box.collect(Twist, '/cmd_vel')
    assert call(box, '/move_forward') < 1.0
    wait_until(lambda: way.ahead > 3.0, 'the rover to come far without another call')
    assert odometry[-1].twist.twist.linear.x == pytest.approx(BODY.forward_mps)
    assert pitch_of(odometry[-1]) == pytest.approx(BODY.driving_pitch_rad)
    call(box, '/move_stop')
    stopped = len(odometry)
    wait_until_still(odometry)
    # It rocked: it rolled back before it stood. At this time scale not every message sees it.
    assert min(each.twist.twist.linear.x for each in odometry[stopped:]) <= 0.0
    assert BODY.standing_pitch_rad < pitch_of(odometry[-1]) < BODY.driving_pitch_rad
    wait_until(lambda: twists[-1].linear.x == 0.0, 'the zero')
    count = len(twists)
    rest = next_ones(odometry, 10)
    assert rest[0].pose.pose == rest[-1].pose.pose
    assert len(twists) == count  # the zero came once
    assert [twist.linear.x for twist in twists[-2:]] == [2.0, 0.0]


def test_the_wheels_keep_the_last_twist_of_anyone(box: Sandbox) -> None:
    odometry = watch(box, Odometry, ODOMETRY)
    way = Way(odometry)
    publisher = box.node.create_publisher(Twist, '/cmd_vel', 10)
    wait_until(lambda: publisher.get_subscription_count() > 0, 'the wheels to listen')
    twist = Twist()
    twist.linear.x = -1.0
    publisher.publish(twist)
    wait_until(lambda: way.ahead < -1.0, 'one Twist to move it')
    twist.linear.x = math.nan
    publisher.publish(twist)
    wait_until(lambda: way.ahead < -4.0, 'it to go on after a Twist of NaN')
    spot = Twist()
    spot.angular.z = 1.0
    publisher.publish(spot)
    wait_until_still(odometry)


def test_without_its_wheel_node_only_zeros_for_each_wheel_stop_the_rover(box: Sandbox) -> None:
    odometry = watch(box, Odometry, ODOMETRY)
    way = Way(odometry)
    publisher = box.node.create_publisher(
        Float64MultiArray, '/wheel_velocity_controller/commands', 10
    )
    wait_until(lambda: publisher.get_subscription_count() > 0, 'the controller to listen')
    call(box, '/move_forward')
    wait_until(lambda: way.ahead > 0.5, 'the rover to drive')
    assert set_parameters(box, fault_wheel_node=True) == []
    call(box, '/move_stop')
    publisher.publish(Float64MultiArray(data=[0.0] * 5))
    here = way.ahead
    wait_until(lambda: way.ahead > here + 3.0, 'the rover to drive on')
    publisher.publish(Float64MultiArray(data=[0.0] * 6))
    wait_until_still(odometry)


def test_the_e_stop_button_is_told_to_late_listeners_and_stops_no_wheels(box: Sandbox) -> None:
    early = watch(box, Bool, '/e_stop', LATCHED)
    assert [message.data for message in early] == [False]
    way = Way(watch(box, Odometry, ODOMETRY))
    call(box, '/move_forward')
    wait_until(lambda: way.ahead > 0.1, 'the rover to drive')
    assert set_parameters(box, e_stop=True) == []
    assert set_parameters(box, fault_tf_lost=True) == []
    late = watch(box, Bool, '/e_stop', LATCHED)
    assert late[0].data
    place = way.ahead
    wait_until(lambda: way.ahead > place + 1.0, 'the wheels to go on')
    assert set_parameters(box, e_stop=False) == []
    wait_until(lambda: not early[-1].data, 'the button to be released')
    assert [message.data for message in early] == [False, True, False]


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
def test_a_missing_topic_comes_back(box: Sandbox, fault: str, msg_type: type, topic: str) -> None:
    other = (Odometry, ODOMETRY) if msg_type is LaserScan else (LaserScan, '/scan')
    others: list[Any] = watch(box, *other)
    messages = watch(box, msg_type, topic)
    assert set_parameters(box, **{fault: True}) == []
    next_ones(others, 3)  # what was on its way has arrived
    count = len(messages)
    next_ones(others, 15, 'the other sensors to go on')
    assert len(messages) == count
    assert set_parameters(box, **{fault: False}) == []
    next_ones(messages, 1, f'{topic} to come back')


def test_transforms_can_turn_into_nan(box: Sandbox) -> None:
    set_parameters(box, fault_tf_nan=True)
    transforms = watch(box, TFMessage, '/tf', 100)
    assert math.isnan(transforms[-1].transforms[0].transform.translation.x)
    set_parameters(box, fault_tf_nan=False)
    place = watch(box, Odometry, ODOMETRY)[-1].pose.pose.position.x
    wait_until(
        lambda: transforms[-1].transforms[0].transform.translation.x == place, 'a sound transform'
    )


def test_the_picture_changes_with_the_rover_and_with_the_mast(box: Sandbox) -> None:
    pictures = watch(box, CompressedImage, '/image_raw/compressed')
    first = decoded(pictures[-1])
    assert first.shape == (800, 800, 3)
    assert (decoded(next_ones(pictures, 2)[-1]) == first).all()

    def differs(message: CompressedImage) -> bool:
        return bool(np.abs(decoded(message).astype(int) - first).mean() > 5.0)

    call(box, '/move_forward')
    wait_until(lambda: differs(pictures[-1]), 'another view while driving')
    call(box, '/move_stop')
    call(box, '/mast_close')
    deck = np.array([[0.25, 0.5, 0.25]])

    def shows_the_deck_at_rest() -> bool:
        before, now = map(decoded, pictures[-2:])
        return bool((now[300:, 300:] @ deck[0]).mean() > 130.0 and (before == now).all())

    wait_until(shows_the_deck_at_rest, 'the deck below the stowed mast')
    raw = watch(box, Image, '/image_raw')[-1]
    assert (raw.encoding, raw.width, raw.height, len(raw.data)) == ('rgb8', 800, 800, 1_920_000)
    pixels = np.frombuffer(bytes(raw.data), np.uint8).reshape(800, 800, 3)
    same_view = decoded(next_ones(pictures, 1)[-1])[..., ::-1]
    assert np.abs(pixels.astype(int) - same_view).mean() < 6.0  # JPEG is lossy


def test_pictures_can_be_corrupt_or_stop(box: Sandbox) -> None:
    set_parameters(box, fault_image='corrupt')
    pictures = watch(box, CompressedImage, '/image_raw/compressed')
    wait_until(lambda: decoded(pictures[-1]) is None, 'a corrupt picture')
    raw = watch(box, Image, '/image_raw')
    assert len(raw[-1].data) < raw[-1].step * raw[-1].height
    set_parameters(box, fault_image='none')
    wait_until(lambda: decoded(pictures[-1]) is not None, 'a sound picture')
    set_parameters(box, fault_image='stopped')
    scans = watch(box, LaserScan, '/scan')

    def none_comes() -> bool:  # those that were on their way have arrived
        count = len(pictures)
        next_ones(scans, 20)
        return len(pictures) == count

    wait_until(none_comes, 'no picture during 20 scans')


def test_a_hanging_stop_freezes_its_node_and_the_rover_drives_on(box: Sandbox) -> None:
    odometry = watch(box, Odometry, ODOMETRY)
    twists = box.collect(Twist, '/cmd_vel')
    assert set_parameters(box, fault_services=['move_stop:hang']) == []
    way = Way(odometry)
    call(box, '/move_forward')
    wait_until(lambda: len(twists) > 3, 'the repeated Twist')
    stop = call_later(box, '/move_stop')
    call(box, '/mast_close')  # another node is not touched
    wait_until_frozen(twists, odometry)
    turn = call_later(box, '/turn_left')  # waits behind the stop
    count, place = len(twists), way.ahead
    wait_until(lambda: way.ahead > place + 1.0, 'the rover to go on')
    assert len(twists) == count
    assert not stop.done()
    assert not turn.done()
    set_parameters(box, fault_services=[''])
    wait_until(lambda: stop.done() and turn.done(), 'both answers after the thaw')
    wait_until(lambda: odometry[-1].twist.twist.angular.z > 0.0, 'the turn that had waited')


def test_a_late_service_answers_and_moves_only_after_its_delay(box: Sandbox) -> None:
    set_parameters(box, fault_services=['mast_close:late:0.8'])
    joints = watch(box, JointState, '/joint_states')
    closed = call_later(box, '/mast_close')
    started = time.monotonic()
    before = next_ones(joints, 20)
    assert {angle(message, 'mast_p_joint') for message in before} == {0.0}
    wait_until(closed.done, 'the late answer')
    assert time.monotonic() - started > 0.7
    wait_until(lambda: angle(joints[-1], 'mast_p_joint') == 1.57, 'the mast to close')


def test_an_absent_service_is_gone_until_the_fault_is_cleared(box: Sandbox) -> None:
    set_parameters(box, fault_services=['move_forward:absent'])
    client = box.node.create_client(Empty, '/move_forward')
    stop = box.node.create_client(Empty, '/mast_open')
    wait_until(stop.service_is_ready, 'the other services')
    wait_until(lambda: not client.service_is_ready(), '/move_forward to go')
    set_parameters(box, fault_services=['mast_open:absent'])
    wait_until(client.service_is_ready, '/move_forward to come back')
    wait_until(lambda: not stop.service_is_ready(), '/mast_open to go')
    odometry = watch(box, Odometry, ODOMETRY)
    call(box, '/move_forward')
    wait_until(lambda: not stops(odometry[-1].twist.twist), 'the service to work')


def test_a_bad_parameter_later_is_refused_with_a_reason_and_changes_nothing(box: Sandbox) -> None:
    assert set_parameters(box, battery_drain_per_s=0.0, battery=0.75) == []
    assert 'Min: 0.0, Max: 1.0, value: 2.0' in set_parameters(box, battery=2.0)[0]
    assert 'from 0 to 1' in set_parameters(box, battery=2)[0]  # a range binds one type
    assert 'none, stopped, corrupt' in set_parameters(box, fault_image='black')[0]
    assert 'hang, late, absent' in set_parameters(box, fault_services=['move_stop:no'])[0]
    assert 'read-only' in set_parameters(box, time_scale=2.0)[0]
    battery = watch(box, BatteryState, '/battery_state')
    next_ones(battery, 2)
    assert battery[-1].percentage == 0.75
    assert call(box, '/move_stop') < 1.0
