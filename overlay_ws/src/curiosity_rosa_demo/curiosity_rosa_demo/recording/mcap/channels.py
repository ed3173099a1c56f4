# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The channels of a recording. A role names the purpose of each channel, e.g. ``odometry``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
import re
from typing import Any

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

ShareFolderOf = Callable[[str], str]  # package name to share folder; raises LookupError


class NoDefinition(Exception):
    """The definition of a message is not installed. The message names the type."""


def definition(type_name: str, share: ShareFolderOf | None = None) -> str:
    """The definition of ``type_name``, e.g. nav_msgs/msg/Odometry, followed by those of all types
    that it uses. Raises NoDefinition.
    """
    share = share or _installed
    package, _, name = type_name.partition('/msg/')
    parts = {f'{package}/{name}': _text(package, name, share)}
    todo = list(parts)
    while todo:
        part = todo.pop(0)
        for used in _used_types(part.partition('/')[0], parts[part]):
            if used not in parts:
                owner, _, name = used.partition('/')
                parts[used] = _text(owner, name, share)
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


def _text(package: str, name: str, share: ShareFolderOf) -> str:
    try:
        return Path(share(package), 'msg', f'{name}.msg').read_text(encoding='utf-8')
    except (LookupError, OSError, ValueError) as error:
        raise NoDefinition(f'{package}/msg/{name} cannot be described: {error}') from error


def _installed(package: str) -> str:
    from ament_index_python.packages import get_package_share_directory

    return get_package_share_directory(package)


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
