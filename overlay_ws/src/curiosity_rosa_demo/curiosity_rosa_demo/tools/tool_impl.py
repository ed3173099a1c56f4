# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One call of a rover tool, for a model or for a console command; agent/react/world.py calls it,
after the gate.

A motion tool starts the motion, waits for its duration, stops it, waits for standstill, and
reports the distance covered. In a slow simulation it does so in several legs.
"""

from __future__ import annotations

from contextlib import suppress
import math
import time
from typing import Any

from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.models import (
    MAST_IS_CLOSED,
    MAST_IS_NOT_RAISED,
    RoverPose,
    ToolResult,
)
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import ANALYZE, CAPTURE, MOTIONS
from curiosity_rosa_demo.infra.clocks import SimulationClock
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from curiosity_rosa_demo.tools.rover_client import answered_failure, RoverClient
from pydantic import ValidationError

POSE_PERIOD_S = 0.05
STRIDE_M = 0.3  # noise of 5 cm makes 10 m 4 % longer, and 3.7 times as long without strides
CLOCK_PERIOD_S = 0.02
STATUS_PERIOD_S = 0.5
STANDSTILL_TIMEOUT_S = 5.0
SHORTEST_LEG_S = 1e-3
LINK_TIMEOUT_S, LINK_RETRY_S = 5.0, 0.2  # while the adapter misses the agent's heartbeat
LEASH_SHARE = 0.8  # of the leash for one leg: the real-time factor may fall meanwhile


class ToolRun:
    """One run of one tool; the caller ensures that only one runs at a time. Of a motion: its legs,
    and how far it came.
    """

    def __init__(
        self,
        client: RoverClient,
        config: Config,
        ros_clock: Any,
        name: str,
        cancellation: Cancellation,
    ) -> None:
        self._client, self._config, self._ros_clock = client, config, ros_clock
        self._name, self._cancellation = name, cancellation
        self._motion = config.thresholds.motion
        self._clock = SimulationClock(ros_clock, self._motion)
        self._path = DrivenPath()
        self._driven_s = 0.0
        self._free_m: object = None  # where it ended, as the adapter's status has it
        self._has_begun = False  # a motion, or it may have; the budget is charged

    def driven_m(self, max_speed_mps: float) -> float:
        """As measured so far; without a measurement, the longest that it may have driven."""
        measured = self._path.length
        return self._driven_s * max_speed_mps if measured is None else measured

    def result(self, **arguments: Any) -> ToolResult:
        """Raises TurnCancelled; the result reports every other failure."""
        self._cancellation.check()
        cost = {'cost': self._config.tool_costs.of(self._name)}
        try:
            data = self._answer(**arguments)
        except ServiceFailed as failed:
            failure = failed
        except Exception as error:
            text = f'Internal error in {self._name}: {error!r}'
            failure = ServiceFailed(text, RefusalCode.INTERNAL_ERROR.value)
        else:
            try:
                return ToolResult(ok=True, data={**data, **cost})
            except ValidationError as error:
                why = error.errors()[0]['msg']
                failure = ServiceFailed(f'{self._name} answered what JSON cannot carry: {why}')
        self._cancellation.check()  # report a stop, not the error that it caused
        reason = str(failure).strip() or f'{self._name} failed without a reason'
        data = {**(self._driven() if self._has_begun else {}), **failure.facts, **cost}
        return ToolResult(ok=False, error_reason=reason, error_code=failure.code, data=data)

    def _answer(self, **arguments: Any) -> dict[str, Any]:
        if self._name in MOTIONS:
            self._drive(**arguments)
            return self._driven()
        if self._name == CAPTURE:
            return self._capture()
        if self._name == ANALYZE:
            return self._client.analyze_ground()
        if self._name == 'get_status':
            return self._status()
        self._when_heard()
        return {}

    def _capture(self) -> dict[str, Any]:
        if self._config.thresholds.capture.require_open_mast:
            status = self._client.status()
            is_open = status.get('mast_is_open')
            if is_open is False:
                raise ServiceFailed(MAST_IS_CLOSED, RefusalCode.MAST_IS_CLOSED.value)
            # Joint states that show a raised mast would have made it known.
            if is_open is None and status.get('mast_yaw_rad') is not None:
                raise ServiceFailed(MAST_IS_NOT_RAISED, RefusalCode.MAST_IS_CLOSED.value)
        taken, pose = self._client.capture(), self._client.pose()
        return {**taken, **(vars(pose.place) if pose else {})}

    def _status(self) -> dict[str, Any]:
        """The adapter's; ``stow``: the skill that stows the first part which is out."""
        status = self._client.status()
        postures = status.get('appendages') or {}
        for name, part in self._config.robot.appendages.items():
            if postures.get(name, 'stowed') != 'stowed':
                return {**status, 'stow': part.stow_command}
        return status

    def _drive(self, duration_s: float) -> None:
        """Raises TurnCancelled, and ServiceFailed when it ended early or a stop failed."""
        # Nothing but the leash could end a motion while the time of motions does not advance.
        while not self._clock.now().has_advanced:
            if why := self._clock.now().problem:
                raise ServiceFailed(why)
            self._cancellation.sleep(CLOCK_PERIOD_S)
        self._path.add(self._client.pose())
        left_s = duration_s
        while left_s >= SHORTEST_LEG_S or not self._has_begun:  # less is a rounding error
            self._leg(left_s / max(1, math.ceil(left_s / self._longest_leg_s())))
            left_s = duration_s - self._driven_s

    def _driven(self) -> dict[str, Any]:
        end = self._path.last
        return {
            'duration_s': self._driven_s,
            'distance_m': self._path.length,
            **(vars(end) if end else dict.fromkeys(('x', 'y', 'yaw_rad'))),
            **({} if self._free_m is None else {'free_m': self._free_m}),
        }

    def _longest_leg_s(self) -> float:
        """The longest motion that the leash allows, in simulated seconds. The leash ends by steady
        time, so a slow simulation drives a long motion in several legs, with a stop after each.
        """
        stretch = self._client.simulation.now().stretched(1.0)
        return LEASH_SHARE * self._motion.max_duration_s / stretch if stretch > 1.0 else math.inf

    def _leg(self, duration_s: float) -> None:
        """Start, wait, stop, and wait for standstill. Raises like ``_drive``."""
        asked_s = self._seconds()
        try:
            self._when_heard()
        except ServiceFailed as failure:
            if failure.code != RefusalCode.NO_ANSWER:
                raise _ended_early(failure) if self._has_begun else failure from None
            with suppress(ServiceFailed):  # it may have begun, or may begin
                self._stop()
            self._cut_short(asked_s)
            raise
        self._has_begun, begun_s = True, self._seconds()
        try:
            try:
                early = self._travel(duration_s)
            finally:  # stop the rover before any error of the wait propagates
                self._stop()
            self._wait_until_still()
            if early is not None:
                raise early
        except Exception:
            self._cut_short(begun_s)
            raise
        self._driven_s += duration_s

    def _cut_short(self, since_s: float) -> None:
        """Count what came of a leg. Raises TurnCancelled: a stop, not the error that it caused."""
        self._has_begun = True
        self._driven_s += max(0.0, self._seconds() - since_s)
        self._cancellation.check()
        self._path.add(self._client.pose())

    def _travel(self, duration_s: float) -> ServiceFailed | None:
        """Wait for the motion's duration. Why it ended early, else None.

        Simulated time measures the duration. Steady time bounds it: by a time that stands, and by
        motion.slowest_real_time_factor, plus the age that a time may have.
        """
        motion = self._motion
        longest_s = duration_s / motion.slowest_real_time_factor + motion.clock_max_age_s
        deadline = time.monotonic() + longest_s
        last, elapsed = self._seconds(), 0.0
        status_at = time.monotonic() + STATUS_PERIOD_S
        while elapsed < duration_s:
            self._cancellation.sleep(min(POSE_PERIOD_S, duration_s - elapsed))
            self._path.add(self._client.pose())
            now = self._seconds()
            # A restarted simulation sets its time back. That must not prolong the motion.
            elapsed, last = elapsed + max(0.0, now - last), now
            if why := self._clock.now().problem:
                return _ended_early(ServiceFailed(why))
            if elapsed < duration_s and time.monotonic() > deadline:
                slow = f'only {elapsed:.1f} of {duration_s:g} s passed within {longest_s:g} s'
                return _ended_early(ServiceFailed(f'simulated time is too slow, {slow}'))
            if elapsed >= duration_s or time.monotonic() >= status_at:
                status_at = time.monotonic() + STATUS_PERIOD_S
                if (ended := self._end()) is not None:
                    return ended
        return None

    def _end(self) -> ServiceFailed | None:
        """Why the motion is over by now; None: it goes on. An adapter that has begun anew stops
        the rover: without the motion it may say that all is well once this is still.
        """
        status = self._client.status()
        if status.get('moving') and not status.get('stopping'):
            return None
        reason = status.get('last_error_reason') or 'the rover was stopped'
        why = answered_failure(str(reason), 'the motion')
        ended, code = _ended_early(why), RefusalCode.SAFETY_VIOLATION.value
        if why.code != RefusalCode.STOPPED:
            return ended
        return ServiceFailed(f'{code}: {ended}', code)

    def _seconds(self) -> float:
        """The time for motion durations, in seconds: simulated if active, else steady."""
        if self._ros_clock.ros_time_is_active:
            return float(self._ros_clock.now().nanoseconds) * 1e-9
        return time.monotonic()

    def _stop(self) -> None:
        try:
            self._client.trigger('move_stop')
        except Exception:
            # The adapter died or lost the rover. Its restart or its leash stops the rover; try
            # once more, because a restart takes about a second.
            self._client.trigger('move_stop')

    def _wait_until_still(self) -> None:
        deadline = time.monotonic() + self._client.simulation.now().stretched(STANDSTILL_TIMEOUT_S)
        while (status := self._client.status()).get('moving'):
            if time.monotonic() > deadline:
                late = f'{STANDSTILL_TIMEOUT_S:g} s after its stop'
                code = RefusalCode.SAFETY_VIOLATION.value
                raise ServiceFailed(f'{code}: The rover is not still {late}', code)
            self._cancellation.sleep(POSE_PERIOD_S)
            self._path.add(self._client.pose())
        self._free_m = status.get('free_m')
        self._path.add(self._client.pose())

    def _when_heard(self) -> None:
        """Make the request of this tool; again while the adapter refuses it because it misses the
        agent: a refused motion has not begun. Raises ServiceFailed and TurnCancelled.
        """
        deadline = time.monotonic() + LINK_TIMEOUT_S
        while True:
            try:
                self._client.trigger(self._name, self._cancellation)
                return
            except ServiceFailed as failure:
                if failure.code != RefusalCode.AGENT_SILENT or time.monotonic() >= deadline:
                    raise
            self._cancellation.sleep(LINK_RETRY_S)


def _ended_early(why: ServiceFailed) -> ServiceFailed:
    return ServiceFailed(f'Motion ended early: {why}', why.code, why.facts)


class DrivenPath:
    """Poses along a motion. ``length`` is in metres; None with fewer than two poses. A pose counts
    once it lies STRIDE_M from the last one that counted, so that noise is not taken for driving.
    """

    def __init__(self) -> None:
        self.last: Place | None = None
        self.length: float | None = None
        self._counted: Place | None = None
        self._counted_m = 0.0

    def add(self, pose: RoverPose | None) -> None:
        if pose is None:
            return
        self.last, counted = pose.place, self._counted
        if counted is None:
            self._counted = self.last
            return
        stride_m = self.last.away_m(counted)
        self.length = self._counted_m + stride_m
        if stride_m >= STRIDE_M:
            self._counted, self._counted_m = self.last, self.length
