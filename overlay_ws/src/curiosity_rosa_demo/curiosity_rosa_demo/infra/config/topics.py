# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schemas of topics.yaml and nodes.yaml, and the whole configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, Literal, TypeVar

from curiosity_rosa_demo.infra.config.agent import AgentConfig, Prompts, ToolCosts
from curiosity_rosa_demo.infra.config.base import (
    FileName,
    Frame,
    Name,
    OptionalRoverName,
    OwnName,
    RoverName,
    Rule,
    rule_error,
    Section,
)
from curiosity_rosa_demo.infra.config.behaviour import Skills, TriggersConfig, WorldView
from curiosity_rosa_demo.infra.config.limits import Guardrails, Thresholds
from curiosity_rosa_demo.infra.config.robot import OWN_RESOURCES, RobotProfile
from pydantic import Field, model_validator

# Design 003 has it in our package: its files can be used as they stand.
CaptureType = Literal[
    'curiosity_rosa_interfaces/srv/CaptureAndScore', 'curiosity_rosa_demo/srv/CaptureAndScore'
]
Type = TypeVar('Type')


class Service(Section, Generic[Type]):
    kind: Literal['service']
    name: OwnName
    type: Type

    @property
    def request(self) -> tuple[object, ...]:
        """Two services with the same one do the same."""
        return (self.name,)


TriggerService = Service[Literal['std_srvs/srv/Trigger']]


class RoverService(Section):
    """``data`` is the request of a SetBool."""

    kind: Literal['service']
    name: RoverName
    type: Literal['std_srvs/srv/Empty', 'std_srvs/srv/Trigger', 'std_srvs/srv/SetBool']
    data: bool = True

    @property
    def request(self) -> tuple[object, ...]:
        """As ``Service.request``."""
        return self.name, self.data or not self.type.endswith('SetBool')


AnyService = TypeVar('AnyService')


class MotionServices(Section, Generic[AnyService]):
    move_forward: AnyService
    turn_left: AnyService
    turn_right: AnyService
    move_stop: AnyService
    mast_open: AnyService
    mast_close: AnyService
    mast_rotate: AnyService

    def rules(self) -> Iterator[Rule]:
        """A stop that calls a motion would start it."""
        stop: Any = self.move_stop
        for name, service in self:
            is_stop = service is not stop and service.request == stop.request
            yield is_stop, ('move_stop', 'name'), f'must not be what {name} calls'


class AdapterServices(MotionServices[TriggerService]):
    get_status: TriggerService


class Images(Section):
    input: Literal['compressed', 'raw']
    input_compressed: RoverName
    input_raw: RoverName
    input_camera_info: RoverName
    output_capture_compressed: OwnName
    output_analysis_compressed: OwnName


class TraceTopics(Section):
    events: OwnName


class TfTopics(Section):
    topic: RoverName
    static_topic: RoverName
    base_frame: Frame
    world_frame: Frame
    camera_frame: Frame


class Services(Section):
    capture_and_score: Service[CaptureType]
    analyze_ground: Service[Literal['curiosity_rosa_interfaces/srv/AnalyzeGround']]


class RoverTopics(Section):
    cmd_vel: RoverName
    wheel_commands: OptionalRoverName
    odometry: RoverName
    joint_states: RoverName
    scan: RoverName
    battery_state: RoverName
    e_stop: RoverName
    adapter_presence: RoverName

    def rules(self) -> Iterator[Rule]:
        """A topic has one type: no zero Twist would be sent."""
        rule = 'must not be cmd_vel; "" for a rover without this topic'
        yield self.wheel_commands == self.cmd_vel, 'wheel_commands', rule


class StatusTopics(Section):
    adapter: OwnName
    adapter_inputs: OwnName
    kernel: OwnName
    diagnostics: OwnName
    replay: OwnName


class AgentTopics(Section):
    run_task: OwnName
    speech: OwnName
    messages: OwnName


class VizTopics(Section):
    marker_array: OwnName


class MonitorTopics(Section):
    verdicts: OwnName
    signals: OwnName


