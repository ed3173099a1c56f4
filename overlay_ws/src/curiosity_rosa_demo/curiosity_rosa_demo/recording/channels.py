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
from importlib import import_module
import json
from pathlib import Path
import re
from typing import Any

from curiosity_rosa_demo.domain.models import ServiceCall
from curiosity_rosa_demo.infra.config.agent import RecordingRates
from curiosity_rosa_demo.infra.config.topics import Topics

# --- Import a ROS message class by its type name -----------------------------------------------


def message_class(type_name: str) -> Any:
    """The class for a type name such as nav_msgs/msg/Odometry. Raises ImportError or
    AttributeError if it is not installed.
    """
    package, _, name = type_name.partition('/msg/')
    return getattr(import_module(f'{package}.msg'), name)


# -----------------------------------------------------------------------------------------------
# Concatenate ROS message definitions in the ros2msg format, which MCAP schemas use.


SEPARATOR_LINE = '=' * 80
PRIMITIVES = frozenset(
    {
        *('bool', 'byte', 'char', 'float32', 'float64', 'string', 'wstring'),
        *(f'{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64)),
    }
)
_FIELD = re.compile(r'^\s*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+[a-zA-Z]\w*')


class NoDefinition(Exception):
    """The definition of a message is not installed. The message names the type."""


def definition(type_name: str) -> str:
    """The definition of ``type_name``, e.g. nav_msgs/msg/Odometry, followed by those of all types
    that it uses. Raises NoDefinition.
    """
    package, _, name = type_name.partition('/msg/')
    parts = {f'{package}/{name}': _text(package, name)}
    todo = list(parts)
    while todo:
        part = todo.pop(0)
        for used in _used_types(part.partition('/')[0], parts[part]):
            if used not in parts:
                owner, _, name = used.partition('/')
                parts[used] = _text(owner, name)
                todo.append(used)
    first, *others = parts.items()
    return '\n'.join(
        [first[1], *(f'{SEPARATOR_LINE}\nMSG: {part}\n{text}' for part, text in others)]
    )


def _used_types(package: str, text: str) -> list[str]:
    """The message types of the fields, each as package/Name."""
    found = []
    for line in text.splitlines():
        field = _FIELD.match(line.partition('#')[0])
        if field is None or field[1] in PRIMITIVES:
            continue
        owner, _, name = field[1].replace('/msg/', '/').rpartition('/')
        found.append(f'{owner or package}/{name}')
    return found


def _text(package: str, name: str) -> str:
    from ament_index_python.packages import get_package_share_directory

    try:
        share = get_package_share_directory(package)
        return Path(share, 'msg', f'{name}.msg').read_text(encoding='utf-8')
    except (LookupError, OSError, ValueError) as error:
        raise NoDefinition(f'{package}/msg/{name} cannot be described: {error}') from error


CDR, JSON = 'cdr', 'json'
STRING = 'std_msgs/msg/String'
TF = 'tf2_msgs/msg/TFMessage'
PICTURE, RAW_PICTURE = 'sensor_msgs/msg/CompressedImage', 'sensor_msgs/msg/Image'


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

    @property
    def recorded(self) -> tuple[str, str]:
        """Topic and type in the file: raw images are recorded as JPEG."""
        if self.type == RAW_PICTURE:
            return f'{self.topic}/compressed', PICTURE
        return self.topic, self.type


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


CALLS_CHANNEL = Channel(
    'calls',
    '/service_calls',
    'curiosity_rosa.ServiceCall',
    JSON,
    json.dumps(ServiceCall.model_json_schema()),
)


DECISIONS_CHANNEL = Channel(
    'decisions', '/decisions', 'curiosity_rosa.Decision', JSON, '{"type": "object"}'
)


def recorded_channel(source: ChannelSource) -> Channel:
    """The channel of the file, with its message definition. Raises NoDefinition."""
    topic, type_name = source.recorded
    return Channel(source.role, topic, type_name, CDR, definition(type_name))


def sources(topics: Topics, rates: RecordingRates) -> list[ChannelSource]:
    """The topics that a recording subscribes to. images.input selects the topic of ``camera``.
    Except for the camera, the newest skipped message is recorded as soon as the rate allows.
    """
    rover, images = topics.rover, topics.images
    camera = (images.input_compressed, PICTURE)
    if images.input == 'raw':
        camera = (images.input_raw, RAW_PICTURE)
    battery, scan = 'sensor_msgs/msg/BatteryState', 'sensor_msgs/msg/LaserScan'
    odometry, joints = 'nav_msgs/msg/Odometry', 'sensor_msgs/msg/JointState'
    markers = 'visualization_msgs/msg/MarkerArray'
    latched = [
        ChannelSource('trace', topics.trace.events, STRING),
        ChannelSource('markers', topics.viz.marker_array, markers, rates.markers),
        ChannelSource('tf_static', topics.tf.static_topic, TF),
        ChannelSource('capture', images.output_capture_compressed, PICTURE),
        ChannelSource('analysis', images.output_analysis_compressed, PICTURE),
        ChannelSource('adapter', topics.status.adapter, STRING),
        ChannelSource('adapter_inputs', topics.status.adapter_inputs, STRING),
    ]
    return [
        *(replace(each, latched=True) for each in latched),
        ChannelSource('tf', topics.tf.topic, TF),
        ChannelSource('camera', *camera, rates.camera),
        ChannelSource('battery', rover.battery_state, battery, rates.battery),
        ChannelSource('scan', rover.scan, scan, rates.scan),
        ChannelSource('odometry', rover.odometry, odometry, rates.odometry),
        ChannelSource('joint_states', rover.joint_states, joints, rates.joint_states),
    ]
