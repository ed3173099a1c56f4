# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill ``run_activity``: an activity that only takes time. It moves nothing.

metadata: ``run_activity``, its name; ``minutes``; the skill adds ``until``, in seconds since the
epoch by the policy's clock, so that a restart ends at the same time, and ``outcome``.
"""

from __future__ import annotations

import asyncio

from curiosity_rosa_demo.agent.runtime.execution.context import SkillContext, store_outcome
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.domain.skills import Outcome

POLL_PERIOD_S = 0.1  # wall time; the policy's clock may run much faster


async def run_activity(task: Task, context: SkillContext) -> None:
    """Wait until the activity is over. The time of a pause counts."""
    if task.state is LifecycleState.RECOVERING:
        await context.runner.observed(task)
    until = task.metadata.get('until')
    if until is None:
        until = context.clock() + 60.0 * task.metadata['minutes']
        task.metadata['until'] = until
        await context.runner.checkpoint(task)
    while context.clock() < until:
        await asyncio.sleep(POLL_PERIOD_S)
    store_outcome(task, Outcome(True, f'{task.metadata["activity"]} is over'))
