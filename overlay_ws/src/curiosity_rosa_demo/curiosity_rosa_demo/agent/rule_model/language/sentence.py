# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A sentence to its steps. Pure.

The clauses of a sentence are the cheapest split of its words into groups that frames match, with
the words that join them between. A word that no group takes makes the sentence no order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise, product

from curiosity_rosa_demo.agent.rule_model.language.frames import (
    condition_of,
    frame_of,
    MOTIONS,
    Step,
    steps_of,
)
from curiosity_rosa_demo.agent.rule_model.language.lexicon import lexicon
from curiosity_rosa_demo.agent.rule_model.language.words import split_words, Token, UNKNOWN, Words

MAX_TOKENS = 120
MAX_GROUP = 16
MAX_READINGS = 256  # of a group
MAX_STEPS = 40
HARD = ('THEN', 'BUT', 'BEFORE', 'AFTER', 'BACKBEFORE', 'PREBEFORE')
BRACKETS = ('()', '[]', '【】')
MARKS = ('FILLER', 'POLITE', 'ASK', 'AGAIN', 'SIMUL', 'ORDERED')
_COSTS = {'COMMA': 0.6, 'AND': 0.7, 'END': 0.6}
_DIRECTIONS = ('LEFT', 'RIGHT', 'FORWARD')
_AMOUNTS = ('DUR', 'DIST', 'ANGLE', 'NUM', 'COUNT', 'PCT')


@dataclass(frozen=True)
class Sentence:
    """``steps`` of a sentence that was understood as a whole, else empty. ``understood``: its
    parts that make sense. ``missing``: the words that do not, or ``number``. ``kind``: order,
    negated, unclear (some of it makes sense) or unknown.
    """

    kind: str
    steps: tuple[Step, ...] = ()
    understood: str = ''
    missing: str = ''


@dataclass(frozen=True)
class _Group:
    """A clause or a word that joins. ``kind``: step, cond, neg, times, join, none or part."""

    kind: str
    tokens: tuple[Token, ...] = ()
    steps: tuple[Step, ...] = ()
    text: str = ''  # the condition, or the joining tag
    times: int = 1
    bare: bool = False  # a direction alone: only between commas


@dataclass
class _Plan:
    """The steps so far, in the order of execution."""

    steps: list[Step] = field(default_factory=list)
    condition: str = ''
    negated: bool = False
    still: bool = False  # it is said not to move at all


def read_sentence(text: str, language: str, extra: tuple[tuple[str, str], ...] = ()) -> Sentence:
    """The reading of ``text`` in ``language``. ``extra``: phrases of skills, with their names."""
    first = _read(split_words(text, lexicon(language, extra)), language)
    if language == 'zh' and first.kind in ('unclear', 'unknown'):  # Japanese without kana
        second = _read(split_words(text, lexicon('ja', extra)), 'ja')
        if second.kind in ('order', 'negated'):
            return second
    return first


def _read(words: Words, language: str) -> Sentence:
    tokens = _rewritten(_with_places(words.tokens))
    unknown = _unknown_words(tokens)
    if len(tokens) > MAX_TOKENS:
        return Sentence('unclear', missing='...')
    if unknown or not _may_ask(tokens):
        return _not_understood(tokens, words, unknown)
    plan = _plan_of(tokens, words, language)
    if plan is None:
        return _not_understood(tokens, words, [])
    steps = _without_echo(plan.steps)
    if not steps:
        return Sentence('negated' if plan.negated else 'unknown')
    labels = ', '.join(step.label for step in steps)
    if len(steps) > MAX_STEPS or any(step.problem for step in steps):
        return Sentence('unclear', understood=labels, missing='number')
    if len(steps) == 1 and steps[0].verb == 'back':
        steps = [replace(steps[0], verb='home')]
    return Sentence('order', tuple(steps), labels)


