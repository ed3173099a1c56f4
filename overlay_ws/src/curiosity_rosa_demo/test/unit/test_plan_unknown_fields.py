# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Fields that plans do not have: a remark is left out and noted, what may act refuses the plan."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields
import string
from typing import Any

from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.domain.plan.plan import (
    create_plan_from_llm_response,
    Plan,
    PlanError,
    PlanStep,
)
from curiosity_rosa_demo.domain.plan.repair import LEFT_OUT, MAX_LEFT_OUT
from curiosity_rosa_demo.domain.plan.unknown_fields import ACTS, one_edit_apart, REMARKS
from hypothesis import assume, given
from hypothesis import strategies as st
import pytest
from turn_world import SHIPPED

PLAN: dict[str, Any] = {
    'goal': 'photograph the dune',
    'risk_level': 'medium',
    'steps': [
        {'action': 'mast_close'},
        {
            'action': 'move_forward',
            'parameters': {'duration_s': 3.0},
            'preconditions': {'mast': 'closed'},
            'fallback': 'move_stop',
        },
        {'action': 'speak', 'parameters': {'text': 'there'}, 'requires_confirmation': True},
    ],
}
PLACES = st.sampled_from([None, 0, 1, 2])  # in the plan, or in which step
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)  # fmt: skip
REMARK_KEYS = st.sampled_from(sorted(REMARKS - {'reasoning', 'description', 'source'}))
NAMES = {field.name for cls in (Plan, PlanStep) for field in fields(cls)}


def with_field(place: int | None, key: str, value: Any) -> dict[str, Any]:
    plan = deepcopy(PLAN)
    holder = plan if place is None else plan['steps'][place]
    assert key not in holder
    holder[key] = value
    return plan


def done_by(written: dict[str, Any]) -> dict[str, Any]:
    """All of the plan but its names for itself and the note."""
    plan = create_plan_from_llm_response(written).to_dict()
    plan['metadata'].pop(LEFT_OUT, None)
    return {key: value for key, value in plan.items() if key not in ('plan_id', 'created_at')}


def left_out(written: dict[str, Any]) -> list[str]:
    noted: list[str] = create_plan_from_llm_response(written).metadata.get(LEFT_OUT, [])
    return noted


def path_of(place: int | None, key: str) -> str:
    return key if place is None else f'steps[{place}].{key}'


@given(PLACES, REMARK_KEYS, VALUES)
def test_a_remark_changes_nothing_and_is_noted(place: int | None, key: str, value: Any) -> None:
    written = with_field(place, key, value)
    assert done_by(written) == done_by(PLAN)
    assert left_out(written) == [path_of(place, key)]


@given(PLACES, st.text(max_size=12) | st.text(string.ascii_lowercase + '_', max_size=12), VALUES)
def test_whatever_is_added_is_noted_or_refused_and_never_half_understood(
    place: int | None, key: str, value: Any
) -> None:
    letters = key.lower().replace('_', '').replace('-', '').replace(' ', '').removesuffix('s')
    assume(letters not in {name.replace('_', '').removesuffix('s') for name in NAMES})
    written = with_field(place, key, value)
    try:
        noted = left_out(written)
    except PlanError:
        return
    assert len(noted) == 1
    assert done_by(written) == done_by(PLAN)


@given(PLACES, st.data(), VALUES)
def test_what_is_named_like_a_condition_a_limit_or_an_argument_refuses_the_plan(
    place: int | None, data: st.DataObject, value: Any
) -> None:
    words = data.draw(st.lists(st.sampled_from(sorted(ACTS - REMARKS)), min_size=1, max_size=3))
    assume(place is not None or words not in (['plan'], ['name']))
    style = data.draw(st.sampled_from(['snake', 'camel', 'kebab', 'shout']))
    key = {
        'snake': '_'.join(words),
        'camel': words[0] + ''.join(word.title() for word in words[1:]),
        'kebab': '-'.join(words),
        'shout': '_'.join(words).upper(),
    }[style]
    if place is None:
        assume(words not in (['status'], ['goal'], ['step']))
    else:
        assume(
            words not in (['action'], ['fallback'], ['status'], ['parameter'], ['precondition'])
        )
    assume(words[-2:] != ['confirm', 'message'])
    with pytest.raises(PlanError, match='is no field of a '):
        create_plan_from_llm_response(with_field(place, key, value))


