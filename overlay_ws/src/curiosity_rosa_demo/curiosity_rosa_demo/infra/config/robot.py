# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schema of robots/NAME.yaml: the parts of a robot that must be stowed before it drives, beside
its mast, and the skills that move them.

Each command becomes a service of the adapter, a skill and a cost.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
import re
from typing import Any

from curiosity_rosa_demo.infra.config.appendage import AppendageCommand, AppendageProfile
from curiosity_rosa_demo.infra.config.base import FileName, rule_error, Seconds, Section
from pydantic import model_validator

OWN_RESOURCES = ('base', 'mast', 'camera')
TURN = 'react'  # the skill that may call any other: it takes what the robot has
PYTHON_NAME = '[a-z][a-z0-9_]{0,39}'
PYTHON_NAME_RULE = 'a name is 1 to 40 of a to z, 0 to 9 and _, a letter first, e.g. arm_close'


class MastTimes(Section):
    """How long the trajectories of the robot's mast take, in simulated seconds."""

    open_duration_s: Seconds
    close_duration_s: Seconds
    rotate_duration_s: Seconds


class RobotProfile(Section):
    """``appendages`` by name, e.g. arm. ``mast``: instead of the times in thresholds.yaml.
    ``mobile_base``: false for a robot that is its appendages alone, without base, mast and camera.
    ``world_view``: instead of policy.world_view in agent.yaml.
    """

    mobile_base: bool = True
    world_view: FileName | None = None
    mast: MastTimes | None = None
    appendages: dict[str, AppendageProfile]

    @model_validator(mode='after')
    def _names_are_its_own(self) -> RobotProfile:
        for name in (*self.appendages, *self.commands):
            if not re.fullmatch(PYTHON_NAME, name):
                raise rule_error('appendages', name, PYTHON_NAME_RULE)
        if taken := sorted(set(self.appendages) & set(OWN_RESOURCES)):
            raise rule_error('appendages', taken, f'must not be {", ".join(OWN_RESOURCES)}')
        if not self.mobile_base and not self.appendages:
            raise rule_error('mobile_base', False, 'must be true: there are no appendages')
        if not self.mobile_base and self.mast is not None:
            raise rule_error('mast', self.mast, 'must be left out: mobile_base is false')
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
        return (*(OWN_RESOURCES if self.mobile_base else ()), *self.appendages)

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
        if not set(settings.resources_required) <= {*OWN_RESOURCES, *robot.appendages}:
            rule = f'must be of {", ".join((*OWN_RESOURCES, *robot.appendages))}'
            key = f'skills.{name}.resources_required'
            raise rule_error(key, settings.resources_required, rule, file='skills.yaml')
        if 'base' in settings.resources_required:
            own_parts = (
                [] if name == TURN and not robot.mobile_base else settings.resources_required
            )
            needed = [*own_parts, *robot.appendages]
            needs[name] = settings.model_copy(update={'resources_required': needed})
    prices = {name: command.cost for name, (_, command) in robot.commands.items()}
    thresholds = parts['thresholds']
    times = {} if robot.mast is None else robot.mast.model_dump()
    mast = thresholds.mast.model_copy(update=times)
    table = type(costs.tools).model_validate({**costs.tools.model_dump(), **prices})
    agent = parts['agent']
    view = {'world_view': robot.world_view or agent.policy.world_view}
    return {
        **parts,
        'agent': agent.model_copy(update={'policy': agent.policy.model_copy(update=view)}),
        'thresholds': thresholds.model_copy(update={'mast': mast}),
        'skills': skills.model_copy(update={'skills': {**needs, **own}}),
        'tool_costs': costs.model_copy(update={'tools': table}),
    }
