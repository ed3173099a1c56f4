# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A SkillRunner with skills that do what the test says, and a file that survives it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from functools import wraps
from pathlib import Path
import sqlite3
from typing import Any

from curiosity_rosa_demo.agent.tasks import LifecycleState, SkillRunner, Task

LONG_S = 20.0  # bound of every wait: reached only by what hangs

SKILLS: dict[str, tuple[str, ...]] = {
    'job': ('base', 'mast', 'camera'),
    'drive': ('base',),
    'look': ('mast',),
    'shoot': ('camera',),
    'tour': ('base', 'mast'),
    'think': (),
}


def in_loop(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Runs an async test to its end, for at most a generous time."""

    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), 60.0))

    return run


class Stage:
    """Skills that wait for the test: finish() lets one return or raise."""

    def __init__(self) -> None:
        self.log: list[str] = []  # 'begin x', 'cleanup x', 'end x'
        self.playing: dict[str, asyncio.Future[None]] = {}
        self._logged = asyncio.Event()

    def note(self, what: str) -> None:
        self.log.append(what)
        self._logged.set()

    async def play(self, task: Task) -> None:
        title = task.metadata.get('title', task.name)
        self.playing[task.id] = act = asyncio.get_running_loop().create_future()
        self.note(f'begin {title}')
        try:
            await act
            self.note(f'end {title}')
        except asyncio.CancelledError:
            self.note(f'cleanup {title}')
            raise
        finally:
            if self.playing.get(task.id) is act:
                del self.playing[task.id]

    def finish(self, task: Task, error: Exception | None = None) -> None:
        act = self.playing[task.id]
        if error is None:
            act.set_result(None)
        else:
            act.set_exception(error)

    async def until(self, *logged: str) -> None:
        """Until all of it was noted."""

        async def wait() -> None:
            while not set(logged) <= set(self.log):
                self._logged.clear()
                await self._logged.wait()

        await asyncio.wait_for(wait(), LONG_S)


def titled(name: str, title: str, priority: int = 3, **fields: Any) -> Task:
    return Task(name, priority, metadata={'title': title}, **fields)


def staged(path: Path | str, stage: Stage, **options: Any) -> SkillRunner:
    runner = SkillRunner(db_path=str(path), **options)
    for name, resources in SKILLS.items():
        runner.skill(name, resources=resources)(stage.play)
    return runner


@asynccontextmanager
async def looping(runner: SkillRunner) -> AsyncIterator[SkillRunner]:
    await runner.start()
    loop_task = asyncio.create_task(runner.run_loop())
    try:
        yield runner
    finally:
        await asyncio.wait_for(runner.stop(), LONG_S)
        await asyncio.wait_for(loop_task, LONG_S)


async def ended(runner: SkillRunner, task: Task) -> Task:
    return await runner.wait(task.id, LONG_S)


async def reaches(runner: SkillRunner, task: Task, *states: LifecycleState) -> None:
    """Until the task shows one of ``states``."""
    events = runner.subscribe()

    async def wait() -> None:
        while task.state not in states:
            await anext(aiter(events))

    try:
        await asyncio.wait_for(wait(), LONG_S)
    finally:
        events.close()


def crash(path: Path) -> None:
    """kill -9, as far as the file can tell: the runner that has it writes nothing more there."""
    copy = path.with_suffix('.copy')
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(copy)) as new:
        old.backup(new)
    copy.replace(path)  # the runner goes on in files that have lost their names
    for end in ('-wal', '-shm', '.lock'):
        Path(f'{path}{end}').unlink(missing_ok=True)


def stored(path: Path, task: Task) -> tuple[str, str] | None:
    """The state and the metadata of a task in the file."""
    with closing(sqlite3.connect(path)) as file:
        row = file.execute('SELECT state, metadata FROM task WHERE id = ?', (task.id,)).fetchone()
    return None if row is None else (row[0], row[1])


def states(runner: SkillRunner, task: Task) -> list[LifecycleState]:
    return [row.after for row in runner.history(task.id)]
