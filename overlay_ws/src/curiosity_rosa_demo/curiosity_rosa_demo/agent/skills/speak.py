"""The skill ``speak``: words for the people around the robot."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.models import ToolResult

Words = Annotated[str, Field(min_length=1, max_length=500, description='at most 500 characters')]


def speak(call: SkillCall, text: Words) -> ToolResult:
    """Say something to the people around: on the console, in the trace and on the speech topic."""
    call.world.say(text)
    return ToolResult.success(said=text)
