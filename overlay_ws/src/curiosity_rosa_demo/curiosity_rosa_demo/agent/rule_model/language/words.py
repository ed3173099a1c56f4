# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Split a text into tokens: phrases of the lexicon, numbers, quantities, and the unknown. Pure.

Of all splits the one with the fewest unknown characters counts, then the one with fewest tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest
import re
import unicodedata

from curiosity_rosa_demo.agent.rule_model.language.lexicon import folded_text, Lexicon, Meaning

UNKNOWN: Meaning = ('UNKNOWN',)
FIRST_SAYING = 0xE000  # private characters stand for the words to speak
_NUMBER = re.compile(r'(?<![\d.])(?:(?<![a-z\d])-)?\d{1,9}(?:\.\d{1,6})?(?![\d])')
_DIGITS = {**{digit: i for i, digit in enumerate('〇一二三四五六七八九')}, '两': 2, '零': 0}
_POWERS = {'十': 10, '百': 100, '千': 1000}
_CJK_NUMBER = re.compile(
    '(?:[〇零一二两三四五六七八九十百千]+万)?[〇零一二两三四五六七八九十百千]+(?:点[〇零一二三四五六七八九]+)?'
    '|[〇零一二两三四五六七八九十百千]+万'
)
_MIXED = re.compile(r'(\d+(?:\.\d+)?)(百万|万|千|百)')
_WORD = re.compile(r"[a-z0-9_']+")
_SAYINGS = (
    re.compile(
        r'[「“"]([^「」“”"]{1,200})[」”"]と(?:言って|いって|話して|しゃべって|発言して|喋って)(?!い)'
    ),
    re.compile(
        r'(?:^|(?<=[、。,.]))([^、。,.「」“”"]{1,200}?)と(?:言って|話して|しゃべって)(?:みて)?(?!い)'
    ),
    re.compile(
        r'(?<![听过他她我])(?:说出|说|讲)(?:一句|一声|句|：|:)?\s*[“"「]([^“”"「」]{1,200})[”"」]'
    ),
    re.compile(r'(?:^|(?<=[，。,.、请再后]))说(?:一句|一声|句|出)([^，。,.“”"「」]{1,200})$'),
    re.compile(
        r'[「『“"]([^「」『』“”"]{1,200})[」』”"](?:って|と)(?:声に出して|声に出し|大きな声で|'
        r'一言)?(?:言って|いって|話して|しゃべって|喋って|発言して|読み上げて|唱えて|つぶやいて|'
        r'叫んで|伝えて|挨拶して|アナウンスして)?(?!い)(?:みて)?'
    ),
    re.compile(
        r'(?<![听过他她我])(?:说出|说|讲|念出|念|朗读|读出|喊出|喊|大声说|播报)(?:一句|一声|一下|句|：|:)?'
        r'\s*[“"「‘\']([^“”"「」‘’]{1,200})[”"」’\'](?:这?[两三四一二]个字|这句话|这个词)?'
    ),
    re.compile(
        r'\b(?:say|announce|speak|utter|pronounce|proclaim|call out|read out|read aloud)'
        r'(?: out loud| aloud| the (?:words?|phrase|sentence|text)| this| these words)?[:,]?\s+'
        r'["“\']([^"“”]{1,200}?)["”\'](?= *(?:$|[.,;!?]| and\b| then\b))'
        r'(?: out loud| aloud)?',
        re.IGNORECASE,
    ),
    re.compile(
        r'(?:^|(?<=[,.;] )|(?<=and )|(?<=then )|(?<=please ))say:?\s+'
        r'(?!(?:that|if|whether|what|why|no|yes)\b)([^"“”,.;?]{1,200}?)'
        r'(?=[.!]*$|,? (?:and )?then\b|[,;.] )',
        re.IGNORECASE,
    ),
)


@dataclass(frozen=True)
class Token:
    """``text`` as folded, ``meanings`` in the order of the lexicon, ``value`` of a quantity."""

    text: str
    meanings: tuple[Meaning, ...]
    value: float = 0.0
    y: float = 0.0  # of a place, whose ``value`` is its x

    def can_be(self, tag: str) -> bool:
        return any(tag in meaning for meaning in self.meanings)

    def tag_with(self, prefix: str) -> str:
        """The tag that begins with ``prefix``; '' for none."""
        for meaning in self.meanings:
            for tag in meaning:
                if tag.startswith(prefix):
                    return tag
        return ''


@dataclass(frozen=True)
class Words:
    """The tokens of a sentence. ``sayings``: the words to speak, as given, by their index."""

    tokens: tuple[Token, ...]
    sayings: tuple[str, ...] = ()


def split_words(text: str, lexicon: Lexicon) -> Words:
    text = text.replace('½', ' 1/2').replace('|', ',')
    text = unicodedata.normalize('NFKC', text).strip()
    sayings: list[str] = []
    for pattern in _SAYINGS:
        text = pattern.sub(lambda match: _hide_saying(match, sayings), text)
    folded = re.sub(r'(?<=\d),(?=\d{3}(?!\d))', '', folded_text(text))
    folded = re.sub(r'(?<=[\u3040-\u9fff]) +(?=[\u3040-\u9fff])', '', folded)
    return Words(tuple(_with_quantities(_segment(folded, lexicon))), tuple(sayings))


def _hide_saying(match: re.Match[str], sayings: list[str]) -> str:
    sayings.append(match[1].strip())
    return f' {chr(FIRST_SAYING + len(sayings) - 1)} '


