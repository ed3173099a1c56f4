# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The CPU time of a rehearsal: one motion, one navigation, plans of ten and of a hundred motions.

Run: python bench/rehearsal.py [ROUNDS]
"""

from __future__ import annotations

import random
import sys
import time

from _bench import quantile, report, table
from curiosity_rosa_demo.agent.react.rehearsal.stage import stage_of
from curiosity_rosa_demo.agent.react.rehearsal.twin import Call, rehearse, Surroundings
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.infra.config_loader import load_config

FACTS = {'x': 0.0, 'y': 0.0, 'yaw_rad': 0.0, 'moving': False, 'battery_pct': 80.0}
MOTIONS = ('move_forward', 'turn_left', 'turn_right')
LONGEST_S = 0.5
SEEN = Surroundings(
    load_config().thresholds.speeds, obstacles=((8.0, 0.0), (6.0, 1.57), (9.0, 3.14), (7.0, -1.57))
)


def main(rounds: int) -> int:
    config, chance = load_config(), random.Random(16)
    stage = stage_of(config, make_registry(config), SEEN, Origin.PLAN, 'en')

    def motion() -> Operation:
        return Operation(chance.choice(MOTIONS), {'duration_s': chance.uniform(1.0, 10.0)})

    def navigation() -> Operation:
        x, y = (chance.choice((-1, 1)) * chance.uniform(5.0, 40.0) for _ in 'xy')
        return Operation('navigate_to_pose', {'x': x, 'y': y})

    makers = {
        'motion': lambda: [motion()],
        'navigation': lambda: [navigation()],
        'plan_10': lambda: [motion() for _ in range(10)],
        'plan_100': lambda: [motion() for _ in range(100)],
    }
    result, rows, faults = {}, [], []
    for name, make in makers.items():
        took = []
        for _ in range(rounds):
            calls = [Call(op, number) for number, op in enumerate(make(), 1)]
            began = time.thread_time()
            rehearse(calls, FACTS, stage)
            took.append(time.thread_time() - began)
        found = [1e3 * quantile(took, 0.5), 1e3 * quantile(took, 0.99), 1e3 * max(took)]
        rows.append((name, *(f'{each:.2f}' for each in found)))
        result[f'{name}_ms'] = [round(each, 2) for each in found[:2]]
        if found[-1] > 1e3 * LONGEST_S:
            faults.append(f'{name} took {found[-1]:.0f} ms')
    table(('ms', 'median', 'p99', 'most'), rows)
    return report('rehearsal', faults, **result)


if __name__ == '__main__':
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 300))
