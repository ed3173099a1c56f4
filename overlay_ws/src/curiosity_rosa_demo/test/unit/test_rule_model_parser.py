# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the routine understands: languages, intents, and above all what must never drive."""

from __future__ import annotations

from curiosity_rosa_demo.agent.rule_model.language.frames import MOTIONS as MOTION_STEPS
from curiosity_rosa_demo.agent.rule_model.parser import detect_language, Intent, parse_intent
from hypothesis import given
from hypothesis import strategies as st
import pytest

TOOLS = {
    'stop': 'move_stop',
    'open': 'mast_open',
    'close': 'mast_close',
    'rotate': 'mast_rotate',
    'capture': 'capture_and_score',
    'forward': 'move_forward',
    'left': 'turn_left',
    'right': 'turn_right',
    'status': 'get_status',
}
# A label with its utterances; a command to drive has its seconds.
UTTERANCES = """
explore: 地面のテクスチャを調査して（Analyze the ground texture） | Analyze the ground texture
explore: Please explore the terrain. | can you analyze the ground texture?
explore: go forward until it is bright | could you please survey the area
explore: I want you to investigate the surface | help me explore the ground
explore: 地面を調べてください | 地面のテクスチャを調査してくれませんか？ | 周囲を探索して
explore: 明るい場所を探して | 調査開始 | 分析地面纹理 | 请勘察一下周围的地形 | 探索
explore: 帮我寻找明亮的地方 | now analyze the soil, please | 请分析一下土壤 | 把地面分析一下
explore: 地面のテクスチャを調査
status: 現在のローバーの状態を教えて | what is the rover's status? | What’s the status
status: 状态如何 | 状态如何？ | status | Is the mast open? | where are you? | are you moving?
status: マストは開いていますか？ | どこにいますか | 桅杆打开了吗？ | 你在哪里 | 报告状态
status: did the rover stop?
stop: stop | STOP!!! | Stop! Do not move forward! | please halt the rover | 止まれ | 止まって！
stop: 停止 | 停下！ | don't move | 動かないで | 不要动 | can you stop?
stop: stop exploring the ground | please stop the rover now, it is in danger
open: open the mast | raise the mast, please | マストを開いて | マストを展開してください
open: 打开桅杆 | 请把桅杆升起
close: close the mast | stow the mast | マストを収納して | 收起桅杆
rotate: rotate the mast | look around | マストを回して | 旋转桅杆
capture: take a picture | Take a photo of the ground
capture: 写真を撮って | 撮影してください | 拍照 | how bright is it here?
forward: forward | 前進 | まっすぐ進んでください | 前に進んでもらえますか | 往前走一下
forward 5: go forward for 5 seconds | drive ahead 5 s please | 5秒前進して | 前に5秒進んで
forward 5: 前进5秒
forward 10: Rover, move forward ten seconds!
forward 3: 请向前走三秒钟
left: rotate left | turn left | 左に曲がって | 左转
left 4: turn left for 4 s
left 3: 左に3秒曲がって
left 2.5: 左转2.5秒
right: right | could you turn right please | 右折してください | 向右转
greeting: hello | こんにちは | 你好
help: help | what can you do? | 使い方 | 何ができますか？ | 你能做什么？
negated: don't move forward | Do not explore the ground | please do not open the mast
negated: don't stop | 前進しないで | 調査しないでください | 止まらないで | 不要前进 | 别停
negated: never turn left | 地面を調査するな | 不要分析地面
negated: 調査してはいけない | 地面の調査はしないで
unclear: forward 5 | Analyze the ground without moving
unclear: forward 0 s | the word forward | the mast | the mast is open | 今日の天気は？
orders: move forward 3 meters | turn left 90 degrees | if it is dark go forward | 10米前进
orders: go forward then turn left | close the mast and analyze the ground | 暗かったら前進して
orders: 如果太暗就前进 | open and close the mast | open the mast and take a picture
orders: find a bright place and take a picture
unclear: he told me to go forward | 前に進んだ
unclear: drive backwards | 地面の調査結果を教えて
unclear: Why did you analyze the ground? | tell me the results when you explore the terrain
unclear: 地面を調査しました | 分析了地面 | 地面を調査するのは危険
unclear: you analyze the ground badly | moving left is dangerous
unclear: 前進ボタン | 左の岩を見て | left over | forward this message to Bob | turn right around
unclear: 前進できる？ | 探索地面很危险 | 能前进吗 | go to position 3
unclear: 調査の状況
unknown: what is the meaning of life? | write a poem | 给我讲个笑话 | asdf
unknown: go | the ground is red | I already explored the ground
"""
TABLE = [
    (wanted, text)
    for wanted, _, texts in (line.partition(': ') for line in UTTERANCES.strip().splitlines())
    for text in texts.split(' | ')
]
MOTIONS = [text for wanted, text in TABLE if wanted.split()[0] in ('forward', 'left', 'right')]


