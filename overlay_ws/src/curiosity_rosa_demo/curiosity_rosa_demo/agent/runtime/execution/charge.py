# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill ``run_charge``: stop, stow the mast, wait until the battery is charged."""

from __future__ import annotations

import asyncio
from functools import partial

from curiosity_rosa_demo.agent.react.gate import Order, under_order
from curiosity_rosa_demo.agent.react.situation import STOW_SKILL
from curiosity_rosa_demo.agent.runtime.execution.context import (
    POLL_PERIOD_S,
    reobserve,
    SkillContext,
    store_outcome,
    wait_for_resources,
)
from curiosity_rosa_demo.agent.runtime.execution.task_origin import task_origin
from curiosity_rosa_demo.agent.skills.monitor import running_task
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.domain.brain_state import BatteryLevel
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.event_thread import run_in_thread


async def run_charge(task: Task, context: SkillContext) -> None:
    """Charge without a time limit. Raises SkillFailed when the mast cannot be stowed."""
    await reobserve(task, context)
    await context.blocking.run(lambda _: context.execution.stop_rover())

    def stow(cancellation: Cancellation) -> Outcome:
        with (
            running_task(task.id),
            context.spans.active(task.id),
            under_order(Order(task_origin(task))),
        ):
            wait_for_resources(context, ('mast',), cancellation)
            return context.execution.run_skill(STOW_SKILL, cancellation)

    if context.execution.has_skill(STOW_SKILL):  # else there is no mast
        stowed = await context.blocking.run(stow)
        if not stowed.ok:
            store_outcome(task, stowed)
    while (robot := context.robot()).battery_state is BatteryLevel.UNKNOWN:
        await asyncio.sleep(POLL_PERIOD_S)
    words = f'charging: the battery is at {robot.battery_pct:.0f} %'
    await run_in_thread('trace', partial(context.execution.trace, TraceKind.OBSERVE, words))
    # Do not wait for the mode: after a restart the battery may be above the low threshold.
    while (robot := context.robot()).battery_pct < 100.0 * context.charged_level:
        await asyncio.sleep(POLL_PERIOD_S)
    store_outcome(task, Outcome(True, f'charged to {robot.battery_pct:.0f} %'))
