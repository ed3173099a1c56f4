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

import re
import unicodedata

from curiosity_rosa_demo.agent.rule_model.language.lexicon import folded_text, Lexicon, Meaning
from curiosity_rosa_demo.agent.rule_model.language.places import Token, UNKNOWN, Words
from curiosity_rosa_demo.agent.rule_model.language.quantities import cjk_number, with_quantities

# --- Misspelt English words. Pure --------------------------------------------------------------


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


def meanings_of_misspelt(word: str, lexicon: Lexicon) -> tuple[Meaning, ...]:
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


SAYING = '\ue000'  # a private character that stands for words to speak
REPLACEMENT = '\ufffd'  # for one that was typed
_NUMBER = re.compile(r'(?<![\d.])(?:(?<![a-z\d])-)?\d{1,9}(?:\.\d{1,6})?(?![\d])')
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


def split_words(text: str, lexicon: Lexicon) -> Words:
    text = text.replace('½', ' 1/2').replace('|', ',')
    text = unicodedata.normalize('NFKC', text.replace(SAYING, REPLACEMENT)).strip()
    sayings: list[str] = []
    for pattern in _SAYINGS:
        text = _without_sayings(pattern, text, sayings)
    folded = re.sub(r'(?<=\d),(?=\d{3}(?!\d))', '', folded_text(text))
    folded = re.sub(r'(?<=[\u3040-\u9fff]) +(?=[\u3040-\u9fff])', '', folded)
    return Words(tuple(with_quantities(_segment(folded, lexicon))), text, tuple(sayings))


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
    if text[start] == SAYING:
        number_of = float(text.count(SAYING, 0, start))
        return [(start + 1, Token('', (('SAYING',),), number_of))]
    mixed = _MIXED.match(text, start)
    if mixed is not None and not (start and text[start - 1].isdigit()):
        factor = {'百万': 1e6, '万': 1e4, '千': 1e3, '百': 1e2}[mixed[2]]
        found.append((mixed.end(), Token(mixed[0], (('NUM',),), float(mixed[1]) * factor)))
    number = _NUMBER.match(text, start)
    if number is not None:
        found.append((number.end(), Token(number[0], (('NUM',),), float(number[0]))))
    cjk = _CJK_NUMBER.match(text, start)
    if cjk is not None and not (start and _CJK_NUMBER.match(text[start - 1])):
        found.append((cjk.end(), Token(cjk[0], (('NUM',),), cjk_number(cjk[0]))))
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
    return word.end(), Token(word[0], meanings_of_misspelt(word[0], lexicon))
