# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schema of robots/NAME.yaml: what a robot has, its names and numbers in the other files, the
parts that must be stowed before it drives, and the skills that move them.

Each command of a part becomes a service of the adapter, a skill and a cost.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import compress
import re
from typing import Any

from curiosity_rosa_demo.infra.config.appendage import AppendageCommand, AppendageProfile
from curiosity_rosa_demo.infra.config.base import FileName, rule_error, Section
from pydantic import Field, model_validator

OWN_RESOURCES = ('base', 'mast', 'camera')
TURN = 'react'  # the skill that may call any other: it takes what the robot has
PYTHON_NAME = '[a-z][a-z0-9_]{0,39}'
PYTHON_NAME_RULE = 'a name is 1 to 40 of a to z, 0 to 9 and _, a letter first, e.g. arm_close'


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
    appendages: dict[str, AppendageProfile] = Field(default_factory=dict)
    topics: dict[str, Any] = Field(default_factory=dict)
    thresholds: dict[str, Any] = Field(default_factory=dict)
    guardrails: dict[str, Any] = Field(default_factory=dict)
    skills: dict[str, Any] = Field(default_factory=dict)
    tool_costs: dict[str, Any] = Field(default_factory=dict)
    agent: dict[str, Any] = Field(default_factory=dict)
    prompts: dict[str, Any] = Field(default_factory=dict)
    triggers: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode='after')
    def _names_are_its_own(self) -> RobotProfile:
        for name in (*self.appendages, *self.commands):
            if not re.fullmatch(PYTHON_NAME, name):
                raise rule_error('appendages', name, PYTHON_NAME_RULE)
        if taken := sorted(set(self.appendages) & set(OWN_RESOURCES)):
            raise rule_error('appendages', taken, f'must not be {", ".join(OWN_RESOURCES)}')
        if not self.mobile_base and not self.appendages:
            raise rule_error('mobile_base', False, 'must be true: there are no appendages')
        for key in OWN_RESOURCES[1:]:
            if not self.mobile_base and key in self.model_fields_set:
                rule = 'must be left out: mobile_base is false'
                raise rule_error(key, getattr(self, key), rule)
        for key, names in (
            ('joints', [joint for part in self.appendages.values() for joint in part.joints]),
            ('commands', [name for part in self.appendages.values() for name in part.commands]),
            # A stop cancels all goals of an action.
            ('actions', [n for part in self.appendages.values() for n in part.names('action')]),
        ):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise rule_error('appendages', twice, f'{key} of two appendages: must differ')
        return self

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
        """Whether this robot has all of them."""
        return set(resources) <= set(self.resources)

    def in_namespace(self, namespace: str) -> RobotProfile:
        """The robot's services, topics and actions moved into ``namespace``."""
        parts = {
            name: part.model_copy(
                update={
                    'commands': {
                        command: each.in_namespace(namespace)
                        for command, each in part.commands.items()
                    }
                }
            )
            for name, part in self.appendages.items()
        }
        return self.model_copy(update={'appendages': parts})


def with_robot(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The files of the configuration with the commands of the robot's appendages among their
    skills and costs. Each skill that needs the base also needs the appendages, so that none moves
    during a drive; none needs a mast that is not there.

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
        if not set(settings.resources_required) <= {*OWN_RESOURCES, *robot.appendages}:
            rule = f'must be of {", ".join((*OWN_RESOURCES, *robot.appendages))}'
            key = f'skills.{name}.resources_required'
            raise rule_error(key, settings.resources_required, rule, file='skills.yaml')
        needed = _needed(name, settings.resources_required, robot)
        needs[name] = settings.model_copy(update={'resources_required': needed})
    prices = {name: command.cost for name, (_, command) in robot.commands.items()}
    thresholds = parts['thresholds']
    if not robot.has_mast:
        capture = thresholds.capture.model_copy(update={'require_open_mast': False})
        thresholds = thresholds.model_copy(update={'capture': capture})
    table = type(costs.tools).model_validate({**costs.tools.model_dump(), **prices})
    agent = parts['agent']
    view = {'world_view': robot.world_view or agent.policy.world_view}
    return {
        **parts,
        'agent': agent.model_copy(update={'policy': agent.policy.model_copy(update=view)}),
        'thresholds': thresholds,
        'skills': skills.model_copy(update={'skills': {**needs, **own}}),
        'tool_costs': costs.model_copy(update={'tools': table}),
    }


def _needed(skill: str, required: Sequence[str], robot: RobotProfile) -> list[str]:
    needed = list(required)
    if skill == TURN:
        needed = [each for each in needed if each in robot.resources]
    elif not robot.has_mast and len(needed) > 1:  # the mast's own skills need nothing else
        needed = [each for each in needed if each != 'mast']
    return [*needed, *robot.appendages] if 'base' in required else needed
