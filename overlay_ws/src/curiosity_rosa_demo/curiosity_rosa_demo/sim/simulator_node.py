# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The light simulator: darkens the rover's pictures by the light score at the rover's position.

Three threads. ``simulator`` receives pictures and TF, and republishes while the output has a
subscriber. ``simulator_service`` serves one capture at a time and may block until a picture comes.
``simulator_analysis`` analyzes the ground of the last capture, so that no capture waits for it.
"""

from __future__ import annotations

import array
from collections.abc import Callable
from contextlib import suppress
from functools import partial
import math
import sys
import threading
import time
from typing import Any

from curiosity_rosa_demo.domain.models import LightScore, RoverPose
from curiosity_rosa_demo.imaging.camera import Camera, Frame, NoFrame
from curiosity_rosa_demo.imaging.image_header import ImageError
from curiosity_rosa_demo.imaging.pixels import pixels_of
from curiosity_rosa_demo.infra.clocks import SimulationClock
from curiosity_rosa_demo.infra.diagnostics import Diagnostics, Finding, Level
from curiosity_rosa_demo.infra.process import node_config, Process, run_app, SpinThread
from curiosity_rosa_demo.infra.ros_io import (
    GuardedPublisher,
    history_qos,
    LossCounter,
    make_transform_source,
    NEWEST_ONLY,
    STEADY_CLOCK,
    TracePublisher,
)
from curiosity_rosa_demo.infra.tf import stamp_ns, TransformUnavailable
from curiosity_rosa_demo.sim.ground_eye import GroundEye
from curiosity_rosa_demo.sim.image_pipeline import ImagePipeline
from curiosity_rosa_demo.sim.light_model import LightModel
from curiosity_rosa_demo.sim.stillness import Instant, NS, Stillness
from curiosity_rosa_interfaces.srv import AnalyzeGround, CaptureAndScore
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import CameraInfo, CompressedImage, JointState
from std_msgs.msg import Header

# the camera stays subscribed for this long after a capture, so that the next finds a frame
CAMERA_LINGER_S = 5.0
# a capture that starts sooner than this after a failed one was queued behind it
QUEUED_WITHIN_S = 0.2
# After a capture, so that its picture stays on the latched topic for who reads it by its stamp.
CAPTURE_HOLD_S = 2.0
POLL_PERIOD_S = 0.5  # between two checks for subscribers of the output

# Reliable and latched: compatible with every subscriber, and a late one gets the last capture.
CAPTURE_QOS = history_qos(1)


class PublishError(ImageError):
    what = 'Image cannot be published'


# Every failure of one picture. The messages are the reasons in docs/reference/contracts.md.
CAPTURE_FAILURES = (NoFrame, TransformUnavailable, ImageError)


class SimulatorApp:
    def __init__(self, process: Process) -> None:
        self.node = Node('simulator')
        config = node_config(self.node)
        self._topics = config.topics
        self._limits = config.thresholds.capture
        self._light = LightModel.of(config.thresholds)
        self._pipeline = ImagePipeline(
            jpeg_quality=self._limits.jpeg_quality, min_brightness=self._limits.min_brightness
        )
        self._processed = 0
        self._gave_up_at_s = -math.inf  # when the last capture without a frame ended
        self._captures = 0  # successful ones
        self._failure = ''  # reason of the last frame or capture; empty: it succeeded
        losses = LossCounter()
        self._output, self._analysis_output = (
            GuardedPublisher(self.node, CompressedImage, topic, CAPTURE_QOS, losses)
            for topic in (
                config.topics.images.output_capture_compressed,
                config.topics.images.output_analysis_compressed,
            )
        )
        self._simulation = SimulationClock(self.node.get_clock(), config.thresholds.motion)
        motion, mast = config.thresholds.motion, config.thresholds.mast
        self._stillness = Stillness(
            still_mps=motion.still_speed_mps,
            still_radps=motion.still_turn_radps,
            max_age_s=lambda: self._simulation.now().stretched(mast.joint_max_age_s),
            skew_s=lambda: (
                self._limits.max_image_age_s * max(1.0, self._simulation.now().measured or 1.0)
            ),
        )
        self._mast_joints = tuple(mast.joints) if config.robot.has_mast else ()
        self._output_lock = threading.Lock()
        self._held_until_s = -math.inf  # republishing pauses
        self._transforms = make_transform_source(
            self.node,
            config,
            self._simulation,
            on_link=lambda link: self._stillness.record_link(link, time.monotonic()),
        )
        self._eye = GroundEye(config, self._transforms)
        images, rover = config.topics.images, config.topics.rover
        heard: list[tuple[Any, str, Callable[[Any], None]]] = [
            (CameraInfo, images.input_camera_info, partial(setattr, self._eye, 'info')),
            (Odometry, rover.odometry, partial(setattr, self._eye, 'odometry')),
        ]
        if self._mast_joints:
            heard.append((JointState, rover.joint_states, self._on_joints))
        for type_, topic, callback in heard:
            self.node.create_subscription(type_, topic, callback, NEWEST_ONLY)
        self._camera = Camera(self.node, images, self._republish)
        self.node.create_timer(POLL_PERIOD_S, self._update_camera_demand, clock=STEADY_CLOCK)
        Diagnostics(self.node, config, 'camera', self._diagnose, losses)

        TracePublisher(self.node, config, losses).announce('simulator started')

        self._nodes, services = [self.node], config.topics.services
        for name, service_type, service, serve in (
            ('simulator_service', CaptureAndScore, services.capture_and_score, self._capture),
            ('simulator_analysis', AnalyzeGround, services.analyze_ground, self._analyze),
        ):
            # It needs no ROS time: without the override it would subscribe to /clock again.
            node = Node(name, parameter_overrides=[Parameter('use_sim_time', value=False)])
            node.create_service(service_type, service.name, serve)
            self._nodes.append(node)
        self._threads = [
            SpinThread(node.get_name(), node, on_crash=process.crash) for node in self._nodes
        ]

    def close(self) -> None:
        self._camera.close()
        for thread in self._threads:
            thread.close()
        for node in reversed(self._nodes):
            node.destroy_node()

    def _update_camera_demand(self) -> None:
        if self._output.get_subscription_count():
            self._camera.request_frames(3 * POLL_PERIOD_S)
        self._camera.stop_if_unwanted()

    def _diagnose(self) -> Finding:
        waited_s = self._camera.frame_wait_s()
        silent = ''
        if waited_s is not None and waited_s > self._max_image_age_s():
            silent = f'No frame of {self._camera.topic} for {waited_s:.0f} s'
        return Finding(
            {silent: Level.ERROR, self._failure: Level.WARN},
            'ready' if waited_s is None else 'processing',
            {
                'camera_wanted': waited_s is not None,
                'last_frame_age_s': self._camera.age_s(),
                'frames_processed': self._processed,
                'captures': self._captures,
                'last_error_reason': self._failure,
            },
        )

    def _republish(self, frame: Frame) -> None:
        """Republish each frame while the output has a subscriber. Of consecutive failures only the
        first is logged.
        """
        if not self._output.get_subscription_count():
            return
        try:
            with self._output_lock:
                if time.monotonic() < self._held_until_s:
                    return
                self._process(frame)
        except CAPTURE_FAILURES as error:
            if not self._failure:
                self.node.get_logger().warning(f'not republishing: {error}')
            self._failure = str(error)
        else:
            if self._failure:
                self.node.get_logger().info('republishing again')
            self._failure = ''

    def _capture(
        self, _: CaptureAndScore.Request, response: CaptureAndScore.Response
    ) -> CaptureAndScore.Response:
        asked_s = time.monotonic()
        # A retry that was queued behind a failed capture must not wait for a frame once more.
        was_queued = asked_s - self._gave_up_at_s < QUEUED_WITHIN_S
        wait_s = self._simulation.now().stretched(self._limits.wait_s)
        frame = None
        try:
            frame = self._camera.fresh(
                max_age_s=self._max_image_age_s(),
                wait_s=0.0 if was_queued else wait_s,
                why_unusable=self._why_unusable,
            )
            with self._output_lock:
                light, pose = self._process(frame)
                self._held_until_s = time.monotonic() + CAPTURE_HOLD_S
        except CAPTURE_FAILURES as error:
            self._failure = response.error_reason = str(error)
            response.debug = self._debug(frame, asked_s)
            if isinstance(error, NoFrame):
                self._gave_up_at_s = time.monotonic()
        else:
            self._failure = ''
            self._captures += 1
            self._eye.remember(frame)
            response.ok = True
            response.score, response.is_good = light.score, light.is_good
            response.image_topic = self._topics.images.output_capture_compressed
            response.stamp = frame.message.header.stamp
            response.debug = f'{self._debug(frame, asked_s)}; x = {pose.x:.3f} m'
        self.node.get_logger().debug(f'capture: {response.error_reason or response.debug}')
        self._camera.request_frames(CAMERA_LINGER_S)
        return response

    def _analyze(
        self, _: AnalyzeGround.Request, response: AnalyzeGround.Response
    ) -> AnalyzeGround.Response:
        try:
            analysis, jpeg, header = self._eye.analyze()
            _publish(self._analysis_output, header, jpeg)
        except ImageError as error:
            response.error_reason = str(error)
            return response
        response.ok = True
        response.analysis = analysis.model_dump_json()
        response.image_topic = self._topics.images.output_analysis_compressed
        response.stamp = header.stamp
        return response

    def _why_unusable(self, frame: Frame) -> str:
        """Why the pose is unknown, as right after a start, or the camera may have moved when the
        frame was taken; '': it stood still.
        """
        tf, parts = self._topics.tf, list(self._mast_joints)
        with suppress(TransformUnavailable):
            parts += self._transforms.moving_links(tf.base_frame, tf.camera_frame)
        try:
            self._transforms.lookup(tf.world_frame, tf.base_frame)
            parts += self._transforms.moving_links(tf.world_frame, tf.base_frame)
        except TransformUnavailable as error:
            return str(error)
        taken = Instant(stamp_ns(frame.message) / NS, frame.received_s)
        part = self._stillness.moving(parts, taken, time.monotonic())
        return f'Camera is moving: {part}' if part else ''

    def _on_joints(self, message: JointState) -> None:
        at = Instant(stamp_ns(message) / NS, time.monotonic())
        angles = dict(zip(message.name, message.position, strict=False))
        for joint in self._mast_joints:
            if joint in angles:
                self._stillness.record_angle(joint, float(angles[joint]), at)

    def _max_image_age_s(self) -> float:
        """In steady seconds: a slow simulation renders its pictures more seldom."""
        return self._simulation.now().stretched(self._limits.max_image_age_s)

    def _process(self, frame: Frame) -> tuple[LightScore, RoverPose]:
        """Score, darken and publish one frame, on either thread. Raises CAPTURE_FAILURES."""
        tf = self._topics.tf
        pose = self._transforms.lookup(tf.world_frame, tf.base_frame)
        light = self._light.score(pose.x)
        self._processed += 1
        jpeg = self._pipeline.darkened(pixels_of(frame.message), light)
        _publish(self._output, frame.message.header, jpeg)
        return light, pose

    def _debug(self, frame: Frame | None, asked_s: float) -> str:
        took = f'took {1e3 * (time.monotonic() - asked_s):.0f} ms'
        if frame is None:
            return f'{took}; no frame of {self._camera.topic}'
        after_s = frame.received_s - asked_s
        when = f'received {after_s:.3f} s after the request'
        return f'{took}; frame {frame.number} of {self._camera.topic}, {when}'


def _publish(output: GuardedPublisher[CompressedImage], header: Header, jpeg: bytes) -> None:
    # rclpy takes an array as it is; it would check every byte of another type.
    picture = CompressedImage(header=header, format='jpeg', data=array.array('B', jpeg))
    if not output.publish(picture):
        raise PublishError(output.last_error)


def main() -> None:
    sys.exit(run_app('simulator', SimulatorApp))
