"""All skills of the agent, registered with the runner."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from pydantic import ValidationError

from curiosity_rosa_demo.agent.skills.base import SkillContext
from curiosity_rosa_demo.agent.skills.charge import charge
from curiosity_rosa_demo.agent.skills.react import react
from curiosity_rosa_demo.agent.skills.registry import SkillRegistry
from curiosity_rosa_demo.agent.skills.tools import run_tool
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.errors import BadTask
from curiosity_rosa_demo.domain.brain import QueuedTask
from curiosity_rosa_demo.infra.config_models import Config
from curiosity_rosa_demo.tools.arguments import arguments_of, in_words

Skill = Callable[[Task, SkillContext], Coroutine[Any, Any, None]]
OWN: dict[str, Skill] = {'react': react, 'charge': charge}


def register_skills(registry: SkillRegistry, context: SkillContext) -> None:
    for definition in registry:
        resources = tuple(definition.resources_required)
        work = _bound(OWN.get(definition.name, run_tool), context)
        context.runner.skill(definition.name, resources=resources, recovers=True)(work)


def as_queued(task: Task, resources: Iterable[str], *, preemptible: bool) -> QueuedTask:
    """``task`` as the kernel sees it. Not validated: that would cost more than all the rest."""
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


def _bound(skill: Skill, context: SkillContext) -> Callable[[Task], Coroutine[Any, Any, None]]:
    async def work(task: Task) -> None:
        await skill(task, context)

    return work


def make_task(
    registry: SkillRegistry, name: str, arguments: dict[str, Any], config: Config
) -> Task:
    """A task for the skill ``name``. Raises BadTask that says what would be right."""
    if name == 'react':
        text, expects = arguments.get('text'), arguments.get('expects', 'answer')
        if (
            not isinstance(text, str)
            or not text.strip()
            or expects not in ('answer', 'good_capture')
            or not arguments.keys() <= {'text', 'expects'}
        ):
            raise BadTask('react takes {"text": "...", "expects": "answer" or "good_capture"}')
        return Task(name, metadata={'text': text, 'expects': expects})
    schema = arguments_of(registry.get(name).name, config)
    try:
        checked = schema.model_validate(arguments).model_dump()
    except ValidationError as error:
        raise BadTask(f'{name}: {in_words(error, schema)}') from None
    return Task(name, metadata={'arguments': checked} if checked else {})