class Topics(Section):
    images: Images
    trace: TraceTopics
    tf: TfTopics
    services: Services
    adapter: AdapterServices
    curiosity: MotionServices[RoverService]
    rover: RoverTopics
    status: StatusTopics
    agent: AgentTopics
    viz: VizTopics
    monitor: MonitorTopics


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
        logger = '.'.join([*filter(None, namespace.split('/')), self.name])
        own = ['--log-level', f'{logger}:=debug'] if debug else []
        return ['--log-level', 'info', *own]


class Nodes(Section):
    robot: FileName
    nodes: list[NodeSpec] = Field(min_length=1)


TURN = 'react'  # the skill that may call any other: it takes what the robot has


class Config(Section):
    """The contents of all YAML contracts, and the rules between the files."""

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

    def rules(self) -> Iterator[Rule]:
        """Motions fit the leash, joints belong to one part, and they tell commands apart."""
        leash_s, motion_s = self.thresholds.motion.max_duration_s, self.agent.turn.max_motion_s
        rule = f'must be below motion.max_duration_s ({leash_s}) of thresholds.yaml'
        yield motion_s >= leash_s, ('agent', 'turn', 'max_motion_s'), rule
        mast, robot = self.thresholds.mast, self.robot
        least_rad = 2 * mast.tolerance_rad
        apart = f'must be stowed_rad, or differ from it by more than {least_rad:g} (2 * '
        apart += 'mast.tolerance_rad of thresholds.yaml) in a joint'
        for name, part in robot.appendages.items():
            key = ('robot', 'appendages', name)
            is_shared = robot.has_mast and not set(part.joints).isdisjoint(mast.joints)
            rule = 'must not be joints of the mast (mast.joints of thresholds.yaml)'
            yield is_shared, (*key, 'joints'), rule
            for command in part.commands:
                is_near = not part.stows(command) and part.distance_rad(command) <= least_rad
                yield is_near, (*key, 'commands', command, 'target_rad'), apart
        if taken := sorted(set(robot.commands) & set(self.skills.skills)):
            rule = 'a skill of skills.yaml has this name; choose another'
            raise rule_error(['robot', 'appendages'], taken, rule)
        known = (*OWN_RESOURCES, *robot.appendages)
        for name, skill in self.skills.skills.items():
            path, rule = ('skills', 'skills', name, 'resources_required'), ', '.join(known)
            yield not set(skill.resources_required) <= set(known), path, f'must be of {rule}'

    @model_validator(mode='after')
    def _with_the_robot(self) -> Config:
        """The commands of its appendages are skills with costs. Each skill that needs the base
        also needs the appendages, so that none moves during a drive; none needs a mast that is not
        there.
        """
        robot, skills, costs = self.robot, dict(self.skills.skills), dict(self.tool_costs.tools)
        for name, settings in skills.items():
            needed = self._needed(name, settings.resources_required)
            skills[name] = settings.changed(resources_required=needed)
        for name, (part, command) in robot.commands.items():
            skills[name], costs[name] = command.skill(part), command.cost
        changed = self.changed(skills={'skills': skills}, tool_costs={'tools': costs})
        if not robot.has_mast:
            changed = changed.changed(thresholds={'capture': {'require_open_mast': False}})
        if robot.world_view:
            changed = changed.changed(agent={'policy': {'world_view': robot.world_view}})
        return changed

    def _needed(self, skill: str, required: list[str]) -> list[str]:
        needed = required
        if skill == TURN:
            needed = [each for each in required if each in self.robot.resources]
        elif not self.robot.has_mast and len(required) > 1:  # its own skills need nothing else
            needed = [each for each in required if each != 'mast']
        return [*needed, *self.robot.appendages] if 'base' in required else needed

    @property
    def node_specs(self) -> list[NodeSpec]:
        """The nodes of nodes.yaml that this robot needs."""
        return [each for each in self.nodes.nodes if each.needs in ('', *self.robot.resources)]

    def appendage_service(self, command: str) -> str:
        """The adapter's service of a command, beside its others."""
        return f'{self.topics.adapter.move_stop.name.rpartition("/")[0]}/{command}'
