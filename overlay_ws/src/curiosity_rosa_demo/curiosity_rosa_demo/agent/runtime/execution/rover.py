# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs every skill except those in TASK_SKILLS as a task.

metadata: ``arguments``; a skill that drives adds ``begun``, each adds ``outcome``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from curiosity_rosa_demo.agent.react.guardrails.gate import Order, under_order
from curiosity_rosa_demo.agent.runtime.execution.blocking import wait_for
from curiosity_rosa_demo.agent.runtime.execution.context import (
    reobserve,
    SkillContext,
    store_outcome,
    wait_for_resources,
)
from curiosity_rosa_demo.agent.runtime.execution.direct_orders import NotAdmitted
from curiosity_rosa_demo.agent.runtime.execution.task_origin import task_origin
from curiosity_rosa_demo.agent.skills.monitor import running_task
from curiosity_rosa_demo.agent.tasks import SkillFailed, Task
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.outcome import Outcome
from curiosity_rosa_demo.domain.skills import MOTIONS

DRIVING_SKILLS = (*MOTIONS, 'navigate_to_pose', 'drive_distance', 'turn_angle')
NOT_REPEATED_TEXT = 'It was interrupted after it had begun; a motion is not repeated by itself.'


def is_interrupted_motion(task: Task) -> bool:
    """Whether ``task`` is a motion that had begun: it is not repeated."""
    return task.name in DRIVING_SKILLS and bool(task.metadata.get('begun'))


def crash_text(tasks: Sequence[Task]) -> str:
    """What becomes of the unfinished ``tasks`` after a crash."""
    ended = [task.name for task in tasks if is_interrupted_motion(task)]
    parts = [f'resumed tasks: {len(tasks) - len(ended)}'] if len(tasks) > len(ended) else []
    if ended:
        parts.append(f'not repeated: {", ".join(ended)}')
    return '; '.join(parts) or 'no task was running'


async def run_skill(task: Task, context: SkillContext, *, cancellable: bool = True) -> None:
    """Run the skill. An interrupted motion fails: its full duration again would drive too far.

    ``cancellable`` False: a pause does not stop the skill. Raises SkillFailed.
    """
    origin = task_origin(task)  # before reobserve() ends the recovery
    await reobserve(task, context)
    if is_interrupted_motion(task):
        raise SkillFailed(NOT_REPEATED_TEXT)
    arguments = task.metadata.get('arguments', {})

    loop = asyncio.get_running_loop()

    async def begin() -> None:
        task.metadata['begun'] = True
        await context.runner.checkpoint(task)

    def work(cancellation: Cancellation) -> Outcome:
        with running_task(task.id), context.spans.active(task.id):
            wait_for_resources(context, context.runner.needs(task), cancellation)
            try:
                with under_order(Order(origin)):
                    order = context.execution.admit(task.name, cancellation, **arguments)
            except NotAdmitted as refused:
                refusal = refused.refusal
                return Outcome(False, refusal.reason, refusal=refusal.to_json())
            if task.name in DRIVING_SKILLS:  # a question is no motion: nothing has begun before
                wait_for(begin(), loop, cancellation)
            call = order.call or Operation(task.name, arguments)
            with under_order(order):
                return context.execution.run_skill(call.skill, cancellation, **call.arguments)

    store_outcome(task, await context.blocking.run(work, cancellable=cancellable))
