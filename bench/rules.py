# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The rules by themselves: all their states, an independent monitor, and what they cost.

- search: every reachable state of guard, kernel and tasks, every input in it, every invariant, by
  breadth-first search (test/state_search.py). Each exploration is a set of inputs; those with
  every input at once end after a number of states. It ends with the shortest way to a broken rule.
- monitor: the monitor against the motion guard over random histories, and planted faults
- rehearsal: CPU time of the prediction of a plan

Must never happen: a broken rule; a disagreement of monitor and guard; a planted fault not found.

Run: python bench/rules.py [search] [monitor] [rehearsal] [--size N] [--smoke]
python bench/rules.py --pictures makes docs/images/explored_*.svg; it needs Graphviz.
"""

from __future__ import annotations

import argparse
import logging
import random
import re
import subprocess
import sys
import time

from _bench import main, milliseconds, Part, Result, ROOT
from curiosity_rosa_demo.agent.react.forecast import Call, rehearse, Stage, Surroundings
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.infra.config_loader import load_config
from explorations import arrows, BOUNDED, PICTURES, SYSTEMS, Views
from monitored_world import drive, hunt, MUTANTS, Watched
from state_search import explore, Violation

HISTORY = 50_000  # steps of one seed
FACTS = {'x': 0.0, 'y': 0.0, 'yaw_rad': 0.0, 'moving': False, 'battery_pct': 80.0}
ROCKS = ((8.0, 0.0), (6.0, 1.57), (9.0, 3.14), (7.0, -1.57))
AIM_CALL_MS, AIM_PLAN_MS = 20.0, 500.0


def dot(views: Views) -> str:
    """The quotient graph in the language of Graphviz."""
    lines = ['digraph {', 'node [shape=box style=rounded fontname="sans-serif" fontsize=12]',
             'edge [fontname="sans-serif" fontsize=9]', 'bgcolor=white']  # fmt: skip
    for (before, after), names in arrows(views).items():
        shown = names[:4] + ['...'] * (len(names) > 4)
        lines.append(
            f'{_quoted(before)} -> {_quoted(after)} [label={_quoted(chr(10).join(shown))}]'
        )
    return '\n'.join([*lines, '}'])


def _quoted(text: str) -> str:
    return '"' + text.replace('\n', '\\n') + '"'


def make_pictures() -> int:
    for name, (system, view) in PICTURES.items():
        graph = dot(explore(SYSTEMS[system](), view=view).views)
        done = subprocess.run(
            ['dot', '-Tsvg'], input=graph, capture_output=True, text=True, check=True
        )
        svg = re.sub(r'<!-- (Generated|Title).*?-->\n?', '', done.stdout, flags=re.DOTALL)
        (ROOT / f'docs/images/{name}.svg').write_text(svg, encoding='utf-8')
    return 0


def search(options: argparse.Namespace) -> Result:
    logging.disable(logging.CRITICAL)  # the engine logs each abandoned skill
    scopes = {name: (options.size, make) for name, make in SYSTEMS.items()}
    scopes |= {name: (min(options.size, most), make) for name, (most, make) in BOUNDED.items()}
    rows, faults = [], []
    for name, (most, make) in scopes.items():
        try:
            found = explore(make(), max_states=most)
        except Violation as violation:
            faults.append(f'{name}: {violation}')
        else:
            complete = 'yes' if found.complete else 'no'
            rows.append((name, found.states, found.transitions, found.depth, complete))
    return Result(
        'Exploration',
        'All states that the rules can reach, and every input in each.',
        ('exploration', 'states', 'transitions', 'depth', 'complete'),
        rows,
        'no broken rule',
        not faults,
        faults,
    )


def monitor(options: argparse.Namespace) -> Result:
    steps, seed, faults, rows = 0, 0, [], []
    while steps < options.size:
        watched = Watched()
        drive(watched, random.Random(seed), min(HISTORY, options.size - steps))
        steps += watched.steps
        faults += [f'seed {seed}: {each}' for each in watched.disagreements]
        seed += 1
    for name in MUTANTS:
        verdict, after_s = hunt(name)
        rows.append((name, verdict.requirement if verdict else None, round(after_s, 1)))
        faults += [] if verdict else [f'not found: {name}']
    return Result(
        'Monitor and motion guard',
        f'{steps:,} steps of 50 ms with faults of services, telemetry, agents and people: no '
        'disagreement of the two. Then faults planted into the guard.',
        ('planted fault', 'found by', 'after s'),
        rows,
        'no disagreement, all found',
        not faults,
        faults,
    )


def rehearsal(options: argparse.Namespace) -> Result:
    config, chance = load_config(), random.Random(16)
    seen = Surroundings(config.thresholds.speeds, obstacles=ROCKS)
    stage = Stage(config, make_registry(config), seen, Origin.PLAN, 'en')

    def motion() -> Operation:
        return Operation(chance.choice(MOTIONS), {'duration_s': chance.uniform(1.0, 10.0)})

    def navigation() -> Operation:
        x, y = (chance.choice((-1, 1)) * chance.uniform(5.0, 40.0) for _ in 'xy')
        return Operation('navigate_to_pose', {'x': x, 'y': y})

    rows, met = [], True
    for name, make, count, aim_ms in (
        ('one motion', motion, 1, AIM_CALL_MS),
        ('one navigation', navigation, 1, AIM_CALL_MS),
        ('a plan of 10 motions', motion, 10, AIM_PLAN_MS),
        ('a plan of 100 motions', motion, 100, AIM_PLAN_MS),
    ):
        took = []
        for _ in range(options.size):
            calls = [Call(make(), number) for number in range(1, count + 1)]
            began = time.thread_time()
            rehearse(calls, FACTS, stage)
            took.append(time.thread_time() - began)
        median, p99 = milliseconds(took)
        rows.append((name, median, p99, aim_ms))
        met = met and p99 <= aim_ms
    return Result(
        'Rehearsal',
        'CPU time until the outcome of a plan is predicted, among four rocks.',
        ('what', 'median ms', 'p99 ms', 'aim'),
        rows,
        'p99 as in the table',
        met,
    )


if __name__ == '__main__':
    if sys.argv[1:] == ['--pictures']:
        sys.exit(make_pictures())
    sys.exit(
        main(
            Part('search', search, 'states at most', 10_000_000, 150),
            Part('monitor', monitor, 'steps', 1_000_000, 4000),
            Part('rehearsal', rehearsal, 'rounds', 300, 3),
        )
    )
