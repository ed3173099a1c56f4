# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Subscriptions that feed the rules: odometry, joint states, commands of a drive, e-stop, the
agent's heartbeat, the other adapters, the scan.

``taking`` gives the rules for some steps: under the adapter's lock, and what is due after them is
executed at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
import math
import time
import uuid

from curiosity_rosa_demo.adapter.agent_link import (
    decode_presence,
    OtherAdapters,
    PERIOD_S,
    Presence,
)
from curiosity_rosa_demo.adapter.drive_watch import Pose, tilt_of
from curiosity_rosa_demo.adapter.graph import GraphThread, publishers
from curiosity_rosa_demo.adapter.part import MAST
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.domain.adapter_status import decode_heartbeat
from curiosity_rosa_demo.domain.geometry import yaw_of
from curiosity_rosa_demo.infra.config.topics import Config, RoverTopics
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
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState, LaserScan
from std_msgs.msg import Float64MultiArray, String

PRESENCE_QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
ODOMETRY, JOINTS, HEARTBEAT = 'odometry', 'joint states', 'heartbeat'
Taking = Callable[[], AbstractContextManager[Rules]]


class PresenceLink:
    """Publishes the adapter's presence, and tells the rules of other adapters of its rover."""

    def __init__(
        self, node: Node, rover: RoverTopics, taking: Taking, losses: LossCounter
    ) -> None:
        self._taking, self._known = taking, tuple[str, ...]()
        name = node.get_fully_qualified_name()
        own = Presence(node=name, identity=uuid.uuid4().hex, rover=rover.cmd_vel)
        self._message = String(data=own.model_dump_json())
        self._others = OtherAdapters(own)
        topic = rover.adapter_presence
        self._publisher = GuardedPublisher(node, String, topic, PRESENCE_QOS, losses)
        node.create_subscription(String, topic, self._on_presence, PRESENCE_QOS)
        node.create_timer(PERIOD_S, self._on_timer, clock=STEADY_CLOCK)

    def _on_presence(self, message: String) -> None:
        presence = decode_presence(message.data)
        if presence is not None:
            self._others.record(presence, time.monotonic())
            self._tell_rules()

    def _on_timer(self) -> None:
        self._publisher.publish(self._message)
        self._tell_rules()

    def _tell_rules(self) -> None:
        names = self._others.names(time.monotonic())
        if names != self._known:
            self._known = names
            with self._taking() as rules:
                rules.adapters(names)


class ScanInput:
    """The rover's scan, on a node and a thread of its own, so that no other lane waits for it.
    Each is projected into the base frame; the rover's body is that of its parts' posture.
    """

    def __init__(self, config: Config, rules: Rules, taking: Taking, graph: GraphThread) -> None:
        self.node = Node('adapter_scan')
        self._rules, self._taking = rules, taking
        self._scans = 0
        if not rules.obstacles.enabled:
            return
        self._thresholds = config.thresholds
        self._frames = config.topics.tf
        self._topic = config.topics.rover.scan
        self._transforms = make_transform_source(self.node, config)
        self.node.create_subscription(LaserScan, self._topic, self._on_scan, NEWEST_ONLY)
        graph.add(self._look_for_publisher)

    def _on_scan(self, message: LaserScan) -> None:
        view = self._view(message)
        with self._taking() as rules:
            self._scans += 1
            rules.scan(*() if view is None else (view.sees_ahead, dict(view.free_m)))

    def _view(self, message: LaserScan) -> ObstacleView | None:
        try:
            sensor = level_pose(
                self._transforms, self._frames, message.header.frame_id, at_ns=stamp_ns(message)
            )
        except TransformUnavailable:
            return None
        stowed = [name for name, part in self._rules.parts.items() if part.is_stowed]
        return view_of(message, sensor, RoverShape.of(self._thresholds, stowed))

    def _look_for_publisher(self) -> None:
        before = self._scans
        if self.node.count_publishers(self._topic):
            return
        with self._taking() as rules:
            if self._scans == before:  # none has arrived since the look
                rules.scan_gone()


