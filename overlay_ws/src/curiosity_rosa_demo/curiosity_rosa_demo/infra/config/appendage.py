# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schema of ``appendages`` in robots/NAME.yaml: a part that must be stowed while the base drives,
and the commands that move it. Angles are radians, in the order of ``joints``.
"""

from __future__ import annotations

from typing import Literal

from curiosity_rosa_demo.domain.models import MAX_LOST_LEGS
from curiosity_rosa_demo.infra.config.base import (
    below,
    Name,
    Radians,
    rule_error,
    Seconds,
    Section,
)
from curiosity_rosa_demo.infra.config.guardrails import check_words, Risk, SkillSettings, Words
from curiosity_rosa_demo.infra.config.tool_costs import Cost
from pydantic import Field, model_validator

MAX_JOINTS = 32
SKILL_MARGIN_S = 20.0  # of a command's skill: the wait for a stop, the service, and the joints

CommandType = Literal[
    'std_srvs/srv/Empty',
    'std_srvs/srv/Trigger',
    'std_srvs/srv/SetBool',
    'trajectory_msgs/msg/JointTrajectory',
    'control_msgs/action/FollowJointTrajectory',
]
Channel = Literal['service', 'topic', 'action']
CHANNELS: dict[str, Channel] = {'srv': 'service', 'msg': 'topic', 'action': 'action'}


class AppendageCommand(Section):
    """A motion of the appendage to ``target_rad`` within ``duration_s`` simulated seconds: a
    service of the robot, which may answer before the end, or a trajectory on the topic or to the
    action of a joint trajectory controller. ``data`` is the request of a SetBool. ``only_after``:
    the commands of which one must have ended where it leads; empty: any posture will do.
    """

    service: Name | None = None
    topic: Name | None = None
    action: Name | None = None
    type: CommandType
    data: bool = True
    target_rad: list[Radians] = Field(min_length=1, max_length=MAX_JOINTS)
    duration_s: Seconds
    only_after: list[str] = Field(default_factory=list)
    description: str = Field(min_length=1, max_length=300)
    cost: Cost
    risk: Risk
    words: Words = Field(default_factory=dict)

    @model_validator(mode='after')
    def _words_are_words(self) -> AppendageCommand:
        check_words(self.words)
        return self

    @model_validator(mode='after')
    def _has_the_name_of_its_type(self) -> AppendageCommand:
        wanted = self.channel
        if getattr(self, wanted) is None:
            raise rule_error(wanted, None, f'is missing: {self.type} needs its {wanted}')
        for other in CHANNELS.values():
            if other != wanted and (value := getattr(self, other)) is not None:
                rule = f'must be left out: {self.type} needs its {wanted} alone'
                raise rule_error(other, value, rule)
        return self

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
        """The name of the service, the topic or the action."""
        return self.action or self.topic or self.service or ''

    def in_namespace(self, namespace: str) -> AppendageCommand:
        return self.model_copy(update={self.channel: below(namespace, self.ros_name)})

    def skill(self, appendage: str) -> SkillSettings:
        """The settings of the skill, as skills.yaml has them."""
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
    commands: dict[str, AppendageCommand]

    @model_validator(mode='after')
    def _fits_its_joints(self) -> AppendageProfile:
        count = len(self.joints)
        if len(set(self.joints)) < count:
            raise rule_error('joints', self.joints, 'must name each joint once')
        lists = {'stowed_rad': self.stowed_rad}
        lists |= {
            f'commands.{name}.target_rad': command.target_rad
            for name, command in self.commands.items()
        }
        for key, angles in lists.items():
            if len(angles) != count:
                raise rule_error(key, angles, f'must have one angle for each of {count} joints')
        self._check_order()
        if not any(self.stows(name) for name in self.commands):
            rule = f'must have a command whose target_rad is stowed_rad {self.stowed_rad}'
            raise rule_error('commands', list(self.commands), rule)
        return self

    def _check_order(self) -> None:
        """A command that stows is always allowed, and from there each other one can be reached."""
        reached: set[str] = set()
        for name, command in self.commands.items():
            key = f'commands.{name}.only_after'
            if unknown := sorted(set(command.only_after) - set(self.commands)):
                raise rule_error(key, unknown, f'must be of {", ".join(self.commands)}')
            if command.only_after and self.stows(name):
                raise rule_error(key, command.only_after, 'must be empty: the command stows')
            if not command.only_after:
                reached.add(name)
        while more := {
            name
            for name, command in self.commands.items()
            if name not in reached and reached & set(command.only_after)
        }:
            reached |= more
        if missed := sorted(set(self.commands) - reached):
            key = f'commands.{missed[0]}.only_after'
            rule = 'can never run: each command before it waits for another one'
            raise rule_error(key, self.commands[missed[0]].only_after, rule)

    def names(self, channel: Channel) -> list[str]:
        """The ROS names of its commands that are sent this way, each once."""
        found = {each.ros_name for each in self.commands.values() if each.channel == channel}
        return sorted(found)

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
        """The name of the first command that stows."""
        return next(filter(self.stows, self.commands))

    def distance_rad(self, command: str) -> float:
        """How far the joint that moves most is from its stowed angle at the command's end."""
        target = self.commands[command].target_rad
        return max(abs(a - b) for a, b in zip(target, self.stowed_rad, strict=True))