def _segment(text: str, lexicon: Lexicon) -> list[Token]:
    """The cheapest split of ``text``. Takes time linear in its length."""
    size = len(text)
    best: list[tuple[int, int]] = [(0, 0)] * (size + 1)
    choice: list[tuple[int, Token | None]] = [(size, None)] * (size + 1)
    for start in range(size - 1, -1, -1):
        if text[start] == ' ':
            best[start], choice[start] = best[start + 1], (start + 1, None)
            continue
        candidates = [*_known_tokens(text, start, lexicon), _unknown_token(text, start, lexicon)]
        costs = []
        for end, token in candidates:
            unknown, count = best[end]
            bad = end - start if token.meanings == (UNKNOWN,) else 0
            costs.append(((unknown + bad, count + 1), -end))
        index = min(range(len(costs)), key=lambda i: costs[i])
        best[start], choice[start] = costs[index][0], candidates[index]
    tokens, at = [], 0
    while at < size:
        at, chosen = choice[at]
        if chosen is not None:
            tokens.append(chosen)
    return tokens


def _known_tokens(text: str, start: int, lexicon: Lexicon) -> list[tuple[int, Token]]:
    found: list[tuple[int, Token]] = []
    if FIRST_SAYING <= ord(text[start]) < FIRST_SAYING + 100:
        saying = Token('', (('SAYING',),), float(ord(text[start]) - FIRST_SAYING))
        return [(start + 1, saying)]
    mixed = _MIXED.match(text, start)
    if mixed is not None and not (start and text[start - 1].isdigit()):
        factor = {'百万': 1e6, '万': 1e4, '千': 1e3, '百': 1e2}[mixed[2]]
        found.append((mixed.end(), Token(mixed[0], (('NUM',),), float(mixed[1]) * factor)))
    number = _NUMBER.match(text, start)
    if number is not None:
        found.append((number.end(), Token(number[0], (('NUM',),), float(number[0]))))
    cjk = _CJK_NUMBER.match(text, start)
    if cjk is not None and not (start and _CJK_NUMBER.match(text[start - 1])):
        found.append((cjk.end(), Token(cjk[0], (('NUM',),), _cjk_number(cjk[0]))))
    for phrase in lexicon.by_first.get(text[start], ()):
        end = start + len(phrase)
        if text.startswith(phrase, start) and not _cuts_a_word(text, start, end):
            found.append((end, Token(phrase, lexicon.meanings[phrase])))
    return found


def _cuts_a_word(text: str, start: int, end: int) -> bool:
    def latin(index: int) -> bool:
        return text[index].isascii() and (text[index].isalpha() or text[index] in "'_")

    cut_before = start > 0 and latin(start) and latin(start - 1)
    return cut_before or (end < len(text) and latin(end - 1) and latin(end))


def _unknown_token(text: str, start: int, lexicon: Lexicon) -> tuple[int, Token]:
    word = _WORD.match(text, start)
    if word is None:
        return start + 1, Token(text[start], (UNKNOWN,))
    return word.end(), Token(word[0], _meanings_of_misspelt(word[0], lexicon))


# Words that look like a misspelt word of the lexicon and are none.
_own_words = (
    'attract battery brighten buttery camper center change changed changes charger contract '
    'counter decrees departed deplore detract distract explode exploit exploits explored '
    'explorer export foreword frighten gravel gravels implode implore infect insect '
    'inspector inspired leftover leftovers lighten lighter lighting lightning meteor '
    'meteors minutely photon photons pictured pitcher pitchers protract recast reheat '
    'repair repeal repeats repent rephrase replace report reports retreat retuned returned '
    'reward rotary rotor searcher secondary seconded service statue statues stature statute '
    'straits stranger surfaces tighten travels unravel wayward '
)
_WORDS_OF_THEIR_OWN = frozenset(_own_words.split())
_LEAST_LETTERS = 6


def _meanings_of_misspelt(word: str, lexicon: Lexicon) -> tuple[Meaning, ...]:
    """The meanings of the long word that ``word`` misspells by one letter, else UNKNOWN. Its
    first and last letters are right: "explored" is no misspelt "explore".
    """
    swapped = _meanings_of_swapped(word, lexicon)
    if swapped != (UNKNOWN,) or word in _WORDS_OF_THEIR_OWN or not word.isalpha():
        return swapped
    if not _LEAST_LETTERS - 1 <= len(word) <= 14:
        return swapped
    letters = 'abcdefghijklmnopqrstuvwxyz'
    for i in range(1, len(word)):
        head, tail = word[:i], word[i:]
        changed = [head + each + tail for each in letters]
        if i < len(word) - 1:
            changed += [head + each + tail[1:] for each in ('', *letters)]
        for each in changed:
            if len(each) >= _LEAST_LETTERS and each in lexicon.meanings:
                return lexicon.meanings[each]
    return (UNKNOWN,)


def _meanings_of_swapped(word: str, lexicon: Lexicon) -> tuple[Meaning, ...]:
    """The meanings of the word in which two letters were swapped, else UNKNOWN."""
    if 4 <= len(word) <= 12 and word not in lexicon.meanings:
        for i in range(len(word) - 1):
            swapped = word[:i] + word[i + 1] + word[i] + word[i + 2 :]
            if swapped in lexicon.meanings:
                return lexicon.meanings[swapped]
    return (UNKNOWN,)


def _cjk_number(text: str) -> float:
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


# --- numbers and units -------------------------------------------------------------------------


def _with_quantities(tokens: list[Token]) -> list[Token]:
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
