# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schema of thresholds.yaml. The file holds the values."""

from __future__ import annotations

from typing import Annotated

from curiosity_rosa_demo.domain.geometry import MotionSpeeds
from curiosity_rosa_demo.infra.config.base import (
    Fraction,
    Metres,
    Radians,
    rule_error,
    Seconds,
    Section,
)
from pydantic import Field, model_validator


class LightModelConfig(Section):
    x_min: Metres
    x_good: Metres

    @model_validator(mode='after')
    def _rises(self) -> LightModelConfig:
        if self.x_good <= self.x_min:
            raise rule_error('x_good', self.x_good, f'must be greater than x_min ({self.x_min})')
        return self


class Quality(Section):
    score_threshold: Fraction


class TraceConfig(Section):
    buffer_size: int = Field(ge=1, le=10_000)


class VizConfig(Section):
    bright_zone_x_min: Metres
    bright_zone_x_max: Metres
    bright_zone_half_width: float = Field(gt=0.0, le=1e4)
    trace_lines: int = Field(ge=0, le=100)
    trail_points: int = Field(ge=2, le=100_000)

    @model_validator(mode='after')
    def _has_width(self) -> VizConfig:
        if self.bright_zone_x_max <= self.bright_zone_x_min:
            rule = f'must be greater than bright_zone_x_min ({self.bright_zone_x_min})'
            raise rule_error('bright_zone_x_max', self.bright_zone_x_max, rule)
        return self


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
    odometry_stop_s: float = Field(ge=0.0, le=3600.0)
    heartbeat_max_age_s: Seconds
    agent_lease_s: float = Field(ge=0.1, le=10.0)
    clock_max_age_s: Seconds
    slowest_real_time_factor: float = Field(gt=0.0, le=1.0)
    stop_unexpected: bool

    @property
    def longest_confirm_s(self) -> float:
        """The longest wait for standstill after the answer of a stop, in simulated seconds."""
        return self.stop_confirm_s + (self.settling_max_s if self.wheel_joints else 0.0)

    @model_validator(mode='after')
    def _warns_before_the_stop(self) -> MotionConfig:
        stop_s, warn_s = self.odometry_stop_s, self.odometry_max_age_s
        if 0.0 < stop_s <= warn_s:
            rule = f'must be greater than odometry_max_age_s ({warn_s}), or 0'
            raise rule_error('odometry_stop_s', stop_s, rule)
        return self


class DriveConfig(Section):
    forward_mps: float = Field(ge=0.0, le=10.0)
    slip_limit: float = Field(ge=0.0, le=1.0)
    slip_s: Seconds
    stuck_s: float = Field(ge=0.0, le=3600.0)
    tilt_limit_rad: float = Field(ge=0.0, le=1.5)


MastPose = Annotated[list[Radians], Field(min_length=2, max_length=2)]


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

    @model_validator(mode='after')
    def _joints_tell_its_poses_apart(self) -> MastConfig:
        if self.joints[0] == self.joints[1]:
            raise rule_error('joints', self.joints, 'must name two joints')
        gap_rad = 2 * self.tolerance_rad
        if abs(self.open_rad[0] - self.closed_rad[0]) <= gap_rad:
            rule = (
                f'its first angle must differ from that of closed_rad {self.closed_rad} by more '
                f'than {gap_rad:g} (2 * tolerance_rad)'
            )
            raise rule_error('open_rad', self.open_rad, rule)
        if abs(self.rotated_rad[0] - self.open_rad[0]) > self.tolerance_rad:
            rule = f'its first angle must be that of open_rad {self.open_rad}'
            raise rule_error('rotated_rad', self.rotated_rad, rule)
        return self


class BatteryConfig(Section):
    low: Fraction
    charged: Fraction

    @model_validator(mode='after')
    def _rises(self) -> BatteryConfig:
        if self.charged <= self.low:
            raise rule_error('charged', self.charged, f'must be greater than low ({self.low})')
        return self


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

    x_min: float = Field(ge=-100.0, le=100.0)
    x_max: float = Field(ge=-100.0, le=100.0)
    y_min: float = Field(ge=-100.0, le=100.0)
    y_max: float = Field(ge=-100.0, le=100.0)
    height_m: float = Field(gt=0.0, le=100.0)

    @model_validator(mode='after')
    def _is_a_box(self) -> PartConfig:
        for axis in 'xy':
            low, high = getattr(self, f'{axis}_min'), getattr(self, f'{axis}_max')
            if low >= high:
                raise rule_error(f'{axis}_max', high, f'must be greater than {axis}_min ({low})')
        return self


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
    rover_height_m: float = Field(gt=0.0, le=100.0)
    parts: dict[str, PartConfig] = Field(default_factory=dict)
    turn_radius_m: float = Field(gt=0.0, le=1000.0)

    @model_validator(mode='after')
    def _has_height(self) -> ObstaclesConfig:
        if self.rover_height_m <= self.min_height_m:
            rule = f'must be greater than min_height_m ({self.min_height_m})'
            raise rule_error('rover_height_m', self.rover_height_m, rule)
        return self


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

    @model_validator(mode='after')
    def _clears_beyond_the_stop(self) -> Thresholds:
        stop_m, clear_m = self.telemetry.obstacle_stop_m, self.obstacles.clear_m
        if clear_m <= stop_m:
            rule = f'must be greater than telemetry.obstacle_stop_m ({stop_m})'
            raise rule_error('obstacles.clear_m', clear_m, rule)
        return self
