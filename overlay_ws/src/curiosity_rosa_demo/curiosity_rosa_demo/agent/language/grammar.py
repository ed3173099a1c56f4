# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Steps, and the clauses that make them: the cheapest split of a sentence into groups of words
that frames match. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice, product
import math

from curiosity_rosa_demo.agent.language.quantities import Meaning, Token
from curiosity_rosa_demo.agent.language.tables import table

MOST = {'s': 7200.0, 'm': 20000.0, 'deg': 3600.0}  # beyond these a number is absurd
MOST_REPETITIONS = 20
MAX_GROUP = 16  # tokens
MAX_READINGS = 256  # of a group
MOTIONS = ('forward', 'left', 'right', 'goto', 'light', 'explore', 'home', 'back', 'skill')


@dataclass(frozen=True)
class Step:
    """One thing to do. ``amount`` in ``unit`` (s, m, deg; '' without an amount), ``count`` of
    pictures (0: not said), ``x`` and ``y`` in metres of the world frame, ``text`` to speak, or the
    name of a skill. ``condition``: when it is to be done, '' for always. ``in_place``: a turn on
    the spot.
    """

    verb: str
    amount: float = 0.0
    unit: str = ''
    count: int = 0
    x: float = 0.0
    y: float = 0.0
    text: str = ''
    condition: str = ''
    in_place: bool = field(default=False, compare=False)

    @property
    def label(self) -> str:
        """The step in one line, such as ``forward 2m`` or ``if dark: light``."""
        words = self.verb
        if self.unit:
            words += f' {self.amount:g}{self.unit}'
        if self.verb == 'goto':
            words += f' {self.x:g} {self.y:g}'
        if self.count:
            words += f' x{self.count}'
        if self.text:
            words += f' {self.text}'
        return f'if {self.condition}: {words}' if self.condition else words

    @property
    def is_absurd(self) -> bool:
        """Whether its number is."""
        if self.unit and not (0.0 < self.amount <= MOST[self.unit] and math.isfinite(self.amount)):
            return True
        return not 0 <= self.count <= MOST_REPETITIONS


# --- Frames: the same for every language -------------------------------------------------------

_TABLES = table('', 'frames')
TOOLS: dict[str, str] = _TABLES['tools']
_FRAMES: list[tuple[str, list[str], list[str]]] = [
    (row[0], row[1].split(), (row[2] if len(row) > 2 else '').split()) for row in _TABLES['frames']
]
_CONDITIONS = [(name, needs.split(), may.split()) for name, needs, may in _TABLES['conditions']]
_REPEATABLE, _ALWAYS, MARKS, JOINTS = (
    tuple(_TABLES[name].split()) for name in ('repeatable', 'always', 'marks', 'joints')
)


def _fits(
    needs: Sequence[str], may: Sequence[str], tags: Counter[str], known: frozenset[str]
) -> bool:
    """Whether ``tags`` have all that is needed, and nothing else than what may be. ``known``: what
    the sentence has named before: KNOWNMAST...
    """
    allowed: set[str] = set(_ALWAYS)
    for slot in (*needs, *may):
        allowed.update(slot.split('|'))
    if not allowed.issuperset(tags):
        return False
    if not all(any(tag in tags or tag in known for tag in slot.split('|')) for slot in needs):
        return False
    if any(
        count > 1 and tag not in _REPEATABLE and tag not in ('COMMA', 'AND')
        for tag, count in tags.items()
    ):
        return False
    return sum(tags[tag] for tag in ('DUR', 'DIST', 'ANGLE', 'NUM', 'COUNT')) <= 1


def _condition_of(tags: Counter[str], values: Mapping[str, float], known: frozenset[str]) -> str:
    """The condition that ``tags`` state, such as ``battery>50``; '' for none."""
    for name, needs, may in _CONDITIONS:
        if _fits(needs, may, tags, known):
            number = values.get('PCT', values.get('NUM', 0.0))
            return f'{name}{number:g}' if name.startswith('battery') else str(name)
    return ''


