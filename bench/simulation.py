# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Missions under one seed: how many in which time, that they repeat, and that they find faults.

Runs missions of the simulator (docs/reference/simulation.md): some twice, whose records must have
the same bytes; many once; and, for each planted fault of missions/planted.py, seed after seed
until a rule is violated. The failing mission is then shrunk, with SHRINK_RUNS runs at most.

Must never happen: a violated rule without a planted fault, two records of one seed that differ, a
planted fault that no seed finds.

Run: python bench/simulation.py [--seeds N] [--minutes M] [--plants P] [--plant-seeds K].
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'standalone'))

from missions.happenings import FAULTS, Happening, happening_text, shrink
from missions.planted import PLANTS
from missions.simulator import fix_the_interpreter, Simulator

TWICE = 3  # seeds that run twice
PLANT_MINUTES = 2.0
SHRINK_RUNS = 8
AIM_SEEDS, AIM_MINUTES, AIM_CPU_S = 10_000, 10.0, 1200.0


def sweep(simulator: Simulator, seeds: int, minutes: float) -> tuple[dict[str, Any], list[str]]:
    faults, checks, simulated = [], 0, 0.0
    began = simulator.cpu_s
    for seed in range(1, seeds + 1):
        result = simulator.run(seed, minutes)
        simulated += result.simulated_s / 60
        checks += sum(result.counts.values())
        found = [*result.violations, *result.defects]
        faults += [f'seed {seed}: {each}'[:300] for each in found]
        if seed <= TWICE and simulator.run(seed, minutes).record.text != result.record.text:
            faults.append(f'seed {seed}: two runs differ')
    took = simulator.cpu_s - began
    return {
        'seeds': seeds,
        'minutes': minutes,
        'simulated_min': round(simulated),
        'cpu_s': round(took),
        'times_real': round(60 * simulated / took, 1),
        'checks': checks,
        'failed': len(faults),
        'kinds_of_fault': len(FAULTS),
    }, faults


def hunt(simulator: Simulator, name: str, most: int) -> dict[str, Any] | None:
    """The first seed whose mission finds the planted fault ``name``, and its shrunk story."""
    plant = PLANTS[name]
    for seed in range(1, most + 1):
        result = simulator.run(seed, PLANT_MINUTES, None, plant)
        if not result.failed:
            continue
        rules = {each.rule for each in result.violations}

        def fails(fewer: Sequence[Happening], seed: int = seed, rules: set[str] = rules) -> bool:
            again = simulator.run(seed, PLANT_MINUTES, fewer, plant)
            found = {each.rule for each in again.violations}
            return bool(rules & found) if rules else bool(again.defects)

        fewest = shrink(result.happenings, fails, budget=SHRINK_RUNS)
        said = result.violations[0].rule if result.violations else 'a crash'
        return {
            'seeds': seed,
            'rule': said,
            'happenings': len(result.happenings),
            'shrunk': [happening_text(each) for each in fewest],
        }
    return None


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument('--seeds', type=int, default=200)
    parser.add_argument('--minutes', type=float, default=AIM_MINUTES)
    parser.add_argument('--plants', type=int, default=len(PLANTS))
    parser.add_argument('--plant-seeds', type=int, default=1000)
    arguments = parser.parse_args()
    simulator = Simulator()
    try:
        figures, faults = sweep(simulator, arguments.seeds, arguments.minutes)
        plants = {}
        for name in list(PLANTS)[: arguments.plants]:
            found = plants[name] = hunt(simulator, name, arguments.plant_seeds)
            if found is None:
                faults.append(f'no seed finds: {name}')
            else:
                print(f'{name}: seed {found["seeds"]}, {found["rule"]}', flush=True)
    finally:
        simulator.close()
    # Only now: it imports rclpy, which the simulator stands in for.
    from _bench import report, table

    table(
        ('planted fault', 'seeds', 'rule', 'happenings', 'shrunk to'),
        [
            (name, str(p['seeds']), p['rule'], str(p['happenings']), str(len(p['shrunk'])))
            for name, p in plants.items()
            if p is not None
        ],
    )
    return report('simulation', faults, **figures, plants=plants)


if __name__ == '__main__':
    fix_the_interpreter(sys.argv)
    sys.exit(main())
