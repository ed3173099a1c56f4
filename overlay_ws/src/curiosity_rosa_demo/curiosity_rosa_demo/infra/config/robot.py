# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schema of robots/NAME.yaml: the parts of a robot that must be stowed before it drives, beside
its mast, and the skills that move them.

Each command becomes a service of the adapter, a skill and a cost. Angles are radians, in the order
of ``joints``.
"""

from __future__ import annotations

from collections.abc import Mapping
import re
from typing import Annotated, Any, Literal

from curiosity_rosa_demo.infra.config.base import below, Name, rule_error, Seconds, Section
from curiosity_rosa_demo.infra.config.guardrails import check_words, Risk, SkillSettings, Words
from curiosity_rosa_demo.infra.config.tool_costs import Cost
from pydantic import Field, model_validator

Radians = Annotated[float, Field(ge=-100.0, le=100.0)]
MAST_JOINTS = ('mast_p_joint', 'mast_02_joint', 'mast_cameras_joint')
OWN_RESOURCES = ('base', 'mast', 'camera')
MAX_JOINTS = 32
SKILL_MARGIN_S = 20.0  # of a command's skill: the wait for a stop, the service, and the joints
PYTHON_NAME = '[a-z][a-z0-9_]{0,39}'
PYTHON_NAME_RULE = 'a name is 1 to 40 of a to z, 0 to 9 and _, a letter first, e.g. arm_close'


class AppendageCommand(Section):
    """One service of the robot that moves the appendage to ``target_rad`` within ``duration_s``
    simulated seconds. The service may answer before that. ``data`` is the request of a SetBool.
    """

    service: Name
    type: Literal['std_srvs/srv/Empty', 'std_srvs/srv/Trigger', 'std_srvs/srv/SetBool']
    data: bool = True
    target_rad: list[Radians] = Field(min_length=1, max_length=MAX_JOINTS)
    duration_s: Seconds
    description: str = Field(min_length=1, max_length=300)
    cost: Cost
    risk: Risk
    words: Words = Field(default_factory=dict)

    @model_validator(mode='after')
    def _words_are_words(self) -> AppendageCommand:
        check_words(self.words)
        return self

    def skill(self, appendage: str) -> SkillSettings:
        """The settings of the skill, as skills.yaml has them."""
        return SkillSettings(
            interface_type='ros2_service',
            resources_required=[appendage],
            preemptible=False,
            cancel_supported=False,
            timeout_s=self.duration_s + SKILL_MARGIN_S,
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
        if mast := sorted(set(self.joints) & set(MAST_JOINTS)):
            raise rule_error('joints', mast, 'must not be joints of the mast')
        lists = {'stowed_rad': self.stowed_rad}
        lists |= {
            f'commands.{name}.target_rad': command.target_rad
            for name, command in self.commands.items()
        }
        for key, angles in lists.items():
            if len(angles) != count:
                raise rule_error(key, angles, f'must have one angle for each of {count} joints')
        if not any(self.stows(name) for name in self.commands):
            rule = f'must have a command whose target_rad is stowed_rad {self.stowed_rad}'
            raise rule_error('commands', list(self.commands), rule)
        return self

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


class MastTimes(Section):
    """How long the trajectories of the robot's mast take, in simulated seconds."""

    open_duration_s: Seconds
    close_duration_s: Seconds
    rotate_duration_s: Seconds


class RobotProfile(Section):
    """``appendages`` by name, e.g. arm. ``mast``: instead of the times in thresholds.yaml."""

    mast: MastTimes | None = None
    appendages: dict[str, AppendageProfile]

    @model_validator(mode='after')
    def _names_are_its_own(self) -> RobotProfile:
        for name in (*self.appendages, *self.commands):
            if not re.fullmatch(PYTHON_NAME, name):
                raise rule_error('appendages', name, PYTHON_NAME_RULE)
        if taken := sorted(set(self.appendages) & set(OWN_RESOURCES)):
            raise rule_error('appendages', taken, f'must not be {", ".join(OWN_RESOURCES)}')
        for key, names in (
            ('joints', [joint for part in self.appendages.values() for joint in part.joints]),
            ('commands', [name for part in self.appendages.values() for name in part.commands]),
        ):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise rule_error('appendages', twice, f'{key} of two appendages: must differ')
        return self

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
        return (*OWN_RESOURCES, *self.appendages)

    def in_namespace(self, namespace: str) -> RobotProfile:
        """The robot's services moved into ``namespace``."""
        data = self.model_dump()
        for part in data['appendages'].values():
            for command in part['commands'].values():
                command['service'] = below(namespace, command['service'])
        return RobotProfile.model_validate(data)


def with_robot(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The files of the configuration with the times of the robot's mast, and with its commands
    among their skills and costs. Each skill that needs the base also needs the appendages, so that
    none moves during a drive.

    Raises PydanticCustomError.
    """
    robot: RobotProfile = parts['robot']
    skills, costs = parts['skills'], parts['tool_costs']
    own = {name: command.skill(part) for name, (part, command) in robot.commands.items()}
    if known := sorted(set(own) & set(skills.skills)):
        rule = 'a skill of skills.yaml has this name; choose another'
        raise rule_error('appendages', known, rule, file=f'robots/{parts["nodes"].robot}.yaml')
    needs = dict(skills.skills)
    for name, settings in skills.skills.items():
        if not set(settings.resources_required) <= set(robot.resources):
            rule = f'must be of {", ".join(robot.resources)}'
            key = f'skills.{name}.resources_required'
            raise rule_error(key, settings.resources_required, rule, file='skills.yaml')
        if 'base' in settings.resources_required:
            needed = [*settings.resources_required, *robot.appendages]
            needs[name] = settings.model_copy(update={'resources_required': needed})
    prices = {name: command.cost for name, (_, command) in robot.commands.items()}
    thresholds = parts['thresholds']
    times = {} if robot.mast is None else robot.mast.model_dump()
    mast = thresholds.mast.model_copy(update=times)
    table = type(costs.tools).model_validate({**costs.tools.model_dump(), **prices})
    return {
        **parts,
        'thresholds': thresholds.model_copy(update={'mast': mast}),
        'skills': skills.model_copy(update={'skills': {**needs, **own}}),
        'tool_costs': costs.model_copy(update={'tools': table}),
    }
