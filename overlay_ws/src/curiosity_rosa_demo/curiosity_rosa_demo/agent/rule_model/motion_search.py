# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where the rover can get with which calls: its motions in order of cost. Pure.

Uniform-cost search over turns and drives of many durations. Poses that lie near each other count
as one. World frame, metres, radians, seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import math

from curiosity_rosa_demo.agent.rule_model.beliefs import RoverFigures
from curiosity_rosa_demo.domain.geometry import DIRECTIONS, MotionSpeeds, Place, XY
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DURATIONS = 10  # of each motion, evenly up to the longest
REACH_M = 44.0  # of the search around its start
LEAST_CELL_M, MOST_CELL_M = 0.5, 2.0
LEAST_CELLS_AROUND, MOST_CELLS_AROUND = 16, 64
# Columns of a layer of poses.
X, Y, YAW, SECONDS, FIRST_MOTION, FIRST_SECONDS = range(6)
ROCK_M = 0.7  # of an obstacle beside and behind the point of it that the scan has shown
AHEAD_M = 10.0  # farther away an obstacle leaves time to turn


@dataclass(frozen=True)
class Motions:
    """What the motions do. ``longest_s`` of one call; ``costs`` by motion, without those that are
    not to be used; ``speeds``: as measured. ``rover``: its body.
    """

    costs: Mapping[str, float]
    longest_s: float
    speeds: MotionSpeeds
    rover: RoverFigures


@dataclass(frozen=True)
class _Grid:
    """Cells of equal poses around a start, ``cells_across`` by as many by ``cells_around``."""

    start: Place
    cell_m: float
    cells_across: int
    cells_around: int

    @classmethod
    def of(cls, start: Place, motions: Motions) -> _Grid:
        """A longest arc leads out of its cell, also of a rover that is slower than its profile."""
        arc_m = motions.speeds.arc * motions.longest_s
        arc_rad = motions.speeds.turn * motions.longest_s
        cell_m = max(LEAST_CELL_M, min(MOST_CELL_M, arc_m / 2.0))
        around = min(MOST_CELLS_AROUND, max(LEAST_CELLS_AROUND, 1.5 * math.tau / arc_rad))
        return cls(start, cell_m, round(2 * REACH_M / cell_m), round(around))

    def cells(self, poses: Floats) -> NDArray[np.int64]:
        """The cell of each pose as one number; poses beyond REACH_M share those of the rim."""
        last = self.cells_across - 1
        x, y = (
            np.clip((poses[:, axis] - at + REACH_M) / self.cell_m, 0, last).astype(np.int64)
            for axis, at in ((X, self.start.x), (Y, self.start.y))
        )
        turned = (poses[:, YAW] % math.tau) / math.tau * self.cells_around
        around = np.minimum(turned.astype(np.int64), self.cells_around - 1)
        cells: NDArray[np.int64] = (x * self.cells_across + y) * self.cells_around + around
        return cells


def layers(
    start: Place,
    motions: Motions,
    obstacles: Sequence[XY],
    first_at_most: Mapping[str, float],
) -> Iterator[tuple[float, Floats]]:
    """The poses that no cheaper calls reach, by cost: X, Y, YAW, total SECONDS, and the first call
    as an index into DIRECTIONS and its seconds. First the start itself, at cost 0.
    ``first_at_most``: the seconds that a motion may take at the start.
    """
    names = [name for name in DIRECTIONS if name in motions.costs]
    grid = _Grid.of(start, motions)
    first = np.array([[start.x, start.y, start.yaw_rad, 0.0, -1.0, 0.0]])
    open_layers: dict[float, list[Floats]] = {0.0: [first]}
    seen = np.zeros(grid.cells_across**2 * grid.cells_around, dtype=bool)
    while open_layers:
        cost = min(open_layers)
        poses = _unseen(np.concatenate(open_layers.pop(cost)), grid, seen)
        if not len(poses):
            continue
        yield cost, poses
        for name in names:
            longest_s = motions.longest_s
            if cost == 0.0:
                longest_s = min(longest_s, first_at_most.get(name, longest_s))
            after = _after(poses, name, motions, obstacles, longest_s)
            open_layers.setdefault(cost + motions.costs[name], []).append(
                after[~seen[grid.cells(after)]]
            )


