# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Subscriptions that feed the rules: odometry, joint states, e-stop, the agent's heartbeat, the
other adapters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
import math
import time
from typing import Any
import uuid

from curiosity_rosa_demo.adapter.agent_link import (
    decode_presence,
    encode_presence,
    OtherAdapters,
    PERIOD_S,
    Presence,
)
from curiosity_rosa_demo.adapter.drive_watch import tilt_of
from curiosity_rosa_demo.adapter.graph_names import GraphThread, publishers
from curiosity_rosa_demo.adapter.part import MAST
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.domain.geometry import yaw_of
from curiosity_rosa_demo.domain.heartbeat import decode_calls, decode_heartbeat
from curiosity_rosa_demo.infra.clocks import SimulationClock
from curiosity_rosa_demo.infra.config.topics import Config, RoverTopics, Topics
from curiosity_rosa_demo.infra.obstacles import ObstacleView, RoverShape, view_of
from curiosity_rosa_demo.infra.ros_io import (
    GuardedPublisher,
    LossCounter,
    make_transform_source,
    NEWEST_ONLY,
    STEADY_CLOCK,
    subscribe_to_button,
    subscribe_to_heartbeat,
)
from curiosity_rosa_demo.infra.tf import level_pose, stamp_ns, TransformUnavailable
from curiosity_rosa_demo.infra.wheel_speed import WheelSpeed
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState, LaserScan
from std_msgs.msg import String

# -----------------------------------------------------------------------------------------------
# Publishes the adapter's presence, and tells the rules of other adapters of the same rover.


PRESENCE_QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)


class PresenceLink:
    """Updates the rules only under ``lock``, and calls ``on_input`` under the same lock."""

    def __init__(
        self,
        node: Node,
        rover: RoverTopics,
        rules: Rules,
        losses: LossCounter,
        *,
        lock: AbstractContextManager[Any],
        on_input: Callable[[], None],
    ) -> None:
        self._rules, self._lock, self._on_input = rules, lock, on_input
        own = Presence(node.get_fully_qualified_name(), uuid.uuid4().hex, rover.cmd_vel)
        self._message = String(data=encode_presence(own))
        self._others = OtherAdapters(own)
        topic = rover.adapter_presence
        self._publisher = GuardedPublisher.create(node, String, topic, PRESENCE_QOS, losses)
        node.create_subscription(String, topic, self._on_presence, PRESENCE_QOS)
        node.create_timer(PERIOD_S, self._on_timer, clock=STEADY_CLOCK)

    def _on_presence(self, message: String) -> None:
        presence = decode_presence(message.data)
        if presence is not None:
            self._others.record(presence, time.monotonic())
            self._update_rules()

    def _on_timer(self) -> None:
        self._publisher.publish(self._message)
        self._update_rules()

    def _update_rules(self) -> None:
        names = self._others.names(time.monotonic())
        with self._lock:
            if names != self._rules.other_adapters:
                self._rules.adapters(names)
                self._on_input()


# -----------------------------------------------------------------------------------------------
# The rover's scan, on a ROS node and a thread of its own, so that no other lane waits for it
#
# Each scan is projected into the base frame and given to the rules. The rover's body is that of
# the present posture of its parts.


class ScanInput:
    """Updates ``rules`` only under ``lock``, and calls ``on_input`` under it."""

    def __init__(
        self,
        config: Config,
        rules: Rules,
        *,
        graph: GraphThread,
        simulation: SimulationClock,
        lock: AbstractContextManager[Any],
        on_input: Callable[[], None],
    ) -> None:
        self.node = Node('adapter_scan')
        self._rules, self._lock, self._on_input = rules, lock, on_input
        self._scans = 0
        if not rules.obstacles.enabled:
            return
        self._thresholds = config.thresholds
        self._frames = config.topics.tf
        self._topic = config.topics.rover.scan
        self._transforms = make_transform_source(self.node, config, simulation)
        self.node.create_subscription(LaserScan, self._topic, self._on_scan, NEWEST_ONLY)
        graph.add(self._check_for_publisher)

    def _on_scan(self, message: LaserScan) -> None:
        view = self._view(message)
        with self._lock:
            self._scans += 1
            self._rules.scan(*() if view is None else (view.sees_ahead, dict(view.free_m)))
            self._on_input()

    def _view(self, message: LaserScan) -> ObstacleView | None:
        try:
            sensor = level_pose(
                self._transforms, self._frames, message.header.frame_id, at_ns=stamp_ns(message)
            )
        except TransformUnavailable:
            return None
        with self._lock:
            parts = self._rules.parts
            stowed = [name for name, part in parts.items() if part.is_stowed]
        return view_of(message, sensor, RoverShape.of(self._thresholds, stowed))

    def _check_for_publisher(self) -> None:
        before = self._scans
        if self.node.count_publishers(self._topic):
            return
        with self._lock:
            if self._scans == before:  # none has arrived since the look
                self._rules.scan_gone()


ODOMETRY, JOINTS, HEARTBEAT = 'odometry', 'joint states', 'heartbeat'


