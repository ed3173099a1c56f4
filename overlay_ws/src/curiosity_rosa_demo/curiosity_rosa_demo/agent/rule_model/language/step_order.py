# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The steps of a sentence in the order of execution, with its corrections and denials. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from curiosity_rosa_demo.agent.rule_model.language.clauses import (
    clauses,
    Group,
    group_of,
    is_mark,
    MARKS,
    separates,
)
from curiosity_rosa_demo.agent.rule_model.language.frames import MOTIONS, Step
from curiosity_rosa_demo.agent.rule_model.language.places import Token, Words

_DIRECTIONS = ('LEFT', 'RIGHT', 'FORWARD')
_AMOUNTS = ('DUR', 'DIST', 'ANGLE', 'NUM', 'COUNT', 'PCT')


@dataclass
class Plan:
    """The steps so far, in the order of execution."""

    steps: list[Step] = field(default_factory=list)
    condition: str = ''
    negated: bool = False
    still: bool = False  # it is said not to move at all


def plan_of(tokens: Sequence[Token], words: Words, language: str) -> Plan | None:
    """The steps of a whole sentence with its corrections; None if a part has no meaning."""
    segments = _segments(tokens)
    known = frozenset(_known(tokens))
    groups: list[Group] = []
    for index, (marker, part) in enumerate(segments):
        if marker == 'SCRATCH':
            groups = []
        rest = list(part)
        if marker == 'CORRECT' and groups:
            fixed = _fixed(groups, rest, words, known)
            if fixed is not None:
                groups, rest = fixed
                marker = ''
        more = clauses(rest, words, known, open_end=index + 1 < len(segments))
        if more is None:
            return None
        if marker == 'CORRECT' and not any(group.kind in ('step', 'cond') for group in more):
            return None  # what was wrong, and what is right?
        if marker == 'CORRECT' and any(group.kind in ('step', 'cond') for group in more):
            while groups and groups[-1].kind not in ('step', 'part', 'neg'):
                groups.pop()
            groups = groups[:-1]
        groups += more
    if any(group.kind == 'part' for group in groups):
        return None
    plan = _ordered(groups, language)
    at_once = any(token.can_be('SIMUL') for token in tokens)
    if plan and at_once and sum(step.verb in MOTIONS for step in plan.steps) > 1:
        return None  # two motions at the same time
    return plan


def _known(tokens: Sequence[Token]) -> list[str]:
    named = {
        'KNOWNMAST': any(token.meanings[0] == ('MAST',) for token in tokens),
        'KNOWNPICTURE': any(token.can_be('PICTURE') or token.can_be('SHOOT') for token in tokens),
        'KNOWNTARGET': any(token.can_be('XY') for token in tokens),
        'KNOWNGOTO': any(token.can_be('GO') or token.can_be('PLACE') for token in tokens),
        'ING': any(
            token.can_be(tag)
            for token in tokens
            for tag in ('BEFORE', 'AFTER', 'BACKBEFORE', 'PREBEFORE', 'REPEAT', 'ORDERED')
        )
        or any(token.can_be('THEN') and token.text.endswith(' by') for token in tokens)
        or _lists_plain_verbs(tokens),
    }
    return [name for name, is_named in named.items() if is_named]


def _lists_plain_verbs(tokens: Sequence[Token]) -> bool:
    """Whether several Japanese sentences end with a verb in the dictionary form: a procedure."""
    ends = [
        token
        for token, after in pairwise([*tokens, Token('.', (('COMMA',),))])
        if token.can_be('ING') and after.text == '.' and not token.text.isascii()
    ]
    return len(ends) > 1


def _segments(tokens: Sequence[Token]) -> list[tuple[str, list[Token]]]:
    """The parts between corrections, each with the word that begins it: '' for the first."""
    segments: list[tuple[str, list[Token]]] = [('', [])]
    for index, token in enumerate(tokens):
        marker = _correction(tokens, index)
        if marker:
            if any(not is_mark(each) for each in segments[-1][1]) or len(segments) == 1:
                segments.append((marker, []))
            else:
                segments[-1] = (segments[-1][0] or marker, [])
        else:
            segments[-1][1].append(token)
    return segments


def _correction(tokens: Sequence[Token], index: int) -> str:
    token = tokens[index]
    if index and token.can_be('SCRATCH'):
        return 'SCRATCH'
    if not index or not token.can_be('CORRECT'):
        return ''
    if all(meaning == ('CORRECT',) for meaning in token.meanings):
        return 'CORRECT'
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    after = tokens[index - 1].can_be('COMMA')
    alone = following is not None and (
        following.can_be('COMMA')
        or following.can_be('CORRECT')
        or any(following.can_be(tag) for tag in _DIRECTIONS)
    )
    return 'CORRECT' if after and alone else ''


