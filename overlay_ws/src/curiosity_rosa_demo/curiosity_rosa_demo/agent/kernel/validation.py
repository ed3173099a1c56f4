# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Validate the readings of each source. Pure; accepts any value."""

from __future__ import annotations

from collections.abc import Callable, Mapping

MAST_STATES = ('closed', 'opening', 'open', 'closing', 'unknown', 'none')
FAR_M = 1e6  # metres, and metres or radians per second: larger values are invalid
MAX_UNIT_COMPONENT = 1.01  # a component of a unit quaternion, with a margin for rounding

ODOMETRY = {
    **dict.fromkeys(('x', 'y', 'z', 'linear_x', 'angular_z'), FAR_M),
    **dict.fromkeys(('orientation_z', 'orientation_w'), MAX_UNIT_COMPONENT),
}
SECTORS = ('ahead_m', 'behind_m', 'left_m', 'right_m')
PATHS = ('forward_m', 'turn_left_m', 'turn_right_m')


def reading_problem(source: str, value: Mapping[str, object]) -> str:
    """The reason why the reading is invalid; empty if it is valid."""
    check = _SOURCE_CHECKS.get(source)
    if check is None:
        return f'there is no such source; the sources are {", ".join(_SOURCE_CHECKS)}'
    if not isinstance(value, Mapping):
        return f'it is {_shown(value)}, not an object'
    return check(value)


def _odometry(value: Mapping[str, object]) -> str:
    for key, limit in ODOMETRY.items():
        if not _is_number(value.get(key), -limit, limit):
            return f'{key} is {_shown(value.get(key))}, not a number from {-limit:g} to {limit:g}'
    return ''


def _battery(value: Mapping[str, object]) -> str:
    fraction = value.get('fraction')
    if _is_number(fraction, 0.0, 1.0):
        return ''
    return f'fraction is {_shown(fraction)}, not a number from 0 to 1'


def _adapter(value: Mapping[str, object]) -> str:
    mast, moving = value.get('mast'), value.get('moving')
    if not isinstance(mast, str) or mast not in MAST_STATES:
        return f'mast is {_shown(mast)}, not one of {", ".join(MAST_STATES)}'
    if not isinstance(moving, bool):
        return f'moving is {_shown(moving)}, not true or false'
    parts = value.get('appendages', {})
    if not isinstance(parts, dict) or not all(isinstance(each, str) for each in parts.values()):
        return f'appendages is {_shown(parts)}, not texts by name'
    e_stop, violation = value.get('e_stop', False), value.get('violation', '')
    if not isinstance(e_stop, bool):
        return f'e_stop is {_shown(e_stop)}, not true or false'
    return '' if isinstance(violation, str) else f'violation is {_shown(violation)}, not a text'


def _scan(value: Mapping[str, object]) -> str:
    if not isinstance(value.get('view'), bool):
        return f'view is {_shown(value.get("view"))}, not true or false'
    for key in (*SECTORS, *PATHS):
        is_null = key in value and value[key] is None
        if not is_null and not _is_number(value.get(key), 0.0, FAR_M):
            return f'{key} is {_shown(value.get(key))}, not null or metres from 0 to {FAR_M:g}'
    return ''


def _estop(value: Mapping[str, object]) -> str:
    pressed = value.get('pressed')
    if isinstance(pressed, bool):
        return ''
    return f'pressed is {_shown(pressed)}, not true or false'


_SOURCE_CHECKS: dict[str, Callable[[Mapping[str, object]], str]] = {
    'odometry': _odometry,
    'battery': _battery,
    'adapter': _adapter,
    'scan': _scan,
    'estop': _estop,
}


def _is_number(value: object, lowest: float, highest: float) -> bool:
    """Whether ``value`` is a number within the bounds. A boolean or NaN is not."""
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and lowest <= value <= highest
    )


def _shown(value: object) -> str:
    """``value`` in a few characters. Python cannot convert integers of over 4300 digits."""
    if isinstance(value, int) and abs(value) >= 10**18:
        return 'a huge number'
    if isinstance(value, str):
        return repr(value[:20])
    if value is None or isinstance(value, (int, float)):
        return repr(value)
    return type(value).__name__
