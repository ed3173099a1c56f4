# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Arguments from a Python signature: the schema the model sees is what calls are checked by."""

from __future__ import annotations

from collections.abc import Callable
import json
import math
from typing import Annotated, Any, Literal

from curiosity_rosa_demo.agent.skills.errors import BadArguments, BadSkill
from curiosity_rosa_demo.agent.skills.plugins import skill_of
from curiosity_rosa_demo.agent.skills.registry import (
    arguments_as_json,
    checked_arguments,
    make_registry,
)
from curiosity_rosa_demo.agent.skills.signature import arguments_model, description_of
from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.models import ToolResult
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError
import pytest
from skill_calls import settings_of, SHIPPED
from strategies import huge_ints, json_values

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


@pytest.mark.parametrize('arguments', [None, [], 'x', 3, [1.0], {'duration_s': {}}, {1: 2}])
def test_arguments_are_an_object(arguments: Any) -> None:
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


# --- what is no skill ------------------------------------------------------------------------


def no_call(duration_s: float) -> ToolResult: ...
def nothing_at_all() -> ToolResult: ...
def untyped(call: SkillCall, x) -> ToolResult: ...  # type: ignore[no-untyped-def]
def many(call: SkillCall, *x: float) -> ToolResult: ...
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
        (many, "argument 'x' takes any number of values"),
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
