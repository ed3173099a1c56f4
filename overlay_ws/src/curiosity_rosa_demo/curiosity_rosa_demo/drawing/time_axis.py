# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A time line's ticks at round local times. Pure; seconds since the epoch."""

from __future__ import annotations

from datetime import datetime, tzinfo
import math

STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
DAY_S = 86400


def time_step(span_s: float, most: int) -> int:
    """Seconds between ticks, so that there are ``most`` or fewer steps in ``span_s``."""
    least = span_s / most
    return next((step for step in STEPS_S if step >= least), DAY_S * math.ceil(least / DAY_S))


def time_ticks(begin: float, end: float, step: int, zone: tzinfo | None) -> list[float]:
    """Whole steps of the local time that holds at ``begin``."""
    offset = datetime.fromtimestamp(begin, zone).astimezone(zone).utcoffset()
    shift = offset.total_seconds() if offset is not None else 0.0
    first, last = math.ceil((begin + shift) / step), math.floor((end + shift) / step)
    return [number * step - shift for number in range(first, last + 1)]


def time_text(at: float, step: int, zone: tzinfo | None) -> str:
    local = datetime.fromtimestamp(at, zone)
    form = '%m-%d' if step >= DAY_S else '%H:%M' if step >= 60 else '%H:%M:%S'
    return local.strftime(form)
