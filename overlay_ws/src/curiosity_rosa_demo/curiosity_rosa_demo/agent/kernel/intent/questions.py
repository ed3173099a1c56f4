# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Decide whether a sentence is an order, a question or neither for sure. Rules only. Pure.

The rules read a text after ``hci_ingress`` has excluded a stop, a pause and an answer. A question
that asks politely for an action is an order ("could you drive forward?"). An order with a question
mark, a suggestion, or a question about an ability is a doubt ("drive forward?", "can you drive?").
A question that no topic covers is open: only the model can answer it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import auto, Enum
import re

from curiosity_rosa_demo.agent.kernel.intent.graph_questions import is_graph_question
from curiosity_rosa_demo.agent.kernel.intent.normalize import (
    any_pattern,
    CJK,
    FILL_EN,
    without_gaps,
)
from curiosity_rosa_demo.agent.kernel.intent.topics import (
    Patterns,
    Topic,
    TOPICS_EN,
    TOPICS_JA,
    TOPICS_ZH,
)

MAX_QUESTION_CHARS = 300  # a longer text is an order; this also bounds the matching time


class Kind(Enum):
    ORDER = auto()  # or a statement: the agent reads it as a goal
    QUESTION = auto()  # about a topic
    OPEN_QUESTION = auto()
    DOUBT = auto()  # a question or an order


@dataclass(frozen=True)
class Reading:
    """``topics``: of a QUESTION, one for each of its sentences, without repetitions."""

    kind: Kind
    topics: tuple[Topic, ...] = ()


_ORDER, _OPEN, _DOUBT = Reading(Kind.ORDER), Reading(Kind.OPEN_QUESTION), Reading(Kind.DOUBT)
_SENTENCE = re.compile(r'[^.!?;]*(?:\.(?=\d)[^.!?;]*)*[.!?;]*')
_KANA = re.compile('[\u3041-\u309f]')
_IDEOGRAPH = re.compile(f'[{CJK}]')


def read_text(folded: str) -> Reading:
    """The reading of a folded, canonical text. One order in it makes it an order."""
    if len(folded) > MAX_QUESTION_CHARS:
        return _ORDER
    text = without_gaps(folded)
    sentences = [each.strip(' .!;,:') for each in _SENTENCE.findall(text)]
    readings = [_read_sentence(each) for each in sentences if _says_something(each)]
    kinds = {reading.kind for reading in readings}
    for kind in (Kind.ORDER, Kind.DOUBT, Kind.OPEN_QUESTION):
        if kind in kinds:
            return Reading(kind)
    topics = dict.fromkeys(topic for reading in readings for topic in reading.topics)
    return Reading(Kind.QUESTION, tuple(topics)) if topics else _ORDER


_QUESTION_FRAMES = (
    (
        re.compile(
            r"^(?:shall|should|may|might|can|could) (?:i|we) |^why (?:don't|do not) (?:you|we) "
            r'|^(?:do you |would you )?(?:want|like) (?:me )?to |^why not |^what if (?:you|we) '
            r'|^(?:is|would) it (?:be )?(?:ok|okay|possible|safe)(?: for you)? to ',
            re.IGNORECASE,
        ),
        '',
    ),
    (
        re.compile(
            r'(?<=[進退影動回転納開査索])(?:(?:でき|し)(?:ます|る)|しましょう|したらどうです)か$|'
            r'(?<=[進退影動回転納開査索])(?:できる|する)$'
        ),
        'して',
    ),
    (re.compile(r'^(?:是不是)?(?:要不要|应该|你?(?:可以|能|会)|要|该)(?=.*[\u4e00-\u9fff])'), ''),
    (re.compile(r'(?:吗|嗎|么|好不好|怎么样|如何)$'), ''),
)


def order_in(text: str) -> str:
    """The order in a doubtful ``text``, without the frame that makes a question of it."""
    order = text.strip().rstrip('?？ ')
    for frame, replacement in _QUESTION_FRAMES:
        order = frame.sub(replacement, order)
    return order or text


def _says_something(sentence: str) -> bool:
    plain = sentence.strip('? ')
    return plain != '' and not _ADDRESS_EN.fullmatch(f'{plain} ')


def _read_sentence(sentence: str) -> Reading:
    if is_graph_question(sentence):
        return _question(Topic.GRAPH)
    marked = sentence.endswith('?')
    sentence = sentence.rstrip('? ')
    read: Callable[[str, bool], Reading] = _read_english
    if _KANA.search(sentence):
        read = _read_japanese
    elif _IDEOGRAPH.search(sentence):
        read = _read_chinese
    return read(sentence, marked)


