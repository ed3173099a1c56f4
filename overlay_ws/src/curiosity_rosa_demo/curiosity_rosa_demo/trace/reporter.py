# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tool results as text and as trace events."""

from __future__ import annotations

from collections.abc import Callable
import json
import math
from typing import Any, Protocol

from curiosity_rosa_demo.domain.adapter_status import rival_texts
from curiosity_rosa_demo.domain.geometry import finite_float
from curiosity_rosa_demo.domain.ground import ground_figures, GroundAnalysis, MEASURED
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.text import printable
from pydantic import ValidationError

# The unit of a result's value: by the end of its key, or by the whole key.
UNIT_FORMATS = {
    'm': '{:.2f} m',
    's': '{:.1f} s',
    'rad': '{:.2f} rad',
    'deg': '{:.1f} deg',
    'pct': '{:.1f} %',
}
LENGTHS_M = ('x', 'y')
NOT_TOLD = ('cost', 'image_topic', 'image_stamp_s')  # a person reads nothing in them
TOOL_RESULT = 'tool_result'  # type of the event


class TraceFunction(Protocol):
    """Emits one trace event; ``fields`` are those of TraceEvent."""

    def __call__(self, kind: TraceKind, message: str, **fields: Any) -> None: ...


def trace_result(trace: TraceFunction, tool: str, result: ToolResult) -> None:
    """Emit one RESULT or ERROR event for the result of ``tool``."""
    trace(
        TraceKind.RESULT if result.ok else TraceKind.ERROR,
        f'{tool}: {summary_of(tool, result)}',
        type=TOOL_RESULT,
        tool_name=tool,
        ok=result.ok,
        error_reason=result.error_reason or None,
        score=finite_float(result.data.get('score')),
        data=result.data,
    )


def summary_of(tool: str, result: ToolResult) -> str:
    """A result of ``tool`` in words and units, for people."""
    told = IN_WORDS.get(tool) if result.ok else None
    return (told(result.data) if told else '') or result_summary(result)


def result_summary(result: ToolResult) -> str:
    """A result in one short text."""
    if not result.ok:
        return result.error_reason
    shown = (
        _measurement_text(key, value)
        for key, value in result.data.items()
        if value is not None and value != '' and key not in NOT_TOLD
    )
    return ', '.join(shown) or 'done'


def _measurement_text(key: str, value: Any) -> str:
    """One value of a result with its name and unit: ``distance 0.98 m``. Of a list of records only
    their number.
    """
    number, (name, _, unit) = finite_float(value), key.rpartition('_')
    if isinstance(value, bool) and key.startswith('is_'):
        return f'{"" if value else "not "}{key[3:]}'
    if number is not None and key in LENGTHS_M:
        return f'{key} {round(number, 2) + 0.0:.2f} m'  # + 0.0: no -0.0
    if number is not None and name and unit in UNIT_FORMATS:
        return f'{name} {UNIT_FORMATS[unit].format(round(number, 2) + 0.0)}'
    shown = round(value, 3) if isinstance(value, float) else value
    if isinstance(shown, list) and shown and isinstance(shown[0], dict):
        shown = len(shown)
    return f'{key} {json.dumps(shown, ensure_ascii=False)}'


def status_text(status: dict[str, Any]) -> str:
    """The rover's status as one line of text."""
    x, y, yaw = (finite_float(status.get(key)) for key in ('rover_x', 'rover_y', 'yaw_rad'))
    where = 'position unknown' if x is None or y is None else f'x {x:.2f} m, y {y:.2f} m'
    heading = '' if yaw is None else f', heading {math.degrees(yaw):.0f} deg'
    mast = status.get('mast') or 'unknown'
    posture = '' if mast == 'none' else f'mast {mast}'
    motion = 'moving' if status.get('moving') else 'standing still'
    drive = 'may drive' if status.get('move_allowed') else 'may not drive'
    appendages = status.get('appendages')
    postures = appendages.items() if isinstance(appendages, dict) else ()
    parts = [*filter(None, [posture]), *(f'{name} {at}' for name, at in postures)]
    last = f'; last: {status["last_error_reason"]}' if status.get('last_error_reason') else ''
    factor = finite_float(status.get('real_time_factor'))
    pace = '' if factor is None else f'; real-time factor {factor:.2f}'
    line = f'{where}{heading}; {motion}; {", ".join([*parts, drive])}{pace}{last}'
    return printable('; '.join([line, *rival_texts(status)]))


def ground_text(data: dict[str, Any]) -> str:
    """The figures of an analysis of the ground, each with its unit and how sure it is; '' for data
    of another shape: a skill of this name may be somebody's own.
    """
    try:
        analysis = GroundAnalysis.model_validate(data, extra='ignore')
    except ValidationError:
        return ''
    return '; '.join(
        f'{each.name.lower()} {each.value}, {each.sure}'
        + ('' if each.sure == MEASURED else ' sure')
        for each in ground_figures(analysis)
    )


IN_WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    'get_status': status_text,
    'analyze_ground': ground_text,
}
