# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The registry of all skills: those that come with the agent, and those of other packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from typing import Any

from curiosity_rosa_demo.agent.skills import basic
from curiosity_rosa_demo.agent.skills.drive import drive_distance, navigate_to_pose, turn_angle
from curiosity_rosa_demo.agent.skills.knowledge import make_search_knowledge
from curiosity_rosa_demo.agent.skills.nav2 import make_navigate_skill
from curiosity_rosa_demo.agent.skills.plugins import ENTRY_POINT_GROUP, skill_of
from curiosity_rosa_demo.agent.skills.skill import BadArguments, BadSkill, Skill, UnknownSkill
from curiosity_rosa_demo.domain.brain_state import DecisionType, Json, SkillDef
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.operation import Exchange
from curiosity_rosa_demo.domain.refusal import read_answer
from curiosity_rosa_demo.domain.serde import first_problem
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.domain.text import one_line
from curiosity_rosa_demo.infra.config.robot import OWN_RESOURCES
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.tools.tool_impl import LINK_TIMEOUT_S, STANDSTILL_TIMEOUT_S
from pydantic import BaseModel, ValidationError

RESERVED_NAMES = ('decide',)  # the model's call that changes the course of a turn
TASK_ONLY_SKILLS = ('react', 'charge', 'activity')  # not offered to the model
VISION_SKILLS = ('look',)  # offered only to a model that can see
TIMEOUT_MARGIN_S = 2.0


class SkillRegistry:
    """Registered skills by name. Iterates over the definitions in the order of registration.

    ``errors``: decisions for the errors of unknown skills. ``resources``: what a skill may need.
    ``notes``: one line for each skill that was left out, with the reason. ``left_out``: what the
    robot lacks for a shipped one.
    """

    def __init__(
        self,
        errors: Mapping[str, DecisionType] | None = None,
        *,
        resources: Sequence[str] = OWN_RESOURCES,
    ) -> None:
        self._errors, self._resources = dict(errors or {}), tuple(resources)
        self._skills: dict[str, Skill] = {}
        self._offered: tuple[Skill, ...] = ()
        self.notes: list[str] = []
        self.left_out: dict[str, str] = {}

    def register(self, skill: Skill, *, for_model: bool = True) -> None:
        """Raises BadSkill."""
        needs, problem = skill.settings.resources_required, ''
        if skill.name in RESERVED_NAMES:
            problem = 'has a name that the agent itself uses'
        elif skill.name in self._skills:
            problem = 'is registered already; a name stands for one skill'
        elif foreign := set(needs) - set(self._resources):
            known = ', '.join(self._resources)
            problem = f'requires {", ".join(sorted(foreign))}; the resources are {known}'
        elif len(set(needs)) < len(needs):
            problem = 'requires a resource twice'
        if problem:
            raise BadSkill(f'Skill {skill.name!r} {problem}')
        self._skills[skill.name] = skill
        if for_model:
            self._offered = (*self._offered, skill)

    def get(self, name: str) -> Skill:
        """Raises UnknownSkill."""
        try:
            return self._skills[name]
        except KeyError:
            why = f'; there are {", ".join(sorted(self._skills))}'
            if lacks := self.left_out.get(name):
                why = f': this robot has no {lacks}'
            raise UnknownSkill(f'There is no skill {name!r}{why}') from None

    def offer_vision_skills(self) -> None:
        """Offer them to the model, too. Call once it is known that the model can see."""
        more = [self.get(name) for name in VISION_SKILLS]
        self._offered = (*self._offered, *(each for each in more if each not in self._offered))

    def for_model(self) -> tuple[Skill, ...]:
        """The skills that the model may call."""
        return self._offered

    def decision_on(self, call: Exchange | None) -> DecisionType | None:
        """What the skill's error_map decides on a call that failed; None: nothing."""
        if call is None or not call.code:
            return None
        skill = self._skills.get(call.tool)
        return (self._errors if skill is None else skill.settings.error_map).get(call.code)

    def __iter__(self) -> Iterator[SkillDef]:
        return (skill.definition for skill in self._skills.values())

    def __contains__(self, name: str) -> bool:
        return name in self._skills


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
        raise BadArguments(f'{skill.name}: {why}') from None


def arguments_error_text(error: ValidationError, schema: type[BaseModel]) -> str:
    """The first validation error, followed by the names of all arguments."""
    takes = ', '.join(schema.model_fields) or 'none'
    return f'{first_problem(error, "arguments")}; it takes: {takes}'


# --- all skills of this agent ----------------------------------------------------------------


