# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Durable tasks per second, compared with huey.

No-op tasks from submit to COMPLETED, each contender with SQLite, WAL and synchronous=FULL; blocks
in turn. "one at a time": the next task is submitted when the last is COMPLETED.

Must never happen: a task that is not COMPLETED on the disk.

The first run installs huey into run/peers, for which it needs the package index.

Run: python bench/tasks.py [--size ROUNDS] [--smoke]
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Coroutine, Iterator
import contextlib
import itertools
from pathlib import Path
import sqlite3
import subprocess
import sys
import threading
import time
from typing import Any

from _bench import disk_folder, main, Part, quantile, Result, ROOT
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task

HUEY, PEERS = 'huey==3.5.4', ROOT / 'run/peers'
ONE, ALL = 'one at a time', 'pipelined'
AIM = {ONE: 1.0, ALL: 2.0}  # times huey
BLOCK = {ONE: 200, ALL: 1000}  # tasks
OURS = ('SkillRunner, all tasks of one resource', 'SkillRunner, tasks without resources')
PEER = 'huey with its consumer, delays of 1 ms'


class Runner:
    """The SkillRunner in a thread, as an application uses it."""

    def __init__(self, path: Path, resources: tuple[str, ...]) -> None:
        self._path, self._loop = path, asyncio.new_event_loop()
        self._runner = SkillRunner(str(path))
        self._leave = asyncio.Event()
        started = threading.Event()

        @self._runner.skill('noop', resources=resources)
        async def noop(task: Task) -> None: ...

        async def serve() -> None:
            await self._runner.start()
            running = asyncio.create_task(self._runner.run_loop())
            started.set()
            await self._leave.wait()
            await self._runner.stop()
            await running

        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(serve(),))
        self._thread.start()
        assert started.wait(20.0), 'the runner did not start'

    def run(self, way: str, count: int) -> int:
        work: Coroutine[Any, Any, list[str]] = self._one(count) if way == ONE else self._all(count)
        ids = asyncio.run_coroutine_threadsafe(work, self._loop).result(120.0)
        with contextlib.closing(sqlite3.connect(self._path)) as reader:
            (first,) = reader.execute('SELECT seq FROM task WHERE id = ?', ids[:1]).fetchone()
            found = reader.execute(
                "SELECT count(*) FROM task WHERE seq >= ? AND state = 'completed'", (first,)
            )
            return int(found.fetchone()[0])

    async def _complete(self) -> str:
        task = await self._runner.submit(Task('noop'))
        await self._runner.wait(task.id)
        return task.id

    async def _one(self, count: int) -> list[str]:
        return [await self._complete() for _ in range(count)]

    async def _all(self, count: int) -> list[str]:
        return list(await asyncio.gather(*(self._complete() for _ in range(count))))

    def serving(self) -> contextlib.nullcontext[None]:
        return contextlib.nullcontext()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._leave.set)
        self._thread.join(20.0)


class Huey:
    """huey as deployed, its consumer in one thread: three commits for each task. Consumer and
    submitter poll every millisecond (huey's defaults: every 0.1 s and longer).
    """

    DELAY_S = 0.001

    def __init__(self, path: Path) -> None:
        if not PEERS.is_dir():
            pip = [sys.executable, '-m', 'pip', 'install', '--quiet', '--target', str(PEERS)]
            subprocess.run([*pip, HUEY], check=True)
        sys.path.append(str(PEERS))
        from huey import SqliteHuey

        self._huey = SqliteHuey(filename=str(path), fsync=True, journal_mode='wal')
        self._noop = self._huey.task()(lambda: 1)  # it stores no result for None

    def run(self, way: str, count: int) -> int:
        if way == ONE:
            return sum(self._wait(self._noop()) for _ in range(count))
        return sum(map(self._wait, [self._noop() for _ in range(count)]))

    def _wait(self, result: Any) -> int:
        return int(result.get(blocking=True, timeout=60, backoff=1.0, max_delay=self.DELAY_S))

    @contextlib.contextmanager
    def serving(self) -> Iterator[None]:
        delay = {'initial_delay': self.DELAY_S, 'max_delay': self.DELAY_S, 'backoff': 1.0}
        consumer = self._huey.create_consumer(workers=1, periodic=False, **delay)
        consumer.start()
        yield
        consumer.stop(graceful=True)


def throughput(options: argparse.Namespace) -> Result:
    rates: dict[tuple[str, str], list[float]] = defaultdict(list)
    faults: list[str] = []
    with disk_folder() as folder, contextlib.ExitStack() as stack:
        field: dict[str, Runner | Huey] = {}
        for name, resources in zip(OURS, (('base',), ()), strict=True):
            runner = Runner(folder / f'{len(resources)}.db', resources)
            stack.callback(runner.close)
            field[name] = runner
        if not options.smoke:
            field[PEER] = Huey(folder / 'huey.db')
        for round_, way in itertools.product(range(-1, options.size), BLOCK):  # -1 warms up
            for name, contender in field.items():
                with contender.serving():
                    began = time.perf_counter()
                    done = contender.run(way, BLOCK[way])
                    took = time.perf_counter() - began
                if done != BLOCK[way]:
                    faults.append(f'{name}, {way}: {done} of {BLOCK[way]} COMPLETED')
                if round_ >= 0:
                    rates[name, way].append(BLOCK[way] / took)
    medians = {key: round(quantile(values, 0.5)) for key, values in rates.items()}
    met = None
    if PEER in field:
        met = all(max(medians[o, w] for o in OURS) >= AIM[w] * medians[PEER, w] for w in BLOCK)
    return Result(
        'Durable tasks a second',
        'No-op tasks from submit to COMPLETED with WAL and synchronous=FULL; the peer is huey.',
        ('contender', *BLOCK),
        [(name, *(medians.get((name, way)) for way in BLOCK)) for name in field],
        f'{AIM[ONE]:g} times huey one at a time, {AIM[ALL]:g} times pipelined',
        met,
        faults,
    )


if __name__ == '__main__':
    sys.exit(main(Part('rates', throughput, 'rounds', 8, 1)))
