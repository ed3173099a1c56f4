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
from typing import NamedTuple

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


# -----------------------------------------------------------------------------------------------
# The figures of an analysis of the ground in words, with their units and how sure each is.


MEASURED = 'measured'  # no estimate: the figure is one of the picture itself


class GroundFigure(NamedTuple):
    name: str
    value: str
    sure: str  # a share of 100 %, or MEASURED


def ground_figures(analysis: GroundAnalysis) -> list[GroundFigure]:
    """``about``: by an estimated geometry. In ASCII, for OpenCV's font."""
    texture, rock = analysis.texture, analysis.largest_rock
    about = 'about ' if analysis.geometry is Geometry.ESTIMATED else ''
    sure, rocks_sure = _percent(texture.confidence), _percent(analysis.rocks_confidence)
    grain = f'{about}{texture.grain_cm:.1f} cm ({texture.grain_px:.0f} px)'
    exposure = f'{analysis.exposure_luma:.0f} of 255, {analysis.clipped_pct:.1f} % clipped'
    return [
        GroundFigure('Class', texture.name.value.replace('_', ' '), sure),
        GroundFigure('Grain', grain, sure),
        GroundFigure('Rocks', f'{analysis.rocks} within {analysis.range_m:g} m', rocks_sure),
        GroundFigure('Coverage', f'{analysis.rock_coverage_pct:.1f} % of the ground', rocks_sure),
        *([GroundFigure('Largest rock', *_rock(rock, about))] if rock else []),
        GroundFigure('Sharpness', f'{analysis.sharpness:.2f} of 1', MEASURED),
        GroundFigure('Exposure', exposure, MEASURED),
    ]


def _rock(rock: RockResult, about: str) -> tuple[str, str]:
    side = 'left' if rock.bearing_deg > 0 else 'right'
    place = f'{rock.distance_m:.1f} m away, {abs(rock.bearing_deg):.0f} deg {side}'
    return f'{about}{rock.width_m:.1f} m wide, {place}', _percent(rock.confidence)


def _percent(share: float) -> str:
    return f'{100 * share:.0f} %'
