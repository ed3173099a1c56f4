# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The real motion beside its forecast. Pure. Metres and radians in the world frame."""

from __future__ import annotations

import math

from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.rehearsal import Comparison, Rehearsal, StepForecast
from curiosity_rosa_demo.infra.config.limits import RehearsalRules
from curiosity_rosa_demo.trace.events import RehearsalCompared, RehearsalMade
from curiosity_rosa_demo.trace.reporter import TraceFunction


def compare(
    predicted_m: float,
    predicted_end: Place,
    real_m: float | None,
    real_end: Place,
    rules: RehearsalRules,
) -> Comparison:
    """``real_m``: the measured path; None: unknown."""
    limit_m = max(rules.gap_m, rules.gap_share * predicted_m)
    distance_m = None if real_m is None else abs(real_m - predicted_m)
    place_m = math.hypot(real_end.x - predicted_end.x, real_end.y - predicted_end.y)
    turned = real_end.yaw_rad - predicted_end.yaw_rad
    heading_rad = abs(math.remainder(turned, math.tau))
    gaps = {
        'distance': distance_m is not None and distance_m > limit_m,
        'place': place_m > limit_m,
        'heading': heading_rad > rules.gap_rad,
    }
    return Comparison.model_validate(
        {
            'predicted_m': predicted_m,
            'metres': real_m,
            'end': real_end,
            'distance_gap_m': distance_m,
            'place_gap_m': place_m,
            'heading_gap_rad': heading_rad,
            'limit_m': limit_m,
            'exceeded': [name for name, is_over in gaps.items() if is_over],
        }
    )


def compared(
    rehearsal: Rehearsal,
    real_end: Place,
    rules: RehearsalRules,
    *,
    driven_m: float | None,
    step_id: int | None = None,
) -> Rehearsal | None:
    """The rehearsal with what has come of it up to the end of the step; by default up to its last.
    None: nothing to compare yet. ``driven_m``: what the turn has driven.

    On the way only a gap over its limit counts; once there is one, or at the end, it is over.
    """
    steps = rehearsal.steps
    if rehearsal.real is not None or not steps:
        return None
    places = [at for at, each in enumerate(steps) if each.step_id == step_id]
    last = places[-1] if places else -1
    if step_id is None:
        last = len(steps) - 1
    if last < 0:
        return None
    predicted_m = sum(each.metres for each in steps[: last + 1])
    if not predicted_m:
        return None
    real_m = None if driven_m is None else driven_m - rehearsal.driven_m
    real = compare(predicted_m, steps[last].end, real_m, real_end, rules)
    if last < len(steps) - 1 and not real.exceeded:
        return None
    return rehearsal.model_copy(update={'real': real})


# -----------------------------------------------------------------------------------------------
# The rehearsal and its comparison for people, in English, Japanese and Chinese. Pure.


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


# --- A rehearsal, and what came of it, as trace events -----------------------------------------


def trace_rehearsal(trace: TraceFunction, rehearsal: Rehearsal) -> None:
    trace(**RehearsalMade(rehearsal).trace_fields())


def trace_step_refusal(trace: TraceFunction, step: StepForecast) -> None:
    """As the gate traces its own refusal of this call."""
    skill = step.call.partition('(')[0]
    text = f'{skill}: {step.reason}'
    failed = {'ok': False, 'error_reason': step.reason, 'data': step.refusal}
    trace(TraceKind.ERROR, text, tool_name=skill, **failed)


def trace_comparison(trace: TraceFunction, rehearsal: Rehearsal, language: str) -> Rehearsal:
    """Trace ``rehearsal.real``: a gap over its limit is an ERROR. Returns the rehearsal with the
    text of it.
    """
    real = rehearsal.real
    assert real is not None
    text = comparison_text(real, language)
    trace(**RehearsalCompared(rehearsal).trace_fields(text))
    return rehearsal.model_copy(update={'text': f'{rehearsal.text}\n{text}'})
