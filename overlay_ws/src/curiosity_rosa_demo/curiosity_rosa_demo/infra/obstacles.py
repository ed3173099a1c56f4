# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a laser scan sees in the rover's way: returns in the base frame, and how far it may drive.

Pure. Metres and radians in the base frame of topics.yaml (REP 103: x forward, y left, z up). A
return is an obstacle if it is above the ground, below the rover's top and outside its body: the
box of chassis and wheels, and one for each part that is not known to be stowed, such as an arm.
Each motion of the rover sweeps a corridor: straight ahead, or an arc to either side.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
import math
from typing import TYPE_CHECKING

from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.infra.tf import Transform
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sensor_msgs.msg import LaserScan

Floats = NDArray[np.float64]

# The stop zone is the corridor ahead from the rover's front to the stop distance, as a grid of
# lanes and rows. The scan has a view when its rays cross this part of the cells.
VIEW_SHARE = 0.8
VIEW_ROWS = 4
LANE_M = 0.25
FAR_M = 1000.0  # a return beyond is no obstacle; also bounds places and angles


@dataclass(frozen=True)
class Box:
    """A rectangle in the base frame that a part of the rover fills."""

    x_min: float
    x_max: float
    y_min: float
    y_max: float

    def grown(self, margin_m: float) -> Box:
        """Wider by the margin on either side."""
        return Box(self.x_min, self.x_max, self.y_min - margin_m, self.y_max + margin_m)

    def mirrored(self) -> Box:
        """Left and right exchanged."""
        return Box(self.x_min, self.x_max, -self.y_max, -self.y_min)

    def distance(self, x: float, y: float) -> float:
        """Metres from a point; below 0: it lies inside, by so much."""
        over_x = max(self.x_min - x, x - self.x_max)
        over_y = max(self.y_min - y, y - self.y_max)
        return min(max(over_x, over_y), 0.0) + math.hypot(max(over_x, 0.0), max(over_y, 0.0))

    def holds(self, x: Floats, y: Floats) -> NDArray[np.bool_]:
        inside = (x > self.x_min) & (x < self.x_max) & (y > self.y_min) & (y < self.y_max)
        return np.asarray(inside)


@dataclass(frozen=True)
class RoverShape:
    """The rover in its base frame, and the distance ``view_m`` within which it must see.

    ``boxes``: chassis and wheels first, then the parts that stick out. ``floor_m`` and
    ``ceiling_m``: heights in the base frame between which a return is an obstacle.
    """

    boxes: tuple[Box, ...]
    margin_m: float
    floor_m: float
    ceiling_m: float
    turn_radius_m: float
    view_m: float

    @classmethod
    def of(cls, thresholds: Thresholds, stowed: Collection[str] = ()) -> RoverShape:
        """The shape in a posture. ``stowed``: names of the parts that are known to be stowed; any
        other of ``obstacles.parts`` is out.
        """
        shape = thresholds.obstacles
        body = Box(-shape.rear_m, shape.front_m, -shape.half_width_m, shape.half_width_m)
        out = [part for name, part in shape.parts.items() if name not in stowed]
        return cls(
            boxes=(body, *(Box(part.x_min, part.x_max, part.y_min, part.y_max) for part in out)),
            margin_m=shape.margin_m,
            floor_m=shape.ground_z_m + shape.min_height_m,
            ceiling_m=shape.ground_z_m + max([shape.rover_height_m, *(p.height_m for p in out)]),
            turn_radius_m=shape.turn_radius_m,
            # With the stop off the agent still shows what lies ahead: it needs some zone to see.
            view_m=thresholds.telemetry.obstacle_stop_m or shape.clear_m,
        )

    @property
    def front_m(self) -> float:
        """X of the foremost point of the rover in this posture."""
        return max(box.x_max for box in self.boxes)

    @property
    def half_width_m(self) -> float:
        """Of chassis and wheels."""
        return self.boxes[0].y_max

    def distance(self, x: float, y: float) -> float:
        """Metres from a point to the rover; below 0: inside of it, by so much."""
        return min(box.distance(x, y) for box in self.boxes)


@dataclass(frozen=True)
class ObstacleView:
    """What one scan shows. ``free_m``: for each motion the metres that the rover can drive before
    it touches a return; infinity: none in its corridor. Empty without a view ahead: the scan then
    says nothing about the rover's way. ``points``: x and y of each obstacle return, one a row.
    """

    sees_ahead: bool
    free_m: Mapping[str, float]
    points: Floats


