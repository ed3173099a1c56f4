# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The words of the three languages as a lexicon: what a phrase of a folded text can mean. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
import re

from curiosity_rosa_demo.agent.kernel.intent.normalize import fold
from curiosity_rosa_demo.agent.rule_model.language import chinese, english, japanese
from curiosity_rosa_demo.agent.rule_model.language.inflection import japanese_forms

# A meaning is a list of tags. A tag may carry a value: ``UNIT DUR 60``.
Meaning = tuple[str, ...]
# Traditional characters that the folding keeps.
_SIMPLIFIED = str.maketrans(
    '轉張這邊遠圖調環態報對啟閉線陽陰樣個煩幫兩鐘釐勞駕鏡擺驗陸側實現聲後裏隻塊輛壞歸',
    '转张这边远图调环态报对启闭线阳阴样个烦帮两钟厘劳驾镜摆验陆侧实现声后里只块辆坏归',
)


@dataclass(frozen=True)
class Lexicon:
    """``meanings`` of each phrase, found by the first character in ``by_first``, longest first."""

    meanings: Mapping[str, tuple[Meaning, ...]]
    by_first: Mapping[str, tuple[str, ...]] = field(repr=False)


def folded_text(text: str) -> str:
    """``text`` as the lexicon has it: folded, hyphens between words as spaces."""
    return re.sub(r'(?<=[a-z0-9])-(?=[a-z])', ' ', fold(text).translate(_SIMPLIFIED))


def make_lexicon(words: Iterable[tuple[str, Meaning]]) -> Lexicon:
    meanings: dict[str, list[Meaning]] = defaultdict(list)
    for phrase, meaning in words:
        folded = folded_text(phrase).strip()
        if folded and meaning not in meanings[folded]:
            meanings[folded].append(meaning)
    by_first: dict[str, list[str]] = defaultdict(list)
    for phrase in sorted(meanings, key=len, reverse=True):
        by_first[phrase[0]].append(phrase)
    return Lexicon(
        {phrase: tuple(each) for phrase, each in meanings.items()},
        {first: tuple(phrases) for first, phrases in by_first.items()},
    )


def _pairs(table: Mapping[str, str]) -> Iterator[tuple[str, Meaning]]:
    for tags, phrases in table.items():
        meaning = tuple(tags.strip().split('+'))
        for phrase in phrases.split('|'):
            yield phrase, meaning


def _japanese_pairs() -> Iterator[tuple[str, Meaning]]:
    yield from _pairs(japanese.WORDS)
    for tag, verbs in japanese.VERBS.items():
        for verb in verbs.split('|'):
            for form, more in japanese_forms(verb):
                yield form, (*tag.split('+'), *more)


@lru_cache(maxsize=16)
def lexicon(language: str, extra: tuple[tuple[str, str], ...] = ()) -> Lexicon:
    """The lexicon of ``language``: en, ja or zh. The last two know the English words, too.
    ``extra``: phrases of skills with the skill's name.
    """
    pairs = list(_pairs(english.WORDS))
    if language == 'ja':
        pairs = [*_japanese_pairs(), *pairs]
    if language == 'zh':
        pairs = [*_pairs(chinese.WORDS), *pairs]
    return make_lexicon([*pairs, *((phrase, (f'SKILL {name}',)) for phrase, name in extra)])
