# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a page showed, by time: the changes of its document, the lines of the trace and the trail.

Bounded and pure. The document is stored as merge patches, as JSON; each block of them begins with
the whole document, so that a view of any time reads one block.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
import json
import math
from pathlib import Path
from typing import Any, Generic, TypeVar

from curiosity_rosa_demo.agent.interfaces.page.document import (
    Document,
    patch_of,
    patched,
    trail_shown,
)
from curiosity_rosa_demo.domain.geometry import XY
from curiosity_rosa_demo.trace.jsonl_log import JsonLines

BLOCK_CHANGES = 64
MAX_BYTES = 16_000_000  # of all changes; about seven hours of a rover that drives
MAX_KEPT_LINES = 5000  # of the trace
MAX_KEPT_PLACES = 50_000  # of the trail
MAX_STARTS = 100
MAX_MARKS = 500
FORMAT = 3  # of the document; of another one, a panel could not show it

T = TypeVar('T')


class TimedList(Generic[T]):
    """Items with their times, which never decrease: an earlier time, of a clock that was set back,
    counts as the last one. The oldest beyond ``most`` are dropped.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._times: list[float] = []
        self._items: list[T] = []
        self.total = 0  # also of the dropped ones; the last item has this number

    def add(self, at: float, item: T) -> None:
        self._times.append(max([at, *self._times[-1:]]))
        self._items.append(item)
        self.total += 1
        if len(self._items) > self._most + self._most // 8:  # seldom, for it copies
            self._times, self._items = self._times[-self._most :], self._items[-self._most :]

    def count_until(self, at: float) -> int:
        """The number of the newest item at ``at``."""
        return self.total - len(self._items) + bisect_right(self._times, at)

    def newest(self, most: int, until: int | None = None) -> tuple[T, ...]:
        """At most ``most`` items, the last of them with the number ``until``."""
        end = len(self._items) - (0 if until is None else self.total - until)
        return tuple(self._items[max(0, end - most) : max(0, end)])

    @property
    def start(self) -> float | None:
        return self._times[0] if self._times else None

    @property
    def end(self) -> float:
        return self._times[-1] if self._times else float('-inf')


@dataclass
class _Block:
    at: float
    base: str  # the document at ``at``
    times: list[float] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    size: int = 0


class History:
    """Use it in one thread. Times are seconds since the epoch; as of TimedList."""

    def __init__(self, *, max_bytes: int = MAX_BYTES, max_lines: int = MAX_KEPT_LINES) -> None:
        self.lines: TimedList[str] = TimedList(max_lines)  # as JSON
        self.starts: deque[float] = deque(maxlen=MAX_STARTS)  # of the agent
        # Times that a person looks for: error, capture, question or restart.
        self.marks: TimedList[tuple[float, str]] = TimedList(MAX_MARKS)
        self._places: TimedList[XY | None] = TimedList(MAX_KEPT_PLACES)  # None: a new trail
        self._max_bytes, self._size = max_bytes, 0
        self._blocks: deque[_Block] = deque()
        self._last: Document = {}
        self._last_at = float('-inf')
        self._begins_block = False
        self._last_place: XY | None = None
        self.unreadable = 0  # lines of the files that were left out

    @property
    def start(self) -> float | None:
        """The earliest time that can be viewed; None: nothing is recorded."""
        first = self._blocks[0].at if self._blocks else None
        known = [each for each in (self.lines.start, first) if each is not None]
        return min(known, default=None)

    @property
    def end(self) -> float:
        """The latest time that differs from the one before."""
        return max(self._last_at, self.lines.end)

    def facts(self, note: str, *, ended: bool = False) -> Document:
        """What a scrubber shows. ``ended``: nothing is recorded any more; else its end is now."""
        return {
            'start': self.start,
            'end': self.end if ended else None,
            'marks': self.marks.newest(MAX_MARKS),
            'note': note,
        }

    def record(self, at: float, document: Document) -> str:
        """Record what has changed since the last call, as a line for ``restore``; '': nothing.
        ``document``: without nulls.
        """
        known, at = self._last, self._time(at)
        patch = patch_of(known, document)
        if 'captures' in known and _captures(document).keys() - _captures(known).keys():
            self._mark(at, 'capture')  # its picture is there, too
        self._last = document
        if not patch:
            return ''
        full = not self._blocks or len(self._blocks[-1].changes) >= BLOCK_CHANGES
        if full or self._begins_block:
            self._begins_block = False
            line = _encoded({'at': at, 'format': FORMAT, 'all': document})
            self._add_block(at, line)
            return line
        line = _encoded({'at': at, 'patch': patch})
        block = self._blocks[-1]
        block.times.append(at)
        block.changes.append(line)
        self._grow(block, len(line))
        return line

    def record_start(self, at: float) -> str:
        """The agent starts. Returns a line for ``restore``."""
        self.starts.append(at)
        self.begin_block()  # the end of the file before may be torn
        return _encoded({'at': at, 'started': True})

    def begin_block(self) -> None:
        """What was recorded may be lost to the file: the next line must not build on it."""
        self._begins_block = True

    def record_trail(self, at: float, trail: Sequence[XY]) -> str:
        """Record the places at the end of ``trail`` that are new. Returns as ``record``."""
        new = _new_places(trail, self._last_place)
        if not new:
            return ''
        self._add_places(at, new)
        return _encoded({'at': at, 'places': new})

    def add_line(self, at: float, line: str, mark: str = '') -> None:
        """A line of the trace, as JSON. ``mark``: what it is on the scrubber; '': nothing."""
        self.lines.add(at, line)
        if mark:
            self._mark(self.lines.end, mark)

    def restore(self, stored: Iterable[str], now: float) -> None:
        """Take over the lines of an earlier History, before anything else is recorded. Leaves out
        what cannot be read, what is later than ``now``, and changes whose beginning is lost.
        """
        document: Document | None = None
        for line in stored:
            try:
                entry = json.loads(line)
                at = float(entry['at'])
                if not 0.0 <= at <= now:  # or NaN: every later view would have this time
                    raise ValueError(at)
                if 'started' in entry:
                    self.record_start(at)
                elif 'places' in entry:
                    self._add_places(at, [each and _place(*each) for each in entry['places']])
                else:
                    document = _restored(entry, document)
                    self.record(at, document)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                self.unreadable += 1

    def view(self, at: float, pictures: Collection[str]) -> Document:
        """The document that was shown at ``at``, with the trail; {} before the first change.
        ``pictures``: the IDs of the captures that are kept; the others are left out.
        """
        places = self._places.newest(MAX_KEPT_PLACES, self._places.count_until(at))
        document = self._document(at)
        captures = _captures(document)
        kept = {each: facts for each, facts in captures.items() if each in pictures}
        return {**document, 'captures': kept, 'trail': trail_shown(_since_reset(places))}

    def _document(self, at: float) -> Document:
        block = next((each for each in reversed(self._blocks) if each.at <= at), None)
        if block is None:
            return {}
        document: Document = json.loads(block.base)['all']
        for line in block.changes[: bisect_right(block.times, at)]:
            document = patched(document, json.loads(line)['patch'])
        return document

    def _time(self, at: float) -> float:
        self._last_at = max(self._last_at, at)
        return self._last_at

    def _mark(self, at: float, kind: str) -> None:
        """Rounded up, so that what is marked is there at the time of the mark."""
        self.marks.add(at, (math.ceil(at * 1000.0) / 1000.0, kind))

    def _add_block(self, at: float, line: str) -> None:
        self._blocks.append(_Block(at, line))
        self._grow(self._blocks[-1], len(line))

    def _grow(self, block: _Block, size: int) -> None:
        block.size += size
        self._size += size
        while self._size > self._max_bytes and len(self._blocks) > 1:
            self._size -= self._blocks.popleft().size

    def _add_places(self, at: float, places: Iterable[XY | None]) -> None:
        for place in places:
            self._places.add(at, place)
            self._last_place = place


def unreadable_text(lines: int) -> str:
    """What is lost of the history of earlier agents; '': nothing."""
    what = f'{lines} lines' if lines > 1 else 'One line'
    return f'{what} of the history could not be read and is left out.' if lines else ''


def _captures(document: Document) -> Document:
    found = document.get('captures')
    return found if isinstance(found, dict) else {}


def _restored(entry: Mapping[str, Any], before: Document | None) -> Document:
    """The document after ``entry``. Raises ValueError, TypeError, KeyError and AttributeError."""
    if 'all' not in entry:
        if before is None:
            raise ValueError('changes of what is lost')
        return patched(before, entry['patch'])
    if entry['format'] != FORMAT:
        raise ValueError(entry['format'])
    return patched({}, entry['all'])


def _place(x: Any, y: Any) -> XY:
    """Raises ValueError and TypeError."""
    if not math.isfinite(float(x) + float(y)):
        raise ValueError((x, y))
    return float(x), float(y)


def _new_places(trail: Sequence[XY], last: XY | None) -> list[XY | None]:
    """What follows ``last`` in ``trail``; all of it, after None, if ``last`` is not there."""
    new: list[XY | None] = []
    for x, y in reversed(trail):
        place = round(x, 3), round(y, 3)  # as the file of the trail has them
        if place == last:
            return new[::-1]
        new.append(place)
    return [None, *new[::-1]] if new else []


def _since_reset(places: Sequence[XY | None]) -> list[XY]:
    start = next((i + 1 for i in range(len(places) - 1, -1, -1) if places[i] is None), 0)
    return [place for place in places[start:] if place is not None]


def _encoded(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, separators=(',', ':'), default=str)


# --- The file in which a History outlives its agent --------------------------------------------


FILES = 2  # the file and the one before


class HistoryFile(JsonLines):
    def __init__(self, path: Path) -> None:
        super().__init__(path, max_bytes=MAX_BYTES // FILES, max_files=FILES)

    def restore(self, history: History, now: float) -> None:
        """What cannot be read is left out; ``history`` counts its lines."""
        for path in (Path(f'{self.path}.1'), self.path):
            try:
                text = path.read_text(encoding='utf-8', errors='replace')
            except OSError:
                continue
            history.restore(filter(None, text.split('\n')), now)
