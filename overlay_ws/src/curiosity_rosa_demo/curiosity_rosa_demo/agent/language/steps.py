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

from curiosity_rosa_demo.agent.language.grammar import (
    clauses,
    Group,
    group_of,
    is_mark,
    MARKS,
    MOTIONS,
    separates,
    Step,
)
from curiosity_rosa_demo.agent.language.quantities import Token
from curiosity_rosa_demo.agent.language.tables import table

_DIRECTIONS = ('LEFT', 'RIGHT', 'FORWARD')
_BESIDE_A_SLOT = ('TURN', 'GO', 'END', 'COMMA')
_AMOUNTS = ('DUR', 'DIST', 'ANGLE', 'NUM', 'COUNT', 'PCT')
# What cannot be done while the mast is so.
EXCLUDED = {
    'OPEN': ('forward', 'left', 'right', 'goto', 'light', 'explore', 'home', 'back', 'close'),
    'CLOSE': ('picture', 'around', 'rotate', 'open'),
}
_ON_A_MAST = {'NEG', 'OR', 'SANS', 'MAST', 'OPEN', 'CLOSE', 'ING', 'END', *MARKS}


@dataclass
class Plan:
    """The steps so far, in the order of execution."""

    steps: list[Step] = field(default_factory=list)
    condition: str = ''
    negated: bool = False
    still: bool = False  # it is said not to move at all
    excluded: bool = False  # the mast is to stay as no step allows: "drive without stowing it"


def plan_of(tokens: Sequence[Token], language: str) -> Plan | None:
    """The steps of a whole sentence with its corrections; None if a part has no meaning."""
    segments = _segments(tokens)
    known = _known(tokens)
    groups: list[Group] = []
    for index, (marker, part) in enumerate(segments):
        if marker == 'SCRATCH':
            groups = []
        rest = list(part)
        if marker == 'CORRECT' and groups:
            fixed = _fixed(groups, rest, known)
            if fixed is not None:
                groups, rest = fixed
                marker = ''
        more = clauses(rest, known, open_end=index + 1 < len(segments))
        if more is None:
            return None
        if marker == 'CORRECT':
            if not any(group.kind in ('step', 'cond') for group in more):
                return None  # what was wrong, and what is right?
            while groups and groups[-1].kind not in ('step', 'part', 'neg'):
                groups.pop()
            groups = groups[:-1]
        groups += more
    if any(group.kind == 'part' for group in groups):
        return None
    plan = _ordered(groups, before=table(language, 'words').get('joins') == 'before')
    at_once = any(token.can_be('SIMUL') for token in tokens)
    if plan and at_once and sum(step.verb in MOTIONS for step in plan.steps) > 1:
        return None  # two motions at the same time
    return plan


def _known(tokens: Sequence[Token]) -> frozenset[str]:
    """What the sentence has named, for words that refer to it."""

    def names(*tags: str) -> bool:
        return any(token.can_be(*tags) for token in tokens)

    named = {
        'KNOWNMAST': any(token.meanings[0] == ('MAST',) for token in tokens),
        'KNOWNPICTURE': names('PICTURE', 'SHOOT'),
        'KNOWNTARGET': names('XY', 'LIGHT', 'BRIGHT', 'BASE'),
        'KNOWNGOTO': names('GO', 'PLACE'),
        'ING': names('BEFORE', 'AFTER', 'BACKBEFORE', 'PREBEFORE', 'REPEAT', 'ORDERED')
        or any(token.can_be('THEN') and token.text.endswith(' by') for token in tokens)
        or _lists_plain_verbs(tokens),
    }
    return frozenset(name for name, is_named in named.items() if is_named)


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
        if not marker:
            segments[-1][1].append(token)
        elif any(not is_mark(each) for each in segments[-1][1]) or len(segments) == 1:
            segments.append((marker, []))
        else:
            segments[-1] = (segments[-1][0] or marker, [])
    return segments


