# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The registry of all skills, with their arguments, resources, limits and errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
import math
from typing import Any

from curiosity_rosa_demo.agent.skills import builtin, plugins
from curiosity_rosa_demo.agent.skills.errors import BadArguments, UnknownSkill
from curiosity_rosa_demo.agent.skills.errors import BadSkill as BadSkill
from curiosity_rosa_demo.agent.skills.skill import Skill
from curiosity_rosa_demo.domain.brain_state import DecisionType, Json, SkillDef
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.infra.config.robot import OWN_RESOURCES
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.tools.rover_tools import LINK_TIMEOUT_S, STANDSTILL_TIMEOUT_S
from curiosity_rosa_demo.tools.tool_impl import arguments_error_text
from pydantic import BaseModel, ValidationError

INTERFACE_TYPES = ('ros2_action', 'ros2_service', 'internal')
RESERVED_NAMES = ('decide',)  # the model's call that changes the course of a turn
TIMEOUT_MARGIN_S = 2.0


class SkillRegistry:
    """Registered skills by name. Iterates over the definitions in the order of registration.

    ``errors``: decisions for the errors of unknown skills. ``resources``: what a skill may need.
    ``notes``: one line for each skill that was left out, with the reason.
    """

    def __init__(
        self,
        errors: Mapping[str, str] | None = None,
        *,
        resources: Sequence[str] = OWN_RESOURCES,
    ) -> None:
        self._errors, self._resources = dict(errors or {}), tuple(resources)
        self._skills: dict[str, Skill] = {}
        self._offered: tuple[Skill, ...] = ()
        self.notes: list[str] = []

    def register(self, skill: Skill, *, for_model: bool = True) -> None:
        """Add a skill. Its definition must set every field of SkillDef. Raises BadSkill."""
        definition = skill.definition
        problem = _definition_problem(definition, self._resources)
        if not problem and definition.name in RESERVED_NAMES:
            problem = 'has a name that the agent itself uses'
        if not problem and definition.name in self._skills:
            problem = 'is registered already; a name stands for one skill'
        if problem:
            raise BadSkill(f'Skill {definition.name!r} {problem}')
        self._skills[definition.name] = skill
        if for_model:
            self._offered = (*self._offered, skill)

    def get(self, name: str) -> Skill:
        """Raises UnknownSkill."""
        try:
            return self._skills[name]
        except KeyError:
            known = ', '.join(sorted(self._skills))
            raise UnknownSkill(f'There is no skill {name!r}; there are {known}') from None

    def offer_vision_skills(self) -> None:
        """Offer them to the model, too. Call once it is known that the model can see."""
        offered = {skill.definition.name for skill in self._offered}
        more = [self.get(name) for name in builtin.VISION_SKILLS if name not in offered]
        self._offered = (*self._offered, *more)

    def for_model(self) -> tuple[Skill, ...]:
        """The skills that the model may call."""
        return self._offered

    def tasks(self) -> tuple[SkillDef, ...]:
        """The definitions that can be submitted as a task: those of every skill."""
        return tuple(self)

    def error_decision(self, skill_name: str, error: str) -> DecisionType | None:
        """The decision for an error reason or code, from the skill's error_map. The longest key
        that is a prefix of ``error`` wins. None: no key matches.
        """
        skill = self._skills.get(skill_name)
        errors = self._errors if skill is None else skill.definition.error_map
        key = max((key for key in errors if key and error.startswith(key)), key=len, default=None)
        return None if key is None else DecisionType(errors[key])

    def __iter__(self) -> Iterator[SkillDef]:
        return (skill.definition for skill in self._skills.values())

    def __contains__(self, name: str) -> bool:
        return name in self._skills

    def __len__(self) -> int:
        return len(self._skills)


def checked_arguments(skill: Skill, arguments: object) -> dict[str, Any]:
    """Validated arguments for the skill's function. Raises BadArguments."""
    return dict(_validated_arguments(skill, arguments))


def arguments_as_json(skill: Skill, arguments: object) -> Json:
    """Validated arguments as JSON. Raises BadArguments."""
    return _validated_arguments(skill, arguments).model_dump(mode='json')


def _validated_arguments(skill: Skill, arguments: object) -> BaseModel:
    try:
        return skill.arguments.model_validate(arguments)
    except ValidationError as error:
        why = arguments_error_text(error, skill.arguments)
        raise BadArguments(f'{skill.definition.name}: {why}') from None


# --- all skills of this agent ----------------------------------------------------------------


def make_registry(config: Config) -> SkillRegistry:
    """Register the built-in skills and those of other packages. The settings of skills.yaml
    override the settings of a package. Raises ConfigError.
    """
    common = {error: decision.value for error, decision in config.skills.error_map.items()}
    registry = SkillRegistry(common, resources=config.robot.resources)
    own = builtin.builtin_skills(config)
    try:
        for skill in own:
            for_model = skill.definition.name not in (
                *builtin.TASK_ONLY_SKILLS,
                *builtin.VISION_SKILLS,
            )
            registry.register(_with_common_settings(skill, config), for_model=for_model)
    except BadSkill as error:
        raise ConfigError(f'skills.yaml: {error}') from None
    for entry, found in plugins.third_party_skills(config):
        try:
            if isinstance(found, str):
                raise BadSkill(found)
            registry.register(_with_common_settings(found, config))
        except BadSkill as error:
            registry.notes.append(f'{plugins.ENTRY_POINT_GROUP}: {entry} is left out: {error}')
    _check_all_registered(registry, config)
    return registry


