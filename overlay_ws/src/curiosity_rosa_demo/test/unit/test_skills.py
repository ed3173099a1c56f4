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
import re
import sys
import threading
from typing import Annotated, Any, Literal

from chat_server import call, Say
from curiosity_rosa_demo.agent.react.prompt import make_tools
from curiosity_rosa_demo.agent.runtime.task_skills import make_task
from curiosity_rosa_demo.agent.skills.executor import SkillMonitor
from curiosity_rosa_demo.agent.skills.plugins import ENTRY_POINT_GROUP, skill_of
from curiosity_rosa_demo.agent.skills.registry import (
    arguments_as_json,
    checked_arguments,
    make_registry,
    SkillRegistry,
)
from curiosity_rosa_demo.agent.skills.skill import (
    BadArguments,
    BadSkill,
    is_due,
    progress_text,
    SkillCall,
    STEP,
    TOLD_EVERY_S,
)
from curiosity_rosa_demo.agent.tasks.origin import Order, under_order
from curiosity_rosa_demo.agent.tasks.task import BadTask
from curiosity_rosa_demo.domain.brain_state import DecisionType, Json, RunningSkill
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.operation import DECIDE_TOOL, Exchange
from curiosity_rosa_demo.domain.plan import Plan, PlanStatus, RiskLevel, StepStatus
from curiosity_rosa_demo.infra.config.behaviour import SkillSettings
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.utils.function_calling import convert_to_openai_tool
from missions.rover_twin import OwnedClock
from pydantic import Field, ValidationError
import pytest
from runtime_world import AgentWorld
from skill_world import call_of, LONG_S, settings_of, SHIPPED, skill_named, StillWorld
from strategies import CONFIG, huge_ints, json_values, text
from tool_rover import OUTSIDE
from turn_world import KEY, NINE

ROOT = Path(__file__).resolve().parents[5]
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
many = settings(max_examples=examples(150), deadline=None)
decisions = st.sampled_from([decision.value for decision in DecisionType])
complete = st.fixed_dictionaries(
    {
        'interface_type': st.sampled_from(['ros2_action', 'ros2_service', 'internal']),
        'resources_required': st.lists(st.sampled_from(['mast', 'camera']), unique=True),
        'preemptible': st.booleans(),
        'cancel_supported': st.booleans(),
        'timeout_s': st.floats(1e-6, 1e6),
        'risk': st.sampled_from(['low', 'medium', 'high']),
        'error_map': st.dictionaries(text, decisions, max_size=3),
    }
)


def done(call: SkillCall) -> ToolResult:
    return ToolResult.success()


@given(complete, st.data())
@many
def test_a_definition_is_registered_once_and_with_every_field(
    fields: dict[str, Any], data: st.DataObject
) -> None:
    """Property 10."""
    registry = SkillRegistry()
    lost = data.draw(st.sampled_from(sorted(fields)))
    with pytest.raises(ValidationError, match=lost):
        SkillSettings.model_validate({key: fields[key] for key in fields if key != lost})
    skill = skill_named('job', done, **fields)
    registry.register(skill)
    with pytest.raises(BadSkill, match='registered already'):
        registry.register(skill)
    (definition,) = registry
    assert set(FIELDS) <= definition.model_fields_set
    told = {key: value for key, value in fields.items() if key != 'risk'}
    told |= {'name': 'job', 'args_schema': skill.arguments.model_json_schema()}
    assert definition.model_dump() == told
    assert registry.get('job') is skill
    assert registry.for_model() == (skill,)


def test_a_refusal_names_the_rule() -> None:
    for name, needs, told in (
        ('decide', [], 'the agent itself uses'),
        ('job', ['arm'], 'arm; the resources are base, mast, camera'),
        ('job', ['base', 'base'], 'twice'),
    ):
        with pytest.raises(BadSkill, match=f'^Skill .*{re.escape(told)}'):
            SkillRegistry().register(skill_named(name, done, resources_required=needs))


def configured(**skills: dict[str, Any] | None) -> Config:
    """The shipped contracts with other settings of some skills; None: without that skill."""
    data = CONFIG.skills.model_dump(mode='json')
    table = data['skills']
    for name, changes in skills.items():
        if changes is None:
            del table[name]
        else:
            table[name] = {**table.get(name, table['speak']), **changes}
    return CONFIG.model_copy(update={'skills': CONFIG.skills.model_validate(data)})


