# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The request loop of every contender: reads a line ``WAY COUNT``, answers with a line of JSON."""

from __future__ import annotations

from collections.abc import Callable
import json
import sys
import time
from typing import Any

# Does the timed work. Returns a function, not timed, that reads the results.
Way = Callable[[int], Callable[[], dict[str, Any]]]


def serve(durability: Callable[[], list[tuple[str, int]]], **ways: Way) -> None:
    """Serve until stdin ends. ``durability``: journal_mode and synchronous of each connection."""
    _answer(ready=True)
    for line in sys.stdin:
        name, count = line.split()
        if name == 'durability':
            _answer(connections=durability())
            continue
        began = time.perf_counter()
        read_results = ways[name](int(count))
        seconds = time.perf_counter() - began
        _answer(seconds=seconds, **read_results())


def _answer(**values: Any) -> None:
    print(json.dumps(values), flush=True)


def pragmas(connection: Any) -> tuple[str, int]:
    """journal_mode and synchronous of the connection, as SQLite reports them."""
    (journal,) = connection.execute('PRAGMA journal_mode').fetchone()
    (synchronous,) = connection.execute('PRAGMA synchronous').fetchone()
    return journal, synchronous
