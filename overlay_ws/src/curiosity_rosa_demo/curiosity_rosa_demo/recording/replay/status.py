# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The status that a replay publishes, as JSON. Pure."""

from __future__ import annotations

import json
import math

from curiosity_rosa_demo.domain.text import clip, one_line

STATUS_PERIOD_S = 0.5  # while it plays
MAX_FILE_CHARS = 100
MAX_STATUS_CHARS = 4096  # of the whole status; a longer one is not from our replay


def playing_text(status: str) -> str:
    """File, position and speed while a recording is played; empty when none is. Never raises."""
    if len(status) > MAX_STATUS_CHARS:
        return ''
    try:
        found = json.loads(status)
        if found['state'] != 'playing':
            return ''
        file = clip(one_line(str(found['file'])), MAX_FILE_CHARS)
        at_s, length_s, speed = (float(found[name]) for name in ('at_s', 'length_s', 'speed'))
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return ''
    if not all(map(math.isfinite, (at_s, length_s, speed))):
        return ''
    return f'{file}, {at_s:.0f} s of {length_s:.0f} s, {speed:g} times as fast as recorded'
