# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Skills of other packages, from the entry points of the group ``curiosity_rosa.skills``.

An entry point is a Skill, or a function that makes one from the Config.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib.metadata import entry_points, EntryPoint

from curiosity_rosa_demo.agent.skills.errors import BadSkill
from curiosity_rosa_demo.agent.skills.signature import arguments_model, description_of
from curiosity_rosa_demo.agent.skills.skill import Skill
from curiosity_rosa_demo.domain.brain_state import Json, SkillDef
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.text import one_line
from curiosity_rosa_demo.infra.config.behaviour import SkillSettings
from curiosity_rosa_demo.infra.config.topics import Config
from pydantic import BaseModel

ENTRY_POINT_GROUP = 'curiosity_rosa.skills'


def skill_of(
    function: Callable[..., ToolResult],
    settings: SkillSettings,
    *,
    at_most: Mapping[str, float] | None = None,
) -> Skill:
    """Make a skill of ``function(call, ...)``. The skill has the name of the function.

    The signature gives the arguments, and the first paragraph of the docstring is the description
    for the model. ``at_most``: upper limits from the configuration. Raises BadSkill.
    """
    arguments = arguments_model(function, at_most=at_most)
    definition = _definition(function.__name__, arguments.model_json_schema(), settings)
    return Skill(
        definition,
        function,
        arguments,
        description_of(function),
        settings.risk,
        settings.repeatable,
        settings.phrases,
    )


def with_settings(skill: Skill, config: Config) -> Skill:
    """``skill`` with its settings of skills.yaml; unchanged if skills.yaml does not name it."""
    name = skill.definition.name
    settings = config.skills.skills.get(name)
    if settings is None:
        return skill
    definition = _definition(name, skill.definition.args_schema, settings)
    return replace(
        skill,
        definition=definition,
        risk=settings.risk,
        repeatable=settings.repeatable,
        words=settings.phrases or skill.words,
    )


def _definition(name: str, args_schema: Json, settings: SkillSettings) -> SkillDef:
    return SkillDef(
        name=name,
        interface_type=settings.interface_type,
        args_schema=args_schema,
        resources_required=list(settings.resources_required),
        preemptible=settings.preemptible,
        cancel_supported=settings.cancel_supported,
        timeout_s=settings.timeout_s,
        error_map={error: decision.value for error, decision in settings.error_map.items()},
    )


def third_party_skills(config: Config) -> Iterator[tuple[str, Skill | str]]:
    """Yield each entry point's name with its skill, or with its error in one line."""
    for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda each: each.name):
        try:
            skill = _load_plugin(entry, config)
        except (Exception, SystemExit) as error:
            why = one_line(str(error)) or 'no reason given'
            yield entry.name, f'{type(error).__name__}: {why}'
        else:
            yield entry.name, skill


def _load_plugin(entry: EntryPoint, config: Config) -> Skill:
    loaded = entry.load()
    skill = loaded if isinstance(loaded, Skill) else loaded(config)
    if not isinstance(skill, Skill):
        raise BadSkill(f'{entry.value} made a {type(skill).__name__}; it must make a Skill')
    if not isinstance(skill.definition, SkillDef):
        raise BadSkill(f'{entry.value} has no SkillDef; make it with skill_of(function, settings)')
    if not (isinstance(skill.arguments, type) and issubclass(skill.arguments, BaseModel)):
        raise BadSkill(f'{entry.value} has no model of its arguments; make it with skill_of')
    if skill.definition.args_schema != skill.arguments.model_json_schema():
        raise BadSkill(f'{entry.value} has an args_schema that is not that of its arguments')
    return with_settings(skill, config)
