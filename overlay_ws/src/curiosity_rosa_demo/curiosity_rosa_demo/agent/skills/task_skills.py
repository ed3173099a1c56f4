"""The skills that only tasks run, as far as the registry knows them: their arguments.

What they do stands in react.py, charge.py and activity.py; the model is not offered them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.brain import Json
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config_world import DAY_MIN

Text = Annotated[str, Field(min_length=1, pattern=r'\S')]
Minutes = Annotated[float, Field(gt=0.0, le=DAY_MIN)]


def react(
    call: SkillCall,
    text: Text,
    expects: Literal['answer', 'good_capture'] = 'answer',
    plan: Json | None = None,
) -> ToolResult:
    """A text goes to the model, which works with the other skills until it answers; with a plan,
    that is carried out."""
    return _only_as_a_task('react')


def charge(call: SkillCall) -> ToolResult:
    """Stop, stow the mast and wait until the battery is charged."""
    return _only_as_a_task('charge')


def activity(call: SkillCall, activity: Text, minutes: Minutes) -> ToolResult:
    """What the agent is about lasts for so many minutes of its own clock; it moves nothing."""
    return _only_as_a_task('activity')


def _only_as_a_task(name: str) -> ToolResult:
    return ToolResult.failure(f'SKILL_NOT_FOUND: {name} is a task of its own; submit it as one')
