# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The least cost of a good picture in a world that is fully known, with nothing failing.

A turn or a drive of any length that the motion limit allows costs its tool's price. The light is a
half-plane, so what counts is how far a sequence of motions advances along the light's heading:
``optimum`` maximizes it exactly, by dynamic programming over the angle to that heading. It leaves
out rocks and fence and drives for a moment longer than the limit, so no rover is cheaper: a lower
bound. ``first_motion`` needs a plan that exists, and searches around the rocks.
"""

from __future__ import annotations

from collections.abc import Iterator
import math
from typing import Any

from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.obstacles import free_distance, RoverShape, TURN_DIRECTIONS
import numpy as np
from rover_twin import RoverTwin

from worlds.world import World

DURATION_STEP_S = 0.5
CELL_M, CELL_RAD = 0.5, math.radians(10.0)
WAY_OUT_M = 30.0  # states farther from the origin are left out
MAX_COST = 60.0
ANGLES = 720  # of the heading, over a circle
LATE_S = 0.3  # a motion may last longer than asked for, until its stop is answered
NEAR_M = 0.01  # more than what the grid of angles leaves out
NOISE = 4.0  # standard deviations of the score: a picture may look so much better than it is
NOT_DRIVEN = -1.0  # the number of the first motion before there is one

# One row: x, y, yaw; to plan a drive also the number of its first motion, and that one's seconds.
States = np.ndarray[Any, np.dtype[np.float64]]


def optimum(world: World, config: Config) -> float | None:
    """The cost, in units of tool_costs.yaml; None: no light, or no way to it within MAX_COST."""
    costs = config.tool_costs.tools
    look = float(costs.capture_and_score)
    missing_m = _missing_m(world, config) - NEAR_M
    if not world.has_light:
        return None
    if missing_m <= 0.0:
        return look
    if world.obstacles and _least_drive(_at(world), world, config) is None:
        return None  # between its rocks a rover that cannot reverse may have no way out
    # The adapter has not confirmed any mast at the start: a drive needs a mast_close.
    fixed = look + costs.mast_open + costs.mast_close
    angle = (world.yaw - world.light.heading_rad) % math.tau
    for cost, advances in _advances(world.twin(config), config):
        if np.interp(angle, _GRID, advances) >= missing_m:
            return fixed + cost
    return None


_GRID = np.linspace(0.0, math.tau, ANGLES + 1)


def _at(world: World) -> States:
    return np.array([[world.x, world.y, world.yaw]])


def _missing_m(world: World, config: Config) -> float:
    """From the start along the light's heading to where a picture may be good."""
    light = world.light
    threshold = config.thresholds.quality.score_threshold - NOISE * world.score_noise
    return (
        light.dark_m + threshold * (light.bright_m - light.dark_m) - light.along(world.x, world.y)
    )


def _advances(twin: RoverTwin, config: Config) -> Iterator[tuple[float, States]]:
    """For each sum of prices up to MAX_COST, in order: the farthest advance along the light that
    it buys, by the angle of the rover's heading to the light's, over _GRID.
    """
    prices = {name: float(getattr(config.tool_costs.tools, name)) for name in TURN_DIRECTIONS}
    seconds = np.linspace(0.0, config.agent.turn.max_motion_s + LATE_S, 60)
    grip = 1.0 - twin.slip
    bought: dict[float, States] = {0.0: np.zeros(ANGLES + 1)}
    sums, due = [0.0], set(prices.values())
    while due and (cost := min(due)) <= MAX_COST:
        best = np.zeros(ANGLES + 1)
        for name, price in prices.items():
            before = [sum_ for sum_ in sums if sum_ <= cost - price]
            if not before:
                continue
            side = TURN_DIRECTIONS[name]
            way = grip * (twin.turn_speed if side else twin.speed) * seconds
            half = side * way / twin.turn_radius / 2.0
            chord = way * np.sinc(half / math.pi)
            ends = _GRID[:, None] + 2.0 * half
            then = np.interp(ends % math.tau, _GRID, bought[before[-1]])
            best = np.maximum(best, (chord * np.cos(_GRID[:, None] + half) + then).max(axis=1))
        due.discard(cost)
        due |= {cost + price for price in prices.values()}
        bought[cost] = best
        sums.append(cost)
        yield cost, best


