# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Normalise utterances: one spelling for each character and each command word. Pure.

Every function accepts any string and runs in time linear in its length.
"""

from __future__ import annotations

from functools import lru_cache
import re
import unicodedata

# Letters of other scripts that look like Latin ones, and letter emoji.
_LOOKS_LIKE = {
    **dict(zip('аеорсхутѕһοαρτνκ', 'aeopcxytshoaptvk', strict=True)),
    **{chr(0x1F1E6 + i): chr(97 + i) for i in range(26)},
    **{chr(0x1F150 + i): chr(97 + i) for i in range(26)},
    **{chr(0x1F170 + i): chr(97 + i) for i in range(26)},
    **dict.fromkeys('‘’ʼ´`＇', "'"),
    '。': '.',
    '、': ',',
    **dict.fromkeys('ー〜～~', ''),  # vowel lengthening marks
}
# Traditional Chinese and Japanese forms of the simplified characters in the rules.
_SIMPLE = dict(
    zip('來別車緊終動許給後續繼暫時頓煞開進險與請麼嗎為還裡過點標誌當處'
        '從沒無頭們說話問題準結確認復鬆關機電夠',
        '来别车紧终动许给后续继暂时顿刹开进险与请么吗为还里过点标志当处'
        '从没无头们说话问题准结确认复松关机电够', strict=True)
)  # fmt: skip
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


def without_decoration(folded: str) -> str:
    """Put a space for each pictograph that means nothing here, unless there is nothing else."""
    plain = _PICTOGRAPH.sub(lambda match: match[0] if match[0] in _SIGNS else ' ', folded)
    return plain if plain.strip() else folded


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

# Command words, and other words that differ by one letter and are no misspellings of them.
_COMMANDS = ('stop', 'halt', 'freeze', 'abort', 'cancel', 'emergency', 'whoa', 'pause')
_other_words = (
    'step shop top stow slop sop atop stomp strop swop stops stopt hat half hall halo hale '
    'malt salt hilt halts holt hart haft hast alt shalt breeze frieze freezer freezes '
    'about aborts cancer cancels emergence who whom woad cause paste parse phase pulse '
    'paused pauses passe'
)
_OTHER_WORDS = frozenset(_other_words.split())
# Other words that count as a misspelt command when they are the whole utterance.
_near_stop = 'step shop top slop sop stops hat half alt halts'
NEAR_STOP = frozenset(_near_stop.split())
_stop_inside = (
    'stopping stopped stopper stopwatch stopover stopgap stoplight nonstop backstop '
    'doorstop shortstop pitstop unstoppable christopher'
)
_STOP_INSIDE = frozenset(_stop_inside.split())
_SLANG = {'woah': 'whoa', 'stahp': 'stop', 'stawp': 'stop', 'staph': 'stop'}
_ALPHABET = 'abcdefghijklmnopqrstuvwxyz'


def _misspellings(word: str) -> set[str]:
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    swapped = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    dropped = {a + b[1:] for a, b in cuts if b}
    wrong = {a + c + b[1:] for a, b in cuts if b for c in _ALPHABET}
    added = {a + c + b for a, b in cuts for c in _ALPHABET}
    return swapped | dropped | wrong | added


_MISSPELLINGS = {wrong: word for word in _COMMANDS for wrong in _misspellings(word)} | _SLANG


def _without_repeats(word: str) -> str:
    return re.sub(r'(.)\1+', r'\1', word)


_REPEATED_LETTERS = {_without_repeats(word): word for word in _COMMANDS}


def canonical(folded: str) -> str:
    """Correct misspelt, drawn-out, spelled-out and glued command words in ``folded`` text.

    Runs of spaces become one space. A space separates Latin from Chinese or Japanese characters.
    """
    text = re.sub(r' {2,}', ' ', _BORDER.sub(' ', folded))
    for word, spelled in _SPELLED.items():
        text = spelled.sub(word, text)
    return _WORD.sub(lambda match: _correct_spelling(match[0]), text).strip()


def without_gaps(text: str) -> str:
    """Remove the spaces between Chinese or Japanese characters of ``text``."""
    return re.sub(f'(?<=[{CJK}]) (?=[{CJK}])', '', text)


def _correct_spelling(word: str) -> str:
    # A longer word is no misspelling, but a "stop" glued into it still counts.
    return (
        _correct_short_spelling(word) if len(word) <= 40 else ('stop' if 'stop' in word else word)
    )


@lru_cache(maxsize=8192)
def _correct_short_spelling(word: str) -> str:
    word = word.rstrip("'")
    if word in _OTHER_WORDS or word in _STOP_INSIDE:
        return word
    plain = word.translate(_LEET_DIGITS) if not word.isalpha() and not word.isdigit() else word
    for form in (plain, re.sub(r'(.)\1{2,}', r'\1', plain)):
        if form in _MISSPELLINGS and form not in _OTHER_WORDS:
            return _MISSPELLINGS[form]
    once = _without_repeats(plain)
    return 'stop' if 'stop' in once else _REPEATED_LETTERS.get(once, word)


# -----------------------------------------------------------------------------------------------
# Frames of commands (politeness, fillers, negation) and the pattern builders. Pure.


def any_pattern(*patterns: str) -> re.Pattern[str]:
    r"""Compile an alternation of ``patterns``, folded like the texts that they search.

    Folding lowers capitals: write ``(?!\w)`` in place of an upper-case escape.
    """
    return re.compile(fold('|'.join(patterns)))


def english_pattern(*patterns: str) -> re.Pattern[str]:
    """Like ``any_pattern``, but no match starts inside a Latin word. This is many times faster."""
    return any_pattern(rf'(?:(?<![a-z0-9])(?=[a-z0-9])|(?![a-z0-9{CJK}]))(?:{"|".join(patterns)})')


def whole_utterance(*patterns: str, polite: str) -> re.Pattern[str]:
    """Compile a match of the whole text: one of ``patterns``, with ``polite`` words around it."""
    either = '|'.join(patterns)
    return re.compile(fold(rf'(?:{polite})*(?:{either}) ?(?:{polite})*'))


# Politeness, address and fillers do not change the intent. English ones match whole words.
FILL_EN = (
    r'(?:please|pls|plz|plase|hey|oi|rover|curiosity|rosa|robot|buddy|now|then|just|so|well|um|uh'
    r'|right|immediately|at once|asap|thanks|thank you|already|again|god|damn|fuck|fucking|shit'
    r'|can you|could you|would you|will you|you can|you may|for now|ok|okay|alright'
    r'|all right|and)(?: |$)'
)
FILL_JA = (
    r'お?願いします|お願い|どうか|どうぞ|今すぐ|いますぐ|すぐに?|はやく|早く|ろば|キュリオシティ'
    r'|ねえ|おい|さあ|じゃあ|では|もう|ください|下さい|くれ|ませんか|です|ます|よ|ね|ぞ| '
)
FILL_ZH = (
    r'请|好(?=[ 请继恢接])|麻烦|快|马上|立刻|立即|现在|赶快|赶紧|你(?!好)|给我|火星车'
    r'|机器人|小车|一下|吧|了|啊|呀|啦|哦| '
)

NOT_EN = (
    # "You don't stop", "why don't you stop", "the wheels don't stop" report a fault: no negation.
    r'(?<!why )(?<!you )(?<!it )(?<!we )(?<!they )(?<!i )(?<!he )(?<!she )(?<!this )(?<!that )'
    r"(?<!s )(?<!thing )\b(?:don't|dont|do not|never)"
)

# The end of a clause, after optional sentence-final particles.
END_JA = r'(?=[よぞねわさく]?(?!\w))'
END_ZH = r'(?=[啊呀吧了哦啦]{0,3}(?!\w))'
