# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skills that come with the agent, with their settings from skills.yaml."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from curiosity_rosa_demo.agent.skills.drive import drive_distance, navigate_to_pose, turn_angle
from curiosity_rosa_demo.agent.skills.library.knowledge import make_search_knowledge
from curiosity_rosa_demo.agent.skills.library.queries import query_graph, query_world
from curiosity_rosa_demo.agent.skills.library.rover import (
    analyze_ground,
    capture_and_score,
    get_status,
    look,
    make_appendage_skill,
    mast_close,
    mast_open,
    mast_rotate,
    move_forward,
    move_stop,
    speak,
    stop_base,
    turn_left,
    turn_right,
)
from curiosity_rosa_demo.agent.skills.library.tasks import (
    activity,
    charge,
    react,
    wait,
    wait_until,
)
from curiosity_rosa_demo.agent.skills.nav2 import make_navigate_skill
from curiosity_rosa_demo.agent.skills.plugins import skill_of
from curiosity_rosa_demo.agent.skills.skill import Skill
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError

TASK_ONLY_SKILLS = ('react', 'charge', 'activity')  # not offered to the model
VISION_SKILLS = ('look',)  # offered only to a model that can see


def builtin_skills(config: Config) -> Iterator[Skill]:
    """Yield the skills in the order in which the model sees them.

    Raises ConfigError and BadSkill.
    """
    longest = config.agent.turn.max_motion_s
    for function in _functions(config):
        name = function.__name__
        settings = config.skills.skills.get(name)
        if settings is None:
            raise ConfigError(f'skills.yaml: skills.{name}: is missing; copy the shipped one')
        if not config.robot.has(settings.resources_required):
            continue
        at_most = {'duration_s': longest} if name in MOTIONS else None
        yield skill_of(function, settings, at_most=at_most)


def _functions(config: Config) -> tuple[Callable[..., ToolResult], ...]:
    nav2 = config.agent.navigation.provider == 'nav2'
    return (
        capture_and_score,
        mast_open,
        mast_close,
        mast_rotate,
        move_forward,
        turn_left,
        turn_right,
        move_stop,
        get_status,
        stop_base,
        analyze_ground,
        speak,
        wait,
        wait_until,
        query_world,
        query_graph,
        make_search_knowledge(config.agent.knowledge.folder),
        make_navigate_skill(config.agent.navigation.action) if nav2 else navigate_to_pose,
        drive_distance,
        turn_angle,
        look,
        react,
        charge,
        activity,
        *(
            make_appendage_skill(name, command.description)
            for name, (_, command) in config.robot.commands.items()
        ),
    )
