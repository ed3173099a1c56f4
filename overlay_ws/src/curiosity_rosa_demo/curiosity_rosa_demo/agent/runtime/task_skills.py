# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Every skill as a task: what an active task runs, registered with the runner.

metadata of a task: ``arguments``, or for METADATA_SKILLS the arguments themselves; each skill adds
``outcome``, a motion ``begun``, a turn the ``usage`` of a language model, and an activity
``until``, in seconds since the epoch by the policy's clock, so that it ends at the same time after
a restart. Each step of a turn is saved in the turn's checkpoints, under the task's ID.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Sequence,
)
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
import time
from typing import Any, TypeVar

from curiosity_rosa_demo.agent.react.answer import NotAdmitted
from curiosity_rosa_demo.agent.react.situation import STOW_SKILL
from curiosity_rosa_demo.agent.runtime.session import AgentSession
from curiosity_rosa_demo.agent.runtime.task_spans import TaskSpans
from curiosity_rosa_demo.agent.skills.registry import arguments_as_json, SkillRegistry
from curiosity_rosa_demo.agent.skills.skill import BadArguments, Skill
from curiosity_rosa_demo.agent.tasks import LifecycleState, SkillFailed, SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.origin import Order, ORIGIN_KEYS, said_of, under_order
from curiosity_rosa_demo.agent.tasks.task import BadTask
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    QueuedTask,
    RobotState,
    RunningSkill,
    SkillDef,
)
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.plan import PlanError
from curiosity_rosa_demo.domain.plan_reader import create_plan_from_llm_response
from curiosity_rosa_demo.domain.skills import MOTIONS, Outcome

T = TypeVar('T')
CANCELLATION_POLL_S = 0.05
POLL_PERIOD_S = 0.5
SHORT_POLL_S = 0.1  # wall time; the policy's clock may run much faster
MAX_GOAL_SWITCHES = 3  # limit for a model that keeps changing its goal
METADATA_SKILLS = ('react', 'activity')  # their arguments are the task's metadata
DRIVING_SKILLS = (*MOTIONS, 'navigate_to_pose', 'drive_distance', 'turn_angle')
STILL_RESOURCES = frozenset({'camera'})  # every other one is a part that moves
NOT_REPEATED_TEXT = 'It was interrupted after it had begun; a motion is not repeated by itself.'
REACT_ARGUMENTS = (
    'react takes {"text": "...", "expects": "answer" or "good_capture", "plan": a plan or nothing}'
)


@dataclass(frozen=True)
class SkillContext:
    execution: AgentSession
    runner: SkillRunner
    robot: Callable[[], RobotState]  # as the kernel knows it
    charged_level: float  # part of the full charge at which charging ends
    clock: Callable[[], float]  # the policy's clock: monotonic seconds since the epoch
    hold_waiting: Callable[[str], Awaitable[None]]  # until a person resumes; gets the reason
    spans: TaskSpans = field(default_factory=TaskSpans)  # off

    @contextmanager
    def thread_of(self, order: Order) -> Iterator[None]:
        """What this thread does belongs to the task of ``order``."""
        with self.spans.active(order.task_id), under_order(order):
            yield


def register_skills(registry: SkillRegistry, context: SkillContext) -> None:
    for definition in registry:
        context.runner.skill(
            definition.name,
            resources=tuple(definition.resources_required),
            recovers=True,
            cancel_supported=definition.cancel_supported,
        )(partial(_run, definition, context, is_motion_skill(registry.get(definition.name))))


def make_task(registry: SkillRegistry, name: str, arguments: dict[str, Any]) -> Task:
    """A task for the skill ``name``. Raises BadTask, whose message gives the valid arguments."""
    skill = registry.get(name)
    try:
        given: dict[str, Any] = arguments_as_json(skill, arguments)
        if name == 'react' and given['plan'] is not None:  # it is read as that of a file
            given['plan'] = create_plan_from_llm_response(given['plan']).to_dict()
    except BadArguments:
        if name != 'react':
            raise
        raise BadTask(REACT_ARGUMENTS) from None
    except PlanError as error:
        raise BadTask(f'react: plan: {error}') from None
    if name in METADATA_SKILLS:
        return Task(name, metadata={key: each for key, each in given.items() if each is not None})
    return Task(name, metadata={'arguments': given} if given else {})


