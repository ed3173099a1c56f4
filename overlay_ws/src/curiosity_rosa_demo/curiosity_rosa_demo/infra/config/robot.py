# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schema of robots/NAME.yaml: what a robot has, its names and numbers in the other files, the
parts that must be stowed before it drives (appendages), and the skills that move them. Angles are
radians, in the order of ``joints``.

Each command of a part becomes a service of the adapter, a skill and a cost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import compress
from typing import Annotated, Any, Literal

from curiosity_rosa_demo.domain.models import MAX_LOST_LEGS
from curiosity_rosa_demo.infra.config.agent import Cost
from curiosity_rosa_demo.infra.config.base import (
    FileName,
    Radians,
    Risk,
    RoverName,
    Rule,
    rule_error,
    Seconds,
    Section,
)
from curiosity_rosa_demo.infra.config.behaviour import Key, SkillSettings, Words
from pydantic import Field

MAX_JOINTS = 32
SKILL_MARGIN_S = 20.0  # of a command's skill: the wait for a stop, the service, and the joints

CommandType = Literal[
    'std_srvs/srv/Empty',
    'std_srvs/srv/Trigger',
    'std_srvs/srv/SetBool',
    'trajectory_msgs/msg/JointTrajectory',
    'control_msgs/action/FollowJointTrajectory',
]
PartName = Annotated[Key, Field(max_length=40)]  # also of a command, which becomes a skill
Channel = Literal['service', 'topic', 'action']
CHANNELS: dict[str, Channel] = {'srv': 'service', 'msg': 'topic', 'action': 'action'}


class AppendageCommand(Section):
    """A motion of the appendage to ``target_rad`` within ``duration_s`` simulated seconds: a
    service of the robot, which may answer before the end, or a trajectory on the topic or to the
    action of a joint trajectory controller. ``data`` is the request of a SetBool. ``only_after``:
    the commands of which one must have ended where it leads; empty: any posture will do.
    """

    service: RoverName | None = None
    topic: RoverName | None = None
    action: RoverName | None = None
    type: CommandType
    data: bool = True
    target_rad: list[Radians] = Field(min_length=1, max_length=MAX_JOINTS)
    duration_s: Seconds
    only_after: list[str] = Field(default_factory=list)
    description: str = Field(min_length=1, max_length=300)
    cost: Cost
    risk: Risk
    words: Words = Field(default_factory=dict)

    def rules(self) -> Iterator[Rule]:
        wanted = self.channel
        is_missing = getattr(self, wanted) is None
        yield is_missing, wanted, f'is missing: {self.type} needs its {wanted}'
        for other in {*CHANNELS.values()} - {wanted}:
            rule = f'must be left out: {self.type} needs its {wanted} alone'
            yield getattr(self, other) is not None, other, rule

    @property
    def channel(self) -> Channel:
        """The key that names what the command is sent to."""
        return CHANNELS[self.type.split('/')[1]]

    @property
    def by_trajectory(self) -> bool:
        """Whether a stop can hold the appendage during this motion. A service has no stop."""
        return self.channel != 'service'

    @property
    def ros_name(self) -> str:
        return self.action or self.topic or self.service or ''

    def skill(self, appendage: str) -> SkillSettings:
        return SkillSettings(
            interface_type='ros2_service',
            resources_required=[appendage],
            preemptible=False,
            cancel_supported=False,
            timeout_s=self.duration_s * (1 + MAX_LOST_LEGS) + SKILL_MARGIN_S,
            risk=self.risk,
            repeatable=True,
            words=self.words,
            error_map={},
        )