def _unknown_words(tokens: Sequence[Token]) -> list[str]:
    """The unknown words; characters without spaces between are one word."""
    words: list[str] = []
    joins = False
    for token in tokens:
        unknown = token.meanings == (UNKNOWN,)
        if unknown and joins and not token.text.isascii():
            words[-1] += token.text
        elif unknown:
            words.append(token.text)
        joins = unknown and not token.text.isascii()
    return words


def _without_echo(steps: list[Step]) -> list[Step]:
    """An order to explore that is given in two languages is one order."""
    echo = len(steps) > 1 and all(step == Step('explore') for step in steps)
    return steps[:1] if echo else steps


def _may_ask(tokens: Sequence[Token]) -> bool:
    """Only a polite request may have the form of a question, and what comes before an order:
    "what kind of ground is this? Analyse it".
    """
    asks = [i for i, token in enumerate(tokens) if token.meanings[0] == ('ASK',)]
    if not asks or any(token.can_be('POLITE') for token in tokens):
        return True
    rest = tokens[asks[-1] + 1 :]
    return any(not _is_mark(token) for token in rest) and all(
        any(set(meaning) <= _ASKED for meaning in token.meanings) for token in tokens[: asks[-1]]
    )


# What a question in front of an order may be about: nothing that is done.
_ASKED = frozenset(
    (
        *('WH', 'GROUND', 'LIGHT', 'BRIGHT', 'DARK', 'PLACE', 'BE', 'AROUND', 'A', 'SHADE'),
        *('IF', 'ASK', 'MAST', 'OPEN', 'CLOSE', 'COMMA', 'END', 'BATTERY', 'ABOVE', 'BELOW'),
        *('NUM', 'PCT'),
        *MARKS,
    )
)


def _rewritten(tokens: list[Token]) -> list[Token]:
    """The tokens with the meanings that only their place in the sentence gives."""
    out = _with_asked_condition(tokens)
    last = len(out) - 1
    while last > 0 and _is_mark(out[last]) and out[last].text != 'first':
        last -= 1
    if last < 0:
        return out
    joined = any(each.can_be('BUT') or each.text == 'so' for each in out[:last])
    if out[last].text == 'first' and joined:  # "but raise the mast first"
        out[last] = replace(out[last], meanings=(('BACKBEFORE',),))
    if out[last].text.endswith('こと'):  # at the end of a sentence it orders
        meanings = tuple(
            tuple(tag for tag in meaning if tag != 'ING') for meaning in out[last].meanings
        )
        out[last] = replace(out[last], meanings=meanings)
    return out


def _with_asked_condition(tokens: list[Token]) -> list[Token]:
    """Read "too dark? Then drive to the light" as "if too dark, drive to the light"."""
    ask = next((i for i, token in enumerate(tokens) if token.meanings[0] == ('ASK',)), None)
    if not ask or any(token.can_be(tag) for token in tokens for tag in ('IF', 'POLITE')):
        return list(tokens)
    if all(_is_mark(token) for token in tokens[ask:]):
        return list(tokens)
    asked = [Token('if', (('IF',),)), *tokens[:ask]]
    group = _group_of(asked, Words(()), frozenset())
    if group is None or group.kind != 'cond':
        return list(tokens)
    return [*asked, Token(',', (('COMMA',),)), *tokens[ask + 1 :]]


def _not_understood(tokens: Sequence[Token], words: Words, unknown: list[str]) -> Sentence:
    known: list[str] = []
    for start in range(len(tokens)):
        group = _group_of(tokens[start : start + 4], words, frozenset())
        if group is not None and group.kind == 'step':
            known += [step.label for step in group.steps if step.label not in known]
    action = any(
        tag in _ACTIONS for token in tokens for meaning in token.meanings for tag in meaning
    )
    return Sentence(
        'unclear' if action else 'unknown', (), ', '.join(known[:5]), ' '.join(unknown[:12])
    )