def drives(intent: Intent) -> bool:
    return any(step.verb in MOTION_STEPS and not step.condition for step in intent.steps)


@pytest.mark.parametrize(('wanted', 'text'), TABLE)
def test_utterance_is_understood(wanted: str, text: str) -> None:
    name, _, seconds = wanted.partition(' ')
    kind = 'status' if name == 'status' else 'command' if name in TOOLS else name
    intent = parse_intent(text)
    assert (intent.kind, intent.tool) == (kind, TOOLS.get(name))
    assert intent.duration_s == (float(seconds) if seconds else None)


def test_empty_text_is_a_call_for_help() -> None:
    assert parse_intent(' 。') == Intent('help')


DENIALS = [
    *("don't {}", 'do not {}', 'never {}', 'if you {}', 'why {}', '不要{}', '别{}', '如果{}'),
    *('{} を禁止', '{}ないで', '{}たら', '{}しないでください', '{}したか', '{}了吗'),
]


@pytest.mark.parametrize('text', MOTIONS)
@pytest.mark.parametrize('frame', DENIALS)
def test_a_motion_that_is_denied_or_asked_about_does_not_drive(text: str, frame: str) -> None:
    assert not drives(parse_intent(frame.format(text.rstrip('.!'))))


@given(st.text(max_size=80))
def test_any_text_is_understood_somehow(text: str) -> None:
    assert parse_intent(text).kind in (
        'explore', 'status', 'command', 'orders', 'greeting', 'help', 'negated', 'unclear',
        'unknown',
    )  # fmt: skip


PIECES = """
not never move drive go stop forward left explore ground mast open the if 5 s please しない ないで
前進 左 調査 地面 マスト 開いて して ください か お願い します 不要 别 前进 分析 桅杆 吗
"""
WORDS = st.sampled_from(PIECES.split())


@given(st.lists(WORDS, max_size=8), st.sampled_from(['', ' ']))
def test_a_negation_never_drives(said: list[str], glue: str) -> None:
    negations = {'not', 'never', 'しない', 'ないで', '不要', '别'}
    intent = parse_intent(glue.join(said))
    if glue and negations & set(said):
        assert not drives(intent)


@pytest.mark.parametrize(
    'piece', ['お願いします', 'くれ', 'please ', '地面', '请', 'help me ', 'ok ', ' ']
)
def test_a_long_text_is_read_in_bounded_time(piece: str) -> None:
    for end in ('', 'x', 'explore the ground', '調査'):
        assert not drives(parse_intent(piece * 500 + end)) or not piece.strip()


def test_stop_is_heard_in_a_text_of_any_length() -> None:
    assert parse_intent('x ' * 5000 + 'stop').tool == 'move_stop'


@pytest.mark.parametrize(
    ('text', 'wanted'),
    [
        ('地面のテクスチャを調査して（Analyze the ground texture）', 'ja'),
        ('マスト', 'ja'),
        ('ﾏｽﾄ', 'ja'),
        ('分析地面', 'zh'),
        ('停止', 'zh'),
        ('Analyze', 'en'),
        ('', 'en'),
        ('・', 'en'),
    ],
)
def test_language(text: str, wanted: str) -> None:
    assert detect_language(text) == wanted


@given(st.floats(0.1, 999.0).map(lambda s: round(s, 1)))
def test_seconds_survive(seconds: float) -> None:
    for text in (f'forward {seconds} s', f'{seconds}秒前進して', f'前进{seconds}秒'):
        intent = parse_intent(text)
        assert (intent.tool, intent.duration_s) == ('move_forward', seconds)