def test_the_code_of_a_failure_decides_and_what_the_rover_answers_stands_for_its_code() -> None:
    own = {'NAV_BLOCKED': 'ASK_HUMAN', 'Service unavailable': 'ABORT'}
    registry = make_registry(configured(wait={'error_map': own}))
    for name, code, told in (
        ('speak', 'NO_SERVICE', 'REPLAN'),
        ('speak', 'NAV_BLOCKED', 'REPLAN'),
        ('wait', 'NO_SERVICE', 'ABORT'),
        ('wait', 'NAV_BLOCKED', 'ASK_HUMAN'),
        ('no such skill', 'NO_SERVICE', 'REPLAN'),
        ('speak', 'NAV', None),
        ('speak', '', None),
    ):
        failed = Exchange(tool=name, input='{}', result=ToolResult.failure('It failed', code))
        assert registry.decision_on(failed) == told, (name, code)
    assert registry.decision_on(None) is None


def test_the_model_has_the_nine_tools_first_and_never_the_tasks() -> None:
    registry = make_registry(CONFIG)
    for_model = [skill.definition.name for skill in registry.for_model()]
    assert for_model[:9] == list(NINE)
    tasks = ['look', 'react', 'charge', 'activity']
    assert [skill.name for skill in registry] == [*for_model, *tasks]
    assert set(CONFIG.skills.skills) == {skill.name for skill in registry}
    assert registry.notes == []
    for name, given_ in CONFIG.skills.skills.items():
        skill = registry.get(name)
        for field in set(FIELDS) - {'name', 'args_schema', 'error_map'}:
            assert getattr(skill.definition, field) == getattr(given_, field), (name, field)
        assert skill.settings.risk is given_.risk
        assert skill.description.endswith(f' Cost: {CONFIG.tool_costs.of(name):g}.')
    for name, arguments in (('charge', {}), ('react', {'text': 'Go'}), ('activity', NAP)):
        result = registry.get(name).run(call_of(StillWorld()), **arguments)
        assert result.error_reason.startswith(f'SKILL_NOT_FOUND: {name} is a task')


def test_a_tool_of_langchain_is_the_skill() -> None:
    registry = make_registry(CONFIG)
    *tools, decision = make_tools(registry.for_model())
    assert decision.name == DECIDE_TOOL
    for tool, skill in zip(tools, registry.for_model(), strict=True):
        schema = skill.definition.args_schema
        assert (tool.name, tool.description) == (skill.definition.name, skill.description)
        assert tool.args_schema is skill.arguments
        assert schema == skill.arguments.model_json_schema()
        assert schema['additionalProperties'] is False
        shown = convert_to_openai_tool(tool)['function']
        assert set(shown['parameters']['properties']) == set(skill.arguments.model_fields)
    (forward,) = [tool for tool in tools if tool.name == 'move_forward']
    with pytest.raises(NotImplementedError):  # past the executor, no call runs
        forward.invoke({'duration_s': 2})
    for wrong in ({'duration_s': 21}, {}):
        with pytest.raises(ValidationError):
            forward.invoke(wrong)


SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({'fly': {}}, 'skills.fly: nobody implements it; install'),
    ({'speak': None}, 'skills.speak: is missing; copy the shipped one'),
    (
        {'turn_left': {'timeout_s': 68.5}},
        'must be above 68.5: turn.max_motion_s (20) of agent.yaml',
    ),
    ({'speak': {'resources_required': ['base', 'base']}}, "'speak' requires a resource twice"),
]


def test_settings_that_cannot_be_are_told() -> None:
    for settings_, told in SETTINGS:
        with pytest.raises(ConfigError, match=rf'^skills\.yaml: .*{re.escape(told)}'):
            make_registry(configured(**settings_))


