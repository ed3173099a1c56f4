# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The registry of skills: complete definitions only, and one skill for all the agent can do."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.agent.runtime.execution.catalogue import make_task
from curiosity_rosa_demo.agent.skills.errors import BadArguments, BadSkill
from curiosity_rosa_demo.agent.skills.registry import (
    checked_arguments,
    INTERFACE_TYPES,
    make_registry,
    RESERVED_NAMES,
    SkillRegistry,
)
from curiosity_rosa_demo.agent.skills.skill import Skill
from curiosity_rosa_demo.agent.tasks.errors import BadTask
from curiosity_rosa_demo.domain.brain_state import DecisionType, SkillDef
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.plan.plan import RiskLevel
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.config.robot import OWN_RESOURCES
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.tools.tool_impl import make_tools
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_strategies import CONFIG
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, ConfigDict, ValidationError
import pytest
from skill_calls import call_of, NINE, StillWorld
from strategies import json_values, text

FIELDS = (
    'name',
    'interface_type',
    'args_schema',
    'resources_required',
    'preemptible',
    'cancel_supported',
    'timeout_s',
    'error_map',
)
CHARGE = make_registry(CONFIG).get('charge').definition.model_dump()
many = settings(max_examples=examples(150), deadline=None)
decisions = st.sampled_from([decision.value for decision in DecisionType])
complete = st.fixed_dictionaries(
    {
        'name': text.filter(str.strip).filter(lambda name: name not in RESERVED_NAMES),
        'interface_type': st.sampled_from(INTERFACE_TYPES),
        'args_schema': st.dictionaries(text, json_values, max_size=2).map(
            lambda properties: {
                'type': 'object',
                'properties': properties,
                'required': [*properties],
            }
        ),
        'resources_required': st.lists(st.sampled_from(OWN_RESOURCES), unique=True),
        'preemptible': st.booleans(),
        'cancel_supported': st.booleans(),
        'timeout_s': st.floats(1e-6, 1e9),
        'error_map': st.dictionaries(text, decisions, max_size=3),
    }
)


class Anything(BaseModel):
    model_config = ConfigDict(extra='allow')


def skill_with(definition: SkillDef) -> Skill:
    return Skill(
        definition,
        lambda call: ToolResult.success(),
        Anything,
        'For a test.',
        risk=RiskLevel.LOW,
        repeatable=False,
    )


@given(complete, st.data())
@many
def test_a_definition_is_registered_once_and_with_every_field(
    fields: dict[str, Any], data: st.DataObject
) -> None:
    """Property 10."""
    registry = SkillRegistry()
    required = {'name', 'interface_type'}  # SkillDef itself insists on these
    lost = data.draw(st.sampled_from(sorted(set(FIELDS) - required)))
    lacking = {key: fields[key] for key in FIELDS if key != lost}
    with pytest.raises(BadSkill, match=f'lacks {lost}'):
        registry.register(skill_with(SkillDef(**lacking)))
    assert len(registry) == 0
    skill = skill_with(SkillDef(**fields))
    registry.register(skill)
    with pytest.raises(BadSkill, match='registered already'):
        registry.register(skill)
    assert [each.model_dump() for each in registry] == [fields]
    assert registry.get(fields['name']) is skill
    assert registry.for_model() == (skill,)
    assert registry.tasks() == tuple(registry)


@pytest.mark.parametrize(
    ('field', 'bad', 'told'),
    [
        ('name', ' ', 'no name'),
        ('name', 'decide', 'the agent itself uses'),
        ('interface_type', 'http', 'ros2_action, ros2_service, internal'),
        ('args_schema', {}, 'it must be object'),
        ('args_schema', {'type': 'object', 'required': ['x']}, 'does not describe: x'),
        ('args_schema', {'type': 'object', 'properties': []}, 'properties are no object'),
        ('resources_required', ['arm'], 'arm; the resources are base, mast, camera'),
        ('resources_required', ['base', 'base'], 'twice'),
        ('error_map', {'e': 'GIVE_UP'}, "'GIVE_UP'; the decisions are CONTINUE"),
    ],
)
def test_a_refusal_names_the_rule(field: str, bad: Any, told: str) -> None:
    with pytest.raises(BadSkill, match=r'^Skill ') as caught:
        SkillRegistry().register(skill_with(SkillDef(**{**CHARGE, field: bad})))
    assert told in str(caught.value)


# --- what an error means ---------------------------------------------------------------------


codes = st.text('ab', max_size=4)  # one often begins with another


