# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The channels of a recording. A role names the purpose of each channel, e.g. ``odometry``."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
import json
from pathlib import Path
import re
from typing import Any

from curiosity_rosa_demo.domain.models import ServiceCall
from curiosity_rosa_demo.infra.config.agent import RecordingRates
from curiosity_rosa_demo.infra.config.topics import Topics

CDR, JSON = 'cdr', 'json'
STRING = 'std_msgs/msg/String'
TF = 'tf2_msgs/msg/TFMessage'
PICTURE, RAW_PICTURE = 'sensor_msgs/msg/CompressedImage', 'sensor_msgs/msg/Image'
SEPARATOR_LINE = '=' * 80  # between two definitions


def message_class(type_name: str) -> Any:
    """The class for a type name such as nav_msgs/msg/Odometry. Raises ImportError or
    AttributeError if it is not installed.
    """
    package, _, name = type_name.partition('/msg/')
    return getattr(import_module(f'{package}.msg'), name)


def definition(type_name: str) -> str:
    """The definition of ``type_name``, e.g. nav_msgs/msg/Odometry, followed by those of all types
    that it uses: the ros2msg format of MCAP's schemas. Raises LookupError, OSError or ImportError
    for a type that is not installed.
    """
    from ament_index_python.packages import get_package_share_directory

    texts: dict[str, str] = {}  # by package/Name
    todo = [type_name.replace('/msg/', '/')]
    for part in todo:  # it grows meanwhile
        package, _, name = part.partition('/')
        share = get_package_share_directory(package)
        texts[part] = Path(share, 'msg', f'{name}.msg').read_text(encoding='utf-8')
        fields = message_class(f'{package}/msg/{name}').get_fields_and_field_types()
        used = dict.fromkeys(re.findall(r'\w+/\w+', ' '.join(fields.values())))
        todo.extend(each for each in used if each not in todo)
    first, *others = texts.items()
    more = (f'{SEPARATOR_LINE}\nMSG: {part}\n{text}' for part, text in others)
    return '\n'.join([first[1], *more])


@dataclass(frozen=True)
class Channel:
    """A channel of the file. ``hz`` None: every message of its topic. ``latched``: its publisher
    keeps the last messages for late subscribers. ``raw_topic``: of the images that are recorded
    here as JPEG. ``schema``: for CDR as ``definition``; for JSON a JSON schema.
    """

    role: str
    topic: str
    type: str  # e.g. nav_msgs/msg/Odometry
    encoding: str = CDR
    schema: str = ''
    hz: float | None = None
    latched: bool = False
    raw_topic: str = ''


_CALL_SCHEMA = json.dumps(ServiceCall.model_json_schema(mode='serialization'))
CALLS_CHANNEL = Channel(
    'calls', '/service_calls', 'curiosity_rosa.ServiceCall', JSON, _CALL_SCHEMA
)
DECISIONS_CHANNEL = Channel(
    'decisions', '/decisions', 'curiosity_rosa.Decision', JSON, '{"type": "object"}'
)


def recorded_channels(topics: Topics, rates: RecordingRates) -> list[Channel]:
    """Those of topics, without their schemas. images.input selects the topic of ``camera``. Except
    for the camera, the newest skipped message is recorded as soon as the rate allows.
    """
    rover, images = topics.rover, topics.images
    camera, raw = images.input_compressed, ''
    if images.input == 'raw':
        camera, raw = f'{images.input_raw}/compressed', images.input_raw
    battery, scan = 'sensor_msgs/msg/BatteryState', 'sensor_msgs/msg/LaserScan'
    odometry, joints = 'nav_msgs/msg/Odometry', 'sensor_msgs/msg/JointState'
    markers = 'visualization_msgs/msg/MarkerArray'
    return [
        Channel('trace', topics.trace.events, STRING, latched=True),
        Channel('markers', topics.viz.marker_array, markers, hz=rates.markers, latched=True),
        Channel('tf_static', topics.tf.static_topic, TF, latched=True),
        Channel('capture', images.output_capture_compressed, PICTURE, latched=True),
        Channel('analysis', images.output_analysis_compressed, PICTURE, latched=True),
        Channel('adapter', topics.status.adapter, STRING, latched=True),
        Channel('adapter_inputs', topics.status.adapter_inputs, STRING, latched=True),
        Channel('tf', topics.tf.topic, TF),
        Channel('camera', camera, PICTURE, hz=rates.camera, raw_topic=raw),
        Channel('battery', rover.battery_state, battery, hz=rates.battery),
        Channel('scan', rover.scan, scan, hz=rates.scan),
        Channel('odometry', rover.odometry, odometry, hz=rates.odometry),
        Channel('joint_states', rover.joint_states, joints, hz=rates.joint_states),
    ]
