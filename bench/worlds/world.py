# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Random worlds for the search of the light, drawn from a seed: the same seed, the same world."""

from __future__ import annotations

from dataclasses import dataclass
import math
import random

from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.mast import CLOSED, Joints, OPENED
from curiosity_stand_in.scenery import Disc, Light
from rover_twin import Fault, RoverTwin

HINT = 'Bright area starts at X >= {x:.1f}m (configurable).'
NO_HINT = 'Where the bright area starts is not known.'
JOINTS = {
    'closed': CLOSED,
    'open': OPENED,
    'unknown': Joints(0.7, -1.0),
}
FAULTY_SERVICES = (
    'move_forward',
    'turn_left',
    'turn_right',
    'mast_open',
    'mast_close',
    'mast_rotate',
)
START_M = 12.0  # greatest distance of the start from the origin along each axis
CLEAR_M = 4.0  # no obstacle is nearer to the start


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
        prompts = shipped.prompts.robot_system_prompts.model_copy(
            update={'relevant_context': told}
        )
        return shipped.model_copy(
            update={
                'prompts': shipped.prompts.model_copy(update={'robot_system_prompts': prompts})
            }
        )

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
        )


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
