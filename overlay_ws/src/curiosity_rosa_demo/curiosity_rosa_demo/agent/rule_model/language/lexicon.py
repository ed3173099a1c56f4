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

# --- The forms of a Japanese verb that order, deny, join or only name an action. Pure ----------


_ROWS = {
    'う': 'わいえお', 'く': 'かきけこ', 'ぐ': 'がぎげご', 'す': 'さしせそ', 'つ': 'たちてと',
    'ぬ': 'なにねの', 'ぶ': 'ばびべぼ', 'む': 'まみめも', 'る': 'らりれろ',
}  # fmt: skip
_TE = {
    'う': 'って', 'つ': 'って', 'る': 'って', 'む': 'んで', 'ぶ': 'んで', 'ぬ': 'んで',
    'く': 'いて', 'ぐ': 'いで', 'す': 'して',
}  # fmt: skip
_GODAN_RU = (
    '走る', '曲がる', '回る', 'まがる', '撮る', 'とる', '取る', '戻る', 'もどる', '帰る',
    'かえる', 'まわる', '探る', 'はしる', '入る', 'はいる', '切る', 'シャッターを切る',
    'ハンドルを切る', '舵を切る', '振る', '向き直る', '留まる', '停まる', '寄る', '立ち寄る',
    '見回る', '渡る', '振り返る', '帰り着く', '測る', '計る', '辿る', '後ろに向き直る',
    '後ろへ向き直る', '後ろを振り返る', 'ひねる', 'データを取る', 'データをとる', '地図を作る',
    '家に帰る', 'おうちに帰る', '調べて回る', '調べてまわる', '見てまわる', 'パシャる',
    '近寄る', '参る', '止まる', 'とどまる', '移る', '走り回る', '見て回る', '知る',
)  # fmt: skip


def japanese_forms(verb: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each form of ``verb``, a dictionary form, with its tags: END ends a clause, NEG denies it,
    ING orders nothing by itself, BEFORE and THEN join it to what follows, IF makes it a condition.
    """
    negative, joining, te, orders = _stems(verb)
    past = te[:-1] + ('だ' if te.endswith('で') else 'た')
    yield verb, ('ING',)
    if verb.endswith('する'):
        yield verb[:-2], ()
    for form in orders:
        yield form, ('END',)
    yield te, ('END',)
    yield joining, ('END',)
    for ending in ('なさい', 'な', 'ましょう', 'ましょうか', 'まして'):
        yield joining + ending, ('END',)
    for ending in ('ください', '下さい', '願います', 'いただけますか', 'いただけませんか'):
        yield f'お{joining}{ending}', ('END',)
    short = te[:-1] + ('と' if te.endswith('て') else 'ど')
    for form in (f'{short}いて', f'{short}け', f'{short}いてください', f'{short}いてね'):
        yield form, ('END',)
    if te.endswith('て'):
        yield f'{te[:-1]}ちゃって', ('END',)
        yield f'{te[:-1]}とくれ', ('END',)
    joins = (
        *(
            'ら',
            '後',
            '後で',
            '後に',
            'あと',
            'あとで',
            'あとに',
            'のち',
            'のちに',
            'うえで',
            '上で',
        ),
        *('ところで', 'らすぐ', 'らすぐに', '後すぐ', '後すぐに', 'らそこで', 'ら次に', '直後に'),
        *('ところで止まって', 'あとは', '後は', 'ら次は', 'らその後'),
    )
    ends = ('から', 'いって', '次に', 'すぐ', 'すぐに', 'その後', 'そのあと', 'から次に', 'からは')
    for form in (*(te + end for end in ends), *(past + join for join in joins)):
        yield form, ('END',)
    for ending in (
        *(
            'ないで',
            'ず',
            'ずに',
            'なくていい',
            'なくて',
            'ないように',
            'なくてもいい',
            'なくてよい',
        ),
        *(
            'なくていいです',
            'なくてもいいです',
            'なくて結構です',
            'なくて大丈夫',
            'ないままで',
            'ないでね',
        ),
        *(
            'なくていいから',
            'なくていいので',
            'なくてもよい',
            'ないでください',
            'ないようにして',
            'ぬまま',
        ),
        *('なくてもよく', 'なくても構いません', 'なくて構わない'),
    ):
        yield negative + ending, ('NEG', 'END')
    yield verb + 'な', ('NEG', 'END')
    for ending in (
        'のはやめて',
        'ことなく',
        'のは禁止',
        'のはなし',
        '必要はない',
        '必要はありません',
    ):
        yield verb + ending, ('NEG', 'END')
    for ending in ('前には', 'よりも先に', 'より先に', '直前に', 'より前に', '前にまず', '前'):
        yield verb + ending, ('ING', 'PREBEFORE')
    yield verb + '前に', ('ING', 'PREBEFORE')
    yield verb + 'まえに', ('ING', 'PREBEFORE')
    yield verb + 'の', ('ING',)
    yield verb + 'こと', ('ING',)


def _stems(verb: str) -> tuple[str, str, str, tuple[str, ...]]:
    """The negative and joining stems, the te-form and the imperatives."""
    stem, last = verb[:-1], verb[-1]
    if verb.endswith('する'):
        stem = verb[:-2]
        orders = (f'{stem}しろ', f'{stem}せよ', f'{stem}しよう')
        return f'{stem}し', f'{stem}し', f'{stem}して', orders
    if verb == '来る' or verb.endswith('てくる'):
        stem, joining = (verb[:-2], '来') if verb == '来る' else (verb[:-2], 'き')
        return f'{stem}こ', stem + joining, f'{stem}{joining}て', (f'{stem}こい',)
    if last == 'る' and verb not in _GODAN_RU:
        return stem, stem, f'{stem}て', (f'{stem}ろ', f'{stem}よ', f'{stem}よう')
    a, i, e, o = tuple(_ROWS[last])
    te = f'{stem}って' if verb in ('行く', 'いく') else stem + _TE[last]
    return stem + a, stem + i, te, (stem + e, f'{stem}{o}う')


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
