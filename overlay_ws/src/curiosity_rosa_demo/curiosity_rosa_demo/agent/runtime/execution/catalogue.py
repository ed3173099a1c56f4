# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""All skills of the agent, registered with the runner."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from functools import partial
import time
from typing import Any

from curiosity_rosa_demo.agent.runtime.execution.activity import run_activity
from curiosity_rosa_demo.agent.runtime.execution.charge import run_charge
from curiosity_rosa_demo.agent.runtime.execution.context import SkillContext
from curiosity_rosa_demo.agent.runtime.execution.react import run_react, run_skill
from curiosity_rosa_demo.agent.skills.registry import arguments_as_json, SkillRegistry
from curiosity_rosa_demo.agent.skills.skill import BadArguments
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.task import BadTask
from curiosity_rosa_demo.domain.brain_state import QueuedTask, RunningSkill, SkillDef

Work = Callable[[Task], Coroutine[Any, Any, None]]
Skill = Callable[[Task, SkillContext], Coroutine[Any, Any, None]]
TASK_SKILLS: dict[str, Skill] = {
    'react': run_react,
    'charge': run_charge,
    'activity': run_activity,
}
METADATA_SKILLS = ('react', 'activity')  # their arguments are the task's metadata
REACT_ARGUMENTS = (
    'react takes {"text": "...", "expects": "answer" or "good_capture", "plan": a plan or nothing}'
)


def register_skills(registry: SkillRegistry, context: SkillContext) -> None:
    for definition in registry:
        resources = tuple(definition.resources_required)
        own = TASK_SKILLS.get(definition.name)
        skill = own or partial(run_skill, cancellable=definition.cancel_supported)
        work: Work = partial(_run, skill, context)
        if own is not None:
            work = _monitored(definition, work, context)
        context.runner.skill(
            definition.name,
            resources=resources,
            recovers=True,
            cancel_supported=definition.cancel_supported,
        )(work)


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


async def _run(skill: Skill, context: SkillContext, task: Task) -> None:
    """Run the skill. If a fault has stopped the rover meanwhile, the tasks that wait are held
    before the end of this one lets the next begin: nobody has seen where the rover stands.
    """
    try:
        await skill(task, context)
    finally:
        if fault := context.execution.take_fault():
            await context.hold_waiting(fault)


def _monitored(definition: SkillDef, work: Work, context: SkillContext) -> Work:
    """Wrap a skill that no SkillExecutor runs: enter it in the monitor while its task runs."""
    monitor = context.execution.monitor

    async def monitored(task: Task) -> None:
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
            await work(task)
        finally:
            monitor.release(task.id)

    return monitored


def make_task(registry: SkillRegistry, name: str, arguments: dict[str, Any]) -> Task:
    """A task for the skill ``name``. Raises BadTask, whose message gives the valid arguments."""
    skill = registry.get(name)
    try:
        given = arguments_as_json(skill, arguments)
    except BadArguments:
        if name != 'react':
            raise
        raise BadTask(REACT_ARGUMENTS) from None
    if name in METADATA_SKILLS:
        return Task(name, metadata={key: each for key, each in given.items() if each is not None})
    return Task(name, metadata={'arguments': given} if given else {})
