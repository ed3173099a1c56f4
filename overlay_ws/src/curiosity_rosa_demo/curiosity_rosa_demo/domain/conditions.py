# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Conditions on facts: preconditions of a plan step, the condition of ``wait_until``,
and what a trigger waits for. Pure.

A condition is ``key: value``. The key is the name of a fact; its suffix selects the comparison:
``mast: 'closed'``, ``battery_pct_above: 50``, ``mode_in: ['EXEC', 'IDLE']``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import operator
from typing import Any, NamedTuple

from curiosity_rosa_demo.domain.geometry import finite_float
from curiosity_rosa_demo.domain.models import Json
from curiosity_rosa_demo.domain.text import short_repr
from pydantic import JsonValue

TOLERANCE = 1e-9  # two numbers that differ by at most this are equal


class BadCondition(ValueError):
    """The condition is invalid. The message names the condition and a valid form."""


@dataclass(frozen=True)
class Verdict:
    """``why`` lists the conditions that hold or, when not ``ok``, those that do not."""

    ok: bool
    why: str


def holds(conditions: Json, facts: Json) -> Verdict:
    """Whether all conditions hold. Raises BadCondition.

    No condition on a missing or null fact holds, not even ``_is_not``. A fact that is a list, such
    as the zones, equals each of its items.
    """
    check(conditions)
    held: list[str] = []
    failed: list[str] = []
    for key, value in conditions.items():
        name, kind = _parsed(key)
        fact = facts.get(name)
        if fact is None or fact != fact:
            failed.append(f'{name} is not known')
        elif kind.needs in (NUMBER, RANGE) and finite_float(fact) is None:
            failed.append(f'{name} is {short_repr(fact)}, not a number')
        else:
            ok = kind.test(fact, value)
            relation = kind.holds_text if ok else kind.fails_text
            told = f'{name} is {short_repr(fact)}, {relation} {short_repr(value)}'
            (held if ok else failed).append(told)
    return Verdict(not failed, '; '.join(failed or held) or 'no conditions')


def check(conditions: Json) -> None:
    """Validate ``conditions`` without facts. Raises BadCondition."""
    if not isinstance(conditions, dict):
        raise BadCondition(f'conditions must be an object, not {short_repr(conditions)}')
    for key, value in conditions.items():
        name, kind = _parsed(key)
        shown = f'condition {short_repr(key)}'
        if not name:
            raise BadCondition(f'{shown} must begin with the name of a fact')
        if not _fits(value, kind.needs):
            raise BadCondition(f'{shown} needs {kind.needs}, not {short_repr(value)}')


# What the value of a condition must be.
NUMBER, PLAIN = 'a number', 'a text, a number, true or false'
LIST, RANGE = 'a list of texts, numbers, true or false', 'a list of two numbers, low and high'


def _fits(value: JsonValue, needs: str) -> bool:
    if needs in (NUMBER, PLAIN):
        plain = needs == PLAIN and isinstance(value, bool | str)
        return plain or finite_float(value) is not None
    if not isinstance(value, list) or not value:
        return False
    if needs == LIST:
        return all(_fits(each, PLAIN) for each in value)
    low, high = (*map(finite_float, value), None)[:2]
    return len(value) == 2 and low is not None and high is not None and low <= high


def _is_equal(fact: JsonValue, value: JsonValue) -> bool:
    if isinstance(fact, list):
        return any(_is_equal(item, value) for item in fact)
    one, other = finite_float(fact), finite_float(value)
    if one is not None and other is not None:
        return abs(one - other) <= TOLERANCE
    return type(fact) is type(value) and fact == value


class _Kind(NamedTuple):
    """A kind of comparison: ``test(fact, value)``; its words between the two."""

    holds_text: str
    fails_text: str
    needs: str
    test: Callable[[Any, Any], bool]


_EQUAL = _Kind('equal to', 'not', PLAIN, _is_equal)
_KINDS = {
    '_above': _Kind('above', 'not above', NUMBER, operator.gt),
    '_below': _Kind('below', 'not below', NUMBER, operator.lt),
    '_at_least': _Kind('at least', 'not at least', NUMBER, lambda a, b: a >= b - TOLERANCE),
    '_at_most': _Kind('at most', 'not at most', NUMBER, lambda a, b: a <= b + TOLERANCE),
    '_is_not': _Kind('not', 'which is', PLAIN, lambda a, b: not _is_equal(a, b)),
    '_in': _Kind('one of', 'none of', LIST, lambda a, b: any(_is_equal(a, each) for each in b)),
    '_within': _Kind(
        'within', 'not within', RANGE, lambda a, b: b[0] - TOLERANCE <= a <= b[1] + TOLERANCE
    ),
}


def _parsed(key: str) -> tuple[str, _Kind]:
    for ending, kind in _KINDS.items():
        if key.endswith(ending):
            return key.removesuffix(ending), kind
    return key, _EQUAL
