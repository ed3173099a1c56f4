# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill ``wait``: let time pass."""

from __future__ import annotations

import time
from typing import Annotated

from curiosity_rosa_demo.agent.skills.progress import part_done
from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.models import ToolResult
from pydantic import Field

POLL_PERIOD_S = 0.2
MAX_WAIT_S = 3600.0

WaitSeconds = Annotated[float, Field(gt=0.0, le=MAX_WAIT_S, description='seconds')]


def wait(call: SkillCall, duration_s: WaitSeconds) -> ToolResult:
    """Wait for duration_s seconds, without a motion."""
    started_s = time.monotonic()
    while (left_s := duration_s - (time.monotonic() - started_s)) > 0.0:
        call.progress({'fraction': part_done(duration_s, left_s), 'left_s': round(left_s, 1)})
        call.cancellation.sleep(min(POLL_PERIOD_S, left_s))
    return ToolResult.success(waited_s=duration_s)
