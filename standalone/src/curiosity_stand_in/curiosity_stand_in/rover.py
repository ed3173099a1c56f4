# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The body under a lock, on scaled time: the stand-in's rover."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import threading
from typing import Any

from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_stand_in.body import Body, State
from curiosity_stand_in.parts import Part, Waypoints

# Times the wall clock. The distance that the rover covers during the latency of a stop grows with
# it: at 20 and 0.5 m/s (move_forward), a tenth of a second is a metre.
FASTEST_DRIVE = 20.0


class Rover:
    """Thread-safe. ``clock`` is steady wall time in seconds; the body's time starts at 0 and runs
    ``time_scale`` times as fast, while the body moves at most ``FASTEST_DRIVE`` times.
    ``start``: further arguments of the body.
    """

    def __init__(
        self,
        thresholds: Thresholds,
        clock: Callable[[], float],
        *,
        time_scale: float = 1.0,
        **start: Any,
    ) -> None:
        self._clock = clock
        self._time_scale = time_scale
        self._lock = threading.Lock()
        self._read_at = clock()
        self._now = 0.0
        self._body = Body(thresholds, lambda: self._now, **start)

    @contextmanager
    def body(self) -> Iterator[Body]:
        """The body, for one command or one look."""
        with self._lock:
            self._advance()
            yield self._body

    def state(self) -> State:
        with self.body() as body:
            return body.state()

    def move(self, part: Part, waypoints: Waypoints) -> None:
        with self.body() as body:
            body.move(part, waypoints)

    def _advance(self) -> None:
        read_at = max(self._read_at, self._clock())
        wall, self._read_at = read_at - self._read_at, read_at
        slow = min(self._time_scale, FASTEST_DRIVE)
        moving = min(wall, max(0.0, self._body.moves_until - self._now) / slow)
        self._now += moving * slow + (wall - moving) * self._time_scale
