# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A skill, its interface to the robot, its errors and its progress; for skills of others, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from curiosity_rosa_demo.agent.llm.vision import SeenPictures
from curiosity_rosa_demo.agent.tasks.task import BadTask
from curiosity_rosa_demo.domain.brain_state import Json, SkillDef
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.geometry import finite_float
from curiosity_rosa_demo.domain.graph import GraphQuery
from curiosity_rosa_demo.domain.models import RoverPose, ToolResult
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.infra.config.behaviour import SkillSettings
from curiosity_rosa_demo.infra.config.topics import Config
from pydantic import BaseModel


class SkillWorld(Protocol):
    """The interface of a skill to the robot and its operators. Thread-safe; the calls block."""

    @property
    def config(self) -> Config: ...

    @property
    def pictures(self) -> SeenPictures:
        """The pictures of the rover's camera."""

    def tool(self, name: str, cancellation: Cancellation, **arguments: Any) -> ToolResult:
        """Call one of the ten rover tools through the adapter. Raises TurnCancelled."""

    def pose(self) -> RoverPose | None:
        """The pose of the base in the world frame; None while TF has none."""

    def facts(self) -> Json:
        """The current facts, flat: mast, moving, x, y, yaw_rad, battery_pct, zones, mode."""

    def graph(self, query: GraphQuery, language: str, cancellation: Cancellation) -> ToolResult:
        """Read the ROS graph: ``answer``, a text, with ``rows``. Raises TurnCancelled."""

    def say(self, text: str) -> None:
        """Publish ``text`` on the console, in the trace and on the speech topic."""

    def may_drive(self, name: str, duration_s: float) -> str:
        """The reason why the guardrails refuse this motion now; empty if they allow it."""


@dataclass(frozen=True)
class SkillCall:
    """The context of one run. Blocking code must check ``cancellation``; ``progress`` publishes
    a report.
    """

    world: SkillWorld
    cancellation: Cancellation
    progress: Callable[[Json], None]


@dataclass(frozen=True)
class Skill:
    """What plugins.skill_of makes of a function and its settings: there is no other way.

    ``run(call, **arguments)`` runs in its own thread, may block, and returns a ToolResult; an
    exception counts as a failure. ``arguments`` validates the arguments, and a model sees its
    schema. ``description`` is for the model.
    """

    name: str
    run: Callable[..., ToolResult]
    arguments: type[BaseModel]
    description: str
    settings: SkillSettings

    @cached_property
    def definition(self) -> SkillDef:
        own = {'risk', 'repeatable', 'words'}
        fields = self.settings.model_dump(mode='json', exclude=own)
        return SkillDef(name=self.name, args_schema=self.arguments.model_json_schema(), **fields)


class BadSkill(ValueError):
    """An invalid skill. The message names the skill, the argument and the rule."""


class UnknownSkill(BadTask):
    """No skill has this name. The message lists the registered skills."""


class BadArguments(BadTask):
    """Arguments that the skill does not accept. The message names the valid ones."""


class ResourceBusy(Exception):
    """A running skill holds a resource that this skill needs. The message names both skills."""


# --- Progress of a running skill: fraction, text and throttle. Pure ----------------------------
# A skill reports a JSON object. In it ``fraction`` is the completed part, 0.0 to 1.0,
# ``legs`` the number of driven legs, ``distance_m`` the remaining metres along the planned way,
# and ``waited_s`` the elapsed seconds.

PROGRESS = 'PROGRESS'  # kind of the feedback in the action run_task
TOLD_EVERY_S = 1.0  # the shortest time between two published reports
STEP = 0.1  # the least change of the fraction between two published reports
UNKNOWN_EVERY_S = 10.0  # the same time for reports without a fraction


def part_done(before: float, left: float) -> float:
    """The completed fraction, 0.0 to 1.0, if ``left`` of ``before`` remains."""
    return 1.0 if before <= 0.0 else round(min(1.0, max(0.0, 1.0 - left / before)), 3)


def fraction_of(progress: Mapping[str, object]) -> float | None:
    """The completed fraction, 0.0 to 1.0; None: unknown."""
    fraction = finite_float(progress.get('fraction'))
    return fraction if fraction is not None and 0.0 <= fraction <= 1.0 else None


def progress_text(skill: str, progress: Json) -> str:
    """A line such as ``navigate_to_pose: 40 %, 3 legs driven, 6.1 m left``."""
    parts = []
    if (fraction := fraction_of(progress)) is not None:
        parts.append(f'{100.0 * fraction:.0f} %')
    if says_a_loop(progress):
        loop_m, goal_m = progress['loop_m'], progress['straight_m']
        return f'{skill}: needs a loop of {loop_m:.0f} m for a goal {goal_m:.1f} m away'
    if type(legs := progress.get('legs')) is int:
        parts.append(f'{count_text(legs, "leg")} driven')
    if (metres := finite_float(progress.get('distance_m'))) is not None:
        parts.append(f'{metres:.1f} m left')
    if (seconds := finite_float(progress.get('waited_s'))) is not None:
        parts.append(f'waited {seconds:.0f} s')
    return f'{skill}: {", ".join(parts) or "under way"}'


def says_a_loop(progress: Mapping[str, object]) -> bool:
    """Whether this is the report, before the first leg, that the goal needs a loop."""
    return progress.get('legs') == 0 and 'loop_m' in progress


def is_due(progress: Json, since_s: float, before: float) -> bool:
    """Whether to publish a report ``since_s`` seconds after the last one, which had the fraction
    ``before``: at most one per TOLD_EVERY_S, and only after a change of STEP, so that a run of any
    length publishes about ten. What is said before the rover drives is published at once.
    """
    fraction = fraction_of(progress)
    if fraction is None:
        return since_s >= UNKNOWN_EVERY_S
    return says_a_loop(progress) or (since_s >= TOLD_EVERY_S and abs(fraction - before) >= STEP)
