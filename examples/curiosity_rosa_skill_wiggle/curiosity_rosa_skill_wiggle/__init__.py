"""A skill for Curiosity ROSA: wiggle to the left and to the right."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from curiosity_rosa_demo.agent.skills.plugins import skill_of
from curiosity_rosa_demo.agent.skills.skill import Skill, SkillCall
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config.behaviour import SkillSettings

Times = Annotated[int, Field(ge=1, le=5, description='how often to each side')]
Seconds = Annotated[float, Field(gt=0.0, description='seconds of each turn')]


def wiggle(call: SkillCall, times: Times = 1, turn_s: Seconds = 1.0) -> ToolResult:
    """Turn a little to the left and to the right, to draw attention. Needs a closed mast."""
    for done in range(times):
        for motion in ('turn_left', 'turn_right'):
            refused = call.world.may_drive(motion, turn_s)
            if refused:
                return ToolResult.failure(refused, times=done)
            result = call.world.tool(motion, call.cancellation, duration_s=turn_s)
            if not result.ok:
                return ToolResult.failure(result.error_reason, times=done)
        call.progress({'times': done + 1})
    return ToolResult.success(times=times)


def wiggle_skill(config: Config) -> Skill:
    """The entry point: settings, and a limit that only the configuration knows."""
    settings = SkillSettings.model_validate(
        {
            'interface_type': 'internal',
            'resources_required': ['base', 'mast'],
            'preemptible': True,
            'cancel_supported': True,
            'timeout_s': 600.0,
            'risk': 'medium',
            'error_map': {},
        }
    )
    return skill_of(wiggle, settings, at_most={'turn_s': config.agent.turn.max_motion_s})
