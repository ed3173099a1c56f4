# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schemas of thresholds.yaml and guardrails.yaml. The files hold the values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from curiosity_rosa_demo.domain.geometry import MotionSpeeds
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.infra.config.base import (
    above,
    Fraction,
    Metres,
    Radians,
    Risk,
    Rule,
    Seconds,
    Section,
)
from pydantic import Field

Duration = Annotated[float, Field(ge=0.0, le=3600.0)]
Place = Annotated[float, Field(ge=-100.0, le=100.0)]  # in the base frame, metres
MastPose = Annotated[list[Radians], Field(min_length=2, max_length=2)]
Binding = Literal['ask', 'refuse', 'pass']
AlwaysBound = Literal['ask', 'refuse']


class LightModelConfig(Section):
    x_min: Metres
    x_good: Annotated[Metres, above('x_min')]


class Quality(Section):
    score_threshold: Fraction


class TraceConfig(Section):
    buffer_size: int = Field(ge=1, le=10_000)


class VizConfig(Section):
    bright_zone_x_min: Metres
    bright_zone_x_max: Annotated[Metres, above('bright_zone_x_min')]
    bright_zone_half_width: float = Field(gt=0.0, le=1e4)
    trace_lines: int = Field(ge=0, le=100)
    trail_points: int = Field(ge=2, le=100_000)


class TfConfig(Section):
    max_age_s: Seconds


class CaptureConfig(Section):
    max_image_age_s: Seconds
    wait_s: Seconds
    jpeg_quality: int = Field(ge=1, le=100)
    min_brightness: Fraction
    require_open_mast: bool


class MotionConfig(Section):
    max_duration_s: Seconds
    service_timeout_s: Seconds
    stop_timeout_s: Seconds
    stop_confirm_s: Seconds
    settle_s: Seconds
    still_speed_mps: float = Field(gt=0.0, le=10.0)
    still_turn_radps: float = Field(gt=0.0, le=10.0)
    wheel_joints: list[str] = Field(max_length=100)
    wheels_still_radps: float = Field(gt=0.0, le=10.0)
    settling_speed_mps: float = Field(gt=0.0, le=10.0)
    settling_turn_radps: float = Field(gt=0.0, le=10.0)
    settling_way_m: float = Field(gt=0.0, le=100.0)
    settling_max_s: Seconds
    odometry_max_age_s: Seconds
    odometry_stop_s: Annotated[Duration, above('odometry_max_age_s', or_zero=True)]
    driver_silence_s: Duration
    heartbeat_max_age_s: Seconds
    agent_lease_s: float = Field(ge=0.1, le=10.0)
    clock_max_age_s: Seconds
    slowest_real_time_factor: float = Field(gt=0.0, le=1.0)
    stop_unexpected: bool

    @property
    def longest_confirm_s(self) -> float:
        """The longest wait for standstill after the answer of a stop, in simulated seconds."""
        return self.stop_confirm_s + (self.settling_max_s if self.wheel_joints else 0.0)


class DriveConfig(Section):
    forward_mps: float = Field(ge=0.0, le=10.0)
    slip_limit: float = Field(ge=0.0, le=1.0)
    slip_s: Seconds
    stuck_s: Duration
    tilt_limit_rad: float = Field(ge=0.0, le=1.5)


class MastConfig(Section):
    """``joints``: the one that raises the mast, and the one that turns it. Each pose has an angle
    for both, in radians; an open mast may have been turned to any angle.
    """

    joints: list[str] = Field(min_length=2, max_length=2)
    closed_rad: MastPose
    open_rad: MastPose
    rotated_rad: MastPose
    open_duration_s: Seconds
    close_duration_s: Seconds
    rotate_duration_s: Seconds
    confirm_margin_s: Seconds
    tolerance_rad: float = Field(gt=0.0, le=0.7)
    joint_max_age_s: Seconds

    def rules(self) -> Iterator[Rule]:
        yield self.joints[0] == self.joints[1], 'joints', 'must name two joints'
        opened, gap_rad = self.open_rad[0], 2 * self.tolerance_rad
        rule = f'its first angle must differ from that of closed_rad {self.closed_rad} by more '
        rule += f'than {gap_rad:g} (2 * tolerance_rad)'
        yield abs(opened - self.closed_rad[0]) <= gap_rad, 'open_rad', rule
        rule = f'its first angle must be that of open_rad {self.open_rad}'
        yield abs(self.rotated_rad[0] - opened) > self.tolerance_rad, 'rotated_rad', rule


class BatteryConfig(Section):
    low: Fraction
    charged: Annotated[Fraction, above('low')]


class TelemetryConfig(Section):
    odometry_max_age_s: Seconds
    adapter_max_age_s: Seconds
    scan_max_age_s: Seconds
    battery_max_age_s: Seconds
    obstacle_stop_m: float = Field(ge=0.0, le=100.0)


class BodyConfig(Section):
    """Measured figures of the rover's motions and attitude. Pitch is positive nose up."""

    forward_mps: float = Field(gt=0.0, le=10.0)
    turn_mps: float = Field(gt=0.0, le=10.0)
    start_s: float = Field(ge=0.0, le=10.0)
    standing_pitch_rad: float = Field(ge=-0.5, le=0.5)
    driving_pitch_rad: float = Field(ge=-0.5, le=0.5)


class PartConfig(Section):
    """What a part of the rover fills while it is not known to be stowed: a box in the base frame,
    x forward and y left, and the height of its top above the ground, metres.
    """

    x_min: Place
    x_max: Annotated[Place, above('x_min')]
    y_min: Place
    y_max: Annotated[Place, above('y_min')]
    height_m: float = Field(gt=0.0, le=100.0)


