# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The task store in processes of its own: without permission, and killed."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
import random
import shutil
import subprocess
import sys
import tempfile

from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.task import Task
from curiosity_rosa_demo.domain.task_state import TRANSITIONS
from test_task_store_file import write_tasks

UNPRIVILEGED = """
import os, sys
from curiosity_rosa_demo.agent.tasks.errors import StoreReadOnly
from curiosity_rosa_demo.agent.tasks.store import TaskStore
if os.geteuid() == 0:
    os.setuid(65534)
for path in sys.argv[1:]:
    try:
        TaskStore(path).open()
    except StoreReadOnly as error:
        print(error)
"""


def test_a_file_or_folder_without_permission_is_named() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        paths = [folder / name / 'tasks.db' for name in ('file', 'folder', 'lock')]
        for path in paths:
            path.parent.mkdir()
            write_tasks(path, Task('dig'))
            path.chmod(0o444 if path.parent.name == 'file' else 0o666)
            Path(f'{path}.lock').chmod(0o444 if path.parent.name == 'lock' else 0o666)
            path.parent.chmod(0o555 if path.parent.name == 'folder' else 0o777)
        paths.append(folder / 'folder' / 'deeper' / 'tasks.db')
        folder.chmod(0o755)
        command = [sys.executable, '-c', UNPRIVILEGED, *map(str, paths)]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert [line.split(' cannot be written: ')[0] for line in answer.stdout.splitlines()] == [
            str(path) for path in paths
        ]
    finally:
        shutil.rmtree(folder)


# Four tasks walk side by side; what was acknowledged is said on stdout.
WALKER = """
import asyncio, sys
from curiosity_rosa_demo.agent.tasks.store import *
from curiosity_rosa_demo.agent.tasks.task import Task
from curiosity_rosa_demo.domain.task_state import LifecycleState as S

async def walk(store, lane, seq):
    while True:
        twins = [Task('walk', id=f'{lane}-{seq}-{twin}', seq=seq + twin) for twin in range(2)]
        seq += 8
        await store.write([Insert(task) for task in twins])
        for state in (S.ACTIVE, S.PAUSED, S.ACTIVE, S.COMPLETED):
            unit = []
            for task in twins:
                before = task.state
                task.transition(state)
                task.metadata['steps'] = task.metadata.get('steps', 0) + 1
                unit.append(Move(task, before))
            await store.write(unit)
            print(twins[0].id, task.metadata['steps'], flush=True)

async def main():
    store = TaskStore(sys.argv[1])
    store.open()
    first = store.next_seq()
    await asyncio.gather(*(walk(store, lane, first + 2 * lane) for lane in range(4)))

asyncio.run(main())
"""


def test_a_killed_process_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / 'tasks.db'
    acknowledged: dict[str, int] = {}
    for round_ in range(10):
        command = [sys.executable, '-c', WALKER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            count = random.Random(round_).randrange(1, 100)
            lines = [child.stdout.readline() for _ in range(count)]
            child.kill()
            lines += child.stdout.readlines()
        whole = [line.split() for line in lines if line.endswith('\n')]
        assert whole
        acknowledged |= {task_id: int(steps) for task_id, steps in whole}
        check_after_the_crash(path, acknowledged)


def check_after_the_crash(path: Path, acknowledged: dict[str, int]) -> None:
    async def run() -> None:
        store = TaskStore(path)
        tasks = {task.id: task for task in [*store.open(), *store.last(10**9)]}
        assert store.notes == []
        for task_id, steps in acknowledged.items():
            assert tasks[task_id].metadata['steps'] >= steps
        for task in tasks.values():
            twin = tasks[f'{task.id[:-1]}{1 - int(task.id[-1])}']
            assert (task.state, task.metadata) == (twin.state, twin.metadata)
            steps = store.history(task.id)
            assert [step.after for step in steps][-1] is task.state
            assert len(steps) == 1 + task.metadata.get('steps', 0)
            assert steps[0].before is None
            for earlier, later in itertools.pairwise(steps):
                assert later.before is earlier.after
                assert later.after in TRANSITIONS[earlier.after]
        assert store.next_seq() > max(task.seq for task in tasks.values())
        await store.close()

    asyncio.run(run())
