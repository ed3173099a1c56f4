# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Split a text into tokens: phrases of the lexicon, numbers, and the unknown. Pure.

Of all splits the one with the fewest unknown characters counts, then the one with fewest tokens.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
import re
import threading
from typing import Any
import unicodedata

from curiosity_rosa_demo.agent.language.fold import edits, fold, swaps
from curiosity_rosa_demo.agent.language.quantities import (
    cjk_number,
    Meaning,
    Token,
    UNKNOWN,
    with_places,
    with_quantities,
)
from curiosity_rosa_demo.agent.language.tables import DEFAULT, lines_of, table
from curiosity_rosa_demo.infra.config.agent import LANGUAGES

SAYING = '\ue000'  # a private character that stands for words to speak
REPLACEMENT = '\ufffd'  # for one that was typed
_LEAST_LETTERS = 6  # of an English word in which one letter may be wrong
_NUMBER = re.compile(r'(?<![\d.])(?:(?<![a-z\d])-)?\d{1,9}(?:\.\d{1,6})?(?!\.?\d)')
_CJK_NUMBER = re.compile(
    '(?:[〇零一二两三四五六七八九十百千]+万)?[〇零一二两三四五六七八九十百千]+(?:点[〇零一二三四五六七八九]+)?'
    '|[〇零一二两三四五六七八九十百千]+万'
)
# Each of two digits side by side is a number: 两三米 is two or three metres, 一百八 108 or 180,
# 一千二 1,002 or 1,200.
_CJK_DOUBT = re.compile(
    '(?<![〇零一二两三四五六七八九])[一二两三四五六七八九]{2}(?![〇零一二两三四五六七八九])'
    '|[百千万][一二两三四五六七八九](?![十百千])'
)
_RANGE = re.compile(  # 2~3 m; such a mark before a number alone is no part of it
    r'(?<=[\d〇零一二两三四五六七八九十百千万]) ?[~〜ー] ?(?=[\d〇零一二两三四五六七八九十百千万])'
)
_DECIMAL_COMMA = re.compile(  # 1,5 m; (1,5) is a place
    r'(?<=\d),(?=\d{1,2} ?(?:(?:m|s|km|cm|h)(?![a-z])|deg|min|met|sec|seg|gra|hour|'
    r'[°º%米秒度分]|めとる|せんち|きろ))'
)
_MIXED = re.compile(r'(\d+(?:\.\d+)?)(百万|万|千|百)')
_FACTORS = {'百万': 1e6, '万': 1e4, '千': 1e3, '百': 1e2}
_WORD = re.compile(r"[a-z0-9_']+")
SkillWords = tuple[tuple[str, str], ...]  # phrases of skills, with the skills' names


Lexicon = dict[str, tuple[Meaning, ...]]  # of each phrase

_making = threading.Lock()


def folded_text(text: str) -> str:
    """``text`` as the lexicon has it: folded, hyphens between words as spaces."""
    return re.sub(r'(?<=[a-z0-9])-(?=[a-z])', ' ', fold(text))


def lexicon(language: str, extra: SkillWords = ()) -> Lexicon:
    """The lexicon of ``language``, which knows the words of the default language, too, unless its
    table says ``only``. ``extra``: phrases of skills with the skill's name. Thread-safe: of many
    that ask for it first, one makes it.
    """
    with _making:
        return _lexicon(language, extra)


@lru_cache(maxsize=16)
def _lexicon(language: str, extra: SkillWords) -> Lexicon:
    meanings: dict[str, list[Meaning]] = defaultdict(list)
    only = table(language, 'words').get('only', language == DEFAULT)
    pairs = [*_pairs(language), *(() if only else _pairs(DEFAULT))]
    for phrase, meaning in (*pairs, *((phrase, (f'SKILL {name}',)) for phrase, name in extra)):
        folded = folded_text(phrase).strip()
        if folded and meaning not in meanings[folded]:
            meanings[folded].append(meaning)
    return {phrase: tuple(each) for phrase, each in meanings.items()}


@cache
def _phrases(block: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for line in lines_of(block) for phrase in line.split('|'))


@cache
def _pairs(language: str) -> tuple[tuple[str, Meaning], ...]:
    """The phrases of ``words.yaml`` with their meanings, then the forms of its verbs."""
    tables = table(language, 'words')
    rows = [
        (phrase, tuple(tags.split('+')))
        for tags, block in tables['words'].items()
        for phrase in _phrases(block)
    ]
    for tags, block in tables.get('verbs', {}).items():
        for verb in _phrases(block):
            rows += [(form, (*tags.split('+'), *more)) for form, more in _forms(verb, tables)]
    return tuple(rows)


# --- The forms of a verb -----------------------------------------------------------------------


def _forms(verb: str, tables: Mapping[str, Any]) -> Iterator[tuple[str, Meaning]]:
    """Each form of ``verb`` with its tags: END ends a clause, NEG denies it, ING orders nothing by
    itself, PREBEFORE joins it to what follows.
    """
    marked = f'{verb}*' if verb in _phrases(tables.get('godan', '')) else verb
    fits = ((re.fullmatch(pattern, marked), stems) for pattern, stems in tables['stems'])
    match, stems = next((match, stems) for match, stems in fits if match is not None)
    for name, tags, endings in tables['forms']:
        templates = stems[name].split('|') if name in stems else []
        for stem in [verb] if name == 'verb' else map(match.expand, templates):
            yield from ((stem + ending, tuple(tags.split())) for ending in endings.split('|'))


# --- The split ---------------------------------------------------------------------------------


