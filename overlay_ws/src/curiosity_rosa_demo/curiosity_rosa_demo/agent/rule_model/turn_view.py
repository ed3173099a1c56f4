# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The input of a decision: the steps of this turn, the tools and the hints. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from curiosity_rosa_demo.agent.language.understand import Utterance
from curiosity_rosa_demo.domain.geometry import MotionSpeeds
from curiosity_rosa_demo.domain.operation import Exchange
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import MAST_SKILLS
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.obstacles import RoverShape

# -----------------------------------------------------------------------------------------------
# What the rule model knows of the rover before it has measured it: the profile's figures.


@dataclass(frozen=True)
class RoverFigures:
    """Metres from the base of a rover that drives, with its appendages stowed: ``front_m`` and
    ``rear_m`` to the ends of the body, ``half_m`` to each side of its corridor. ``stop_m``: the
    adapter stops a motion with less free way.
    """

    speeds: MotionSpeeds
    front_m: float
    rear_m: float
    half_m: float
    stop_m: float

    @classmethod
    def of(cls, config: Config) -> RoverFigures:
        thresholds = config.thresholds
        shape = RoverShape.of(thresholds, stowed=config.robot.appendages)
        return cls(
            speeds=thresholds.speeds,
            front_m=shape.front_m,
            rear_m=thresholds.obstacles.rear_m,
            half_m=shape.half_width_m + shape.margin_m,
            stop_m=thresholds.telemetry.obstacle_stop_m,
        )


@dataclass(frozen=True)
class TurnView:
    """The whole input of a decision. ``bright_x`` is the hint: the x in metres at which the light
    begins. ``stows`` are the tools that stow an appendage, which every drive needs.
    """

    rover: RoverFigures
    said: Utterance
    steps: tuple[Exchange, ...] = ()
    tools: frozenset[str] = frozenset()
    costs: Mapping[str, float] = field(default_factory=dict)
    bright_x: float | None = None
    longest_s: float = 10.0
    stows: tuple[str, ...] = ()

    @property
    def has_mast(self) -> bool:
        """Whether the robot has a mast: skills of another one do without."""
        return not self.tools or bool(self.tools & MAST_SKILLS)

    def cost(self, *tools: str) -> float:
        """The total cost of these calls; a tool without a stated cost counts as 1."""
        return sum(self.costs.get(tool, 1.0) for tool in tools)

    def seconds(self, wanted: float) -> float:
        """``wanted`` limited to a duration that the motion tools accept."""
        return min(self.longest_s, max(1.0, round(wanted, 1)))

    def failures(self, *tools: str, refused: bool = False) -> int:
        """The number of faults (or refusals) of these tools since their last success."""
        return sum(step.refused == refused for step in self._since_success(tools))

    def interruptions(self, *tools: str) -> int:
        """The number of calls of these tools since their last success during which the agent
        ended.
        """
        stopped = RefusalCode.INTERRUPTED
        return sum(step.code == stopped for step in self._since_success(tools))

    def _since_success(self, tools: tuple[str, ...]) -> Iterator[Exchange]:
        calls = (step for step in reversed(self.steps) if step.tool in tools)
        return takewhile(lambda step: not step.ok, calls)

    def last(self, *tools: str) -> Exchange | None:
        """The newest step of one of these tools."""
        return next((step for step in reversed(self.steps) if step.tool in tools), None)
