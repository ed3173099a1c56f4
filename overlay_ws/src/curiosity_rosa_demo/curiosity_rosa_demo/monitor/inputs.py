# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Messages of the rover and the overlay, live or decoded from a recording, as signals.

A message is any object with the fields of its ROS type.
"""

from __future__ import annotations

from collections.abc import Callable
import json
import math
from typing import Any

from curiosity_rosa_demo.domain.heartbeat import decode_calls, decode_heartbeat
from curiosity_rosa_demo.infra.config.topics import Topics
from curiosity_rosa_demo.infra.wheel_speed import WheelSpeed
from curiosity_rosa_demo.monitor.signals import MOTIONS, SignalState
from curiosity_rosa_demo.trace.events import NodeStarted
from curiosity_rosa_demo.trace.trace_codec import decode

Receive = Callable[[float, Any], None]  # the time of receipt in seconds, the message


class MessageInputs:
    """``by_topic``: what to call with the messages of each topic."""

    def __init__(self, state: SignalState, topics: Topics) -> None:
        self._state = state
        self.by_topic: dict[str, Receive] = {
            topics.rover.odometry: self._odometry,
            topics.rover.joint_states: self._joints,
            topics.rover.cmd_vel: self._twist,
            topics.rover.scan: lambda now, _: state.scan(now),
            topics.rover.battery_state: self._battery,
            topics.rover.adapter_presence: self._presence,
            topics.status.adapter: self._status,
            topics.status.kernel: self._heartbeat,
            topics.trace.events: self._trace,
        }
        self._cmd_vel = topics.rover.cmd_vel
        has_wheels = state.robot.mobile_base
        self._wheels = WheelSpeed(state.thresholds.motion.wheel_joints if has_wheels else ())

    def _odometry(self, now: float, message: Any) -> None:
        pose, twist = message.pose.pose, message.twist.twist
        q = pose.orientation
        upright = 1.0 - 2.0 * (q.x * q.x + q.y * q.y)  # z of the body on z of the world
        self._state.odometry(
            now,
            math.copysign(math.hypot(twist.linear.x, twist.linear.y), twist.linear.x),
            twist.angular.z,
            (pose.position.x, pose.position.y),
            math.acos(max(-1.0, min(1.0, upright))),
        )

    def _joints(self, now: float, message: Any) -> None:
        positions = dict(zip(message.name, message.position, strict=False))
        if (fastest_radps := self._wheels.measure(message)) is not None:
            self._state.wheels(now, fastest_radps)
        mast = self._state.thresholds.mast.joints
        if self._state.robot.has_mast and positions.keys() >= set(mast):
            self._state.joints(now, *(positions[joint] for joint in mast))
        for name, part in self._state.robot.appendages.items():
            if positions.keys() >= set(part.joints):
                self._state.appendage(now, name, [positions[joint] for joint in part.joints])

    def _twist(self, now: float, message: Any) -> None:
        self._state.twist(now, is_zero=message.linear.x == 0.0 and message.angular.z == 0.0)

    def _battery(self, _: float, message: Any) -> None:
        if math.isfinite(message.percentage):
            self._state.battery(message.percentage)

    def _presence(self, now: float, message: Any) -> None:
        value = _json_object(message.data)
        if value.get('rover') == self._cmd_vel:
            self._state.presence(now, str(value.get('identity')))

    def _status(self, now: float, message: Any) -> None:
        self._state.status(now, _json_object(message.data))

    def _heartbeat(self, now: float, message: Any) -> None:
        heartbeat = decode_heartbeat(message.data)
        if heartbeat is not None:
            self._state.heartbeat(now, *heartbeat, decode_calls(message.data))

    def _trace(self, _: float, message: Any) -> None:
        event = decode(message.data)
        if started := NodeStarted.of(event):
            self._state.node_started(started.node)
            return
        service = (event.data or {}).get('service')
        name = service.rpartition('/')[2] if isinstance(service, str) else event.tool_name
        if name in MOTIONS:
            self._state.asked(name, by_agent=False)


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
