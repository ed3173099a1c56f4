# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.domain.plan.conditions import BadCondition, check, holds
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from strategies import finite, json_objects, json_values

FACTS: dict[str, Any] = {
    'mast': 'closed',
    'moving': False,
    'battery_pct': 80.0,
    'zones': ['shade', 'crater'],
    'score': None,
    'x': 2,
}


@pytest.mark.parametrize(
    ('conditions', 'ok'),
    [
        ({}, True),
        ({'mast': 'closed'}, True),
        ({'mast': 'open'}, False),
        ({'mast': 'Closed'}, False),
        ({'moving': False}, True),
        ({'moving': 0}, False),
        ({'x': 2.0}, True),
        ({'x': 2 + 5e-10}, True),
        ({'x': 2 + 5e-9}, False),
        ({'x': True}, False),
        ({'x': '2'}, False),
        ({'battery_pct_above': 79.9}, True),
        ({'battery_pct_above': 80}, False),
        ({'battery_pct_below': 80.1}, True),
        ({'battery_pct_below': 80}, False),
        ({'battery_pct_at_least': 80}, True),
        ({'battery_pct_at_least': 80.1}, False),
        ({'battery_pct_at_most': 80}, True),
        ({'battery_pct_at_most': 79.9}, False),
        ({'battery_pct_within': [80, 90]}, True),
        ({'battery_pct_within': [70, 80]}, True),
        ({'battery_pct_within': [81, 90]}, False),
        ({'mast_is_not': 'open'}, True),
        ({'mast_is_not': 'closed'}, False),
        ({'mast_in': ['open', 'closed']}, True),
        ({'mast_in': ['open', 'opening']}, False),
        ({'zones': 'shade'}, True),
        ({'zones': 'dune'}, False),
        ({'zones_is_not': 'dune'}, True),
        ({'zones_is_not': 'shade'}, False),
        ({'zones_in': ['dune', 'crater']}, True),
        ({'mast_above': 3}, False),
        ({'moving_above': -1}, False),
        ({'mast': 'closed', 'battery_pct_above': 50}, True),
        ({'mast': 'closed', 'battery_pct_above': 90}, False),
        ({'battery_pct_above': 90, 'mast': 'closed'}, False),
    ],
)
def test_conditions(conditions: dict[str, Any], ok: bool) -> None:
    assert holds(conditions, FACTS).ok is ok


@pytest.mark.parametrize('fact', ['score', 'nothing_of_that_name'])
@pytest.mark.parametrize(
    'ending', ['', '_above', '_below', '_at_least', '_at_most', '_is_not', '_in', '_within']
)
def test_nothing_holds_of_what_is_not_known(fact: str, ending: str) -> None:
    value: Any = {'_in': [1.0], '_within': [-1e9, 1e9]}.get(ending, 1.0)
    verdict = holds({f'{fact}{ending}': value}, FACTS)
    assert not verdict.ok
    assert verdict.why == f'{fact} is not known'


def test_the_verdict_says_why() -> None:
    conditions: dict[str, Any] = {'mast': 'closed', 'battery_pct_above': 90, 'x_within': [5, 6]}
    verdict = holds(conditions, FACTS)
    assert verdict.why == 'battery_pct is 80.0, not above 90; x is 2, not within [5, 6]'
    assert holds({'mast': 'closed', 'x_below': 3}, FACTS).why == (
        "mast is 'closed', equal to 'closed'; x is 2, below 3"
    )
    assert holds({'mast_above': 3}, FACTS).why == "mast is 'closed', not a number"
    assert holds({'mast_is_not': 'closed'}, FACTS).why == "mast is 'closed', which is 'closed'"


@pytest.mark.parametrize(
    ('conditions', 'message'),
    [
        ({'battery_pct_above': 'high'}, "'battery_pct_above' needs a number, not 'high'"),
        ({'battery_pct_above': True}, 'needs a number, not True'),
        ({'battery_pct_above': 10**400}, 'needs a number'),
        ({'battery_pct_above': float('nan')}, 'needs a number, not nan'),
        ({'mast': None}, "'mast' needs a text, a number, true or false, not None"),
        ({'mast': {'a': 1}}, 'needs a text, a number, true or false'),
        ({'mast_is_not': []}, 'needs a text, a number, true or false'),
        ({'mast_in': 'closed'}, 'needs a list of texts, numbers, true or false'),
        ({'mast_in': []}, 'needs a list'),
        ({'mast_in': [None]}, 'needs a list'),
        ({'x_within': [2, 1]}, 'needs a list of two numbers, low and high'),
        ({'x_within': [1]}, 'needs a list of two numbers'),
        ({'x_within': 1}, 'needs a list of two numbers'),
        ({'_above': 1}, "'_above' must begin with the name of a fact"),
        ({'': 1}, "'' must begin with the name of a fact"),
        ([], r'conditions must be an object, not \[\]'),
    ],
)
def test_what_could_never_be_told_is_said_up_front(conditions: Any, message: str) -> None:
    with pytest.raises(BadCondition, match=message):
        check(conditions)
    with pytest.raises(BadCondition, match=message):
        holds(conditions, FACTS)


@settings(max_examples=examples(60), deadline=None)
@given(json_objects, json_objects, st.data())
def test_anything_is_a_verdict_or_a_bad_condition(
    conditions: dict[str, Any], facts: dict[str, Any], data: st.DataObject
) -> None:
    for key in list(conditions):
        facts[key] = data.draw(json_values)
    try:
        check(conditions)
    except BadCondition as error:
        why = str(error)
    else:
        why = holds(conditions, facts).why
    assert 0 < len(why) < 300 * (1 + len(conditions))


@settings(deadline=None)
@given(finite, finite, finite)
def test_the_comparisons_fit_together(fact: float, one: float, other: float) -> None:
    def told(**conditions: Any) -> bool:
        return holds(conditions, {'x': fact}).ok

    assert told(x_above=one) == (fact > one)
    assert told(x_below=one) == (fact < one)
    assert told(x_at_least=one) or told(x_below=one)
    assert told(x_at_most=one) or told(x_above=one)
    assert told(x=one) != told(x_is_not=one)
    assert told(x=one) == told(x_in=[one])
    low, high = sorted((one, other))
    assert told(x_within=[low, high]) == (told(x_at_least=low) and told(x_at_most=high))
    assert told(x_at_least=low, x_at_most=high) == told(x_within=[low, high])
