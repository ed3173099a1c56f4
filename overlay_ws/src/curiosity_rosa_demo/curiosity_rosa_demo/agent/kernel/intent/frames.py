# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Frames of commands (politeness, fillers, negation) and the pattern builders. Pure."""

from __future__ import annotations

import re

from curiosity_rosa_demo.agent.kernel.intent.normalize import CJK, fold


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
