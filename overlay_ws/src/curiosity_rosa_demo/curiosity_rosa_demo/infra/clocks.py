# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The time by three clocks, and whether the rover has simulated time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import threading
import time
from typing import Any

from curiosity_rosa_demo.infra.config.limits import MotionConfig

NO_CLOCK = 'No simulated time'
WAY_OUT = 'Run the simulation, remap /clock to its topic, or start with use_sim_time:=false'


# --- Waits for what a simulator does: counted in simulated time, bounded in steady time ----------
# A simulation may run slower than real time. Its mast, its wheels and its sensors then need longer
# in steady time, by the real-time factor: simulated seconds per steady second.

WINDOW_S = 2.0  # steady seconds over which the factor is measured
MIN_WINDOW_S = 0.5
SAMPLE_PERIOD_S = 0.1
MIN_WAIT_S = 0.01  # shortest wait between two readings


class SimulatedTime:
    """The time by three clocks, in seconds, as ``read`` last saw it. Pure, given the clocks.

    ``steady`` is the machine's. ``simulated`` is for waits that depend on the simulator: it
    advances with the steady clock times the measured real-time factor, which counts as at most 1
    and at least ``slowest_real_time_factor``. So a wait of S seconds lasts at least S and at most
    S / slowest steady seconds. Without simulated time, while it stands, and before the factor is
    measured, it advances with the steady clock. It jumps neither with a first ``/clock`` nor with
    a restart.

    ``advanced`` is for a motion under way: simulated time determines the distance that a moving
    rover covers, and can run faster than wall time, jump, stop. It is what simulated time has
    advanced, never back; without simulated time, what the steady clock has. A motion lasts as
    long as the longer of ``steady`` and ``advanced``, each since its begin: a jump can end it
    early, but nothing can prolong it. They are compared over the whole motion, since ``/clock``
    comes in lumps: from reading to reading now one clock is ahead, now the other.

    ``problem``: why no motion can be timed now, with the way out; '' while time advances, or
    without simulated time. One value for longer than ``clock_max_age_s`` steady seconds: the
    simulation is paused, it ended, or it never published.
    """

    def __init__(self, steady: Callable[[], float], ros_clock: Any, motion: MotionConfig) -> None:
        """``ros_clock`` None: there is no simulated time."""
        self._clock, self._ros_clock = steady, ros_clock
        self._slowest, self._max_age_s = motion.slowest_real_time_factor, motion.clock_max_age_s
        self._samples: deque[tuple[float, float]] = deque()
        self._last_ros: float | None = None  # simulated seconds that were measured
        self._changed_at, self.problem = 0.0, ''
        self.measured: float | None = None  # the factor; None: too few readings, or time stands
        self._factor = 1.0  # as it counts
        self.steady = self.simulated = self.advanced = 0.0
        self.ros_ns: int | None = None  # simulated nanoseconds; None without simulated time
        self.read()
        self.simulated = self.advanced = 0.0

    def read(self) -> None:
        """Take the time anew: until the next reading all happens at one time."""
        before, ros_before, ros_clock = self.steady, self.ros_ns, self._ros_clock
        self.steady, self.ros_ns = self._clock(), None
        if ros_clock is not None and ros_clock.ros_time_is_active:
            self.ros_ns = int(ros_clock.now().nanoseconds)
        advance = ros_advance = self.steady - before
        if self.ros_ns is not None and ros_before is not None:  # a restart goes back
            ros_advance = max(0.0, self.ros_ns * 1e-9 - ros_before * 1e-9)
        self.simulated += advance * self._factor
        self.advanced += ros_advance
        if self.ros_ns is not None:
            self._measure(self.ros_ns * 1e-9)
        elif self._last_ros is not None:
            self._last_ros, self.problem = None, ''
            self._begin()
        measured = 1.0 if self.measured is None else self.measured
        self._factor = min(1.0, max(self._slowest, measured))

    @property
    def has_advanced(self) -> bool:
        """Whether time was seen to advance since the construction; True without simulated time."""
        return self.ros_ns is None or self.advanced > 0.0

    def stretched(self, seconds: float) -> float:
        """The steady seconds in which ``seconds`` pass at the present factor."""
        return seconds / self._factor

    def longest_s(self, seconds: float) -> float:
        """The most steady seconds that a wait of ``seconds`` on this clock can last."""
        return seconds if self.ros_ns is None else seconds / self._slowest

    def _measure(self, ros: float) -> None:
        before, self._last_ros = self._last_ros, ros
        if ros == before:
            # A clock that is silent keeps its factor, until it counts as standing.
            if self.steady - self._changed_at > self._max_age_s:
                self._begin()
                what = 'does not advance' if ros else 'was never heard'
                self.problem = f'{NO_CLOCK}: use_sim_time is on and /clock {what}. {WAY_OUT}'
            return
        self._changed_at, self.problem = self.steady, ''
        if before is not None and ros < before:  # a restarted simulation
            self._begin()
        samples = self._samples
        if samples and self.steady - samples[-1][0] < SAMPLE_PERIOD_S:
            return
        samples.append((self.steady, ros))
        while len(samples) > 2 and self.steady - samples[1][0] >= WINDOW_S:
            samples.popleft()
        first_steady, first_ros = samples[0]
        if self.steady - first_steady >= MIN_WINDOW_S:
            self.measured = (ros - first_ros) / (self.steady - first_steady)

    def _begin(self) -> None:
        """Measure anew."""
        self._samples.clear()
        self.measured = None


class SimulationClock:
    """``SimulatedTime`` for several threads: each call reads it."""

    def __init__(
        self, ros_clock: Any, motion: MotionConfig, steady: Callable[[], float] = time.monotonic
    ) -> None:
        """``ros_clock`` None: there is no simulated time."""
        self._time, self._lock = SimulatedTime(steady, ros_clock, motion), threading.Lock()

    def now(self) -> SimulatedTime:
        with self._lock:
            self._time.read()
            return self._time

    def __call__(self) -> float:
        return self.now().simulated


# --- Whether the rover has simulated time, asked before any node of ours starts -----------------

LOOK_S = 2.5  # discovery takes up to a second or two on a busy machine
POLL_S = 0.05


def clock_is_published(topic: str = '/clock', *, within_s: float = LOOK_S) -> bool:
    """Whether a publisher of ``topic`` is seen ``within_s`` seconds; it returns as soon as it is.

    It has a context of its own, so that it works before and beside any other use of rclpy, which
    the rules that use these clocks do not import.
    """
    import rclpy
    from rclpy.context import Context

    context = Context()
    rclpy.init(args=[], context=context)
    try:
        node = rclpy.create_node(
            '_clock_look',
            context=context,
            enable_rosout=False,
            start_parameter_services=False,
            use_global_arguments=False,
        )
        deadline = time.monotonic() + within_s
        while not (found := bool(node.count_publishers(topic))) and time.monotonic() <= deadline:
            time.sleep(POLL_S)
        node.destroy_node()
        return found
    finally:
        context.try_shutdown()


def time_text(topic: str, published: bool, option: str) -> str:
    """What was taken, and the ``option`` for the other."""
    if published:
        return f'{topic} is published: simulated time'
    return f'nobody publishes {topic}: wall clock; for a simulation that starts later: {option}'