@given(
    own=st.dictionaries(codes, decisions, max_size=6),
    common=st.dictionaries(codes, decisions, max_size=6),
    tail=codes,
    data=st.data(),
)
@many
def test_the_longest_beginning_decides(
    own: dict[str, str], common: dict[str, str], tail: str, data: st.DataObject
) -> None:
    registry = SkillRegistry(common)
    registry.register(skill_with(SkillDef(**{**CHARGE, 'error_map': own})))
    error = data.draw(st.sampled_from(['', *own, *common])) + tail
    for name, errors in (('charge', own), ('fly', common)):
        fitting = [error[:n] for n in range(len(error), 0, -1) if error[:n] in errors]
        expected = DecisionType(errors[fitting[0]]) if fitting else None
        assert registry.error_decision(name, error) is expected


def test_the_errors_of_skills_yaml_hold_for_every_skill_and_its_own_go_first() -> None:
    config = configured(speak={'error_map': {'Need to close mast': 'ABORT', 'Hoarse': 'RETRY'}})
    registry = make_registry(config)
    decide = registry.error_decision
    assert decide('move_forward', 'Need to close mast') is DecisionType.REPLAN
    assert decide('speak', 'Need to close mast') is DecisionType.ABORT
    assert decide('speak', 'Hoarse: too loud') is DecisionType.RETRY
    assert decide('move_forward', 'Hoarse: too loud') is None
    assert decide('fly', 'SKILL_NOT_FOUND: fly') is DecisionType.ASK_HUMAN
    for skill in registry:
        assert set(config.skills.error_map) <= set(skill.error_map)


# --- all skills of the agent -----------------------------------------------------------------


def configured(*, turn: dict[str, Any] | None = None, **skills: dict[str, Any] | None) -> Config:
    """The shipped contracts with other settings of some skills; None: without that skill."""
    data = CONFIG.model_dump(mode='json')
    data['agent']['turn'].update(turn or {})
    table = data['skills']['skills']
    for name, settings_ in skills.items():
        if settings_ is None:
            del table[name]
        else:
            table[name] = {**table.get(name, table['speak']), **settings_}
    return CONFIG.model_copy(
        update={
            'agent': CONFIG.agent.model_validate(data['agent']),
            'skills': CONFIG.skills.model_validate(data['skills']),
        }
    )


def test_the_model_has_the_nine_tools_first_and_never_the_tasks() -> None:
    registry = make_registry(CONFIG)
    names = [skill.definition.name for skill in registry.for_model()]
    assert names == [
        *NINE,
        'stop_base',
        'analyze_ground',
        'speak',
        'wait',
        'wait_until',
        'query_world',
        'query_graph',
        'query_knowledge',
        'navigate_to_pose',
        'drive_distance',
        'turn_angle',
    ]
    assert [skill.name for skill in registry.tasks()] == [
        *names,
        'look',
        'react',
        'charge',
        'activity',
    ]
    assert set(CONFIG.skills.skills) == {skill.name for skill in registry}
    assert registry.notes == []


def test_the_settings_are_those_of_skills_yaml() -> None:
    registry = make_registry(CONFIG)
    for name, given_ in CONFIG.skills.skills.items():
        skill = registry.get(name)
        for field in set(FIELDS) - {'name', 'args_schema', 'error_map'}:
            assert getattr(skill.definition, field) == getattr(given_, field), (name, field)
        assert skill.risk is given_.risk
        assert skill.description.endswith(f' Cost: {CONFIG.tool_costs.of(name):g}.')


def test_the_tasks_do_nothing_when_they_are_called_as_skills() -> None:
    for name, arguments in (
        ('react', {'text': 'Go on.'}),
        ('charge', {}),
        ('activity', {'activity': 'nap', 'minutes': 5}),
    ):
        skill = make_registry(CONFIG).get(name)
        result = skill.run(call_of(StillWorld()), **checked_arguments(skill, arguments))
        assert result.error_reason.startswith(f'SKILL_NOT_FOUND: {name} is a task')


@pytest.mark.parametrize('name', ['move_forward', 'turn_left', 'turn_right'])
def test_a_motion_takes_seconds_above_0_and_up_to_the_limit(name: str) -> None:
    for longest in (20.0, 3.5):
        skill = make_registry(configured(turn={'max_motion_s': longest})).get(name)
        schema: Any = skill.definition.args_schema
        duration = schema['properties']['duration_s']
        assert duration['type'] == 'number'
        assert (duration['exclusiveMinimum'], duration['maximum']) == (0.0, longest)
        assert schema['required'] == ['duration_s']
        assert f' duration_s is at most {longest:g} s. Cost: ' in skill.description
        assert checked_arguments(skill, {'duration_s': longest}) == {'duration_s': longest}
        with pytest.raises(BadArguments, match='duration_s'):
            checked_arguments(skill, {'duration_s': longest + 1e-9})


