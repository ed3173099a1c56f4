"""A skill for Curiosity ROSA: look around once and score the light."""

from typing import Annotated

from pydantic import Field

from curiosity_rosa_demo.agent.skills.plugins import skill_of
from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config.behaviour import SkillSettings

Turns = Annotated[int, Field(ge=0, le=3, description='how often the mast turns around')]


def look_around(call: SkillCall, turns: Turns = 1) -> ToolResult:
    """Raise the mast, turn it around, take a picture, and stow the mast again."""
    score = 0.0
    for tool in ('mast_open', *['mast_rotate'] * turns, 'capture_and_score', 'mast_close'):
        result = call.world.tool(tool, call.cancellation)
        if not result.ok:
            return ToolResult.failure(result.error_reason, failed_at=tool)
        score = result.data.get('score', score)
    return ToolResult.success(score=score)


look_around_skill = skill_of(
    look_around,
    SkillSettings.model_validate(
        {
            'interface_type': 'internal',
            'resources_required': ['mast', 'camera'],
            'preemptible': True,
            'cancel_supported': True,
            'timeout_s': 120.0,
            'risk': 'low',
            'error_map': {},
        }
    ),
)
