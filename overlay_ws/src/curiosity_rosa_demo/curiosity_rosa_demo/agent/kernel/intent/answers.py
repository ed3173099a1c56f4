# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Pause, resume, clear and answers in English, Japanese and Chinese. Data."""

from __future__ import annotations

from curiosity_rosa_demo.agent.kernel.intent.normalize import (
    any_pattern,
    FILL_EN,
    FILL_JA,
    FILL_ZH,
    NOT_EN,
    whole_utterance,
)

PAUSE_MASK = any_pattern(
    rf'{NOT_EN} (?:pause|wait|hold on|hang on)\b|\b(?:an?|the|without|no|how do i'
    rf'|how can i) pause',
    r'(?:不要|别|不用)(?:暂停|等)|取消暂停|暂停(?:键|按钮|了吗)|暂停(?:之后|以后|后)',
    r'一時停止(?:しない|せず|の(?:標識|看板)|標識|中|を?解除|した)|ポーズを(?:解除|とって)',
)
PAUSE = any_pattern(
    r'\bpause\b(?! for (?:\d|half\b|an?\b|one\b|two\b|three\b|five\b|ten\b))'
    r'|\b(?:hold|hang) on\b(?! to\b)|\bhold up\b|\btake a break\b'
    r'|\bstand ?by\b(?! the)|⏸',
    rf'^(?:{FILL_EN})*(?:no |oh )*(?:wait|hold|give me|just|one|gimme)'
    r'(?: for)?(?: an?| one| just an?)? ?'
    r'(?:second|sec|moment|minute|min|bit|while|tick)s?\b',
    rf'^(?:{FILL_EN})*(?:wait,? ?){{1,5}}(?:up|here|there|for me|for us|please|now| )*(?:$'
    rf'|[,.!;])',
    r'一時停止|一時中断|^ぽず|^ポーズ|(?<![秒分間])待機(?:し[てろ]|$)|'
    r'お待ち(?:くだ|を|下)|chotto matte',
    r'^(?:ちょっと|ちょい|少し|少々|しばらく|まだ|今|あ、?|おい、?|ローバー、?|すみません、?){0,4}'
    r'(?:待|ま)(?:って(?!から|い[るた])|て|った|ち)(?:(?=[くねよて下])|(?!\w))',
    r'暂停|^(?:请|先|你|再|快|诶|哎|喂|好){0,3}(?:等(?:一下|等|一等|会儿?|一会儿?|下|我)'
    r'|稍等|稍候|且慢|慢着)(?!再|亮|后)',
)
RESUME = whole_utterance(
    r'(?:continue|resume|go on|carry on|keep (?:going|moving|driving|on|at it)|unpause|⏵|▶)'
    r'(?: (?:with )?(?:the |your |this )?(?:task|work|mission|demo|drive|job|plan|route'
    r'|exploration'
    r'|driving|moving|exploring|what you were doing|where you left off))?',
    r'pick up where you left off|back to work|let us go on',
    polite=FILL_EN,
), whole_utterance(
    r'(?:(?:タスク|作業|調査|走行|ミッション|探索|任務|仕事|運転|移動)[をの]?)?(?:そのまま)?'
    r'(?:続けて|つづけて|続けろ|再開|続行|継続|再開して|続行して|継続して|続きをやって|続きをして)'
    r'(?:して|せよ|しろ|する|いい)?',
    polite=FILL_JA,
), whole_utterance(
    r'(?:继续|恢复|接着)(?:走|前进|执行|任务|工作|行驶|探索|干|开|做|往前走|运行|刚才的任务'
    r'|执行任务)?',
    polite=FILL_ZH,
)  # fmt: skip
_ESTOP_EN = r'(?:the )?(?:e[- ]?stop|emergency stop|safety latch|latch|safety stop|safe mode)'
CLEAR = whole_utterance(
    rf'(?:clear|reset|release|unlatch|disengage|lift) {_ESTOP_EN}',
    r"(?:it is|it's|its|everything is|all is) safe (?:again|now|to (?:move|drive|go|continue)"
    r'(?: on)?(?: again)?)',
    polite=FILL_EN,
), whole_utterance(
    r'(?:(?:緊急停止|非常停止|安全ロック|ロック|ラッチ|安全停止)[をの]?)?解除(?:して|する'
    r'|せよ|しろ|していい)?',
    r'安全(?:です|になりました|が確認できました|を確認しました|確認よし)|もう安全',
    polite=FILL_JA,
), whole_utterance(
    r'(?:可以)?(?:解除|复位|重置|取消)(?:急停|紧急停止|安全锁定?|锁定|安全锁存|紧急制动)|解除',
    r'(?:已经|这里|周围|确认)?安全了',
    polite=FILL_ZH,
)  # fmt: skip
APPROVE = whole_utterance(
    r'(?:(?:yes|yep|yeah|yup|aye|sure|ok|okay|fine|approved?|accept|accepted|confirm|confirmed'
    r'|agreed|go ahead|go for it|do it|do that|proceed|affirmative|of course|absolutely|granted'
    r'|you may|sounds good|alright|all right|i approve|y|👍|✅|👌) ?)+',
    polite=FILL_EN,
), whole_utterance(
    r'(?:(?:はい|うん|ええ|いいですよ|いいよ|承認|許可|了解|進めて|オッケ|オケ|もちろん'
    r'|賛成|やって'
    r'|大丈夫です|それで)(?:する|します|しました)?)+',
    polite=FILL_JA,
), whole_utterance(
    r'(?:(?:好的?|是的?|对|可以|同意|批准|行|没问题|嗯|确认|允许|去吧|做吧|执行吧|当然) ?)+',
    polite=FILL_ZH,
)  # fmt: skip
REJECT = whole_utterance(
    r'(?:(?:no|nope|nah|nay|reject|rejected|deny|denied|refuse|decline|negative|no way|not now'
    r'|no thanks|no thank you|not ok|not okay|i refuse|i reject|disapprove|disapproved|n|👎|❌'
    r'|(?:don\x27?t|do not)(?: do (?:it|that|this))?|not (?:that|like that)|absolutely not) ?)+',
    polite=FILL_EN,
), whole_utterance(
    r'(?:(?:いいえ|いや|いえ|だめ|駄目|却下|拒否|不許可|反対|ノー|嫌|無理|やらないで|しないで)'
    r'(?:だ|する|します|しました)?)+',
    polite=FILL_JA,
), whole_utterance(
    r'(?:(?:不行|不可以|不同意|不批准|不好|不要|不是|不对|不可|不许|拒绝|否决?|没门|不'
    r'|别这样|别) ?)+',
    polite=FILL_ZH,
)  # fmt: skip
URGENT = any_pattern(
    r'(?<!no )(?<!not )\b(?:immediately|urgent|urgently|right now|at once|asap|right away'
    r'|hurry)\b',
    r'(?<![まもっう])すぐ|至急|緊急|急いで|ただちに|直ちに|马上|立刻|立即|赶快|赶紧|尽快|火速',
)
