"""The registry of skills: complete definitions only, and one for all that the agent can do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curiosity_rosa_demo.agent.skills.registry import (
    INTERFACES,
    RESOURCES,
    BadSkill,
    SkillRegistry,
    UnknownSkill,
    make_registry,
)
from curiosity_rosa_demo.agent.tasks.errors import TaskError
from curiosity_rosa_demo.domain.brain import DecisionType, SkillDef
from curiosity_rosa_demo.tools.tool_impl import DESCRIPTIONS
from kernel_strategies import CONFIG
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
many = settings(max_examples=500, deadline=None)
decisions = st.sampled_from([decision.value for decision in DecisionType])
complete = st.fixed_dictionaries(
    {
        'name': text.filter(str.strip),
        'interface_type': st.sampled_from(INTERFACES),
        'args_schema': st.dictionaries(text, json_values, max_size=2).map(
            lambda properties: {
                'type': 'object',
                'properties': properties,
                'required': [*properties],
            }
        ),
        'resources_required': st.lists(st.sampled_from(RESOURCES), unique=True),
        'preemptible': st.booleans(),
        'cancel_supported': st.booleans(),
        'timeout_s': st.floats(1e-6, 1e9),
        'error_map': st.dictionaries(text, decisions, max_size=3),
    }
)


@given(st.lists(complete, max_size=4, unique_by=lambda fields: fields['name']))
@many
def test_every_registered_skill_has_every_field(definitions: list[dict[str, Any]]) -> None:
    """Property 10."""
    registry = SkillRegistry()
    for fields in definitions:
        registry.register(SkillDef(**fields))
    assert [skill.model_dump() for skill in registry] == definitions
    for skill in registry:
        assert set(FIELDS) == skill.model_fields_set
        assert registry.get(skill.name) is skill
        with pytest.raises(BadSkill, match='registered already'):
            registry.register(skill)
    assert len(registry) == len(definitions)


@given(complete, st.data())
@many
def test_a_definition_that_lacks_a_field_is_refused(
    fields: dict[str, Any], data: st.DataObject
) -> None:
    required = {'name', 'interface_type'}  # SkillDef itself insists on these
    lost = data.draw(st.sampled_from(sorted(set(FIELDS) - required)))
    registry = SkillRegistry()
    with pytest.raises(BadSkill, match=f'lacks {lost}'):
        registry.register(SkillDef(**{key: fields[key] for key in FIELDS if key != lost}))
    assert len(registry) == 0


@pytest.mark.parametrize(
    ('field', 'bad', 'told'),
    [
        ('name', ' ', 'no name'),
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
    good = make_registry(CONFIG).get('react').model_dump()
    with pytest.raises(BadSkill, match=r'^Skill ') as caught:
        SkillRegistry().register(SkillDef(**{**good, field: bad}))
    assert told in str(caught.value)


def test_an_unknown_skill_is_a_bad_request_that_names_the_others() -> None:
    with pytest.raises(UnknownSkill, match=r"no skill 'fly'; there are .*charge.*react") as caught:
        make_registry(CONFIG).get('fly')
    assert isinstance(caught.value, TaskError)


def test_the_agent_has_its_tools_and_two_skills_of_its_own() -> None:
    skills = {skill.name: skill for skill in make_registry(CONFIG)}
    assert set(skills) == {*DESCRIPTIONS, 'react', 'charge'}
    resources = {name: set(skill.resources_required) for name, skill in skills.items()}
    motion, none = {'base', 'mast'}, set[str]()
    assert resources == {
        'move_forward': motion,
        'turn_left': motion,
        'turn_right': motion,
        'mast_open': {'mast'},
        'mast_close': {'mast'},
        'mast_rotate': {'mast'},
        'capture_and_score': {'camera', 'mast'},
        'move_stop': none,
        'get_status': none,
        'react': {'base', 'mast', 'camera'},
        'charge': motion,
    }
    assert all(skill.error_map['Need to close mast'] == 'REPLAN' for skill in skills.values())


@pytest.mark.parametrize('name', ['move_forward', 'turn_left', 'turn_right'])
def test_a_motion_takes_seconds_above_0_and_up_to_the_limit(name: str) -> None:
    skill = make_registry(CONFIG).get(name)
    duration = skill.args_schema['properties']['duration_s']
    assert duration['type'] == 'number'
    assert (duration['exclusiveMinimum'], duration['maximum']) == (0.0, 20.0)
    assert skill.args_schema['required'] == ['duration_s']
    assert skill.timeout_s > CONFIG.thresholds.motion.max_duration_s
