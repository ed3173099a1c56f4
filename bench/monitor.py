# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The independent monitor against the motion guard over random histories, and its cost.

- agreement: steps of 50 ms of a rover that the guard protects, with faults of services, telemetry,
  agents and people; what one of the two reports and the other does not is a disagreement
- mutants: planted faults of the guard, and the seconds until the monitor reports each
- cost: microseconds of a step, all formulas; and of one formula in reelay and in rtamt

Must never happen: a disagreement; a mutant that is not found.

Run: python bench/monitor.py [steps, default 1000000]
"""

from __future__ import annotations

import random
import sys
import time

from _bench import report, ROOT, table

sys.path.insert(0, str(ROOT / 'overlay_ws/src/curiosity_rosa_demo/test/unit'))

from curiosity_rosa_demo.monitor.monitor import Monitor
from curiosity_rosa_demo.monitor.requirements import load_requirements
from monitored_world import drive, hunt, LIMITS, MUTANTS, Watched

HISTORY = 50_000  # steps of one seed
COST_STEPS = 100_000


def agreement(steps: int) -> tuple[int, int, list[str]]:
    """The steps made, the violations that both have seen, the disagreements."""
    made, seen, faults, seed = 0, 0, [], 0
    while made < steps:
        watched = Watched()
        drive(watched, random.Random(seed), min(HISTORY, steps - made))
        made += watched.steps
        seen += len(watched.found) - len(watched.disagreements)
        faults += [f'seed {seed}: {each}' for each in watched.disagreements]
        seed += 1
    return made, seen, faults


def step_us(steps: int) -> float:
    """Of the whole monitor, with two signals that change now and then."""
    monitor = Monitor(load_requirements(), LIMITS)
    rng = random.Random(1)
    began = time.perf_counter()
    for number in range(steps):
        moving = number % 200 < 100
        monitor.step(number * 0.05, {'moving': moving, 'stop_asked': rng.random() < 0.01})
    return (time.perf_counter() - began) / steps * 1e6


def library_us(steps: int) -> dict[str, float]:
    """Of one formula, a window of one second over a signal, by library."""
    import reelay
    import rtamt

    rng = random.Random(1)
    data = [(rng.random() < 0.3, rng.random() < 0.5) for _ in range(steps)]
    dense = reelay.dense_timed_monitor(pattern='!(historically[0:1]{a} && {b})')
    began = time.perf_counter()
    for number, (a, b) in enumerate(data):
        dense.update({'time': number * 0.05, 'a': a, 'b': b})
    of_reelay = time.perf_counter() - began
    discrete = rtamt.StlDiscreteTimeSpecification()
    discrete.declare_var('a', 'float')
    discrete.declare_var('b', 'float')
    discrete.spec = 'not((historically[0:20] (a >= 0.5)) and (b >= 0.5))'
    discrete.parse()
    began = time.perf_counter()
    for number, (a, b) in enumerate(data):
        discrete.update(number, [('a', float(a)), ('b', float(b))])
    of_rtamt = time.perf_counter() - began
    return {
        'reelay_us': round(of_reelay / steps * 1e6, 2),
        'rtamt_us': round(of_rtamt / steps * 1e6, 2),
    }


def main() -> int:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    made, seen, faults = agreement(steps)
    print(f'{made} steps: {seen} violations seen by both, {len(faults)} disagreements')
    rows = []
    for name in MUTANTS:
        verdict, after_s = hunt(name)
        if verdict is None:
            faults.append(f'not found: {name}')
        rows.append((name, verdict.requirement if verdict else 'not found', after_s))
    table(('planted fault', 'found by', 'after s'), rows)
    cost_steps = min(steps, COST_STEPS)
    costs = {'step_us': round(step_us(cost_steps), 1), **library_us(cost_steps)}
    print(f'a step takes {costs["step_us"]} us; one formula: {costs}')
    status: int = report(
        'monitor',
        faults,
        steps=made,
        seen_by_both=seen,
        disagreements=len(faults),
        mutants=len(rows),
        mutants_found=sum(row[1] != 'not found' for row in rows),
        found_by={row[0]: row[1] for row in rows},
        **costs,
    )
    return status


if __name__ == '__main__':
    sys.exit(main())
