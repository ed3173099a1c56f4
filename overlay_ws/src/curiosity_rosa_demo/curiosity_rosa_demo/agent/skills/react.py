"""The skill ``react``: a text goes to the model, which works with the tools until it answers.

metadata: ``text``, ``expects`` (as in prompts.yaml); the skill adds ``calls`` and ``outcome``.
"""

from __future__ import annotations

import asyncio
import copy
from typing import Any

from curiosity_rosa_demo.agent.brain import TurnRecord
from curiosity_rosa_demo.agent.session import Outcome
from curiosity_rosa_demo.agent.skills.base import SkillContext, conclude, look_again
from curiosity_rosa_demo.agent.tasks import Task

COMMIT_WAIT_S = 10.0


async def react(task: Task, context: SkillContext) -> None:
    """Goes on after the calls that ``task.metadata`` holds."""
    await look_again(task, context)
    loop = asyncio.get_running_loop()
    calls = copy.deepcopy(task.metadata.get('calls', []))

    async def commit(so_far: list[dict[str, Any]]) -> None:
        task.metadata['calls'] = so_far
        await context.runner.checkpoint(task)

    def save() -> None:
        commit_now = commit(copy.deepcopy(calls))
        asyncio.run_coroutine_threadsafe(commit_now, loop).result(COMMIT_WAIT_S)

    def work(cancellation: Any) -> Outcome:
        text, expects = task.metadata['text'], task.metadata.get('expects', 'answer')
        record = TurnRecord(calls, save)
        return context.session.turn(text, expects, cancellation, record)

    conclude(task, await context.blocking.run(work))
