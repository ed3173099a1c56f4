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
from typing import Any, Literal

from curiosity_rosa_demo.infra.config.agent import AgentConfig, Prompts, ToolCosts
from curiosity_rosa_demo.infra.config.base import (
    below,
    FileName,
    Frame,
    Name,
    OptionalName,
    rule_error,
    Section,
)
from curiosity_rosa_demo.infra.config.guardrails import Guardrails, Skills
from curiosity_rosa_demo.infra.config.robot import RobotProfile, with_robot
from curiosity_rosa_demo.infra.config.thresholds import Thresholds
from curiosity_rosa_demo.infra.config.triggers import TriggersConfig
from curiosity_rosa_demo.infra.config.world import WorldView
from pydantic import Field, model_validator


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


# --- Schema of nodes.yaml. The file holds the values -------------------------------------------


class NodeSpec(Section):
    name: Name
    package: str = Field(min_length=1)
    executable: str = Field(min_length=1)
    when: Literal['', 'agent', 'monitor']
    needs: Literal['', 'camera'] = ''

    def log_arguments(self, namespace: str, *, debug: bool) -> list[str]:
        """ROS arguments with the log levels. ``debug`` is for the node's own logger only: the
        default level also binds rcl and the middleware.
        """
        levels = ['--log-level', 'info']
        if debug:
            path = [part for part in namespace.split('/') if part]
            levels += ['--log-level', f'{".".join([*path, self.name])}:=debug']
        return levels


class Nodes(Section):
    robot: FileName
    nodes: list[NodeSpec] = Field(min_length=1)


# --- The complete configuration, and the rules between its files -------------------------------


class Config(Section):
    """The contents of all YAML contracts."""

    topics: Topics
    thresholds: Thresholds
    tool_costs: ToolCosts
    prompts: Prompts
    agent: AgentConfig
    guardrails: Guardrails
    skills: Skills
    nodes: Nodes
    triggers: TriggersConfig
    world: WorldView
    robot: RobotProfile

    @model_validator(mode='before')
    @classmethod
    def _with_the_robots_commands(cls, parts: Any) -> Any:
        return with_robot(parts)

    @model_validator(mode='after')
    def _motions_fit_the_leash(self) -> Config:
        leash = self.thresholds.motion.max_duration_s
        if self.agent.turn.max_motion_s >= leash:
            rule = f'must be below motion.max_duration_s ({leash}) of thresholds.yaml'
            raise rule_error(
                'turn.max_motion_s', self.agent.turn.max_motion_s, rule, file='agent.yaml'
            )
        return self

    @model_validator(mode='after')
    def _joints_belong_to_one_part(self) -> Config:
        for name, part in self.robot.appendages.items() if self.robot.has_mast else ():
            if taken := sorted(set(part.joints) & set(self.thresholds.mast.joints)):
                rule = 'must not be joints of the mast (mast.joints of thresholds.yaml)'
                file = f'robots/{self.nodes.robot}.yaml'
                raise rule_error(f'appendages.{name}.joints', taken, rule, file=file)
        return self

    @model_validator(mode='after')
    def _joints_tell_commands_apart(self) -> Config:
        tolerance = self.thresholds.mast.tolerance_rad
        for part, appendage in self.robot.appendages.items():
            for name in appendage.commands:
                if not appendage.stows(name) and appendage.distance_rad(name) <= 2 * tolerance:
                    raise rule_error(
                        f'appendages.{part}.commands.{name}.target_rad',
                        appendage.commands[name].target_rad,
                        f'must be stowed_rad, or differ from it by more than {2 * tolerance:g} '
                        '(2 * mast.tolerance_rad of thresholds.yaml) in a joint',
                        file=f'robots/{self.nodes.robot}.yaml',
                    )
        return self

    @property
    def node_specs(self) -> list[NodeSpec]:
        """The nodes of nodes.yaml that this robot needs."""
        return [each for each in self.nodes.nodes if each.needs in ('', *self.robot.resources)]

    def appendage_service(self, command: str) -> str:
        """The adapter's service of a command, beside its others."""
        return f'{self.topics.adapter.move_stop.name.rpartition("/")[0]}/{command}'

    def in_namespace(self, namespace: str, *, rover: str = '') -> Config:
        """As Topics.in_namespace. The Nav2 action moves into the ``rover`` namespace."""
        topics = self.topics.in_namespace(namespace, rover=rover)
        navigation = self.agent.navigation
        moved = {'action': below(rover, navigation.action)}
        agent = self.agent.model_copy(update={'navigation': navigation.model_copy(update=moved)})
        robot = self.robot.in_namespace(rover)
        return self.model_copy(update={'topics': topics, 'agent': agent, 'robot': robot})