class ObstaclesConfig(Section):
    """``parts``: what sticks out of the box of chassis and wheels, by name. A part that is an
    appendage of the robot counts while it is not known to be stowed, any other always.
    """

    clear_m: float = Field(gt=0.0, le=200.0)
    scan_max_age_s: Seconds
    front_m: float = Field(gt=0.0, le=100.0)
    rear_m: float = Field(gt=0.0, le=100.0)
    half_width_m: float = Field(gt=0.0, le=100.0)
    margin_m: float = Field(ge=0.0, le=10.0)
    ground_z_m: float = Field(ge=-100.0, le=100.0)
    min_height_m: float = Field(gt=0.0, le=10.0)
    rover_height_m: Annotated[float, Field(gt=0.0, le=100.0), above('min_height_m')]
    parts: dict[str, PartConfig] = Field(default_factory=dict)
    turn_radius_m: float = Field(gt=0.0, le=1000.0)


class GroundConfig(Section):
    range_m: float = Field(gt=0.0, le=200.0)
    deck_height_m: float = Field(ge=0.0, le=10.0)
    field_of_view_rad: float = Field(gt=0.0, le=3.0)
    camera_height_m: float = Field(gt=0.0, le=20.0)
    camera_tilt_rad: float = Field(ge=-1.5, le=1.5)


class Thresholds(Section):
    """``speeds`` are the profile's: they hold until a motion is measured."""

    light_model: LightModelConfig
    quality: Quality
    trace: TraceConfig
    viz: VizConfig
    tf: TfConfig
    capture: CaptureConfig
    motion: MotionConfig
    drive: DriveConfig
    mast: MastConfig
    battery: BatteryConfig
    telemetry: TelemetryConfig
    body: BodyConfig
    obstacles: ObstaclesConfig
    ground: GroundConfig

    @property
    def speeds(self) -> MotionSpeeds:
        turn = self.body.turn_mps / self.obstacles.turn_radius_m
        return MotionSpeeds(self.body.forward_mps, self.body.turn_mps, turn)

    def rules(self) -> Iterator[Rule]:
        stop_m = self.telemetry.obstacle_stop_m
        rule = f'must be greater than telemetry.obstacle_stop_m ({stop_m})'
        yield self.obstacles.clear_m <= stop_m, ('obstacles', 'clear_m'), rule
        still, speeds = self.motion, self.speeds
        least_mps = speeds.straight
        if still.still_turn_radps >= speeds.turn:  # an arc is told from a standstill by its speed
            least_mps = min(least_mps, speeds.arc)
        rule = f'must be less than the speed of the slowest motion of body ({least_mps:g})'
        yield still.still_speed_mps >= least_mps, ('motion', 'still_speed_mps'), rule


# --- guardrails.yaml -------------------------------------------------------------------------


class Budget(Section):
    max_cost: float = Field(gt=0.0, le=1e6)
    max_metres: float = Field(gt=0.0, le=1e6)
    max_seconds: float = Field(gt=0.0, le=1e6)


class Patience(Section):
    refused_in_a_row: int = Field(ge=1, le=1000)
    same_refused: int = Field(ge=1, le=1000)
    failures_in_a_row: int = Field(ge=1, le=1000)
    no_progress: int = Field(ge=2, le=1000)
    idle_steps: int = Field(ge=1, le=1000)
    idle_cost: float = Field(gt=0.0, le=1e6)
    detour_cost: float = Field(gt=0.0, le=1e6)
    takeovers: int = Field(ge=1, le=1000)
    exhausted: Literal['ASK_HUMAN', 'ABORT']


class Geofence(Section):
    enabled: bool
    x_min: Metres
    x_max: Metres
    y_min: Metres
    y_max: Metres
    margin_m: float = Field(ge=0.0, le=1e3)
    max_speed_mps: float = Field(gt=0.0, le=100.0)
    leaving: Literal['refuse', 'ask']

    def rules(self) -> Iterator[Rule]:
        for axis in 'xy':
            low, high = getattr(self, f'{axis}_min'), getattr(self, f'{axis}_max')
            rule = f'must be more than 2 * margin_m above {axis}_min ({low:g})'
            yield high - low <= 2 * self.margin_m, f'{axis}_max', rule


class EnergyRules(Section):
    enabled: bool
    home_x: Metres
    home_y: Metres
    charge_per_m: float = Field(ge=0.0, le=1.0)
    reserve: float = Field(ge=0.0, le=0.5)


class ApprovalRules(Section):
    timeout_s: Seconds
    skills: list[str]
    risk_levels: list[Risk]
    battery_below: Fraction


class Origins(Section):
    """What an order that ``approval`` names meets, by its origin. No order of the agent's own
    passes without a person's yes.
    """

    model: AlwaysBound
    plan: AlwaysBound
    autonomy: AlwaysBound
    trigger: AlwaysBound
    recovery: AlwaysBound
    console: Binding
    page: Binding
    http: Binding
    action: Binding
    mcp: AlwaysBound

    def binding(self, origin: Origin) -> Binding:
        """Charging only stops and stows, which asks nobody; anything more is refused."""
        return 'refuse' if origin is Origin.CHARGE else getattr(self, origin.value)


class RehearsalRules(Section):
    enabled: bool
    max_s: float = Field(gt=0.0, le=0.5)
    battery_pct_per_s: float = Field(ge=0.0, le=100.0)
    gap_m: float = Field(gt=0.0, le=1e3)
    gap_share: float = Field(ge=0.0, le=1.0)
    gap_rad: float = Field(gt=0.0, le=3.2)


class Guardrails(Section):
    budget: Budget
    patience: Patience
    geofence: Geofence
    energy: EnergyRules
    approval: ApprovalRules
    origins: Origins
    rehearsal: RehearsalRules
