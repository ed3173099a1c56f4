# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The search of the light in random worlds: how often, and at what cost over the optimum.

Each world runs one turn through the product's own loop, gate and skills, before a twin of rover
and adapter whose clock is owned; it drives and turns as the profile says. The cost is the sum of
the prices (tool_costs.yaml) of all calls of the rover's motions, mast and camera, failed ones
included; the optimum is a lower bound: the cost in a known world without faults and rocks.

Run: python bench/competence.py [WORLDS [FIRST_SEED [SVG]]]    200 worlds from seed 1; the file
gets the paths in the ten worst worlds
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path
import sys
import time
from typing import Any

from _bench import quantile, report, table
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.config_loader import load_config
from turn_world import rosa_of
from worlds.optimum import optimum
from worlds.picture import sheet
from worlds.turn import price, run_turn
from worlds.world import World, world_of

KNOWLEDGE = ('known', 'wrong', 'unknown')
WORST, PROCESSES = 10, 2
INTERNAL_ERROR = 'Internal error'


@dataclass(frozen=True)
class Run:
    """One world. ``found``: the last picture was good, and no call ended in an internal error.
    ``over`` is the cost over the optimum; None: no optimum, or not found.
    """

    world: World
    found: bool
    ok: bool
    answer: str
    cost: float
    optimum: float | None
    violations: tuple[str, ...]
    path: tuple[tuple[float, float], ...]

    @property
    def possible(self) -> bool:
        return self.optimum is not None

    @property
    def safe(self) -> bool:
        return not self.violations

    @property
    def truthful(self) -> bool:
        """Whether the turn says of itself what the rover has seen, and says something."""
        return self.ok == self.found and bool(self.answer.strip())

    @property
    def over(self) -> float | None:
        return self.cost / self.optimum if self.found and self.optimum else None


def run_world(world: World, shipped: Config) -> Run:
    config = world.config(shipped)
    best = optimum(world, config)
    twin = world.twin(config)
    broken: list[str] = []

    def trace(*told: Any, **data: Any) -> None:
        broken.extend(text for text in map(str, (*told, data)) if INTERNAL_ERROR in text)

    result = run_turn(rosa_of(twin, config, trace=trace), twin)
    violations = dict(twin.violations)
    if twin.status()['moving']:
        violations['moving at the end'] = 1
    cost = price(twin, config)
    if result.is_good and best is not None and cost < best:
        violations[f'cost {cost:g} is below the optimum {best:g}'] = 1
    return Run(
        world=world,
        found=result.is_good and not broken,
        ok=result.ok,
        answer=result.answer,
        cost=cost,
        optimum=best,
        violations=tuple(violations),
        path=tuple(twin.path),
    )


def run_seed(seed: int) -> Run:
    return run_world(world_of(seed), load_config())


def summary(runs: Sequence[Run]) -> dict[str, float | None]:
    possible = [run for run in runs if run.possible]
    over = [run.over for run in runs if run.over is not None]
    found = 100.0 * sum(run.found for run in possible) / max(1, len(possible))
    return {
        'worlds': len(runs),
        'safe': sum(run.safe for run in runs),
        'truthful': sum(run.truthful for run in runs),
        'found_percent': round(found, 1),
        'over_optimum': round(quantile(over, 0.5), 2) if over else None,
        'over_optimum_90': round(quantile(over, 0.9), 2) if over else None,
    }


def caption(run: Run) -> str:
    found = 'found' if run.found else 'not found'
    hint = {'known': 'right hint', 'wrong': 'wrong hint', 'unknown': 'no hint'}
    return (
        f'seed {run.world.seed}, {hint[run.world.knowledge]}: {found}\n'
        f'cost {run.cost:g}, optimum {run.optimum:g}'
    )


def main(worlds: int = 200, first: int = 1, picture: str = '') -> int:
    began = time.perf_counter()
    with Pool(PROCESSES) as pool:
        runs = pool.map(run_seed, range(first, first + worlds), chunksize=1)
    groups = {name: [run for run in runs if run.world.knowledge == name] for name in KNOWLEDGE}
    groups['without a fault'] = [run for run in runs if not run.world.faults]
    groups['all'] = runs
    table(
        ('light', 'worlds', 'safe', 'truthful', 'found, %', 'cost/optimum', '90 %'),
        [[name, *summary(group).values()] for name, group in groups.items()],
    )
    worst = sorted(
        (run for run in runs if run.optimum),
        key=lambda run: (run.found, -run.cost / (run.optimum or 1.0)),
    )[:WORST]
    for run in worst:
        print(f'seed {run.world.seed}: cost {run.cost:g}, optimum {run.optimum:g}: {run.answer}')
    if picture:
        Path(picture).write_text(sheet([(run.world, run.path, caption(run)) for run in worst]))
    faults = [f'seed {run.world.seed}: {what}' for run in runs for what in run.violations]
    faults += [f'seed {run.world.seed}: ok {run.ok}, found {run.found}: {run.answer}'
               for run in runs if not run.truthful]  # fmt: skip
    figures = {name.replace(' ', '_'): summary(group) for name, group in groups.items()}
    took = time.perf_counter() - began
    return report('competence', faults, seconds=round(took, 1), seed=first, **figures)


if __name__ == '__main__':
    sys.exit(main(*(int(argument) for argument in sys.argv[1:3]), *sys.argv[3:4]))
