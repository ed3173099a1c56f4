# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which field that plans do not have can be left out of a plan, and which one refuses it.

Models add remarks of their own: a title, a confidence. A plan does the same without them. A field
that was meant to change what is done, or whether it is done, refuses the plan: a plan without it
would be another one. So a field is left out only if nothing speaks for such a meaning: neither its
name nor the kind of its value.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import SequenceMatcher
import re

WORD = re.compile(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+')
MAX_NAME = 60  # letters
SIMILAR = 0.8  # from here on a name may be another one, misspelt

_REMARKS = """
    assumption author benefit category comment confidence cost description difficulty estimate
    estimated expectation expected explanation hint id importance index info language model
    note observation outcome owner phase priority probability progress rationale reason
    reasoning remark result score section source summary tag thinking thought title version why
"""
REMARKS = frozenset(_REMARKS.split())
ESTIMATES = ('estimate', 'estimated')  # in front of a name: only a guess at what it names
OF_A_PLAN = frozenset(['name', 'plan'])  # a remark in a plan; in a step it may be the skill
# How a field names a condition, a limit, an argument, an order or another kind of step.
_ACTS = """
    abort accept action after agent allow amount and angle approval approve arg argument args
    ask assert at avoid await backward battery before block body call cancel cap ceiling check
    clear command condition config confirm constraint content continue control count criteria
    criterion critical deadline deg degree delay depend dependency direction disable disabled
    distance do drive dry duration else enable enabled ensure error event except exclude
    execute expire expression fail fallback faster fence floor follow for forbid forward from
    function gate ground guard halt heading hold human if ignore input instead interval
    invariant iterate keep kind kwargs laser latch left level limit loop manual mast max maximum
    message method metre meter min minimum mode motion mount move moving must name needs never
    no not obstacle off on once only operation operator option optional or order override
    parallel param parameter params path pause payload permission permit pitch place point pose
    position post postcondition power pre precondition pressure prevent prohibit prompt
    provided query question radius range rate reject repeat require required restrict resume
    retries retry return reverse right risk roll rotate rotation rover rule run safe safety
    score sec second seconds setting settings simulate skill skip slower speed start state
    status step stop subject substep target task terminate text then threshold throttle time
    timeout times tolerance tool trigger turn type undo unless until use validate value
    velocity verify wait waypoint when where while width with without x y yaw z zone
"""
ACTS = frozenset(_ACTS.split())
# Known misspelt as well.
LONG = frozenset(word for word in ACTS if len(word) >= 4)
# Found inside of a word as well: ``maxspeed``, ``steplimit``, ``runcondition``.
LONGER = frozenset(word for word in ACTS if len(word) >= 5)


def refusal(
    key: str, value: object, *, of_step: bool, similar_to: Collection[str] = ()
) -> str | None:
    """Why the unknown field ``key`` may not be left out; None: it is a remark.

    ``similar_to``: the names that a misspelt one would have meant.
    """
    if len(key) > MAX_NAME:
        return 'its name is too long'
    if not key.isascii():
        return 'a name in other letters may mean a condition'
    words = [found.lower() for found in WORD.findall(key)]
    plain = ''.join(words)
    if not words:
        return 'its name says nothing'
    if meant := next((name for name in similar_to if _similar(plain, _plain(name))), None):
        return f'is {meant} meant?'
    remarks = REMARKS if of_step else REMARKS | OF_A_PLAN
    others = [word for word in words if not ({word, _singular(word)} & remarks or word.isdigit())]
    if not others or words[0] in ESTIMATES:
        return None
    if any(_names_an_act(word) for word in [*others, plain]):
        return 'it may change what is done'
    if value is None or isinstance(value, str):
        return None
    if of_step or isinstance(value, (bool, dict)):
        return 'it may be an argument, a limit or a condition'
    return None


def _names_an_act(word: str) -> bool:
    one = _singular(word)
    if word in ACTS or one in ACTS or any(part in word for part in LONGER) or _joins_acts(word):
        return True
    return len(word) >= 3 and any(
        one_edit_apart(word, act) or one_edit_apart(one, act) for act in LONG
    )


def _joins_acts(word: str) -> bool:
    """Whether it is two of the words without a gap: ``onlyif``."""
    halves = ({word[:at], word[at:]} for at in range(2, len(word) - 1))
    return any(pair <= ACTS | REMARKS and pair & ACTS for pair in halves)


def one_edit_apart(one: str, other: str) -> bool:
    """Whether one letter more, less, other or in its neighbour's place makes them the same."""
    if abs(len(one) - len(other)) > 1 or one == other:
        return one == other
    ends = min(len(one), len(other))
    at = next((index for index in range(ends) if one[index] != other[index]), ends)
    return (
        one[at + 1 :] == other[at + 1 :]
        or one[at + 1 :] == other[at:]
        or one[at:] == other[at + 1 :]
        or (one[at + 1 : at + 2] + one[at : at + 1] + one[at + 2 :] == other[at:])
    )


def _similar(one: str, other: str) -> bool:
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= SIMILAR


def _singular(word: str) -> str:
    return word.removesuffix('s')


def _plain(name: str) -> str:
    return name.replace('_', '')
