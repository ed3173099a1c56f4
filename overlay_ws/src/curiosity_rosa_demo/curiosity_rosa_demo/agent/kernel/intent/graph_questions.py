# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether a sentence asks about the ROS graph, and what. Rules in three languages. Pure.

A sentence with an order in it is never such a question: names of the graph are masked first, so
that ``/cmd_vel`` orders nothing, and any verb of motion that remains makes it something else.
"""

from __future__ import annotations

import re

from curiosity_rosa_demo.agent.kernel.intent.normalize import (
    any_pattern,
    canonical,
    CJK,
    fold,
    without_gaps,
)
from curiosity_rosa_demo.domain.graph import GraphKind, GraphQuery

MAX_QUESTION_CHARS = 300
_NAME = re.compile(r'(?<![\w/])/(?:[A-Za-z_]\w*)(?:/\w+)*', re.ASCII)
_MASK = '#'
_SENTENCE = re.compile(r'[^.!?;。！？；\n]+(?:[.](?=\w)[^.!?;。！？；\n]+)*[.!?;。！？；]*')

_ORDERS = any_pattern(
    r'\b(?:drive|go|move|turn|rotate|spin|steer|head|roll|come back|return|back up|reverse'
    r'|advance|approach|climb|follow|explore|investigate|survey|take|snap|shoot|capture a'
    r'|photograph|open|close|raise|lower|stow|deploy|fold|begin|pick|driving|moving|turning'
    r'|forwards?|backwards?)\b',
    r'前進|後退|直進|走[らりるれろっ]|曲が|旋回|回転|進[まみむめもん]|移動|戻[らりるれろっ]|撮[らりるれろっ]|撮影'
    r'|開[かきくけこ]|展開|閉[じめま]|収納|調査|探[しすせそ]|見回|始め|続け|動[かけこ]|動い[てた](?!い)',
    r'前进|后退|倒车|竖起|返回|回家|开车|打开|展开|升起|收起|收回|放下|降下|关闭|[左右]转|转(?:弯|向|动|圈)|掉头'
    r'|移动|行驶|拍(?:照|摄|一|张)|照相|探索|调查|旋转|环顾|往前|向前',
)
_SETS = any_pattern(  # a write is no question
    r'(?:^|please )set\b|\bset (?:#|the param|param|use_)'
    r'|\b(?:change|kill|restart|delete|remove|call|send|reset|shut)\b|(?:^|please )publish\b',
    r'設定し[てろ]|変更し|変え|削除|再起動|呼び出し|送[っれ]|送信し|(?:配信|発行)して(?:くだ|くれ)',
    r'设置|设为|修改|删除|重启|调用|发送|请?发布一',
)
_ASKS = any_pattern(
    r'^(?:what|which|who|whom|whose|where|how|why|is|are|does|do|has|have|any|anything|at what'
    r"|on which|to which|from which|by which|with which)(?:'s|s|'re)?\b",
    r'^(?:(?:please|pls|can|could|would|will|you|i want to|i would like to|let|me|us|just) ?)*'
    r'(?:show|list|tell|give|print|display|name|count|see|know|describe|explain|check|report)\b',
    r'(?:教え|見せ|表示し|知りたい|一覧|リスト|説明し|挙げ|出し)[^,]{0,12}$|(?:か|かな|の|は|ですか)$'
    r'|何|なに|どの|どれ|誰|どこ|いくつ|なぜ|どうして|なんで|どのくらい|どんな',
    r'列出|显示|告诉|查看|查询|给我看|想知道|说说|什么|哪|几|多少|多大|多久|多快|谁|吗$|么$|是否|有没有|为什么|为何|怎么|如何',
)
_PICTURE = r'(?:pictures?|photos?|images?|camera|video|frames?)'
_NOT_EN = r"(?:no|not|don't|can't|cannot|doesn't|isn't|aren't|never|nothing|without)"
_SEEN_EN = r'(?:see|seen|get|receive\w*|arriv\w*|coming|come|show\w*|appear\w*|display\w*|there)'
_NO_PICTURE = any_pattern(
    rf'^why\b(?=.*\b{_NOT_EN}\b)(?=.*\b{_SEEN_EN}\b).*\b{_PICTURE}\b',
    r'(?:なぜ|どうして|なんで|何故)[^,]*(?:写真|画像|カメラ|映像)[^,]*(?:見え|映ら|届[かき]|出[なま]|表示され|来[なま])',
    r'(?:写真|画像|カメラ|映像)[^,]*(?:見え|映ら|届か|出[なま]|表示され|来[なま])[^,]*(?:なぜ|どうして|なんで|何故)',
    r'(?:为什么|为何|怎么)[^,]*(?:看不到|看不见|收不到|没有|不显示)[^,]*(?:图|照片|画面|相机)(?!.*分)',
    r'(?:图|照片|画面|相机)[^,]*(?:为什么|为何|怎么)[^,]*(?:看不到|看不见|收不到|没有|不显示|没)',
)
_TOPIC = any_pattern(r'\btopics?\b(?! of (?:the )?conversation)|トピック|话题|主题')
_SUBSCRIBES = any_pattern(r'subscri|\blisten|購読|サブスクライ|受信|受け取|订阅|接收|收听')
_PUBLISHES = any_pattern(
    r'publish|\bsends?\b|配信|パブリッシ|パブリッシャ|発行|出して|流して|发布|发出'
)
_NODE = any_pattern(r'\bnodes?\b|ノード|节点')
_SERVICE = any_pattern(
    r'\bservices\b|\bservices? #|# service|service (?:server|type)s?|\bros service'
    r'|which service\b|サービス|服务(?!器)'
)
_ACTION = any_pattern(
    r'\baction (?:servers?|clients?|interfaces?|names?|types?)\b|\bros 2? ?actions?\b|# action'
    r'|\b(?:which|what|list|show|all|the|how many) (?:the |all |me |ros2? )*actions (?:are'
    r'|is|exist|offered'
    r'|available|does #)|アクション|动作(?:服务|接口|服务器)|ros ?的?动作|action'
)
# The first whose pattern matches is asked. The flag: it needs a name or the word topic.
_RULES: tuple[tuple[GraphKind, re.Pattern[str], bool], ...] = (
    (GraphKind.NO_PICTURE, _NO_PICTURE, False),
    (
        GraphKind.QOS_MISMATCHES,
        any_pattern(
            r'qos\b.*(?:mismatch|incompatib|compatib|match|conflict|agree|wrong|problem)'
            r'|(?:mismatch|incompatib|conflicting|wrong)\w* (?:in )?(?:the )?qos',
            r'qos.*(?:合わ|合って|合う|不一致|食い違|互換|問題)|qos.*(?:匹配|兼容|冲突|一致|问题)'
            r'|(?:不匹配|不兼容|冲突).*qos',
        ),
        False,
    ),
    (
        GraphKind.WITHOUT_SUBSCRIBERS,
        any_pattern(
            r'\b(?:no|without(?: any| a)?|zero|lack\w*|miss\w*) (?:single )?(?:subscri|listener)'
            r"|(?:not|never|n't)(?: being)? (?:subscribed|listened)|unsubscribed"
            r'|(?:nobody|no ?one|no node) (?:is )?(?:subscrib|listen|receiv|read|hear)'
            r"|n't have (?:any |a )?subscri",
            r'(?:購読者|サブスクライバ|受信者)(?:が|は|も)?(?:1つも|一つも|誰も)?(?:い(?:ない|ません)|居ない|な[いし]|無[いし]|ゼロ|0)'
            r'|(?:購読|受信|サブスクライブ)(?:されてい?(?:ない|ません)|してい(?:ない|ません))|誰も(?:購読|受信|受け取)',
            r'(?:(?<!有)没有|(?<!有)没(?!有)|无|缺少|缺)(?:任何)?(?:被|人|节点|谁)?(?:订阅|接收|收听)|无人(?:订阅|接收)',
        ),
        False,
    ),
    (
        GraphKind.WITHOUT_PUBLISHERS,
        any_pattern(
            r'\b(?:no|without(?: any| a)?|zero|lack\w*|miss\w*) (?:single )?publish'
            r"|(?:not|never|n't)(?: being)? published"
            r'|(?:nobody|no ?one|no node) (?:is )?(?:publish|send)'
            r"|n't have (?:any |a )?publish",
            r'(?:配信者|パブリッシャ|発行者|配信元)(?:が|は|も)?(?:1つも|一つも|誰も)?(?:い(?:ない|ません)|居ない|な[いし]|無[いし]|ゼロ|0)'
            r'|(?:配信|発行|パブリッシュ)(?:されてい?(?:ない|ません)|してい(?:ない|ません))|誰も(?:配信|発行)',
            r'(?:(?<!有)没有|(?<!有)没(?!有)|无|缺少|缺)(?:任何)?(?:被|人|节点|谁)?发布|无人发布',
        ),
        False,
    ),
    (
        GraphKind.PARAMETERS,
        any_pattern(r'\bparam(?:eter)?s?\b|パラメータ|参数|use_sim_time'),
        False,
    ),
    (
        GraphKind.BANDWIDTH,
        any_pattern(
            r'\bbandwidth\b|\bbytes (?:per|a) second\b|\bhow much data\b|\bdata rate\b|\bkb/s\b',
            r'帯域|データ量|バイト|带宽|流量|数据量|字节',
        ),
        True,
    ),
    (
        GraphKind.RATE,
        any_pattern(
            r'\bhz\b|\brates?\b|\bhow (?:often|fast|frequently)\b|\bfrequency\b'
            r'|messages (?:per|a) second',
            r'周期|頻度|周波数|レート|毎秒|频率|每秒|多久|多快',
        ),
        True,
    ),
    (
        GraphKind.NEWEST_MESSAGE,
        any_pattern(
            r'\b(?:last|latest|newest|current|most recent|recent)'
            r' (?:message|msg|value|data|sample)'
            r'|\bcontents?\b|\bwhat (?:is|was) (?:being )?(?:sent|published|said) on\b'
            r'|\bwhat does # (?:say|contain)\b|\bwhat is on #|\b(?:message|msg) (?:on|of|from) #',
            r'(?:最新|最後|直近|今|現在)の?(?:メッセージ|データ|内容|値)|内容|中身'
            r'|最新|最近(?:的|一条)|最后(?:的|一条)',
        ),
        True,
    ),
    (
        GraphKind.FRAMES,
        any_pattern(
            r'(?<![a-z0-9_])tf2?(?![a-z0-9_])|\bcoordinate frames?\b|\btransforms?\b'
            r'|\bframe tree\b'
            r'|\b(?:which|what|list|all|the|show|many|me) frames\b|\bframe [a-z]+_[a-z_]+',
            r'フレーム(?!レート)|座標系|坐标系|坐标变换|坐标框架',
        ),
        False,
    ),
    (GraphKind.ACTIONS, _ACTION, False),
    (GraphKind.SERVICES, _SERVICE, False),
    (
        GraphKind.QOS,
        any_pattern(
            r'\bqos\b|quality of service|\b(?:reliab|durab)ility\b|qos|信頼性|可靠性|服务质量'
        ),
        True,
    ),
    (
        GraphKind.TYPE,
        any_pattern(r'\btypes?\b|\bkind of (?:message|data)|型(?!号)|タイプ|类型'),
        True,
    ),
    (GraphKind.PUBLISHERS, _PUBLISHES, True),
    (GraphKind.SUBSCRIBERS, _SUBSCRIBES, True),
    (GraphKind.NODE, _NODE, False),
    (GraphKind.TOPIC, _TOPIC, False),
)
_ALL = {GraphKind.NODE: GraphKind.NODES}
# Of a list of topics without a name, these ask for the whole list, with types.
_LISTS = (GraphKind.TOPIC, GraphKind.TYPE, GraphKind.PUBLISHERS, GraphKind.SUBSCRIBERS)
_GRAPH_WORD = re.compile(r'\bros\b|ros2', re.ASCII)
_KEYWORDS = (  # a sensor's name, in the alias of ``answers.py`` or as a part of the topic's name
    (any_pattern(r'\bodometry\b|オドメトリ|里程计'), 'odometry'),
    (any_pattern(r'\b(?:lidar|laser)\b|\bscans?\b|ライダー|レーザー|スキャン|激光'), 'scan'),
    (any_pattern(r'\bcamera\b|カメラ|相机|摄像'), 'camera'),
    (any_pattern(r'\bbattery\b|バッテリー|电池'), 'battery'),
    (any_pattern(r'\bjoints?\b|関節|关节'), 'joint_states'),
    (any_pattern(r'\bvelocity commands?\b|速度指令|速度命令'), 'cmd_vel'),
    (any_pattern(r'\bdiagnostics\b|診断|诊断'), 'diagnostics'),
    (any_pattern(r'\btrace\b|トレース|跟踪'), 'trace/events'),
    (any_pattern(r'アダプタ|适配器'), 'adapter'),
    (any_pattern(r'シミュレータ|模拟器|仿真器'), 'simulator'),
    (any_pattern(r'エージェント|代理'), 'agent'),
)
_WORD = re.compile(r'[A-Za-z]\w*(?:/\w+)*', re.ASCII)
_NOT_NAMES = frozenset(
    [
        'ros',
        'ros2',
        'qos',
        'tf',
        'tf2',
        'hz',
        'topic',
        'topics',
        'node',
        'nodes',
        'service',
        'services',
        'action',
        'actions',
        'message',
        'type',
        'msg',
        'id',
        'kb',
        'rate',
    ]
)
_BESIDE_EN = re.compile(
    r'\b(?:node|topic|service|action|frame)s? (?:called |named )?([a-z_][\w/]*)'
    r'|\b([a-z_][\w/]*) (?:node|topic|service|action|frame)\b',
    re.ASCII | re.IGNORECASE,
)
_PLAIN_EN = frozenset(
    [
        'a',
        'all',
        'and',
        'any',
        'are',
        'at',
        'be',
        'by',
        'camera',
        'can',
        'coordinate',
        'do',
        'does',
        'each',
        'every',
        'exist',
        'for',
        'from',
        'has',
        'have',
        'here',
        'how',
        'i',
        'in',
        'is',
        'it',
        'list',
        'me',
        'my',
        'no',
        'not',
        'of',
        'offered',
        'on',
        'one',
        'or',
        'running',
        'server',
        'servers',
        'show',
        'tell',
        'that',
        'the',
        'their',
        'there',
        'these',
        'this',
        'to',
        'type',
        'types',
        'up',
        'used',
        'want',
        'what',
        'which',
        'who',
        'whose',
        'why',
        'with',
        'without',
        'you',
        'your',
        'available',
    ]
)


def is_graph_question(folded: str) -> bool:
    """Whether one folded sentence asks about the ROS graph."""
    return _kind_of(folded) is not None


def graph_query(text: str) -> GraphQuery | None:
    """What ``text`` asks about the ROS graph: its first sentence that does; None: none does."""
    for sentence in _SENTENCE.findall(text[:MAX_QUESTION_CHARS]):
        kind = _kind_of(canonical(fold(sentence.strip())))
        if kind is not None:
            return _query(kind, sentence)
    return None


def _kind_of(folded: str) -> GraphKind | None:
    masked = _NAME.sub(f' {_MASK} ', without_gaps(folded))
    masked = ' '.join(masked.strip(' .!?;,:').split())
    if _ORDERS.search(masked) or _SETS.search(masked) or not _ASKS.search(masked):
        return None
    named = _MASK in masked or bool(_TOPIC.search(masked)) or bool(_GRAPH_WORD.search(masked))
    for kind, pattern, needs_name in _RULES:
        if pattern.search(masked):
            about = named or _about_graph(kind, masked)
            if about or not needs_name:
                return kind
    return GraphKind.TOPIC if _MASK in masked else None


def _about_graph(kind: GraphKind, masked: str) -> bool:
    """Whether a sentence without a name and without the word topic is about the graph."""
    keyword = any(pattern.search(masked) for pattern, _ in _KEYWORDS) or '_' in masked
    spoken = bool(_NODE.search(masked) or _SUBSCRIBES.search(masked) or _PUBLISHES.search(masked))
    if kind is GraphKind.NEWEST_MESSAGE:
        return keyword and bool(re.search('mess|msg|めっせ|消息', masked))
    if kind in (GraphKind.PUBLISHERS, GraphKind.SUBSCRIBERS):
        return keyword or bool(_NODE.search(masked))
    measures = kind in (GraphKind.RATE, GraphKind.BANDWIDTH, GraphKind.QOS, GraphKind.TYPE)
    return measures and keyword and (spoken or bool(_MEASURES.search(masked)))


_MEASURES = any_pattern(
    r'\bhz\b|bandwidth|\bqos\b|messages?|bytes|周期|周波数|帯域|メッセージ|频率|带宽|消息'
)


def _query(kind: GraphKind, sentence: str) -> GraphQuery:
    if kind in (
        GraphKind.NO_PICTURE,
        GraphKind.WITHOUT_SUBSCRIBERS,
        GraphKind.WITHOUT_PUBLISHERS,
    ):
        return GraphQuery(kind)
    names = _NAME.findall(sentence)
    words = _plain_names(kind, _NAME.sub(' ', sentence))
    if kind is GraphKind.PARAMETERS:
        parameters = [each for each in words if '_' in each or '.' in each]
        nodes = [*names, *(each for each in words if each not in parameters)]
        return GraphQuery(kind, nodes[0] if nodes else '', parameters[0] if parameters else '')
    found = [*names, *words]
    if not found:
        return GraphQuery(GraphKind.TOPICS if kind in _LISTS else _ALL.get(kind, kind))
    return GraphQuery(kind, found[0])


def _plain_names(kind: GraphKind, sentence: str) -> list[str]:
    """Names without a slash at their start: words with an underscore; in English those beside
    "node" or "topic", else any Latin word; and the names of sensors.
    """
    words = [each for each in _WORD.findall(sentence) if each.lower() not in _NOT_NAMES]
    found = [each for each in words if '_' in each or '/' in each]
    if re.search(f'[{CJK}]', sentence):
        found += [each for each in words if each not in found]
    else:
        beside = (one or other for one, other in _BESIDE_EN.findall(sentence))
        found += [each for each in beside if each.lower() not in _PLAIN_EN | _NOT_NAMES]
    folded = without_gaps(canonical(fold(sentence)))
    is_list = kind in (GraphKind.FRAMES, GraphKind.NODE, GraphKind.TOPIC)
    if not is_list or found == []:
        found += [name for pattern, name in _KEYWORDS if pattern.search(folded)]
    return list(dict.fromkeys(found))