def _about(topics: Patterns, sentence: str) -> Reading:
    """A question about the first topic that matches; open if none does."""
    found = (topic for topic, pattern in topics if pattern.search(sentence))
    topic = next(found, None)
    return _OPEN if topic is None else Reading(Kind.QUESTION, (topic,))


def _question(topic: Topic) -> Reading:
    return Reading(Kind.QUESTION, (topic,))


# --- English ----------------------------------------------------------------------------------

_ADDRESS_EN = any_pattern(
    r'^(?:(?:please|pls|hey|hi|hello|oi|ok|okay|so|well|now|then|and|but|just|um|uh|rover'
    r'|curiosity|rosa|buddy|yes or no|excuse me|sorry|by the way|quick question)[ ,:]+)+'
)
_VERB_EN = (
    r'(?:drive|go|move|turn|rotate|spin|steer|head|roll|come|return|back up|reverse|advance'
    r'|approach|climb|follow|explore|analy[sz]e|investigate|survey|examine|inspect|scan|search'
    r'|look|find|take|get|snap|shoot|capture|photograph|open|close|raise|lower|stow|deploy|extend'
    r'|fold|lift|start|begin|run|continue|resume|bring|pick|photo)'
)
_ACTION_EN = any_pattern(
    rf'\b{_VERB_EN}\b|\b(?:driving|going|turning|moving|taking|opening|closing|raising|lowering'
    r'|heading|rolling|returning|exploring|surveying|analy[sz]ing|rotating|photographing|shooting'
    r'|snapping|stowing|deploying|finding|inspecting|investigating|scanning|heading (?:home|back)'
    r'|drove|went|turned|moved|took|opened|closed)\b|\b(?:forwards?|backwards?|a turn)\b'
)
_ORDER_FIRST_EN = any_pattern(rf'^(?:do not |never )?{_VERB_EN}\b')
_DIRECTION_EN = any_pattern(r'^(?:straight )?(?:forwards?|ahead|back|backwards?|left|right)\b')
_ORDER_LATER_EN = any_pattern(
    rf'(?:[,:] ?|\b(?:and|then|so) )(?:(?:please|then|now|so|just|also|and) ){{0,3}}{_VERB_EN}\b'
)
_HELP_EN = any_pattern(
    r'^(?:i need )?(?:some )?help(?: me)?(?: please)?$|\b(?:which|what|list|show)\b.*\bcommands?\b'
)
_ABILITY_EN = any_pattern(
    r'^(?:are|is) (?:you|the rover|it) (?:able to|capable of)\b|^do you know how to\b',
    r'\bwhat (?:else )?(?:can|could|do) (?:you|the rover|it) (?:do|understand|offer)$',
    r'\byour (?:capabilities|abilities|skills|features|functions)\b|\bwhat are you (?:able|good)',
)
_HOWTO_EN = any_pattern(
    r'\bhow (?:do|can|could|should|would|might|must) (?:i|we|one)\b|\bhow to\b',
    r'\bwhat (?:do|should|must|can|could|would) (?:i|we) (?:have to |need to )?'
    r'(?:say|type|do|enter|ask|write|input|tell)\b|\bwhat are you (?:capable|able)\b',
    r'\b(?:which|what) (?:words?|phrase|sentence|wording) (?:do|should|must|makes?|gets?|lets?)\b',
    r'\bwhat (?:kinds? of |sorts? of )?(?:things|orders|commands) (?:can|could|may) (?:i|we)\b',
    rf'^how (?:do|does|can|could) (?:you|the rover|it) {_VERB_EN}\b',
)
# The rest of the sentence is the question.
_TELL_EN = any_pattern(
    r"^(?:(?:can|could|would|will|can't|couldn't|won't) you (?:please |kindly |maybe |just )*)?"
    r'(?:tell|show|give|inform) (?:me|us)\b(?: about)?',
    r'^(?:(?:can|could|would|will) you (?:please |kindly |maybe |just )*)?'
    r'(?:report|explain|check|display|print|list|say|let me know)\b',
    r"^(?:i'd|i would) (?:like|love) to (?:know|see|hear)\b|^i (?:want|need) to (?:know|see)\b",
    r'^(?:do|would) you (?:happen to )?know\b(?! how to)|^any idea\b|^i wonder\b',
    r'^(?:may|can|could|might) (?:i|we) (?:please )?(?:see|know|ask|hear)\b',
)
_CAN_EN = re.compile(  # not folded: the names of groups have a capital
    r"^(?:can|could|would|will|can't|couldn't|won't|wouldn't)"
    r' (?P<who>you|we|i|the rover|it|rover)\b'
    r'(?: (?:please|kindly|just|maybe|possibly|now|perhaps))*(?P<mind> mind)? (?P<rest>.*)'
)
_BARE_EN = any_pattern(
    rf'(?:even |also |still |actually |really )*{_VERB_EN}(?: (?:pictures|photos|images|please|now'
    r'|at all|yourself|alone|well|on your own|too|yet|again))*'
)
_SUGGESTION_EN = any_pattern(
    r'^(?:shall|should|may|might|must|ought) (?:i|we|you|the rover|it)\b',
    r"^(?:do|would|don't|wouldn't) (?:you|we|i) (?:want|like|wish|need|prefer|have)\b",
    r'^(?:do|don.t) you (?:think|believe|reckon|feel|suppose) (?:that )?(?:we|you|i|the rover|it)'
    r' (?:should|ought|could|might|can|need|must)\b'
    r'|^what do you (?:think|say) (?:of|about|to|if)\b'
    r'|^(?:is|would|might) \w{2,12}ing\b.*\b(?:possible|feasible|ok|okay|safe|allowed|advisable'
    r'|sensible|wise|an option|a good idea|worthwhile)\b|^(?:is there|any) (?:a )?(?:chance|way)\b'
    r'|^(?:is|would) a \w{2,12}\b.*\b(?:possible|feasible|safe|allowed|advisable)\b'
    r'|^(?:are|is) (?:you|we|it|the rover) (?:allowed|supposed|meant|ready|free|willing) to\b',
    r"^(?:how|what) about\b|^what if\b|^why (?:don't|do not) (?:you|we|i)\b|^why not\b",
    r'^(?:is|would|will) it (?:be )?(?:\w+ )?(?:to|if|that)\b|^maybe\b|^perhaps\b',
)
_REQUEST_EN = any_pattern(
    r"^(?:i'd|i would) like you to\b|^i (?:want|need) you to\b|^let's\b|^let us\b|^find out\b",
    r'^do me a favou?r\b|^would it kill you\b|^be so (?:kind|good)\b|^go (?:and )?(?:see|check)\b',
    r'^would you be so\b|^what i (?:want|need|mean|would like)\b',
)
_ASKS_EN = any_pattern(
    r"^(?:what|where|who|how)(?:'s|s|'re)?\b|^(?:when|why|which|whose)\b|^whereabouts\b",
    r"^(?:is|are|was|were|isn't|aren't|wasn't|weren't|am)\b",
    r"^(?:does|did|doesn't|didn't) the\b"
    r"|^(?:do|does|did|don't|doesn't|didn't) (?:you|we|i|it|they|any|anything"
    r'|something|everything|that|this)\b',
    r"^(?:has|have|had|hasn't|haven't) (?:you|we|i|it|they|the|there|any|anything|something)\b",
    r'^(?:any|anything)\b|^(?:can|could|will) (?:it|the)\b',
)
_CLAIM_EN = any_pattern(
    r'^(?:you|we|it|everything|the \w{1,12}) (?:are|is|have|has|were|was)\b'
    r'(?! (?:going|about) to\b)'
)
# A request that ends in a question: "drive on, would you?"
_REQUEST_TAG_EN = re.compile(r',? (?:would|will|could|can) you(?: please)?$')
_NOUN_EN = any_pattern(
    r'(?:the |your |current |rover |last |latest )*(?:status|state|mode|position|location|pose'
    r'|heading|coordinates|battery(?: level| status| state)?|charge level|mast(?: state| position'
    r'| status)|plan|tasks?(?: list| queue)?|queue|score|picture score|history|errors?|speed)'
    rf'(?: of the rover)? ?(?:{FILL_EN})*'
)


