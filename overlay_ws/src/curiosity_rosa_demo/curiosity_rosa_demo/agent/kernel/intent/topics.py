# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The topics of questions that the agent answers at once, in three languages. Data.

The first topic whose pattern matches is the topic of a question. The patterns say what a question
is about; ``questions.py`` decides whether a sentence is one.
"""

from __future__ import annotations

from enum import Enum
import re

from curiosity_rosa_demo.agent.kernel.intent.normalize import any_pattern


class Topic(str, Enum):
    """What a reply is about. The last three reply to a sentence that may be an order."""

    HELP = 'help'
    HOWTO = 'howto'  # how to give an order, and what the rover can do
    WHY = 'why'  # why the rover stands still, and what was decided
    ERRORS = 'errors'
    PLAN = 'plan'
    BATTERY = 'battery'
    MAST = 'mast'
    HISTORY = 'history'
    TASKS = 'tasks'
    PICTURE = 'picture'  # the last picture and its score
    POSITION = 'position'
    STATUS = 'status'
    GRAPH = 'graph'  # the ROS graph; graph_questions.py has its rules
    DOUBT = 'doubt'  # a question or an order? the agent asks back
    DROPPED = 'dropped'  # a no to that question
    UNCLEAR_YES = 'unclear_yes'  # a yes that could answer two questions


Patterns = tuple[tuple[Topic, re.Pattern[str]], ...]
_WHO_EN = r'(?:you|we|the rover|it|i)'

TOPICS_EN: Patterns = (
    (
        Topic.WHY,
        any_pattern(
            r'^why\b.*\b(?:stop\w*|halt\w*|still|stand\w*|stood|paus\w*|wait\w*|stuck|refus\w*'
            r'|held|hold\w*'
            r'|declin\w*|reject\w*|den(?:y|ied)'
            r'|safe|cancel\w*|abort\w*|end(?:ed)?|mov\w*|driv\w*|drove|turn\w*'
            r'|do(?:ing|ne)?|did)\b',
            r'^what (?:made|makes|caused) (?:you|the rover|it)\b|^(?:what|who) stopped\b',
            r'\breason\b.*\b(?:refus|declin|reject|halt|paus|wait|stand|mov|turn|driv|drove)\w*',
            r'\breason\b.*\bstop\w*|\bwhy (?:you|the rover|it) (?:stopped|stop|halted|paused)\b',
            r'^why$|^why not$',
        ),
    ),
    (
        Topic.ERRORS,
        any_pattern(
            r'\b(?:errors?|faults?|fail(?:ed|s|ures?)?|wrong|problems?|broken|broke|trouble'
            r'|alarms?|warnings?)\b'
        ),
    ),
    (
        Topic.PLAN,
        any_pattern(
            r'\bplan(?:s|ned|ning)?\b|\bgoing to do\b|\bdo next\b|\bnext step\b|\bnext$'
            rf'|^where (?:are|is|will) {_WHO_EN} (?:going|heading|driving|headed|go|drive)\b'
            r'|\bwill you do\b|\byour (?:goal|aim|destination)\b|\bintend\b'
        ),
    ),
    (
        Topic.BATTERY,
        any_pattern(r'\b(?:battery|batteries|charg\w*|power|energy|juice)\b'),
    ),
    (Topic.MAST, any_pattern(r'\bmast\b')),
    (
        Topic.HISTORY,
        any_pattern(
            rf'\b(?:did|have|has) {_WHO_EN} (?:do|done|been|drive|driven|go|gone|move|travel\w*)\b'
            r'|\bso far\b|\bhistory\b|\bwhat (?:has )?happened\b|\blast (?:thing|task|order)\b'
            r'|\bdid (?:it|that|this) (?:work|succeed|go well|go wrong|fail)\b'
        ),
    ),
    (
        Topic.TASKS,
        any_pattern(
            r'\btasks?\b|\bqueued?\b|\bbusy\b|(?<!how are )\byou doing\b|\bworking on\b|\bdemo\b'
            rf'|\b(?:be|are|is|were) {_WHO_EN}? ?(?:done|finished)\b|\bpending\b|\bwaiting for\b'
            r'|\bhow long (?:will|until|till)\b|\bgoing on\b|\bto do\b|\brunning\b'
        ),
    ),
    (
        Topic.PICTURE,
        any_pattern(
            r'\b(?:pictures?|photos?|images?|captures?|snapshots?|scores?)\b'
            r'|^(?!where|which).*\b(?:bright|dark|enough light|much light)\b'
        ),
    ),
    (
        Topic.POSITION,
        any_pattern(
            r'\bx and y\b|\b(?:position|location|coordinates?|pose|heading|orientation)\b'
            r'(?! of (?!the rover\b))'
            rf"|\bwhere(?:abouts)?(?:'s)?(?: exactly)?(?: are| is| am)? {_WHO_EN}\b"
            rf'|\bwhich (?:way|direction) (?:are|is|do|does) {_WHO_EN}\b'
        ),
    ),
    (
        Topic.STATUS,
        any_pattern(
            r'\b(?:status|state|mode|speed|moving|driving|stopped|standing|alive|online|estop'
            r'|latch\w*|e[- ]stop|emergency stop)\b|\bhow fast\b',
            r'\b(?:did|does|has|have) (?:you|the rover|it) stop(?:ped)?\b|\bhow is the rover\b',
            r'^how are you(?: doing)?$',
            r'^(?:are|is) (?:you|the rover|it|everything) (?:ok|okay|all right|alright|fine'
            r'|ready|there|stuck|safe)\b',
        ),
    ),
)
TOPICS_JA: Patterns = (
    (
        Topic.WHY,
        any_pattern(
            r'(?:なぜ|なんで|どうして|何故|理由|原因).*(?:止|停|とま|動|待|中止|進|走|曲が|行|断|拒|だめ|できな)',
            r'^(?:なぜ|なんで|どうして|何故)(?:ですか)?$',
        ),
    ),
    (Topic.ERRORS, any_pattern(r'エラー|失敗|故障|異常|問題|不具合|警告')),
    (
        Topic.PLAN,
        any_pattern(
            r'計画|予定|プラン|つもり|この後|次[はに]|つぎ[はに]|これから|このあと|今後|目的|目標'
        ),
    ),
    (Topic.BATTERY, any_pattern(r'バッテリ|電池|充電|電力|残量')),
    (Topic.MAST, any_pattern(r'マスト|mast')),
    (
        Topic.HISTORY,
        any_pattern(
            r'これまで|今まで|履歴|うまくい[っきく]|成功し(?:た|まし)|失敗し(?:た|まし)|'
            r'(?:どれ|どの)(?:くらい|ぐらい|だけ|ほど).*(?:走|進|移動)'
            r'|何(?:メートル|m|キロ|歩|回)[^,]{0,8}(?:走|進|移動|曲が|回)[^,]{0,3}[っんし]'
            r'|(?:何|なに)をし(?:まし)?た|どこ[へに]行(?:きました|った)|何が(?:あった|ありまし|起)'
        ),
    ),
    (
        Topic.TASKS,
        any_pattern(
            r'タスク|仕事|作業|(?:何|なに)をし|何して|なにして|忙し|終わ|実行中|キュー|デモ'
        ),
    ),
    (Topic.PICTURE, any_pattern(r'写真|画像|撮影|スコア|点数|(?<!どこが)(?:明る|暗)')),
    (
        Topic.POSITION,
        any_pattern(
            r'どこ(?!が|を|へ|ま)|位置|現在地|場所|座標|向い|向き|方位|方角|どのへん|どの辺'
        ),
    ),
    (
        Topic.STATUS,
        any_pattern(
            r'(?:走行|移動|稼働|作動|停車|待機)中|状態|状況|ステータス|調子|モード|動い|動き|走って|止ま|停(?!止距)|とま|速度|速さ|安全'
            r'|大丈夫|元気'
        ),
    ),
)
TOPICS_ZH: Patterns = (
    (
        Topic.WHY,
        any_pattern(
            r'(?:为什么|为何|为啥|怎么(?:会|突然|就|又|还|不)|原因|干嘛|干吗)'
            r'.*(?:停|动|走|前进|开|等|取消|中止|拒绝|转|拐|拍)',
            r'^(?:为什么|为何|为啥)(?:呢)?$',
        ),
    ),
    (
        Topic.ERRORS,
        any_pattern(r'出错|错误|故障|失败|坏|出了?(?:什么)?问题|有问题|异常|毛病|报警'),
    ),
    (
        Topic.PLAN,
        any_pattern(
            r'计划|接下来|下一步|打算|(?:要|准备|正?在)(?:去|往|开往|开到)(?:哪|什么地方)|目标'
        ),
    ),
    (Topic.BATTERY, any_pattern(r'电量|电池|充电|多少电|百分之几的?电|有电|没电')),
    (Topic.MAST, any_pattern(r'桅杆')),
    (
        Topic.HISTORY,
        any_pattern(
            r'(?:做|干)[了过](?:什么|些什么|啥|哪些)|(?:成功|做成|做好|失败)了[吗没]|'
            r'(?:走|开|行驶|移动)了多|去过|历史|发生了什么'
        ),
    ),
    (
        Topic.TASKS,
        any_pattern(r'任务|队列|在(?:做|干|忙)|忙(?:吗|不忙)|做完|干完|演示'),
    ),
    (
        Topic.PICTURE,
        any_pattern(r'照片|拍照|图[像片]?|得了?分|分数|多少分|(?<!哪里)(?<!比较)(?:亮|暗)|光线'),
    ),
    (
        Topic.POSITION,
        any_pattern(
            r'x ?和 ?y|在哪|到哪[儿里]?去?了|'
            r'什么(?:地方|位置)|位置|坐标|朝(?:着)?(?:哪|什么)|朝向|方向'
        ),
    ),
    (
        Topic.STATUS,
        any_pattern(
            r'正常|状态|情况|状况|怎么样|模式|(?:在|还)(?:动|走|开|移动|行驶)|动了?(?:吗|没)|停|速度'
            r'|多快|安全|还好'
        ),
    ),
)
