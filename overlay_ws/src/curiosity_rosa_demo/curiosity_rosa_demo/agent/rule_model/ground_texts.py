# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An analysis of the ground as sentences, in English, Japanese and Chinese. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curiosity_rosa_demo.agent.rule_model.texts import LANGUAGES, text_for
from curiosity_rosa_demo.trace.reporter import finite_float

_CLASSES = {
    'smooth': ('smooth', '滑らか', '平滑'),
    'fine_grained': ('fine-grained', '細かい粒状', '细粒状'),
    'coarse_grained': ('coarse-grained', '粗い粒状', '粗粒状'),
    'rippled': ('rippled', '波状', '波纹状'),
    'jointed': ('flat with joints', '割れ目のある平らな面', '有裂隙的平面'),
}
_SIDES = {'left': ('left', '左', '左'), 'right': ('right', '右', '右')}
_GROUND = (
    'The ground is {name} ({sure} % sure), grain about {grain} cm; {rocks} within {range} m '
    'cover {coverage} % of it; ',
    '地面は{name}（確信度 {sure} %）、粒の大きさは約 {grain} cm です。{range} m 以内の岩は '
    '{rocks} 個で、地面の {coverage} % を占めます。',
    '地面为{name}（把握 {sure} %），颗粒约 {grain} 厘米；{range} 米以内有 {rocks} 块岩石，'
    '占地面的 {coverage} %；',
)
_LARGEST = (
    'the largest is {width} m wide, {distance} m away, {bearing} degrees to the {side}. ',
    '最大の岩は幅 {width} m、距離 {distance} m、{side}へ {bearing} 度です。',
    '最大的宽 {width} 米，距离 {distance} 米，偏{side} {bearing} 度。',
)
_NO_ROCK = ('there is no rock to name. ', '目立つ岩はありません。', '没有明显的岩石。')
_QUALITY = (
    'Sharpness of the picture: {sharpness} of 1.',
    '画像の鮮明さ: {sharpness}（最大 1）。',
    '图像清晰度：{sharpness}（满分 1）。',
)
_ESTIMATE = (
    ' Sizes and distances are estimates: {why}.',
    ' 大きさと距離は推定値です: {why}。',
    ' 尺寸和距离是估计值：{why}。',
)


def ground_text(language: str, data: Mapping[str, Any]) -> str:
    """What the ground is like, with numbers. ``data``: of a successful ``analyze_ground``."""
    at = LANGUAGES.index(language)
    texture, largest = data.get('texture'), data.get('largest_rock')
    texture = texture if isinstance(texture, Mapping) else {}
    count = int(finite_float(data.get('rocks')) or 0)
    noun = f'{count} rock{"" if count == 1 else "s"}' if language == 'en' else str(count)
    name = _CLASSES.get(str(texture.get('name')))
    text = _GROUND[at].format(
        name=name[at] if name else text_for('not_known', language),
        sure=_number(texture.get('confidence'), 0, 100.0),
        grain=_number(texture.get('grain_cm'), 1),
        rocks=noun,
        range=_number(data.get('range_m'), 0),
        coverage=_number(data.get('rock_coverage_pct'), 1),
    )
    if isinstance(largest, Mapping):
        bearing = finite_float(largest.get('bearing_deg')) or 0.0
        text += _LARGEST[at].format(
            width=_number(largest.get('width_m'), 1),
            distance=_number(largest.get('distance_m'), 1),
            bearing=f'{abs(bearing):.0f}',
            side=_SIDES['left' if bearing > 0 else 'right'][at],
        )
    else:
        text += _NO_ROCK[at]
    text += _QUALITY[at].format(sharpness=_number(data.get('sharpness'), 2))
    note = str(data.get('geometry_note') or '')
    return text + (_ESTIMATE[at].format(why=note) if note else '')


def _number(value: object, digits: int, factor: float = 1.0) -> str:
    known = finite_float(value)
    return '?' if known is None else f'{factor * known:.{digits}f}'
