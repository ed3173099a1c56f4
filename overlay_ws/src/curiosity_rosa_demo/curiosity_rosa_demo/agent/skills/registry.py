"""What the agent can do: every skill with its arguments, resources, limits and errors."""

from __future__ import annotations

import math
from collections.abc import Iterator

from curiosity_rosa_demo.agent.tasks.errors import BadTask
from curiosity_rosa_demo.domain.brain import DecisionType, Json, SkillDef
from curiosity_rosa_demo.domain.models import (
    MAST_IS_CLOSED,
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
    NO_IMAGE_RECEIVED,
    service_timeout,
    service_unavailable,
    tf_unavailable,
)
from curiosity_rosa_demo.infra.config_models import Config
from curiosity_rosa_demo.tools.arguments import arguments_of
from curiosity_rosa_demo.tools.rover_tools import MOTIONS, STILL_WAIT_S

INTERFACES = ('ros2_action', 'ros2_service', 'internal')
RESOURCES = ('base', 'mast', 'camera')
MAST_ACTIONS = ('mast_open', 'mast_close', 'mast_rotate')
MARGIN_S = 2.0
CHARGE_TIMEOUT_S = 24 * 3600.0  # what has not charged in a day never will

# Keys are the beginnings of error reasons.
ERRORS = {
    NEED_TO_CLOSE_MAST: DecisionType.REPLAN.value,
    NEED_TO_OPEN_MAST: DecisionType.REPLAN.value,
    MAST_IS_CLOSED: DecisionType.REPLAN.value,
    MOVE_IN_PROGRESS: DecisionType.RETRY.value,
    NO_IMAGE_RECEIVED: DecisionType.RETRY.value,
    tf_unavailable('', '').partition(':')[0]: DecisionType.RETRY.value,
    service_timeout('').partition(':')[0]: DecisionType.RETRY.value,
    service_unavailable('').partition(':')[0]: DecisionType.ASK_HUMAN.value,
}


class BadSkill(ValueError):
    """A definition that cannot be taken; the message names the skill, the field and the rule."""


class UnknownSkill(BadTask):
    """There is no skill of this name; the message names those that there are."""


class SkillRegistry:
    """Iterates over the definitions in the order of their registration."""

    def __init__(self) -> None:
        self._skills: dict[str, SkillDef] = {}

    def register(self, skill: SkillDef) -> None:
        """Every field must be given, the defaults of SkillDef do not count. Raises BadSkill."""
        problem = _problem(skill)
        if not problem and skill.name in self._skills:
            problem = 'is registered already; a name stands for one skill'
        if problem:
            raise BadSkill(f'Skill {skill.name!r} {problem}')
        self._skills[skill.name] = skill

    def get(self, name: str) -> SkillDef:
        """Raises UnknownSkill."""
        try:
            return self._skills[name]
        except KeyError:
            known = ', '.join(sorted(self._skills))
            raise UnknownSkill(f'There is no skill {name!r}; there are {known}') from None

    def __iter__(self) -> Iterator[SkillDef]:
        return iter(self._skills.values())

    def __len__(self) -> int:
        return len(self._skills)


def make_registry(config: Config) -> SkillRegistry:
    """The skills of this agent: its tools, ``react`` and ``charge``."""
    registry = SkillRegistry()
    for skill in (*_tools(config), _react(config), _charge()):
        registry.register(skill)
    return registry


def _tools(config: Config) -> Iterator[SkillDef]:
    motion, mast = config.thresholds.motion, config.thresholds.mast
    stop_s = motion.stop_timeout_s + motion.stop_confirm_s + MARGIN_S
    start_s = motion.stop_timeout_s + motion.settle_s + 2 * motion.service_timeout_s + MARGIN_S
    confirm_s = start_s + mast.confirm_margin_s + MARGIN_S
    for name in MOTIONS:
        # The adapter's leash ends every motion; the stop after it is tried twice.
        timeout_s = start_s + motion.max_duration_s + 2 * stop_s + STILL_WAIT_S
        yield _tool(name, config, ['base', 'mast'], timeout_s, preemptible=True)
    for name in MAST_ACTIONS:
        duration_s: float = getattr(mast, f'{name.removeprefix("mast_")}_duration_s')
        yield _tool(name, config, ['mast'], confirm_s + duration_s)
    capture_s = config.thresholds.capture.wait_s + 3 * MARGIN_S
    yield _tool('capture_and_score', config, ['camera', 'mast'], capture_s)
    yield _tool('move_stop', config, [], stop_s)
    yield _tool('get_status', config, [], 2 * MARGIN_S)


def _tool(
    name: str,
    config: Config,
    resources: list[str],
    timeout_s: float,
    *,
    preemptible: bool = False,
) -> SkillDef:
    return SkillDef(
        name=name,
        interface_type='ros2_service',
        args_schema=arguments_of(name, config).model_json_schema(),
        resources_required=resources,
        preemptible=preemptible,
        cancel_supported=preemptible,
        timeout_s=timeout_s,
        error_map=ERRORS,
    )


def _react(config: Config) -> SkillDef:
    llm, turn = config.agent.llm, config.agent.turn
    longest_tool_s = max(tool.timeout_s for tool in _tools(config))
    return SkillDef(
        name='react',
        interface_type='internal',
        args_schema={
            'type': 'object',
            'properties': {
                'text': {'type': 'string', 'minLength': 1},
                'expects': {'enum': ['answer', 'good_capture'], 'default': 'answer'},
            },
            'required': ['text'],
            'additionalProperties': False,
        },
        resources_required=list(RESOURCES),
        preemptible=True,
        cancel_supported=True,
        timeout_s=turn.max_steps * (llm.timeout_s * (llm.max_retries + 1) + longest_tool_s),
        error_map=ERRORS,
    )


def _charge() -> SkillDef:
    return SkillDef(
        name='charge',
        interface_type='internal',
        args_schema={'type': 'object', 'properties': {}, 'additionalProperties': False},
        resources_required=['base', 'mast'],
        preemptible=True,
        cancel_supported=True,
        timeout_s=CHARGE_TIMEOUT_S,
        error_map=ERRORS,
    )


def _problem(skill: SkillDef) -> str:
    """What is wrong with the definition, in words; nothing when all is there."""
    missing = [name for name in SkillDef.model_fields if name not in skill.model_fields_set]
    if missing:
        return f'lacks {", ".join(missing)}; a definition gives every field'
    if not skill.name.strip():
        return 'has no name'
    if skill.interface_type not in INTERFACES:
        return f'has interface_type {skill.interface_type!r}; there are {", ".join(INTERFACES)}'
    foreign = set(skill.resources_required) - set(RESOURCES)
    if foreign:
        return f'requires {", ".join(sorted(foreign))}; the resources are {", ".join(RESOURCES)}'
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
