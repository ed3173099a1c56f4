# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Random worlds for the search of the light, a turn of the product in them, and the least cost.

The same seed gives the same world. ``optimum`` knows the world, and nothing fails. A turn or a
drive of any length that the motion limit allows costs its tool's price. The light is a half-plane,
so what counts is how far a sequence of motions advances along the light's heading: it is maximized
exactly, by dynamic programming over the angle to that heading. It leaves out rocks and fence and
drives for a moment longer than the limit, so no rover is cheaper: a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
import math
import random
from typing import Any

import _bench  # noqa: F401 - the tests' folders are on the path from here on
from curiosity_rosa_demo.agent.language.understand import understand
from curiosity_rosa_demo.agent.react.turn import Turn, TurnRequest
from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.obstacles import free_distance, RoverShape
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.parts import CLOSED, Joints, OPENED
from curiosity_stand_in.scenery import Disc, Light
from missions.acts import Judge, PHYSICAL
from missions.rover_twin import Fault, RoverTwin
import numpy as np

GOAL = 'Analyze the ground texture'
HINT = 'Bright area starts at X >= {x:.1f}m (configurable).'
NO_HINT = 'Where the bright area starts is not known.'
JOINTS = {'closed': CLOSED, 'open': OPENED, 'unknown': Joints(0.7, -1.0)}
FAULTY_SERVICES = (
    'move_forward', 'turn_left', 'turn_right', 'mast_open', 'mast_close', 'mast_rotate',
)  # fmt: skip
START_M = 12.0  # greatest distance of the start from the origin along each axis
CLEAR_M = 4.0  # no obstacle is nearer to the start
DURATION_STEP_S = 0.5
CELL_M, CELL_RAD = 0.5, math.radians(10.0)
WAY_OUT_M = 30.0  # states farther from the origin are left out
MAX_COST = 60.0
ANGLES = 720  # of the heading, over a circle
LATE_S = 0.3  # a motion may last longer than asked for, until its stop is answered
NEAR_M = 0.01  # more than what the grid of angles leaves out
NOISE = 4.0  # standard deviations of the score: a picture may look so much better than it is
GRID = np.linspace(0.0, math.tau, ANGLES + 1)

States = np.ndarray[Any, np.dtype[np.float64]]  # one row: x, y, yaw


@dataclass(frozen=True)
class World:
    """``hint_x``: the x in metres from which on it is bright, as the agent is told; None: it is
    told nothing. ``knowledge`` compares the hint with the truth: known, wrong or unknown.
    """

    seed: int
    knowledge: str
    hint_x: float | None
    light: Light
    x: float
    y: float
    yaw: float
    mast: str
    slip: float
    noise_m: float
    score_noise: float
    obstacles: tuple[Disc, ...]
    faults: tuple[Fault, ...]

    @property
    def has_light(self) -> bool:
        return math.isfinite(self.light.bright_m)

    def config(self, shipped: Config) -> Config:
        """The shipped configuration with what the agent is told about this world."""
        hint = NO_HINT if self.hint_x is None else HINT.format(x=self.hint_x)
        told = f'- The camera image may be dark depending on rover position.\n- {hint}\n'
        return shipped.changed(prompts={'robot_system_prompts': {'relevant_context': told}})

    def twin(self, config: Config) -> RoverTwin:
        return RoverTwin(
            config,
            origin=Pose(self.x, self.y, self.yaw),
            joints=JOINTS[self.mast],
            light=self.light,
            obstacles=self.obstacles,
            faults=self.faults,
            slip=self.slip,
            noise_m=self.noise_m,
            score_noise=self.score_noise,
            chance=random.Random(self.seed),
            judge=Judge(config),
        )


def unsafe_acts(twin: RoverTwin) -> list[str]:
    """What must never happen, with any rules."""
    assert twin.judge is not None
    moving = ['moving at the end'] * twin.status()['moving']
    return [kind for kind in PHYSICAL for _ in range(twin.judge.counts[kind])] + moving


