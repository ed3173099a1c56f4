# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The steps of an order, and what they did, in the words of the user's language. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from curiosity_rosa_demo.agent.rule_model.language.frames import Step
from curiosity_rosa_demo.agent.rule_model.texts import LANGUAGES
from curiosity_rosa_demo.trace.reporter import finite_float

_UNITS = {'s': ('s', '秒', '秒'), 'm': ('m', 'm', '米'), 'deg': ('degrees', '度', '度')}
# ``{much}`` is the amount with its unit, or nothing; ``{count}`` a number of pictures.
_STEPS = {
    'forward': ('drive forward {much}', '{much}前進', '前进{much}'),
    'left': ('turn left {much}', '左に{much}旋回', '左转{much}'),
    'right': ('turn right {much}', '右に{much}旋回', '右转{much}'),
    'goto': ('drive to x {x:g}, y {y:g}', 'x {x:g}, y {y:g} へ走行', '开到 x {x:g}, y {y:g}'),
    'home': ('drive home', '基地へ戻る', '返回基地'),
    'back': ('come back', '元の場所へ戻る', '回到原处'),
    'light': ('drive to the light', '明るい所へ走行', '开到有光的地方'),
    'explore': ('analyze the ground', '地面を調べる', '分析地面'),
    'picture': ('take a picture', '写真を撮る', '拍照'),
    'pictures': ('take {count} pictures', '写真を{count}枚撮る', '拍{count}张照片'),
    'around': ('take pictures all around', '周りの写真を撮る', '拍周围的照片'),
    'open': ('raise the mast', 'マストを上げる', '升起桅杆'),
    'close': ('stow the mast', 'マストをたたむ', '收起桅杆'),
    'rotate': ('turn the mast', 'マストを回す', '转动桅杆'),
    'status': ('report the status', '状態を報告', '报告状态'),
    'wait': ('wait {much}', '{much}待つ', '等待{much}'),
    'say': ('say "{text}"', '「{text}」と言う', '说“{text}”'),
    'skill': ('{text}', '{text}', '{text}'),
}
_CONDITIONS = {
    'dark': ('it is dark', '暗い', '光线暗'),
    'bright': ('it is bright', '明るい', '光线亮'),
    'battery>': (
        'the battery is above {value} %',
        'バッテリーが{value} %より多い',
        '电量高于 {value} %',
    ),
    'battery<': (
        'the battery is below {value} %',
        'バッテリーが{value} %より少ない',
        '电量低于 {value} %',
    ),
    'mast open': ('the mast is open', 'マストが上がっている', '桅杆已升起'),
    'mast closed': ('the mast is closed', 'マストが収納されている', '桅杆已收起'),
}
_IF = ('if {condition}: {step}', '{condition}なら: {step}', '如果{condition}：{step}')
_DONE = {
    'turned': (
        'turned {side} {degrees:.0f} degrees, {metres:.1f} m driven',
        '{side}に{degrees:.0f}度旋回（{metres:.1f} m走行）',
        '{side}转 {degrees:.0f} 度（行驶 {metres:.1f} 米）',
    ),
    'drove': ('drove {metres:.1f} m', '{metres:.1f} m走行', '行驶 {metres:.1f} 米'),
    'picture': (
        'took a picture, score {score:.2f}',
        '撮影（スコア {score:.2f}）',
        '拍照（评分 {score:.2f}）',
    ),
    'waited': ('waited {seconds:g} s', '{seconds:g}秒待機', '等待 {seconds:g} 秒'),
    'status': (
        'at x {x:.2f}, y {y:.2f} m',
        '位置 x {x:.2f}, y {y:.2f} m',
        '位于 x {x:.2f}, y {y:.2f} 米',
    ),
    'mast_rotate': ('turned the mast', 'マストを回しました', '转动了桅杆'),
    'speak': ('spoke', '発話', '说话'),
}
_SIDES = {'left': ('left', '左', '左'), 'right': ('right', '右', '右')}


def step_text(step: Step, language: str) -> str:
    """What is ordered: ``drive forward 2 m``."""
    at = LANGUAGES.index(language)
    much = ''
    if step.unit:
        gap = ' ' if language == 'en' or step.unit == 'm' else ''
        much = f'{step.amount:g}{gap}{_UNITS[step.unit][at]}'
    key = 'pictures' if step.verb == 'picture' and step.count > 1 else step.verb
    text = (
        _STEPS[key][at]
        .format(much=much, x=step.x, y=step.y, count=step.count, text=step.text)
        .strip()
    )
    if not step.condition:
        return text
    return _IF[at].format(condition=condition_text(step.condition, language), step=text)


def steps_text(steps: Iterable[Step], language: str) -> str:
    """``drive forward 2 m; take a picture``. A step that is given several times is named once."""
    return '; '.join(dict.fromkeys(step_text(step, language) for step in steps))


def condition_text(condition: str, language: str) -> str:
    """A condition of ``frames.condition_of``: ``battery>50`` is "the battery is above 50 %"."""
    kind = condition[:8] if condition.startswith('battery') else condition
    text = _CONDITIONS[kind][LANGUAGES.index(language)]
    return text.format(value=condition[len(kind) :])


LEAST_TURN_DEG = 0.5  # less is a drive straight ahead


def done_text(tool: str, data: Mapping[str, Any], language: str) -> str:
    """What a step really did, in measured numbers; '' for a move of the mast between others."""
    at = LANGUAGES.index(language)
    metres, turned, score, waited, x, y = (
        finite_float(data.get(key))
        for key in ('distance_m', 'turned_deg', 'score', 'waited_s', 'rover_x', 'rover_y')
    )
    if turned is not None and (metres is None or abs(turned) >= LEAST_TURN_DEG):
        side = _SIDES['left' if turned > 0 else 'right'][at]
        return _DONE['turned'][at].format(side=side, degrees=abs(turned), metres=metres or 0.0)
    if metres is not None:
        return _DONE['drove'][at].format(metres=metres)
    if score is not None:
        return _DONE['picture'][at].format(score=score)
    if waited is not None:
        return _DONE['waited'][at].format(seconds=waited)
    if x is not None and y is not None:
        return _DONE['status'][at].format(x=x, y=y)
    if tool in ('mast_open', 'mast_close', 'get_status'):
        return ''
    return _DONE[tool][at] if tool in _DONE else tool


# -----------------------------------------------------------------------------------------------
# Why the rule model makes a call, in English, Japanese and Chinese: the thoughts of a turn. Pure
#
# Only the texts of the table are format strings. A value may be a reason itself.


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
