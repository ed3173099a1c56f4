# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The vocabulary of the rule model, as patterns for lower-case NFKC text. Data only."""

from __future__ import annotations

import re


def _alternatives(*patterns: str) -> re.Pattern[str]:
    return re.compile('|'.join(patterns))


_ADDRESS = r'^((ok|okay|hey|please|rover|curiosity|rosa|so|and)[ ,]+)*'

NOT_STOP = _alternatives(
    r"\b(don't|dont|do not|never|not)( \w+){0,2}? (stop|halt)\b",
    r'(止ま|止め|とま|やめ|中止し|停止し)(ら)?な',
    r'(别|不要|不许|不能|不)(停|中止)',
)
STOP = _alternatives(
    r'\b(stop|halt|freeze|abort|emergency|whoa|stay put|(stay|stand|hold) still)\b',
    r"^(please )?(don't|dont|do not|never) (move|drive|go|roll)( at all| now| anymore)?$",
    r'停止|止ま[れっり]|とま[れっ]|止めて|止めろ|ストップ|中止|やめ[てろ]|動かないで|動くな',
    r'停下|停车|停住|急停|^停$|(别|不要|不许|勿)(再)?(动|移动|走)$',
)
POLITE = _alternatives(
    _ADDRESS + r'(can|could|would|will) you\b',
    r'(くれ|もらえ|いただけ|頂け|くださ)(ます|ません|ない)?か$|どうか',
)
QUESTION = _alternatives(
    _ADDRESS + r'(what|why|how|when|where|who|which|did|does|do|is|are|was|were|have|has|had)\b'
    r"(?! not|n't)",
    _ADDRESS + r'(should|may|might|am|can|could|would|will|shall)\b',
    r'か$|何|なに|なぜ|どうして|どこ|いつ|どの',
    r'吗|嗎|么$|什么|为什么|怎么|哪|几|是否|呢$|多少|如何',
    r'\?$',
)
HELP = _alternatives(
    r'\bhelp\b(?! (me|us|to)\b)|\bcommands?\b|what (can|do) you\b',
    r'\b(how|what) (do|can|should|could) i\b',
    r'使い方|ヘルプ|何ができ|なにができ|できること|何をでき',
    r'帮助|幫助|怎么用|如何使用|能做什么|会什么|可以做什么|会做什么',
)
GREETING = re.compile(
    r'(hi|hello|hey|good (morning|afternoon|evening)|thanks?( you)?( very much)?'
    r'|こんにち[はわ]|おはよう(ございます)?|こんばんは|やあ|どうも|ありがとう(ございます)?'
    r'|你好|您好|嗨|谢谢|早上好)[ ,、，]*(there|rover|curiosity|rosa|ローバー|火星车)?'
)
STATUS = _alternatives(
    r'\b(status|state of|condition|telemetry|get_status|how are you|where are you)\b',
    r'\b(rover|its|your) (state|position|location|pose)\b|\bwhere is the rover\b',
    r'\bis the mast\b|\bare you (moving|ok|okay|ready)\b',
    r'状態|状況|ステータス|どこにい|現在地|現在位置|調子',
    r'状态|狀態|状况|情况|在哪|当前位置|现在位置',
)
ROVER = _alternatives(
    r'\b(mast|rover|moving|position|location|heading|stopped|driving)\b',
    r'マスト|ローバー|動いて|走って|位置|桅杆|火星车|漫游车|移动',
)