def _steps_of(verb: str, tags: Counter[str], values: Mapping[str, float], text: str) -> list[Step]:
    """The steps of a clause. ``text``: to speak, or the skill's name. Empty: it is not clear
    which.
    """
    amount, unit = 0.0, ''
    for kind, each in (('DUR', 's'), ('DIST', 'm'), ('ANGLE', 'deg')):
        if kind in tags:
            amount, unit = values[kind], each
    said = 'COUNT' in tags or 'NUM' in tags
    count = int(values.get('COUNT', values.get('NUM', 0)))
    if verb.endswith(' spin'):
        return [Step(verb.split()[0], 360.0, 'deg')]
    if verb == 'around turn':
        return [Step('left', 180.0, 'deg')] if amount in (0.0, 180.0) else []
    if verb == 'open close':
        return [Step('open'), Step('close')]
    if verb == 'goto':
        return [Step('goto', x=values['X'], y=values['Y'])]
    if verb == 'wait':
        return [Step('wait', values['DUR'] if 'DUR' in tags else values['NUM'], 's')]
    if verb == 'picture':
        return [Step('picture', count=count if count != 1 else 0)] if not said or count > 0 else []
    if verb == 'around':
        count = 0 if count == 360 else count  # degrees of a panorama
        ways = int(values.get('WAYS', 0))  # one picture each way
        return [Step('around', count=ways if ways and count == 1 else count or ways)]
    if verb in ('left', 'right') and 'NUM' in tags:  # "left 90"
        return [Step(verb, values['NUM'], 'deg')] if 10 <= values['NUM'] <= 360 else []
    if verb == 'skill':
        return [Step('skill', amount, unit, count=count, text=text)]
    if verb == 'say':
        return [Step('say', text=text)]
    return [Step(verb, amount, unit)] if verb in ('forward', 'left', 'right') else [Step(verb)]


# --- Groups ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """A clause or a word that joins. ``kind``: step, cond, neg, times, join, none or part."""

    kind: str
    tokens: tuple[Token, ...] = ()
    steps: tuple[Step, ...] = ()
    text: str = ''  # the condition, or the joining tag
    times: int = 1
    bare: bool = False  # a direction alone: only between commas

    def has(self, tag: str) -> bool:
        return any(token.can_be(tag) for token in self.tokens)


def is_mark(token: Token) -> bool:
    return token.can_be(*MARKS, 'COMMA', 'THEN')


def separates(token: Token) -> bool:
    return token.can_be('COMMA', 'AND', 'END', 'IF', 'UNLESS', *JOINTS)


def group_of(tokens: Sequence[Token], known: frozenset[str]) -> Group | None:
    """The group that all ``tokens`` make; None if they make none."""
    bare = None
    for reading in islice(product(*(token.meanings for token in tokens)), MAX_READINGS):
        group = _group_of_reading(tokens, reading, known)
        if group is not None and not group.bare:
            return group
        bare = bare or group
    return bare


