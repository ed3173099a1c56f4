# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Durable tasks per second compared with huey and DBOS, scheduling cost, and an idle runner.

No-op tasks from submit to COMPLETED. Each contender is a separate process; the blocks are
interleaved, and the order of the contenders rotates in each round. All use SQLite with WAL and
synchronous=FULL, which is checked on their connections. The figures are medians over the blocks.
"one at a time": the next task is submitted when the last is COMPLETED; "pipelined": 1,000 tasks
are submitted at once (DBOS 200).
- ours, one resource: the SkillRunner; all tasks need the same resource, so that they run one after
  the other. PENDING and ACTIVE share a commit where a task starts at once; COMPLETED is another
- ours, no resource: the same with tasks that may run side by side
- huey, direct: SqliteHuey(fsync=True) without a consumer, one thread that enqueues, dequeues and
  executes; three commits. The minimal cost of its storage, not a deployment
- huey, consumer: as deployed, with its consumer in one thread and the submitter in another; both
  poll every millisecond (huey's defaults: every 0.1 s and longer)
- huey, spinning: the same without any sleep, which takes a core even without tasks
- DBOS: start_workflow and get_result; two commits
- floor: bare sqlite3, a commit for each of the three states

Aims, for either of ours: twice huey with its consumer, both ways; the ratios to all three are
printed. If other processes disturb the disk, the figures are unreliable, and the benchmark prints
a note: two commits instead of three make the runner at most 1.5 times as fast as the floor.

Then ReadyQueue.pop_next + free + add in steady state, with 10, 1,000 and 100,000 queued tasks of
mixed priorities and sets of resources, interleaved. Aim: from 10 to 100,000 it grows no faster
than log n, by 5. Then the CPU load of a runner with 1,000 tasks that wait for a later time.

Must never happen: a task that is not COMPLETED on the disk with each of its transitions; another
journal mode or synchronous setting; a contender that uses the network; an idle
runner that takes more than 2 % of a core.

The first run installs huey and DBOS into .venv-peers, for which it needs the package index.

Run: python bench/tasks.py [rounds, default 8]
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from itertools import count
import math
from pathlib import Path
import random
import subprocess
import sys
import time

from _bench import cpu_percent, quantile, report, SMOKE, table
from _peers import Contender, disk_folder, peers_python
from curiosity_rosa_demo.agent.tasks.ready_queue import ReadyQueue

AIM = 2.0
COMMITS_SAVED = 3 / 2  # commits of the floor to those of the runner
OURS = ('ours, one resource', 'ours, no resource')
HUEYS = {'huey, direct': 'direct', 'huey, consumer': '0.001', 'huey, spinning': '0'}
WITH_PEERS = not SMOKE  # they are installed from the network
DBOS, FLOOR = 'DBOS', 'floor'
WAYS = {'one': 'one at a time', 'pipelined': 'pipelined'}
BLOCK = {'one': 200, 'pipelined': 1000}  # tasks
OTHER_BLOCK = {(DBOS, 'one'): 50, (DBOS, 'pipelined'): 200, (FLOOR, 'pipelined'): 0}
DURABLE = ['wal', 2]  # 2 is FULL
QUEUED = (10, 1_000, 100_000)
DECISIONS = 4_000
RESOURCES = ('base', 'mast', 'camera')
IDLE_S = 1.0 if SMOKE else 3.0
MAX_IDLE_PERCENT = 2.0

Rates = dict[str, dict[str, list[float]]]  # tasks a second by way and contender, block by block


def contenders(folder: Path) -> list[Contender]:
    ours = [
        Contender(OURS[0], sys.executable, 'skill_runner.py', _sub(folder, 'one'), 'base'),
        Contender(OURS[1], sys.executable, 'skill_runner.py', _sub(folder, 'none'), 'none'),
    ]
    floor = Contender(FLOOR, sys.executable, 'sqlite_floor.py', folder)
    if not WITH_PEERS:
        return [*ours, floor]
    python = peers_python()
    hueys = [
        Contender(name, python, 'huey_sqlite.py', _sub(folder, name), argument)
        for name, argument in HUEYS.items()
    ]
    return [*ours, *hueys, Contender(DBOS, python, 'dbos_sqlite.py', folder), floor]


def _sub(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


def throughput(rounds: int, faults: list[str]) -> Rates:
    rates: Rates = {way: defaultdict(list) for way in WAYS}
    with disk_folder() as folder, ExitStack() as stack:
        field = [stack.enter_context(each) for each in contenders(folder)]
        for round_ in range(-1, rounds):  # the first warms up
            for way in WAYS:
                for contender in field[round_ % len(field) :] + field[: round_ % len(field)]:
                    rate = block(contender, way, faults)
                    if rate is not None and round_ >= 0:
                        rates[way][contender.name].append(rate)
        for contender in field:
            found = contender.ask('durability')['connections']
            if not found or any(each != DURABLE for each in found):
                faults.append(f'{contender.name}: {found} instead of {DURABLE}')
            if ports := contender.ports():
                faults.append(f'{contender.name} uses the network: {ports}')
    return rates


def block(contender: Contender, way: str, faults: list[str]) -> float | None:
    """Run one block. Returns tasks per second; None if the contender does not support the way."""
    size = OTHER_BLOCK.get((contender.name, way), BLOCK[way])
    if size == 0:
        return None
    answer = contender.ask(way, size)
    if answer['completed'] != size:
        faults.append(f'{contender.name}, {way}: {answer["completed"]} of {size} COMPLETED')
    if answer.get('steps', 3 * size) != 3 * size:
        faults.append(f'{contender.name}, {way}: {answer["steps"]} transitions of {size} tasks')
    return size / answer['seconds']


class Steady:
    """A ready queue with a constant number of tasks."""

    def __init__(self, queued: int) -> None:
        chance = random.Random(queued)
        subsets = [
            frozenset(name for bit, name in enumerate(RESOURCES) if number >> bit & 1)
            for number in range(1 << len(RESOURCES))
        ]
        self._queue = ReadyQueue()
        self._needs = {str(number): chance.choice(subsets) for number in range(queued)}
        self._ranks = [(chance.random() > 0.01, -chance.randrange(10)) for _ in range(DECISIONS)]
        self._seqs = count()
        for rank, (task_id, needs) in zip(self._cycle(queued), self._needs.items(), strict=True):
            self._queue.add(task_id, (rank, True, next(self._seqs)), needs)

    def _cycle(self, length: int) -> list[tuple[bool, int]]:
        return [self._ranks[number % DECISIONS] for number in range(length)]

    def decide(self) -> float:
        """Seconds per decision: each popped task ends at once, and a similar one is added."""
        queue, needs, seqs = self._queue, self._needs, self._seqs
        began = time.perf_counter()
        for rank in self._ranks:
            task_id = queue.pop_next()
            assert task_id is not None
            queue.free(needs[task_id])
            queue.add(task_id, (rank, True, next(seqs)), needs[task_id])
        return (time.perf_counter() - began) / DECISIONS


def decisions(rounds: int) -> dict[int, int]:
    """Median nanoseconds per decision, by the number of queued tasks."""
    field = {queued: Steady(queued) for queued in QUEUED}
    times: dict[int, list[float]] = defaultdict(list)
    for round_ in range(-1, 3 * rounds):
        for queued, steady in field.items():
            taken = steady.decide()
            if round_ >= 0:
                times[queued].append(1e9 * taken)
    return {queued: round(quantile(values, 0.5)) for queued, values in times.items()}


def idle() -> float:
    """CPU load of a runner with 1,000 tasks for a later time, in percent of a core."""
    with disk_folder() as folder:
        runner = Contender('idle', sys.executable, 'skill_runner.py', folder, 'base')
        with runner:
            runner.ask('queue', 1000)
            return cpu_percent({'runner': runner.pid}, IDLE_S)['runner']


def ratio(rates: Rates, way: str, name: str, other: str) -> float:
    """The median over the rounds of the ratio of two contenders."""
    pairs = zip(rates[way][name], rates[way][other], strict=True)
    return round(quantile([mine / theirs for mine, theirs in pairs], 0.5), 3)


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    faults: list[str] = []
    try:
        rates = throughput(rounds, faults)
    except subprocess.CalledProcessError as error:
        return int(report('tasks', [f'the peers cannot be installed: {error}']))
    medians = {
        name: {
            text: round(quantile(rates[way][name], 0.5))
            for way, text in WAYS.items()
            if rates[way][name]
        }
        for name in rates['one']
    }
    table(
        ('durable no-op tasks a second', *WAYS.values()),
        [(name, *(row.get(text, '-') for text in WAYS.values())) for name, row in medians.items()],
    )
    ratios = {
        name: {
            other: {text: ratio(rates, way, name, other) for way, text in WAYS.items()}
            for other in HUEYS
            if WITH_PEERS
        }
        for name in OURS
    }
    table(
        ('ratio', *WAYS.values()),
        [
            (f'{name} / {other}', *(row[text] for text in WAYS.values()))
            for name, rows in ratios.items()
            for other, row in rows.items()
        ],
    )
    print(f'aim: {AIM} times huey, consumer')
    disturbed = any(ratio(rates, 'one', name, FLOOR) > COMMITS_SAVED for name in OURS)
    if disturbed:
        print('the disk was disturbed: fewer commits than the floor cannot explain these figures')

    cost = decisions(rounds)
    table(
        ('scheduling decision', 'ns'),
        [(f'{queued:,} queued', ns) for queued, ns in cost.items()],
    )
    growth = cost[QUEUED[-1]] / cost[QUEUED[0]]
    of_log = math.log(QUEUED[-1]) / math.log(QUEUED[0])
    print(f'from {QUEUED[0]} to {QUEUED[-1]:,} it grows by {growth:.2f} (log n: {of_log:.2f})')

    idle_percent = idle()
    print(f'a runner with 1,000 tasks that wait for a time: {idle_percent:.2f} % of a core')
    if idle_percent > MAX_IDLE_PERCENT:
        faults.append('an idle runner takes CPU time')
    status: int = report(
        'tasks',
        faults,
        tasks_per_s=medians,
        times_huey=ratios,
        disturbed=disturbed,
        aim_times_huey=AIM,
        decision_ns=cost,
        decision_growth=round(growth, 3),
        aim_decision_growth=round(of_log, 3),
        idle_percent=round(idle_percent, 3),
    )
    return status


if __name__ == '__main__':
    sys.exit(main())
