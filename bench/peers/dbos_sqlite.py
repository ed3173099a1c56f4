# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""DBOS with its system database in SQLite, one process, no queue: start, get the result.

Telemetry export and conductor are off. Two commits for each workflow: its start and its result.
Run by bench/tasks.py in the peers' environment as: python dbos_sqlite.py FOLDER
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import sys
from typing import Any

from _serve import pragmas, serve
from dbos import DBOS
import sqlalchemy

connections: list[tuple[str, int]] = []


@sqlalchemy.event.listens_for(sqlalchemy.Engine, 'connect')
def _durable(connection: Any, _: Any) -> None:
    connection.execute('PRAGMA journal_mode = WAL')
    connection.execute('PRAGMA synchronous = FULL')
    connections.append(pragmas(connection))


DBOS(
    config={
        'name': 'bench',
        'system_database_url': f'sqlite:///{Path(sys.argv[1], "dbos.db")}',
        'log_level': 'ERROR',
        'enable_otlp': False,
    }
)


@DBOS.workflow()
def noop() -> int:
    return 1


def one(count: int) -> Callable[[], dict[str, Any]]:
    handles = []
    for _ in range(count):
        handles.append(DBOS.start_workflow(noop))
        handles[-1].get_result()
    return _look(handles)


def pipelined(count: int) -> Callable[[], dict[str, Any]]:
    handles = [DBOS.start_workflow(noop) for _ in range(count)]
    for handle in handles:
        handle.get_result()
    return _look(handles)


def _look(handles: list[Any]) -> Callable[[], dict[str, Any]]:
    def look() -> dict[str, Any]:
        return {'completed': sum(handle.get_status().status == 'SUCCESS' for handle in handles)}

    return look


DBOS.launch()
serve(lambda: connections, one=one, pipelined=pipelined)
DBOS.destroy()
