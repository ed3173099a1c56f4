# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tokens, and how numbers join with units and with each other: durations, distances, angles,
places. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
import re

# A meaning is a list of tags. A tag may carry a value: ``UNIT DUR 60``.
Meaning = tuple[str, ...]
UNKNOWN: Meaning = ('UNKNOWN',)
_BRACKETS = ('()', '[]', '【】')
_DIGITS = {**{digit: i for i, digit in enumerate('〇一二三四五六七八九')}, '两': 2, '零': 0}
_POWERS = {'十': 10, '百': 100, '千': 1000}


@dataclass(frozen=True)
class Token:
    """``text`` as folded, ``meanings`` in the order of the lexicon, ``value`` of a quantity."""

    text: str
    meanings: tuple[Meaning, ...]
    value: float = 0.0
    y: float = 0.0  # of a place, whose ``value`` is its x

    def can_be(self, *tags: str) -> bool:
        """Whether a meaning has one of ``tags``."""
        return any(tag in meaning for meaning in self.meanings for tag in tags)

    def tag_with(self, prefix: str) -> str:
        """The tag that begins with ``prefix``; '' for none."""
        tags = (tag for meaning in self.meanings for tag in meaning)
        return next((tag for tag in tags if tag.startswith(prefix)), '')

    @property
    def is_number(self) -> bool:
        return self.meanings[0] == ('NUM',)


def cjk_number(text: str) -> float:
    whole, _, fraction = text.partition('点')
    big, separator, small = whole.partition('万')
    value = (10000 * _below_10000(big) if separator else 0) + _below_10000(
        small if separator else big
    )
    return float(f'{value}.{"".join(str(_DIGITS[each]) for each in fraction) or 0}')


def _below_10000(text: str) -> int:
    if text and all(each in _DIGITS for each in text):
        return int(''.join(str(_DIGITS[each]) for each in text))
    total, digit = 0, 0
    for each in text:
        if each in _POWERS:
            total, digit = total + (digit or 1) * _POWERS[each], 0
        else:
            digit = _DIGITS[each]
    return total + digit


def with_quantities(tokens: list[Token]) -> list[Token]:
    """Join numbers with the numbers and units that follow them."""
    out: list[Token] = []
    tokens = _with_decimals([_with_value(token) for token in tokens])
    tokens = [token for index, token in enumerate(tokens) if not _is_between(tokens, index)]
    for token, after in zip_longest(tokens, tokens[1:]):
        joined = _joined(out[-1], token, after) if out else None
        if joined is None:
            out.append(token)
        else:
            out[-1] = joined
    return _with_delays([_unless_alone(*pair) for pair in zip_longest(out, out[1:])])


def _is_between(tokens: Sequence[Token], index: int) -> bool:
    """Whether a word stands between a number and its unit and adds nothing: two more metres."""
    if not 0 < index < len(tokens) - 1 or not tokens[index].can_be('FILLER', 'EACH'):
        return False
    before, token, after = tokens[index - 1 : index + 2]
    counts = _amount(before) is not None and not token.can_be('NUM', 'A') and token.text.isascii()
    counts = counts and not (before.text == 'a' and token.can_be('EACH'))  # a few metres
    return counts and any(after.tag_with(f'UNIT {kind} ') for kind in ('DUR', 'DIST', 'ANGLE'))


def _with_decimals(tokens: list[Token]) -> list[Token]:
    """Join a number, a word for the decimal point, and one digit: two point five."""
    out: list[Token] = []
    for token in tokens:
        digit = token.is_number and 0 <= token.value < 10
        if digit and len(out) > 1 and out[-1].can_be('POINT') and out[-2].can_be('NUM'):
            whole = out[-2]
            out[-2:] = [replace(whole, value=whole.value + token.value / 10)]
        else:
            out.append(token)
    return out


def _with_delays(tokens: list[Token]) -> list[Token]:
    """Mark a duration that begins a clause and delays it: in 3 seconds, drive; 三秒后前进. Nowhere
    else is such a word understood: "drive in 3 seconds" does not drive for so long.
    """
    out: list[Token] = []
    for index, token in enumerate(tokens):
        following = tokens[index + 1 :]
        begins = not out or out[-1].can_be('COMMA', 'THEN', 'AND')
        leads = following and following[0].meanings[0] == ('DUR',) and token.can_be('LATERIN')
        if leads and [each.text for each in following[1:2]] not in (['of'], ['de']):
            late = begins and len(following) > 1
            token = replace(token, meanings=(('LATER',) if late else UNKNOWN,))
        elif out and out[-1].meanings[0] == ('DUR',) and token.can_be('SINCE'):
            late = len(out) == 1 or out[-2].can_be('COMMA', 'THEN', 'AND', 'LATER')
            if all(map(_adds_nothing, following)):
                token = replace(token, meanings=(UNKNOWN,))
            elif late:
                token = replace(token, meanings=(('LATER',),))
        out.append(token)
    return out


def _adds_nothing(token: Token) -> bool:
    return any(
        {*meaning} <= {'COMMA', 'FILLER', 'POLITE', 'ASK', 'END'} for meaning in token.meanings
    )


def _with_value(token: Token) -> Token:
    """A token of the lexicon with the value of its tag, such as NUM 2 or ANGLE 180."""
    for index, (tag, *more) in enumerate(token.meanings):
        name, _, value = tag.partition(' ')
        if name == 'TENFOLD' and token.text.startswith('a '):
            return replace(token, meanings=(('NUM',),), value=float(value))
        if name in ('NUM', 'ANGLE', 'TIMES', 'COUNT') and value:
            meanings = (*token.meanings[:index], (name, *more), *token.meanings[index + 1 :])
            return replace(token, meanings=meanings, value=float(value))
    return token