def split_words(text: str, words: Lexicon) -> list[Token]:
    text = text.replace('½', ' 1/2').replace('|', ',')
    text = re.sub(r'(?<!\S)[–—](?=\d)', '-', text)  # –3 m is no 3 m
    text = re.sub(r'(?<=\d)、', '、 ', text)  # 2、3 m are two or three
    text = re.sub('[²³¹⁰-⁹₀-₉]', r'^\g<0>', text)
    text = unicodedata.normalize('NFKC', text.replace(SAYING, REPLACEMENT)).strip()
    sayings: list[str] = []
    for each in _sayings():
        text = _without_sayings(each, text, sayings)
    text = _RANGE.sub(' - ', text)
    folded = re.sub(r'(?<=\d),(?=\d{3}(?!\d))', '', folded_text(text))
    folded = _DECIMAL_COMMA.sub('.', folded)
    folded = re.sub(r'(?<=[\u3040-\u9fff]) +(?=[\u3040-\u9fff])', '', folded)
    return with_places(with_quantities(_segment(folded, words, sayings)))


@cache
def _sayings() -> tuple[re.Pattern[str], ...]:
    """What is to be spoken, with the words that ask for it, in all languages."""
    blocks = (table(language, 'words').get('sayings', '') for language in reversed(LANGUAGES))
    lines = (line for block in blocks for line in lines_of(block))
    return tuple(re.compile(line, re.IGNORECASE) for line in lines)


def as_typed(word: str, text: str) -> str:
    """The part of ``text`` whose folded form is ``word``: コーヒー for こひ."""
    for start in range(len(text)):
        ends = range(min(len(text), start + 2 * len(word) + 2), start, -1)
        for end in ends:
            if folded_text(text[start:end]) == word:
                return text[start:end].strip()
    return word


def _without_sayings(pattern: re.Pattern[str], text: str, sayings: list[str]) -> str:
    """``text`` with SAYING for each match, whose words ``sayings`` gets, in the text's order."""
    start = 0
    while (match := pattern.search(text, start)) is not None:
        if SAYING in match[0]:  # around other words to speak
            start = match.end()
            continue
        sayings.insert(text.count(SAYING, 0, match.start()), match[1].strip())
        before = f'{text[: match.start()]} {SAYING} '
        text, start = before + text[match.end() :], len(before)
    return text


def _segment(text: str, words: Lexicon, sayings: Sequence[str]) -> list[Token]:
    """The cheapest split of ``text``. Takes time linear in its length."""
    size, longest = len(text), max(map(len, words))
    best: list[tuple[int, int]] = [(0, 0)] * (size + 1)
    choice: list[tuple[int, Token | None]] = [(size, None)] * (size + 1)
    for start in range(size - 1, -1, -1):
        if text[start] == ' ':
            best[start], choice[start] = best[start + 1], (start + 1, None)
            continue
        if text[start] == SAYING:
            said = sayings[text.count(SAYING, 0, start)]
            candidates = [(start + 1, Token('', ((f'SAYING {said}',),)))]
        else:
            known = _known_tokens(text, start, words, longest)
            candidates = [*known, _unknown_token(text, start, words)]
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


def _known_tokens(text: str, start: int, words: Lexicon, longest: int) -> list[tuple[int, Token]]:
    found: list[tuple[int, Token]] = []
    numbers = []
    mixed = _MIXED.match(text, start)
    if mixed is not None and not (start and text[start - 1].isdigit()):
        numbers.append((mixed, float(mixed[1]) * _FACTORS[mixed[2]]))
    if (number := _NUMBER.match(text, start)) is not None:
        numbers.append((number, float(number[0])))
    cjk = _CJK_NUMBER.match(text, start)
    inside = start > 0 and _CJK_NUMBER.match(text[start - 1])
    if cjk is not None and not inside and not _CJK_DOUBT.search(cjk[0]):
        numbers.append((cjk, cjk_number(cjk[0])))
    for match, value in numbers:
        found.append((match.end(), Token(match[0], (('NUM',),), value)))
    for end in range(start + 1, min(len(text), start + longest) + 1):
        phrase = text[start:end]
        if phrase in words and not _cuts_a_word(text, start, end):
            found.append((end, Token(phrase, words[phrase])))
    return found


def _cuts_a_word(text: str, start: int, end: int) -> bool:
    def latin(index: int) -> bool:
        return text[index].isascii() and (text[index].isalpha() or text[index] in "'_")

    cut_before = start > 0 and latin(start) and latin(start - 1)
    return cut_before or (end < len(text) and latin(end - 1) and latin(end))


def _unknown_token(text: str, start: int, words: Lexicon) -> tuple[int, Token]:
    word = _WORD.match(text, start)
    if word is None:
        return start + 1, Token(text[start], (UNKNOWN,))
    return word.end(), Token(word[0], _meanings_of_misspelt(word[0], words))


def _meanings_of_misspelt(word: str, words: Lexicon) -> tuple[Meaning, ...]:
    """The meanings of the word that ``word`` misspells by one swap, or of the long word that it
    misspells by one letter, else UNKNOWN. The first letter is right, and of a long word the last:
    "ever" is no misspelt "veer", "explored" no "explore". Most words in -ing are a letter off
    another one, and each is itself.
    """
    if not word.isalpha() or word in _phrases(table(DEFAULT, 'words')['own']):
        return (UNKNOWN,)
    if 4 <= len(word) <= 12:
        for each in swaps(word):
            if each in words and each[0] == word[0]:
                return words[each]
    if word.endswith('ing') or not _LEAST_LETTERS - 1 <= len(word) <= 14:
        return (UNKNOWN,)
    for each in edits(word):
        ends = len(each) >= _LEAST_LETTERS and (each[0], each[-1]) == (word[0], word[-1])
        if ends and each in words:
            return words[each]
    return (UNKNOWN,)
