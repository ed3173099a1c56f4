# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Skills: their registry, their signatures, packages that bring some, and how far they are."""

from __future__ import annotations

from collections.abc import Callable
import json
import math
from pathlib import Path
import sys
from typing import Annotated, Any, Literal

from agent_world import AgentWorld
from chat_server import call, Say
from coded_failures import OUTSIDE
from curiosity_rosa_demo.agent.interfaces.page.status_rows import progress_facts
from curiosity_rosa_demo.agent.runtime.execution.catalogue import make_task
from curiosity_rosa_demo.agent.skills.errors import BadArguments, BadSkill
from curiosity_rosa_demo.agent.skills.monitor import running_task, SHOWN_EVERY_S, SkillMonitor
from curiosity_rosa_demo.agent.skills.plugins import ENTRY_POINT_GROUP, skill_of
from curiosity_rosa_demo.agent.skills.registry import (
    arguments_as_json,
    checked_arguments,
    INTERFACE_TYPES,
    make_registry,
    RESERVED_NAMES,
    SkillRegistry,
)
from curiosity_rosa_demo.agent.skills.signature import arguments_model, description_of
from curiosity_rosa_demo.agent.skills.skill import (
    fraction_of,
    part_done,
    progress_text,
    ProgressThrottle,
    Skill,
    SkillCall,
    STEP,
    TOLD_EVERY_S,
)
from curiosity_rosa_demo.agent.tasks.task import BadTask
from curiosity_rosa_demo.domain.brain_state import DecisionType, Json, RunningSkill, SkillDef
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.plan.plan import RiskLevel
from curiosity_rosa_demo.infra.config.robot import OWN_RESOURCES
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.tools.tool_impl import make_tools
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_strategies import CONFIG
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, ConfigDict, Field, ValidationError
import pytest
from skill_calls import call_of, NINE, settings_of, SHIPPED, skill_named, StillWorld
from strategies import huge_ints, json_values, text
from tool_rover import OwnedClock
from turn_world import KEY

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


Duration = Annotated[float, Field(gt=0.0, description='seconds')]


def survey(
    call: SkillCall,
    duration_s: Duration,
    times: int = 1,
    spots: list[float] | None = None,
    how: Literal['slow', 'quick'] = 'slow',
    where: Json | None = None,
    aloud: bool = False,
) -> ToolResult:
    """Look around
    for a while.

    This is for programmers.
    """
    return ToolResult.success()


SURVEY = skill_of(survey, settings_of(), at_most={'duration_s': 12.5})


def test_the_schema_tells_types_limits_and_defaults() -> None:
    schema = SURVEY.definition.args_schema
    properties: Any = schema['properties']
    assert list(properties) == ['duration_s', 'times', 'spots', 'how', 'where', 'aloud']
    assert schema['required'] == ['duration_s']
    assert schema['additionalProperties'] is False
    duration = properties['duration_s']
    assert duration['type'] == 'number'
    assert (duration['exclusiveMinimum'], duration['maximum']) == (0.0, 12.5)
    assert duration['description'] == 'seconds'
    assert (properties['times']['type'], properties['times']['default']) == ('integer', 1)
    assert properties['how']['enum'] == ['slow', 'quick']
    assert SURVEY.description == 'Look around for a while.'
    json.dumps(schema, allow_nan=False)


@given(
    duration=st.floats() | huge_ints | st.booleans() | st.none() | st.text(max_size=5),
    times=huge_ints | st.floats() | st.booleans(),
    spots=st.lists(st.floats() | st.booleans(), max_size=3),
)
def test_a_number_is_a_finite_number_within_its_limits(
    duration: Any, times: Any, spots: list[Any]
) -> None:
    arguments = {'duration_s': duration, 'times': times, 'spots': spots}
    try:
        taken = checked_arguments(SURVEY, arguments)
    except BadArguments as error:
        why = str(error)
    else:
        why = ''
    if why:
        assert why.startswith('survey: ')
        assert '\n' not in why
        assert len(why) < 600
        return
    assert not any(isinstance(each, bool) for each in (duration, times, *spots))
    assert 0.0 < taken['duration_s'] <= 12.5
    assert type(taken['times']) is int
    assert all(math.isfinite(spot) for spot in taken['spots'])