NAP = {'activity': 'nap', 'minutes': 5}
TASKS: list[tuple[str, dict[str, Any], dict[str, Any] | str]] = [  # its metadata, or the refusal
    ('speak', {'text': 'hi'}, {'arguments': {'text': 'hi'}}),
    ('get_status', {}, {}),
    ('move_forward', {'duration_s': 2}, {'arguments': {'duration_s': 2.0}}),
    ('charge', {}, {}),
    ('activity', NAP, NAP),
    ('react', {'text': 'Go'}, {'text': 'Go', 'expects': 'answer'}),
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
    ('react', {'text': 'x', 'plan': {'goal': 'x', 'if': 1}}, "react: plan: 'if' is no field"),
]


def test_any_skill_can_be_a_task_and_what_does_not_fit_it_is_refused() -> None:
    for name, arguments, becomes in TASKS:
        if isinstance(becomes, str):
            with pytest.raises(BadTask, match=re.escape(becomes)):
                make_task(make_registry(CONFIG), name, arguments)
        else:
            task = make_task(make_registry(CONFIG), name, arguments)
            assert (task.name, task.metadata) == (name, becomes)


def test_the_plan_of_a_client_is_read_as_that_of_a_file() -> None:
    fits = {'battery_pct_above': 50}
    done = {'action': 'mast_close', 'status': 'success', 'metadata': {'progress': 'x', 'own': 1}}
    drive = {'action': 'move_forward', 'parameters': {'duration_s': 1.0}, 'precondition': fits}
    written = {'goal': 'Go', 'risk_level': 'high', 'status': 'approved', 'steps': [done, drive]}
    task = make_task(make_registry(CONFIG), 'react', {'text': 'Go', 'plan': written})
    plan = Plan.from_dict(task.metadata['plan'])
    assert plan.status is PlanStatus.CREATED, 'nobody has approved it yet'
    assert [step.status for step in plan.steps] == [StepStatus.PENDING] * 2
    assert (plan.steps[0].metadata, plan.steps[1].preconditions) == ({'own': 1}, fits)


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
        taken = {'why': str(error)}
    if 'why' in taken:
        assert re.fullmatch('survey: .{,600}', taken['why'])
        return
    assert not any(isinstance(each, bool) for each in (duration, times, *spots))
    assert 0.0 < taken['duration_s'] <= 12.5
    assert type(taken['times']) is int
    assert all(math.isfinite(spot) for spot in taken['spots'])


HIDDEN: list[Any] = [math.nan, [{'b': math.inf}], '\ud800', {1, 2}]
NO_ARGUMENTS: list[Any] = [
    *(None, [], 'x', 3, [1.0], {'duration_s': {}}, {1: 2}),
    *({'duration_s': 1.0, 'where': {'a': value}} for value in HIDDEN),
    *({'duration_s': 1.0, 'spots': [spot]} for spot in ('nan', '-inf', 'Infinity', '1e999')),
]


def test_what_json_cannot_carry_is_refused_however_deep() -> None:
    assert checked_arguments(SURVEY, {'duration_s': '1.5', 'spots': ['2']})['spots'] == [2.0]
    assert checked_arguments(SURVEY, {'duration_s': 1, 'where': {'a': [1, None]}})
    for arguments in NO_ARGUMENTS:
        with pytest.raises(BadArguments):
            checked_arguments(SURVEY, arguments)


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


NO_SKILLS = [
    ('(duration_s: float)', "'made' must take 'call' first"),
    ('()', "'made' must take 'call' first"),
    ('(call: SkillCall, x)', "argument 'x' has no type; write x: float"),
    ('(call: SkillCall, *x: float)', "argument 'x' takes any number of values"),
    ('(call: SkillCall, **x: float)', "argument 'x' takes any number of values"),
    ('(call: SkillCall, x: float, /)', "argument 'x' can only be passed by position"),
    ('(call: SkillCall, name: str)', "argument 'name' has a name that is taken"),
    ('(call: SkillCall, json: str)', "argument 'json' has a name that is taken"),
    ('(call: SkillCall, _x: str)', "argument '_x' has a name that is taken"),
    ('(call: SkillCall, x: Callable[[], None])', "'made' has an argument that JSON cannot carry"),
    ('(call: SkillCall, x: "Nowhere")', "'made' has a type that cannot be found"),
    ('(call: SkillCall)', "'made' has no docstring"),
]