def _unseen(poses: Floats, grid: _Grid, seen: NDArray[np.bool_]) -> Floats:
    """One pose of each new cell, the one with the least driving."""
    poses = poses[np.argsort(poses[:, SECONDS], kind='stable')]
    cells = grid.cells(poses)
    _, first = np.unique(cells, return_index=True)
    fresh = first[~seen[cells[first]]]
    seen[cells[fresh]] = True
    return poses[fresh]


def _after(
    poses: Floats,
    name: str,
    motions: Motions,
    obstacles: Sequence[XY],
    longest_s: float,
) -> Floats:
    seconds = np.linspace(motions.longest_s / DURATIONS, motions.longest_s, DURATIONS)
    seconds = seconds[(seconds >= 1.0) & (seconds <= longest_s)]
    side, speeds = DIRECTIONS[name], motions.speeds
    way = seconds * (speeds.arc if side else speeds.straight)
    turned = side * speeds.turn * seconds
    half = np.where(turned == 0.0, 1e-9, turned / 2.0)
    chord = way * np.sin(half) / half
    middle = poses[:, None, YAW] + turned / 2.0
    rows, columns = len(poses), len(seconds)
    after = np.empty((rows, columns, 6))
    after[..., X] = poses[:, None, X] + chord * np.cos(middle)
    after[..., Y] = poses[:, None, Y] + chord * np.sin(middle)
    after[..., YAW] = poses[:, None, YAW] + turned
    after[..., SECONDS] = poses[:, None, SECONDS] + seconds
    is_first = poses[:, None, FIRST_MOTION] < 0.0
    number = float(list(DIRECTIONS).index(name))
    after[..., FIRST_MOTION] = np.where(is_first, number, poses[:, None, FIRST_MOTION])
    after[..., FIRST_SECONDS] = np.where(is_first, seconds, poses[:, None, FIRST_SECONDS])
    if obstacles:
        # A motion is as free as each shorter one with the same start.
        clear, passes = _clear(after, obstacles, motions)
        free = np.logical_and.accumulate(clear, axis=1) & passes
        return after[free]
    return after.reshape(-1, 6)


def _clear(
    after: Floats, obstacles: Sequence[XY], motions: Motions
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether the adapter would let the rover go on at these poses, and whether some motion leads
    past every obstacle from there: a rover that cannot reverse never leaves a place without one.
    """
    rover, radius = motions.rover, motions.speeds.radius_m
    half = rover.half_m + ROCK_M
    clear = np.ones(after.shape[:2], dtype=bool)
    blocked = np.zeros((3, *after.shape[:2]), dtype=bool)  # ahead, left, right
    cos, sin = np.cos(after[..., YAW]), np.sin(after[..., YAW])
    for x, y in obstacles:
        dx, dy = x - after[..., X], y - after[..., Y]
        ahead, beside = dx * cos + dy * sin, dy * cos - dx * sin
        near = (ahead > -rover.rear_m) & (ahead < rover.front_m + rover.stop_m)
        clear &= ~(near & (np.abs(beside) < half))
        coming = (ahead > 0.0) & (ahead < AHEAD_M)
        blocked[0] |= coming & (np.abs(beside) < half)
        for row, side in ((1, 1.0), (2, -1.0)):
            around = np.hypot(ahead, radius - side * beside)
            swept = math.hypot(rover.front_m, radius + rover.half_m) + ROCK_M
            blocked[row] |= coming & (around > radius - half) & (around < swept)
    return clear, ~blocked.all(axis=0)
