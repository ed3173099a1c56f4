# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Format texts and times of a report."""

from __future__ import annotations

from datetime import datetime, timezone
import math

_HIDDEN = {
    **dict.fromkeys([*range(0x00, 0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F], '\ufffd'),
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], '\ufffd'),
}


def visible(text: object) -> str:
    """Replace control characters that HTML forbids, and those that change text direction."""
    return str(text).translate(_HIDDEN)


def clock(seconds: float) -> str:
    """Format as m:ss.t or h:mm:ss.t; negative before the start of the run; ? if not finite."""
    if not math.isfinite(seconds):
        return '?'
    sign, tenths = '-' if seconds < 0 else '', round(abs(seconds) * 10)
    whole, tenth = divmod(tenths, 10)
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    text = f'{hours}:{minute:02d}:{second:02d}' if hours else f'{minute}:{second:02d}'
    return f'{sign}{text}.{tenth}'


def utc(seconds: float) -> str:
    """Format seconds since the epoch as date and time in UTC."""
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime('%Y-%m-%d %H:%M:%S UTC')
    except (ValueError, OverflowError, OSError):
        return f'{seconds:g} s'
