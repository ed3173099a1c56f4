# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Misspelt English words. Pure."""

from __future__ import annotations

from curiosity_rosa_demo.agent.rule_model.language.lexicon import Lexicon, Meaning
from curiosity_rosa_demo.agent.rule_model.language.tokens import UNKNOWN

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