@pytest.mark.parametrize(
    'meant',
    ['condition', 'precondition', 'when', 'unless', 'limit', 'duration', 'parameters', 'fallback',
     'requires_confirmation', 'risk_level', 'max_speed', 'only_if', 'steps', 'until'],
)  # fmt: skip
@given(place=PLACES, data=st.data())
def test_a_misspelt_one_is_refused_as_well(
    meant: str, place: int | None, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(meant) - 2))
    swapped = meant[:at] + meant[at + 1] + meant[at] + meant[at + 2 :]
    doubled = meant[:at] + meant[at] + meant[at:]
    shorter = meant[:at] + meant[at + 1 :]
    key = data.draw(st.sampled_from([doubled, shorter, swapped]))
    assume(key not in NAMES and key.removesuffix('s') != meant.removesuffix('s'))
    try:
        noted = left_out(with_field(place, key, 'the mast is closed'))
    except PlanError:
        return
    assert noted == [], f'{key} was left out'


@given(
    st.integers(0, 2),
    st.text(string.ascii_lowercase, min_size=1, max_size=10),
    st.booleans()
    | st.integers()
    | st.lists(st.integers())
    | st.dictionaries(st.text(), st.none()),
)
def test_no_number_flag_list_or_object_is_left_out_of_a_step_unless_its_name_is_a_remark(
    step: int, key: str, value: Any
) -> None:
    assume(key not in NAMES and key.removesuffix('s') not in REMARKS and key not in REMARKS)
    assume(not key.startswith('estimate'))
    with pytest.raises(PlanError):
        create_plan_from_llm_response(with_field(step, key, value))


def test_no_argument_of_a_skill_is_left_out_of_a_step() -> None:
    names = {
        name
        for skill in make_registry(SHIPPED).for_model()
        for name in skill.arguments.model_fields
    }
    assert {'duration_s', 'text', 'query'} <= names
    for name in names:
        why = rf'{name} is no field of a step|{name}s must be there once'
        with pytest.raises(PlanError, match=why):
            create_plan_from_llm_response(with_field(1, name, 'text'))


def test_there_is_an_end_to_what_is_left_out_and_no_writer_can_forge_the_note() -> None:
    many = {f'note{number}': 'x' for number in range(MAX_LEFT_OUT)}
    assert len(left_out({**PLAN, **many})) == MAX_LEFT_OUT
    with pytest.raises(PlanError, match='too many fields that no plan has'):
        create_plan_from_llm_response({**PLAN, **many, 'title': 'x'})
    assert left_out({**PLAN, 'metadata': {LEFT_OUT: ['forged']}}) == []


@pytest.mark.parametrize(
    ('one', 'other'),
    [('whn', 'when'), ('wheen', 'when'), ('whem', 'when'), ('wehn', 'when'), ('hen', 'when'),
     ('when', 'when')],
)  # fmt: skip
def test_one_edit_makes_them_the_same(one: str, other: str) -> None:
    assert one_edit_apart(one, other)
    assert one_edit_apart(other, one)


@pytest.mark.parametrize('other', ['', 'what', 'whenever', 'hewn', 'nehw', 'wh'])
def test_more_than_one_edit_does_not(other: str) -> None:
    assert not one_edit_apart('when', other)


def test_a_refusal_says_why_and_what_there_is() -> None:
    for key, why in (
        ('paramters', 'is parameters meant?'),
        ('if', 'it may change what is done'),
        ('hurry', 'it may be an argument, a limit or a condition'),
        ('備考', 'a name in other letters may mean a condition'),
        ('n' * 61, 'its name is too long'),
        ('--', 'its name says nothing'),
    ):
        with pytest.raises(PlanError) as caught:
            create_plan_from_llm_response(with_field(1, key, 3))
        assert 'is no field of a step; it has: step_id, action' in str(caught.value)
        assert f'({why})' in str(caught.value)