def _group_of_reading(
    tokens: Sequence[Token], reading: Sequence[Meaning], known: frozenset[str]
) -> Group | None:
    tags: Counter[str] = Counter()
    values: dict[str, float] = {}
    text = ''
    for token, meaning in zip(tokens, reading, strict=True):
        for tag in meaning:
            if tag in MARKS or tag in ('A', 'LEADS'):
                continue
            if tag.startswith(('SKILL ', 'SAYING ')):
                tag, _, text = tag.partition(' ')
            if tag == 'XY':
                values['X'], values['Y'] = token.value, token.y
            tags[tag] += 1
            values[tag] = token.value
    kept = tuple(tokens)
    said = set(tags)
    if said <= {'COMMA', 'AND', 'END', 'START'}:
        return Group('none', kept)
    if said <= {'GOTHERE', 'COMMA', 'AND'} and 'KNOWNTARGET' in known:
        return Group('none', kept)
    if len(tags) > 1:
        tags.pop('PREBEFORE', None)  # a verb in the form that joins
    if not tags.keys().isdisjoint(JOINTS):
        return Group('join', kept, text=next(iter(tags))) if len(tags) == 1 else None
    if not tags.keys().isdisjoint(('UNKNOWN', 'CORRECT', 'SCRATCH', 'ELSE', 'BACKWARD')):
        return None
    if {'NEG', 'IF'} <= tags.keys() and tags['NEG'] == tags['IF'] == 1:  # if it is not dark
        del tags['NEG'], tags['IF']
        tags['UNLESS'] = 1
    if 'NEG' in tags:
        return Group('neg', kept) if _denies(reading, tags) else None
    times = int(values.get('TIMES', 1))
    if set(tags) <= {'TIMES', 'REPEAT', 'END', 'ING', 'COMMA', 'EACH'}:
        return Group('times', kept, times=times) if 'TIMES' in tags else None
    condition = _condition_of(tags, values, known)
    if condition and not _begins_with_if(tokens, reading):
        return None
    if condition and tags.keys().isdisjoint(('COMMA', 'START', 'TIMES', 'REPEAT')):
        return Group('cond', kept, text=condition)
    if _says_again(reading) or ('REPEAT' in tags and 'TIMES' not in tags):
        return None
    if 'ING' in tags and not ({'START', 'TIMES'} & set(tags) or 'ING' in known):
        return None
    frames = (frame for frame in _FRAMES if _fits(frame[1], frame[2], tags, known))
    verb, needs, _ = next(frames, ('', [], []))
    steps = _steps_of(verb, tags, values, text) if verb else []
    if not steps or not 1 <= times <= MOST_REPETITIONS:
        return None
    says_it = any('IT' in meaning for meaning in reading)
    if says_it and 'KNOWNMAST' in known and steps[0].verb in ('left', 'right'):
        return None  # the mast or the rover?
    more = ('GO', 'TURN', 'DUR', 'DIST', 'ANGLE', 'BACK', 'HOMEWARD', 'FIND')
    bare = verb in (*_DRIVES, *_PLACE_VERBS) and tags.keys().isdisjoint(more)
    bare = bare or needs == ['TURN', 'KNOWNMAST']
    bare = bare or [token.text for token in tokens if not is_mark(token)] == ['back']
    return Group('step', kept, tuple(steps * times), bare=bare)


def _begins_with_if(tokens: Sequence[Token], reading: Sequence[Meaning]) -> bool:
    """An English "if" stands at the begin of its condition; "raise the mast if" is none."""
    said = [
        (token, meaning)
        for token, meaning in zip(tokens, reading, strict=True)
        if meaning[0] not in MARKS and not {'COMMA', 'AND'} & set(meaning)
    ]
    return not any(
        token.text.isascii() and {'IF', 'UNLESS'} & set(meaning) for token, meaning in said[1:]
    )


def _says_again(reading: Sequence[Meaning]) -> bool:
    """Whether a direction is given again after a comma or with its verb: "right, right" and
    右转右转 are two turns.
    """
    given: set[str] = set()
    before: set[str] = set()
    directions: set[str] = set()
    for meaning in reading:
        verb = {'GO', 'TURN'} & set(meaning)
        if {'COMMA', 'AND'} & set(meaning):
            before |= given
        elif given & {'GO', 'TURN'} and not verb:
            before |= given - directions  # "straight ahead" is one direction
        given |= verb
        directions = {'LEFT', 'RIGHT', 'FORWARD', 'DUR', 'DIST', 'ANGLE'} & set(meaning)
        if directions & before & {'LEFT', 'RIGHT', 'FORWARD'}:
            return True
        given |= directions
    return False


def _denies(reading: Sequence[Meaning], tags: Counter[str]) -> bool:
    """Whether the denial stands where it denies the whole group: at its begin or at its end."""
    if {'IF', 'UNLESS', 'UNTIL', 'COMMA'} & set(tags) or ('DARK' in tags and 'WAIT' not in tags):
        return False
    if 'BRIGHT' in tags and tags.keys().isdisjoint(('GO', 'FIND', 'PLACE', 'VIEW', 'TOWARD')):
        return False  # if it is dark, or bright
    said = [meaning for meaning in reading if meaning[0] not in MARKS]
    if set(tags) <= {'NEG', 'OR', 'SANS', 'END', 'AND', 'START', 'BE'}:
        return False  # it denies what follows, whatever that is
    return said[0][0] == 'NEG' or 'NEG' in said[-1]


# --- The cheapest split ------------------------------------------------------------------------

_DRIVES = ('forward', 'left', 'right')
_PLACE_VERBS = ('home', 'light', 'goto')
_COSTS = {'COMMA': 0.6, 'AND': 0.7, 'END': 0.6}  # of a word that joins, within a group