def _correction(tokens: Sequence[Token], index: int) -> str:
    token = tokens[index]
    if index and token.can_be('SCRATCH'):
        return 'SCRATCH'
    if not index or not token.can_be('CORRECT'):
        return ''
    if all(meaning == ('CORRECT',) for meaning in token.meanings):
        return 'CORRECT'
    alone = tokens[index - 1].can_be('COMMA') and index + 1 < len(tokens)
    follows = alone and tokens[index + 1].can_be('COMMA', 'CORRECT', *_DIRECTIONS)
    return 'CORRECT' if follows else ''


def _fixed(
    groups: list[Group], rest: list[Token], known: frozenset[str]
) -> tuple[list[Group], list[Token]] | None:
    """``groups`` with the last clause corrected by the direction or the number that begins
    ``rest``, and what follows; None if ``rest`` begins with something else.
    """
    ends = [at for at, token in enumerate(rest) if at and token.can_be('THEN', 'AND', 'COMMA')]
    end, after = [*ends, len(rest), len(rest)][:2]
    family = _family(rest[:end])
    if family == _DIRECTIONS and _family(rest[end:after]) == _AMOUNTS:  # "left, ten degrees"
        end, family = after, _DIRECTIONS + _AMOUNTS
    chunk = [token for token in rest[:end] if not token.can_be('COMMA')]
    place = next(
        (i for i in range(len(groups) - 1, -1, -1) if groups[i].kind in ('step', 'part')), None
    )
    if not family or place is None:
        return None
    old = groups[place].tokens
    kept = [token for token in old if not token.can_be(*family)]
    group = group_of([*kept, *chunk], known) if len(kept) < len(old) else None
    if group is None or group.kind != 'step':
        return None
    return [*groups[:place], group], rest[end:]


def _family(chunk: Sequence[Token]) -> tuple[str, ...]:
    """The tags that a correcting chunk replaces; empty if it is more than a slot."""
    slots = [{*token.meanings[0]} - {*MARKS, *_BESIDE_A_SLOT} for token in chunk]
    slots = [slot for slot in slots if slot]
    families = (family for family in (_DIRECTIONS, _AMOUNTS) if len(slots) == 1)
    return next((family for family in families if slots[0] <= {*family}), ())


def _denial_is_apart(groups: Sequence[Group]) -> bool:
    """Whether what is denied is clearly apart from the steps beside it: "forward not left" is
    not, "forward, not left" and "forward without a picture" are.
    """
    for left, right in pairwise(groups):
        beside = {left.kind, right.kind} == {'neg', 'step'}
        if not beside or (right.kind == 'neg' and right.has('SANS')):
            continue
        if not (separates(left.tokens[-1]) or separates(right.tokens[0])):
            return False
    return True


def _forbids_driving(group: Group) -> bool:
    tags = {tag for token in group.tokens for tag in token.meanings[0]}
    return 'GO' in tags and not tags - {'NEG', 'OR', 'SANS', 'GO', 'ING', 'END', *MARKS}


def _excludes(group: Group, at: int, steps: Sequence[Step]) -> bool:
    """Whether the denial ``group``, after so many of ``steps``, leaves the mast as one of them
    cannot have it. Behind a step that can, it is said of the rest: "drive, open the mast and don't
    stow it".
    """
    tags = {tag for token in group.tokens for tag in token.meanings[0]}
    if tags - _ON_A_MAST or len(tags & EXCLUDED.keys()) != 1:
        return False
    excluded = EXCLUDED['OPEN' if 'CLOSE' in tags else 'CLOSE']
    begin = at if at and steps[at - 1].verb not in excluded else 0
    return any(step.verb in excluded for step in steps[begin:])