def _with_common_settings(skill: Skill, config: Config) -> Skill:
    """``skill`` with the common error map added below its own, and its cost in the description."""
    definition = skill.definition
    common = {error: decision.value for error, decision in config.skills.error_map.items()}
    errors = {**common, **definition.error_map}
    if definition.name in MOTIONS:
        _check_timeout(definition, config)
    return replace(
        skill,
        definition=definition.model_copy(update={'error_map': errors}),
        description=f'{skill.description}{_max_motion_s(definition)}{_needed(definition, config)} '
        f'Cost: {config.tool_costs.of(definition.name):g}.{_said_as(skill.words)}',
    )


def _needed(definition: SkillDef, config: Config) -> str:
    """That the skill stows an appendage; the routine reads it here."""
    stows = [part.stow_command for part in config.robot.appendages.values()]
    return ' Needed before any drive.' if definition.name in stows else ''


def _said_as(phrases: tuple[str, ...]) -> str:
    """The phrases that order the skill; the routine reads them here."""
    quoted = ', '.join(f'"{phrase}"' for phrase in phrases)
    return f' Said as: {quoted}.' if quoted else ''


def _max_motion_s(definition: SkillDef) -> str:
    properties: Any = definition.args_schema.get('properties', {})
    longest = properties.get('duration_s', {}).get('maximum')
    return '' if longest is None else f' duration_s is at most {longest:g} s.'


def _check_timeout(definition: SkillDef, config: Config) -> None:
    """Check that the skill's time-out cannot end a motion early, as if it had failed.

    Raises BadSkill.
    """
    motion, longest_s = config.thresholds.motion, config.agent.turn.max_motion_s
    start_s = (
        motion.stop_timeout_s + motion.settle_s + 2 * motion.service_timeout_s + TIMEOUT_MARGIN_S
    )
    stop_s = motion.stop_timeout_s + motion.longest_confirm_s + TIMEOUT_MARGIN_S
    # the stop may be tried twice
    least_s = LINK_TIMEOUT_S + start_s + longest_s + 2 * stop_s + STANDSTILL_TIMEOUT_S
    if definition.timeout_s <= least_s:
        raise BadSkill(
            f'{definition.name!r} has timeout_s {definition.timeout_s:g}; it must be above '
            f'{least_s:g}: turn.max_motion_s ({longest_s:g}) of agent.yaml, its start and its stop'
        )


def _check_all_registered(registry: SkillRegistry, config: Config) -> None:
    known = {definition.name for definition in registry}
    for name, settings in config.skills.skills.items():
        if name not in known and config.robot.has(settings.resources_required):
            notes = f' ({"; ".join(registry.notes)})' if registry.notes else ''
            raise ConfigError(
                f'skills.yaml: skills.{name}: nobody implements it; install the package that '
                f'does, or remove it{notes}'
            )


# --- rules for a definition ------------------------------------------------------------------


def _definition_problem(skill: SkillDef, resources: Sequence[str]) -> str:
    """The first error of the definition, as text; empty if the definition is valid."""
    missing = [name for name in SkillDef.model_fields if name not in skill.model_fields_set]
    if missing:
        return f'lacks {", ".join(missing)}; a definition gives every field'
    if not skill.name.strip():
        return 'has no name'
    if skill.interface_type not in INTERFACE_TYPES:
        return (
            f'has interface_type {skill.interface_type!r}; there are {", ".join(INTERFACE_TYPES)}'
        )
    foreign = set(skill.resources_required) - set(resources)
    if foreign:
        return f'requires {", ".join(sorted(foreign))}; the resources are {", ".join(resources)}'
    if len(set(skill.resources_required)) < len(skill.resources_required):
        return 'requires a resource twice'
    if not math.isfinite(skill.timeout_s) or skill.timeout_s <= 0.0:
        return f'has timeout_s {skill.timeout_s}; it must be a number of seconds above 0'
    return _schema_problem(skill.args_schema) or _error_map_problem(skill.error_map)


def _schema_problem(schema: Json) -> str:
    if schema.get('type') != 'object':
        return f'has an args_schema of type {schema.get("type")!r}; it must be object'
    properties, required = schema.get('properties', {}), schema.get('required', [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return 'has an args_schema whose properties are no object or whose required is no list'
    unknown = [str(name) for name in required if name not in properties]
    return f'requires arguments that it does not describe: {", ".join(unknown)}' if unknown else ''


def _error_map_problem(error_map: dict[str, str]) -> str:
    names = [decision.value for decision in DecisionType]
    for error, decision in error_map.items():
        if decision not in names:
            return f'maps {error!r} to {decision!r}; the decisions are {", ".join(names)}'
    return ''