def _read_english(sentence: str, marked: bool) -> Reading:
    sentence = _ADDRESS_EN.sub('', sentence)
    if _ORDER_FIRST_EN.search(sentence) and _REQUEST_TAG_EN.search(sentence):
        return _ORDER
    if _HELP_EN.search(sentence):
        return _question(Topic.HELP)
    if _REQUEST_EN.search(sentence):
        return _ORDER
    if (told := _TELL_EN.search(sentence)) is not None:
        rest = sentence[told.end() :].strip()
        if _ORDER_LATER_EN.search(rest):
            return _ORDER
        if _HOWTO_EN.search(rest) or _ABILITY_EN.search(rest):
            return _question(Topic.HOWTO)
        reading = _about(TOPICS_EN, rest)
        return _ORDER if reading is _OPEN else reading
    if _ABILITY_EN.search(sentence) or _HOWTO_EN.search(sentence):
        return _question(Topic.HOWTO)
    action = bool(_ACTION_EN.search(sentence))
    if action and _SUGGESTION_EN.search(sentence):
        return _DOUBT
    if (polite := _CAN_EN.fullmatch(sentence)) is not None:
        return _read_polite(polite, action)
    if _ORDER_FIRST_EN.search(sentence) or _DIRECTION_EN.search(sentence):
        return _DOUBT if marked else _ORDER
    if _ASKS_EN.search(sentence):
        if _ORDER_LATER_EN.search(sentence):
            return _DOUBT if marked else _ORDER
        return _about(TOPICS_EN, sentence)
    if _NOUN_EN.fullmatch(sentence):
        return _about(TOPICS_EN, sentence)
    if not marked:
        return _ORDER
    reading = _about(TOPICS_EN, sentence)
    is_claim = reading is not _OPEN and _CLAIM_EN.search(sentence)
    return _DOUBT if action and not is_claim else reading


