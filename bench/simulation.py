# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Missions under one seed: how many in which time, that they repeat, and that they find faults.

Some seeds run twice, and their records must have the same bytes. Then seed after
seed runs for each planted fault of missions/planted.py, until a rule is violated; the failing
mission is shrunk, with SHRINK_RUNS runs at most (docs/reference/simulation.md).

Must never happen: a violated rule without a planted fault, two records of one seed that differ, a
planted fault that no seed finds.

Run: python bench/simulation.py [missions] [plants] [--size N] [--minutes M] [--smoke]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import functools
import sys

from _bench import main, Part, Result
from missions.happenings import Happening, happening_text, shrink
from missions.planted import PLANTS
from missions.simulator import fix_the_interpreter, Simulator

TWICE = 3  # seeds that run twice
PLANT_MINUTES, SHRINK_RUNS = 2.0, 8
AIM_TIMES_REAL = 5000  # 10,000 missions of 10 minutes in 1,200 s


@functools.cache
def simulator() -> Simulator:
    """One for the process: it must be made before rclpy is imported."""
    return Simulator()


def missions(options: argparse.Namespace) -> Result:
    minutes = 0.5 if options.smoke else options.minutes
    faults, checks, simulated_s = [], 0, 0.0
    sim = simulator()
    for seed in range(1, options.size + 1):
        result = sim.run(seed, minutes)
        simulated_s += result.simulated_s
        checks += sum(result.counts.values())
        found = [*result.violations, *result.defects]
        faults += [f'seed {seed}: {each}'[:300] for each in found]
        if seed <= TWICE and sim.run(seed, minutes).record.text != result.record.text:
            faults.append(f'seed {seed}: two runs differ')
    cpu_s = sim.cpu_s
    return Result(
        'Missions',
        'The whole product in one thread with simulated time, each mission with its faults.',
        ('missions', 'minutes each', 'CPU s', 'times real time', 'checks', 'failed'),
        [(options.size, minutes, round(cpu_s), round(simulated_s / cpu_s), checks, len(faults))],
        f'{AIM_TIMES_REAL:,} times as fast as real time',
        simulated_s >= AIM_TIMES_REAL * cpu_s,
        faults,
    )


def plants(options: argparse.Namespace) -> Result:
    """Hunts each planted fault through at most ``size`` seeds."""
    names = list(PLANTS)[:1] if options.smoke else list(PLANTS)
    rows = {name: hunt(simulator(), name, options.size) for name in names}
    faults = [f'no seed finds: {name}' for name, row in rows.items() if row is None]
    return Result(
        'Planted faults',
        'The product is broken in each of these ways, and missions of two minutes look for it.',
        ('planted fault', 'seeds until found', 'violated', 'happenings', 'shrunk to'),
        [row for row in rows.values() if row is not None],
        'all found',
        not faults,
        faults,
    )


def hunt(sim: Simulator, name: str, most: int) -> tuple[object, ...] | None:
    """The first seed whose mission finds the planted fault, and its shrunk story."""
    plant = PLANTS[name]
    for seed in range(1, most + 1):
        result = sim.run(seed, PLANT_MINUTES, None, plant)
        if not result.failed:
            continue
        rules = {each.rule for each in result.violations}

        def fails(fewer: Sequence[Happening], seed: int = seed, rules: set[str] = rules) -> bool:
            again = sim.run(seed, PLANT_MINUTES, fewer, plant)
            found = {each.rule for each in again.violations}
            return bool(rules & found) if rules else bool(again.defects)

        fewest = shrink(result.happenings, fails, budget=SHRINK_RUNS)
        story = '; '.join(map(happening_text, fewest)) or 'nothing: any mission fails'
        said = result.violations[0].rule if result.violations else 'a crash'
        return name, seed, said, len(result.happenings), story
    return None


if __name__ == '__main__':
    fix_the_interpreter(sys.argv)
    try:
        status = main(
            Part('missions', missions, 'seeds', 200, 3),
            Part('plants', plants, 'seeds at most', 1000, 20),
            minutes=10.0,
        )
    finally:
        simulator().close()
    sys.exit(status)
