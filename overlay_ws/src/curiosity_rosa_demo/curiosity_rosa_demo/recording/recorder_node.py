# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Subscribe to the recorded topics. Most messages pass through as serialized bytes."""

from __future__ import annotations

import array
from collections.abc import Callable, Sequence
from functools import partial
import time
from typing import Any

from curiosity_rosa_demo.imaging.image_header import ImageError
from curiosity_rosa_demo.infra.process import SpinThread
from curiosity_rosa_demo.infra.ros_io import (
    history_qos,
    NEWEST_ONLY,
    read_message,
    STEADY_CLOCK,
    UnreadableMessage,
)
from curiosity_rosa_demo.recording.mcap.channels import Channel, ChannelSource, message_class
from curiosity_rosa_demo.recording.throttle import Throttle
from curiosity_rosa_demo.trace.events import CaptureTaken
from curiosity_rosa_demo.trace.trace_codec import decode
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import CompressedImage, Image
from std_msgs.msg import String

POLL_PERIOD_S = 0.25
HISTORY_DEPTH = 1000  # messages of a latched topic, per burst
PICTURE_TIMEOUT_S = 5.0  # longest wait for the picture of a capture
MAX_FRAME_AGE_S = 2.0  # oldest capture event for which the picture is still current
# Best effort matches every publisher. Messages of a burst beyond the depth are lost.
ANY_PUBLISHER_QOS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=100, reliability=ReliabilityPolicy.BEST_EFFORT
)

EnqueueMessage = Callable[[Channel, bytes], object]


class RecorderNode:
    """Passes each received message to ``enqueue``, which must not block. The spin thread calls
    ``enqueue`` and ``notify``.
    """

    def __init__(
        self,
        pairs: Sequence[tuple[ChannelSource, Channel]],
        enqueue: EnqueueMessage,
        notify: Callable[[str], None],
        jpeg_quality: int,
    ) -> None:
        self._enqueue, self._notify = enqueue, notify
        # The node does not read its clock, so it does not need a subscription to /clock.
        self._node = Node(
            'recorder',
            parameter_overrides=[Parameter('use_sim_time', value=False)],
        )
        self._throttles: list[tuple[Channel, Throttle[bytes]]] = []
        self._capture: tuple[ChannelSource, Channel] | None = None
        self._picture: Any = None  # subscription while a picture is awaited
        self._picture_until_s = 0.0
        self._to_jpeg: Callable[[Image], bytes] | None = None
        self._reported_image_error = False
        for source, channel in pairs:
            if source.role == 'capture':
                self._capture = source, channel
            elif source.hz is None or source.hz > 0.0:
                self._subscribe(source, channel, jpeg_quality)
        self._node.create_timer(POLL_PERIOD_S, self._flush_due, clock=STEADY_CLOCK)
        self._spin = SpinThread('recorder', self._node, on_crash=self._on_ros_failure)

    def close(self) -> None:
        self._spin.close()
        del self._spin  # its executor would keep the node and its subscriptions in the graph
        self._node.destroy_node()

    def _subscribe(self, source: ChannelSource, channel: Channel, jpeg_quality: int) -> None:
        throttle = Throttle[bytes](source.hz)
        callback: Callable[[bytes], None] = partial(self._on_message, channel, throttle)
        if source.type == 'sensor_msgs/msg/Image':
            # Imported here because it loads OpenCV.
            from curiosity_rosa_demo.imaging.pixels import encode_jpeg, pixels_of

            self._to_jpeg = lambda image: encode_jpeg(pixels_of(image), jpeg_quality)
            callback = partial(self._on_raw_image, channel, throttle)
        elif source.role == 'trace':
            callback = partial(self._on_trace_event, channel)
        if source.hz is not None and source.role != 'camera':
            self._throttles.append((channel, throttle))
        qos = history_qos(HISTORY_DEPTH) if source.latched else ANY_PUBLISHER_QOS
        if source.role == 'camera':
            qos = NEWEST_ONLY
        self._node.create_subscription(
            message_class(source.type), source.topic, callback, qos, raw=True
        )

    def _on_message(self, channel: Channel, throttle: Throttle[bytes], data: bytes) -> None:
        passed = throttle.accept(data, time.monotonic())
        if passed is not None:
            self._enqueue(channel, passed)

    def _on_raw_image(self, channel: Channel, throttle: Throttle[bytes], data: bytes) -> None:
        """Record a raw camera image as JPEG."""
        if throttle.accept(b'', time.monotonic()) is None or self._to_jpeg is None:
            return
        try:
            image: Image = read_message(data, Image)
            jpeg = self._to_jpeg(image)
        except (ImageError, UnreadableMessage) as error:
            if not self._reported_image_error:
                self._reported_image_error = True
                self._notify(f'! The camera is not recorded: {error}')
            return
        picture = CompressedImage(header=image.header, format='jpeg', data=array.array('B', jpeg))
        self._enqueue(channel, serialize_message(picture))

    def _on_trace_event(self, channel: Channel, data: bytes) -> None:
        self._enqueue(channel, data)
        try:
            event = decode(read_message(data, String).data)
        except UnreadableMessage:
            return
        # For an old capture, replayed from the topic's history, the latched picture is another.
        taken = CaptureTaken.of(event)
        if taken and taken.ok is True and time.time() - event.ts < MAX_FRAME_AGE_S:
            self._subscribe_to_picture()

    def _subscribe_to_picture(self) -> None:
        """Subscribe until the picture of the capture arrives. The topic is latched, so the picture
        is not missed. A permanent subscription would make the simulator process every frame.
        """
        self._picture_until_s = time.monotonic() + PICTURE_TIMEOUT_S
        if self._picture is None and self._capture is not None:
            source, channel = self._capture
            received: list[bool] = []

            def on_picture(data: bytes) -> None:
                if not received:
                    received.append(True)
                    self._enqueue(channel, data)
                    self._picture_until_s = 0.0

            self._picture = self._node.create_subscription(
                CompressedImage, source.topic, on_picture, history_qos(1), raw=True
            )

    def _flush_due(self) -> None:
        now_s = time.monotonic()
        for channel, throttle in self._throttles:
            due = throttle.take_due(now_s)
            if due is not None:
                self._enqueue(channel, due)
        if self._picture is not None and now_s > self._picture_until_s:
            self._node.destroy_subscription(self._picture)
            self._picture = None

    def _on_ros_failure(self, error: Exception) -> None:
        self._notify(f'! The recording no longer receives messages: {error!r}')