_ACTIONS = frozenset(
    [
        'GO',
        'TURN',
        'FORWARD',
        'LEFT',
        'RIGHT',
        'UTURN',
        'SPIN',
        'OPEN',
        'CLOSE',
        'MAST',
        'SHOOT',
        'PICTURE',
        'TAKE',
        'EXPLORE',
        'LIGHT',
        'FIND',
        'HOMEWARD',
        'BACK',
        'WAIT',
        'SAYING',
        'LOOK',
        'BASE',
        'BACKWARD',
        'SKILL',
    ]
)


# --- places ------------------------------------------------------------------------------------


def _with_places(tokens: Sequence[Token]) -> list[Token]:
    """Join two numbers that are coordinates: x 3, y 0; (3, 0); 3,0."""
    out: list[Token] = []
    at = 0
    while at < len(tokens):
        place = _place_at(tokens, at)
        if place is None:
            out.append(tokens[at])
            at += 1
        else:
            token, at = place
            after = tokens[at].text if at < len(tokens) else ''
            if out and out[-1].text + after in BRACKETS:
                out.pop()
                at += 1
            out.append(token)
    return out


def _place_at(tokens: Sequence[Token], at: int) -> tuple[Token, int] | None:
    x, at = _coordinate(tokens, at, 'AXISX')
    if x is None:
        return None
    joined = at
    while (
        joined < len(tokens)
        and tokens[joined].meanings[0] != ('NUM',)
        and (
            tokens[joined].can_be('COMMA')
            or tokens[joined].can_be('AND')
            or tokens[joined].can_be('FILLER')
        )
    ):
        joined += 1
    named = joined < len(tokens) and tokens[joined].can_be('AXISY')
    y, end = _coordinate(tokens, joined, 'AXISY')
    comma = any(token.text in (',', '、') for token in tokens[at:joined])
    if y is None or not (named or comma or joined == at):
        return None
    return Token(f'{x:g} {y:g}', (('XY',),), x, y), end


def _coordinate(tokens: Sequence[Token], at: int, axis: str) -> tuple[float | None, int]:
    start = at
    if at < len(tokens) and tokens[at].can_be(axis):
        at += 1
        while at < len(tokens) and tokens[at].can_be('FILLER') and not tokens[at].can_be('NUM'):
            at += 1
    if at >= len(tokens):
        return None, start
    token = tokens[at]
    is_metres = token.meanings[0] == ('DIST',) and start != at
    if token.meanings[0] != ('NUM',) and not is_metres:
        return None, start
    return token.value, at + 1


# --- clauses -----------------------------------------------------------------------------------


def _group_of(tokens: Sequence[Token], words: Words, known: frozenset[str]) -> _Group | None:
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
) -> _Group | None:
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
        return _Group('none', kept)
    if set(tags) <= {'GOTHERE', 'COMMA', 'AND'} and 'KNOWNTARGET' in known:
        return _Group('none', kept)
    if len(tags) > 1:
        tags.pop('PREBEFORE', None)  # a verb in the form that joins
    if set(tags) & set(HARD):
        return _Group('join', kept, text=next(iter(tags))) if len(tags) == 1 else None
    if any(tag in tags for tag in ('UNKNOWN', 'CORRECT', 'SCRATCH', 'ELSE', 'BACKWARD')):
        return None
    if 'NEG' in tags:
        return _Group('neg', kept) if _denies(reading, tags) else None
    times = int(values.get('TIMES', 1))
    if set(tags) <= {'TIMES', 'REPEAT', 'END', 'ING', 'COMMA', 'EACH'}:
        return _Group('times', kept, times=times) if 'TIMES' in tags else None
    condition = condition_of(tags, values, known)
    if condition and not _begins_with_if(tokens, reading):
        return None
    if condition and not {'COMMA', 'START', 'TIMES', 'REPEAT'} & set(tags):
        return _Group('cond', kept, text=condition)
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
    return _Group('step', kept, tuple(steps * times), bare=bare)


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


