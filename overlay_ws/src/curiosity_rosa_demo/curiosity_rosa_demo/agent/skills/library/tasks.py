# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Skills that run only as tasks. These functions declare their arguments for the registry.

The task runners implement them; called as a skill of a turn, each one fails. The model does not
see them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config.world import DAY_MIN
from pydantic import Field

Text = Annotated[str, Field(min_length=1, pattern=r'\S')]
Minutes = Annotated[float, Field(gt=0.0, le=DAY_MIN)]


def react(
    call: SkillCall,
    text: Text,
    expects: Literal['answer', 'good_capture'] = 'answer',
    plan: Json | None = None,
) -> ToolResult:
    """Give a text to the model, which calls other skills until it answers; with a plan, run the
    plan.
    """
    return _only_as_a_task('react')


def charge(call: SkillCall) -> ToolResult:
    """Stop, stow the mast and wait until the battery is charged."""
    return _only_as_a_task('charge')


def activity(call: SkillCall, activity: Text, minutes: Minutes) -> ToolResult:
    """Spend the given minutes of the agent's clock on an activity; the rover does not move."""
    return _only_as_a_task('activity')


def _only_as_a_task(name: str) -> ToolResult:
    return ToolResult.failure(f'SKILL_NOT_FOUND: {name} is a task of its own; submit it as one')
