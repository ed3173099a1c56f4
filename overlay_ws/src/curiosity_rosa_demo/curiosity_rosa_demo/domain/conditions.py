# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Conditions on facts: preconditions of a plan step, and the condition of ``wait_until``. Pure.

A condition is ``key: value``. The key is the name of a fact; its suffix selects the comparison:
``mast: 'closed'``, ``battery_pct_above: 50``, ``mode_in: ['EXEC', 'IDLE']``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import operator
from typing import Any

from curiosity_rosa_demo.domain.models import finite_float, Json
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
        elif kind.numeric and not _is_number(fact):
            failed.append(f'{name} is {short_repr(fact)}, not a number')
        else:
            ok = kind.test(fact, value)
            relation = kind.holds_text if ok else kind.fails_text
            (held if ok else failed).append(
                f'{name} is {short_repr(fact)}, {relation} {short_repr(value)}'
            )
    return Verdict(not failed, '; '.join(failed or held) or 'no conditions')


def check(conditions: Json) -> None:
    """Validate ``conditions`` without facts. Raises BadCondition."""
    if not isinstance(conditions, dict):
        raise BadCondition(f'conditions must be an object, not {short_repr(conditions)}')
    for key, value in conditions.items():
        name, kind = _parsed(key)
        if not name:
            raise BadCondition(f'condition {short_repr(key)} must begin with the name of a fact')
        if not kind.fits(value):
            raise BadCondition(
                f'condition {short_repr(key)} needs {kind.needs}, not {short_repr(value)}'
            )


@dataclass(frozen=True)
class _ConditionKind:
    """A kind of comparison: ``test(fact, value)``."""

    holds_text: str  # between fact and value when the condition holds
    fails_text: str  # the same when it does not
    needs: str  # text for the type of the value
    fits: Callable[[JsonValue], bool]  # whether the value has that type
    test: Callable[[Any, Any], bool]
    numeric: bool = False  # the fact must be a number too: ``test`` gets numbers


def _is_plain(value: JsonValue) -> bool:
    return isinstance(value, (bool, str)) or _is_number(value)


def _is_nonempty_list(value: JsonValue) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_plain, value))


def _range(value: JsonValue) -> bool:
    if not isinstance(value, list) or len(value) != 2:
        return False
    low, high = finite_float(value[0]), finite_float(value[1])
    return low is not None and high is not None and low <= high


def _is_equal(fact: JsonValue, value: JsonValue) -> bool:
    if isinstance(fact, list):
        return any(_is_equal(item, value) for item in fact)
    one, other = finite_float(fact), finite_float(value)
    if one is not None and other is not None:
        return abs(one - other) <= TOLERANCE
    return type(fact) is type(value) and fact == value


def _is_one_of(fact: JsonValue, values: JsonValue) -> bool:
    return isinstance(values, list) and any(_is_equal(fact, value) for value in values)


def _at_least(fact: Any, value: Any) -> bool:
    return bool(fact >= value - TOLERANCE)


def _at_most(fact: Any, value: Any) -> bool:
    return bool(fact <= value + TOLERANCE)


def _is_within(fact: Any, value: Any) -> bool:
    return _at_least(fact, value[0]) and _at_most(fact, value[1])


def _is_number(value: JsonValue) -> bool:
    return finite_float(value) is not None


def _limit(relation: str, test: Callable[[Any, Any], bool]) -> _ConditionKind:
    return _ConditionKind(relation, f'not {relation}', 'a number', _is_number, test, numeric=True)


_EQUAL = _ConditionKind('equal to', 'not', 'a text, a number, true or false', _is_plain, _is_equal)
_KINDS = {
    '_above': _limit('above', operator.gt),
    '_below': _limit('below', operator.lt),
    '_at_least': _limit('at least', _at_least),
    '_at_most': _limit('at most', _at_most),
    '_is_not': _ConditionKind(
        'not', 'which is', _EQUAL.needs, _is_plain, lambda a, b: not _is_equal(a, b)
    ),
    '_in': _ConditionKind(
        'one of',
        'none of',
        'a list of texts, numbers, true or false',
        _is_nonempty_list,
        _is_one_of,
    ),
    '_within': _ConditionKind(
        'within', 'not within', 'a list of two numbers, low and high', _range, _is_within, True
    ),
}


def _parsed(key: str) -> tuple[str, _ConditionKind]:
    for ending, kind in _KINDS.items():
        if key.endswith(ending):
            return key.removesuffix(ending), kind
    return key, _EQUAL
