# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The positions of the rocks: one endless field for the camera and the LiDAR.

The ground is the plane z = 0 of the odometry frame; metres.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CELL = 3.5  # one cell of the grid holds at most one rock
SHARE = 0.4  # fraction of the cells that hold a rock
SMALLEST, LARGEST = 0.14, 1.1  # radii
# No rocks on the first straight drive and the first arcs: the simulation has no collisions.
CLEAR_LANE = 2.2
CLEAR_DISC = 5.0


@dataclass(frozen=True)
class Rocks:
    """Arrays of equal length: centres, radii, and a number in [0, 1) for the look of each."""

    x: Floats
    y: Floats
    radius: Floats
    look: Floats


def rocks_near(x: float, y: float, reach: float) -> Rocks:
    """Every rock whose centre is within ``reach`` of the point."""
    columns = np.arange(np.floor((x - reach) / CELL), np.floor((x + reach) / CELL) + 1)
    rows = np.arange(np.floor((y - reach) / CELL), np.floor((y + reach) / CELL) + 1)
    column, row = (grid.ravel() for grid in np.meshgrid(columns, rows))
    present, right, up, size, look = (_noise(column, row, salt) for salt in range(5))
    radius = SMALLEST + (LARGEST - SMALLEST) * size**5  # many small ones, few boulders
    rock_x = (column + 0.15 + 0.7 * right) * CELL
    rock_y = (row + 0.15 + 0.7 * up) * CELL
    keep = (present < SHARE) & (np.hypot(rock_x - x, rock_y - y) <= reach)
    keep &= np.abs(rock_y) - radius > CLEAR_LANE
    keep &= np.hypot(rock_x, rock_y) - radius > CLEAR_DISC
    return Rocks(rock_x[keep], rock_y[keep], radius[keep], look[keep])


def scan_ranges(
    place: Floats, rays: Floats, *, nearest: float, farthest: float
) -> NDArray[np.float32]:
    """The distance along each ray to the nearest rock or the ground; inf without one in range.

    ``place`` and the unit vectors ``rays``, one a row, are in the odometry frame. A rock is a ball
    with its centre on the ground. A ray that starts inside a rock, or hits something nearer than
    ``nearest``, also reads inf, as in the simulator.
    """
    rocks = rocks_near(place[0], place[1], farthest + LARGEST)
    rel = np.stack([rocks.x - place[0], rocks.y - place[1], np.full_like(rocks.x, -place[2])])
    along = rays @ rel
    aside_squared = (rel**2).sum(axis=0) - along**2
    hit = along - np.sqrt(np.maximum(rocks.radius**2 - aside_squared, 0.0))
    hit[(aside_squared >= rocks.radius**2) | (hit <= 0.0)] = np.inf
    ranges = np.minimum(hit.min(axis=1, initial=np.inf), _to_ground(place[2], rays[:, 2]))
    ranges[(ranges < nearest) | (ranges > farthest)] = np.inf
    return ranges.astype(np.float32)


def _to_ground(height: float, rise: Floats) -> Floats:
    falling = rise < -1e-9
    return np.where(falling, height / np.where(falling, -rise, 1.0), np.inf)


def _noise(column: Floats, row: Floats, salt: int) -> Floats:
    """A fixed random number in [0, 1) for a cell: integer mixing (xorshift-multiply), no state."""
    mixed = column.astype(np.int64).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += row.astype(np.int64).astype(np.uint64) * np.uint64(
        0xC2B2AE3D27D4EB4F
    )  # xor would mirror the field
    mixed ^= np.uint64((salt + 1) * 0x165667B19E3779F9)
    for shift in (32, 29, 32):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    return mixed.astype(np.float64) / 2.0**64
