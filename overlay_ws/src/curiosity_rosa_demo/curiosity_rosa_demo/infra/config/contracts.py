# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The complete configuration, and the rules between its files."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.infra.config.agent import AgentConfig
from curiosity_rosa_demo.infra.config.base import (
    below,
    rule_error,
    Section,
)
from curiosity_rosa_demo.infra.config.guardrails import Guardrails, Skills
from curiosity_rosa_demo.infra.config.nodes import Nodes, NodeSpec
from curiosity_rosa_demo.infra.config.prompts import Prompts
from curiosity_rosa_demo.infra.config.robot import RobotProfile, with_robot
from curiosity_rosa_demo.infra.config.thresholds import Thresholds
from curiosity_rosa_demo.infra.config.tool_costs import ToolCosts
from curiosity_rosa_demo.infra.config.topics import Topics
from curiosity_rosa_demo.infra.config.triggers import TriggersConfig
from curiosity_rosa_demo.infra.config.world import WorldView
from pydantic import model_validator


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