def _fixed(
    groups: list[Group], rest: list[Token], words: Words, known: frozenset[str]
) -> tuple[list[Group], list[Token]] | None:
    """``groups`` with the last clause corrected by the direction or the number that begins
    ``rest``, and what follows; None if ``rest`` begins with something else.
    """
    end = 0
    while end < len(rest) and not (
        any(rest[end].can_be(tag) for tag in ('THEN', 'AND'))
        or (end and rest[end].can_be('COMMA'))
    ):
        end += 1
    chunk = [token for token in rest[:end] if not token.can_be('COMMA')]
    family = _family(chunk)
    place = next(
        (i for i in range(len(groups) - 1, -1, -1) if groups[i].kind in ('step', 'part')), None
    )
    if not family or place is None:
        return None
    old = groups[place].tokens
    kept = [token for token in old if not any(token.can_be(tag) for tag in family)]
    if len(kept) == len(old):
        return None
    group = group_of([*kept, *chunk], words, known)
    if group is None or group.kind != 'step':
        return None
    return [*groups[:place], group], rest[end:]


def _family(chunk: Sequence[Token]) -> tuple[str, ...]:
    """The tags that a correcting chunk replaces; empty if it is more than a slot."""
    bare = [
        token for token in chunk if not any(token.can_be(tag) for tag in (*MARKS, 'TURN', 'GO'))
    ]
    if len(bare) != 1:
        return ()
    for family in (_DIRECTIONS, _AMOUNTS):
        if any((tag,) == meaning for tag in family for meaning in bare[0].meanings):
            return family
    return ()


def _denial_is_apart(groups: Sequence[Group]) -> bool:
    """Whether what is denied is clearly apart from the steps beside it: "forward not left" is
    not, "forward, not left" and "forward without a picture" are.
    """
    for left, right in pairwise(groups):
        if {left.kind, right.kind} != {'neg', 'step'} or (right.kind == 'neg' and _sans(right)):
            continue
        if not (separates(left.tokens[-1]) or separates(right.tokens[0])):
            return False
    return True


def _sans(group: Group) -> bool:
    return any('SANS' in meaning for token in group.tokens for meaning in token.meanings)


def _forbids_driving(group: Group) -> bool:
    tags = {tag for token in group.tokens for tag in token.meanings[0]}
    return 'GO' in tags and not tags - {'NEG', 'SANS', 'GO', 'ING', 'END', *MARKS}


def _repeats_all(group: Group) -> bool:
    """Whether "repeat n times" after this motion may mean the steps before it, too."""
    drives = any(step.verb in MOTIONS for step in group.steps)
    return drives and any('TIMES' in t.meanings[0] and '繰' in t.text for t in group.tokens)


def _ordered(groups: list[Group], language: str) -> Plan | None:
    if not _denial_is_apart(groups):
        return None
    plan = Plan()
    leading: str = ''
    times = 1
    begin = 0
    denied = False
    swap_at: int | None = None
    last = next((group for group in reversed(groups) if group.kind != 'none'), None)
    for group in groups:
        if group.kind == 'join':
            joint = group.text
            if joint in ('THEN', 'BUT'):
                denied = False
            elif joint == 'BEFORE' and language == 'en':
                leading = leading if plan.steps else 'BEFORE'
            elif joint == 'AFTER':
                if plan.steps:
                    swap_at = len(plan.steps) - 1
            elif joint == 'BACKBEFORE' and group is last:
                swap_at = len(plan.steps) - 2 if len(plan.steps) > 1 else None
            elif plan.steps:  # BACKBEFORE, PREBEFORE, and BEFORE after its clause
                swap_at = len(plan.steps) - 1
            continue
        if group.kind == 'none':
            if any(token.can_be('COMMA') for token in group.tokens):
                denied = False
            continue
        if group.kind == 'neg':
            plan.negated = True
            plan.still = plan.still or _forbids_driving(group)
            denied = language == 'en'
            continue
        if group.kind == 'cond':
            if plan.condition:
                return None
            plan.condition, begin = group.text, len(plan.steps)
            continue
        if group.kind == 'times':
            if not plan.steps:
                times = group.times
            else:
                plan.steps *= group.times
            continue
        if denied and not any(token.can_be('COMMA') for token in group.tokens[:1]):
            continue  # "do not turn and drive" denies both
        if language == 'ja' and plan.steps and _repeats_all(group):
            return None  # or only the last step?
        plan.steps += group.steps
        if any('PREBEFORE' in meaning for token in group.tokens for meaning in token.meanings):
            swap_at = len(plan.steps) - 1
        if leading == 'BEFORE':
            leading, swap_at = '', len(plan.steps) - 1
    if plan.still and any(step.verb in MOTIONS for step in plan.steps):
        return None
    if swap_at is not None:
        if swap_at + 1 >= len(plan.steps):
            return None
        plan.steps = [*plan.steps[:swap_at], *plan.steps[swap_at + 1 :], plan.steps[swap_at]]
    if plan.condition:
        if begin >= len(plan.steps):
            begin = len(plan.steps) - 1
        if begin < 0:
            return None
        plan.steps[begin:] = [replace(s, condition=plan.condition) for s in plan.steps[begin:]]
    if times > 1:
        plan.steps *= times
    return plan