def first_motion(
    world: World, config: Config, pose: tuple[float, float, float]
) -> tuple[str, float] | None:
    """The first motion, and its seconds, of the least drive from ``pose`` (x, y, yaw) to a bright
    place. None: there is no such drive, or none is needed.
    """
    start: States = np.array([[*pose, NOT_DRIVEN, 0.0]])
    if not world.has_light or _is_good(start, world, config)[0]:
        return None
    driven = _least_drive(start, world, config)
    if driven is None:
        return None
    number, seconds = driven[3:]
    return tuple(TURN_DIRECTIONS)[int(number)], float(seconds)


def _least_drive(start: States, world: World, config: Config) -> States | None:
    """Layer by layer in order of cost, until a state is bright enough: its row. States that are
    near each other count as one, and durations come in steps.
    """
    costs = config.tool_costs.tools
    motions = {name: float(getattr(costs, name)) for name in TURN_DIRECTIONS}
    twin = world.twin(config)
    layers: dict[float, list[States]] = {0.0: [start]}
    seen: set[tuple[int, int, int]] = set()
    while layers:
        cost = min(layers)
        if cost > MAX_COST:
            return None
        states = _unseen(np.concatenate(layers.pop(cost)), seen)
        if not len(states):
            continue
        good = _is_good(states, world, config)
        if good.any():
            row: States = states[good][0]
            return row
        for name, price in motions.items():
            layers.setdefault(cost + price, []).append(_after(states, name, twin, config))
    return None


def _is_good(states: States, world: World, config: Config) -> np.ndarray[Any, np.dtype[np.bool_]]:
    light, threshold = world.light, config.thresholds.quality.score_threshold
    along = states[:, 0] * math.cos(light.heading_rad) + states[:, 1] * math.sin(light.heading_rad)
    good: np.ndarray[Any, np.dtype[np.bool_]] = along >= light.dark_m + threshold * (
        light.bright_m - light.dark_m
    )
    return good


def _unseen(states: States, seen: set[tuple[int, int, int]]) -> States:
    near = states[np.hypot(states[:, 0], states[:, 1]) <= WAY_OUT_M]
    cells = np.column_stack(
        (np.floor(near[:, :2] / CELL_M), np.floor((near[:, 2] % math.tau) / CELL_RAD))
    ).astype(np.int64)
    _, first = np.unique(cells, axis=0, return_index=True)
    fresh = [i for i in first if tuple(cells[i]) not in seen]
    seen.update(tuple(map(int, cells[i])) for i in fresh)
    return near[fresh]


def _after(states: States, motion: str, twin: RoverTwin, config: Config) -> States:
    """The states after this motion for each duration, as far as no obstacle stops it."""
    longest = config.agent.turn.max_motion_s
    seconds = np.arange(1.0, longest + DURATION_STEP_S / 2, DURATION_STEP_S)
    side = TURN_DIRECTIONS[motion]
    speed = (1.0 - twin.slip) * (twin.turn_speed if side else twin.speed)
    way = speed * seconds
    if side:
        turned = side * way / twin.turn_radius
        chord = 2.0 * twin.turn_radius * np.sin(way / (2.0 * twin.turn_radius))
    else:
        turned, chord = np.zeros_like(way), way
    middle = states[:, None, 2] + turned / 2
    columns = [
        states[:, None, 0] + chord * np.cos(middle),
        states[:, None, 1] + chord * np.sin(middle),
        states[:, None, 2] + turned,
    ]
    if states.shape[1] > len(columns):
        first, number = states[:, None, 3], tuple(TURN_DIRECTIONS).index(motion)
        is_first = first == NOT_DRIVEN
        columns.append(np.where(is_first, number, first + 0.0 * seconds))
        columns.append(np.where(is_first, seconds, states[:, None, 4]))
    after = np.stack(columns, axis=-1)
    if twin.obstacles:
        free = _free_metres(states, side, twin, config)
        return after[way[None, :] <= free[:, None]]
    return after.reshape(-1, states.shape[1])


def _free_metres(states: States, side: int, twin: RoverTwin, config: Config) -> States:
    """How far each state may drive before the adapter stops the rover at an obstacle."""
    shape, stop_m = RoverShape.of(config.thresholds), config.thresholds.telemetry.obstacle_stop_m
    rims = twin.rims()
    free = []
    for x, y, yaw in states[:, :3]:
        cos, sin = math.cos(yaw), math.sin(yaw)
        here = rims - (x, y)
        base = np.column_stack((here @ (cos, sin), here @ (-sin, cos)))
        free.append(free_distance(base, side, shape) - stop_m)
    return np.array(free)