def _read_polite(polite: re.Match[str], action: bool) -> Reading:
    """A sentence such as "could you ...": an order, unless it may ask for the ability only."""
    if not action:
        return _OPEN
    if polite['mind'] or polite['who'] in ('you', 'we', 'rover'):
        return _DOUBT if _BARE_EN.fullmatch(polite['rest']) else _ORDER
    return _DOUBT


# --- Japanese ---------------------------------------------------------------------------------

_VERB_JA = (
    r'前進|後退|直進|進[まみむめもん]|走[らりるれろっ]|行[かきくけこっ]|曲が|回[らりるれろっさしすせそ]|旋回|回転'
    r'|動[かきくけこ]|移動|戻[らりるれろっ]|撮[らりるれろっ]|撮影|開[かきくけこい]|展開|閉[じめま]|収納'
    r'|上げ|下げ|調査|調べ|探[しすせそ]|見回|始め|開始|続け'
)
_ACTION_JA = any_pattern(rf'{_VERB_JA}|(?:前|左|右|後ろ)(?:に|へ)?$')
_HELP_JA = any_pattern(r'^(?:ヘルプ|help|助けて)(?:を?(?:見せて|ください))?$|コマンド')
_NOUN_JA = any_pattern(
    r'^(?:(?:今|現在|いま|ローバー)の)?(?:状態|状況|ステータス|位置|現在地|場所|バッテリー|電池'
    r'|マスト|計画|タスク|履歴|エラー|スコア)(?:の状態|の?残量|一覧)?$'
)
_HOWTO_JA = any_pattern(
    r'どうやって|どうすれば|どうしたら|方法|[いきけしちてにびみめりれえせべじ]方(?!向|位|角)'
    r'|(?:何|なに|どんなこと)(?:が|を)(?:でき|出来)|できること|機能|能力'
    r'|(?:何と|なんと|何て|なんて|どう)(?:入力|言え|いえ|打て|打ち|頼め|書け|指示|命令|伝え)'
)
_TELL_JA = any_pattern(
    r'(?:(?:教え|おしえ|知らせ|聞かせ|見せ|表示し|報告し|説明し|確認し)て?'
    r'(?:くださ|下さ|くれ|もらえ|もらって|いただけ|ほし|欲し|ちょうだい|お願い)?'
    r'[^,]{0,8}|知りたい[^,]{0,6})$|^(?:教えて)(?=,)'
)
_REQUEST_JA = any_pattern(
    r'[てで](?:くれ|もらえ|もらって|いただけ|いただい|頂け|くださ|下さ|ほし|欲し|ちょうだい'
    r'|おくれ)|枚(?:ほど)?(?:もらえ|いただけ|頂け)|(?:お願い|おねがい)(?:し|でき)?|なさい|ませんか$'
)
_ENDS_AS_ORDER_JA = any_pattern(
    r'(?<!どうし)[てで](?:ね|よ|な)?$|(?:しろ|せよ|進め|走れ|曲がれ|開け|撮れ)よ?$'
)
_ORDER_FIRST_JA = any_pattern(
    rf'(?:{_VERB_JA})[^,]{{0,8}}[てで](?:から)?(?:,|(?=(?:状態|位置|状況|結果)を$))'
)
_WHAT_JA = any_pattern(
    r'どこ(?!でも|か)|どっち|どちら|何|なに|なん(?:だ|で|の|ぱ)|なぜ|どうして|いつ|いくつ|いくら|どれ|どの|誰|どう'
)
_ASKS_JA = any_pattern(r'(?:か|かな|かい|の|だい|でしょう|っけ)$')
_STATE_JA = any_pattern(  # a question about the past or about what is so now
    r'(?:まし)?た(?:か|の|のか|のですか|んですか)?$|[てで]い?(?:ます|る|ない|ました|た)'
    r'(?:か|の|のか|のですか|んですか)?$|(?:です|だ)か?$|は$'
)
_SUGGESTION_JA = any_pattern(
    r'(?:ましょう|よう|ろう|こう)か|て(?:も)?(?:いい|よい|良い)|で(?:も)?(?:いい|よい|良い)'
    r'|のは?どう(?:で|か|だ|$)|(?:可能|大丈夫|平気|問題ない|構わない|かまわない)(?:です|でしょう|か|$)'
    r'|たい(?:です)?か|たらどう|だらどう|べき|(?:ほう|方)が(?:いい|よい|良い)|(?:でき|出来)(?:ます|る)か?'
)


