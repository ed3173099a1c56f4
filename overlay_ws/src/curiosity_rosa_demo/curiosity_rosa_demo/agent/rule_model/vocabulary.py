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
_THE = r'(the |your |its )?'

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
NEGATION = _alternatives(
    r"\b(not|never|no|without|avoid|refuse|nobody|nothing|neither|instead|dont)\b|n't\b",
    r'ない(?!か)|ません(?!か)|ずに|禁止|不要|[るむくすうつぶ]な($|よ)',
    r'别|勿|没|沒|不(?!错|錯)|禁',
)
# Conditions, reports and statements about an action: no request to act now.
HEDGE = _alternatives(
    r'\b(if|when|whenever|unless|until|till|after|before|once|later|tomorrow|yesterday)\b',
    r'\b(maybe|perhaps|yet|why|results?|report|told|said|says|means?|explain)\b',
    r'\b(i|we)\b(?! (want|need|would like))',
    r'たら|れば|なら|まで|あとで|後で|もし|明日|昨日|結果|教えて|かも|と言っ|意味|予定',
    r'如果|要是|假如|直到|之后|以后|稍后|明天|昨天|结果|告诉|也许|可能|意思|说过',
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
COMMANDS = {
    'mast_open': _alternatives(
        rf'\b(open|raise|deploy|extend|lift|unfold)( and \w+)? (up )?{_THE}mast\b',
        r'\bmast (up|open)$|^mast_open$|\bput (up )?the mast( up)?$',
        r'マスト(を)?(開(い|け|く$|ける$)|展開|上げ|あげ|立て|伸ば|オープン)',
        r'(打开|展开|升起|竖起)(一下)?(火星车的)?桅杆|桅杆(打开|展开|升起)(?!了)',
    ),
    'mast_close': _alternatives(
        rf'\b(close|lower|stow|retract|fold)( and \w+)? (down )?{_THE}mast\b',
        r'\bmast (down|close)$|^mast_close$|\bput (away |down )?the mast( away| down)$',
        r'マスト(を)?(閉じ|閉め|とじ|収納|下げ|さげ|下ろ|たた|畳|格納|しま|クローズ)',
        r'(关闭|收起|收回|合上|降下|放下|收)(一下)?(火星车的)?桅杆',
        r'桅杆(关闭|收起|收回|降下|放下)(?!了)',
    ),
    'mast_rotate': _alternatives(
        rf'\b(rotate|turn|spin|swivel|pan) {_THE}(mast|camera)\b|\blook around\b',
        r'^rotate$|^mast_rotate$|\bmast rotate$',
        r'マスト(を)?(回|旋回|回転|まわ)|見回し|見まわし|周りを見て|周囲を見て',
        r'(旋转|转动|转)(一下)?桅杆|桅杆(旋转|转动)(?!了)|环顾|看看四周',
    ),
    'capture_and_score': _alternatives(
        r'\b(take|snap|shoot|capture|get|grab)( \w+){0,3} (picture|photo|image|snapshot|shot)\b',
        r'^capture( now)?$|^(take a )?(picture|photo)$|^capture_and_score$|^how bright\b',
        r'撮影(?!した|しました)|写真(を)?(撮(?!った|りました)|とって)|^写真$|撮って',
        r'画像を(撮|取得)|キャプチャ|明るさ',
        r'拍照|拍(一|几|个)?(张|下)?(照|图|片)|拍摄|照相|^拍(一)?张',
    ),
}
DRIVING = _alternatives(
    r'\b(forwards?|ahead|backwards?|reverse|drive|move|go|turn|steer|left|right|rotate)\b',
    r'\b(faster|degrees?|met(er|re)s?)\b',
    r'前進|直進|進[んめむ]|走[っれる]|動[いけ]|移動|左|右|曲が|後退|バック|回[れっ]|旋回',
    r'前进|往前|向前|左转|右转|向左|向右|后退|倒车|移动|开到|掉头|走',
)
# An exploration may drive, so its verb must be in the position of a request: first in English and
# Chinese, at the end in a requesting form in Japanese.
_EN_ASKING = (
    r"^((please|now|then|ok|okay|hey|rover|curiosity|rosa|so|kindly|let's|go( and)?|try to"
    r"|(can|could|would|will) you|help (me|us)( to)?|(i|we)('d like| want| would like) you to"
    r'|start to|(drive|look|move) around and|take (a picture|pictures) and)[ ,:]+)*'
)
_EN_VERB = (
    '(explore|analy[sz]e|investigate|survey|examine|inspect|study|search|look for|find|scout)'
)
_EN_NOUN = (
    '(ground|terrain|textures?|soil|surface|area|surroundings|rocks?|site|light|bright(er)?|lit'
    '|environment|mars)'
)
_JA_NOUN = (
    '(地面|地表|地形|テクスチャ|周囲|周辺|周り|岩|土|場所|エリア|火星|付近|辺り|環境|明るい)'
)
_JA_VERB = (
    '((調査|探索|探査|分析|観察|解析)(を)?(して(みて)?|せよ|しろ|しなさい|お願い|開始)'
    '|調べて(みて)?|調べろ|探して|探せ|見つけて)'
)
_JA_END = (
    '(ください|下さい|くれ|ほしい|欲しい|お?願い|します|ね|よ'
    '|(くれ|もらえ|いただけ)(ます|ません)か|くれないか)*($|[ (。、,!])'
)
_ZH_ASKING = '^(请|請|麻烦|帮我|帮忙|让?火星车|让?漫游车|你|现在|开始|去|来|把|对|,|，| )*'
_ZH_VERB = '(调查|调研|勘察|勘探|探索|探测|分析|考察|检查|观察|寻找|找|研究)'
_ZH_NOUN = '(地面|地表|表面|地形|纹理|周围|附近|岩石|土壤|区域|亮光|光|环境|火星|地方)'
EXPLORE = _alternatives(
    rf'{_EN_ASKING}(explore|investigate|survey)$',
    rf'{_EN_ASKING}{_EN_VERB}\b.*\b{_EN_NOUN}\b',
    f'{_JA_NOUN}.*{_JA_VERB}{_JA_END}',
    f'(^|{_JA_NOUN}を)(調査|探索|探査|分析)$|^{_JA_VERB}{_JA_END}',
    f'{_ZH_ASKING}{_ZH_VERB}(一下|看看|吧)*$',
    f'{_ZH_ASKING}{_ZH_VERB}(?!了|过).*{_ZH_NOUN}(情况|特征|吧)?$',
    f'{_ZH_ASKING}{_ZH_NOUN}.*{_ZH_VERB}(一下|看看|吧)*$',
)
# Mentions of exploring that are no request: not enough to act on.
ABOUT_EXPLORING = _alternatives(
    r'\b(explor|analy[sz]|investigat|survey)',
    '調査|探索|探査|調べ|分析|调查|调研|勘察|勘探|探测',
)
