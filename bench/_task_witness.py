# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The file of tasks after each kill, checked against what was reported before."""

from __future__ import annotations

from collections import Counter, defaultdict
import contextlib
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
import sqlite3

from curiosity_rosa_demo.domain.task_state import LifecycleState, TRANSITIONS

RESOURCES: dict[str, tuple[str, ...]] = {  # of the skills of _killed_runner.py
    'noop': (),
    'drive': ('base',),
    'look': ('mast', 'camera'),
    'flaky': ('camera',),
    'all': ('base', 'mast', 'camera'),
}
ENDS = {state.value for state in LifecycleState if state.terminal}
ALLOWED = {(before.value, after.value) for before, to in TRANSITIONS.items() for after in to}


@dataclass
class Stored:
    """A task of the file. ``path``: its states before and after, the oldest first."""

    name: str
    state: str
    step: int
    path: tuple[tuple[str | None, str], ...]


def read(path: Path) -> tuple[dict[str, Stored], str]:
    """All tasks, and the verdict of integrity_check."""
    # Read-only: the last connection that may write would fold the log into the file, and the next
    # child would have nothing to recover from.
    with contextlib.closing(sqlite3.connect(f'{path.as_uri()}?mode=ro', uri=True)) as connection:
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
    faults: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    acknowledged: set[str] = field(default_factory=set)
    stored: dict[str, Stored] = field(default_factory=dict)
    ran: set[str] = field(default_factory=set)
    # Reports of the last child by task: its end ('': any end), and its newest checkpoint.
    reported_end: dict[str, str] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)

    def add_run(self, lines: list[list[str]]) -> None:
        """Add the reports of a child. ``stored`` must be the file at the start of the child."""
        self.reported_end, self.kept = {}, {}
        for kind, *rest in lines:
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
                self.counts['again'] += task_id in self.ran and task_id in self.stored
            elif kind == 'kept':
                self.kept[task_id] = int(rest[1])
            elif kind == 'done':
                self.reported_end[task_id] = 'completed'
            elif kind == 'cancelled':
                self.reported_end.setdefault(task_id, '')
            elif kind == 'note' and 'set aside' in ' '.join(rest):
                self.faults.append(f'the file was set aside: {" ".join(rest)}')
        self.ran |= {rest[0] for kind, *rest in lines if kind == 'run'}

    def check_file(self, path: Path) -> None:
        stored, verdict = read(path)
        if verdict != 'ok':
            self.faults.append(f'integrity_check says {verdict}')
        self.faults += [f'{each} is lost' for each in self.acknowledged - stored.keys()]
        self.faults += [f'{each} is in the file no more' for each in self.stored.keys() - stored]
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
