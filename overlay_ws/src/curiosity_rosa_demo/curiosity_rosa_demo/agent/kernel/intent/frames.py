# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The words around the words: politeness, fillers, negation; and how patterns are made. Pure."""

from __future__ import annotations

import re

from curiosity_rosa_demo.agent.kernel.intent.normalize import CJK, fold


def any_pattern(*patterns: str) -> re.Pattern[str]:
    r"""Any of ``patterns``, folded like the texts they are tried on.

    Folding makes capitals small: say ``(?!\w)`` where an upper-case escape would do.
    """
    return re.compile(fold('|'.join(patterns)))


def english_pattern(*patterns: str) -> re.Pattern[str]:
    """Like ``any_pattern``, but tried at the start of Latin words only, which is many times
    faster.
    """
    return any_pattern(rf'(?:(?<![a-z0-9])(?=[a-z0-9])|(?![a-z0-9{CJK}]))(?:{"|".join(patterns)})')


def whole_utterance(*patterns: str, polite: str) -> re.Pattern[str]:
    """The whole text is one of ``patterns``, but for politeness on both sides."""
    either = '|'.join(patterns)
    return re.compile(fold(rf'(?:{polite})*(?:{either}) ?(?:{polite})*'))


# Politeness, address and fillers: they change nothing. Each ends the word it begins.
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
    # "You don't stop", "why don't you stop", "the wheels don't stop": alarms, not orders.
    r'(?<!why )(?<!you )(?<!it )(?<!we )(?<!they )(?<!i )(?<!he )(?<!she )(?<!this )(?<!that )'
    r"(?<!s )(?<!thing )\b(?:don't|dont|do not|never)"
)

# Where a clause ends, whatever particle softens or sharpens it.
END_JA = r'(?=[よぞねわさく]?(?!\w))'
END_ZH = r'(?=[啊呀吧了哦啦]{0,3}(?!\w))'
