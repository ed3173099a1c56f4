# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The lines that people typed on the page, with their replies, and what came of its buttons. All
open pages show them, also those that open later. Use it in the page's loop only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
import time

from curiosity_rosa_demo.domain.text import clip

MAX_TALK_LINES = 50  # the newest
MAX_TALK_CHARS = 10_000  # characters of a line, and of a reply
MAX_TOKEN_CHARS = 40


@dataclass
class TalkLine:
    """``token``: the name that the page gave the line; '': none. ``at``: seconds since the epoch.
    ``by``: the name of the person; '': unknown. ``words``: the reply; '': none yet. ``task``: the
    ID of the task that the line became; '': of none.
    """

    id: int
    token: str
    at: float
    text: str
    by: str = ''
    words: str = ''
    ok: bool = True
    task: str = ''


class TalkLines:
    """Keeps the last MAX_TALK_LINES."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lines: deque[TalkLine] = deque(maxlen=MAX_TALK_LINES)
        self._count = 0

    def add(self, text: str, by: str = '', token: object = '') -> TalkLine:
        """A line that was typed. A ``token`` that another line has, or that no page makes, is
        dropped: a browser may send any value.
        """
        known = {line.token for line in self._lines}
        if not isinstance(token, str) or len(token) > MAX_TOKEN_CHARS or token in known:
            token = ''
        return self._append(token, _clipped(text), by)

    def add_result(self, ok: bool, words: str) -> None:
        """What came of a button."""
        line = self._append('', '', '')
        line.ok, line.words = ok, _clipped(words)

    def reply(self, line: TalkLine, ok: bool, words: str, task: str = '') -> None:
        line.ok, line.words, line.task = ok, _clipped(words), task

    def rows(self) -> list[dict[str, object]]:
        """The oldest first."""
        return [asdict(line) for line in self._lines]

    def _append(self, token: str, text: str, by: str) -> TalkLine:
        self._count += 1
        line = TalkLine(self._count, token, self._clock(), text, by)
        self._lines.append(line)
        return line


def _clipped(text: str) -> str:
    return clip(text, MAX_TALK_CHARS, ending='…')
