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
