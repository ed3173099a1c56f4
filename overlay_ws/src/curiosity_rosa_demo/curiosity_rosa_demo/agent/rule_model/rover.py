# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the rule model knows of the rover before it has measured it: the profile's figures."""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.domain.geometry import MotionSpeeds
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.obstacles import RoverShape


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
