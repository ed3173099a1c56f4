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

import argparse
from collections.abc import Callable, Iterator, Sequence
import math
from pathlib import Path
import sys
from typing import Any

from curiosity_rosa_demo.domain.adapter_status import decode_heartbeat
from curiosity_rosa_demo.domain.serde import read_object
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.infra.config.topics import Config, Topics
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from curiosity_rosa_demo.infra.wheel_speed import WheelSpeed
from curiosity_rosa_demo.monitor.monitor import limits_of, load_requirements, Monitor, Verdict
from curiosity_rosa_demo.monitor.signals import MAST, MOTIONS, SignalState
from curiosity_rosa_demo.recording.file import Decoder, NotARecording, RunReader
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
        robot, thresholds = state.robot, state.thresholds
        self._wheels = WheelSpeed(thresholds.motion.wheel_joints if robot.mobile_base else ())
        self._joints_of = {name: part.joints for name, part in robot.appendages.items()}
        if robot.has_mast:
            self._joints_of[MAST] = thresholds.mast.joints

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
        for name, joints in self._joints_of.items():
            if positions.keys() >= set(joints):
                self._state.part(now, name, [positions[joint] for joint in joints])

    def _twist(self, now: float, message: Any) -> None:
        self._state.twist(now, is_zero=message.linear.x == 0.0 and message.angular.z == 0.0)

    def _battery(self, _: float, message: Any) -> None:
        if math.isfinite(message.percentage):
            self._state.battery(message.percentage)

    def _presence(self, now: float, message: Any) -> None:
        value = read_object(message.data)
        if value.get('rover') == self._cmd_vel:
            self._state.presence(now, str(value.get('identity')))

    def _status(self, now: float, message: Any) -> None:
        self._state.status(now, read_object(message.data))

    def _heartbeat(self, now: float, message: Any) -> None:
        heartbeat = decode_heartbeat(message.data)
        if heartbeat is not None:
            self._state.heartbeat(now, *heartbeat)

    def _trace(self, _: float, message: Any) -> None:
        event = decode(message.data)
        if started := NodeStarted.of(event):
            self._state.node_started(started.node)
            return
        service = (event.data or {}).get('service')
        name = service.rpartition('/')[2] if isinstance(service, str) else event.tool_name
        if name in MOTIONS:
            self._state.asked(name, by_agent=False)


# --- Check a recording against the requirements -------------------------------------------------
# Exit status: 0 without a violation, 1 with one, 2 if the file cannot be read. A requirement whose
# signals need a topic that the file does not have cannot be violated in it; the last line names
# the topics that were missing.

STEP_S = 0.05


def verdicts(file: Path, config: Config, missing: set[str]) -> Iterator[Verdict]:
    """Those of a file, with its times in seconds since its first message. ``missing`` becomes the
    topics that it does not have. Raises NotARecording, OSError.
    """
    state = SignalState(config.thresholds, config.guardrails.geofence, config.robot)
    by_topic = MessageInputs(state, config.topics).by_topic
    monitor = Monitor(load_requirements(), limits_of(config.thresholds))
    missing |= set(by_topic)
    first_ns: int | None = None
    stepped_s, decoder = 0.0, Decoder()
    for entry in RunReader(file):
        first_ns = entry.at_ns if first_ns is None else first_ns
        now_s = (entry.at_ns - first_ns) * 1e-9
        while stepped_s < now_s:  # silence is seen although nothing arrives
            yield from monitor.step(stepped_s, state.at(stepped_s))
            stepped_s += STEP_S
        receive = by_topic.get(entry.topic)
        message = decoder.decode(entry) if receive else None
        if receive and message is not None:
            missing.discard(entry.topic)
            receive(now_s, message)
    yield from monitor.step(stepped_s, state.at(stepped_s))


def run(arguments: Sequence[str]) -> int:
    """Print each violation in a file; the exit status."""
    parser = argparse.ArgumentParser(
        prog='monitor', description='Check a recording against the requirements.'
    )
    parser.add_argument('file', type=Path, help='an MCAP file, such as :record makes')
    parser.add_argument('--config-dir', default='', help='folder of the YAML files of that run')
    options = parser.parse_args(arguments)
    missing, violations = set[str](), 0
    try:
        for verdict in verdicts(options.file, load_config(options.config_dir), missing):
            violations += not verdict.ok
            state = 'holds again' if verdict.ok else f'VIOLATED ({verdict.severity})'
            print(f'{verdict.at_s:10.2f} s  {verdict.requirement:6} {state}: {verdict.title}')
    except (NotARecording, ConfigError, OSError) as error:
        print(f'monitor: {error}', file=sys.stderr)
        return 2
    print(count_text(violations, 'violation') if violations else 'no violation')
    if missing:
        print(f'not in the file: {", ".join(sorted(missing))}')
    return 1 if violations else 0


def main() -> None:
    sys.exit(run(sys.argv[1:]))
