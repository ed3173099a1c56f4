# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the rules say of steps, results and the ground, in the language of the user. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import math
from typing import Any

from curiosity_rosa_demo.agent.language.grammar import Step
from curiosity_rosa_demo.agent.language.tables import say
from curiosity_rosa_demo.domain.geometry import finite_float
from curiosity_rosa_demo.domain.operation import Exchange
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.domain.text import printable

LEAST_TURN_DEG = 0.5  # less is a drive straight ahead


def step_text(step: Step, language: str) -> str:
    """What is ordered: ``drive forward 2 m``."""
    much = say(f'unit.{step.unit}', language, amount=step.amount) if step.unit else ''
    key = 'pictures' if step.verb == 'picture' and step.count > 1 else step.verb
    values = {'x': step.x, 'y': step.y, 'count': step.count, 'text': step.text}
    text = say(f'step.{key}', language, much=much, **values).strip()
    if not step.condition:
        return text
    return say('step.if', language, condition=condition_text(step.condition, language), step=text)


def steps_text(steps: Iterable[Step], language: str) -> str:
    """``drive forward 2 m; take a picture``. A step that is given several times is named once."""
    return '; '.join(dict.fromkeys(step_text(step, language) for step in steps))


def condition_text(condition: str, language: str) -> str:
    """A condition of a step: ``battery>50`` is "the battery is above 50 %"."""
    kind = condition[:8] if condition.startswith('battery') else condition
    return say(f'condition.{kind}', language, value=condition[len(kind) :])


def done_text(tool: str, data: Mapping[str, Any], language: str) -> str:
    """What a step really did, in measured numbers; '' for a move of the mast between others."""
    metres, turned, score, waited, x, y = (
        finite_float(data.get(key))
        for key in ('distance_m', 'turned_deg', 'score', 'waited_s', 'rover_x', 'rover_y')
    )
    if turned is not None and (metres is None or abs(turned) >= LEAST_TURN_DEG):
        side = say('side.left' if turned > 0 else 'side.right', language)
        values = {'side': side, 'degrees': abs(turned), 'metres': metres or 0.0}
        return say('done.turned', language, **values)
    if metres is not None:
        return say('done.drove', language, metres=metres)
    if score is not None:
        return say('done.picture', language, score=score)
    if waited is not None:
        return say('done.waited', language, seconds=waited)
    if x is not None and y is not None:
        return say('done.status', language, x=x, y=y)
    if tool in ('mast_open', 'mast_close', 'get_status'):
        return ''
    return say(f'done.{tool}', language) if tool in ('mast_rotate', 'speak') else tool


def broken_text(language: str, broken: Exchange, figures: Mapping[str, Any]) -> str:
    """The answer that names the broken part, derived from the call and its code."""
    tool, reason = broken.tool, broken.reason
    if tool == 'move_stop':
        return say('answer.cannot_stop', language, reason=reason)
    parts = {'capture_and_score': 'camera', 'get_status': 'telemetry'}
    part = parts.get(tool, 'mast' if tool.startswith('mast_') else 'drive')
    if broken.code == RefusalCode.TF_UNAVAILABLE:
        part = 'position'
    part = say(f'answer.{part}', language)
    return say('answer.broken', language, part=part, tool=tool, reason=reason, **figures)


def result_text(language: str, tool: str, data: Mapping[str, Any]) -> str:
    """The answer to a direct command or a question that succeeded."""
    if tool == 'get_status':
        return status_text(language, data)
    if tool == 'capture_and_score':
        key = 'capture_good' if data.get('is_good') is True else 'capture_dark'
        return say(f'answer.{key}', language, score=_number(language, data.get('score')))
    if tool in MOTIONS:
        seconds = _number(language, data.get('duration_s'), 1)
        metres = _number(language, data.get('distance_m'))
        return say('answer.moved', language, tool=tool, seconds=seconds, metres=metres)
    return say(f'answer.{tool}', language)


def status_text(language: str, data: Mapping[str, Any]) -> str:
    """The status as text; a missing value appears as unknown."""

    def choice(value: object, yes: str = 'yes', no: str = 'no') -> str:
        key = (yes if value else no) if isinstance(value, bool) else 'not_known'
        return say(f'answer.{key}', language)

    mast = choice(data.get('mast_is_open'), 'open', 'closed')
    yaw = finite_float(data.get('yaw_rad'))
    heading = say('answer.not_known', language)
    if yaw is not None:
        heading = say('answer.degrees', language, value=f'{math.degrees(yaw):.0f}')
    x, y = (_number(language, data.get(key)) for key in ('rover_x', 'rover_y'))
    error = printable(str(data.get('last_error_reason') or ''))
    return say(
        'answer.status',
        language,
        mast=say('answer.no_mast', language) if data.get('mast') == 'none' else mast,
        moving=choice(data.get('moving')),
        allowed=choice(data.get('move_allowed')),
        place=f'x = {x}, y = {y}',
        yaw=heading,
        error=error or say('answer.none', language),
    )


def ground_text(language: str, data: Mapping[str, Any]) -> str:
    """What the ground is like, with numbers. ``data``: of a successful ``analyze_ground``."""
    texture, largest = data.get('texture') or {}, data.get('largest_rock')
    count, sure = (
        int(finite_float(data.get('rocks')) or 0),
        finite_float(texture.get('confidence')),
    )
    text = say(
        'ground.ground',
        language,
        name=say(f'ground.{texture.get("name", "not_known")}', language),
        sure=_number(language, None if sure is None else 100.0 * sure, 0),
        grain=_number(language, texture.get('grain_cm'), 1),
        rocks=count,
        range=_number(language, data.get('range_m'), 0),
        coverage=_number(language, data.get('rock_coverage_pct'), 1),
    )
    if isinstance(largest, Mapping):
        bearing = finite_float(largest.get('bearing_deg')) or 0.0
        text += say(
            'ground.largest',
            language,
            width=_number(language, largest.get('width_m'), 1),
            distance=_number(language, largest.get('distance_m'), 1),
            bearing=f'{abs(bearing):.0f}',
            side=say('side.left' if bearing > 0 else 'side.right', language),
        )
    else:
        text += say('ground.no_rock', language)
    text += say('ground.quality', language, sharpness=_number(language, data.get('sharpness')))
    note = str(data.get('geometry_note') or '')
    return text + (say('ground.estimate', language, why=note) if note else '')


def _number(language: str, value: object, digits: int = 2) -> str:
    known = finite_float(value)
    return say('answer.not_known', language) if known is None else f'{known:.{digits}f}'
