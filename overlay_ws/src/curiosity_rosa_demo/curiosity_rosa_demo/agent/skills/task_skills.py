"""The skills that only tasks run, as far as the registry knows them: their arguments.

What they do stands in react.py and charge.py; the model is not offered them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.brain import Json
from curiosity_rosa_demo.domain.models import ToolResult

Text = Annotated[str, Field(min_length=1, pattern=r'\S')]


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


def _only_as_a_task(name: str) -> ToolResult:
    return ToolResult.failure(f'SKILL_NOT_FOUND: {name} is a task of its own; submit it as one')