def make_registry(config: Config) -> SkillRegistry:
    """Register the built-in skills, in the order in which the model sees them, and those of other
    packages. The settings of skills.yaml override the settings of a package. Raises ConfigError.
    """
    registry = SkillRegistry(_by_code(config.skills.error_map), resources=config.robot.resources)
    longest = {'duration_s': config.agent.turn.max_motion_s}
    try:
        for function in _own_functions(config):
            name = function.__name__
            settings = config.skills.skills.get(name)
            if settings is None:
                raise ConfigError(f'skills.yaml: skills.{name}: is missing; copy the shipped one')
            if not config.robot.has(settings.resources_required):
                lacks = sorted(set(settings.resources_required) - set(config.robot.resources))
                registry.left_out[name] = ' and no '.join(lacks)
                continue
            if name in MOTIONS:
                _check_timeout(name, settings.timeout_s, config)
            skill = skill_of(function, settings, at_most=longest if name in MOTIONS else None)
            for_model = name not in (*TASK_ONLY_SKILLS, *VISION_SKILLS)
            registry.register(_configured(skill, config), for_model=for_model)
    except BadSkill as error:
        raise ConfigError(f'skills.yaml: {error}') from None
    for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda each: each.name):
        try:
            made = entry.load()
            skill = made if isinstance(made, Skill) else made(config)
            if not isinstance(skill, Skill):
                kind = type(skill).__name__
                raise BadSkill(f'{entry.value} made a {kind}; it must make a Skill')
            registry.register(_configured(skill, config))
        except (Exception, SystemExit) as error:  # whatever the code of others does
            kind = '' if isinstance(error, BadSkill) else f'{type(error).__name__}: '
            why = f'{kind}{one_line(str(error)) or "no reason given"}'
            registry.notes.append(f'{ENTRY_POINT_GROUP}: {entry.name} is left out: {why}')
    _check_all_registered(registry, config)
    return registry


def _own_functions(config: Config) -> Iterator[Callable[..., ToolResult]]:
    navigation = config.agent.navigation
    yield from basic.tool_skills()
    yield from (basic.analyze_ground, basic.speak, basic.wait, basic.wait_until)
    yield from (basic.query_world, basic.query_graph)
    yield make_search_knowledge(config.agent.knowledge.folder)
    is_nav2 = navigation.provider == 'nav2'
    yield make_navigate_skill(navigation.action) if is_nav2 else navigate_to_pose
    yield from (drive_distance, turn_angle)
    yield from (basic.look, basic.react, basic.charge, basic.activity)
    for name, (_, command) in config.robot.commands.items():
        yield basic.appendage_skill(name, command.description)


def _configured(skill: Skill, config: Config) -> Skill:
    """``skill`` with its settings of skills.yaml, if that names it, and the common error map below
    its own. The description tells the model its limits and cost.
    """
    settings = config.skills.skills.get(skill.name, skill.settings)
    errors = _by_code(config.skills.error_map) | _by_code(settings.error_map)
    words = settings.words or skill.settings.words
    settings = settings.model_copy(update={'error_map': errors, 'words': words})
    told = skill.description
    longest = skill.arguments.model_json_schema()['properties'].get('duration_s', {})
    if 'maximum' in longest:
        told += f' duration_s is at most {longest["maximum"]:g} s.'
    if skill.name in [part.stow_command for part in config.robot.appendages.values()]:
        told += ' Needed before any drive.'
    told += f' Cost: {config.tool_costs.of(skill.name):g}.'
    if settings.phrases:
        quoted = ', '.join(f'"{phrase}"' for phrase in settings.phrases)
        told += f' Said as: {quoted}.'
    return replace(skill, settings=settings, description=told)


def _by_code(errors: Mapping[str, DecisionType]) -> dict[str, DecisionType]:
    """An error_map by codes: what a service of ROS answers stands for its code."""
    return {read_answer(key)[0] or key: decision for key, decision in errors.items()}


def _check_timeout(name: str, timeout_s: float, config: Config) -> None:
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
    if timeout_s <= least_s:
        raise BadSkill(
            f'{name!r} has timeout_s {timeout_s:g}; it must be above '
            f'{least_s:g}: turn.max_motion_s ({longest_s:g}) of agent.yaml, its start and its stop'
        )


def _check_all_registered(registry: SkillRegistry, config: Config) -> None:
    for name, settings in config.skills.skills.items():
        if name not in registry and config.robot.has(settings.resources_required):
            notes = f' ({"; ".join(registry.notes)})' if registry.notes else ''
            raise ConfigError(
                f'skills.yaml: skills.{name}: nobody implements it; install the package that '
                f'does, or remove it{notes}'
            )
