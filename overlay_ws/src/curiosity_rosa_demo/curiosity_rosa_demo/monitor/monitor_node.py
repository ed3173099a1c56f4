# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""ROS node of the independent monitor: verdicts on a topic and in the diagnostics, and a stop
through the adapter while a critical requirement is violated. One node on one thread.

Time runs as the simulation's when that is slower than ours, as the adapter's status tells, so
that a slow simulator does not look like a slow stop.
"""

from __future__ import annotations

from dataclasses import asdict
import json
import math
import sys
import time

from curiosity_rosa_demo.domain.serde import read_object
from curiosity_rosa_demo.infra.diagnostics import Diagnostics, Finding, Level
from curiosity_rosa_demo.infra.process import node_config, Process, run_app, SpinThread
from curiosity_rosa_demo.infra.ros_io import (
    GuardedPublisher,
    history_qos,
    LossCounter,
    NEWEST_ONLY,
    STEADY_CLOCK,
    subscribe_to_button,
    TracePublisher,
    TRANSPORT_ERRORS,
)
from curiosity_rosa_demo.monitor.inputs import MessageInputs
from curiosity_rosa_demo.monitor.monitor import limits_of, load_requirements, Monitor, Verdict
from curiosity_rosa_demo.monitor.signals import bits, RATE_HZ, SignalState
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
import rclpy
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import BatteryState, JointState, LaserScan
from std_msgs.msg import String, UInt64
from std_srvs.srv import Trigger

STEP_S = 1.0 / RATE_HZ
GRAPH_PERIOD_S = 1.0
STOP_AGAIN_S = 1.0  # between two stops while a violation lasts
VERDICTS_KEPT = 20  # for late subscribers
EVERY_CALL = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)


class MonitorApp:
    """All private methods run in callbacks of the one thread."""

    def __init__(self, process: Process) -> None:
        self._node = rclpy.create_node('monitor')
        config = node_config(self._node)
        topics, thresholds = config.topics, config.thresholds
        self._topics = topics
        self._state = SignalState(thresholds, config.guardrails.geofence, config.robot)
        self._monitor = Monitor(load_requirements(), limits_of(thresholds))
        self._steady_s, self._now_s, self._pace = time.monotonic(), 0.0, 1.0
        self._stop_at_s = -math.inf
        self._stops = self._violations = 0
        losses = LossCounter()
        self._verdicts = GuardedPublisher(
            self._node, String, topics.monitor.verdicts, history_qos(VERDICTS_KEPT), losses
        )
        self._signals = GuardedPublisher(self._node, UInt64, topics.monitor.signals, 10, losses)
        self._stop = self._node.create_client(Trigger, topics.adapter.move_stop.name)
        receive = MessageInputs(self._state, topics).by_topic
        history = history_qos(thresholds.trace.buffer_size)
        for kind, topic, qos in (
            (Odometry, topics.rover.odometry, NEWEST_ONLY),
            (JointState, topics.rover.joint_states, NEWEST_ONLY),
            (LaserScan, topics.rover.scan, NEWEST_ONLY),
            (BatteryState, topics.rover.battery_state, NEWEST_ONLY),
            (Twist, topics.rover.cmd_vel, EVERY_CALL),
            (String, topics.rover.adapter_presence, EVERY_CALL),
            (String, topics.status.adapter, EVERY_CALL),
            (String, topics.status.kernel, EVERY_CALL),
            (String, topics.trace.events, history),
        ):
            self._node.create_subscription(
                kind, topic, lambda message, show=receive[topic]: show(self._now_s, message), qos
            )
        self._node.create_subscription(String, topics.status.adapter, self._on_status, EVERY_CALL)
        subscribe_to_button(
            self._node,
            topics.rover.e_stop,
            lambda pressed: self._state.e_stop(self._now_s, pressed),
        )
        self._trace = TracePublisher(self._node, config, losses)
        self._trace.announce('monitor started')
        self._node.create_timer(STEP_S, self._step, clock=STEADY_CLOCK)
        self._node.create_timer(GRAPH_PERIOD_S, self._read_graph, clock=STEADY_CLOCK)
        Diagnostics(self._node, config, 'requirements', self._diagnose, losses)
        self._spin = SpinThread('monitor', self._node, on_crash=process.crash)

    def close(self) -> None:
        self._spin.close()
        self._node.destroy_node()

    def _on_status(self, message: String) -> None:
        """Take the measured real-time factor from the adapter's status."""
        factor = read_object(message.data).get('real_time_factor')
        self._pace = min(1.0, factor) if isinstance(factor, float) and factor > 0.0 else 1.0

    def _step(self) -> None:
        steady_s = time.monotonic()
        self._now_s += (steady_s - self._steady_s) * self._pace
        self._steady_s = steady_s
        clock = self._node.get_clock()
        if clock.ros_time_is_active:
            self._state.clock(self._now_s, clock.now().nanoseconds * 1e-9)
        signals = self._state.at(self._now_s)
        for verdict in self._monitor.step(self._now_s, signals):
            self._tell(verdict)
        if any(each.severity == 'critical' for each in self._monitor.violated):
            self._stop_rover()
        self._signals.publish(UInt64(data=bits(signals)))

    def _tell(self, verdict: Verdict) -> None:
        self._violations += not verdict.ok
        age_s = self._now_s - verdict.at_s
        at = self._node.get_clock().now().nanoseconds * 1e-9 - age_s
        self._verdicts.publish(String(data=json.dumps({**asdict(verdict), 'at_s': round(at, 3)})))
        if not verdict.ok:
            self._trace.alarm(f'Requirement {verdict.requirement} violated: {verdict.title}')

    def _stop_rover(self) -> None:
        """Ask the adapter for a stop, and do not wait for it. An absent adapter is not called."""
        if self._steady_s - self._stop_at_s < STOP_AGAIN_S or not self._stop.service_is_ready():
            return
        self._stop_at_s = self._steady_s
        try:
            self._stop.call_async(Trigger.Request())
        except TRANSPORT_ERRORS:
            return  # the next step after STOP_AGAIN_S tries again
        self._stops += 1

    def _read_graph(self) -> None:
        heartbeats = self._node.count_publishers(self._topics.status.kernel)
        drivers = self._node.count_publishers(self._topics.rover.cmd_vel)
        adapters = self._node.count_publishers(self._topics.status.adapter)
        # The rover's own driver is one of the publishers of Twists, each adapter another.
        self._state.publishers(
            heartbeats=heartbeats, foreign_drivers=max(0, drivers - adapters - 1)
        )
        if heartbeats == 0:
            self._state.agent_left(self._now_s)

    def _diagnose(self) -> Finding:
        violated = {
            f'{each.id} violated: {each.title}': Level.ERROR
            if each.severity in ('critical', 'warning')
            else Level.WARN
            for each in self._monitor.violated
        }
        return Finding(
            violated,
            'all requirements hold',
            {'violations': self._violations, 'stops_asked': self._stops},
        )


def main() -> None:
    sys.exit(run_app('monitor', MonitorApp))
