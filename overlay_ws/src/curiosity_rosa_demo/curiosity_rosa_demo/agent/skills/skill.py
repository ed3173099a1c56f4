# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill type and its interface to the robot, for built-in and third-party skills."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from curiosity_rosa_demo.agent.llm.pictures import SeenPictures
from curiosity_rosa_demo.domain.brain_state import Json, SkillDef
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.graph import GraphQuery
from curiosity_rosa_demo.domain.models import RoverPose, ToolResult
from curiosity_rosa_demo.domain.plan.plan import RiskLevel
from curiosity_rosa_demo.domain.refusal import Refusal
from curiosity_rosa_demo.infra.config.contracts import Config
from pydantic import BaseModel


class SkillWorld(Protocol):
    """The interface of a skill to the robot and its operators. Thread-safe; the calls block."""

    @property
    def config(self) -> Config: ...

    @property
    def pictures(self) -> SeenPictures:
        """The pictures of the rover's camera."""

    def tool(self, name: str, cancellation: Cancellation, **arguments: Any) -> ToolResult:
        """Call one of the nine rover tools through the adapter. Raises TurnCancelled."""

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

    def drive_refusal(self, name: str, duration_s: float) -> Refusal | None:
        """As ``may_drive``, with the code by which code decides; None if they allow it."""


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
    """``run(call, **arguments)`` runs in its own thread, may block, and returns a ToolResult; an
    exception counts as a failure. ``arguments`` validates the arguments. Its JSON schema must
    equal ``definition.args_schema``, which the model sees.
    """

    definition: SkillDef
    run: Callable[..., ToolResult]
    arguments: type[BaseModel]
    description: str  # for the model
    risk: RiskLevel
    repeatable: bool  # a plan repeats the step after an interruption
    words: tuple[str, ...] = ()  # phrases that order it, for the routine
