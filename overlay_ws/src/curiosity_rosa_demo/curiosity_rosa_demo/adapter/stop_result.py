# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a stop has achieved: its answer, and a motion that it does not end. Pure."""

from __future__ import annotations

from collections.abc import Callable

from curiosity_rosa_demo.adapter.stop import Odometry
from curiosity_rosa_demo.domain.models import STOP_NOT_CONFIRMED
from curiosity_rosa_demo.infra.config.thresholds import MotionConfig


def motion_text(speed: float, wheels_stand: bool | None) -> str:
    """What moves after a stop, the body alone or the wheels; metres per second. ``wheels_stand``:
    None if joint states do not show it.
    """
    if wheels_stand is None:
        return f'still moving at {speed:.2f} m/s'
    if wheels_stand:
        return f'the wheels stand, the body still moves at {speed:.2f} m/s'
    return f'the wheels still turn, the rover moves at {speed:.2f} m/s'


def violation_text(moves: str, wheels_stand: bool | None, drivers: str | None) -> str:
    """The alarm for a motion that a stop does not end. ``moves``: the motion_text. ``drivers``:
    the names of foreign nodes that publish Twists, or ''; None: nobody has looked.
    """
    seen = [] if wheels_stand is None else [moves]
    if drivers:
        seen.append(f'Twists are also published by {drivers}')
    elif drivers is not None and not wheels_stand:
        seen.append('no other driver')
    details = f' ({"; ".join(seen)})' if seen else ''
    return f'The rover moves on although it was stopped{details}'


def unconfirmed_stop(odometry: Odometry | None, failure: str, wheels_stand: bool | None) -> str:
    """The answer of a stop without confirmed standstill. ``odometry`` is None unless it is fresh;
    ``failure`` is the reason why the call failed, or ''; ``wheels_stand`` as in motion_text.
    """
    if odometry is None:
        seen = 'no odometry'
    elif not odometry.still:
        seen = motion_text(odometry.speed, wheels_stand)
    else:
        seen = '' if failure else 'the rover has not stood still for long enough'
    return f'{STOP_NOT_CONFIRMED}: {"; ".join(filter(None, (seen, failure)))}'


class Runaway:
    """Detects that the rover still moves when a stop should have ended its motion. Zero Twists can
    make single readings report standstill; only settle_s without motion begins a new one. Both
    times are stretched in a slow simulation, whose rover brakes and reports more slowly. A body
    that settles begins the bound anew: zero Twists follow only when it goes on.
    """

    def __init__(
        self, config: MotionConfig, stretched: Callable[[float], float] = lambda seconds: seconds
    ) -> None:
        """``stretched``: the steady seconds in which that many simulated seconds pass."""
        self._stretched = stretched
        self._bound_s = config.stop_timeout_s + config.settle_s
        self._gap_s = config.settle_s
        self._since: float | None = None  # begin of the motion, or of the stop if later
        self._moved_at = 0.0

    def begin(self, now: float) -> None:
        """A stop was requested. A repeated request does not extend the bound."""
        if self._since is None:
            self._since = self._moved_at = now

    def end(self) -> None:
        """The rover stands still."""
        self._since = None

    def detected(self, odometry: Odometry | None, *, settles: bool = False) -> bool:
        """Whether this reading, the newest since ``begin``, shows a motion beyond the bound.
        ``settles``: of a body that settles on standing wheels.
        """
        if odometry is None or self._since is None or odometry.still:
            return False
        if settles:
            self._since = self._moved_at = odometry.at
            return False
        if odometry.at - self._moved_at >= self._stretched(self._gap_s):
            self._since = odometry.at
        self._moved_at = odometry.at
        return odometry.at - self._since >= self._stretched(self._bound_s)