def _cost(tokens: Sequence[Token], group: _Group) -> float:
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


def _clauses(
    tokens: Sequence[Token], words: Words, known: frozenset[str], *, open_end: bool
) -> list[_Group] | None:
    """The cheapest split into groups; None without one. ``open_end``: a correction follows, so the
    last group may be incomplete.
    """
    size = len(tokens)
    costs: list[float | None] = [None] * size + [0.0]
    choice: list[tuple[int, _Group] | None] = [None] * (size + 1)
    for start in range(size - 1, -1, -1):
        for end in range(start + 1, min(size, start + MAX_GROUP) + 1):
            rest = costs[end]
            if rest is None:
                continue
            part = tokens[start:end]
            group = _group_of(part, words, known)
            if group is None and open_end and end == size:
                group = _Group('part', tuple(part))
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
    before = start == 0 or _separates(tokens[start - 1]) or _separates(tokens[start])
    return before and (
        end == len(tokens) or _separates(tokens[end]) or _separates(tokens[end - 1])
    )


def _separates(token: Token) -> bool:
    return any(token.can_be(tag) for tag in ('COMMA', 'AND', 'END', 'IF', 'UNLESS', *HARD))


# --- the order of the steps --------------------------------------------------------------------


def _plan_of(tokens: Sequence[Token], words: Words, language: str) -> _Plan | None:
    """The steps of a whole sentence with its corrections; None if a part has no meaning."""
    segments = _segments(tokens)
    known = frozenset(_known(tokens))
    groups: list[_Group] = []
    for index, (marker, part) in enumerate(segments):
        if marker == 'SCRATCH':
            groups = []
        rest = list(part)
        if marker == 'CORRECT' and groups:
            fixed = _fixed(groups, rest, words, known)
            if fixed is not None:
                groups, rest = fixed
                marker = ''
        more = _clauses(rest, words, known, open_end=index + 1 < len(segments))
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
            if any(not _is_mark(each) for each in segments[-1][1]) or len(segments) == 1:
                segments.append((marker, []))
            else:
                segments[-1] = (segments[-1][0] or marker, [])
        else:
            segments[-1][1].append(token)
    return segments


def _is_mark(token: Token) -> bool:
    return any(token.can_be(tag) for tag in (*MARKS, 'COMMA', 'THEN'))


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
    groups: list[_Group], rest: list[Token], words: Words, known: frozenset[str]
) -> tuple[list[_Group], list[Token]] | None:
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
    group = _group_of([*kept, *chunk], words, known)
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


def _denial_is_apart(groups: Sequence[_Group]) -> bool:
    """Whether what is denied is clearly apart from the steps beside it: "forward not left" is
    not, "forward, not left" and "forward without a picture" are.
    """
    for left, right in pairwise(groups):
        if {left.kind, right.kind} != {'neg', 'step'} or (right.kind == 'neg' and _sans(right)):
            continue
        if not (_separates(left.tokens[-1]) or _separates(right.tokens[0])):
            return False
    return True


def _sans(group: _Group) -> bool:
    return any('SANS' in meaning for token in group.tokens for meaning in token.meanings)


def _forbids_driving(group: _Group) -> bool:
    tags = {tag for token in group.tokens for tag in token.meanings[0]}
    return 'GO' in tags and not tags - {'NEG', 'SANS', 'GO', 'ING', 'END', *MARKS}


def _repeats_all(group: _Group) -> bool:
    """Whether "repeat n times" after this motion may mean the steps before it, too."""
    drives = any(step.verb in MOTIONS for step in group.steps)
    return drives and any('TIMES' in t.meanings[0] and '繰' in t.text for t in group.tokens)


def _ordered(groups: list[_Group], language: str) -> _Plan | None:
    if not _denial_is_apart(groups):
        return None
    plan = _Plan()
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