def _read_japanese(sentence: str, marked: bool) -> Reading:
    if _HELP_JA.search(sentence):
        return _question(Topic.HELP)
    if _NOUN_JA.search(sentence):
        return _about(TOPICS_JA, sentence)
    if (told := _TELL_JA.search(sentence)) is not None:
        rest = sentence[: told.start()] + sentence[told.end() :]
        if _HOWTO_JA.search(rest):
            return _question(Topic.HOWTO)
        reading = _OPEN if _ORDER_FIRST_JA.search(rest) else _about(TOPICS_JA, rest)
        return _ORDER if reading is _OPEN else reading
    if _REQUEST_JA.search(sentence):
        return _ORDER
    if _HOWTO_JA.search(sentence):
        return _question(Topic.HOWTO)
    asks = marked or bool(_ASKS_JA.search(sentence)) or bool(_WHAT_JA.search(sentence))
    if not asks:
        return _ORDER
    if not marked and not _ASKS_JA.search(sentence) and _ENDS_AS_ORDER_JA.search(sentence):
        return _ORDER
    if _ACTION_JA.search(sentence) and _SUGGESTION_JA.search(sentence):
        return _DOUBT
    if _ACTION_JA.search(sentence) and not _WHAT_JA.search(sentence):
        if not _STATE_JA.search(sentence):
            return _DOUBT
        reading = _about(TOPICS_JA, sentence)
        return _question(Topic.HISTORY) if reading is _OPEN else reading
    return _about(TOPICS_JA, sentence)


# --- Chinese ----------------------------------------------------------------------------------

