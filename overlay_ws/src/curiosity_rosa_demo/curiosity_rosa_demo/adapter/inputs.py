# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Subscriptions that feed the rules: odometry, joint states, commands of a drive, e-stop, the
agent's heartbeat, the other adapters, the scan.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import partial
import math
import time
from typing import Any
import uuid

from curiosity_rosa_demo.adapter.agent_link import OtherAdapters, PERIOD_S, Presence
from curiosity_rosa_demo.adapter.graph import CallTrace, GraphThread
from curiosity_rosa_demo.adapter.part import MAST
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.adapter.watches import Pose, tilt_of
from curiosity_rosa_demo.domain.adapter_status import decode_heartbeat
from curiosity_rosa_demo.domain.geometry import yaw_of
from curiosity_rosa_demo.infra.clocks import SimulatedTime
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.obstacles import RoverShape, view_of
from curiosity_rosa_demo.infra.ros_io import (
    GuardedPublisher,
    LossCounter,
    make_transform_source,
    NEWEST_ONLY,
    publishers,
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
ODOMETRY, JOINTS, HEARTBEAT, SCAN = 'odometry', 'joint states', 'heartbeat', 'scan'

POSE_WINDOW_S = 0.3  # three readings at 10 Hz; simulated
POSE_NOISE_M, POSE_NOISE_RAD = 0.03, 0.03  # in that time


class PoseSpeed:
    """The speeds of odometry, m/s and rad/s. Some sources fill in no twist: while none but zeros
    was heard, the pose tells how fast the rover moves.
    """

    def __init__(self) -> None:
        self._has_twist = False
        self._since: tuple[float, Pose] | None = None
        self._by_pose = 0.0, 0.0

    def of(
        self, speed: float, turn_rate: float, pose: Pose, time: SimulatedTime
    ) -> tuple[float, float]:
        self._has_twist |= (speed, turn_rate) != (0.0, 0.0)
        if self._has_twist or not all(map(math.isfinite, pose)):
            return speed, turn_rate
        since, before = self._since = self._since or (time.steady, pose)
        elapsed_s = time.steady - since
        metres = math.dist(before[:2], pose[:2])
        turned = abs(math.remainder(pose[2] - before[2], math.tau))
        is_over = elapsed_s >= time.stretched(POSE_WINDOW_S)
        if elapsed_s > 0.0 and (metres > POSE_NOISE_M or turned > POSE_NOISE_RAD):
            self._by_pose = metres / elapsed_s, turned / elapsed_s
        elif is_over:
            self._by_pose = 0.0, 0.0
        if is_over:
            self._since = time.steady, pose
        return self._by_pose


class Inputs:
    """``taking`` gives the rules for some steps: under the adapter's lock, and what is due after
    them is executed at its end. ``calls`` learns from a heartbeat, without the lock, how many
    calls the agent has sent.

    The scan comes on ``scan_node``, and on a thread of its own, so that no other lane waits for
    it. Each is projected into the base frame; the rover's body is that of its parts' posture.
    """

    def __init__(
        self,
        node: Node,
        config: Config,
        rules: Rules,
        taking: Callable[[], AbstractContextManager[Rules]],
        graph: GraphThread,
        calls: CallTrace,
        losses: LossCounter,
    ) -> None:
        self._node, self._thresholds, self._frames = node, config.thresholds, config.topics.tf
        self._rules, self._taking, self._graph, self._calls = rules, taking, graph, calls
        motion, rover = config.thresholds.motion, config.topics.rover
        self._heartbeat_topic = config.topics.status.kernel
        self._wheels = WheelSpeed(motion.wheel_joints if config.robot.mobile_base else ())
        self._speeds = PoseSpeed()
        self._scans = 0
        self._newest: dict[str, tuple[Any, ...]] = {}  # by source: what tells it from a copy
        self._received_s: dict[str, float | None] = {ODOMETRY: None, JOINTS: None, HEARTBEAT: None}

        node.create_subscription(Odometry, rover.odometry, self._on_odometry, NEWEST_ONLY)
        node.create_subscription(JointState, rover.joint_states, self._on_joints, NEWEST_ONLY)
        drives = {rover.cmd_vel: Twist, rover.wheel_commands: Float64MultiArray}
        for topic, kind in drives.items():
            if topic and config.robot.mobile_base:
                heard = partial(self._on_drive_command, topic)
                node.create_subscription(kind, topic, heard, NEWEST_ONLY, raw=True)
        subscribe_to_heartbeat(
            node,
            self._heartbeat_topic,
            motion.agent_lease_s,
            self._on_heartbeat,
            self._on_publishers,
        )
        subscribe_to_button(node, rover.e_stop, self._on_e_stop)

        name, identity = node.get_fully_qualified_name(), uuid.uuid4().hex
        own_rover = node.resolve_topic_name(rover.cmd_vel)
        own = Presence(node=name, identity=identity, rover=own_rover)
        self._others = OtherAdapters(own)
        self._presence = String(data=own.model_dump_json())
        topic = rover.adapter_presence
        self._presence_topic = GuardedPublisher(node, String, topic, PRESENCE_QOS, losses)
        node.create_subscription(String, topic, self._on_presence, PRESENCE_QOS)
        node.create_timer(PERIOD_S, self._tell_presence, clock=STEADY_CLOCK)

        self.scan_node, self._scan_topic = Node('adapter_scan'), rover.scan
        if rules.obstacles.enabled:
            self._transforms = make_transform_source(self.scan_node, config)
            self.scan_node.create_subscription(LaserScan, rover.scan, self._on_scan, NEWEST_ONLY)

    def ages_s(self) -> dict[str, float | None]:
        """Seconds since the last message of each source; None: never, or the agent is gone."""
        now_s = time.monotonic()
        return {
            source: None if received_s is None else now_s - received_s
            for source, received_s in self._received_s.items()
        }

    def _on_odometry(self, message: Odometry) -> None:
        pose, twist, q = message.pose.pose, message.twist.twist, message.pose.pose.orientation
        place = (pose.position.x, pose.position.y, yaw_of(q))
        speeds = math.hypot(twist.linear.x, twist.linear.y), twist.angular.z
        if self._is_copy(ODOMETRY, message, place, *speeds):
            return
        with self._taking() as rules:
            self._received_s[ODOMETRY] = time.monotonic()
            known = place if all(map(math.isfinite, place)) else None
            speeds = self._speeds.of(*speeds, place, rules.time)
            rules.odometry(known, *speeds, tilt_of(q.x, q.y, q.z, q.w))

    def _is_copy(self, source: str, message: Any, *reading: Any) -> bool:
        """Whether it repeats the message before it, as a frozen sensor does: that is no news.
        Without a stamp nobody can tell.
        """
        before, at_ns = self._newest.get(source), stamp_ns(message)
        self._newest[source] = (at_ns, *reading)
        return at_ns != 0 and self._newest[source] == before

    def _on_joints(self, message: JointState) -> None:
        """A message holds all joints of a controller, and may hold those of several."""
        positions = dict(zip(message.name, message.position, strict=False))
        fastest_radps = self._wheels.measure(message)
        seen = {
            name: [float(positions[joint]) for joint in part.joints]
            for name, part in self._rules.parts.items()
            if positions.keys() >= set(part.joints)
        }
        if fastest_radps is None and not seen:
            return
        with self._taking() as rules:
            if fastest_radps is not None and rules.moving:
                rules.wheels(fastest_radps)  # of a rover that stands they would fill the log
            for part, angles in seen.items():
                if part == MAST:
                    self._received_s[JOINTS] = time.monotonic()
                rules.joints(part, angles)

    def _on_drive_command(self, topic: str, _: bytes) -> None:
        with self._taking() as rules:
            if rules.moving:  # a rover that stands repeats its zeros
                rules.drive_command(topic)

    def _on_e_stop(self, pressed: bool) -> None:
        with self._taking() as rules:
            rules.set_e_stop(pressed)

    # --- the agent --------------------------------------------------------------------------

    def _on_heartbeat(self, message: String) -> None:
        heartbeat = decode_heartbeat(message.data)
        if heartbeat is None:
            return
        tick, safe_reason, calls = heartbeat
        with self._taking() as rules:
            self._received_s[HEARTBEAT] = time.monotonic()
            rules.heartbeat(tick, safe_reason)
        if calls is not None:
            self._calls.record_sent(tick, calls)

    def _on_publishers(self, alive: int) -> None:
        with self._taking() as rules:
            rules.agents(alive, [])  # two stop the rover before their names are known
        self._graph.soon()

    def look_for_agents(self) -> None:
        """A look into the graph: name several agents, and forget the heartbeat of an agent without
        a publisher, so that a person can call the services.
        """
        heard_s, agent = self._received_s[HEARTBEAT], self._rules.agent
        names = publishers(self._node, self._heartbeat_topic)
        if agent.alive < 2 and (names or heard_s is None):
            return
        with self._taking() as rules:
            if agent.alive > 1 and names != agent.names:
                rules.agents(agent.alive, names)
            silent = self._received_s[HEARTBEAT] == heard_s  # since the look
            if agent.received and not names and silent:
                rules.agent_gone()
                if not agent.received:
                    self._received_s[HEARTBEAT] = None

    # --- the other adapters -----------------------------------------------------------------

    def _on_presence(self, message: String) -> None:
        self._others.record(message.data, time.monotonic())
        self._tell_others()

    def _tell_presence(self) -> None:
        self._presence_topic.publish(self._presence)
        self._tell_others()

    def _tell_others(self) -> None:
        names = self._others.names(time.monotonic())
        if names != self._rules.other_adapters:
            with self._taking() as rules:
                rules.adapters(names)

    # --- the scan ---------------------------------------------------------------------------

    def _on_scan(self, message: LaserScan) -> None:
        if self._is_copy(SCAN, message, message.header.frame_id):
            return
        seen: tuple[bool, dict[str, float]] | tuple[()] = ()
        with suppress(TransformUnavailable):
            sensor = level_pose(
                self._transforms, self._frames, message.header.frame_id, at_ns=stamp_ns(message)
            )
            stowed = [name for name, part in self._rules.parts.items() if part.is_stowed]
            view = view_of(message, sensor, RoverShape.of(self._thresholds, stowed))
            seen = view.sees_ahead, dict(view.free_m)
        with self._taking() as rules:
            self._scans += 1
            rules.scan(*seen)

    def look_for_scan(self) -> None:
        """A look into the graph: a scan without a publisher."""
        before = self._scans
        if not self._rules.obstacles.enabled or self.scan_node.count_publishers(self._scan_topic):
            return
        with self._taking() as rules:
            if self._scans == before:  # none has arrived since the look
                rules.scan_gone()
