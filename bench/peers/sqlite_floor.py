# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The floor: bare sqlite3, one durable commit for each of the three states of a task.

Run by bench/tasks.py as: python sqlite_floor.py FOLDER
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import sqlite3
import sys
from typing import Any
import uuid

from _serve import pragmas, serve

connection = sqlite3.connect(Path(sys.argv[1], 'floor.db'), isolation_level=None)
connection.execute('PRAGMA journal_mode = WAL')
connection.execute('PRAGMA synchronous = FULL')
connection.execute('CREATE TABLE task (id TEXT PRIMARY KEY, state TEXT) WITHOUT ROWID')


def one(count: int) -> Callable[[], dict[str, Any]]:
    ids = [str(uuid.uuid4()) for _ in range(count)]
    for task_id in ids:
        connection.execute('INSERT INTO task VALUES (?, ?)', (task_id, 'pending'))
        for state in ('active', 'completed'):
            connection.execute('UPDATE task SET state = ? WHERE id = ?', (state, task_id))

    def look() -> dict[str, Any]:
        found = 'SELECT state FROM task WHERE id = ?'
        states = [connection.execute(found, (task_id,)).fetchone()[0] for task_id in ids]
        return {'completed': states.count('completed')}

    return look


serve(lambda: [pragmas(connection)], one=one)
