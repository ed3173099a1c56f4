# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Reduce a laser scan to the nearest return in each of four directions. Pure."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

HALF_SECTOR_RAD = math.radians(30.0)
SECTOR_BEARINGS = {
    'ahead_m': 0.0,
    'behind_m': math.pi,
    'left_m': math.pi / 2,
    'right_m': -math.pi / 2,
}


def reduce_scan(
    angle_min: float,
    angle_increment: float,
    range_min: float,
    range_max: float,
    ranges: Sequence[float],
) -> dict[str, float | None]:
    """The distance in metres to the nearest return within 30 degrees of each bearing, or None.

    The arguments are the fields of sensor_msgs/LaserScan. Angle 0 is straight ahead; positive
    angles are to the left. Ranges that are NaN, infinite or outside the limits are ignored.
    """
    metres = np.asarray(ranges, dtype=np.float64)
    angles = angle_min + angle_increment * np.arange(metres.size)
    with np.errstate(invalid='ignore'):  # NaN compares false and is dropped
        valid = np.isfinite(metres) & (metres >= range_min) & (metres <= range_max)
        angles, metres = angles[valid], metres[valid]
        return {
            name: _nearest(angles, metres, bearing) for name, bearing in SECTOR_BEARINGS.items()
        }


def _nearest(angles: np.ndarray, metres: np.ndarray, bearing: float) -> float | None:
    # The cosine needs no angle wrapping. The margin admits float32 angles at the sector edge.
    inside = metres[np.cos(angles - bearing) >= math.cos(HALF_SECTOR_RAD) - 1e-6]
    return float(inside.min()) if inside.size else None
