# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Numbers, and quantities with their units. Pure."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
import re

from curiosity_rosa_demo.agent.rule_model.language.places import Token

_DIGITS = {**{digit: i for i, digit in enumerate('〇一二三四五六七八九')}, '两': 2, '零': 0}
_POWERS = {'十': 10, '百': 100, '千': 1000}


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
    for token, after in zip_longest(tokens, tokens[1:]):
        before = out[-1] if out else None
        joined = None if before is None else _joined(before, token, after)
        if joined is None:
            out.append(token)
        else:
            out[-1] = joined
    return _with_delays([_unless_alone(token) for token in out])


def _with_decimals(tokens: list[Token]) -> list[Token]:
    """Join a number, a word for the decimal point, and one digit: two point five."""
    out: list[Token] = []
    for token in tokens:
        digit = token.meanings[0] == ('NUM',) and 0 <= token.value < 10
        if digit and len(out) > 1 and out[-1].can_be('POINT') and out[-2].can_be('NUM'):
            whole = out[-2]
            out[-2:] = [replace(whole, value=whole.value + token.value / 10)]
        else:
            out.append(token)
    return out


def _with_delays(tokens: list[Token]) -> list[Token]:
    """Mark a duration that begins a clause and delays it: in 3 seconds, drive; 三秒后前进."""
    out: list[Token] = []
    for index, token in enumerate(tokens):
        following = tokens[index + 1 :]
        begins = not out or any(out[-1].can_be(tag) for tag in ('COMMA', 'THEN', 'AND'))
        long = len(following) > 1 and following[0].meanings[0] == ('DUR',)
        if begins and long and token.can_be('LATERIN') and following[1].text != 'of':
            out.append(replace(token, meanings=(('LATER',),)))
            continue
        late = bool(out) and out[-1].meanings[0] == ('DUR',) and token.can_be('SINCE')
        if late and (len(out) == 1 or _begins_clause(out[:-1])):
            out.append(replace(token, meanings=(('LATER',),)))
            continue
        out.append(token)
    return out


def _begins_clause(before: list[Token]) -> bool:
    return any(before[-1].can_be(tag) for tag in ('COMMA', 'THEN', 'AND', 'LATER'))


def _with_value(token: Token) -> Token:
    """A token of the lexicon with the value of its tag, such as NUM 2 or ANGLE 180."""
    tag = token.meanings[0][0]
    name, _, value = tag.partition(' ')
    if name == 'TENFOLD' and token.text.startswith('a '):
        return replace(token, meanings=(('NUM',),), value=float(value))
    if name in ('NUM', 'ANGLE', 'TIMES', 'COUNT') and value:
        return replace(token, meanings=((name,), *token.meanings[1:]), value=float(value))
    return token


def _joined(before: Token, token: Token, after: Token | None) -> Token | None:
    """``before`` and ``token`` as one; None if they are two. ``after``: what follows them."""
    text = f'{before.text} {token.text}'
    unit = token.tag_with('UNIT ')
    if unit:
        _, kind, factor = unit.split()
        amount = _amount(before)
        if amount is not None:
            return Token(text, ((kind,),), amount * float(factor))
    if before.meanings[0] == ('NUM',):
        if token.can_be('HALF') and not before.text[0].isdigit():
            return Token(text, (('NUM',),), before.value + 0.5)
        tenfold = token.tag_with('TENFOLD ')
        if tenfold:
            return Token(text, (('NUM',),), before.value * float(tenfold.split()[1]))
        tens = before.value % 10 == 0 and before.value % 100 >= 20
        spelled = before.text.replace(' ', '').isalpha()
        if token.meanings[0] == ('NUM',) and tens and 0 < token.value < 10 and spelled:
            return Token(text, (('NUM',),), before.value + token.value)
        if (
            token.meanings[0] == ('NUM',)
            and before.value >= 100
            and before.text.endswith('hundred')
        ):
            return Token(text, (('NUM',),), before.value + token.value)
        if token.text == 'and' and before.text.endswith('hundred'):
            return Token(f'{before.text}', before.meanings, before.value)
        if token.can_be('HALF'):
            return Token(text, (('NUM',),), before.value + 0.5)
    if token.meanings[0] == ('NUM',) and before.can_be('MULT'):
        return Token(text, (('COUNT',), ('TIMES',)), token.value)
    if token.meanings[0] == ('NUM',) and before.can_be('MINUS'):
        return Token(text, (('NUM',),), -token.value)
    if token.meanings[0] == ('NUM',) and before.can_be('PCTOF'):
        return Token(text, (('PCT',),), token.value)
    kind = before.meanings[0][0]
    if token.meanings[0] == (kind,) and _is_smaller_part(before, token):
        return Token(text, before.meanings, before.value + token.value)
    if kind in ('DIST', 'DUR') and before.value > 0:
        per_unit = 60.0 if kind == 'DUR' and re.search('分|min', before.text) else 1.0
        if token.can_be('HALF'):
            return Token(text, before.meanings, before.value + 0.5 * per_unit)
        if (
            kind == 'DIST'
            and token.text in tuple('一二三四五六七八九')
            and '米' in before.text[-1:]
            and not (after and after.tag_with('UNIT '))
        ):
            return Token(text, before.meanings, before.value + 0.1 * token.value)
    return None


def _is_smaller_part(before: Token, token: Token) -> bool:
    """Whether ``token`` counts on: 1 minute 30 seconds, 2 m 50 cm."""
    unit = {'DUR': 60.0, 'DIST': 1.0}.get(before.meanings[0][0], 0.0)
    return unit > 0.0 and before.value % unit == 0.0 < before.value and 0 < token.value < unit


def _amount(token: Token) -> float | None:
    if token.meanings[0] == ('NUM',):
        return token.value
    if token.can_be('A'):
        return 1.0
    if token.can_be('HALFOF'):
        return 0.5
    return 0.25 if token.can_be('QUARTEROF') else None


def _unless_alone(token: Token) -> Token:
    """A counter without a number means nothing, as in a picture: 张, 枚."""
    if token.meanings[0] == ('NUM',) and token.text in ('一', '1'):
        return replace(token, meanings=(('NUM',), ('FILLER',)))
    if not any(tag == 'UNIT COUNT 1' for meaning in token.meanings for tag in meaning):
        return token
    return replace(token, meanings=(*token.meanings, ('FILLER',)))