def view_of(scan: LaserScan, sensor: Transform, shape: RoverShape) -> ObstacleView:
    """``sensor``: pose of the scan's frame in the base frame, turned level where its roll and
    pitch are known. Accepts any numbers (REP 117): NaN, -inf, zero and ranges below ``range_min``
    are no measurement; +inf and ranges above ``range_max`` say that nothing was hit.
    """
    ranges = np.asarray(scan.ranges, dtype=np.float64).reshape(-1)
    # Finite, and small enough for the arithmetic.
    angles_fit = abs(scan.angle_min) <= FAR_M and abs(scan.angle_increment) <= math.tau
    place_fits = sensor.is_finite() and max(map(abs, sensor.translation)) <= FAR_M
    ranges_fit = ranges.size and 0.0 <= scan.range_min < scan.range_max
    if not (angles_fit and place_fits and ranges_fit):
        return ObstacleView(False, {}, np.empty((0, 2)))
    angles = scan.angle_min + scan.angle_increment * np.arange(ranges.size)
    axes = np.array([sensor.rotate((1.0, 0.0, 0.0)), sensor.rotate((0.0, 1.0, 0.0))])
    rays: Floats = np.column_stack((np.cos(angles), np.sin(angles))) @ axes
    with np.errstate(invalid='ignore'):  # NaN compares false
        measured = (ranges > 0.0) & (ranges >= scan.range_min)
        hit = measured & (ranges <= min(scan.range_max, FAR_M))
    origin = np.array(sensor.translation, dtype=np.float64)
    places: Floats = origin + rays[hit] * ranges[hit, None]
    x, y, z = places.T
    outside = ~np.any([box.holds(x, y) for box in shape.boxes], axis=0)
    points: Floats = places[(z > shape.floor_m) & (z < shape.ceiling_m) & outside, :2]
    sees = measured.copy()
    sees[hit] = outside  # a ray that ends on the rover shows nothing of what lies behind
    if _seen_share(rays[sees], origin, scan, shape) < VIEW_SHARE:
        return ObstacleView(False, {}, points)
    free_m = {name: free_distance(points, side, shape) for name, side in DIRECTIONS.items()}
    return ObstacleView(True, free_m, points)


def free_distance(points: Floats, side: int, shape: RoverShape) -> float:
    """Metres along the path until the rover touches the nearest of ``points`` (x, y; one a row);
    infinity: never. ``side``: as in DIRECTIONS.
    """
    if not points.size:
        return math.inf
    x, y = points[:, 0], points[:, 1]
    boxes = [box.grown(shape.margin_m) for box in shape.boxes]
    if side == 0:
        return min(_along_line(x, y, box) for box in boxes)
    turned = [box if side > 0 else box.mirrored() for box in boxes]
    return min(_along_arc(x, side * y, box, shape.turn_radius_m) for box in turned)


def _seen_share(rays: Floats, origin: Floats, scan: LaserScan, shape: RoverShape) -> float:
    """The part of the stop zone's cells that at least one ray crosses at an obstacle's height."""
    half = shape.half_width_m + shape.margin_m
    lanes = math.ceil(2.0 * half / LANE_M)
    x = shape.front_m + shape.view_m * np.arange(1, VIEW_ROWS + 1)[:, None] / VIEW_ROWS
    seen = np.zeros((VIEW_ROWS, lanes), dtype=bool)
    ahead = rays[rays[:, 0] != 0.0]
    with np.errstate(over='ignore', invalid='ignore'):  # a row of cells by a ray
        length = (x - origin[0]) / ahead[:, 0]
        y = origin[1] + length * ahead[:, 1]
        z = origin[2] + length * ahead[:, 2]
        crosses = (length >= scan.range_min) & (length <= scan.range_max)
        crosses &= (z > shape.floor_m) & (z < shape.ceiling_m) & (np.abs(y) < half)
    row, _ = np.nonzero(crosses)
    lane = ((y[crosses] + half) * lanes / (2.0 * half)).astype(np.int64)
    seen[row, np.clip(lane, 0, lanes - 1)] = True
    return float(seen.mean())


def _along_line(x: Floats, y: Floats, box: Box) -> float:
    """Metres straight ahead until the box touches the nearest point."""
    ahead = (x >= box.x_max) & (y >= box.y_min) & (y <= box.y_max)
    return float((x[ahead] - box.x_max).min(initial=math.inf))


def _along_arc(x: Floats, y: Floats, box: Box, radius: float) -> float:
    """Metres along an arc to the left until the box touches the nearest point. The rover turns
    about the point (0, ``radius``).

    At each distance ``rho`` from that point one point of the box's outline leads the motion: on
    its inner side, then on its front. Beyond its outer side there is another one, behind the axle:
    the tail swings out. The box touches a return when the first has turned to the return's angle.
    """
    rho = np.hypot(x, radius - y)
    inner, outer = max(0.0, radius - box.y_max), radius - box.y_min
    nearest = math.hypot(max(box.x_min, 0.0), inner)
    farthest = math.hypot(max(box.x_max, -box.x_min), outer)
    within = (rho >= nearest) & (rho <= farthest) & (rho > 0.0)
    front_x = np.minimum(box.x_max, np.sqrt(np.maximum(rho**2 - inner**2, 0.0)))
    tail_x = -np.sqrt(np.maximum(rho**2 - outer**2, 0.0))
    angle = np.arctan2(x, radius - y)

    def turned_to(lead_x: Floats, leads: NDArray[np.bool_]) -> Floats:
        lead = np.arcsin(np.clip(lead_x / np.maximum(rho, 1e-9), -1.0, 1.0))
        return np.where(leads, (angle - lead) % math.tau, math.inf)

    by_front = turned_to(front_x, rho <= math.hypot(box.x_max, outer))
    by_tail = turned_to(tail_x, (rho > outer) & (tail_x > box.x_min) & (tail_x < box.x_max))
    # A return beside the front half, within the margin, or outside of the tail, which swings out,
    # is touched at once; one on the inner side of the rear half is left behind.
    beside = (y >= box.y_min) & (y <= box.y_max) & (x <= box.x_max) & (x >= box.x_min)
    at_once = np.where((x > 0.0) | (y < 0.0), 0.0, math.inf)
    turned = np.where(beside, at_once, np.minimum(by_front, by_tail))
    return float(np.where(within, radius * turned, math.inf).min(initial=math.inf))
