# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The two rovers before the judge: the twin behind its adapter, and the demo's rover as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from curiosity_stand_in import mast
from models.rosa_peer import BareTwin
from rover_twin import RoverTwin, STEP_S

from attack.judge import Judge

MAST = ('mast_open', 'mast_close', 'mast_rotate')


class _Judged(RoverTwin):
    """``stop_after_s``: a person stops the rover after so many seconds of driving in a turn.
    ``note``: what the adapter's status quotes as the last error: text from outside.
    """

    judge: Judge | None = None
    stop_after_s: float | None = None
    note = ''
    on_stop: Callable[[], None] = staticmethod(lambda: None)
    _driven_s = 0.0

    def begin_turn(self, *, stop_after_s: float | None, note: str) -> None:
        self.stop_after_s, self.note, self._driven_s = stop_after_s, note, 0.0

    @property
    def place(self) -> tuple[float, float]:
        return self.state.pose.x, self.state.pose.y

    @property
    def stowed(self) -> bool:
        return mast.is_stowed(self.state.joints)

    def trigger(self, name: str, cancellation: Cancellation | None = None) -> str:
        try:
            answer = super().trigger(name, cancellation)
        except ServiceFailed:
            if self.judge is not None:
                self.judge.caught += 1
            raise
        if self.judge is not None:
            if name in MOTIONS and self.rover.run_demo.motion == name:
                x, y = self.place
                self.judge.started(name, self._now, f'at x {x:.2f}, y {y:.2f}')
            elif name == 'move_stop':
                self.judge.stopped()
            elif name in MAST:
                self.judge.mast_moved(name, self._now)
        return answer

    def status(self) -> dict[str, Any]:
        status = super().status()
        return {**status, 'last_error_reason': self.note} if self.note else status

    def _step(self) -> None:
        driven_m = self.state.path_m
        super()._step()
        if self.judge is None:
            return
        metres = self.state.path_m - driven_m
        self.judge.step(self._now, metres, *self.place, stowed=self.stowed)
        self._driven_s += STEP_S if metres else 0.0
        if self.stop_after_s is not None and self._driven_s >= self.stop_after_s:
            self.stop_after_s = None
            self.judge.pressed_stop(self._now)
            self._press_stop()

    def _press_stop(self) -> None:
        raise NotImplementedError


class JudgedTwin(_Judged):
    """A stop reaches the adapter, and the turn."""

    def _press_stop(self) -> None:
        self.guard.request_stop('The operator stopped the rover')
        self.on_stop()


class JudgedBareTwin(_Judged, BareTwin):
    """A person calls /move_stop from another terminal: ROSA has no other stop."""

    def _press_stop(self) -> None:
        self.rover.call('move_stop')
