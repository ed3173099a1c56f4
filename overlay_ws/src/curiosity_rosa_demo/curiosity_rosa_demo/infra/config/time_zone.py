# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parse time zones: UTC, offsets and IANA names."""

from __future__ import annotations

from datetime import timedelta, timezone, tzinfo
import re
from zoneinfo import ZoneInfo


def time_zone(name: str) -> tzinfo:
    """Parse ``UTC``, ``UTC+08:00`` or an IANA name such as Europe/Berlin. Raises ValueError."""
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
