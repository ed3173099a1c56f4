# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the routine understands: languages, intents, and above all what must never drive."""

from __future__ import annotations

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
UTTERANCES = """
explore|地面のテクスチャを調査して（Analyze the ground texture）
explore|Analyze the ground texture
explore|Please explore the terrain.
explore|can you analyze the ground texture?
explore|could you please survey the area
explore|find a bright place and take a picture
explore|I want you to investigate the surface
explore|help me explore the ground
explore|地面を調べてください
explore|地面のテクスチャを調査してくれませんか？
explore|周囲を探索して
explore|明るい場所を探して
explore|調査開始
explore|分析地面纹理
explore|请勘察一下周围的地形
explore|探索
explore|帮我寻找明亮的地方
status|現在のローバーの状態を教えて
status|what is the rover's status?
status|What’s the status
status|状态如何
status|状态如何？
status|status
status|Is the mast open?
status|where are you?
status|are you moving?
status|マストは開いていますか？
status|どこにいますか
status|桅杆打开了吗？
status|你在哪里
status|报告状态
status|did the rover stop?
stop|stop
stop|STOP!!!
stop|Stop! Do not move forward!
stop|please halt the rover
stop|止まれ
stop|止まって！
stop|停止
stop|停下！
stop|don't move
stop|動かないで
stop|不要动
stop|can you stop?
open|open the mast
open|raise the mast, please
open|マストを開いて
open|マストを展開してください
open|打开桅杆
open|请把桅杆升起
close|close the mast
close|stow the mast
close|マストを収納して
close|收起桅杆
rotate|rotate the mast
rotate|look around
rotate|マストを回して
rotate|旋转桅杆
capture|take a picture
capture|Take a photo of the ground
capture|open the mast and take a picture
capture|写真を撮って
capture|撮影してください
capture|拍照
capture|how bright is it here?
forward|forward
forward 5|go forward for 5 seconds
forward 5|drive ahead 5 s please
forward 10|Rover, move forward ten seconds!
forward|前進
forward 5|5秒前進して
forward 5|前に5秒進んで
forward|まっすぐ進んでください
forward|前に進んでもらえますか
forward 5|前进5秒
forward 3|请向前走三秒钟
forward|往前走一下
left|turn left
left 4|turn left for 4 s
left|左に曲がって
left 3|左に3秒曲がって
left|左转
left 2.5|左转2.5秒
right|right
right|could you turn right please
right|右折してください
right|向右转
greeting|hello
greeting|こんにちは
greeting|你好
help|help
help|what can you do?
help|使い方
help|何ができますか？
help|你能做什么？
negated|don't move forward
negated|Do not explore the ground
negated|please do not open the mast
negated|don't stop
negated|前進しないで
negated|調査しないでください
negated|止まらないで
negated|不要前进
negated|别停
negated|never turn left
negated|地面を調査するな
negated|Analyze the ground without moving
negated|不要分析地面
unclear|move forward 3 meters
unclear|turn left 90 degrees
unclear|go
unclear|forward 5
unclear|if it is dark go forward
unclear|go forward until it is bright
unclear|go forward then turn left
unclear|forward 0 s
unclear|close the mast and analyze the ground
unclear|the word forward
unclear|he told me to go forward
unclear|前に進んだ
unclear|暗かったら前進して
unclear|10米前进
unclear|如果太暗就前进
unclear|rotate left
unclear|drive backwards
unclear|地面の調査結果を教えて
unclear|Why did you analyze the ground?
unclear|tell me the results when you explore the terrain
unknown|what is the meaning of life?
unknown|write a poem
unknown|今日の天気は？
unknown|给我讲个笑话
unknown|asdf
unknown|the ground is red
unclear|地面を調査しました
unclear|分析了地面
unclear|地面を調査するのは危険
negated|調査してはいけない
negated|地面の調査はしないで
unclear|I already explored the ground
unclear|you analyze the ground badly
unclear|moving left is dangerous
unclear|前進ボタン
unclear|左の岩を見て
unclear|left over
unclear|forward this message to Bob
unclear|turn right around
unclear|前進できる？
unclear|探索地面很危险
unclear|能前进吗
unclear|go to position 3
unclear|open and close the mast
explore|now analyze the soil, please
explore|请分析一下土壤
explore|把地面分析一下
explore|地面のテクスチャを調査
unknown|the mast
unknown|the mast is open
unclear|調査の状況
stop|stop exploring the ground
stop|please stop the rover now, it is in danger
"""
TABLE = [tuple(line.split('|')) for line in UTTERANCES.strip().splitlines()]
MOTIONS = [text for wanted, text in TABLE if wanted.split()[0] in ('forward', 'left', 'right')]


def drives(intent: Intent) -> bool:
    motion = intent.tool in ('move_forward', 'turn_left', 'turn_right')
    return motion or intent.kind == 'explore'


@pytest.mark.parametrize(('wanted', 'text'), TABLE)
def test_utterance_is_understood(wanted: str, text: str) -> None:
    name, _, seconds = wanted.partition(' ')
    kind = 'status' if name == 'status' else 'command' if name in TOOLS else name
    intent = parse_intent(text)
    assert (intent.kind, intent.tool) == (kind, TOOLS.get(name))
    assert intent.duration_s == (float(seconds) if seconds else None)


def test_empty_text_is_a_call_for_help() -> None:
    assert parse_intent(' 。') == Intent('help')


@pytest.mark.parametrize('text', MOTIONS)
@pytest.mark.parametrize(
    'frame',
    [
        "don't {}",
        'do not {}',
        'never {}',
        'if you {}',
        'why {}',
        '{} を禁止',
        '{}ないで',
        '{}たら',
        '{}しないでください',
        '{}したか',
        '不要{}',
        '别{}',
        '如果{}',
        '{}了吗',
    ],
)
def test_a_motion_that_is_denied_or_asked_about_does_not_drive(text: str, frame: str) -> None:
    assert not drives(parse_intent(frame.format(text.rstrip('.!'))))


@given(st.text(max_size=80))
def test_any_text_is_understood_somehow(text: str) -> None:
    assert parse_intent(text).kind in (
        'explore', 'status', 'command', 'greeting', 'help', 'negated', 'unclear', 'unknown',
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
        assert parse_intent(text) == Intent('command', 'move_forward', seconds)
