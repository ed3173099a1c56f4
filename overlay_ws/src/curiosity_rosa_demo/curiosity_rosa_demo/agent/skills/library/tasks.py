# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Skills that run only as tasks. These functions declare their arguments for the registry.

The task runners implement them; called as a skill of a turn, each one fails. The model does not
see them.
"""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Annotated, Literal

from curiosity_rosa_demo.agent.skills.skill import part_done, SkillCall
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.conditions import BadCondition, check, holds
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config.behaviour import DAY_MIN
from pydantic import Field

Text = Annotated[str, Field(min_length=1, pattern=r'\S')]
Minutes = Annotated[float, Field(gt=0.0, le=DAY_MIN)]


def react(
    call: SkillCall,
    text: Text,
    expects: Literal['answer', 'good_capture'] = 'answer',
    plan: Json | None = None,
) -> ToolResult:
    """Give a text to the model, which calls other skills until it answers; with a plan, run the
    plan.
    """
    return _only_as_a_task('react')


def charge(call: SkillCall) -> ToolResult:
    """Stop, stow the mast and wait until the battery is charged."""
    return _only_as_a_task('charge')


def activity(call: SkillCall, activity: Text, minutes: Minutes) -> ToolResult:
    """Spend the given minutes of the agent's clock on an activity; the rover does not move."""
    return _only_as_a_task('activity')


def _only_as_a_task(name: str) -> ToolResult:
    return ToolResult.failure(f'SKILL_NOT_FOUND: {name} is a task of its own; submit it as one')


# --- The skills ``wait`` and ``wait_until`` ----------------------------------------------------


# --- The skill ``wait``: let time pass ---------------------------------------------------------


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


# --- The skill ``wait_until``: poll the facts of the world until a condition holds -------------


MAX_TIMEOUT_S = 3600.0

Condition = Annotated[
    Json,
    Field(
        description='facts by name, all of which must hold: {"mast": "closed", '
        '"battery_pct_above": 50}; also _below, _at_least, _at_most, _is_not, _in, _within'
    ),
]
TimeoutSeconds = Annotated[float, Field(gt=0.0, le=MAX_TIMEOUT_S, description='seconds')]


def wait_until(
    call: SkillCall, condition: Condition, timeout_s: TimeoutSeconds = 60.0
) -> ToolResult:
    """Wait until a condition on the facts of query_world holds, for timeout_s seconds at most."""
    return wait_result(call, condition, timeout_s)


def wait_result(
    call: SkillCall,
    condition: Json,
    timeout_s: float,
    now: Callable[[], float] = time.monotonic,
) -> ToolResult:
    """Wait and return the result. ``now``: steady clock in seconds. Raises TurnCancelled."""
    try:
        check(condition)
    except BadCondition as error:
        return ToolResult.failure(f'PARAM_INVALID: {error}')
    started_s = now()
    while True:
        verdict = holds(condition, call.world.facts())
        passed_s = now() - started_s
        if verdict.ok:
            return ToolResult.success(held=verdict.why, waited_s=round(passed_s, 3))
        if passed_s >= timeout_s:
            why = f'Not within {timeout_s:g} s: {verdict.why}'
            return ToolResult.failure(why, waited_s=round(passed_s, 3))
        call.progress(
            {
                'fraction': part_done(timeout_s, timeout_s - passed_s),
                'waited_s': round(passed_s, 3),
                'why': verdict.why,
            }
        )
        call.cancellation.sleep(min(POLL_PERIOD_S, timeout_s - passed_s))
