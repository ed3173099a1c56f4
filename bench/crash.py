# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Durability of one task file under repeated kill -9 at random moments.

A child process (_crash_child.py) runs the SkillRunner under load: no-op tasks, tasks with
checkpoints, chains, interrupts, cancels, pauses, retries, times and deadlines, over three
resources. It is killed after 20 to 400 ms of work, in every fifth round during start(). Then
a read-only connection, which does not change the write-ahead log, reads the file, and the next
child starts. The last child runs until every task has ended.

Must never happen: an acknowledged task that is not in the file; a completion, a cancellation or a
checkpoint that was reported and is not in it; a task that runs after it was recorded as ended, or
from before its recorded checkpoint; a history that is no path of TRANSITIONS, that changes
afterwards or does not end in the task's state; two active tasks with one resource; a task that
has not ended after the last run; a start that fails or sets the file aside; an integrity_check
that is not ok.

A kill is no power failure: written data survives it, synced or not. bench/tasks.py checks that
every commit is synced.

Over 300 lines: the witness checks all promises of the task file in one pass.

Run: python bench/crash.py [rounds, default 200] [seed]
"""

from __future__ import annotations

from collections import Counter, defaultdict
import contextlib
from dataclasses import dataclass, field
from itertools import pairwise
import os
from pathlib import Path
import random
import selectors
import sqlite3
from statistics import median
import subprocess
import sys
import tempfile
import time

from _bench import report, ROOT, table
from curiosity_rosa_demo.domain.task_state import LifecycleState, TRANSITIONS

CHILD = ROOT / 'bench/_crash_child.py'
WORK_S = (0.02, 0.4)
DURING_START = 0.2  # of the rounds
START_S = 30.0  # a start that takes longer has failed
DRAIN_S = 90.0
RESOURCES: dict[str, tuple[str, ...]] = {  # of the child's skills
    'noop': (),
    'drive': ('base',),
    'look': ('mast', 'camera'),
    'flaky': ('camera',),
    'all': ('base', 'mast', 'camera'),
}
ENDS = {state.value for state in LifecycleState if state.terminal}
ALLOWED = {(before.value, after.value) for before, to in TRANSITIONS.items() for after in to}


@dataclass
class ChildRun:
    """The output of one child process."""

    lines: list[list[str]]
    status: int | None  # None: it was killed
    error: str
    start_s: float | None  # from ``starting`` to ``ready``
    began: bool


def run_child(path: Path, seed: int, mode: str, kill_after: tuple[str, float]) -> ChildRun:
    """Run a child, and kill it some seconds after it wrote a given word."""
    word, seconds = kill_after
    seen_at: dict[str, float] = {}
    data = b''
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            [sys.executable, str(CHILD), str(path), str(seed), mode],
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        assert child.stdout is not None
        deadline = time.perf_counter() + START_S
        with child, selectors.DefaultSelector() as ready:
            ready.register(child.stdout, selectors.EVENT_READ)
            while (left := deadline - time.perf_counter()) > 0:
                if not ready.select(left):
                    break
                if not (piece := os.read(child.stdout.fileno(), 65536)):
                    break  # it has ended
                data += piece
                for mark in ('starting', 'ready'):
                    if mark not in seen_at and f'{mark}\n'.encode() in data[:64]:
                        seen_at[mark] = time.perf_counter()
                        if mark == word:
                            deadline = seen_at[mark] + seconds
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(timeout=0.0 if time.perf_counter() >= deadline else 5.0)
            ended = child.poll()
            if ended is None:
                child.kill()
            data += child.stdout.read()
        errors.seek(0)
        error = errors.read().decode(errors='replace')
    whole = data[: data.rfind(b'\n') + 1].decode()
    start_s = seen_at['ready'] - seen_at['starting'] if len(seen_at) == 2 else None
    return ChildRun(
        [line.split(' ', 2) for line in whole.splitlines()],
        *(ended, error, start_s),
        began='starting' in seen_at,
    )


@dataclass
class Stored:
    """A task of the file."""

    name: str
    state: str
    step: int
    path: tuple[tuple[str | None, str], ...]  # before and after, the oldest first


def read(path: Path) -> tuple[dict[str, Stored], str]:
    """All tasks, and the verdict of integrity_check."""
    # Read-only: the last connection that may write would fold the log into the file, and the next
    # child would have nothing to recover from.
    connection = sqlite3.connect(f'{path.as_uri()}?mode=ro', uri=True)
    with contextlib.closing(connection):
        (verdict,) = connection.execute('PRAGMA integrity_check').fetchone()
        if not list(connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'history'")):
            return {}, verdict  # killed within its first moments
        connection.execute('BEGIN')
        paths = defaultdict(list)
        for seq, before, after in connection.execute(
            'SELECT seq, before, after FROM history ORDER BY seq, step'
        ):
            paths[seq].append((before, after))
        rows = connection.execute(
            "SELECT seq, id, name, state, ifnull(json_extract(metadata, '$.step'), 0) FROM task"
        )
        return {
            task_id: Stored(name, state, step, tuple(paths.pop(seq, ())))
            for seq, task_id, name, state, step in rows
        }, verdict


@dataclass
class Witness:
    """Checks the file against the reports of the children and its earlier content."""

    faults: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    acknowledged: set[str] = field(default_factory=set)
    stored: dict[str, Stored] = field(default_factory=dict)
    ran: set[str] = field(default_factory=set)
    # Reports of the last child by task: its end ('': any end), and its newest checkpoint.
    reported_end: dict[str, str] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)

    def add_run(self, child_run: ChildRun) -> None:
        """Add the reports of a child. Call it before ``check_file``: ``stored`` must be the
        content of the file at the start of the child.
        """
        self.reported_end, self.kept = {}, {}
        for kind, *rest in child_run.lines:
            self.counts[kind] += 1
            task_id = rest[0] if rest else ''
            earlier = self.stored.get(task_id)
            if kind == 'ack':
                self.acknowledged.add(task_id)
            elif kind == 'run':
                if task_id in self.reported_end or (earlier is not None and earlier.state in ENDS):
                    self.faults.append(f'{task_id} ran after it had ended')
                kept = max(self.kept.get(task_id, 0), earlier.step if earlier else 0)
                if int(rest[1]) < kept:
                    self.faults.append(f'{task_id} ran from step {rest[1]}, {kept} was kept')
                again = task_id in self.ran and task_id in self.stored
                self.counts['run again in another process'] += again
            elif kind == 'kept':
                self.kept[task_id] = int(rest[1])
            elif kind == 'done':
                self.reported_end[task_id] = 'completed'
            elif kind == 'cancelled':
                self.reported_end.setdefault(task_id, '')
            elif kind == 'note' and 'set aside' in ' '.join(rest):
                self.faults.append(f'the file was set aside: {" ".join(rest)}')
        self.ran |= {rest[0] for kind, *rest in child_run.lines if kind == 'run'}

    def check_file(self, path: Path) -> None:
        stored, verdict = read(path)
        if verdict != 'ok':
            self.faults.append(f'integrity_check says {verdict}')
        self.faults += [f'{each} is lost' for each in self.acknowledged - stored.keys()]
        self.faults += [f'{each} is in the file no more' for each in self.stored.keys() - stored]
        self.counts['stored, but not acknowledged'] = len(stored.keys() - self.acknowledged)
        for task_id, end in self.reported_end.items():
            if task_id in stored and stored[task_id].state not in ({end} if end else ENDS):
                self.faults.append(f'{task_id} was reported {end or "cancelled"}, and is not')
        for task_id, step in self.kept.items():
            if task_id in stored and stored[task_id].step < step:
                self.faults.append(f'{task_id}: the checkpoint of step {step} is lost')
        for task_id, task in stored.items():
            self._check(task_id, task, self.stored.get(task_id))
        active = Counter(
            resource
            for task in stored.values()
            if task.state == 'active'
            for resource in RESOURCES[task.name]
        )
        self.faults += [f'{n} active tasks have {each}' for each, n in active.items() if n > 1]
        self.stored = stored

    def _check(self, task_id: str, task: Stored, earlier: Stored | None) -> None:
        if earlier is not None and earlier.path == task.path:
            if earlier.state != task.state:
                self.faults.append(f'{task_id} is {task.state} without a history of it')
            return  # checked before
        if earlier is not None and earlier.path != task.path[: len(earlier.path)]:
            self.faults.append(f'{task_id}: its history has changed')
        steps = task.path
        if not steps or steps[0][0] is not None or steps[-1][1] != task.state:
            self.faults.append(f'{task_id} is {task.state}, its history is {steps}')
        for (_, state), step in pairwise(steps):
            if step[0] != state or step not in ALLOWED:
                self.faults.append(f'{task_id}: its history has {step} after {state}')


def crash(rounds: int, seed: int, path: Path, witness: Witness) -> list[float]:
    """Run all rounds and the drain. Returns the duration of each start in seconds."""
    chance = random.Random(seed)
    starts: list[float] = []
    counts = witness.counts
    for round_ in range(rounds):
        when = ('ready', chance.uniform(*WORK_S))
        if chance.random() < DURING_START and starts:
            when = ('starting', chance.uniform(0.0, 1.1 * median(starts[-10:])))
        child_run = run_child(path, chance.randrange(2**31), 'load', when)
        if child_run.status is not None or not child_run.began:
            witness.faults.append(f'round {round_}: a start failed: {child_run.error[-500:]!r}')
            return starts
        if child_run.start_s is None:
            counts['killed within start()'] += 1
        else:
            starts.append(child_run.start_s)
        counts['rounds'] += 1
        witness.add_run(child_run)
        witness.check_file(path)
    child_run = run_child(path, seed, 'drain', ('ready', DRAIN_S))
    if child_run.status != 0:
        witness.faults.append(
            f'the last run: status {child_run.status}, {child_run.error[-500:]!r}'
        )
    witness.add_run(child_run)
    witness.check_file(path)
    stuck = [
        f'{key} is {each.state}' for key, each in witness.stored.items() if each.state not in ENDS
    ]
    witness.faults += [f'stuck: {each}' for each in stuck]
    return starts


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(2**31)
    print(f'seed {seed}', flush=True)
    witness = Witness()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix='curiosity-bench-') as folder:
        starts = crash(rounds, seed, Path(folder, 'tasks.db'), witness)
    counts = witness.counts
    states = Counter(task.state for task in witness.stored.values())
    recovered = sum(('active', 'recovering') in task.path for task in witness.stored.values())
    figures = {
        'rounds': counts['rounds'],
        'killed_within_start': counts['killed within start()'],
        'acknowledged': len(witness.acknowledged),
        'stored_unacknowledged': counts['stored, but not acknowledged'],
        **{state: states[state] for state in sorted(ENDS)},
        'not_ended': sum(states.values()) - sum(states[state] for state in ENDS),
        'recovered': recovered,
        'run_again_after_a_crash': counts['run again in another process'],
        'skills_begun': counts['run'],
        'checkpoints_acknowledged': counts['kept'],
        'completions_reported': counts['done'],
        'cancellations_reported': counts['cancelled'],
    }
    table(('', 'count'), [(name.replace('_', ' '), value) for name, value in figures.items()])
    start_ms = round(1e3 * median(starts), 1) if starts else None
    print(f'start() took {start_ms} ms (median); {time.perf_counter() - began:.0f} s in all')
    shown = witness.faults[:20]
    status: int = report(
        'crash', shown, seed=seed, fault_count=len(witness.faults), start_ms=start_ms, **figures
    )
    return status


if __name__ == '__main__':
    sys.exit(main())