def queued_task_of(task: Task, resources: Iterable[str], *, preemptible: bool) -> QueuedTask:
    """``task`` as the kernel sees it. model_construct skips the validation, which is slow."""
    text = task.metadata.get('text')
    return QueuedTask.model_construct(
        task_id=task.id,
        goal=text if isinstance(text, str) else task.name,
        priority=task.priority,
        deadline=task.deadline_s,
        resources_required=sorted(resources),
        preemptible=preemptible,
        status=task.state.name,
        skill=task.name,
        held=task.held,
    )


async def _run(definition: SkillDef, context: SkillContext, is_motion: bool, task: Task) -> None:
    """Run the skill. One that no SkillExecutor runs is in the monitor meanwhile.

    If a fault has stopped the rover, the tasks that wait are held before the end of this one lets
    the next begin: nobody has seen where the rover stands.
    """
    monitor, own = context.execution.monitor, TASK_SKILLS.get(definition.name)
    if own is not None:
        monitor.enter(
            RunningSkill(
                goal_id=task.id,
                task_id=task.id,
                skill_name=task.name,
                start_time=time.monotonic(),
                timeout_s=definition.timeout_s,
                resources_occupied=sorted(context.runner.needs(task)),
            )
        )
    try:
        if own is not None:
            await own(task, context)
        else:
            cancellable = definition.cancel_supported
            await run_skill(task, context, is_motion=is_motion, cancellable=cancellable)
    finally:
        try:
            if fault := context.execution.world.take_fault(task.id):
                await context.hold_waiting(fault)
        finally:
            monitor.release(task.id)


async def reobserve(task: Task, context: SkillContext) -> None:
    """After a crash, wait until the rover has reported its status; then report it as observed."""
    if task.state is not LifecycleState.RECOVERING:
        return

    def wait_for_status(cancellation: Cancellation) -> None:
        while not context.execution.rover_status().ok:
            cancellation.sleep(POLL_PERIOD_S)

    await context.execution.halt.run(wait_for_status)
    await context.runner.observed(task)


def wait_for_resources(
    context: SkillContext, resources: Collection[str], cancellation: Cancellation
) -> None:
    """From the thread of a task: wait until no other skill holds any of ``resources``. One that
    ignored its stop does until its thread ends, and the runner knows nothing of it. Raises
    TurnCancelled.
    """
    is_told = False
    while (holder := context.execution.monitor.holder_of(resources)) is not None:
        if not is_told:
            shared = ', '.join(sorted(set(resources).intersection(holder.resources_occupied)))
            text = f'waits for {shared}, which {holder.skill_name} still holds'
            context.execution.trace(TraceKind.OBSERVE, text)
            is_told = True
        cancellation.sleep(SHORT_POLL_S)


def store_outcome(task: Task, outcome: Outcome) -> None:
    """Store the outcome in the task's metadata. Raises SkillFailed when it is a failure; that of a
    motion which had begun is final.
    """
    data: dict[str, Any] = {'ok': outcome.ok, 'answer': outcome.answer, 'score': outcome.score}
    if outcome.code:
        data['code'] = outcome.code
    if outcome.refusal is not None:
        data['refusal'] = outcome.refusal
    task.metadata['outcome'] = data
    if not outcome.ok:
        raise SkillFailed(outcome.answer, final=is_begun_motion(task))


# --- The skills that run as a task only ----------------------------------------------------------


async def run_react(task: Task, context: SkillContext) -> None:
    """Run the turn of this task, or resume it from its last checkpoint."""
    await reobserve(task, context)
    said = said_of(task)

    def work(cancellation: Cancellation) -> Outcome:
        with context.thread_of(Order.of(task)):
            wait_for_resources(context, context.runner.needs(task), cancellation)
            return context.execution.run_turn(said, task, cancellation)

    try:
        outcome = await context.execution.halt.run(work)
    finally:
        if usage := context.execution.task_usage(task.id):
            task.metadata['usage'] = usage
    switches = task.metadata.get('switches', 0)
    if outcome.goal and switches < MAX_GOAL_SWITCHES:
        # Still the order of whoever ordered the first goal.
        origin = {key: task.metadata[key] for key in ORIGIN_KEYS if key in task.metadata}
        await context.runner.submit(
            Task(
                'react',
                task.priority,
                metadata={'text': outcome.goal, 'switches': switches + 1, **origin},
                idempotency_key=f'{task.id}/switch',
            )
        )
    store_outcome(task, outcome)


