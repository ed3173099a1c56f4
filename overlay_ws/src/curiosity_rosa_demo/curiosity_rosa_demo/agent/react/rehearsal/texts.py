# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The rehearsal and its comparison for people, in English, Japanese and Chinese. Pure."""

from __future__ import annotations

import math

from curiosity_rosa_demo.domain.dead_reckoning import Place
from curiosity_rosa_demo.domain.rehearsal import Comparison, Rehearsal

_TEXTS = {
    'pose_unknown': (
        'Rehearsal: the pose is unknown, nothing is predicted.',
        'リハーサル：位置が不明なので予測しません。',
        '预演：位置未知，不作预测。',
    ),
    'stale': (
        'Rehearsal: the pose is stale, nothing is predicted.',
        'リハーサル：位置が古いので予測しません。',
        '预演：位置已过期，不作预测。',
    ),
    'moving': (
        'Rehearsal: the rover moves, nothing is predicted.',
        'リハーサル：走行中なので予測しません。',
        '预演：探测车正在移动，不作预测。',
    ),
    'unknown': (
        'Rehearsal: where {call} leads is not known beforehand.',
        'リハーサル：{call} がどこへ向かうかは事前に分かりません。',
        '预演：{call} 会到哪里无法预知。',
    ),
    'way': (
        'Rehearsal: {metres:.1f} m in {seconds:.0f} s to {end}',
        'リハーサル：{seconds:.0f} 秒で {metres:.1f} m 走り、{end} へ',
        '预演：{seconds:.0f} 秒行驶 {metres:.1f} 米，到达 {end}',
    ),
    'energy': (
        'battery -{energy:.1f} %',
        'バッテリー -{energy:.1f} %',
        '电量 -{energy:.1f} %',
    ),
    'fence': (
        '{margin:.1f} m inside the fence',
        'フェンスまで余裕 {margin:.1f} m',
        '距围栏余量 {margin:.1f} 米',
    ),
    'outside': (
        '{margin:.1f} m beyond the fence',
        'フェンスを {margin:.1f} m 超える',
        '超出围栏 {margin:.1f} 米',
    ),
    'obstacle': (
        '{margin:.1f} m to an obstacle',
        '障害物まで {margin:.1f} m',
        '距障碍物 {margin:.1f} 米',
    ),
    'unknown_from': (
        'not predicted from {call} on',
        '{call} 以降は予測しません',
        '从 {call} 起不作预测',
    ),
    'refuse': (
        'The gate would refuse {call} there: {reason}',
        'ゲートはそこで {call} を拒否します：{reason}',
        '关卡届时会拒绝 {call}：{reason}',
    ),
    'ask': (
        'The gate would ask about {call} there: {reason}',
        'ゲートはそこで {call} について確認します：{reason}',
        '关卡届时会询问 {call}：{reason}',
    ),
    'as_rehearsed': (
        'As rehearsed: {gaps}.',
        'リハーサルどおり：{gaps}。',
        '与预演一致：{gaps}。',
    ),
    'differs': (
        'Not as rehearsed: {gaps}; the limit is {limit:.1f} m. Slip, or a stuck wheel?',
        'リハーサルと違います：{gaps}、限度 {limit:.1f} m。スリップか車輪の固着かもしれません。',
        '与预演不符：{gaps}，限度 {limit:.1f} 米。可能打滑或车轮卡住。',
    ),
    'gaps': (
        '{place:.2f} m and {degrees:.0f} degrees off',
        '位置の差 {place:.2f} m、向きの差 {degrees:.0f} 度',
        '位置相差 {place:.2f} 米，朝向相差 {degrees:.0f} 度',
    ),
    'driven': (
        '{real:.1f} m driven, {predicted:.1f} m predicted',
        '走行 {real:.1f} m、予測 {predicted:.1f} m',
        '行驶 {real:.1f} 米，预测 {predicted:.1f} 米',
    ),
}
_LANGUAGES = ('en', 'ja', 'zh')
_PUNCTUATION = {'ja': ('、', '。'), 'zh': ('，', '。')}


def rehearsal_text(rehearsal: Rehearsal, language: str) -> str:
    """One line of figures; a second one when the fence stands in the way of a plan."""
    if rehearsal.why_not or rehearsal.end is None:
        return _text(rehearsal.why_not or 'pose_unknown', language)
    if not rehearsal.steps:
        return _text('unknown', language, call=rehearsal.unknown_from)
    parts = [
        _text(
            'way',
            language,
            metres=rehearsal.metres,
            seconds=rehearsal.seconds,
            end=_place(rehearsal.end),
        ),
        _text('energy', language, energy=rehearsal.energy_pct),
    ]
    margin = rehearsal.fence_margin_m
    if margin is not None:
        parts.append(_text('outside' if margin < 0.0 else 'fence', language, margin=abs(margin)))
    if rehearsal.obstacle_margin_m is not None:
        parts.append(_text('obstacle', language, margin=rehearsal.obstacle_margin_m))
    if rehearsal.unknown_from:
        parts.append(_text('unknown_from', language, call=rehearsal.unknown_from))
    comma, end = _PUNCTUATION.get(language, ('; ', '.'))
    lines = [comma.join(parts) + end]
    step = rehearsal.at_the_fence
    if step is not None and step.step_id is not None:  # a question has its own reasons
        call = f'{step.step_id}. {step.call}'
        lines.append(_text(step.verdict, language, call=call, reason=step.reason))
    return '\n'.join(lines)


def comparison_text(real: Comparison, language: str) -> str:
    gaps = _text(
        'gaps', language, place=real.place_gap_m, degrees=math.degrees(real.heading_gap_rad)
    )
    if real.metres is not None:
        driven = _text('driven', language, real=real.metres, predicted=real.predicted_m)
        gaps = _PUNCTUATION.get(language, ('; ', '.'))[0].join((driven, gaps))
    name = 'differs' if real.exceeded else 'as_rehearsed'
    return _text(name, language, gaps=gaps, limit=real.limit_m)


def _place(end: Place) -> str:
    degrees = math.degrees(math.remainder(end.yaw_rad, math.tau))
    return f'x {end.x:.1f} m, y {end.y:.1f} m, {degrees:.0f}°'


def _text(name: str, language: str, **values: object) -> str:
    at = _LANGUAGES.index(language) if language in _LANGUAGES else 0
    return _TEXTS[name][at].format(**values)
