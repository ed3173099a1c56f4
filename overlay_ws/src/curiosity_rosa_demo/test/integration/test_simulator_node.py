# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The light simulator as a real process; this test is its camera and its TF."""

from __future__ import annotations

import array
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
import json
import math
import signal
from typing import Any

from curiosity_rosa_demo.imaging.pixels import Pixels
from curiosity_rosa_demo.infra.ros_io import NEWEST_ONLY, STEADY_CLOCK
from curiosity_rosa_demo.sim.simulator_node import CAPTURE_QOS
from curiosity_rosa_interfaces.srv import AnalyzeGround, CaptureAndScore
import cv2
from geometry_msgs.msg import TransformStamped
from harness import Process, Sandbox, wait_until
import numpy as np
import pytest
from sensor_msgs.msg import CameraInfo, CompressedImage, JointState
from tf2_msgs.msg import TFMessage

pytestmark = pytest.mark.ros

CAMERA_Z = 1.2  # above the base frame, metres; it looks down by 0.4 rad
OUTPUT = '/capture/image_raw/compressed'
QUICK = {'capture': {'max_image_age_s': 0.3, 'wait_s': 0.8}, 'tf': {'max_age_s': 0.5}}


def noise(sigma_px: float) -> Pixels:
    random = np.random.default_rng(0)
    return cv2.GaussianBlur(random.integers(0, 256, (800, 800, 3), np.uint8), (0, 0), sigma_px)


SAND, PEBBLES = (cv2.imencode('.jpg', noise(each))[1].tobytes() for each in (4.0, 1.0))


class Rover:
    """Publishes pictures and TF at 20 Hz, as broken as a test wants them."""

    def __init__(self, box: Sandbox) -> None:
        self.node = box.node
        self.sent = 0
        self.reset()
        self.images = self.node.create_publisher(CompressedImage, '/image_raw/compressed', 10)
        self.tf = self.node.create_publisher(TFMessage, '/tf', 100)
        self.joints = self.node.create_publisher(JointState, '/joint_states', 10)
        self.timer = self.node.create_timer(0.05, self.tick, clock=STEADY_CLOCK)

    def reset(self) -> None:
        """It stands, and sends all that it has."""
        self.camera_on = self.tf_on = True
        self.camera_is_frozen = False  # it repeats its last picture
        self.has_camera_frame = False
        self.camera_turn = 0.4
        self.has_joints, self.fold, self.fold_speed = False, 1.57, 0.0  # radians, a tick
        self.last_motion_ns = 0
        self.pitch = 0.0  # of the base
        self.x = 2.5
        self.jpeg = SAND

    @property
    def watched(self) -> bool:
        return bool(self.images.get_subscription_count())

    def tick(self) -> None:
        self.sent += 1
        stamp = self.node.get_clock().now().to_msg()
        self.fold += self.fold_speed
        if self.fold_speed:
            self.last_motion_ns = stamp.sec * 1_000_000_000 + stamp.nanosec
        if self.has_joints:
            joints = JointState(name=['mast_02_joint', 'mast_p_joint'], position=[-0.5, self.fold])
            joints.header.stamp = stamp
            self.joints.publish(joints)
        if self.tf_on:
            link = TransformStamped(child_frame_id='/base_footprint')
            link.header.frame_id, link.header.stamp = '/odom', stamp
            link.transform.translation.x = self.x
            turn = link.transform.rotation
            turn.y, turn.w = math.sin(self.pitch / 2), math.cos(self.pitch / 2)
            camera = TransformStamped(child_frame_id='camera_link')
            camera.header.frame_id, camera.header.stamp = 'base_footprint', stamp
            camera.transform.translation.z = CAMERA_Z
            turn, half = camera.transform.rotation, self.camera_turn / 2
            turn.y, turn.w = math.sin(half), math.cos(half)
            self.tf.publish(TFMessage(transforms=[link, camera][: 1 + self.has_camera_frame]))
        if not self.camera_is_frozen:
            self.picture = CompressedImage(format='jpeg', data=array.array('B', self.jpeg))
            self.picture.header.frame_id = 'camera'
            self.picture.header.stamp = stamp
        if self.camera_on:
            self.images.publish(self.picture)

    def runs(self, ticks: int) -> None:
        """Wait until so many more pictures have been sent."""
        wanted = self.sent + ticks
        wait_until(lambda: self.sent >= wanted, f'{ticks} more ticks of the rover')