@pytest.mark.parametrize('limit', [0.5, 12.5])
def test_a_limit_of_the_configuration_is_kept_to_the_last_bit(limit: float) -> None:
    skill = skill_of(survey, settings_of(), at_most={'duration_s': limit})
    assert checked_arguments(skill, {'duration_s': limit})['duration_s'] == limit
    with pytest.raises(BadArguments, match=r'duration_s: .* less than or equal'):
        checked_arguments(skill, {'duration_s': math.nextafter(limit, math.inf)})


@pytest.mark.parametrize(
    'hidden', [{'a': math.nan}, {'a': [{'b': math.inf}]}, {'a': '\ud800'}, {'a': {1, 2}}]
)
def test_what_json_cannot_carry_is_refused_however_deep(hidden: Any) -> None:
    def loose(call: SkillCall, options: dict[str, Any]) -> ToolResult:
        """Takes anything."""
        return ToolResult.success()

    skill = skill_of(loose, settings_of())
    assert checked_arguments(skill, {'options': {'a': [1, None]}})
    with pytest.raises(BadArguments):
        checked_arguments(skill, {'options': hidden})


@pytest.mark.parametrize('spot', ['nan', '-inf', 'Infinity', '1e999'])
def test_no_text_is_a_number_that_is_none(spot: str) -> None:
    assert checked_arguments(SURVEY, {'duration_s': '1.5', 'spots': ['2']})['spots'] == [2.0]
    with pytest.raises(BadArguments, match='finite'):
        checked_arguments(SURVEY, {'duration_s': 1.0, 'spots': [spot]})


@given(
    duration=st.floats(1e-3, 12.5),
    how=st.sampled_from(['slow', 'quick']),
    where=st.none() | st.dictionaries(st.text(st.characters(codec='ascii')), json_values),
)
def test_what_a_file_keeps_is_taken_again(duration: float, how: str, where: Any) -> None:
    arguments = {'duration_s': duration, 'how': how, 'where': where}
    kept = json.loads(json.dumps(arguments_as_json(SURVEY, arguments), allow_nan=False))
    assert checked_arguments(SURVEY, kept) == checked_arguments(SURVEY, arguments)
    assert arguments_as_json(SURVEY, kept) == kept


def no_call(duration_s: float) -> ToolResult: ...


def nothing_at_all() -> ToolResult: ...


def untyped(call: SkillCall, x) -> ToolResult: ...  # type: ignore[no-untyped-def]


def any_number(call: SkillCall, *x: float) -> ToolResult: ...


def keywords(call: SkillCall, **x: float) -> ToolResult: ...


def by_place(call: SkillCall, x: float, /) -> ToolResult: ...


def named_name(call: SkillCall, name: str) -> ToolResult: ...


def shadows(call: SkillCall, json: str) -> ToolResult: ...


def private(call: SkillCall, _x: str) -> ToolResult: ...


def no_json(call: SkillCall, x: Callable[[], None]) -> ToolResult: ...


def lost(call: SkillCall, x: Nowhere) -> ToolResult: ...  # type: ignore  # noqa: F821


def no_words(call: SkillCall) -> ToolResult: ...


@pytest.mark.parametrize(
    ('function', 'told'),
    [
        (no_call, "'no_call' must take 'call' first"),
        (nothing_at_all, "'nothing_at_all' must take 'call' first"),
        (untyped, "argument 'x' has no type; write x: float"),
        (any_number, "argument 'x' takes any number of values"),
        (keywords, "argument 'x' takes any number of values"),
        (by_place, "argument 'x' can only be passed by position"),
        (named_name, "argument 'name' has a name that is taken"),
        (shadows, "argument 'json' has a name that is taken"),
        (private, "argument '_x' has a name that is taken"),
        (no_json, "'no_json' has an argument that JSON cannot carry"),
        (lost, "'lost' has a type that cannot be found"),
        (no_words, "'no_words' has no docstring"),
    ],
)
def test_a_function_that_is_no_skill_is_refused_in_words(function: Any, told: str) -> None:
    with pytest.raises(BadSkill) as caught:
        skill_of(function, settings_of())
    assert told in str(caught.value)
    assert '\n' not in str(caught.value)


