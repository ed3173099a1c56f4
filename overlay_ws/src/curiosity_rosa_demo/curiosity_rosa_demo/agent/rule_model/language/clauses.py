# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Clauses: the cheapest split of a sentence into groups of words that frames match. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product

from curiosity_rosa_demo.agent.rule_model.language.frames import (
    condition_of,
    frame_of,
    Step,
    steps_of,
)
from curiosity_rosa_demo.agent.rule_model.language.places import Token, Words

MAX_GROUP = 16
MAX_READINGS = 256  # of a group
HARD = ('THEN', 'BUT', 'BEFORE', 'AFTER', 'BACKBEFORE', 'PREBEFORE')
MARKS = ('FILLER', 'POLITE', 'ASK', 'AGAIN', 'SIMUL', 'ORDERED')
_COSTS = {'COMMA': 0.6, 'AND': 0.7, 'END': 0.6}


@dataclass(frozen=True)
class Group:
    """A clause or a word that joins. ``kind``: step, cond, neg, times, join, none or part."""

    kind: str
    tokens: tuple[Token, ...] = ()
    steps: tuple[Step, ...] = ()
    text: str = ''  # the condition, or the joining tag
    times: int = 1
    bare: bool = False  # a direction alone: only between commas


def is_mark(token: Token) -> bool:
    return any(token.can_be(tag) for tag in (*MARKS, 'COMMA', 'THEN'))


def group_of(tokens: Sequence[Token], words: Words, known: frozenset[str]) -> Group | None:
    """The group that all ``tokens`` make; None if they make none."""
    bare = None
    for reading in islice(product(*(token.meanings for token in tokens)), MAX_READINGS):
        group = _group_of_reading(tokens, reading, words, known)
        if group is not None and not group.bare:
            return group
        bare = bare or group
    return bare


def _group_of_reading(
    tokens: Sequence[Token],
    reading: Sequence[tuple[str, ...]],
    words: Words,
    known: frozenset[str],
) -> Group | None:
    tags: Counter[str] = Counter()
    values: dict[str, float] = {}
    name = ''
    for token, meaning in zip(tokens, reading, strict=True):
        for tag in meaning:
            if tag in MARKS or tag == 'A':
                continue
            if tag.startswith('SKILL '):
                tag, name = 'SKILL', tag[6:]
            if tag == 'XY':
                values['X'], values['Y'] = token.value, token.y
            tags[tag] += 1
            values[tag] = token.value
    kept = tuple(tokens)
    if not tags or set(tags) <= {'COMMA', 'AND', 'END', 'START'}:
        return Group('none', kept)
    if set(tags) <= {'GOTHERE', 'COMMA', 'AND'} and 'KNOWNTARGET' in known:
        return Group('none', kept)
    if len(tags) > 1:
        tags.pop('PREBEFORE', None)  # a verb in the form that joins
    if set(tags) & set(HARD):
        return Group('join', kept, text=next(iter(tags))) if len(tags) == 1 else None
    if any(tag in tags for tag in ('UNKNOWN', 'CORRECT', 'SCRATCH', 'ELSE', 'BACKWARD')):
        return None
    if 'NEG' in tags:
        return Group('neg', kept) if _denies(reading, tags) else None
    times = int(values.get('TIMES', 1))
    if set(tags) <= {'TIMES', 'REPEAT', 'END', 'ING', 'COMMA', 'EACH'}:
        return Group('times', kept, times=times) if 'TIMES' in tags else None
    condition = condition_of(tags, values, known)
    if condition and not _begins_with_if(tokens, reading):
        return None
    if condition and not {'COMMA', 'START', 'TIMES', 'REPEAT'} & set(tags):
        return Group('cond', kept, text=condition)
    frame = None if _says_again(reading) else frame_of(tags, known)
    if frame is None or ('REPEAT' in tags and 'TIMES' not in tags):
        return None
    if 'ING' in tags and not ({'START', 'TIMES'} & set(tags) or 'ING' in known):
        return None
    steps = steps_of(frame, tags, values, name)
    if frame.verb == 'say':
        steps = [Step('say', text=words.sayings[int(values['SAYING'])])]
    if not steps or not 1 <= times <= 20:
        return None
    bare = frame.verb in ('forward', 'left', 'right', 'home') and not (
        {'GO', 'TURN', 'DUR', 'DIST', 'ANGLE', 'BACK', 'HOMEWARD', 'FIND'} & set(tags)
    )
    bare = bare or frame.needs == ('TURN', 'KNOWNMAST')
    return Group('step', kept, tuple(steps * times), bare=bare)