@dataclass
class World:
    """The simulator, and its camera."""

    box: Sandbox
    rover: Rover
    simulator: Process


@pytest.fixture(scope='module')
def shared() -> Iterator[World]:
    with Sandbox() as box:
        simulator = box.overlay('simulator_node', config_dir=box.config_dir(thresholds=QUICK))
        early = box.call(AnalyzeGround, '/analyze_ground')
        assert (early.ok, early.analysis) == (False, '')
        assert early.error_reason.endswith('no capture has succeeded yet; take one first')
        world = World(box, Rover(box), simulator)
        yield world
        world.rover.timer.cancel()
        assert simulator.kill(signal.SIGTERM) == 0


@pytest.fixture
def world(shared: World) -> Iterator[World]:
    shared.rover.reset()
    with shared.box.lent() as box:
        captured(box)
        yield shared


def capture(sandbox: Sandbox) -> CaptureAndScore.Response:
    return sandbox.call(CaptureAndScore, '/capture_and_score')


def captured(sandbox: Sandbox) -> CaptureAndScore.Response:
    """The first capture that succeeds: the process may only just have found the rover."""
    return wait_until(
        lambda: response if (response := capture(sandbox)).ok else None, 'a capture that succeeds'
    )


def failed(sandbox: Sandbox, reason: str) -> str:
    """The reason of the first capture that fails for it, checked for what failures promise."""

    def look() -> CaptureAndScore.Response | None:
        response = capture(sandbox)
        return response if response.error_reason.startswith(reason) else None

    response = wait_until(look, f'a capture that fails with {reason!r}')
    assert not response.ok
    assert not response.is_good
    assert response.score == 0.0
    assert response.image_topic == ''
    assert response.stamp.sec == 0
    return str(response.error_reason)


def picture(message: CompressedImage) -> Pixels:
    assert message.format == 'jpeg'
    pixels = cv2.imdecode(np.frombuffer(bytes(message.data), np.uint8), cv2.IMREAD_COLOR)
    assert pixels.shape == (800, 800, 3)
    return pixels.astype(np.uint8)


def test_a_capture_scores_the_light_and_publishes_the_darkened_picture(world: World) -> None:
    sandbox, rover = world.box, world.rover
    rover.x = 0.0
    wait_until(lambda: captured(sandbox).score == 0.0, 'a capture in the dark')
    response = captured(sandbox)
    assert (response.score, response.is_good, response.error_reason) == (0.0, False, '')
    assert response.image_topic == OUTPUT
    now = sandbox.node.get_clock().now().nanoseconds / 1e9
    assert abs(response.stamp.sec + response.stamp.nanosec / 1e9 - now) < 5.0
    assert 'x = 0.000 m' in response.debug

    pictures = sandbox.collect(CompressedImage, OUTPUT, NEWEST_ONLY)
    wait_until(lambda: pictures, 'a republished picture')
    dark = picture(pictures[-1]).mean()
    assert pictures[-1].header.frame_id == 'camera'
    rover.x = 4.2
    good = wait_until(
        lambda: response if (response := capture(sandbox)).is_good else None, 'a good capture'
    )
    assert good.score == pytest.approx(0.84)
    rover.x = 50.0
    wait_until(lambda: picture(pictures[-1]).mean() > 3 * dark, 'a bright picture')
    wait_until(lambda: capture(sandbox).score == 1.0, 'full light')


def ns(stamp: Any) -> int:
    return int(stamp.sec * 1_000_000_000 + stamp.nanosec)


def rising(rover: Rover) -> None:
    rover.has_joints, rover.fold_speed = True, -0.02  # 0.4 rad/s


