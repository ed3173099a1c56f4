# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill executor for callers that use only skill names and plain JSON."""

from __future__ import annotations

from curiosity_rosa_demo.agent.skills.executor import SkillExecutor
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.interfaces import ISkillExecutor


class JsonSkillExecutor(ISkillExecutor):
    """Adapts a SkillExecutor and raises its errors. ``cancellation`` stops every run of this
    executor and refuses new ones; the owner of a stop button must hold it. A turn's guardrails do
    not check these runs; the adapter's checks apply to them as to all others.
    """

    def __init__(self, executor: SkillExecutor, cancellation: Cancellation) -> None:
        self._executor, self._cancellation = executor, cancellation

    async def dispatch(self, skill_name: str, params: Json) -> str:
        return await self._executor.dispatch(skill_name, params, self._cancellation)

    async def cancel(self, goal_id: str) -> bool:
        return await self._executor.cancel(goal_id)

    async def get_feedback(self, goal_id: str) -> Json:
        return await self._executor.get_feedback(goal_id)

    async def get_result(self, goal_id: str) -> Json:
        """A SkillResult as JSON: status, error_code, error_msg and metrics."""
        result = await self._executor.get_result(goal_id)
        return result.model_dump(mode='json')
