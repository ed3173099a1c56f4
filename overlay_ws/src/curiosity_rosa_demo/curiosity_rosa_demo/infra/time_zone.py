"""Time zones by offset or by name."""

from __future__ import annotations

import re
from datetime import timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo


def time_zone(name: str) -> tzinfo:
    """``UTC``, ``UTC+08:00``, or a name of the IANA data base. Raises ValueError."""
    if name == 'UTC':
        return timezone.utc
    if found := re.fullmatch(r'UTC([+-])(0[0-9]|1[0-4]):([0-5][0-9])', name, re.ASCII):
        sign, hours, minutes = found.groups()
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-offset if sign == '-' else offset)
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        raise ValueError(
            'not a time zone; write UTC, an offset such as UTC+08:00, or a name such as '
            'Europe/Berlin'
        ) from None