@pytest.mark.parametrize(
    ('config', 'told'),
    [
        (configured(fly={}), 'skills.yaml: skills.fly: nobody implements it; install'),
        (configured(speak=None), 'skills.yaml: skills.speak: is missing; copy the shipped one'),
        (
            configured(turn_left={'timeout_s': 68.5}),
            "skills.yaml: 'turn_left' has timeout_s 68.5; it must be above 68.5: "
            'turn.max_motion_s (20) of agent.yaml',
        ),
        (
            configured(speak={'resources_required': ['base', 'base']}),
            "skills.yaml: Skill 'speak' requires a resource twice",
        ),
    ],
)
def test_settings_that_cannot_be_are_told(config: Config, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_registry(config)
    assert told in str(caught.value)


# --- as tasks, and as LangChain's tools ------------------------------------------------------


@pytest.mark.parametrize(
    ('name', 'arguments', 'metadata'),
    [
        ('speak', {'text': 'hi'}, {'arguments': {'text': 'hi'}}),
        ('get_status', {}, {}),
        ('move_forward', {'duration_s': 2}, {'arguments': {'duration_s': 2.0}}),
        ('charge', {}, {}),
        ('activity', {'activity': 'nap', 'minutes': 5}, {'activity': 'nap', 'minutes': 5.0}),
        ('react', {'text': 'Go'}, {'text': 'Go', 'expects': 'answer'}),
        (
            'react',
            {'text': 'Go', 'expects': 'good_capture', 'plan': {'goal': 'x'}},
            {'text': 'Go', 'expects': 'good_capture', 'plan': {'goal': 'x'}},
        ),
    ],
)
def test_any_skill_can_be_a_task(
    name: str, arguments: dict[str, Any], metadata: dict[str, Any]
) -> None:
    task = make_task(make_registry(CONFIG), name, arguments)
    assert (task.name, task.metadata) == (name, metadata)


@pytest.mark.parametrize(
    ('name', 'arguments', 'told'),
    [
        ('fly', {}, "no skill 'fly'"),
        ('speak', {}, 'speak: text: '),
        ('speak', {'text': 'hi', 'loud': True}, 'speak: loud: '),
        ('charge', {'much': 1}, 'charge: much: '),
        ('activity', {'activity': 'nap', 'minutes': 0}, 'activity: minutes: '),
        ('activity', {'activity': 'nap', 'minutes': 1441}, 'activity: minutes: '),
        ('react', {'txt': 'x'}, 'react takes {"text": "...", "expects": '),
        ('react', {'text': ' '}, 'react takes'),
        ('react', {'text': 'x', 'expects': 'wonders'}, 'react takes'),
        ('react', {'text': 'x', 'plan': 'p'}, 'react takes'),
    ],
)
def test_a_task_that_does_not_fit_its_skill_is_refused(
    name: str, arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(BadTask) as caught:
        make_task(make_registry(CONFIG), name, arguments)
    assert told in str(caught.value)


def test_a_tool_of_langchain_is_the_skill() -> None:
    registry, ran = make_registry(CONFIG), list[tuple[str, dict[str, Any]]]()

    def run(name: str, **arguments: Any) -> ToolResult:
        ran.append((name, arguments))
        return ToolResult.success()

    tools = make_tools(registry, run)
    assert [tool.name for tool in tools] == [
        skill.definition.name for skill in registry.for_model()
    ]
    by_name = {tool.name: tool for tool in tools}
    for skill in registry.for_model():
        tool = by_name[skill.definition.name]
        assert tool.description == skill.description
        assert tool.args_schema is skill.arguments
        shown = convert_to_openai_tool(tool)['function']
        assert set(shown['parameters']['properties']) == set(skill.arguments.model_fields)
    assert by_name['move_forward'].invoke({'duration_s': 2}).ok
    assert by_name['get_status'].invoke({}).ok
    assert ran == [('move_forward', {'duration_s': 2.0}), ('get_status', {})]
    with pytest.raises(ValidationError):
        by_name['move_forward'].invoke({'duration_s': 21})