class TelemetryInputs:
    """``joints``: the names of those of each part, by part. ``wheels``: those of the wheels'
    joints. ``on_calls`` gets the tick of a heartbeat and the numbers of the calls that the agent
    has sent, without the lock.
    """

    def __init__(
        self,
        node: Node,
        config: Config,
        taking: Taking,
        graph: GraphThread,
        *,
        on_calls: Callable[[int, dict[str, int]], None],
        joints: Mapping[str, Sequence[str]],
        wheels: Sequence[str],
    ) -> None:
        topics = config.topics
        self._node, self._taking, self._graph = node, taking, graph
        self._on_calls, self._joints, self._wheels = on_calls, joints, WheelSpeed(wheels)
        self._heartbeat_topic = topics.status.kernel
        self._agents_alive = 0
        self._agents: list[str] = []  # their names, as the rules know them
        self.pose: Pose | None = None
        self.mast_turn: float | None = None
        self._received_s: dict[str, float | None] = {ODOMETRY: None, JOINTS: None, HEARTBEAT: None}
        node.create_subscription(Odometry, topics.rover.odometry, self._on_odometry, NEWEST_ONLY)
        node.create_subscription(
            JointState, topics.rover.joint_states, self._on_joints, NEWEST_ONLY
        )
        drives = {topics.rover.cmd_vel: Twist, topics.rover.wheel_commands: Float64MultiArray}
        for topic, kind in drives.items():
            if topic and config.robot.mobile_base:
                heard = partial(self._on_drive_command, topic)
                node.create_subscription(kind, topic, heard, NEWEST_ONLY, raw=True)
        lease_s = config.thresholds.motion.agent_lease_s
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
        place = (pose.position.x, pose.position.y, yaw_of(pose.orientation))
        q = pose.orientation
        with self._taking() as rules:
            self._received_s[ODOMETRY] = time.monotonic()
            self.pose = place if all(map(math.isfinite, place)) else None
            speed = math.hypot(twist.linear.x, twist.linear.y)
            rules.odometry(self.pose, speed, twist.angular.z, tilt_of(q.x, q.y, q.z, q.w))

    def _on_joints(self, message: JointState) -> None:
        """A message holds all joints of a controller, and may hold those of several."""
        positions = dict(zip(message.name, message.position, strict=False))
        fastest_radps = self._wheels.measure(message)
        seen = {
            part: [float(positions[joint]) for joint in joints]
            for part, joints in self._joints.items()
            if positions.keys() >= set(joints)
        }
        if fastest_radps is None and not seen:
            return
        with self._taking() as rules:
            if fastest_radps is not None and rules.moving:
                rules.wheels(fastest_radps)  # of a rover that stands they would fill the log
            for part, angles in seen.items():
                if part == MAST:
                    self._received_s[JOINTS] = time.monotonic()
                    self.mast_turn = angles[1] if math.isfinite(angles[1]) else None
                rules.joints(part, angles)

    def _on_drive_command(self, topic: str, _: bytes) -> None:
        with self._taking() as rules:
            if rules.moving:  # a rover that stands repeats its zeros
                rules.drive_command(topic)

    def _on_e_stop(self, pressed: bool) -> None:
        with self._taking() as rules:
            rules.set_e_stop(pressed)

    def _on_heartbeat(self, message: String) -> None:
        heartbeat = decode_heartbeat(message.data)
        if heartbeat is None:
            return
        tick, safe_reason, calls = heartbeat
        with self._taking() as rules:
            self._received_s[HEARTBEAT] = time.monotonic()
            rules.heartbeat(tick, safe_reason)
        if calls is not None:
            self._on_calls(tick, calls)

    def _on_publishers(self, alive: int) -> None:
        with self._taking() as rules:
            self._agents_alive, self._agents = alive, []
            rules.agents(alive, [])  # two stop the rover before their names are known
        self._graph.soon(self._look_for_agents)

    def _look_for_agents(self) -> None:
        """Name several agents, and forget the heartbeat of an agent without a publisher, so that a
        person can call the services.
        """
        heard_s = self._received_s[HEARTBEAT]
        names = publishers(self._node, self._heartbeat_topic)
        if self._agents_alive < 2 and (names or heard_s is None):
            return
        with self._taking() as rules:
            if self._agents_alive > 1 and names != self._agents:
                self._agents = names
                rules.agents(self._agents_alive, names)
            silent = self._received_s[HEARTBEAT] == heard_s  # since the look
            if rules.agent.received and not names and silent:
                rules.agent_gone()
                if not rules.agent.received:
                    self._received_s[HEARTBEAT] = None
