# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs each skill in its own thread, with exclusive resources, a time-out and cancellation.

A run ends with one of five statuses. SUCCESS and FAILED: the skill returned before any stop.
CANCELLED and TIMED_OUT: the skill was stopped and its thread ended within the grace period.
UNKNOWN: the skill was stopped, but its thread still runs. The executor abandons that run; its
cancellation stays requested, and it holds its resources until its thread ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import uuid

from curiosity_rosa_demo.agent.skills.errors import (
    BadArguments,
    ResourceBusy,
    UnknownRun,
    UnknownSkill,
)
from curiosity_rosa_demo.agent.skills.monitor import SkillMonitor
from curiosity_rosa_demo.agent.skills.registry import checked_arguments, SkillRegistry
from curiosity_rosa_demo.agent.skills.run import SkillRun
from curiosity_rosa_demo.agent.skills.skill import SkillWorld
from curiosity_rosa_demo.domain.brain_state import Json, RunningSkill, SkillResult, SkillStatus
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.infra.spans import span

MAX_ENDED_RUNS = 100  # runs kept, so that an ended run can still be queried
CODES: dict[type[Exception], str] = {
    BadArguments: 'PARAM_INVALID',
    ResourceBusy: 'RESOURCE_CONFLICT',
    UnknownSkill: 'SKILL_NOT_FOUND',
}


class SkillExecutor:
    """Starts, cancels and queries skill runs. Call its methods from one asyncio loop.

    Each skill runs in a thread of its own. Any thread may trigger a ``cancellation``.
    ``monitor``: pass the agent's, so that several executors share the locks of the resources.
    """

    def __init__(
        self,
        registry: SkillRegistry,
        world: SkillWorld,
        *,
        monitor: SkillMonitor | None = None,
        grace_s: float = 3.0,
    ) -> None:
        self._registry, self._world, self._grace_s = registry, world, grace_s
        self.monitor = SkillMonitor() if monitor is None else monitor
        self._runs: dict[str, SkillRun] = {}

    async def dispatch(self, skill_name: str, params: Json, cancellation: Cancellation) -> str:
        """Start a run and return its ID. ``cancellation``: the turn's. Raises UnknownSkill,
        BadArguments, ResourceBusy and TurnCancelled.
        """
        skill = self._registry.get(skill_name)
        arguments = checked_arguments(skill, params)
        cancellation.check()
        run = SkillRun(uuid.uuid4().hex, skill, cancellation, self._grace_s, self.monitor)
        self.monitor.claim(run.goal)
        self._drop_oldest_run()
        self._runs[run.goal.goal_id] = run
        run.start(self._world, arguments)
        return run.goal.goal_id

    async def result_of(
        self, skill_name: str, params: Json, cancellation: Cancellation
    ) -> SkillResult:
        """Run a skill to its end. A skill that cannot start returns FAILED, with an error code
        of ``CODES``. Raises TurnCancelled.
        """
        attributes = {'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': skill_name}
        with span(f'execute_tool {skill_name}', attributes) as run:
            result = await self._result_of(skill_name, params, cancellation)
            run.set({'curiosity.skill.status': result.status.value})
            if result.status is not SkillStatus.SUCCESS:
                run.fail(result.error_code or result.status.value)
            return result

    async def _result_of(
        self, skill_name: str, params: Json, cancellation: Cancellation
    ) -> SkillResult:
        try:
            return await self.get_result(await self.dispatch(skill_name, params, cancellation))
        except (BadArguments, ResourceBusy, UnknownSkill) as refusal:
            return SkillResult(
                status=SkillStatus.FAILED,
                error_code=CODES[type(refusal)],
                error_msg=str(refusal),
            )

    async def cancel(self, goal_id: str) -> bool:
        """Request the end of a run. Returns False if the run has ended, if a stop was requested
        before, or if its skill has ``cancel_supported`` false. Raises UnknownRun.
        """
        run = self._run(goal_id)
        if not self._registry.get(run.goal.skill_name).definition.cancel_supported:
            return False
        return run.stop(SkillStatus.CANCELLED, f'{run.goal.skill_name} was cancelled')

    async def get_feedback(self, goal_id: str) -> Json:
        """The newest progress report; empty before the first. Raises UnknownRun."""
        return self._run(goal_id).feedback

    def progress(self, goal_id: str) -> AsyncIterator[Json]:
        """Each progress report until the run ends. Raises UnknownRun."""
        return self._run(goal_id).progress()

    async def get_result(self, goal_id: str) -> SkillResult:
        """Wait for the result. Raises UnknownRun, and TurnCancelled if the turn stopped the run.
        TurnCancelled comes only after the run has ended or was abandoned.
        """
        run = self._run(goal_id)
        result = await asyncio.shield(run.done)
        if run.cancelled_by_turn:
            raise TurnCancelled(run.stop_reason)
        return result

    def running(self) -> list[RunningSkill]:
        return [run.goal for run in self._runs.values() if not run.done.done()]

    def _run(self, goal_id: str) -> SkillRun:
        try:
            return self._runs[goal_id]
        except KeyError:
            raise UnknownRun(f'There is no run {goal_id!r}') from None

    def _drop_oldest_run(self) -> None:
        if len(self._runs) >= MAX_ENDED_RUNS:
            ended = (goal_id for goal_id, run in self._runs.items() if run.done.done())
            self._runs.pop(next(ended, ''), None)
