# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One spelling for each character and each word of command. Pure.

Every function accepts any string and runs in time linear in its length.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
import re
import unicodedata

from curiosity_rosa_demo.infra.config.agent import LANGUAGE_FOLDERS
import yaml

_SPELLINGS = yaml.safe_load((LANGUAGE_FOLDERS / 'spellings.yaml').read_text(encoding='utf-8'))
# Letters of other scripts that look like Latin ones, and letter emoji.
_LOOKS_LIKE = {
    **dict(zip('аеорсхутѕһοαρτνκ', 'aeopcxytshoaptvk', strict=True)),
    **{chr(0x1F1E6 + i): chr(97 + i) for i in range(26)},
    **{chr(0x1F150 + i): chr(97 + i) for i in range(26)},
    **{chr(0x1F170 + i): chr(97 + i) for i in range(26)},
    **dict.fromkeys('‘’ʼ´`＇', "'"),
    '。': '.',
    '、': ',',
    **dict.fromkeys('ー〜～~¿¡', ''),  # vowel lengthening marks, and those that open a sentence
}
# Traditional Chinese and Japanese forms of the simplified characters in the tables.
_SIMPLE = {form: by for pair in _SPELLINGS['simple'] for form, by in zip(*pair, strict=True)}
_VOICING = '\u3099\u309a'
CJK = '\u3041-\u30ff\u3400-\u9fff'


def fold(text: str) -> str:
    """Convert ``text`` to lower case, half width, hiragana and simplified characters.

    Commas and full stops become Latin ones; a line break becomes a full stop. Accents, lengthening
    marks and invisible characters are removed.
    """
    # One character at a time: normalising a long run of combining marks at once is quadratic.
    return unicodedata.normalize('NFC', ''.join(map(_fold_character, text)))


@lru_cache(maxsize=8192)
def _fold_character(character: str) -> str:
    if character in _LOOKS_LIKE:
        return _LOOKS_LIKE[character]
    if character in '\n\r\u2028\u2029':
        return '.'
    return ''.join(map(_fold_part, unicodedata.normalize('NFKD', character).lower()))


def _fold_part(part: str) -> str:
    if part in _VOICING:
        return part
    if part.isspace():
        return ' '
    if unicodedata.category(part) in ('Cc', 'Cf', 'Cs', 'Mn', 'Me') or '🏻' <= part <= '🏿':
        return ''
    if 'ァ' <= part <= 'ヶ':
        return chr(ord(part) - 0x60)
    return _LOOKS_LIKE.get(part, _SIMPLE.get(part, part))


# Pictographs that the rules read. All others are decoration.
_SIGNS = frozenset('🛑✋⛔🚫⏹🤚🖐👍✅👌👎❌➡')
_PICTOGRAPH = re.compile('[\u2600-\u27bf\U0001f000-\U0001faff]')
_BORDER = re.compile(f'(?<=[a-z0-9])(?=[{CJK}])|(?<=[{CJK}])(?=[a-z0-9])')
_GAP = r'[ ._\-/|,*]{0,3}'
_SPELLED = {
    word: re.compile(rf"(?<![a-z0-9'])({letters})(?![a-z0-9])")
    for word, letters in {
        'stop': f's+{_GAP}t+{_GAP}[o0*]+{_GAP}p+',
        'halt': f'h+{_GAP}[a*]+{_GAP}l+{_GAP}t+',
    }.items()
}
_WORD = re.compile(r"[a-z0-9$@][a-z0-9$@']*")
_LEET_DIGITS = str.maketrans('013457$@', 'oleastsa')

# English words of command, and other words that are one letter off and no misspellings of them.
_COMMANDS = tuple(_SPELLINGS['commands'].split())
_OTHER_WORDS = frozenset(_SPELLINGS['other_words'].split())


def heard(text: str) -> str:
    """``text`` folded, for the patterns of ``hearing.yaml``: misspelt, drawn-out, spelled-out and
    glued words of command are corrected, runs of spaces become one, and Latin letters stand apart
    from Chinese and Japanese ones. A pictograph that means nothing here is a space, unless there
    is nothing else.
    """
    folded = fold(text.strip())
    plain = _PICTOGRAPH.sub(lambda match: match[0] if match[0] in _SIGNS else ' ', folded)
    folded = re.sub(r' {2,}', ' ', _BORDER.sub(' ', plain if plain.strip() else folded))
    for word, spelled in _SPELLED.items():
        folded = spelled.sub(word, folded)
    return _WORD.sub(lambda match: _corrected(match[0]), folded).strip()


def without_gaps(text: str) -> str:
    """Remove the spaces between Chinese or Japanese characters of ``text``."""
    return re.sub(f'(?<=[{CJK}]) (?=[{CJK}])', '', text)


def swaps(word: str) -> Iterator[str]:
    """``word`` with two neighbouring letters swapped."""
    for i in range(len(word) - 1):
        yield word[:i] + word[i + 1] + word[i] + word[i + 2 :]


def edits(word: str) -> Iterator[str]:
    """``word`` with one letter dropped, wrong or added."""
    for i in range(len(word) + 1):
        head, tail = word[:i], word[i:]
        yield from (head + letter + tail for letter in _ALPHABET)
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in _ALPHABET)


_ALPHABET = 'abcdefghijklmnopqrstuvwxyz'
_MISSPELT = {
    wrong: word for word in _COMMANDS for slips in (swaps, edits) for wrong in slips(word)
} | _SPELLINGS['slang']


def _without_repeats(word: str) -> str:
    return re.sub(r'(.)\1+', r'\1', word)


_REPEATED_LETTERS = {_without_repeats(word): word for word in _COMMANDS}


def _corrected(word: str) -> str:
    # A longer word is no misspelling, but a "stop" glued into it still counts.
    return _corrected_short(word) if len(word) <= 40 else ('stop' if 'stop' in word else word)


@lru_cache(maxsize=8192)
def _corrected_short(word: str) -> str:
    word = word.rstrip("'")
    if word in _OTHER_WORDS:
        return word
    plain = word.translate(_LEET_DIGITS) if not word.isalpha() and not word.isdigit() else word
    for form in (plain, re.sub(r'(.)\1{2,}', r'\1', plain)):
        if form in _MISSPELT and form not in _OTHER_WORDS:
            return _MISSPELT[form]
    once = _without_repeats(plain)
    return 'stop' if 'stop' in once else _REPEATED_LETTERS.get(once, word)
