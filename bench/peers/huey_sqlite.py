"""huey's SqliteHuey, used in the way that is quickest while task and result are durable.

One thread enqueues, dequeues and executes: no consumer process, no polling. Three commits a task.
Run by bench/tasks.py in the peers' environment as: python huey_sqlite.py FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
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
    def look() -> dict[str, Any]:
        completed = sum(result.get() == 1 for result in results)
        return {'completed': completed if len(huey) == 0 else -1}

    return look


serve(lambda: [pragmas(huey.storage.conn)], one=one, pipelined=pipelined)