def clauses(
    tokens: Sequence[Token], known: frozenset[str], *, open_end: bool
) -> list[Group] | None:
    """The cheapest split into groups; None without one. ``open_end``: a correction follows, so the
    last group may be incomplete.
    """

    @cache
    def made(start: int, end: int) -> Group | None:
        return group_of(tokens[start:end], known)

    def is_two(start: int, end: int) -> bool:
        """Whether both sides of an "and" are steps, and different ones; of a comma, motions."""
        for at in range(start + 1, end - 1):
            if tokens[at].meanings[0] in (('AND',), ('COMMA',)):
                a, b = made(start, at), made(at + 1, end)
                if a and b and a.steps and b.steps and a.steps != b.steps:
                    drive = a.steps[-1].verb in _DRIVES and b.steps[0].verb in _DRIVES
                    if drive or tokens[at].meanings[0] == ('AND',):
                        return True
        return False

    size = len(tokens)
    costs: list[float] = [math.inf] * size + [0.0]
    choice: list[tuple[int, Group] | None] = [None] * (size + 1)
    for start in range(size - 1, -1, -1):
        for end in range(start + 1, min(size, start + MAX_GROUP) + 1):
            if costs[end] == math.inf:
                continue
            part = tokens[start:end]
            group = made(start, end)
            if group is None and open_end and end == size:
                group = Group('part', tuple(part))
            if group is None or (group.bare and not _stands_alone(tokens, start, end)):
                continue
            if group.steps and is_two(start, end):
                continue
            if _turns_on(group, _chosen(choice, end)) or _heads(group, _chosen(choice, end)):
                continue
            cost = _cost(part, group) + costs[end]
            if cost <= costs[start] + 1e-9:
                costs[start], choice[start] = cost, (end, group)
    if costs[0] == math.inf:
        return None
    return list(_chosen(choice, 0))


def _chosen(choice: Sequence[tuple[int, Group] | None], at: int) -> Iterator[Group]:
    """The groups from token ``at`` on."""
    while (picked := choice[at]) is not None:
        at, group = picked
        yield group


def _cost(tokens: Sequence[Token], group: Group) -> float:
    fixed = {'none': 0.0, 'join': 0.01, 'times': 0.4}
    if group.kind in fixed:
        return fixed[group.kind]
    last = len(tokens) - 1
    while last > 0 and tokens[last].can_be('COMMA', *MARKS):
        last -= 1
    cost = 4.0 if group.kind == 'part' else 1.0
    for token in tokens[:last]:
        cost += next((_COSTS[tag] for tag in _COSTS if tag in token.meanings[0]), 0.0)
    ends = tokens[0].can_be('COMMA') or tokens[-1].can_be('COMMA')
    alone = ends or tokens[0].meanings[0] == ('AND',)
    return cost + 0.05 if alone else cost  # they stand on their own


def _turns_on(group: Group, rest: Iterator[Group]) -> bool:
    """Whether the ``rest`` begins with how far or where the mast of ``group`` is to turn, which no
    rover can choose: "rotate the camera", "90 degrees to the right". It would turn the rover.
    """
    if group.steps[-1:] != (Step('rotate'),):
        return False
    apart = separates(group.tokens[-1])
    for after in rest:
        apart = apart or after.kind == 'none' or separates(after.tokens[0])
        if after.kind != 'none':
            turns = any(step.verb in ('left', 'right') for step in after.steps)
            return turns and not (apart and after.has('TURN'))
    return False


def _heads(group: Group, rest: Iterator[Group]) -> bool:
    """Whether the place of ``group`` is only the heading of the drive that begins the ``rest``:
    朝光走两米, 光に向かって10秒前進, "swing back left 30 degrees". It would go all the way.
    """
    verb = group.steps[-1].verb if group.steps else ''
    if verb not in (*_PLACE_VERBS, 'back'):
        return False
    if separates(group.tokens[-1]) and group.tokens[-1].text != '向かって':
        return False
    after = next(rest, None)
    if after is None or not after.steps:
        return False
    turns = after.steps[0].verb in ('left', 'right') and not after.has('TURN')
    return after.steps[0].verb == 'forward' or (verb == 'back' and turns)


def _stands_alone(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether a comma, a joining word or the end of the text is on both sides."""
    before = start == 0 or separates(tokens[start - 1]) or separates(tokens[start])
    return before and (end == len(tokens) or separates(tokens[end]) or separates(tokens[end - 1]))