def world_of(seed: int) -> World:
    pick = random.Random(seed)
    knowledge = pick.choice(('known', 'wrong', 'unknown'))
    bright_m = pick.uniform(2.0, 8.0)
    heading = 0.0
    if knowledge != 'known':
        heading = pick.choice((0.0, math.pi, math.pi / 2, pick.uniform(-math.pi, math.pi)))
    light = Light(bright_m, bright_m - pick.uniform(3.0, 8.0), heading)
    hint_x: float | None = None
    if knowledge == 'known':
        hint_x = bright_m
    elif knowledge == 'wrong':
        hint_x = bright_m + pick.choice((-1.0, 1.0)) * pick.uniform(1.5, 5.0)
    if pick.random() < 0.05:
        light = Light(math.inf)
        knowledge = 'unknown' if hint_x is None else 'wrong'
    x, y = (pick.uniform(-START_M, START_M) for _ in 'xy')
    return World(
        seed=seed,
        knowledge=knowledge,
        hint_x=hint_x,
        light=light,
        x=x,
        y=y,
        yaw=pick.uniform(-math.pi, math.pi),
        mast=pick.choice(('closed', 'open', 'unknown')),
        slip=pick.choice((0.0, pick.uniform(0.0, 0.3))),
        noise_m=pick.choice((0.0, 0.01, 0.05)),
        score_noise=pick.choice((0.0, 0.01)),
        obstacles=_obstacles(pick, x, y),
        faults=tuple(_fault(pick) for _ in range(pick.choice((0, 0, 1, 1, 2, 3)))),
    )


def _obstacles(pick: random.Random, x: float, y: float) -> tuple[Disc, ...]:
    discs = []
    for _ in range(pick.choice((0, 0, 1, 2, 3))):
        disc = Disc(*(pick.uniform(-START_M, START_M) for _ in 'xy'), pick.uniform(0.3, 1.0))
        if math.hypot(disc.x - x, disc.y - y) - disc.radius >= CLEAR_M:
            discs.append(disc)
    return tuple(discs)


def _fault(pick: random.Random) -> Fault:
    kind = pick.choice(('timeout', 'lost answer', 'refused', 'camera', 'tf', 'e-stop'))
    if kind in ('camera', 'tf', 'e-stop'):
        return Fault(kind, begin_s=pick.uniform(0.0, 120.0), for_s=pick.uniform(1.0, 15.0))
    return Fault(kind, pick.choice(FAULTY_SERVICES), pick.randrange(3))


# --- a turn ------------------------------------------------------------------------------------


def run_turn(rosa: CuriosityRosa, twin: RoverTwin, text: str = GOAL) -> Turn:
    """An e-stop interrupts the turn, as in the product; it resumes when nobody presses it."""
    executor = rosa.turn_executor
    while executor.last_result is None:
        cancellation = Cancellation()
        twin.on_e_stop = partial(cancellation.cancel, 'E-stop pressed')
        executor.request = TurnRequest(understand(text), cancellation, thread_id='world')
        try:
            rosa.invoke(text)
        except TurnCancelled:
            twin.wait_for_the_e_stop()
            twin.trigger('move_stop')
    return executor.last_result


def price(twin: RoverTwin, config: Config) -> float:
    """The sum of the prices of all calls of the rover, in the units of tool_costs.yaml."""
    prices = config.tool_costs.tools
    return float(sum(prices[name] for name in twin.calls if name != 'move_stop'))


# --- the least cost ----------------------------------------------------------------------------


def optimum(world: World, config: Config) -> float | None:
    """The cost, in units of tool_costs.yaml; None: no light, or no way to it within MAX_COST."""
    costs = config.tool_costs.tools
    look = costs['capture_and_score']
    missing_m = _missing_m(world, config) - NEAR_M
    if not world.has_light:
        return None
    if missing_m <= 0.0:
        # the tool refuses a picture unless the mast is open
        return look if world.mast == 'open' else look + costs['mast_open']
    if world.obstacles and not _has_a_way(world, config):
        return None  # between its rocks a rover that cannot reverse may have no way out
    # The adapter has not confirmed any mast at the start: a drive needs a mast_close.
    fixed = look + costs['mast_open'] + costs['mast_close']
    angle = (world.yaw - world.light.heading_rad) % math.tau
    for cost, advances in _advances(world.twin(config), config):
        if np.interp(angle, GRID, advances) >= missing_m:
            return fixed + cost
    return None