def test_a_limit_of_nothing_is_a_mistake() -> None:
    with pytest.raises(BadSkill, match='limits what it does not take: duration'):
        arguments_model(survey, at_most={'duration': 1.0})


def test_a_function_made_in_a_factory_is_a_skill() -> None:
    def made() -> Callable[..., ToolResult]:
        def wave(call: SkillCall, times: int = 2) -> ToolResult:
            """Wave."""
            return ToolResult.success(times=times)

        return wave

    assert description_of(made()) == 'Wave.'
    assert list(arguments_model(made()).model_fields) == ['times']


@given(st.data())
def test_the_models_schema_and_the_check_agree(data: st.DataObject) -> None:
    """Of every skill: what lacks a required argument, or has a foreign one, is refused."""
    skill = data.draw(st.sampled_from(make_registry(SHIPPED).for_model()))
    schema: Any = skill.definition.args_schema
    assert schema == skill.arguments.model_json_schema()
    assert schema['additionalProperties'] is False
    if schema.get('required'):
        with pytest.raises(ValidationError):
            skill.arguments.model_validate({})
    else:
        assert skill.arguments.model_validate({})


@pytest.mark.parametrize('arguments', [None, [], 'x', 3, [1.0], {'duration_s': {}}, {1: 2}])
def test_arguments_are_an_object(arguments: Any) -> None:
    with pytest.raises(BadArguments):
        checked_arguments(SURVEY, arguments)


ROOT = Path(__file__).resolve().parents[5]
EXAMPLE = ROOT / 'examples' / 'curiosity_rosa_skill_wiggle'
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Makes entry points findable, as pip does: by a dist-info folder on the path."""

    def make(package: str, entries: dict[str, str], source: str | Path) -> None:
        info = tmp_path / f'{package}-0.1.dist-info'
        info.mkdir()
        (info / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n')
        lines = [f'{name} = {value}' for name, value in entries.items()]
        (info / 'entry_points.txt').write_text('\n'.join([f'[{ENTRY_POINT_GROUP}]', *lines]))
        if isinstance(source, Path):
            monkeypatch.syspath_prepend(source)
        else:
            (tmp_path / f'{package}.py').write_text(source)
        monkeypatch.delitem(sys.modules, package, raising=False)
        monkeypatch.syspath_prepend(tmp_path)

    return make


def names(registry: SkillRegistry) -> list[str]:
    return [skill.name for skill in registry]


BUILT_IN = names(make_registry(SHIPPED))


def with_skill(name: str, **settings: Any) -> Config:
    skills = {**SHIPPED.skills.skills, name: settings_of(**settings)}
    return SHIPPED.model_copy(
        update={'skills': SHIPPED.skills.model_copy(update={'skills': skills})}
    )


@pytest.fixture
def wiggle(install: Install) -> None:
    package = EXAMPLE.name
    project = (EXAMPLE / 'pyproject.toml').read_text()
    entry = f'{package}:wiggle_skill'
    assert f'[project.entry-points."{ENTRY_POINT_GROUP}"]\nwiggle = "{entry}"' in project
    install(package, {'wiggle': entry}, EXAMPLE)


@pytest.mark.usefixtures('wiggle')
def test_the_example_is_a_skill_like_any_other() -> None:
    registry = make_registry(SHIPPED)
    assert names(registry) == [*BUILT_IN, 'wiggle']
    assert registry.notes == []
    skill = registry.get('wiggle')
    assert skill in registry.for_model()
    assert skill.risk is RiskLevel.MEDIUM
    assert set(SHIPPED.skills.error_map) <= set(skill.definition.error_map)
    assert skill.description == (
        'Turn a little to the left and to the right, to draw attention. Needs a closed mast. '
        'Cost: 1.'
    )
    world, heard = StillWorld(), list[Any]()
    result = skill.run(
        call_of(world, heard=heard), **checked_arguments(skill, {'times': 2, 'turn_s': 0.5})
    )
    assert result == ToolResult.success(times=2)
    turn = {'duration_s': 0.5}
    assert world.tools == [('turn_left', turn), ('turn_right', turn)] * 2
    assert heard == [{'times': 1}, {'times': 2}]
    world.refuses = OUTSIDE
    assert skill.run(call_of(world)) == ToolResult.failure(OUTSIDE.reason, times=0)
    with pytest.raises(BadArguments, match='turn_s'):
        checked_arguments(skill, {'turn_s': SHIPPED.agent.turn.max_motion_s + 1})


@pytest.mark.usefixtures('wiggle')
def test_skills_yaml_goes_before_what_a_package_brings() -> None:
    config = with_skill('wiggle', timeout_s=7.0, risk='high', error_map={'Dizzy': 'RETRY'})
    skill = make_registry(config).get('wiggle')
    assert (skill.definition.timeout_s, skill.risk) == (7.0, RiskLevel.HIGH)
    assert skill.definition.error_map['Dizzy'] == 'RETRY'
    assert list(skill.arguments.model_fields) == ['times', 'turn_s']


GOOD = """
from curiosity_rosa_demo.agent.skills.plugins import skill_of
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config.guardrails import SkillSettings
from curiosity_rosa_demo.agent.skills.skill import SkillCall

