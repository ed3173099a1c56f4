# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Reduce what a laser scan shows to the numbers that the kernel needs. Pure."""

from __future__ import annotations

import math

from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.infra.obstacles import ObstacleView
import numpy as np

HALF_SECTOR_RAD = math.radians(30.0)
SECTOR_BEARINGS = {
    'ahead_m': 0.0,
    'behind_m': math.pi,
    'left_m': math.pi / 2,
    'right_m': -math.pi / 2,
}


# The free way of each motion in a reading; infra/obstacles.py names the motions.
PATH_KEYS = {'forward_m': 'move_forward', 'turn_left_m': 'turn_left', 'turn_right_m': 'turn_right'}
NO_VIEW_READING: Json = {
    'view': False,
    **dict.fromkeys((*SECTOR_BEARINGS, *PATH_KEYS)),
}


def reduce_scan(view: ObstacleView | None) -> Json:
    """The kernel's reading of a scan; None: the scan has no transform to the base frame.

    ``view``: whether the rays cross the corridor ahead. ``*_m`` are metres or None: to the nearest
    obstacle within 30 degrees of each bearing of the base frame, and the free way of each motion.
    """
    if view is None:
        return NO_VIEW_READING
    sectors = {name: _nearest(view.points, at) for name, at in SECTOR_BEARINGS.items()}
    free_m = {key: view.free_m.get(motion, math.inf) for key, motion in PATH_KEYS.items()}
    paths = {key: metres if math.isfinite(metres) else None for key, metres in free_m.items()}
    return {'view': view.sees_ahead, **sectors, **paths}


def _nearest(points: np.ndarray, bearing: float) -> float | None:
    metres = np.hypot(points[:, 0], points[:, 1])
    along = points[:, 0] * math.cos(bearing) + points[:, 1] * math.sin(bearing)
    inside = metres[along >= metres * math.cos(HALF_SECTOR_RAD)]
    return float(inside.min()) if inside.size else None
