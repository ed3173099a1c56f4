# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The SkillRunner, as an application uses it. All tasks need the same resource, so that they run
one after the other; with ``none`` as second argument they need no resource.

Run by bench/tasks.py as: python skill_runner.py FOLDER base|none
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta, timezone
from pathlib import Path
import sqlite3
import sys
import threading
from typing import Any

from _serve import pragmas, serve
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task

path = Path(sys.argv[1], 'tasks.db')
runner = SkillRunner(str(path))
loop = asyncio.new_event_loop()


@runner.skill('noop', resources=() if sys.argv[2] == 'none' else (sys.argv[2],))
async def noop(task: Task) -> None: ...


async def complete() -> str:
    task = await runner.submit(Task('noop'))
    await runner.wait(task.id)
    return task.id


async def each(count: int) -> list[str]:
    return [await complete() for _ in range(count)]


async def all_at_once(count: int) -> list[str]:
    return await asyncio.gather(*(complete() for _ in range(count)))


async def queue(count: int) -> list[str]:
    later = datetime.now(timezone.utc) + timedelta(hours=1)
    tasks = [Task('noop', not_before=later) for _ in range(count)]
    await asyncio.gather(*map(runner.submit, tasks))
    return [task.id for task in tasks]


def way(
    work: Callable[[int], Coroutine[Any, Any, list[str]]],
) -> Callable[[int], Callable[[], dict[str, Any]]]:
    def run(count: int) -> Callable[[], dict[str, Any]]:
        ids = asyncio.run_coroutine_threadsafe(work(count), loop).result()
        return lambda: look(ids)

    return run


def look(ids: list[str]) -> dict[str, Any]:
    """Read the file through another connection: the completed tasks and their transitions."""
    with sqlite3.connect(path) as reader:
        states = [
            reader.execute('SELECT state FROM task WHERE id = ?', (task_id,)).fetchone()[0]
            for task_id in ids
        ]
        (steps,) = reader.execute(
            'SELECT count(*) FROM history JOIN task USING (seq) WHERE state = ? AND task.seq >= '
            '(SELECT seq FROM task WHERE id = ?)',
            ('completed', ids[0]),
        ).fetchone()
    reader.close()
    return {'completed': states.count('completed'), 'steps': steps}


def durability() -> list[tuple[str, int]]:
    # Only the connection of the writer knows its pragmas; no public attribute exposes it.
    writer = runner._store._writer
    assert writer is not None
    with writer.lock:
        return [pragmas(writer._connection)]


async def main() -> None:
    await runner.start()
    running = asyncio.create_task(runner.run_loop())
    started.set()
    await leave.wait()
    await runner.stop()
    await running


started, leave = threading.Event(), asyncio.Event()
thread = threading.Thread(target=loop.run_until_complete, args=(main(),))
thread.start()
assert started.wait(20.0), 'the runner did not start'
serve(durability, one=way(each), pipelined=way(all_at_once), queue=way(queue))
loop.call_soon_threadsafe(leave.set)
thread.join()