SETTINGS = SkillSettings.model_validate(dict(
    interface_type='internal', resources_required=[], preemptible=True, cancel_supported=True,
    timeout_s=5.0, risk='low', error_map={}))

def {name}(call: SkillCall) -> ToolResult:
    '''Wave.'''
    return ToolResult.success()

made = skill_of({name}, SETTINGS)
"""


def test_an_entry_may_be_the_skill_itself(install: Install) -> None:
    install('theirs', {'wave': 'theirs:made'}, GOOD.replace('{name}', 'wave'))
    assert names(make_registry(SHIPPED)) == [*BUILT_IN, 'wave']


@pytest.mark.parametrize(
    ('source', 'told'),
    [
        ('raise ImportError("no wheels")', 'ImportError: no wheels'),
        ('import sys; sys.exit(3)', 'SystemExit: 3'),
        ('made = (', 'SyntaxError'),
        ('', 'AttributeError'),
        ('made = 3', 'TypeError'),
        ('def made(config): return None', 'theirs:made made a NoneType; it must make a Skill'),
        ('def made(config): 1 / 0', 'ZeroDivisionError: division by zero'),
        (GOOD.replace('{name}', 'move_stop'), "'move_stop' is registered already"),
        (GOOD.replace('{name}', 'react'), "'react' is registered already"),
        (GOOD.replace('{name}', 'decide'), "'decide' has a name that the agent itself uses"),
        (
            GOOD.replace('{name}', 'wave').replace('resources_required=[]', 'x=1'),
            'ValidationError',
        ),
        (GOOD.replace('{name}', 'wave').replace("'''Wave.'''", ''), 'has no docstring'),
        (
            GOOD.replace('{name}', 'wave')
            + 'from dataclasses import replace\nmade = replace(made, definition=None)',
            'has no SkillDef',
        ),
        (
            GOOD.replace('{name}', 'wave')
            + 'from dataclasses import replace\nmade = replace(made, arguments=dict)',
            'has no model of its arguments',
        ),
        (
            GOOD.replace('{name}', 'wave')
            + 'from dataclasses import replace\nmade = replace(made, definition='
            'made.definition.model_copy(update={"args_schema": {"type": "object"}}))',
            'args_schema that is not that of its arguments',
        ),
    ],
)
def test_a_broken_package_is_left_out_with_a_note(
    install: Install, source: str, told: str
) -> None:
    install('theirs', {'wave': 'theirs:made'}, source)
    registry = make_registry(SHIPPED)
    assert names(registry) == BUILT_IN
    (note,) = registry.notes
    assert note.startswith(f'{ENTRY_POINT_GROUP}: wave is left out: ')
    assert told in note
    assert '\n' not in note
    assert registry.get('move_stop').run.__module__.endswith('skills.library.rover')


@pytest.mark.usefixtures('wiggle')
def test_one_broken_package_costs_no_other(install: Install) -> None:
    install('theirs', {'wave': 'theirs:made'}, '1 / 0')
    registry = make_registry(SHIPPED)
    assert names(registry) == [*BUILT_IN, 'wiggle']
    assert len(registry.notes) == 1


def test_settings_of_a_package_that_is_broken_tell_why(install: Install) -> None:
    install('theirs', {'wave': 'theirs:made'}, '1 / 0')
    with pytest.raises(ConfigError, match=r'skills\.wave: nobody implements it.*division by zero'):
        make_registry(with_skill('wave'))


def test_the_page_lists_every_skill_as_it_is() -> None:
    page = (
        (ROOT / 'docs' / 'reference' / 'skills.md').read_text(encoding='utf-8').split('*Holds*')[0]
    )
    registry = make_registry(SHIPPED)
    for definition in registry:
        skill = registry.get(definition.name)
        arguments = ', '.join(skill.arguments.model_fields) or '-'
        holds = ', '.join(definition.resources_required) or '-'
        cells = (f'`{definition.name}`', arguments, holds, f'{definition.timeout_s:g}')
        assert f'| {" | ".join(cells)} | {skill.risk.value} |' in page
    rows = [line for line in page.splitlines() if line.startswith('| `')]
    assert len(rows) == len(registry)


def test_the_page_shows_the_example_as_it_is() -> None:
    page = (ROOT / 'docs' / 'howto' / 'add_a_skill.md').read_text(encoding='utf-8')
    module = (EXAMPLE / EXAMPLE.name / '__init__.py').read_text(encoding='utf-8')
    shown = page.split('```python\n')[1].split('```')[0].strip()
    assert shown in module


fractions = st.floats(0.0, 1.0)


def run_of(goal_id: str = 'r1', **fields: Any) -> RunningSkill:
    return RunningSkill(
        goal_id=goal_id, skill_name='drive', start_time=0.0, timeout_s=9.0, **fields
    )


@given(st.lists(st.tuples(st.floats(0.0, 3.0), fractions), max_size=60))
def test_a_run_tells_at_most_once_a_second_and_a_tenth_at_a_time(
    reports: list[tuple[float, float]],
) -> None:
    throttle, now_s, told = ProgressThrottle(0.0), 0.0, [(0.0, 0.0)]
    for seconds, fraction in reports:
        now_s += seconds
        due = now_s - told[-1][0] >= TOLD_EVERY_S and abs(fraction - told[-1][1]) >= STEP
        assert throttle.admits({'fraction': fraction}, now_s) is due
        if due:
            told.append((now_s, fraction))


def test_a_loop_is_told_at_once_and_once() -> None:
    throttle = ProgressThrottle(0.0)
    loop = {'fraction': 0.0, 'distance_m': 46.0, 'loop_m': 46.0, 'straight_m': 5.0}
    assert throttle.admits({**loop, 'legs': 0}, 0.0)
    assert not throttle.admits({**loop, 'legs': 1}, 0.1)


def test_a_run_without_an_end_in_sight_tells_every_ten_seconds() -> None:
    throttle = ProgressThrottle(0.0)
    assert [second for second in range(35) if throttle.admits({}, second)] == [10, 20, 30]


@given(st.floats(0.0, 1e4), st.floats(0.0, 1e4))
def test_the_part_that_is_done_is_a_fraction(before: float, left: float) -> None:
    assert fraction_of({'fraction': part_done(before, left)}) is not None


@pytest.mark.parametrize(
    ('progress', 'text'),
    [
        ({'fraction': 0.4, 'distance_m': 6.06}, 'drive: 40 %, 6.1 m left'),
        (
            {'fraction': 0.2, 'legs': 1, 'distance_m': 8.0},
            'drive: 20 %, 1 leg driven, 8.0 m left',
        ),
        ({'fraction': 0.5, 'waited_s': 30.0, 'why': 'x'}, 'drive: 50 %, waited 30 s'),
        ({'fraction': 'half', 'n': 3}, 'drive: under way'),
        ({'fraction': 7.0}, 'drive: under way'),
    ],
)
def test_progress_in_words(progress: dict[str, Any], text: str) -> None:
    assert progress_text('drive', progress) == text


def test_the_monitor_shows_the_last_report_and_survives_its_listener() -> None:
    clock, heard = OwnedClock(0.0), list[RunningSkill]()

    def listen(run: RunningSkill) -> None:
        heard.append(run)
        raise RuntimeError('a listener that fails')

    monitor = SkillMonitor(listen, lambda: clock.seconds)
    monitor.claim(run_of())
    monitor.report('r1', {'fraction': 0.1})
    assert monitor.running()[0].progress == {'fraction': 0.1}
    monitor.report('r1', {'fraction': 0.2})  # too soon
    assert monitor.running()[0].progress == {'fraction': 0.1}
    clock.seconds += SHOWN_EVERY_S
    monitor.report('r1', {'fraction': 0.3})
    assert monitor.running()[0].progress == {'fraction': 0.3}
    assert heard == []
    clock.seconds += TOLD_EVERY_S
    monitor.report('r1', {'fraction': 0.4})
    assert [run.progress for run in heard] == [{'fraction': 0.4}]
    monitor.release('r1')
    monitor.report('r1', {'fraction': 1.0})
    assert (monitor.running(), len(heard)) == ([], 1)


def test_a_skill_of_a_turn_is_seen_in_the_state_and_in_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trace goes to the console, the action, the topic, the page and GET /events alike."""
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    release = Cancellation()
    clock = OwnedClock(0.0)

    def reports(call: SkillCall) -> ToolResult:
        for tenths in (1, 2, 3, 4, 5):
            call.progress({'fraction': tenths / 10, 'distance_m': 10.0 - tenths})
            clock.seconds += 0.7
        while not release.requested:
            call.cancellation.sleep(0.01)
        return ToolResult.success()

    drive = skill_named('drive', reports, resources_required=['base'])
    with AgentWorld(tmp_path, call('drive'), Say('There.'), skills=(drive,)) as world:
        world.session.monitor._clock = lambda: clock.seconds
        task = world.submit('react', text='Drive.')
        world.until(
            lambda: any(run.progress.get('fraction') == 0.5 for run in world.state.skills.running),
            '/state to show it',
        )
        told = [event for event in world.events if 'progress' in (event.data or {})]
        assert [event.message for event in told] == [
            'drive: 30 %, 7.0 m left',
            'drive: 50 %, 5.0 m left',
        ]
        assert {event.kind for event in told} == {TraceKind.OBSERVE}
        assert {str((event.data or {})['task_id']) for event in told} == {task.id}
        assert not any(
            'progress' in (event.data or {}) for event in world.session.trace_buffer.last()
        )
        assert world.session.current_activity is not None
        assert world.session.current_activity.description == 'drive()'
        (row,) = progress_facts(world.state.skills.running)['rows']
        assert (row['fraction'], row['text']) == (0.5, 'drive: 50 %, 5.0 m left')
        release.cancel('enough')
        world.until(lambda: not world.state.skills.running, 'its end')


def test_a_skill_of_a_task_belongs_to_the_task() -> None:
    monitor = SkillMonitor()
    with running_task('t1'):
        monitor.enter(run_of('t1', task_id='t1', resources_occupied=['base']))
        assert monitor.holder_of(['base']) is None
        assert monitor.competing() == []
    assert monitor.holder_of(['base']) is not None
    with running_task('t2'):
        assert [run.goal_id for run in monitor.competing()] == ['t1']
