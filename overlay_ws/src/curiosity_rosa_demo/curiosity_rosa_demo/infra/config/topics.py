# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schema of topics.yaml. The file holds the values."""

from __future__ import annotations

from functools import partial
from typing import Literal

from curiosity_rosa_demo.infra.config.base import (
    below,
    Frame,
    Name,
    OptionalName,
    Section,
)


class Service(Section):
    kind: Literal['service']
    name: Name
    type: str


class TriggerService(Service):
    type: Literal['std_srvs/srv/Trigger']


class RoverService(Service):
    """``data`` is the request of a SetBool."""

    type: Literal['std_srvs/srv/Empty', 'std_srvs/srv/Trigger', 'std_srvs/srv/SetBool']
    data: bool = True


class CaptureService(Service):
    type: Literal['curiosity_rosa_interfaces/srv/CaptureAndScore']


class AnalyzeService(Service):
    type: Literal['curiosity_rosa_interfaces/srv/AnalyzeGround']


class Images(Section):
    input: Literal['compressed', 'raw']
    input_compressed: Name
    input_raw: Name
    input_camera_info: Name
    output_capture_compressed: Name
    output_analysis_compressed: Name


class TraceTopics(Section):
    events: Name


class TfTopics(Section):
    topic: Name
    static_topic: Name
    base_frame: Frame
    world_frame: Frame
    camera_frame: Frame


class Services(Section):
    capture_and_score: CaptureService
    analyze_ground: AnalyzeService


class AdapterServices(Section):
    move_forward: TriggerService
    turn_left: TriggerService
    turn_right: TriggerService
    move_stop: TriggerService
    mast_open: TriggerService
    mast_close: TriggerService
    mast_rotate: TriggerService
    get_status: TriggerService


class CuriosityServices(Section):
    move_forward: RoverService
    turn_left: RoverService
    turn_right: RoverService
    move_stop: RoverService
    mast_open: RoverService
    mast_close: RoverService
    mast_rotate: RoverService


class RoverTopics(Section):
    cmd_vel: Name
    wheel_commands: OptionalName
    odometry: Name
    joint_states: Name
    scan: Name
    battery_state: Name
    e_stop: Name
    adapter_presence: Name


class StatusTopics(Section):
    adapter: Name
    adapter_inputs: Name
    kernel: Name
    diagnostics: Name
    replay: Name


class AgentTopics(Section):
    run_task: Name
    speech: Name
    messages: Name


class VizTopics(Section):
    marker_array: Name


class MonitorTopics(Section):
    verdicts: Name
    signals: Name


class Topics(Section):
    images: Images
    trace: TraceTopics
    tf: TfTopics
    services: Services
    adapter: AdapterServices
    curiosity: CuriosityServices
    rover: RoverTopics
    status: StatusTopics
    agent: AgentTopics
    viz: VizTopics
    monitor: MonitorTopics

    def in_namespace(self, namespace: str, *, rover: str = '') -> Topics:
        """Put the overlay's own names into ``namespace`` and the rover's names into ``rover``.
        Frame names stay unchanged. Raises ValidationError when a name becomes too long.
        """
        own_name, rover_name = partial(below, namespace), partial(below, rover)
        data = self.model_dump()
        images = data['images']
        for key in ('output_capture_compressed', 'output_analysis_compressed'):
            images[key] = own_name(images[key])
        for section in ('trace', 'viz', 'agent', 'status', 'monitor'):
            data[section] = {key: own_name(name) for key, name in data[section].items()}
        for service in (*data['services'].values(), *data['adapter'].values()):
            service['name'] = own_name(service['name'])
        for key in ('input_compressed', 'input_raw', 'input_camera_info'):
            images[key] = rover_name(images[key])
        for key in ('topic', 'static_topic'):
            data['tf'][key] = rover_name(data['tf'][key])
        data['rover'] = {key: rover_name(name) for key, name in data['rover'].items()}
        for service in data['curiosity'].values():
            service['name'] = rover_name(service['name'])
        return Topics.model_validate(data)