class TelemetryInputs:
    """Updates the rules only under ``lock``, and calls ``on_input`` under the same lock.
    ``joints``: the names of those of each part, by part. ``wheels``: those of the wheels' joints.
    ``on_calls`` gets the tick of a heartbeat and the numbers of the calls that the agent has sent,
    without the lock.
    """

    def __init__(
        self,
        node: Node,
        topics: Topics,
        lease_s: float,
        rules: Rules,
        *,
        graph: GraphThread,
        lock: AbstractContextManager[Any],
        on_input: Callable[[], None],
        on_calls: Callable[[int, dict[str, int]], None],
        joints: Mapping[str, Sequence[str]],
        wheels: Sequence[str],
    ) -> None:
        self._wheels = WheelSpeed(wheels)
        self._on_calls, self._joints = on_calls, joints
        self._node, self._rules, self._lock, self._on_input = node, rules, lock, on_input
        self._graph, self._heartbeat_topic = graph, topics.status.kernel
        self._agents_alive = 0
        self._agents: list[str] = []  # their names, as the rules know them
        self.pose: tuple[float, float, float] | None = None  # x, y, yaw: metres, radians
        self.mast_turn: float | None = None
        self.e_stop = False
        self._received_s: dict[str, float | None] = {ODOMETRY: None, JOINTS: None, HEARTBEAT: None}
        for message, topic, callback in (
            (Odometry, topics.rover.odometry, self._on_odometry),
            (JointState, topics.rover.joint_states, self._on_joints),
        ):
            node.create_subscription(message, topic, callback, NEWEST_ONLY)
        subscribe_to_heartbeat(
            node, self._heartbeat_topic, lease_s, self._on_heartbeat, self._on_publishers
        )
        subscribe_to_button(node, topics.rover.e_stop, self._on_e_stop)
        graph.add(self._look_for_agents)

    def ages_s(self) -> dict[str, float | None]:
        """Seconds since the last message of each source; None: never, or the agent is gone."""
        now_s = time.monotonic()
        return {
            source: None if received_s is None else now_s - received_s
            for source, received_s in self._received_s.items()
        }

    def _on_odometry(self, message: Odometry) -> None:
        pose, twist = message.pose.pose, message.twist.twist
        with self._lock:
            x_y_yaw = (pose.position.x, pose.position.y, yaw_of(pose.orientation))
            self._received_s[ODOMETRY] = time.monotonic()
            self.pose = x_y_yaw if all(map(math.isfinite, x_y_yaw)) else None
            q = pose.orientation
            self._rules.odometry(
                self.pose,
                math.hypot(twist.linear.x, twist.linear.y),
                twist.angular.z,
                tilt_of(q.x, q.y, q.z, q.w),
            )
            self._on_input()

    def _on_joints(self, message: JointState) -> None:
        """A message holds all joints of a controller, and may hold those of several."""
        positions = dict(zip(message.name, message.position, strict=False))
        self._record_wheels(message)
        for part, joints in self._joints.items():
            if not positions.keys() >= set(joints):
                continue
            angles = [float(positions[joint]) for joint in joints]
            with self._lock:
                if part == MAST:
                    self._received_s[JOINTS] = time.monotonic()
                    self.mast_turn = angles[1] if math.isfinite(angles[1]) else None
                self._rules.joints(part, angles)
                self._on_input()

    def _record_wheels(self, message: JointState) -> None:
        """A rover that stands needs no wheels: they would fill the log."""
        fastest_radps = self._wheels.measure(message)
        with self._lock:
            if fastest_radps is not None and self._rules.moving:
                self._rules.wheels(fastest_radps)
                self._on_input()

    def _on_e_stop(self, pressed: bool) -> None:
        with self._lock:
            self.e_stop = pressed
            self._rules.set_e_stop(pressed)
            self._on_input()

    def _on_heartbeat(self, message: String) -> None:
        heartbeat = decode_heartbeat(message.data)
        if heartbeat is None:
            return
        with self._lock:
            self._received_s[HEARTBEAT] = time.monotonic()
            self._rules.heartbeat(*heartbeat)
            self._on_input()
        if (calls := decode_calls(message.data)) is not None:
            self._on_calls(heartbeat[0], calls)

    def _on_publishers(self, alive: int) -> None:
        with self._lock:
            self._agents_alive, self._agents = alive, []
            self._rules.agents(alive, [])  # two stop the rover before their names are known
            self._on_input()
        self._graph.soon(self._look_for_agents)

    def _look_for_agents(self) -> None:
        """Name several agents, and forget the heartbeat of an agent without a publisher, so that a
        person can call the services.
        """
        heard_s = self._received_s[HEARTBEAT]
        names = publishers(self._node, self._heartbeat_topic)
        with self._lock:
            if self._agents_alive > 1 and names != self._agents:
                self._agents = names
                self._rules.agents(self._agents_alive, names)
                self._on_input()
            silent = self._received_s[HEARTBEAT] == heard_s  # since the look
            if self._rules.heartbeat_received and not names and silent:
                self._rules.agent_gone()
                if not self._rules.heartbeat_received:
                    self._received_s[HEARTBEAT] = None
                self._on_input()
