# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What an analysis of the ground has found: numbers with their units in the fields' names."""

from __future__ import annotations

from enum import Enum

from curiosity_rosa_demo.domain.models import Model
from pydantic import Field

GROUND_UNKNOWN = 'Ground cannot be analyzed'


class TextureClass(str, Enum):
    SMOOTH = 'smooth'
    FINE_GRAINED = 'fine_grained'
    COARSE_GRAINED = 'coarse_grained'
    RIPPLED = 'rippled'
    JOINTED = 'jointed'


class Geometry(str, Enum):
    """Where the camera's lens and pose, and the body's attitude, came from."""

    MEASURED = 'measured'  # camera info, the camera's TF, and roll and pitch of the base
    ESTIMATED = 'estimated'  # configured ones stand in for at least one of them


class TextureResult(Model):
    name: TextureClass
    contrast: float
    homogeneity: float
    energy: float
    lbp_uniform: float
    lbp_entropy: float
    orientation_deg: float
    coherence: float
    grain_px: float
    grain_cm: float
    confidence: float = Field(ge=0.0, le=1.0)


class RockResult(Model):
    """Distance from the rover's base; bearing from its heading, positive to the left."""

    distance_m: float
    bearing_deg: float
    width_m: float
    height_m: float
    box_px: tuple[int, int, int, int]
    confidence: float = Field(ge=0.0, le=1.0)


class GroundAnalysis(Model):
    """Coverage is the share of the ground's pixels within ``range_m`` that show rocks."""

    texture: TextureResult
    rocks: int
    rock_coverage_pct: float
    largest_rock: RockResult | None
    nearest_rocks: tuple[RockResult, ...]  # at most 40
    rocks_confidence: float = Field(ge=0.0, le=1.0)
    range_m: float
    sharpness: float
    exposure_luma: float
    clipped_pct: float
    camera_height_m: float
    geometry: Geometry
    geometry_note: str  # why the geometry is an estimate; empty: it is measured
    took_ms: float
    body_roll_deg: float = 0.0  # right side down; older recordings do not have these two
    body_pitch_deg: float = 0.0  # nose up
