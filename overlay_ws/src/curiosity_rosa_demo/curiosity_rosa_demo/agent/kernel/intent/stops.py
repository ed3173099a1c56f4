# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Patterns of a stop in English, Japanese and Chinese, and masks of false positives. Data.

A mask matches a command word that is not used as a command ("don't stop", "the bus stop"). Masks
are removed from the text first; a stop pattern in the remaining text is a stop. Repetitions are
bounded, which keeps the search linear.
"""

from __future__ import annotations

import re

from curiosity_rosa_demo.agent.kernel.intent.normalize import (
    any_pattern,
    END_JA,
    END_ZH,
    english_pattern,
    FILL_EN,
    NEAR_STOP,
    NOT_EN,
    whole_utterance,
)

_STOP_EN = r'(?:stop|stopping|halt|halting|freeze|abort|aborting|cancel|cease)'
_SAY_EN = r'(?:say|says|said|tell you to|type|shout|yell|scream|call|write|give the order to)'
_GOAL_EN = (
    r'\b(?:drive|go|move|turn|roll|head|explore|follow|continue|walk|run|travel|proceed|climb'
    r'|return|advance|rotate|spin|circle|back up|reverse|approach|creep|take)\b'
)
_SEQUEL_EN = r'(?! (?:now|right|immediately|at once|it|that|this|moving|already|you)\b)(?! ?!)'
_NUMBER_EN = r'(?:[0-9.]{1,6}|an?|one|two|three|four|five|six|seven|eight|nine|ten)'

STOP_EN_FIRST = any_pattern(  # a stop regardless of the surrounding text
    r'\b(?:press|push|hit|pull|smash|use|trigger|activate|send|engage|run)(?: the| that| an?)?'
    r'(?: big| red)?(?: emergency| e[- ]?)? ?stop',
)
MASK_EN = english_pattern(
    rf'{NOT_EN}(?: you dare| you| ever| even| just| please| yet| let it'
    rf'| let the rover)? {_STOP_EN}\b',
    rf"\b(?:must not|mustn't|should not|shouldn't|shall not) (?:ever )?{_STOP_EN}\b",
    r"\b(?:no need|no reason|don't need|don't have|dont need|dont have|do not need|do not have"
    rf"|not necessary|needn't have) (?:for you )?to {_STOP_EN}\b",
    rf"\b(?:don't|do not|dont) want (?:you |it |the rover )?to {_STOP_EN}\b",
    rf'(?<!why )\bnot to {_STOP_EN}\b',
    r'\b(?:without|instead of|avoid|before|from) (?:even |ever )?(?:stopping|halting|aborting)\b',
    r'\bwithout (?:an? |any |making an? |making any )(?:stop|halt)s?\b',
    r'\bnon[- ]?stop\b|\bno stopping\b',
    r'\b(?:bus|tram|train|truck|pit|door) stop\b',
    r'\bstop signs?\b|\b(?:an?|the|that|this|your|its|any|each|every|of|red)'
    r' stop (?:lights?|watch|lines?|command|word|key|signal|gap)\b',
    r'\bstopping (?:distance|point|place|position|time|power|criterion|condition)s?\b',
    rf'\b(?:if|when|whenever|once|unless|until|till|til|after) (?:i|you|we|someone) {_SAY_EN}'
    rf"(?: you)?(?: to)?(?: the word)? [\"'(]?{_STOP_EN}\b"
    r"(?![\"')]?,? (?:i mean|it means|that means|you|listen|do it))",
    r'\b(?:until|till|til) (?:i|you|we|it|they|the \w{1,20}|told|asked|ordered)'
    r'(?: tell you| told you| have| has| must| need| are told| come| comes| can)?'
    rf'(?: to)?(?: a)?(?: full| complete)? {_STOP_EN}\b',
    rf'(?:^|[.!?,] ?)(?:{FILL_EN}){{0,4}}{_GOAL_EN}[^.!?\n]{{0,100}}?(?:and|then|,) '
    rf'(?:then )?stop (?:at|in|on|near|next|beside|before|after|when|once|there|if|where|just'
    rf'|within|by|under|behind|close|as soon)\b',
    rf'(?:^|[.!?,] ?)(?:{FILL_EN}){{0,4}}{_GOAL_EN}[^.!?\n]{{0,100}}?\bthen stop\b{_SEQUEL_EN}',
    rf'(?:^|[.!?,] ?)(?:{FILL_EN}){{0,4}}{_GOAL_EN}[^.!?\n]{{0,60}}?\b(?:to|until|for|towards?'
    rf'|as far as) (?:the|that|this|my|base|home|{_NUMBER_EN})\b[^.!?,\n]{{0,40}}? and stop\b'
    rf'{_SEQUEL_EN}',
    r'\bdid (?:you|it|we|the \w{1,20})(?! not| never)(?: \w{1,12})? stop\b(?! now| it| ?!)',
    r'\b(?:why|where|how often) (?:do|does) (?:you|it|the rover)(?! not'
    r'| never)(?: \w{1,12})? stop\b',
    r'\bwhy (?:are|were|is|was) (?:you|it|the rover)(?: just)? stopping\b',
    r'\bhow (?:fast|long|far|quickly|often)\b(?![^.!;\n]{0,60}\b(?:tell|told|say|said|ask'
    r'|until|finally)\b)'
    r'[^.!?;,\n]{0,60}?\bstop(?:ping)?\b(?! ?!| now)',
    r"\bwhat (?:does|do|is|did) (?:the )?(?:word )?[\"']?stop[\"']?(?: mean| do)\b",
    r'\bwhat (?:happens|would happen|will happen) (?:if|when) (?:i|you|we|it|the rover)'
    rf'(?: {_SAY_EN})? [\"\'(]?{_STOP_EN}\b',
    r'\bthe word [\"\']?stop\b|\b(?:that|which|sign) (?:says|reads|saying) [\"\']?stop\b',
    r"\b(?:is|was|what is|what's|who pressed|state of|status of|check) the (?:e[- ]?|emergency )"
    r'stop\b',
    r'\bemergency (?:exit|kit|procedures?|plan|lights?|contact|numbers?|vehicle)\b',
    r"\bin case of(?: an)? emergency\b|\b(?:no|not an|isn't an) emergency\b",
    # Constraints on a motion, not a stop.
    rf'{NOT_EN} (?:drive|go|move|roll|turn|run) (?:too|so|very|that|faster|quite|more than)\b',
    r"\b(?:but|and|just) (?:don't|dont|do not|never) (?:drive|go|move|roll|run)"
    r'(?: any)? (?:near|nearer|close|closer|over|into|past|off|beyond|outside|through)\b',
)
_MOTION_EN = (
    r'(?:move|drive|go|roll|advance|proceed|continue|turn|budge|come|run|touch|step|keep|start)'
)
STOP_EN = english_pattern(
    r'\b(?:stop|stopping|halt|halting|freeze|abort|aborting|cancel|whoa|emergency|cease|desist)\b',
    r"\b(?:not|never|won't|hasn't|haven't|isn't|didn't|doesn't)(?: \w{1,12})? (?:stopped|stops)\b",
    r'\b(?:want|need|get|keep) (?:it|you|this|that|everything|the rover) stopped\b',
    rf"(?<!why )\b(?:don't|dont|do not|never)(?: you dare| you| even| ever| just)? {_MOTION_EN}\b",
    r"\b(?:don't|dont) you dare\b|\bno (?:further|farther|moving|movement|more \w{1,12}ing)\b",
    r'\bnot (?:one|another|an?)(?: single| more)? (?:inch|step|met[er]{2}|centimet[er]{2})\b',
    r'\bnot any (?:further|closer)\b|\bfar enough[ .!]*$',
    r'^(?:no,? )?wait,? (?:no,? )?i mean(?:t)?\b|^no,? i mean(?:t)?\b',
    r'\bquit (?:it|that|moving|driving|going|\w{1,15}ing)\b',
    r'\bstay (?:put|still|there|here|where|right there|right where|in place)\b',
    r'\bremain where you are\b|\b(?:hold|stand|keep|remain|sit) still\b|\bstand down\b',
    r'\bhold (?:it|your position|position|there|right there|your horses)\b',
    r'\bterminate\b|\b(?:shut|power)(?: \w{1,10}){0,2} (?:down|off)\b|\bshutdown\b',
    r'\bkill (?:it|all|everything|that|power|task|the)\b|\bpull the plug\b',
    r'\b(?:switch|turn) (?:it|yourself|everything|the (?:rover|motors?|engines?)) off\b',
    r'\b(?:switch|turn) off the (?:rover|motors?|engines?|power|drive)\b',
    r'\bcut (?:it|that) out\b|\bcut the (?:power|engines?|motors?|throttle)\b|\bknock it off\b',
    r'\b(?:hit|use|apply|slam)(?: on)? the brakes?\b|\bbrakes?\b(?= ?!| now|$)|^ ?brake\b',
    r"\bbrakes? (?:don't|do not|aren't|are not|fail|failed|failing)\b|\bbelay that\b",
    r'\bend (?:the|this|that) (?:task|mission|demo|drive|run|program)\b|\bcall (?:it|that) off\b',
    r'\bpull over\b|\bback off\b|\b(?:watch|look) out(?! (?:for|of|over|at)\b)',
    r'\bwatch out for [^.?!]{1,40}!|^danger\b|danger ?!|\bmayday\b|\bcollision ?!|^ ?collision\b',
    r"\b(?:going|about) to (?:crash|hit|fall|tip|collide|roll over)\b|(?:'ll|will) (?:crash"
    r'|hit the)\b',
    r'(?:^|[,.!;] ?)(?:(?:ok|okay|no|please|rover|hey|and|now|well|alright|all right),? ){0,5}'
    r"(?:(?:that's|thats|that is|that was|it's|it is|you've had) )?(?:more than )?(?:enough|enuf"
    r'|enogh|enoguh|enoug)(?: (?:now|already|please|rover|is enough|thanks|of (?:this|that|it)'
    r'|\w{1,12}ing)){0,4}(?! ?[\w?])',
    r'\b(?:tomare|tomatte|tomete|yamero|yamete|sutoppu|bie ?dong|zhan ?zhu|ting ?xia(?: ?lai)?)\b',
    r'(?<![\w-])ting(?![\w-])',
)
STOP_EN_WHOLE = whole_utterance(
    *sorted(NEAR_STOP),
    r'quit|hold|stay|cut|brakes?|end it|finish it|drop it'
    r'|never ?mind(?: (?:forget|drop|leave|skip) (?:it|that|about it))?'
    r'|forget (?:it|that|about it)'
    r"|leave it|no more|that'll do|that will do|give up|desist|terminate|kill|basta|enough said",
    polite=FILL_EN,
)

MASK_JA = any_pattern(
    r'ストップ ?signs?\b',
    # 止まる and related verbs in forms that ask to continue, report, or set a condition
    *(
        rf'{stem}(?:'
        r'ら(?:ないで(?!す|しょ)|ず|なくて|ないよう|ないまま|ない範囲)'
        r'|る(?:な(?!ら|ん|の|い|け)|まで|前|必要[はも]?(?:な|あ)|ことなく|場所|位置|地点|ところ'
        r'|(?:とき|時)(?!だ|です)|距離|予定|か(?!ら))'
        r'|った(?!り|ほう|方|らどう)|りまし(?:た|て)|ってい?(?:る(?!ん)|た|ます|まし|れば)'
        r'|っては(?:いけ|だめ|なら)|っちゃ(?:だめ|いけ)'
        r'|れ[」』"]?の?(?:標識|看板|サイン|マーク|文字|ライン)|れ[」』"]?(?:と書|という))'
        for stem in ('止ま', '停ま', '(?<![まもっ])とま')
    ),
    *(
        rf'{stem}(?:ないで(?!す|しょ)|ないよう|ず|るな(?!ら)|るまで|る前|る必要[はも]?(?:な'
        rf'|あ)|る方法|たら(?!どう)'
        r'|た(?:の|か|後|時|ところ)'
        r'|ては(?:いけ|だめ|なら)|ちゃ(?:だめ|いけ)|てい(?:る|ます)|なくて)'
        for stem in ('止め', '停め', '(?<![まもっ])とめ', 'やめ')
    ),
    *(
        rf'{stem}(?:しないで(?!す)|しないよう|せず|しなくて|するな(?!ら)|する(?:まで|前'
        rf'|必要[はも]?(?:な|あ)|場所|位置|ことなく)'
        r'|したら(?!どう)|した(?:の|か|後|時|とき|理由)|しました|してい(?:る|ます|た)'
        r'|しては(?:いけ|だめ)'
        r'|しちゃ(?:だめ|いけ)|になっ)'
        for stem in ('停止', '中止', 'キャンセル', 'ストップ', '静止', '終了')
    ),
    r'受け止め|滑り止め|のんストップ|ノンストップ|ストップ(?:ウォッチ|モーション)',
    r'ストップ[」』]?(?:と|って)(?:(?:言う|いう|言われる)(?:まで|とき|時)|言ったら(?=、))',
    r'(?:止まれ|とまれ|停止)[」』]?(?:と|って)(?:言う|いう|言われる)(?:まで|とき|時)',
    r'ストップの(?:標識|看板|サイン|意味)|ストップ(?:サイン|標識)',
    r'(?:一時|一时)停止|一時中断',
    r'停止(?:線|位置|距離|中|状態|標識|信号|条件)|バス停|停留|停車場|停電',
    r'(?:緊急|非常)停止[のを]?解除',
    r'(?:まで|秒|メートル|分)(?:間|ほど|だけ)?(?:行|進|走|移動|前進)(?:って|んで|して|し|み)'
    r'(?:から)?、?(?:その後|それから|そこで)?(?:止ま|停止)(?:って|して|る|する)(?! ?!)',
    r'(?:動か|うごか)ないで、?(?:その場で)?(?:写真|撮)',
    r'(?:速く|早く|急に|遠くまで|遠くに|遠くへ|あまり)(?:進ま|行か|走ら|動か)ないで',
    r'(?:危ない|あぶない)(?:場所|ところ|所|ですか|か|\?|の|岩|地形|道)|危なくない',
    r'もういい(?:です)?(?:か|\?)',
    r'ブレーキ[のはが][^!。]{0,10}(?:か(?=$|\?)|\?|状態|確認|教えて)',
)
STOP_JA = any_pattern(
    r'(?:止|停)ま[らりるれろっまて]|(?:止|停)まつて|(?<![まもっ])とま(?:れ|って|つて|て'
    r'|り[なま]|る|らない)',
    r'止め(?!ど)|停めて|(?<![まもと])とめ(?:て|ろ|な)|やめ(?:[てろよなまいえん]|に[しす]'
    r'|と[けい]|る|た方|たほう|(?!\w))',
    r'停止|中止|静止|停車|急停',
    r'ストップ|ストプ|スットプ|ストッフ|ストッブ|ストツプ|スットップ|すとっっぷ',
    r'キャンセル|取り?消[しせす]|(?:動|うご)[かい](?:な[いく](?:で(?!す)|と)|すな|さないで'
    r'|ちゃ|ては(?:いけ|だめ))',
    r'(?:動|うご)くな(?!ら)|(?:動|うご)くんじゃ',
    r'(?:進|すす)む(?:な(?!ら|ん|の)|んじゃ)|(?:進|すす)まないで|(?:行|い)くな(?!ら|ん|の)'
    r'|行かないで|走るな(?!ら|ん|の)|走らないで',
    r'(?:前進|移動|走行|実行)(?:するな(?!ら)|しないで)|近づくな(?!ら)|来るな(?!ら)'
    r'|曲がるな(?!ら)|触るな(?!ら)|触らないで',
    rf'(?:危ない|あぶない|危険だ|危険です(?!か))|ぶつか(?:る|り){END_JA}|ぶつかりそう'
    r'|衝突(?:する|し)(?:そう|よ|ぞ|$|!)',
    rf'落ち(?:る|そう){END_JA}|もういい(?!です?よ?ね)|終わりに[しす]|終わって{END_JA}',
    r'終了(?:し[てろ]|せよ|(?!\w))|打ち切|じっとし[てろ]|そこまで(?:(?=だ|に[しす])|(?!\w))',
    rf'ブレーキ|(?:よせ|止せ|よして|止して|よしなさい){END_JA}'
    r'|電源を?切|動きを止',
)
MASK_ZH = any_pattern(
    r'(?:(?<!要)不要|(?<!用)不用|不必|无需|不需要|不许|不准|不得|(?<!可)不可以?|(?<![特分告])别|勿'
    r'|(?<!能)(?<!么)(?<!还)不能|没必要|甭)'
    r'(?:再|中途|轻易|随便|突然|现在|马上|让它|让车|因为[^。！!，,]{1,8})?'
    r'(?:停(?!不)|中止|终止|取消|刹车|结束|叫停|急停)(?:下来|下|止|车|住|顿|留)?',
    r'(?<![么还再得停是])不停(?:地|的|歇|顿|息|走|前进|开|跑|拍|转|探索|往|向|车继续|车通)',
    r'(?:永|从|马|从来)不停蹄?',
    r'停(?:车场|车位|车标|车牌|车点|车距|车费|车区|车线|车坪|靠|留|顿|机坪|泊|电)|公交站'
    r'|车停靠|停车站',
    r'停(?:止|车)?(?:标志|标识|牌|线|距离|位置|状态|按钮是|条件|原因)',
    r'(?<![说喊叫])停(?:下来|下|止|车|住|稳|好)?了(?:吗|没|么|\?)|停(?:下来|下|止'
    r'|住)了?(?:没有|没)(?=$|\?)',
    r'(?:为什么|为何)(?:会|要|就|又|突然|刚才|你|它|车){0,3}停(?:下来|下|止|车|住|了)',
    r'怎么(?:就|又|突然|自己){1,3}停(?:下来|下|止|车|住|了)',
    r'(?:什么时候|何时|哪里|在哪里?|谁(?:让|叫)[你它])停(?:下来|下|止|车|住)?(?:的|了)',
    r'停(?:下来|下|住|稳|车|止)?(?:之后|以后|后(?!退)|的时候|时(?!间))',
    r'(?:等|待)[^。！!，,]{0,6}停(?:稳|下来|下|好|住)?了?(?:再|就)',
    r'(?:(?<![听收看])到|等|如果|若|当|要是|万一)我?(?:说|喊|叫|按)["“「]?停(?:止'
    r'|下)?["”」]?(?:为止|的时候|时|会|怎|之前|再|$)',
    r'(?:(?<![听收看])到|等|如果|若|当|要是|万一)我(?:说|喊|叫)["“「]?停',
    r'(?:前进|走|开|移动|转|到|跑|驶|去|后退|往|向)[^。！!？?\n]{0,20}?(?:然后|之后|接着|再)再?'
    r'停(?:下来|下|住|止|车)?(?![下来住止车!！吧])',
    r'(?:解除|松开|复位|重置)(?:紧急停止|急停|紧急制动)',
    r'(?:急停|紧急停止)(?:按钮|键|开关)?(?:是|有没有|状态|正常)',
    r'刹车(?:距离|片|性能|系统|灯|是|的|正常)|(?:没有?|无|不|什么|任何)危险(?![!！])|有危险吗',
    r'暂停',
    r'(?:(?<!要)不要|(?<![特分告])别)再?(?:走|开|跑|前进|移动|动)(?:得)?(?:太|那么|这么'
    r'|过[快远近猛])',
    r'(?:[足能]|电池?|电量|光|亮|时间|距离|还|不|已经很亮)[^。！!，,]{0,3}够了?(?:吗|没|么'
    r'|不够|\?)',
)
_NOT_GO_ZH = (
    r'(?:(?<!要)不要|(?<![特分告])别|不许|不准|勿|不得|莫|甭)'
    r'(?:再|乱|往前|向前|往后|继续|给我|到处){0,3}'
)
STOP_ZH = any_pattern(
    r'停|中止|终止|取消|刹车|站住|住手|打住|定住|收手|原地不动|到此为止|就到这里',
    rf'{_NOT_GO_ZH}(?:动(?!不动)|东$|移动|走|前进|开(?!灯|门|相)|跑|过去|行驶|进|继续|后退'
    rf'|转(?!动)|靠近|碰|往前|向前|闹|搞)',
    r'(?:^|[,，。!！])(?:已经|真的|行了|好了|好|行)?够了(?!吗|么|没|电)',
    rf'危险{END_ZH}|(?:小心|当心){END_ZH}|(?:要|快|会)(?:撞|翻|掉)(?:上|下|到'
    r'|倒)?(?:去|来)?了',
    rf'结束(?:任务|掉|它|探索|工作|一切|吧)?{END_ZH}|放弃(?:任务|目标)?{END_ZH}',
    r'关机|断电|熄火|切断电源|关掉(?:电源|马达|电机)',
    rf'(?:^|快|请|给我|[,，])(?:听|廷|亭|挺|婷)(?:下|止)(?:来|莱)?{END_ZH}',
    rf'(?:^|[,，])(?:算了|行了|罢了){END_ZH}',
)
STOP_SIGNS = re.compile('[🛑✋⛔🚫⏹🤚🖐]')
