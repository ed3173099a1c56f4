"""A time line's ticks at round local times. Pure; seconds since the epoch."""

from __future__ import annotations

import math
from datetime import datetime, tzinfo

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
