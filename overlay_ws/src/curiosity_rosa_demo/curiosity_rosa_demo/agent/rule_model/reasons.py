# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Why the rule model makes a call, in English, Japanese and Chinese: the thoughts of a turn. Pure.

Only the texts of the table are format strings. A value may be a reason itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from curiosity_rosa_demo.agent.rule_model.texts import LANGUAGES

_REASONS: dict[str, tuple[str, str, str]] = {
    'arrived': (
        'I have arrived where the light should be: look again.',
        '明るいはずの場所に着きました。もう一度見ます。',
        '已到达应该有光的地方：再看一次。',
    ),
    'drove_as_planned': (
        'I have driven as far as planned: look again.',
        '予定の距離を走りました。もう一度見ます。',
        '已行驶计划的距离：再看一次。',
    ),
    'cheap_look': (
        'A capture costs only {cost}: look first.',
        '撮影のコストは {cost} だけです。まず見ます。',
        '拍照只花费 {cost}：先看一看。',
    ),
    'open_to_capture': (
        '{why} The mast must be open for that.',
        '{why} それにはマストを展開する必要があります。',
        '{why} 为此必须打开桅杆。',
    ),
    'where_am_i': (
        'I need my position, heading and mast before I drive.',
        '走る前に、位置と方位とマストの状態が必要です。',
        '行驶之前需要知道位置、朝向和桅杆状态。',
    ),
    'wait_for_the_pose': (
        'My position is not known now: wait for it.',
        '今は位置がわかりません。わかるまで待ちます。',
        '现在位置未知：等待定位恢复。',
    ),
    'stow_to_drive': (
        'It is dark here: stow the mast to drive, since {why}.',
        'ここは暗いです。走るためにマストを収納します。理由: {why}。',
        '这里太暗：收起桅杆以便行驶，因为{why}。',
    ),
    'drive': ('Drive, since {why}.', '走ります。理由: {why}。', '行驶，因为{why}。'),
    'planned_look': (
        'the next look is best at x = {x} m, y = {y} m: the light is there with {chance} %',
        '次は x = {x} m、y = {y} m で見るのが最善です（明るい確率 {chance} %）',
        '下一次最好在 x = {x} 米、y = {y} 米处看：那里有光的概率为 {chance} %',
    ),
    'new_direction': ('try this new direction', 'この新しい方向を試します', '试试这个新方向'),
    'first_hop_for_score': (
        'a first hop shows how the score changes',
        '最初の移動でスコアの変化がわかります',
        '第一次移动可以看出得分的变化',
    ),
    'last_hop_gained': (
        'the last hop gained {gain}',
        '直前の移動でスコアが {gain} 上がりました',
        '上一次移动得分提高了 {gain}',
    ),
    'last_hop_was_dark': (
        'the last hop brought no light',
        '直前の移動では明るくなりませんでした',
        '上一次移动没有变亮',
    ),
    'stop_first': (
        'A motion failed or something moves: stop before anything else.',
        '走行が失敗したか、何かが動いています。まず停止します。',
        '行驶失败或有东西在动：先停止。',
    ),
    'ask_after_a_fault': (
        'That failed: ask what is true now before trying again.',
        '失敗しました。再試行の前に今の状態を確かめます。',
        '失败了：重试之前先确认现在的状态。',
    ),
    'is_the_mast_closed': (
        'I must know whether the mast is closed before I drive.',
        '走る前に、マストが収納済みか確かめます。',
        '行驶之前必须知道桅杆是否已收起。',
    ),
    'stow_the_part': (
        'It must be stowed before the rover drives.',
        '走る前に格納する必要があります。',
        '行驶之前必须收起它。',
    ),
    'close_to_drive': (
        'The mast must be closed before the rover drives.',
        '走る前にマストを収納する必要があります。',
        '行驶之前必须收起桅杆。',
    ),
    'asked_for_seconds': (
        'The user asked for it: {seconds} s.',
        'ユーザーの指示です: {seconds} 秒。',
        '用户的要求：{seconds} 秒。',
    ),
    'asked_for_a_picture': (
        'The user asked for a picture.',
        'ユーザーが写真を求めました。',
        '用户要求拍照。',
    ),
    'open_before_turning': (
        'The mast must be open before it can turn.',
        '旋回の前にマストを展開する必要があります。',
        '桅杆必须先打开才能旋转。',
    ),
    'analyze': (
        'The picture is good: analyze the ground in it.',
        '良い画像です。その地面を分析します。',
        '图像良好：分析其中的地面。',
    ),
    'asked': ('The user asked for it.', 'ユーザーの指示です。', '用户的要求。'),
    'measure': (
        'The user asks how the rover is: measure, do not assume.',
        'ユーザーが状態を尋ねています。推測せず測ります。',
        '用户询问火星车的状态：要测量，不要猜测。',
    ),
}


@dataclass(frozen=True)
class Reason:
    """The reason ``key`` with its values."""

    key: str
    values: Mapping[str, Any]


def reason(key: str, **values: Any) -> Reason:
    return Reason(key, values)


def reason_text(why: Reason, language: str) -> str:
    """The reason in ``language`` (en, ja, zh)."""
    values = {
        name: reason_text(value, language) if isinstance(value, Reason) else value
        for name, value in why.values.items()
    }
    return _REASONS[why.key][LANGUAGES.index(language)].format(**values)
