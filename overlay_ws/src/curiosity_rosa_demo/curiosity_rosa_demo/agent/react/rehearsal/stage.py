# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The stage of a rehearsal, from the objects of the agent."""

from __future__ import annotations

from curiosity_rosa_demo.agent.react.guardrails.situation import Limits
from curiosity_rosa_demo.agent.react.rehearsal.twin import Stage, Surroundings
from curiosity_rosa_demo.agent.skills.errors import UnknownSkill
from curiosity_rosa_demo.agent.skills.registry import SkillRegistry
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.plan.plan import RiskLevel
from curiosity_rosa_demo.infra.config.contracts import Config


def stage_of(
    config: Config,
    registry: SkillRegistry,
    surroundings: Surroundings,
    origin: Origin,
    language: str,
) -> Stage:
    """``origin`` and ``language``: of the order."""

    def skill_facts(name: str) -> tuple[frozenset[str], RiskLevel, float] | None:
        try:
            skill = registry.get(name)
        except UnknownSkill:
            return None
        resources = frozenset(skill.definition.resources_required)
        return resources, skill.risk, config.tool_costs.of(name)

    return Stage(config, Limits.of(config), skill_facts, surroundings, origin, language)