async def run_charge(task: Task, context: SkillContext) -> None:
    """Charge without a time limit. Raises SkillFailed when the mast cannot be stowed."""
    await reobserve(task, context)
    await asyncio.wrap_future(context.execution.halt.send())

    def stow(cancellation: Cancellation) -> Outcome:
        with context.thread_of(Order.of(task)):
            wait_for_resources(context, ('mast',), cancellation)
            return context.execution.run_skill(STOW_SKILL, cancellation)

    if context.execution.has_skill(STOW_SKILL):  # else there is no mast
        stowed = await context.execution.halt.run(stow)
        if not stowed.ok:
            store_outcome(task, stowed)
    while (robot := context.robot()).battery_state is BatteryLevel.UNKNOWN:
        await asyncio.sleep(POLL_PERIOD_S)
    words = f'charging: the battery is at {robot.battery_pct:.0f} %'
    context.execution.trace(TraceKind.OBSERVE, words)
    # Do not wait for the mode: after a restart the battery may be above the low threshold.
    while (robot := context.robot()).battery_pct < 100.0 * context.charged_level:
        await asyncio.sleep(POLL_PERIOD_S)
    store_outcome(task, Outcome(True, f'charged to {robot.battery_pct:.0f} %'))


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
        await asyncio.sleep(SHORT_POLL_S)
    store_outcome(task, Outcome(True, f'{task.metadata["activity"]} is over'))


TASK_SKILLS: dict[str, Callable[[Task, SkillContext], Coroutine[Any, Any, None]]] = {
    'react': run_react,
    'charge': run_charge,
    'activity': run_activity,
}

# --- Every other skill ---------------------------------------------------------------------------


def is_motion_skill(skill: Skill) -> bool:
    """Whether a second run would not lead where the first one would have: it drives, or needs a
    part that moves and is not ``repeatable``.
    """
    settings = skill.settings
    moves = not STILL_RESOURCES.issuperset(settings.resources_required)
    return skill.name in DRIVING_SKILLS or (moves and not settings.repeatable)


def is_begun_motion(task: Task) -> bool:
    """Whether ``task`` is a motion that had begun: it is not repeated."""
    return bool(task.metadata.get('begun'))


def crash_text(tasks: Sequence[Task]) -> str:
    """What becomes of the unfinished ``tasks`` after a crash."""
    ended = [task.name for task in tasks if is_begun_motion(task)]
    held = sum(task.held and not is_begun_motion(task) for task in tasks)
    resumed = len(tasks) - len(ended) - held
    parts = [f'resumed tasks: {resumed}'] if resumed else []
    if held:
        parts.append(f'held tasks: {held} (:resume runs them)')
    if ended:
        parts.append(f'not repeated: {", ".join(ended)}')
    return '; '.join(parts) or 'no task was running'


def wait_for(
    work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop, cancellation: Cancellation
) -> T:
    """From a skill's thread: run ``work`` in ``loop`` and return its result, or raise its
    exception. Raises TurnCancelled as soon as a cancellation is requested; ``work`` then goes on.
    """
    future = asyncio.run_coroutine_threadsafe(work, loop)
    while not futures.wait([future], CANCELLATION_POLL_S).done:
        cancellation.check()
    cancellation.check()
    return future.result()


async def run_skill(
    task: Task, context: SkillContext, *, is_motion: bool, cancellable: bool = True
) -> None:
    """Run the skill. An interrupted motion fails: its full duration again would drive too far.

    ``cancellable`` False: a pause does not stop the skill. Raises SkillFailed.
    """
    ordered = Order.of(task)  # before reobserve() ends the recovery
    await reobserve(task, context)
    if is_begun_motion(task):
        raise SkillFailed(NOT_REPEATED_TEXT, final=True)
    arguments = task.metadata.get('arguments', {})

    loop = asyncio.get_running_loop()

    async def begin() -> None:
        task.metadata['begun'] = True
        await context.runner.checkpoint(task)

    def work(cancellation: Cancellation) -> Outcome:
        with context.thread_of(ordered):
            wait_for_resources(context, context.runner.needs(task), cancellation)
            try:
                order = context.execution.admit(task.name, cancellation, **arguments)
            except NotAdmitted as refused:
                refusal = refused.refusal
                return Outcome(False, refusal.reason, refusal=refusal.to_json())
            if is_motion:  # a question is no motion: nothing has begun before
                wait_for(begin(), loop, cancellation)
            call = order.call or Operation(task.name, arguments)
            with under_order(order):
                return context.execution.run_skill(call.skill, cancellation, **call.arguments)

    store_outcome(task, await context.execution.halt.run(work, cancellable=cancellable))