def _repeats_all(group: Group) -> bool:
    """Whether "repeat n times" after this motion may mean the steps before it, too."""
    drives = any(step.verb in MOTIONS for step in group.steps)
    counted = next((i for i, t in enumerate(group.tokens) if 'TIMES' in t.meanings[0]), 0)
    apart = any(token.can_be('COMMA') for token in group.tokens[1:counted])
    return drives and counted > 0 and ('繰' in group.tokens[counted].text or apart)


def _leads_on(groups: Sequence[Group]) -> bool:
    """Whether the last clause is that of a time: 左に曲がったら, but not 上げてからにして."""
    tokens = [token for group in groups for token in group.tokens]
    said = [token for token in tokens if not is_mark(token) or token.text == 'して']
    return bool(said) and said[-1].can_be('LEADS')


def _begins_anew(token: Token) -> bool:
    """Whether what is denied ends here; a colon leads on: "do not do this: drive"."""
    return token.can_be('COMMA') and token.text not in (':', '(')


def _ordered(groups: list[Group], *, before: bool) -> Plan | None:
    """``before``: words that join or deny stand before their clause."""
    if not _denial_is_apart(groups):
        return None
    plan = Plan()
    times, begin = 1, 0
    leads = denied = False
    due = 0  # so many steps at least: "after turning left" wants one more
    swap_at: int | None = None
    denials: list[tuple[Group, int]] = []
    last = next((group for group in reversed(groups) if group.kind != 'none'), None)
    for group in groups:
        steps = plan.steps
        if group.kind == 'join':
            if group.text in ('THEN', 'BUT'):
                denied = False
            elif group.text == 'BEFORE' and before:
                leads = leads or not steps
            elif group.text == 'AFTER' and before and not steps:
                due = 2
            elif group.text == 'BACKBEFORE' and group is last:
                swap_at = len(steps) - 2 if len(steps) > 1 else None
            elif steps:  # AFTER, BACKBEFORE, PREBEFORE, and BEFORE after its clause
                swap_at = len(steps) - 1
        elif group.kind == 'none':
            denied = denied and not any(map(_begins_anew, group.tokens))
        elif group.kind == 'neg':
            plan.negated = True
            denials.append((group, len(steps)))
            plan.still = plan.still or _forbids_driving(group)
            denied = before
        elif group.kind == 'cond':
            if plan.condition:
                return None
            plan.condition, begin = group.text, len(steps)
        elif group.kind == 'times':
            if steps:
                plan.steps *= group.times
            else:
                times = group.times
        elif denied and not _begins_anew(group.tokens[0]):
            continue  # "do not turn and drive" denies both
        elif steps and _repeats_all(group):
            return None  # or only the last step?
        else:
            plan.steps = [*steps, *group.steps]
            if group.has('PREBEFORE') or leads:
                swap_at = len(plan.steps) - 1
            leads = False
    if plan.still and any(step.verb in MOTIONS for step in plan.steps):
        return None
    if len(plan.steps) < due or _leads_on(groups):
        return None
    worded = [group for group in groups if any(token.text.isalnum() for token in group.tokens)]
    if worded and worded[-1].text == 'THEN' and len(plan.steps) == 1:
        return None  # "drive afterwards": after what? "right then": no order
    plan.excluded = any(_excludes(group, at, plan.steps) for group, at in denials)
    return _arranged(plan, swap_at, begin, times)


def _arranged(plan: Plan, swap_at: int | None, begin: int, times: int) -> Plan | None:
    """``plan`` with the step ``swap_at`` after those that follow it, its condition for the steps
    from ``begin`` on, and all of it so many ``times``.
    """
    if swap_at is not None:
        if swap_at + 1 >= len(plan.steps):
            return None
        plan.steps.append(plan.steps.pop(swap_at))
    if plan.condition:
        if not plan.steps:
            return None
        begin = min(begin, len(plan.steps) - 1)
        plan.steps[begin:] = [replace(s, condition=plan.condition) for s in plan.steps[begin:]]
    if times > 1:
        plan.steps *= times
    return plan
