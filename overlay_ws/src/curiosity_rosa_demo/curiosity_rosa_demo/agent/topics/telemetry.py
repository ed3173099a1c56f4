# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The newest reading of each source that the kernel watches. Subscribes only; decides nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
import math
import time

from curiosity_rosa_demo.agent.kernel.sense import E_STOP_CAUSE, reduce_scan
from curiosity_rosa_demo.domain.adapter_status import without_measured
from curiosity_rosa_demo.domain.brain_state import Json, Reading
from curiosity_rosa_demo.domain.serde import read_object
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.obstacles import RoverShape, view_of
from curiosity_rosa_demo.infra.ros_io import (
    history_qos,
    LossCounter,
    NEWEST_ONLY,
    read_message,
    subscribe_to_button,
    UnreadableMessage,
)
from curiosity_rosa_demo.infra.tf import (
    level_pose,
    stamp_ns,
    TransformSource,
    TransformUnavailable,
)
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import BatteryState, LaserScan
from std_msgs.msg import String

# -----------------------------------------------------------------------------------------------
# The messages of the topic on which any node may publish: at most so many a minute.


WINDOW_S = 60.0


class MessageIntake:
    """Hands on at most ``per_min`` messages in any 60 s to ``post`` and drops the others.

    ``losses`` counts each drop. ``say`` tells the first drop, and their number once no message
    was dropped for 60 s. For one thread.
    """

    def __init__(
        self,
        topic: str,
        per_min: int,
        *,
        post: Callable[[str], object],
        say: Callable[[str], None],
        losses: LossCounter,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._topic, self._per_min, self._clock = topic, per_min, clock
        self._post, self._say, self._losses = post, say, losses
        self._posted_s: deque[float] = deque(maxlen=per_min)
        self._dropped = 0  # in this flood
        self._dropped_at_s = 0.0  # the last one

    def take(self, text: str) -> None:
        """Hand on or drop one message."""
        now_s = self._clock()
        if self._dropped and now_s - self._dropped_at_s >= WINDOW_S:
            dropped = count_text(self._dropped, 'message')
            self._say(f'! {dropped} on {self._topic} had no effect: they came too fast')
            self._dropped = 0
        if len(self._posted_s) == self._per_min and now_s - self._posted_s[0] < WINDOW_S:
            self._dropped += 1
            self._dropped_at_s = now_s
            self._losses.count(self._topic)
            if self._dropped == 1:
                most = count_text(self._per_min, 'message')
                self._say(f'! More than {most} a minute on {self._topic}: the others are dropped')
            return
        self._posted_s.append(now_s)
        self._post(text)


# Shortest time between two readings of a fast sensor. Well below the period of the kernel and of
# the rover's sensors (0.1 s), so that jitter costs no reading.
MIN_PERIOD_S = 0.05
MAX_STATUS_CHARS = 16_384  # a status of the adapter has about 1,000


class TelemetrySource:
    """Sources: odometry, battery, scan, estop, adapter, as in ``kernel/sense.py``.

    The callbacks run in the thread that spins ``node``; ``on_urgent`` is called there when the
    e-stop changes, and when the adapter's status changes in more than its measured numbers. Its
    argument is the cause of SAFE if the e-stop was pressed: the press may be over by the next
    tick. Else it is ''.
    """

    def __init__(
        self,
        node: Node,
        config: Config,
        transforms: TransformSource,
        *,
        on_urgent: Callable[[str], None],
    ) -> None:
        self._on_urgent = on_urgent
        self._transforms, self._frames = transforms, config.topics.tf
        self._thresholds = config.thresholds
        self._readings: dict[str, Reading] = {}
        rover = config.topics.rover
        subscribe = node.create_subscription
        subscribe(String, config.topics.status.adapter, self._on_adapter, history_qos(1))
        subscribe_to_button(node, rover.e_stop, self._on_e_stop)
        subscribe(BatteryState, rover.battery_state, self._on_battery, NEWEST_ONLY)
        subscribe(Odometry, rover.odometry, self._on_odometry, NEWEST_ONLY, raw=True)
        subscribe(LaserScan, rover.scan, self._on_scan, NEWEST_ONLY, raw=True)

    def snapshot(self) -> dict[str, Reading]:
        """The newest reading of each source that has published. Thread-safe."""
        return self._readings

    def _store_reading(self, source: str, value: Json) -> None:
        # A new dictionary each time, so that a snapshot never changes under its reader.
        # model_construct skips the validation: the value is made here, and validation is slow.
        reading = Reading.model_construct(value=value, received_s=time.monotonic())
        self._readings = {**self._readings, source: reading}

    def _on_odometry(self, data: bytes) -> None:
        """Decoding is expensive: a message that comes too soon is skipped. So is an unreadable
        one; the reading then grows old.
        """
        if self._is_too_soon('odometry'):
            return
        with suppress(UnreadableMessage):
            self._store_reading('odometry', _odometry(read_message(data, Odometry)))

    def _on_scan(self, data: bytes) -> None:
        if self._is_too_soon('scan'):
            return
        try:
            message = read_message(data, LaserScan)
        except UnreadableMessage:
            return
        try:
            sensor = level_pose(
                self._transforms, self._frames, message.header.frame_id, at_ns=stamp_ns(message)
            )
        except TransformUnavailable:
            view = None
        else:
            shape = RoverShape.of(self._thresholds, self._stowed_parts())
            view = view_of(message, sensor, shape)
        self._store_reading('scan', reduce_scan(view))

    def _stowed_parts(self) -> list[str]:
        """The parts that the adapter says are stowed."""
        adapter = self._readings.get('adapter')
        parts = adapter.value.get('appendages') if adapter is not None else None
        if not isinstance(parts, dict):
            return []
        return [name for name, posture in parts.items() if posture == 'stowed']

    def _is_too_soon(self, source: str) -> bool:
        last = self._readings.get(source)
        return last is not None and time.monotonic() - last.received_s < MIN_PERIOD_S

    def _on_battery(self, message: BatteryState) -> None:
        fraction = _finite(message.percentage)
        # In tenths of a percent: the loss between two messages is too small to report.
        self._store_reading(
            'battery', {'fraction': None if fraction is None else round(fraction, 3)}
        )

    def _on_e_stop(self, pressed: bool) -> None:
        before = self._readings.get('estop')
        self._store_reading('estop', {'pressed': pressed})
        if before is None or before.value['pressed'] != pressed:
            self._on_urgent(E_STOP_CAUSE if pressed else '')

    def _on_adapter(self, message: String) -> None:
        before = self._readings.get('adapter')
        status = _object(message.data)
        self._store_reading('adapter', status)
        if before is None or without_measured(before.value) != without_measured(status):
            self._on_urgent('')


def _odometry(message: Odometry) -> Json:
    pose, twist = message.pose.pose, message.twist.twist
    position, orientation = pose.position, pose.orientation
    return {
        'x': _finite(position.x),
        'y': _finite(position.y),
        'z': _finite(position.z),
        'orientation_z': _finite(orientation.z),
        'orientation_w': _finite(orientation.w),
        'linear_x': _finite(twist.linear.x),
        'angular_z': _finite(twist.angular.z),
    }


def _finite(number: float) -> float | None:
    """``number``; None if JSON cannot hold it (NaN, infinity). The kernel rejects None."""
    return number if math.isfinite(number) else None


def _object(text: str) -> Json:
    """The JSON object in ``text``. Otherwise, and if ``text`` is longer than any status of the
    adapter, an empty object, which the kernel rejects.
    """
    return {} if len(text) > MAX_STATUS_CHARS else read_object(text)