def test_a_moving_camera_takes_no_picture_until_it_stands_still(world: World) -> None:
    sandbox, rover = world.box, world.rover
    rising(rover)
    failed(sandbox, 'Camera is moving: mast_p_joint')
    with ThreadPoolExecutor() as pool:
        pending = pool.submit(captured, sandbox)
        rover.runs(4)
        rover.fold_speed = 0.0
        response = pending.result(timeout=20)
    assert ns(response.stamp) > rover.last_motion_ns


def test_the_picture_has_the_stamp_of_the_response_and_stays_on_the_topic(world: World) -> None:
    sandbox, rover = world.box, world.rover
    live = sandbox.collect(CompressedImage, OUTPUT, NEWEST_ONLY)
    wait_until(lambda: live, 'a republished picture')
    response = captured(sandbox)
    rover.runs(6)
    late = sandbox.collect(CompressedImage, OUTPUT, CAPTURE_QOS)
    wait_until(lambda: late, 'the latched picture')
    assert ns(late[0].header.stamp) == ns(response.stamp)
    wait_until(lambda: ns(late[-1].header.stamp) > ns(response.stamp), 'republished frames')


def test_the_ground_of_the_last_capture_is_analyzed_by_the_cameras_own_pose(world: World) -> None:
    sandbox, rover = world.box, world.rover
    pictures = sandbox.collect(CompressedImage, '/capture/analysis/compressed', NEWEST_ONLY)
    infos = sandbox.node.create_publisher(CameraInfo, '/camera_info', 10)
    pinhole = [400.0, 0.0, 400.0, 0.0, 400.0, 400.0, 0.0, 0.0, 1.0]
    rover.jpeg = PEBBLES

    def analyzed() -> Any:
        captured(sandbox)
        answer = sandbox.call(AnalyzeGround, '/analyze_ground')
        return json.loads(answer.analysis) if answer.ok else None

    guessed = wait_until(analyzed, 'an analysis without the camera')
    assert guessed['geometry'] != 'measured'
    assert 'No camera info on /camera_info' in guessed['geometry_note']
    assert 'No roll and pitch in odom -> base_footprint or on /model/' in guessed['geometry_note']
    assert guessed['body_pitch_deg'] == pytest.approx(math.degrees(0.07), abs=0.01)
    rover.has_camera_frame, rover.pitch = True, -0.1

    def measured() -> Any:
        infos.publish(CameraInfo(width=800, height=800, k=pinhole))
        found = analyzed()
        return found if found and found['geometry'] == 'measured' else None

    found = wait_until(measured, 'an analysis by camera info and TF')
    assert found['camera_height_m'] == pytest.approx(CAMERA_Z + 0.9, abs=0.01)
    assert found['body_pitch_deg'] == pytest.approx(math.degrees(0.1), abs=0.01)
    assert picture(wait_until(lambda: pictures, 'an annotated picture')[-1]).any()


def test_each_failure_has_its_own_reason_and_the_node_survives_them_all(world: World) -> None:
    sandbox, rover = world.box, world.rover
    for broken in ({'camera_on': False}, {'camera_is_frozen': True}):
        vars(rover).update(broken)
        assert failed(sandbox, 'Image is stale: ').endswith(' s old')
        rover.reset()
        captured(sandbox)

    whole = rover.jpeg
    rover.jpeg = whole[: len(whole) // 2]
    failed(sandbox, 'Image cannot be decoded: ')
    rover.jpeg = whole
    captured(sandbox)

    rover.tf_on = False
    reason = failed(sandbox, 'TF unavailable: odom -> base_footprint: no transform for ')
    assert reason.endswith('(odom -> base_footprint)')
    rover.tf_on = True
    captured(sandbox)

    rover.x = math.nan
    assert failed(sandbox, 'TF') == (
        'TF unavailable: odom -> base_footprint: not finite (odom -> base_footprint)'
    )
    rover.x = 5.0
    assert captured(sandbox).is_good
    assert world.simulator.alive
