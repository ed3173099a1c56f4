# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The channels of a recording. A role names the purpose of each channel, e.g. ``odometry``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from curiosity_rosa_demo.infra.config.topics import Topics

CDR, JSON = 'cdr', 'json'
CALLS_TOPIC = '/service_calls'
CALLS_SCHEMA = """{
  "title": "curiosity_rosa.ServiceCall",
  "type": "object",
  "properties": {
    "service": {"type": "string"},
    "request": {"type": "object"},
    "ok": {"type": "boolean"},
    "answer": {"type": "string"},
    "duration_s": {"type": "number"}
  }
}"""


@dataclass(frozen=True)
class ChannelRates:
    """Maximum rate of each channel in Hz; 0 records nothing. Except for the camera, the newest
    skipped message is recorded as soon as the rate allows.
    """

    camera: float = 1.0
    scan: float = 1.0
    joint_states: float = 2.0
    markers: float = 2.0
    odometry: float = 10.0
    battery: float = 1.0


@dataclass(frozen=True)
class ChannelSource:
    """A recorded topic. ``hz`` None: every message. ``latched``: its publisher keeps the last
    messages for late subscribers.
    """

    role: str
    topic: str
    type: str  # e.g. nav_msgs/msg/Odometry
    hz: float | None = None
    latched: bool = False


@dataclass(frozen=True)
class Channel:
    """A channel of the file. ``schema``: for CDR the definitions of the message and of its field
    types; for JSON a JSON schema.
    """

    role: str
    topic: str
    type: str
    encoding: str
    schema: str


def recorded_source(source: ChannelSource) -> ChannelSource:
    """The source as the file holds it: raw images are recorded as JPEG."""
    if source.type != RAW_PICTURE:
        return source
    return replace(source, topic=f'{source.topic}/compressed', type=PICTURE)


def sources(topics: Topics, rates: ChannelRates) -> list[ChannelSource]:
    """The topics that a recording subscribes to. images.input selects the topic of ``camera``; see
    ``recorded_source``.
    """
    rover, latched = topics.rover, True
    raw = topics.images.input == 'raw'
    return [
        ChannelSource('trace', topics.trace.events, STRING, None, latched),
        ChannelSource('markers', topics.viz.marker_array, MARKERS, rates.markers, latched),
        ChannelSource('tf', topics.tf.topic, TF),
        ChannelSource('tf_static', topics.tf.static_topic, TF, None, latched),
        ChannelSource('capture', topics.images.output_capture_compressed, PICTURE, None, latched),
        ChannelSource(
            'analysis', topics.images.output_analysis_compressed, PICTURE, None, latched
        ),
        ChannelSource(
            'camera',
            topics.images.input_raw if raw else topics.images.input_compressed,
            RAW_PICTURE if raw else PICTURE,
            rates.camera,
        ),
        ChannelSource(
            'battery', rover.battery_state, 'sensor_msgs/msg/BatteryState', rates.battery
        ),
        ChannelSource('scan', rover.scan, 'sensor_msgs/msg/LaserScan', rates.scan),
        ChannelSource('odometry', rover.odometry, 'nav_msgs/msg/Odometry', rates.odometry),
        ChannelSource('adapter', topics.status.adapter, STRING, None, latched),
        ChannelSource('adapter_inputs', topics.status.adapter_inputs, STRING, None, latched),
        ChannelSource(
            'joint_states', rover.joint_states, 'sensor_msgs/msg/JointState', rates.joint_states
        ),
    ]


STRING = 'std_msgs/msg/String'
TF = 'tf2_msgs/msg/TFMessage'
PICTURE, RAW_PICTURE = 'sensor_msgs/msg/CompressedImage', 'sensor_msgs/msg/Image'
MARKERS = 'visualization_msgs/msg/MarkerArray'
