# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Placeholder skills for tasks that an external executor runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from curiosity_rosa_demo.agent.tasks.skill_runs import TaskSkill, TaskSkills
from curiosity_rosa_demo.agent.tasks.task import SkillFailed, Task


class ExternalSkills(TaskSkills):
    """Every name is a skill, which waits until report() delivers the outcome of its task."""

    def __init__(self, resources: Iterable[str]) -> None:
        super().__init__(resources)
        self._outcomes: dict[str, asyncio.Future[None]] = {}

    def get(self, name: str) -> TaskSkill:
        return TaskSkill(self._wait, self.resources, recovers=False)

    def report(self, task_id: str, error: str | None) -> None:
        """End a task; ``error`` is the reason of its failure. The first report counts."""
        outcome = self._outcome(task_id)
        if outcome.done():
            return
        if error is None:
            outcome.set_result(None)
        else:
            outcome.set_exception(SkillFailed(error))

    def _outcome(self, task_id: str) -> asyncio.Future[None]:
        """Get or create the outcome: report() may be called before _wait() starts."""
        if task_id not in self._outcomes:
            self._outcomes[task_id] = asyncio.get_running_loop().create_future()
        return self._outcomes[task_id]

    async def _wait(self, task: Task) -> None:
        try:
            await self._outcome(task.id)
        finally:
            del self._outcomes[task.id]