def _missing_m(world: World, config: Config) -> float:
    """From the start along the light's heading to where a picture may be good."""
    light = world.light
    threshold = config.thresholds.quality.score_threshold - NOISE * world.score_noise
    return (
        light.dark_m + threshold * (light.bright_m - light.dark_m) - light.along(world.x, world.y)
    )


def _advances(twin: RoverTwin, config: Config) -> Iterator[tuple[float, States]]:
    """For each sum of prices up to MAX_COST, in order: the farthest advance along the light that
    it buys, by the angle of the rover's heading to the light's, over GRID.
    """
    prices = {name: config.tool_costs.of(name) for name in DIRECTIONS}
    seconds = np.linspace(0.0, config.agent.turn.max_motion_s + LATE_S, 60)
    grip, speeds = 1.0 - twin.slip, config.thresholds.speeds
    bought: dict[float, States] = {0.0: np.zeros(ANGLES + 1)}
    sums, due = [0.0], set(prices.values())
    while due and (cost := min(due)) <= MAX_COST:
        best = np.zeros(ANGLES + 1)
        for name, price in prices.items():
            before = [sum_ for sum_ in sums if sum_ <= cost - price]
            if not before:
                continue
            side = DIRECTIONS[name]
            way = grip * (speeds.arc if side else speeds.straight) * seconds
            turned, chord = _arc(way, side / speeds.radius_m)
            ends = GRID[:, None] + turned
            then = np.interp(ends % math.tau, GRID, bought[before[-1]])
            there = chord * np.cos(GRID[:, None] + turned / 2.0)
            best = np.maximum(best, (there + then).max(axis=1))
        due.discard(cost)
        due |= {cost + price for price in prices.values()}
        bought[cost] = best
        sums.append(cost)
        yield cost, best


def _arc(way: States, curvature: float) -> tuple[States, States]:
    """The turns, and the straight distances between the ends."""
    turned = curvature * way
    return turned, way * np.sinc(turned / math.tau)


def _has_a_way(world: World, config: Config) -> bool:
    """Whether a sequence of drives leads around the rocks into the light, layer by layer in order
    of cost. States that are near each other count as one, and durations come in steps.
    """
    costs = config.tool_costs.tools
    motions = {name: costs[name] for name in DIRECTIONS}
    twin, light = world.twin(config), world.light
    bright_m = light.dark_m + config.thresholds.quality.score_threshold * (
        light.bright_m - light.dark_m
    )
    layers: dict[float, list[States]] = {0.0: [np.array([[world.x, world.y, world.yaw]])]}
    seen: set[tuple[int, int, int]] = set()
    while layers and (cost := min(layers)) <= MAX_COST:
        states = _unseen(np.concatenate(layers.pop(cost)), seen)
        along = states[:, :2] @ (math.cos(light.heading_rad), math.sin(light.heading_rad))
        if (along >= bright_m).any():
            return True
        for name, price in motions.items() if len(states) else ():
            layers.setdefault(cost + price, []).append(_after(states, name, twin, config))
    return False


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
    side = DIRECTIONS[motion]
    speeds = config.thresholds.speeds
    speed = (1.0 - twin.slip) * (speeds.arc if side else speeds.straight)
    way = speed * seconds
    turned, chord = _arc(way, side / speeds.radius_m)
    middle = states[:, None, 2] + turned / 2
    columns = [
        states[:, None, 0] + chord * np.cos(middle),
        states[:, None, 1] + chord * np.sin(middle),
        states[:, None, 2] + turned,
    ]
    after = np.stack(columns, axis=-1)
    if twin.obstacles:
        free = _free_metres(states, side, twin, config)
        return after[way[None, :] <= free[:, None]]
    return after.reshape(-1, 3)


def _free_metres(states: States, side: int, twin: RoverTwin, config: Config) -> States:
    """How far each state may drive before the adapter stops the rover at an obstacle."""
    shape, stop_m = RoverShape.of(config.thresholds), config.thresholds.telemetry.obstacle_stop_m
    rims = twin.rims()
    free = []
    for x, y, yaw in states:
        cos, sin = math.cos(yaw), math.sin(yaw)
        here = rims - (x, y)
        base = np.column_stack((here @ (cos, sin), here @ (-sin, cos)))
        free.append(free_distance(base, side, shape) - stop_m)
    return np.array(free)