def _begins_with_if(tokens: Sequence[Token], reading: Sequence[tuple[str, ...]]) -> bool:
    """An English "if" stands at the begin of its condition; "raise the mast if" is none."""
    said = [
        (token, meaning)
        for token, meaning in zip(tokens, reading, strict=True)
        if meaning[0] not in MARKS and not {'COMMA', 'AND'} & set(meaning)
    ]
    return not any(
        token.text.isascii() and {'IF', 'UNLESS'} & set(meaning) for token, meaning in said[1:]
    )


def _says_again(reading: Sequence[tuple[str, ...]]) -> bool:
    """Whether a direction is given again after a comma: "right, right" are two turns."""
    given: set[str] = set()
    before: set[str] = set()
    for meaning in reading:
        if {'COMMA', 'AND'} & set(meaning):
            before |= given
        directions = {'LEFT', 'RIGHT', 'FORWARD', 'DUR', 'DIST', 'ANGLE'} & set(meaning)
        if directions & before & {'LEFT', 'RIGHT', 'FORWARD'}:
            return True
        given |= directions
    return False


def _denies(reading: Sequence[tuple[str, ...]], tags: Counter[str]) -> bool:
    """Whether the denial stands where it denies the whole group: at its begin or at its end."""
    if {'IF', 'UNLESS', 'UNTIL', 'COMMA', 'DARK'} & set(tags):
        return False
    said = [meaning for meaning in reading if meaning[0] not in MARKS]
    if set(tags) <= {'NEG', 'SANS', 'END', 'AND', 'START', 'BE'}:
        return False  # it denies what follows, whatever that is
    return said[0][0] == 'NEG' or 'NEG' in said[-1]


def _cost(tokens: Sequence[Token], group: Group) -> float:
    if group.kind in ('none', 'join'):
        return 0.01 if group.kind == 'join' else 0.0
    if group.kind == 'times':
        return 0.4
    inside = 0.0
    last = len(tokens) - 1
    while last > 0 and any(tokens[last].can_be(tag) for tag in ('COMMA', *MARKS)):
        last -= 1
    for token in tokens[:last]:
        tag = next((tag for tag in _COSTS if tag in token.meanings[0]), None)
        inside += _COSTS[tag] if tag else 0.0
    if (
        tokens[0].can_be('COMMA')
        or tokens[-1].can_be('COMMA')
        or tokens[0].meanings[0] == ('AND',)
    ):
        inside += 0.05  # they stand on their own
    return 1.0 + inside


def clauses(
    tokens: Sequence[Token], words: Words, known: frozenset[str], *, open_end: bool
) -> list[Group] | None:
    """The cheapest split into groups; None without one. ``open_end``: a correction follows, so the
    last group may be incomplete.
    """
    size = len(tokens)
    costs: list[float | None] = [None] * size + [0.0]
    choice: list[tuple[int, Group] | None] = [None] * (size + 1)
    for start in range(size - 1, -1, -1):
        for end in range(start + 1, min(size, start + MAX_GROUP) + 1):
            rest = costs[end]
            if rest is None:
                continue
            part = tokens[start:end]
            group = group_of(part, words, known)
            if group is None and open_end and end == size:
                group = Group('part', tuple(part))
            if group is None or (group.bare and not _stands_alone(tokens, start, end)):
                continue
            cost = _cost(part, group) + rest + (3.0 if group.kind == 'part' else 0.0)
            best = costs[start]
            if best is None or cost <= best + 1e-9:
                costs[start], choice[start] = cost, (end, group)
    if costs[0] is None:
        return None
    groups, at = [], 0
    while at < size:
        picked = choice[at]
        assert picked is not None
        at, group = picked
        groups.append(group)
    return groups


def _stands_alone(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether a comma, a joining word or the end of the text is on both sides."""
    before = start == 0 or separates(tokens[start - 1]) or separates(tokens[start])
    return before and (end == len(tokens) or separates(tokens[end]) or separates(tokens[end - 1]))


def separates(token: Token) -> bool:
    return any(token.can_be(tag) for tag in ('COMMA', 'AND', 'END', 'IF', 'UNLESS', *HARD))