class AppendageProfile(Section):
    """A part that must be stowed while the base drives. Stowed: each joint is at ``stowed_rad``,
    within mast.tolerance_rad of thresholds.yaml.
    """

    joints: list[str] = Field(min_length=1, max_length=MAX_JOINTS)
    stowed_rad: list[Radians]
    commands: dict[PartName, AppendageCommand]

    def rules(self) -> Iterator[Rule]:
        count = len(self.joints)
        yield len(set(self.joints)) < count, 'joints', 'must name each joint once'
        rule = f'must have one angle for each of {count} joints'
        yield len(self.stowed_rad) != count, 'stowed_rad', rule
        for name, command in self.commands.items():
            yield len(command.target_rad) != count, ('commands', name, 'target_rad'), rule
        # A command that stows is always allowed, and from there each other one can be reached.
        reached = {name for name, each in self.commands.items() if not each.only_after}
        for name, command in self.commands.items():
            key, after = ('commands', name, 'only_after'), set(command.only_after)
            yield after - self.commands.keys(), key, f'must be of {", ".join(self.commands)}'
            yield after and self.stows(name), key, 'must be empty: the command stows'
        for _ in self.commands:
            reached |= {n for n, each in self.commands.items() if reached & set(each.only_after)}
        for name in self.commands:
            rule = 'can never run: each command before it waits for another one'
            yield name not in reached, ('commands', name, 'only_after'), rule
        if not any(map(self.stows, self.commands)):
            rule = f'must have a command whose target_rad is stowed_rad {self.stowed_rad}'
            raise rule_error(['commands'], list(self.commands), rule)

    def names(self, channel: Channel) -> list[str]:
        """The ROS names of its commands that are sent this way, each once."""
        return sorted({c.ros_name for c in self.commands.values() if c.channel == channel})

    @property
    def can_be_held(self) -> bool:
        """Whether a stop can hold it: a command of it is a trajectory."""
        return any(each.by_trajectory for each in self.commands.values())

    @property
    def can_be_cancelled(self) -> bool:
        """Whether a stop can end its motion without joint states: a command is an action."""
        return bool(self.names('action'))

    def stows(self, command: str) -> bool:
        return self.commands[command].target_rad == self.stowed_rad

    @property
    def stow_command(self) -> str:
        return next(filter(self.stows, self.commands))

    def distance_rad(self, command: str) -> float:
        """How far the joint that moves most is from its stowed angle at the command's end."""
        target = self.commands[command].target_rad
        return max(abs(a - b) for a, b in zip(target, self.stowed_rad, strict=True))


OWN_RESOURCES = ('base', 'mast', 'camera')


class RobotProfile(Section):
    """``mobile_base``, ``mast`` and ``camera``: whether the robot has them; without a base it has
    none of them. ``appendages`` by name, e.g. arm. ``world_view``: instead of policy.world_view in
    agent.yaml. The others are sections of the files of their names, which take the place of those
    in the files.
    """

    mobile_base: bool = True
    mast: bool = True
    camera: bool = True
    world_view: FileName | None = None
    appendages: dict[PartName, AppendageProfile] = Field(default_factory=dict)
    topics: dict[str, Any] = Field(default_factory=dict)
    thresholds: dict[str, Any] = Field(default_factory=dict)
    guardrails: dict[str, Any] = Field(default_factory=dict)
    skills: dict[str, Any] = Field(default_factory=dict)
    tool_costs: dict[str, Any] = Field(default_factory=dict)
    agent: dict[str, Any] = Field(default_factory=dict)
    prompts: dict[str, Any] = Field(default_factory=dict)
    triggers: dict[str, Any] = Field(default_factory=dict)

    def rules(self) -> Iterator[Rule]:
        is_fixed = not self.mobile_base
        rule = 'must be true: there are no appendages'
        yield is_fixed and not self.appendages, 'mobile_base', rule
        for key in OWN_RESOURCES[1:]:
            rule = 'must be left out: mobile_base is false'
            yield is_fixed and key in self.model_fields_set, key, rule
        if taken := sorted(set(self.appendages) & set(OWN_RESOURCES)):
            raise rule_error(['appendages'], taken, f'must not be {", ".join(OWN_RESOURCES)}')
        parts = self.appendages.values()
        for key, names in (
            ('joints', [joint for part in parts for joint in part.joints]),
            ('commands', [name for part in parts for name in part.commands]),
            # A stop cancels all goals of an action.
            ('actions', [name for part in parts for name in part.names('action')]),
        ):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise rule_error(['appendages'], twice, f'{key} of two appendages: must differ')

    @property
    def has_mast(self) -> bool:
        return self.mobile_base and self.mast

    @property
    def has_camera(self) -> bool:
        return self.mobile_base and self.camera

    @property
    def commands(self) -> dict[str, tuple[str, AppendageCommand]]:
        """The appendage and the command, by the command's name."""
        return {
            name: (appendage, command)
            for appendage, part in self.appendages.items()
            for name, command in part.commands.items()
        }

    @property
    def resources(self) -> tuple[str, ...]:
        """What a skill may need, one skill at a time."""
        has = (self.mobile_base, self.has_mast, self.has_camera)
        return (*compress(OWN_RESOURCES, has), *self.appendages)

    def has(self, resources: Collection[str]) -> bool:
        return set(resources) <= set(self.resources)
