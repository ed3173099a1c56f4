# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The time that one page shows: now, or an earlier one, which may move on. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.trace.reporter import finite_float

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