_VERB_ZH = (
    r'(?:前进|后退|倒车|竖起|折叠|返回|回基地|回家|走|开(?:车|过去|到|往)?|打开|展开|升起|收起|收回|放下|降下|关闭|合上'
    r'|[左右]转|转(?:弯|向|动|过去|圈)?|掉头|移动|行驶|过去|去|回[去来到]|拍(?:照|摄|一?张)?|照相'
    r'|探索|调查|分析|寻找|找|开始|旋转|环顾)'
)
_ACTION_ZH = any_pattern(rf'{_VERB_ZH}|[往向朝](?:前|后|左|右)')
_ADDRESS_ZH = any_pattern(r'^(?:(?:请问|喂|嗨|你好|火星车|机器人|那么?|好的?)[, ]*)+')
_HELP_ZH = any_pattern(
    r'^(?:我?需要)?(?:帮助|help|求助|(?:显示)?(?:所有)?命令(?:列表)?)$|(?:什么|哪些)(?:命令|指令)'
)
_NOUN_ZH = any_pattern(
    r'^(?:剩余|还有|目前|当前)?(?:电量|电池)(?:报|说|讲|汇报|显示)?(?:一下|一声)?$'
    r'|^(?:当前|现在的?|你的)?(?:状态|状况|情况|位置|坐标|电量|电池|桅杆|计划|任务|历史|错误'
    r'|得分|分数)(?:状态|列表)?$'
)
_HOWTO_ZH = any_pattern(
    rf'(?:怎么|怎样|如何)(?:样)?(?:才能|才可以|可以|让|使|用|操作|控制|做|给|把|{_VERB_ZH})',
    r'(?:会|能|可以|能够)(?:做|干)(?:些|点)?(?:什么|啥|哪些)|有(?:什么|哪些)(?:功能|能力)',
    r'(?:介绍|说明|讲讲|列出|列举)(?:一下)?你?的?(?:功能|能力|本领|本事)',
    r'(?:该|应该|要|得|需要)(?:怎么|如何)?(?:输入|说|打|写|下|发)(?:些|点)?(?:什么|啥|哪个)',
)
_TELL_ZH = any_pattern(
    r'告诉我?|汇报(?:一下)?|报告(?:一下)?|说(?:一)?(?:下|说)|显示|查(?:看|询|一下)|想知道|给我看看?'
)
_REQUEST_ZH = any_pattern(r'请|麻烦|劳驾|帮我|帮忙|替我|给我|让我们|咱们')
_CAN_ZH = any_pattern(r'能不能|能否|可不可以|可否|可以|能')
_BARE_ZH = any_pattern(
    r'(?:现在|马上)?你?(?:现在)?(?:还)?(?:能不能|能否|可不可以|可以|能)(?:够)?(?:自己)?'
    r'(?:走|开车?|动|前进|后退|倒车|拍照片?|照相|转弯?|移动|行驶|掉头|探索)(?:吗|么|了吗)?'
)
_SUGGESTION_ZH = any_pattern(
    r'^要不|想不想|可行|行不通|可能吗|合不合适|合适吗|要不要|该|需不需要|用不用|要不|不如|会|(?:怎么样|如何|好不好|行不行|好吗'
    r'|行吗|可以吗|可不可以)$'
)
_GO_FIRST_ZH = any_pattern(rf'^(?:快|先|再|就|现在|马上|你)*(?:看看|去看|去|来)|^{_VERB_ZH}')
_ASKS_ZH = any_pattern(
    r'(?:吗|么|呢|没有?|不)$|什么|为何|为啥|哪|几|多(?:少|远|久|快|大|高)|怎么|怎样|如何|谁|是否'
    r'|有没有|是不是|(.)不\1|干嘛|啥'
)
_IF_ZH = any_pattern(r'如果|要是|假如|万一')
_PAST_ZH = any_pattern(r'[了过](?:吗|么|没有?)$')
_STATE_ZH = any_pattern(
    r'了(?:吗|么|没有?)|没有?$|[着过](?:吗|么|没有?)?$|的(?:吗|么)?$|[^现]在(?:动|走|开|拍|转|移动|行驶)|^在'
    r'|有没有|是不是|是否|为什么|什么|哪|几|多|怎么|谁|够|啥'
)


def _read_chinese(sentence: str, marked: bool) -> Reading:
    sentence = _ADDRESS_ZH.sub('', sentence)
    if _HELP_ZH.search(sentence):
        return _question(Topic.HELP)
    if _NOUN_ZH.search(sentence):
        return _about(TOPICS_ZH, sentence)
    action = bool(_ACTION_ZH.search(sentence))
    if _IF_ZH.search(sentence):
        return _OPEN if _ASKS_ZH.search(sentence) and not action else _ORDER
    if (told := _TELL_ZH.search(sentence)) is not None:
        rest = sentence[: told.start()] + sentence[told.end() :]
        if _HOWTO_ZH.search(rest):
            return _question(Topic.HOWTO)
        orders_first = _ACTION_ZH.search(sentence[: told.start()])
        reading = _OPEN if orders_first else _about(TOPICS_ZH, rest)
        return _ORDER if reading is _OPEN else reading
    if _HOWTO_ZH.search(sentence):
        return _question(Topic.HOWTO)
    asks = marked or bool(_ASKS_ZH.search(sentence))
    if not asks or (action and _REQUEST_ZH.search(sentence)):
        return _ORDER
    if _BARE_ZH.fullmatch(sentence):
        return _DOUBT
    state = bool(_STATE_ZH.search(sentence))
    if action and not state and _CAN_ZH.search(sentence):
        return _ORDER
    if action and _SUGGESTION_ZH.search(sentence):
        return _DOUBT
    if _GO_FIRST_ZH.search(sentence) and not sentence.endswith(('吗', '么', '没', '没有')):
        return _DOUBT if marked else _ORDER
    if action and not state:
        return _DOUBT
    reading = _about(TOPICS_ZH, sentence)
    if reading is _OPEN and action and _PAST_ZH.search(sentence):
        return _question(Topic.HISTORY)
    return reading