def _joined(before: Token, token: Token, after: Token | None) -> Token | None:
    """``before`` and ``token`` as one; None if they are two. ``after``: what follows them."""
    text = f'{before.text} {token.text}'
    if unit := token.tag_with('UNIT '):
        _, kind, factor = unit.split()
        amount = _amount(before)
        if amount is not None:
            return Token(text, ((kind,),), amount * float(factor))
    if before.is_number:
        number = _joined_numbers(before, token)
        if number is not None:
            return Token(text, (('NUM',),), number)
        if token.text == 'and' and before.text.endswith('hundred'):
            return before
    if token.is_number:
        if before.can_be('MULT'):
            return Token(text, (('COUNT',), ('TIMES',)), token.value)
        if before.can_be('MINUS'):
            return Token(text, (('NUM',),), -token.value)
        if before.can_be('PCTOF'):
            return Token(text, (('PCT',),), token.value)
    more = _part_of_unit(before, token, after)
    return None if more is None else Token(text, before.meanings, before.value + more)


def _joined_numbers(before: Token, token: Token) -> float | None:
    """The number that two make: twenty five, three hundred, two and a half."""
    if token.can_be('HALF'):
        return before.value + 0.5
    if tenfold := token.tag_with('TENFOLD '):
        return before.value * float(tenfold.split()[1])
    tens = before.value % 10 == 0 and before.value % 100 >= 20
    spelled = before.text.replace(' ', '').isalpha()
    digit = tens and 0 < token.value < 10 and spelled
    hundreds = before.value >= 100 and before.text.endswith('hundred')
    return before.value + token.value if token.is_number and (digit or hundreds) else None


def _part_of_unit(before: Token, token: Token, after: Token | None) -> float | None:
    """What ``token`` adds to a quantity: 1 minute 30 seconds, 2 m 50 cm, 3 metres and a half."""
    kind = before.meanings[0][0]
    unit = {'DUR': 60.0, 'DIST': 1.0}.get(kind, 0.0)
    if token.meanings[0] == (kind,) and unit:
        counts_on = before.value % unit == 0.0 < before.value and 0 < token.value < unit
        return token.value if counts_on else None
    if not unit or before.value <= 0:
        return None
    if token.can_be('HALF'):
        return 0.5 * (60.0 if kind == 'DUR' and re.search('分|min', before.text) else 1.0)
    digit = kind == 'DIST' and token.text in tuple('一二三四五六七八九')
    if digit and '米' in before.text[-1:] and not (after and after.tag_with('UNIT ')):
        return 0.1 * token.value
    return None


def _amount(token: Token) -> float | None:
    if token.is_number or (token.meanings[0] == ('COUNT',) and token.text.endswith(' of')):
        return token.value  # a couple of metres
    return next((n for tag, n in _FRACTIONS.items() if token.can_be(tag)), None)


_FRACTIONS = {'A': 1.0, 'HALFOF': 0.5, 'QUARTEROF': 0.25}


def _unless_alone(token: Token, after: Token | None) -> Token:
    """A counter without a number means nothing, as in a picture: 张, 枚. Nor does 一 in 动一动."""
    if token.is_number and token.text == '一' and not (after and after.can_be('COMMA')):
        return replace(token, meanings=(('NUM',), ('FILLER',)))
    if not token.can_be('UNIT COUNT 1'):
        return token
    return replace(token, meanings=(*token.meanings, ('FILLER',)))


# --- Places that are given as coordinates in the world frame -----------------------------------


def with_places(tokens: Sequence[Token]) -> list[Token]:
    """Join two numbers that are coordinates: x 3, y 0; (3, 0); 3,0. Four of them in a row are
    unknown: 3,5 2,5 may be one place.
    """
    out: list[Token] = []
    at = 0
    bare = False  # the last place has no brackets
    while at < len(tokens):
        place = _place_at(tokens, at)
        if place is None:
            out.append(tokens[at])
            at += 1
        else:
            token, at = place
            after = tokens[at].text if at < len(tokens) else ''
            if out and out[-1].text + after in _BRACKETS:
                out.pop()
                at += 1
                bare = False
            else:
                last = out[-2:] if out and out[-1].can_be('COMMA') else out[-1:]
                follows = bool(last) and last[0].can_be('XY')
                token = replace(token, meanings=(UNKNOWN,)) if bare and follows else token
                bare = True
            out.append(token)
    return out


def _place_at(tokens: Sequence[Token], at: int) -> tuple[Token, int] | None:
    start = at
    x, at = _coordinate(tokens, start, 'AXISX')
    if x is None:
        return None
    joined = at
    while (
        joined < len(tokens)
        and not tokens[joined].is_number
        and tokens[joined].can_be('COMMA', 'AND', 'FILLER')
    ):
        joined += 1
    named = joined < len(tokens) and tokens[joined].can_be('AXISY')
    y, end = _coordinate(tokens, joined, 'AXISY')
    pair = (',', '、', 'and') if start and tokens[start - 1].can_be('PLACE') else (',', '、')
    comma = any(token.text in pair for token in tokens[at:joined])
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
    is_metres = tokens[at].meanings[0] == ('DIST',) and start != at
    return (tokens[at].value, at + 1) if tokens[at].is_number or is_metres else (None, start)
