# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rule that stops the rover before an obstacle. Pure: no ROS, no threads, an injected clock.

- A motion is blocked when its corridor is free for less than ``obstacle_stop_m``, and stays
  blocked until a scan with a view shows at least ``clear_m``: a return at the limit never flaps.
- A blocked motion is stopped and refused. Another motion, whose arc leads past, is allowed.
- Without a view ahead (no scan, no transform, or rays that do not cross the corridor) the rule
  says nothing: the demo's lidar looks up while the mast is stowed, and its rover drives blind.
- A rover that had a view and loses it for ``scan_max_age_s`` is stopped. It starts again with the
  next view; after a scan that arrives without one; or once the scan has no publisher (``forget``).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
import math

from curiosity_rosa_demo.domain.models import obstacle_ahead, VIEW_LOST
from curiosity_rosa_demo.infra.config.thresholds import Thresholds
from curiosity_rosa_demo.infra.obstacles import ObstacleView, TURN_DIRECTIONS


class ViewState(str, Enum):
    """What the adapter knows of the rover's way; ``obstacle_view`` of its status."""

    OFF = 'off'  # obstacle_stop_m is 0
    NO_SCAN = 'no scan'
    NO_TRANSFORM = 'no transform of the scan'
    NO_VIEW = 'no view ahead'
    AHEAD = 'ahead'


class ObstacleStop:
    """The caller holds one lock around all methods. Distances in metres, times in seconds."""

    def __init__(self, thresholds: Thresholds, clock: Callable[[], float]) -> None:
        self._stop_m = thresholds.telemetry.obstacle_stop_m
        self._clear_m = thresholds.obstacles.clear_m
        self._max_age_s = thresholds.obstacles.scan_max_age_s
        self._clock = clock
        self._latest = ViewState.NO_SCAN
        self._scan_at = -math.inf
        self._view_at: float | None = None  # of the newest view; None: no view to lose
        self._free_m: dict[str, float] = {}
        self._blocked: set[str] = set()

    @property
    def enabled(self) -> bool:
        return self._stop_m > 0.0

    @property
    def view(self) -> ViewState:
        if not self.enabled:
            return ViewState.OFF
        silent = self._clock() - self._scan_at > self._max_age_s
        return ViewState.NO_SCAN if silent else self._latest

    @property
    def ahead_m(self) -> float | None:
        """Free metres straight ahead; None without a view or without an obstacle."""
        free_m = self._free_m.get('move_forward', math.inf)
        return free_m if self.view is ViewState.AHEAD and math.isfinite(free_m) else None

    @property
    def free_m(self) -> dict[str, float | None] | None:
        """The free metres of each motion, None for one with nothing in its way; None without a
        view.
        """
        if self.view is not ViewState.AHEAD:
            return None
        return {name: m if math.isfinite(m) else None for name, m in self._free_m.items()}

    @property
    def view_lost(self) -> bool:
        at = self._view_at
        return at is not None and self._clock() - at > self._max_age_s

    def record_scan(self, view: ObstacleView | None) -> None:
        """A scan has arrived. None: its frame has no transform to the base frame."""
        self._scan_at = self._clock()
        if view is None:
            self._latest = ViewState.NO_TRANSFORM
        elif not view.sees_ahead:
            self._latest = ViewState.NO_VIEW
        else:
            self._latest, self._view_at = ViewState.AHEAD, self._scan_at
            self._free_m = dict(view.free_m)
            for motion, free_m in view.free_m.items():
                if free_m < self._stop_m:
                    self._blocked.add(motion)
                elif free_m >= self._clear_m:
                    self._blocked.discard(motion)

    def forget(self) -> None:
        """The scan's publisher is gone: no view to wait for. What is blocked stays blocked."""
        self._view_at = None

    def refusal(self, motion: str) -> str:
        """Why ``motion`` may not start now; empty: it may."""
        if not self.enabled:
            return ''
        if motion in self._blocked:
            return self._obstacle_text(motion)
        if self.view is ViewState.NO_VIEW:
            self._view_at = None  # the rover starts blind, as it always does without a view
        return VIEW_LOST if self.view_lost else ''

    def stop_reason(self, motion: str) -> str:
        """Why the rover, driving ``motion``, must stop; empty: it may go on."""
        if not self.enabled:
            return ''
        if motion in self._blocked:
            return self._obstacle_text(motion)
        return VIEW_LOST if self.view_lost else ''

    def _obstacle_text(self, motion: str) -> str:
        ways_out = [name for name in TURN_DIRECTIONS if name not in self._blocked]
        return obstacle_ahead(self._free_m[motion], ways_out)
