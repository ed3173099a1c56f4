# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The limits of the kernel's rules, from the thresholds file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from curiosity_rosa_demo.infra.config.thresholds import Thresholds


@dataclass(frozen=True)
class KernelRules:
    """``max_age_s``: a source whose last reading is older counts as silent; a source without an
    entry never does. ``exposed_s``: the longest time that the rover may move with the mast not
    closed, equal to the time that the adapter needs to stop it. Speeds up to ``still_*`` count as
    standing still.
    """

    max_age_s: Mapping[str, float]
    obstacle_stop_m: float
    battery_low: float
    battery_charged: float
    still_mps: float
    still_radps: float
    exposed_s: float
    bright_x_m: float

    @classmethod
    def of(cls, thresholds: Thresholds) -> KernelRules:
        telemetry, motion = thresholds.telemetry, thresholds.motion
        return cls(
            max_age_s={
                'odometry': telemetry.odometry_max_age_s,
                'adapter': telemetry.adapter_max_age_s,
                'scan': telemetry.scan_max_age_s,
                'battery': telemetry.battery_max_age_s,
            },
            obstacle_stop_m=telemetry.obstacle_stop_m,
            battery_low=thresholds.battery.low,
            battery_charged=thresholds.battery.charged,
            still_mps=motion.still_speed_mps,
            still_radps=motion.still_turn_radps,
            exposed_s=motion.stop_timeout_s + motion.settle_s,
            bright_x_m=thresholds.light_model.x_good,
        )