def test_a_function_that_is_no_skill_is_refused_in_words() -> None:
    for signature, told in NO_SKILLS:
        exec(f'def made{signature} -> ToolResult: ...', names := dict(globals()))
        with pytest.raises(BadSkill) as caught:
            skill_of(names['made'], settings_of())
        assert told in str(caught.value)
        assert '\n' not in str(caught.value)
    with pytest.raises(BadSkill, match='limits what it does not take: duration'):
        skill_of(survey, settings_of(), at_most={'duration': 1.0})


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
    assert skill.settings.risk is RiskLevel.MEDIUM
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
    # What skills.yaml says goes before what the package brings.
    changes = {'timeout_s': 7.0, 'risk': 'high', 'error_map': {'Dizzy': 'RETRY'}}
    skill = make_registry(configured(wiggle=changes)).get('wiggle')
    assert (skill.definition.timeout_s, skill.settings.risk) == (7.0, RiskLevel.HIGH)
    assert skill.definition.error_map['Dizzy'] == 'RETRY'
    page = (ROOT / 'docs' / 'howto' / 'add_a_skill.md').read_text(encoding='utf-8')
    module = (EXAMPLE / EXAMPLE.name / '__init__.py').read_text(encoding='utf-8')
    assert page.split('```python\n')[1].split('```')[0].strip() in module


GOOD = """
from curiosity_rosa_demo.agent.skills.plugins import skill_of
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config.behaviour import SkillSettings
from curiosity_rosa_demo.agent.skills.skill import SkillCall

SETTINGS = SkillSettings.model_validate(dict(
    interface_type='internal', resources_required=[], preemptible=True, cancel_supported=True,
    timeout_s=5.0, risk='low', error_map={}))

def {name}(call: SkillCall) -> ToolResult:
    '''Wave.'''
    return ToolResult.success()

made = skill_of({name}, SETTINGS)
"""


def waving(old: str = '', new: str = '', *, name: str = 'wave', also: str = '') -> str:
    return GOOD.replace('{name}', name).replace(old, new) + also


BROKEN = [
    ('raise ImportError("no wheels")', 'ImportError: no wheels'),
    ('import sys; sys.exit(3)', 'SystemExit: 3'),
    ('made = (', 'SyntaxError'),
    ('', 'AttributeError'),
    ('made = 3', 'TypeError'),
    ('def made(config): return None', 'theirs:made made a NoneType; it must make a Skill'),
    ('def made(config): 1 / 0', 'ZeroDivisionError: division by zero'),
    (waving(name='move_stop'), "'move_stop' is registered already"),
    (waving(name='react'), "'react' is registered already"),
    (waving(name='decide'), "'decide' has a name that the agent itself uses"),
    (waving('resources_required=[]', 'x=1'), 'ValidationError'),
    (waving("'''Wave.'''"), 'has no docstring'),
    (
        waving(also='from dataclasses import replace\nmade = replace(made, settings=3)'),
        'AttributeError',
    ),
]


@pytest.mark.parametrize(('source', 'told'), BROKEN)
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
    assert registry.get('move_stop').run.__module__.endswith('skills.basic')


@pytest.mark.usefixtures('wiggle')
def test_one_broken_package_costs_no_other_and_its_settings_tell_why(install: Install) -> None:
    install('theirs', {'wave': 'theirs:made'}, '1 / 0')
    install('good', {'beckon': 'good:made'}, waving(name='beckon'))  # the skill itself
    registry = make_registry(SHIPPED)
    assert names(registry) == [*BUILT_IN, 'beckon', 'wiggle']
    assert len(registry.notes) == 1
    with pytest.raises(ConfigError, match=r'skills\.wave: nobody implements it.*division by zero'):
        make_registry(configured(wave={}))


fractions = st.floats(0.0, 1.0)


def run_of(goal_id: str = 'r1', **fields: Any) -> RunningSkill:
    return RunningSkill(
        goal_id=goal_id, skill_name='drive', start_time=0.0, timeout_s=9.0, **fields
    )


