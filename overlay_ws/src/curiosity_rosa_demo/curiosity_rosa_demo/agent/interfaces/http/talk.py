# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The lines that people typed on the pages, with their replies. All open pages show them, also
those that open later. Use it in the server's loop only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
import time

from curiosity_rosa_demo.agent.kernel.hear import Reply
from curiosity_rosa_demo.agent.tasks.task import TaskError
from curiosity_rosa_demo.domain.origin import operator_name
from curiosity_rosa_demo.domain.text import clip

MAX_TALK_LINES = 50  # the newest
MAX_TALK_CHARS = 10_000  # characters of a line, and of a reply


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

    def add(self, text: str, by: str = '', token: str = '') -> TalkLine:
        """A line that was typed. A ``token`` that another line has is dropped."""
        if any(line.token == token for line in self._lines):
            token = ''
        self._count += 1
        text = clip(text, MAX_TALK_CHARS, ending='…')
        line = TalkLine(self._count, token, self._clock(), text, operator_name(by))
        self._lines.append(line)
        return line

    def reply(self, line: TalkLine, ok: bool, words: str, task: str = '') -> None:
        line.ok, line.words, line.task = ok, clip(words, MAX_TALK_CHARS, ending='…'), task

    async def told(self, saying: Awaitable[Reply], text: str, by: str, token: str) -> Reply:
        """What ``saying`` returns, with the line and its reply among the others."""
        line = self.add(text, by, token)
        try:
            result = await saying
        except TaskError as error:
            self.reply(line, False, str(error))
            raise
        except Exception:
            self.reply(line, False, 'It failed inside; the log of the agent says more.')
            raise
        task = '' if result.task is None else result.task.id
        words = result.text or (f'task {task[:8]}' if task else 'done')
        self.reply(line, result.ok, words, task)
        return result

    def rows(self) -> list[dict[str, object]]:
        """The oldest first."""
        return [asdict(line) for line in self._lines]
