# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill ``run_react``: the model works on a text with the skills until it answers.

metadata: ``text``, ``expects`` (as in prompts.yaml), ``plan`` (replaces the model's decisions).
The skill adds ``outcome``, and ``usage`` of a language model. Each step is saved in
the turn's checkpoints, under the task's ID.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from curiosity_rosa_demo.agent.react.gate import Order, under_order
from curiosity_rosa_demo.agent.runtime.execution.blocking import wait_for
from curiosity_rosa_demo.agent.runtime.execution.context import (
    reobserve,
    SkillContext,
    store_outcome,
    wait_for_resources,
)
from curiosity_rosa_demo.agent.runtime.execution.direct_orders import NotAdmitted
from curiosity_rosa_demo.agent.runtime.execution.task_origin import asked_by, door_of, task_origin
from curiosity_rosa_demo.agent.skills.monitor import running_task
from curiosity_rosa_demo.agent.tasks import SkillFailed, Task
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.skills import MOTIONS, Outcome

MAX_GOAL_SWITCHES = 3  # limit for a model that keeps changing its goal


async def run_react(task: Task, context: SkillContext) -> None:
    """Run the turn of this task, or resume it from its last checkpoint."""
    await reobserve(task, context)

    def work(cancellation: Cancellation) -> Outcome:
        with (
            running_task(task.id),
            context.spans.active(task.id),
            under_order(Order(task_origin(task))),
        ):
            wait_for_resources(context, context.runner.needs(task), cancellation)
            return context.execution.run_turn(
                task.metadata['text'],
                task.metadata.get('expects', 'answer'),
                cancellation,
                task_id=task.id,
                plan=task.metadata.get('plan'),
                door=door_of(task),
                by=asked_by(task),
            )

    try:
        outcome = await context.blocking.run(work)
    finally:
        if usage := context.execution.task_usage(task.id):
            task.metadata['usage'] = usage
    switches = task.metadata.get('switches', 0)
    if outcome.goal and switches < MAX_GOAL_SWITCHES:
        await context.runner.submit(
            Task(
                'react',
                task.priority,
                metadata={'text': outcome.goal, 'switches': switches + 1},
                idempotency_key=f'{task.id}/switch',
            )
        )
    store_outcome(task, outcome)


# --- Runs every skill except those in TASK_SKILLS as a task ------------------------------------
# metadata: ``arguments``; a skill that drives adds ``begun``, each adds ``outcome``.


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
