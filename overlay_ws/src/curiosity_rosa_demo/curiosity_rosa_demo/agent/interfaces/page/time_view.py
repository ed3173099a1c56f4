# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which story and which time of it one page shows: what the scrubber needs, and its requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from curiosity_rosa_demo.agent.interfaces.page.drawings import DrawingCache
from curiosity_rosa_demo.agent.interfaces.page.history import MAX_MARKS
from curiosity_rosa_demo.agent.interfaces.page.past_view import (
    RecordingLibrary,
    RecordingNotShown,
    Story,
)
from curiosity_rosa_demo.agent.interfaces.page.status_rows import PanelData
from curiosity_rosa_demo.agent.interfaces.page.view_model import PageSnapshot
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from curiosity_rosa_demo.trace.reporter import finite_float

# --- The time that one page shows: now, or an earlier one, which may move on. Pure -------------


SPEEDS = (1.0, 2.0, 5.0, 10.0)


@dataclass
class TimeCursor:
    """``at``: seconds since the epoch; None: now. ``speed``: in seconds a second, while it is
    ``playing``.
    """

    at: float | None = None
    playing: bool = False
    speed: float = SPEEDS[0]
    _advanced: float = 0.0  # steady seconds

    def show(self, at: object, start: float | None, end: float) -> None:
        """Show the time ``at``, or the nearest that is known."""
        wanted = finite_float(at)
        if wanted is not None and start is not None:
            self.at = min(max(wanted, start), max(start, end))

    def play(self, clock: float) -> None:
        self.playing, self._advanced = self.at is not None, clock

    def pause(self) -> None:
        self.playing = False

    def set_speed(self, speed: object) -> None:
        """One of SPEEDS; a browser may send any value."""
        if speed in SPEEDS:
            self.speed = float(speed)

    def show_live(self) -> None:
        self.at, self.playing = None, False

    def advance(self, clock: float, end: float, *, becomes_live: bool) -> None:
        """Move on to the time of ``clock``. At ``end`` it is live again, or it pauses there."""
        if self.at is None or not self.playing:
            return
        self.at += self.speed * max(0.0, clock - self._advanced)
        self._advanced = clock
        if self.at < end:
            return
        self.at, self.playing = end, False
        if becomes_live:
            self.show_live()


class TimeView:
    """Of one page; looking back changes nothing for the others. Use it in the page's loop."""

    def __init__(
        self, live_story: Story, library: RecordingLibrary, drawings: DrawingCache
    ) -> None:
        self._live_story, self._library, self._drawings = live_story, library, drawings
        self._story, self._cursor = live_story, TimeCursor()
        self._recordings = library.names()
        self._problem = ''
        self._asked = ''  # the story that the person chose last; reading it takes time

    @property
    def story_name(self) -> str:
        """The recording that is shown; '': this robot, live or not."""
        return self._story.name

    def refusal(self) -> str:
        """Why this page sends nothing but a stop to the rover; '': it shows the live rover."""
        if self._cursor.at is None:
            return ''
        return 'Not sent: this page looks back. Press L for the live view, then try again.'

    def events(self) -> Sequence[TraceEvent]:
        """All events of the story that is shown."""
        return self._story.events()

    def shown(self, live: PageSnapshot) -> PageSnapshot:
        """``live``, or what was shown at the time that this page looks at."""
        is_live = self._story is self._live_story
        end = live.now if is_live else self._story.history.end
        self._cursor.advance(live.clock, end, becomes_live=is_live)
        if self._cursor.at is None:
            return live
        return self._story.snapshot(self._cursor.at, live, self._drawings)

    def facts(self) -> PanelData:
        """What the scrubber shows. ``end`` None: now, which moves on."""
        history, cursor = self._story.history, self._cursor
        recorded = self._story is not self._live_story
        return {
            'start': history.start,
            'end': history.end if recorded else None,
            'at': cursor.at,
            'playing': cursor.playing,
            'speed': cursor.speed,
            'speeds': list(SPEEDS),
            'recording': self._story.name,
            'recordings': self._recordings,
            'reading': self._asked if self._asked != self._story.name else '',
            'problem': self._problem,
            'note': self._story.note,
            'marks': history.marks.newest(MAX_MARKS),
        }

    async def act(self, given: Mapping[str, Any], live: PageSnapshot) -> None:
        """``given``: act (show, play, pause, speed, live, recording or recordings), and at, speed
        or name. A browser may send any value; what has no meaning changes nothing.
        """
        act, cursor, history = given.get('act'), self._cursor, self._story.history
        self._problem = ''
        if act == 'show':
            end = live.now if self._story is self._live_story else history.end
            cursor.show(given.get('at'), history.start, end)
        elif act == 'play':
            cursor.play(live.clock)
        elif act == 'pause':
            cursor.pause()
        elif act == 'speed':
            cursor.set_speed(given.get('speed'))
        elif act == 'live':
            self._show_live()
        elif act == 'recordings':
            self._recordings = self._library.names()
        elif act == 'recording':
            await self._open(str(given.get('name', '')))

    def _show_live(self) -> None:
        self._asked, self._story = '', self._live_story
        self._cursor.show_live()

    async def _open(self, name: str) -> None:
        if not name:
            self._show_live()
            return
        self._asked = name
        try:
            story = await run_in_thread('recording-reader', partial(self._library.open, name))
        except RecordingNotShown as error:
            if self._asked == name:
                self._problem, self._asked = str(error), self._story.name
            return
        if self._asked != name:
            return  # the person has chosen another one, or the live view, meanwhile
        self._story, history = story, story.history
        self._cursor.pause()
        self._cursor.show(history.start, history.start, history.end)
