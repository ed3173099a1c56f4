# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Decides whether an unknown field of a plan is omitted or makes the plan invalid.

Models add remarks: a title, a confidence. Such a field has no effect, and the plan is the same
without it. A field that is meant to change an action, or whether it runs, makes the plan invalid:
without the field it would be a different plan. So a field is omitted only if neither its name nor
the type of its value suggests such a meaning.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import SequenceMatcher
import re

WORD = re.compile(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+')
MAX_NAME = 60  # letters
SIMILAR = 0.8  # from this ratio on, a name may be a misspelt field name

_REMARKS = """
    assumption author benefit category comment confidence cost description difficulty estimate
    estimated expectation expected explanation hint id importance index info language model
    note observation outcome owner phase priority probability progress rationale reason
    reasoning remark result score section source summary tag thinking thought title version why
"""
REMARKS = frozenset(_REMARKS.split())
ESTIMATES = ('estimate', 'estimated')  # a name that begins so is an estimate, thus a remark
OF_A_PLAN = frozenset(['name', 'plan'])  # a remark in a plan; in a step it may be the skill
# Words that name a condition, a limit, an argument, an action or another kind of step.
_ACTS = """
    abort accept action after agent allow amount and angle approval approve arg argument args
    ask assert at avoid await backward battery before block body call cancel cap ceiling check
    clear command condition config confirm constraint content continue control count criteria
    criterion critical deadline deg degree delay depend dependency direction disable disabled
    distance do drive dry duration else enable enabled ensure error event except exclude
    execute expire expression fail fallback faster fence floor follow for forbid forward from
    function gate ground guard halt heading hold human if ignore image input instead interval
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
    velocity verify wait waypoint what when where while width with without x y yaw z zone
"""
ACTS = frozenset(_ACTS.split())
# Matched with one misspelling too.
LONG = frozenset(word for word in ACTS if len(word) >= 4)
# Matched inside a word too: ``maxspeed``, ``steplimit``, ``runcondition``.
LONGER = frozenset(word for word in ACTS if len(word) >= 5)


def refusal(
    key: str, value: object, *, of_step: bool, similar_to: Collection[str] = ()
) -> str | None:
    """The reason why the unknown field ``key`` must not be omitted; None for a remark.

    ``similar_to``: the field names that ``key`` may misspell.
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
    singular = _singular(word)
    if word in ACTS or singular in ACTS or _joins_acts(word):
        return True
    if any(part in word for part in LONGER):
        return True
    return len(word) >= 3 and any(
        one_edit_apart(word, act) or one_edit_apart(singular, act) for act in LONG
    )


def _joins_acts(word: str) -> bool:
    """Whether ``word`` is two known words without a gap, one of them of ACTS: ``onlyif``."""
    halves = ({word[:at], word[at:]} for at in range(2, len(word) - 1))
    return any(pair <= ACTS | REMARKS and pair & ACTS for pair in halves)


def one_edit_apart(one: str, other: str) -> bool:
    """Whether at most one insertion, deletion, substitution or swap of neighbours separates the
    two.
    """
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
