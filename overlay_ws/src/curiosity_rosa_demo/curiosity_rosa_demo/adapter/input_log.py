# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The inputs of the adapter's rules, as they were taken, and what each of them led to. Pure.

A recording that holds this log can be replayed into the rules: the same calls at the same times
have the same results. Entries are numbered from 0, the start of the adapter. A reader sees by the
numbers which of them are missing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
import json
from typing import Any

PERIOD_S = 0.5  # between two messages
HISTORY = 240  # messages for a late subscriber: two minutes
MAX_ENTRIES = 5000  # that wait for a message; the oldest are dropped


@dataclass(frozen=True)
class LogEntry:
    """A call of the rules. ``at``: steady seconds. ``ros_ns``: simulated time; None without it.
    ``result``: None, a number, a truth value, or an object, such as the reason of a refusal.
    """

    at: float
    ros_ns: int | None
    name: str
    arguments: Sequence[Any] = ()
    result: Any = None


@dataclass(frozen=True)
class LogBatch:
    """Consecutive entries. ``first``: the number of the first. ``offset_s``: seconds that the
    clock of the machine, since the epoch, is ahead of the steady clock.
    """

    first: int
    offset_s: float
    entries: Sequence[LogEntry]


@dataclass
class InputLog:
    """Keeps the entries until they are taken. The caller holds one lock around both methods."""

    _waiting: deque[LogEntry] = field(default_factory=lambda: deque(maxlen=MAX_ENTRIES))
    _count: int = 0

    def add(self, entry: LogEntry) -> None:
        self._waiting.append(entry)
        self._count += 1

    def take(self, offset_s: float) -> LogBatch | None:
        """The waiting entries, each once; None without any."""
        entries = list(self._waiting)
        self._waiting.clear()
        return LogBatch(self._count - len(entries), offset_s, entries) if entries else None


def encode_batch(batch: LogBatch) -> str:
    """As JSON of Python, with NaN and Infinity: what a sensor says is an input, too."""
    entries = [
        [each.at, each.ros_ns, each.name, *_without_rest(each.arguments, each.result)]
        for each in batch.entries
    ]
    content = {'first': batch.first, 'offset_s': batch.offset_s, 'entries': entries}
    return json.dumps(content, separators=(',', ':'))


def _without_rest(arguments: Sequence[Any], result: Any) -> list[Any]:
    if result is not None:
        return [list(arguments), result]
    return [list(arguments)] if arguments else []


def decode_batch(text: str) -> LogBatch | None:
    """None for a text that is no batch, or that a replay has published."""
    try:
        content = json.loads(text)
        if content.get('replay'):
            return None
        entries = [_entry(each) for each in content['entries']]
        batch = LogBatch(content['first'], content['offset_s'], entries)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    fits = type(batch.first) is int and isinstance(batch.offset_s, float)
    return batch if fits and batch.first >= 0 else None


def _entry(fields: list[Any]) -> LogEntry:
    """Raises TypeError or ValueError if ``fields`` are not those of an entry."""
    at, ros_ns, name = fields[:3]
    arguments = fields[3] if len(fields) > 3 else []
    result = fields[4] if len(fields) > 4 else None
    is_entry = type(at) is float and isinstance(name, str) and isinstance(arguments, list)
    if not is_entry or not (ros_ns is None or type(ros_ns) is int):
        raise TypeError('not an entry')
    return LogEntry(at, ros_ns, name, arguments, result)
