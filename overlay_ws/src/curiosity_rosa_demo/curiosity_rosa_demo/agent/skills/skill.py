# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a skill is, and what it has to work with. For our own skills and for those of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from curiosity_rosa_demo.domain.brain_state import Json, SkillDef
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import RoverPose, ToolResult
from curiosity_rosa_demo.domain.plan.plan import RiskLevel
from curiosity_rosa_demo.infra.config.contracts import Config
from pydantic import BaseModel


class SkillWorld(Protocol):
    """The robot and the people around it, as skills reach them. Blocking, from any thread."""

    @property
    def config(self) -> Config: ...

    def tool(self, name: str, cancellation: Cancellation, **arguments: Any) -> ToolResult:
        """One of the nine rover tools, through the adapter. Raises TurnCancelled."""

    def pose(self) -> RoverPose | None:
        """The base in the world frame; None while TF cannot tell."""

    def facts(self) -> Json:
        """What is known now, flat: mast, moving, x, y, yaw_rad, battery_pct, zones, mode."""

    def say(self, text: str) -> None:
        """To the console, the trace and the speech topic."""

    def may_drive(self, name: str, duration_s: float) -> str:
        """Why the guardrails refuse this motion now; empty when they do not."""


@dataclass(frozen=True)
class SkillCall:
    """One run of a skill. What blocks must look at ``cancellation``; ``progress`` is shown."""

    world: SkillWorld
    cancellation: Cancellation
    progress: Callable[[Json], None]


@dataclass(frozen=True)
class Skill:
    """``run(call, **arguments)`` blocks, in a thread of its own, and answers a ToolResult; what it
    raises is a failure. ``arguments`` checks them; its JSON schema is the definition's.
    ``definition.args_schema`` is what the model sees.
    """

    definition: SkillDef
    run: Callable[..., ToolResult]
    arguments: type[BaseModel]
    description: str  # for the model
    risk: RiskLevel
    repeatable: bool  # interrupted, a plan does it again