@given(st.lists(st.tuples(st.floats(0.0, 3.0), fractions), max_size=60))
def test_a_run_tells_at_most_once_a_second_and_a_tenth_at_a_time(
    reports: list[tuple[float, float]],
) -> None:
    clock, heard = OwnedClock(0.0), list[RunningSkill]()
    monitor, told = SkillMonitor(heard.append, lambda: clock.seconds), [(0.0, 0.0)]
    monitor.claim(run_of())
    monitor.report('r1', {'fraction': 0.0})
    for seconds, fraction in reports:
        clock.seconds += seconds
        since_s, before = clock.seconds - told[-1][0], told[-1][1]
        if since_s >= TOLD_EVERY_S and abs(fraction - before) >= STEP:
            told.append((clock.seconds, fraction))
        monitor.report('r1', {'fraction': fraction})
        assert len(heard) == len(told) - 1


def test_a_loop_is_told_at_once_and_once_and_what_has_no_end_in_sight_now_and_then() -> None:
    loop = {'fraction': 0.0, 'distance_m': 46.0, 'loop_m': 46.0, 'straight_m': 5.0}
    assert is_due({**loop, 'legs': 0}, 0.0, 0.0)
    assert not is_due({**loop, 'legs': 1}, 0.1, 0.0)
    assert [seconds for seconds in range(12) if is_due({}, seconds, 0.0)] == [10, 11]
    for progress, words in (
        ({'fraction': 0.2, 'legs': 1, 'distance_m': 8.04}, '20 %, 1 leg driven, 8.0 m left'),
        ({'fraction': 0.5, 'waited_s': 30.0, 'why': 'x'}, '50 %, waited 30 s'),
        ({'fraction': 'half', 'n': 3}, 'under way'),
        ({'fraction': 7.0}, 'under way'),
    ):
        assert progress_text('drive', progress) == f'drive: {words}'


def test_the_monitor_shows_the_last_report_and_survives_its_listener() -> None:
    clock, heard = OwnedClock(0.0), list[RunningSkill]()

    def listen(run: RunningSkill) -> None:
        heard.append(run)
        raise RuntimeError('a listener that fails')

    monitor = SkillMonitor(listen, lambda: clock.seconds)
    monitor.claim(run_of())
    for fraction in (0.1, 0.4):
        monitor.report('r1', {'fraction': fraction})
        clock.seconds += TOLD_EVERY_S
    assert monitor.running()[0].progress == {'fraction': 0.4} == heard[0].progress
    monitor.release('r1')
    monitor.report('r1', {'fraction': 1.0})
    assert (monitor.running(), len(heard)) == ([], 1)
    with under_order(Order(task_id='t1')):  # a skill of a task belongs to the task
        monitor.enter(run_of('t1', task_id='t1', resources_occupied=['base']))
        assert monitor.holder_of(['base']) is None
        assert monitor.competing() == []
    assert monitor.holder_of(['base']) is not None
    with under_order(Order(task_id='t2')):
        assert [run.goal_id for run in monitor.competing()] == ['t1']


def test_a_skill_of_a_turn_is_seen_in_the_state_and_in_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trace goes to the console, the action, the topic, the page and GET /events alike."""
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    release = threading.Event()

    def reports(call: SkillCall) -> ToolResult:
        call.progress({'fraction': 0.5, 'legs': 0, 'loop_m': 46.0, 'straight_m': 5.0})
        assert release.wait(LONG_S)
        return ToolResult.success()

    drive = skill_named('drive', reports, resources_required=['base'])
    text = 'drive: needs a loop of 46 m for a goal 5.0 m away'
    with AgentWorld(tmp_path, call('drive'), Say('There.'), skills=(drive,)) as world:
        task = world.submit('react', text='Drive.')
        world.until(lambda: any(run.progress for run in world.state.skills.running), '/state')
        world.until(lambda: any(event.message == text for event in world.events), 'the trace')
        [told] = [event for event in world.events if 'progress' in (event.data or {})]
        assert (told.kind, (told.data or {})['task_id']) == (TraceKind.OBSERVE, task.id)
        assert told not in world.session.recent_events()
        assert world.session.current_activity is not None
        assert world.session.current_activity.description == 'drive()'
        (run,) = (each for each in world.state.skills.running if each.progress)
        assert (run.progress['fraction'], progress_text('drive', run.progress)) == (0.5, text)
        release.set()
        world.until(lambda: not world.state.skills.running, 'its end')
