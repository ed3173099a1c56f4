# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Bring-up and shut-down of everything, with a kill -9 in between, in each way of starting.

The ways are the stand-in demo, the launch file beside a rover, and two rovers, in turn. A loop
starts everything, kills one random process at a random moment, mostly waits until all is up again,
and ends the demo by a random way: the end of its input, a signal, or the kill itself. Without the
launch package, run_demo.sh starts the nodes of the launch file beside the rover.

Aim: each start that no kill came before takes at most 10 s.

Must never happen: a process, shared memory or a file, but for logs, that a loop leaves; a start, a
restart or an end that does not come.

Run: python bench/launch_loops.py [loops, default 200] [seed, default 1]
"""

from __future__ import annotations

from collections import Counter
import sys
from typing import Any

from _bench import quantile, report, ROOT, Sandbox, table

sys.path.insert(0, str(ROOT / 'standalone/test'))

from start_loops import HAS_LAUNCH, Loop, Outcome, START_S, WAYS


def figures_of(outcomes: list[Outcome]) -> dict[str, Any]:
    starts = [each.start_s for each in outcomes if each.start_s is not None]
    restarts = [each.restart_s for each in outcomes if each.restart_s is not None]
    found: dict[str, Any] = {
        'loops': len(outcomes),
        'left': sum(len(each.left) for each in outcomes),
        'failures': sum(len(each.failures) for each in outcomes),
        'killed_before_ready': sum(each.start_s is None for each in outcomes),
        'starts': len(starts),
        'starts_in_time': sum(each <= START_S for each in starts),
        'restarts': len(restarts),
    }
    for name, seconds in (('start', starts), ('restart', restarts)):
        if seconds:
            found[f'median_{name}_s'] = round(quantile(seconds, 0.5), 2)
            found[f'worst_{name}_s'] = round(max(seconds), 2)
    return found


def main() -> int:
    loops = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    outcomes: list[Outcome] = []
    faults: list[str] = []
    with Sandbox() as box:
        for number in range(loops):
            outcome = Loop(box, WAYS[number % len(WAYS)], number, seed).run()
            outcomes.append(outcome)
            found = [*(f'left {each}' for each in outcome.left), *outcome.failures]
            faults += [f'{outcome.way} {number}, killed {outcome.killed}: {e}' for e in found]
            print(outcome, file=sys.stderr, flush=True)
    ways = {
        way.name: figures_of([each for each in outcomes if each.way == way.name])
        for way in WAYS
        if any(each.way == way.name for each in outcomes)
    }
    table(
        ('way', 'loops', 'left', 'starts', 'median s', 'worst s', 'restart s', 'worst s'),
        [
            (
                name,
                each['loops'],
                each['left'],
                each['starts'],
                each.get('median_start_s', '-'),
                each.get('worst_start_s', '-'),
                each.get('median_restart_s', '-'),
                each.get('worst_restart_s', '-'),
            )
            for name, each in ways.items()
        ],
    )
    victims = Counter(each.killed.split(' after ')[0] for each in outcomes)
    status: int = report(
        'launch_loops',
        faults,
        seed=seed,
        ways=ways,
        all=figures_of(outcomes),
        by='launch' if HAS_LAUNCH else 'run_demo.sh --no-stand-in',
        victims=dict(victims.most_common()),
    )
    return status


if __name__ == '__main__':
    sys.exit(main())
