# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Recordings made by hand, without nodes."""

from __future__ import annotations

import array
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.recording.channels import (
    CALLS_CHANNEL,
    Channel,
    definition,
    recorded_channels,
)
from curiosity_rosa_demo.recording.file import RunFile
from curiosity_rosa_demo.trace.trace_codec import encode
from mcap.reader import make_reader
from nav_msgs.msg import Odometry
from rclpy.serialization import serialize_message
from sensor_msgs.msg import BatteryState, CompressedImage
from std_msgs.msg import String

CONFIG = load_config()
BEGAN_NS = 1_900_000_000_000_000_000
DRIVE_JPEG = b'\xff\xd8a picture\xff\xd9'
INFO = {'domain': '7', 'thresholds': CONFIG.thresholds.model_dump_json()}


@cache
def channels() -> dict[str, Channel]:
    """All that a recording may hold, by role."""
    every = recorded_channels(CONFIG.topics, CONFIG.agent.recording.rates)
    described = {each.role: replace(each, schema=definition(each.type)) for each in every}
    return {**described, 'calls': CALLS_CHANNEL}


def a_string(text: str) -> bytes:
    return bytes(serialize_message(String(data=text)))


def an_event(event: TraceEvent) -> bytes:
    return a_string(encode(event))


def a_picture(data: bytes, *, stamp_s: float = 0.0) -> bytes:
    message = CompressedImage(format='jpeg', data=array.array('B', data))
    message.header.stamp.sec = int(stamp_s)
    message.header.stamp.nanosec = round(stamp_s % 1 * 1e9)
    return bytes(serialize_message(message))


def an_odometry(x: float, y: float = 0.0) -> bytes:
    message = Odometry()
    message.pose.pose.position.x, message.pose.pose.position.y = x, y
    return bytes(serialize_message(message))


def a_battery(fraction: float) -> bytes:
    return bytes(serialize_message(BatteryState(percentage=fraction)))


def by_library(path: Path) -> list[bytes]:
    """As anybody else reads it: the index at the end first, where there is one."""
    with path.open('rb') as file:
        return [message.data for _, _, message in make_reader(file).iter_messages()]


RawMessage = tuple[str, float, bytes]  # role, seconds since BEGAN_NS, payload


def write_run(
    path: Path, said: Iterable[RawMessage], *, end: bool = True, info: Any = None
) -> Path:
    file = RunFile(path, INFO if info is None else info)
    for role, at_s, data in said:
        file.write(channels()[role], data, BEGAN_NS + round(at_s * 1e9))
    file.flush()
    if end:
        file.finish({'dropped': '0', 'why': 'the end of the test'})
    else:
        file.close()
    return path


def traced(name: str, at_s: float, kind: TraceKind, message: str, **fields: Any) -> RawMessage:
    ts = BEGAN_NS * 1e-9 + at_s
    made = TraceEvent(event_id=name, ts=ts, kind=kind, message=message, **fields)
    return 'trace', at_s, an_event(made)


def captured(name: str, at_s: float, **fields: Any) -> RawMessage:
    tool = 'capture_and_score'
    return traced(name, at_s, TraceKind.RESULT, 'captured', tool_name=tool, **fields)


def a_drive(picture: bytes = DRIVE_JPEG) -> list[RawMessage]:
    """One metre a second for ten; a capture at 4 s; an error at 8 s."""
    slipped = {'tool_name': 'move_forward', 'ok': False}
    said: list[RawMessage] = [
        captured('one', 4.0, ok=True, score=0.9, data={'is_good': True}),
        ('capture', 4.1, a_picture(picture)),
        traced('two', 8.0, TraceKind.ERROR, 'The wheel slips', **slipped),
    ]
    for second in range(11):
        said.append(('odometry', float(second), an_odometry(float(second))))
        said.append(('battery', float(second), a_battery(0.9 - second / 100)))
    return sorted(said, key=lambda each: each[1])
