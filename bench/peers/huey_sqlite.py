# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""huey's SqliteHuey with durable tasks and results: three commits for each task.

``direct``: one thread enqueues, dequeues and executes, without a consumer and without waits. This
is the minimal cost of huey's storage, not a deployment of huey. Otherwise huey runs as deployed,
with its own consumer of one thread in this process. The argument is then the polling delay in
seconds, of the consumer for tasks and of the submitter for results, without backoff; there is no
signal between them. With 0, both never sleep, and take a core.

Run by bench/tasks.py in the peers' environment as: python huey_sqlite.py FOLDER direct|DELAY
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import sys
from typing import Any

from _serve import pragmas, serve
from huey import SqliteHuey

huey = SqliteHuey(filename=str(Path(sys.argv[1], 'huey.db')), fsync=True, journal_mode='wal')


@huey.task()
def noop() -> int:
    return 1  # huey stores no result for None


def one(count: int) -> Callable[[], dict[str, Any]]:
    results = []
    for _ in range(count):
        results.append(noop())
        huey.execute(huey.dequeue())
    return _look(results)


def pipelined(count: int) -> Callable[[], dict[str, Any]]:
    results = [noop() for _ in range(count)]
    while (task := huey.dequeue()) is not None:
        huey.execute(task)
    return _look(results)


def _look(results: list[Any]) -> Callable[[], dict[str, Any]]:
    return lambda: _counted([result.get() for result in results])


def consumed_one(count: int) -> Callable[[], dict[str, Any]]:
    values = [_wait(noop()) for _ in range(count)]
    return lambda: _counted(values)


def consumed_pipelined(count: int) -> Callable[[], dict[str, Any]]:
    values = [_wait(result) for result in [noop() for _ in range(count)]]
    return lambda: _counted(values)


def _wait(result: Any) -> Any:
    return result.get(blocking=True, timeout=60, backoff=1.0, max_delay=delay_s)


def _counted(values: list[Any]) -> dict[str, Any]:
    return {'completed': values.count(1) if len(huey) == 0 else -1}


def durability() -> list[tuple[str, int]]:
    return [pragmas(huey.storage.conn)]


if sys.argv[2] == 'direct':
    serve(durability, one=one, pipelined=pipelined)
else:
    delay_s = float(sys.argv[2])
    consumer = huey.create_consumer(
        workers=1,
        worker_type='thread',
        periodic=False,
        initial_delay=delay_s,
        max_delay=delay_s,
        backoff=1.0,
    )
    consumer.start()
    serve(durability, one=consumed_one, pipelined=consumed_pipelined)
    consumer.stop(graceful=True)
