# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The grammar of motion commands. The rule model drives only if it matches the whole utterance."""

from __future__ import annotations

import re
from typing import NamedTuple

_NUMBER_WORDS = {
    word: float(value)
    for value, words in enumerate(
        (
            'one a 一', 'two 二 两', 'three 三', 'four 四', 'five 五',
            'six 六', 'seven 七', 'eight 八', 'nine 九', 'ten 十',
        ),
        start=1,
    )
    for word in words.split()
}  # fmt: skip
_NUMBER = (
    r'(?:\d{1,4}(?:\.\d{1,3})?|' + '|'.join(sorted(_NUMBER_WORDS, key=len, reverse=True)) + ')'
)

_EN_BEFORE = (
    r"(?:(?:ok|okay|now|please|then|just|rover|curiosity|rosa|hey|kindly|i want you to|let's"
    r'|(?:can|could|would|will) you)[,:]? )*'
)
_EN_AFTER = r'(?: (?:please|now|a bit|a little))*'
_EN_GO = r'(?:go|move|drive|roll|head|steer|turn|veer|bear)'
_EN_FOR = rf',? (?:for (?:about )?)?(?P<s>{_NUMBER}) ?(?:s|secs?|seconds?)'
_JA_BEFORE = r'(?:(?:では|じゃあ|ローバー|キュリオシティ)(?:を|は|、|,| )*)?'
_JA_FOR = rf'(?P<s>{_NUMBER})秒(?:間)?(?:だけ)?(?:、|,| |ほど)?'
_JA_AFTER = (
    r'(?:せよ|しろ|ろ|め|れ|け|え|いて|[しんっい]?[てで])?(?:ください|下さい|くれ|ほしい|欲しい'
    r'|(?:くれ|もらえ|いただけ)(?:ます|ません)か|くれないか|お願いします)?(?:ね|よ)?'
)
_ZH_BEFORE = r'(?:请|麻烦|帮我|让(?:火星车|漫游车|它)|火星车|漫游车|你|现在|,|，| )*'
_ZH_AFTER = r'(?:一下|一点|吧|,|，| )*'
_ZH_FOR = rf'(?P<s>{_NUMBER}) ?秒(?:钟|鐘)?'


class _Direction(NamedTuple):
    """Patterns of one direction per language; Japanese as one word, or as direction and verb."""

    en: str
    ja: str
    ja_whither: str
    ja_verb: str
    zh: str

    def forms(self) -> list[re.Pattern[str]]:
        ja = f'(?:{self.ja}|{self.ja_whither}{self.ja_verb})'
        forms = (
            f'{_EN_BEFORE}{self.en}(?:{_EN_FOR})?{_EN_AFTER}',
            f'{_JA_BEFORE}(?:{_JA_FOR})?{ja}{_JA_AFTER}',
            f'{_JA_BEFORE}{ja}(?:を|に)?{_JA_FOR}',
            f'{_JA_BEFORE}{self.ja_whither}{_JA_FOR}{self.ja_verb}{_JA_AFTER}',
            f'{_ZH_BEFORE}{self.zh}(?:{_ZH_AFTER}{_ZH_FOR})?{_ZH_AFTER}',
            f'{_ZH_BEFORE}{_ZH_FOR}{_ZH_AFTER}{self.zh}{_ZH_AFTER}',
        )
        return [re.compile(form) for form in forms]


def _sideways(en: str, ja: str, zh: str) -> _Direction:
    return _Direction(
        en=rf'(?:{_EN_GO} (?:to the )?{en}|{en}|turn_{en})',
        ja=f'{ja}(?:に|へ)?',
        ja_whither=f'{ja}(?:に|へ|方向に|方向へ)?',
        ja_verb='(?:曲が|まが|旋回|回転|回|折|ターン)',
        zh=f'(?:[向往朝]?{zh}(?:转弯|拐弯|转|轉|拐|开|走)?)',
    )


_DIRECTIONS = {
    'move_forward': _Direction(
        en=rf'(?:{_EN_GO} (?:straight )?(?:forwards?|ahead|straight)|(?:straight )?ahead'
        r'|forwards?|advance|move_forward)',
        ja='(?:前進|直進)',
        ja_whither='(?:まっすぐ|真っ直ぐ|前)(?:に|へ|方に|方へ)?',
        ja_verb='(?:前進|進|走|動|移動|行)',
        zh='(?:前进|直行|直走|[向往朝]前(?:行驶|移动|进|走|开|行)?)',
    ),
    'turn_left': _sideways('left', '左', '左'),
    'turn_right': _sideways('right', '右', '右'),
}
_FORMS = {tool: direction.forms() for tool, direction in _DIRECTIONS.items()}


def parse_motion(request: str) -> tuple[str, float | None] | None:
    """The motion tool and its seconds (None: not given) if ``request`` as a whole is a motion.

    ``request`` is NFKC, lower case, without punctuation at its ends. Returns None for 0 seconds.
    """
    for tool, forms in _FORMS.items():
        for form in forms:
            match = form.fullmatch(request)
            if match:
                text = match.groupdict().get('s')
                seconds = None if text is None else _NUMBER_WORDS.get(text) or float(text)
                return None if seconds == 0.0 else (tool, seconds)
    return None
