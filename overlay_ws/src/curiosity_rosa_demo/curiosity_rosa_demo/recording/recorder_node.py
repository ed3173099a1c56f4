# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a recording subscribes to. Messages stay as they come, undecoded, wherever that will do."""

from __future__ import annotations

import array
from collections.abc import Callable, Sequence
from functools import partial
import time
from typing import Any

from curiosity_rosa_demo.domain.pictures import is_capture
from curiosity_rosa_demo.imaging.image_header import ImageError
from curiosity_rosa_demo.infra.ros_io import history_qos, NEWEST_ONLY, SpinThread, STEADY_CLOCK
from curiosity_rosa_demo.recording.mcap.channels import Channel, ChannelSource
from curiosity_rosa_demo.recording.mcap.message_types import message_class
from curiosity_rosa_demo.recording.throttle import Throttle
from curiosity_rosa_demo.trace.trace_codec import decode
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import CompressedImage, Image
from std_msgs.msg import String

POLL_PERIOD_S = 0.25
HISTORY_DEPTH = 1000  # messages of a latched topic, and of a burst
PICTURE_TIMEOUT_S = 5.0  # for the picture of a capture ...
MAX_FRAME_AGE_S = 2.0  # ... that has just been made
# matches every publisher; what is not received within a burst is lost
ANY_PUBLISHER_QOS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=100, reliability=ReliabilityPolicy.BEST_EFFORT
)

EnqueueMessage = Callable[[Channel, bytes], object]


class RecorderNode:
    """A node that hands what it hears to ``offer``, which never waits."""

    def __init__(
        self,
        pairs: Sequence[tuple[ChannelSource, Channel]],
        offer: EnqueueMessage,
        say: Callable[[str], None],
        jpeg_quality: int,
    ) -> None:
        self._offer, self._say = offer, say
        # Its own clock is not asked for; it must not subscribe to /clock for that.
        self._node = Node(
            'recorder',
            start_parameter_services=False,
            parameter_overrides=[Parameter('use_sim_time', value=False)],
        )
        self._throttles: list[tuple[Channel, Throttle[bytes]]] = []
        self._capture: tuple[ChannelSource, Channel] | None = None
        self._picture: Any = None  # the subscription to the picture of a capture
        self._picture_until_s = 0.0
        self._to_jpeg: Callable[[Image], bytes] | None = None
        self._unreadable = False
        for source, channel in pairs:
            if source.role == 'capture':
                self._capture = source, channel
            elif source.hz is None or source.hz > 0.0:
                self._subscribe(source, channel, jpeg_quality)
        self._node.create_timer(POLL_PERIOD_S, self._flush_due, clock=STEADY_CLOCK)
        self._spin = SpinThread('recorder', self._node, on_crash=self._on_ros_failure)

    def close(self) -> None:
        self._spin.close()
        del self._spin  # its executor would keep the node, and all its subscriptions, in the graph
        self._node.destroy_node()

    def _subscribe(self, source: ChannelSource, channel: Channel, jpeg_quality: int) -> None:
        thinning = Throttle[bytes](source.hz)
        take: Callable[[bytes], None] = partial(self._on_message, channel, thinning)
        if source.type == 'sensor_msgs/msg/Image':
            # Not before it must: it takes OpenCV.
            from curiosity_rosa_demo.imaging.pixels import encode_jpeg, pixels_of

            self._to_jpeg = lambda image: encode_jpeg(pixels_of(image), jpeg_quality)
            take = partial(self._on_raw_image, channel, thinning)
        elif source.role == 'trace':
            take = partial(self._on_trace_event, channel)
        if source.hz is not None and source.role != 'camera':
            self._throttles.append((channel, thinning))
        qos = history_qos(HISTORY_DEPTH) if source.latched else ANY_PUBLISHER_QOS
        if source.role == 'camera':
            qos = NEWEST_ONLY
        self._node.create_subscription(
            message_class(source.type), source.topic, take, qos, raw=True
        )

    def _on_message(self, channel: Channel, thinning: Throttle[bytes], data: bytes) -> None:
        passed = thinning.accept(data, time.monotonic())
        if passed is not None:
            self._offer(channel, passed)

    def _on_raw_image(self, channel: Channel, thinning: Throttle[bytes], data: bytes) -> None:
        """A raw picture of the camera, as JPEG."""
        if thinning.accept(b'', time.monotonic()) is None or self._to_jpeg is None:
            return
        image: Image = deserialize_message(data, Image)
        try:
            jpeg = self._to_jpeg(image)
        except ImageError as error:
            if not self._unreadable:
                self._unreadable = True
                self._say(f'! The camera is not recorded: {error}')
            return
        picture = CompressedImage(header=image.header, format='jpeg', data=array.array('B', jpeg))
        self._offer(channel, serialize_message(picture))

    def _on_trace_event(self, channel: Channel, data: bytes) -> None:
        self._offer(channel, data)
        event = decode(deserialize_message(data, String).data)
        # Of one from before, told to us late, the picture is another by now.
        if is_capture(event) and event.ok is True and time.time() - event.ts < MAX_FRAME_AGE_S:
            self._want_picture()

    def _want_picture(self) -> None:
        """Of a capture that was just made. Its publisher keeps it for who comes late, and would
        make pictures all the time for who stays.
        """
        self._picture_until_s = time.monotonic() + PICTURE_TIMEOUT_S
        if self._picture is None and self._capture is not None:
            source, channel = self._capture
            took: list[bool] = []

            def take(data: bytes) -> None:
                if not took:
                    took.append(True)
                    self._offer(channel, data)
                    self._picture_until_s = 0.0

            self._picture = self._node.create_subscription(
                CompressedImage, source.topic, take, history_qos(1), raw=True
            )

    def _flush_due(self) -> None:
        now_s = time.monotonic()
        for channel, thinning in self._throttles:
            kept = thinning.take_due(now_s)
            if kept is not None:
                self._offer(channel, kept)
        if self._picture is not None and now_s > self._picture_until_s:
            self._node.destroy_subscription(self._picture)
            self._picture = None

    def _on_ros_failure(self, error: Exception) -> None:
        self._say(f'! The recording hears nothing any more: {error!r}')
