# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Clocks of a simulation, the wait for one, and whether the rover has simulated time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import threading
import time
from typing import Any

from curiosity_rosa_demo.infra.config.limits import MotionConfig

NO_CLOCK = 'No simulated time'
NO_CLOCK_WAY_OUT = (
    'Run the simulation, remap /clock to its topic, or start with use_sim_time:=false'
)


class ClockWatch:
    """Tells whether ROS time advances. Without simulated time (``use_sim_time``) it always does.

    A simulated time that shows one value for longer than ``max_age_s`` steady seconds stands: the
    simulation is paused, it ended, or it never published. No motion can be timed by it. The
    result is as fresh as the time between two calls. Not thread-safe.
    """

    def __init__(
        self, ros_clock: Any, *, max_age_s: float, steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._ros_clock, self._max_age_s, self._steady = ros_clock, max_age_s, steady
        self._last_ns: int | None = None
        self._changed_at = 0.0
        self._has_advanced = False

    def has_advanced(self) -> bool:
        """Whether time was seen to change since the construction; True without simulated time."""
        return not self._is_simulated() or (self._sample() or self._has_advanced)

    def problem(self) -> str:
        """Why no motion can be timed now, with the way out; '' while time advances."""
        if not self._is_simulated() or self._sample():
            return ''
        if self._steady() - self._changed_at <= self._max_age_s:
            return ''
        what = 'was never heard' if not self._last_ns else 'does not advance'
        return f'{NO_CLOCK}: use_sim_time is on and /clock {what}. {NO_CLOCK_WAY_OUT}'

    def _is_simulated(self) -> bool:
        if self._ros_clock.ros_time_is_active:
            return True
        self._last_ns = None
        return False

    def _sample(self) -> bool:
        """Read the clock. Returns whether it has changed since the last reading."""
        now_ns = int(self._ros_clock.now().nanoseconds)
        before, self._last_ns = self._last_ns, now_ns
        if before is None:
            self._changed_at = self._steady()  # the watch begins with its first reading
        if before is None or now_ns == before:
            return False
        self._changed_at, self._has_advanced = self._steady(), True
        return True


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
    """

    def __init__(self, steady: Callable[[], float], ros_clock: Any, motion: MotionConfig) -> None:
        """``ros_clock`` None: there is no simulated time."""
        self._clock, self._ros_clock = steady, ros_clock
        self._slowest, self._max_age_s = motion.slowest_real_time_factor, motion.clock_max_age_s
        self._samples: deque[tuple[float, float]] = deque()
        self._last_ros: float | None = None  # simulated seconds that were measured
        self._changed_at = 0.0
        self.measured: float | None = None  # the factor; None: too few readings, or time stands
        self._factor = 1.0  # as it counts
        self.simulated = self.advanced = 0.0
        self.steady, self.ros_ns = steady(), self._read_ros()

    def read(self) -> None:
        """Take the time anew: until the next reading all happens at one time."""
        before, ros_before = self.steady, self.ros_ns
        self.steady, self.ros_ns = self._clock(), self._read_ros()
        advance = ros_advance = self.steady - before
        if self.ros_ns is not None and ros_before is not None:  # a restart goes back
            ros_advance = max(0.0, self.ros_ns * 1e-9 - ros_before * 1e-9)
        self.simulated += advance * self._factor
        self.advanced += ros_advance
        if self.ros_ns is not None:
            self._measure(self.ros_ns * 1e-9)
        elif self._last_ros is not None:
            self._last_ros = None
            self._begin()
        self._factor = 1.0
        if self.measured is not None:
            self._factor = min(1.0, max(self._slowest, self.measured))

    def stretched(self, seconds: float) -> float:
        """The steady seconds in which ``seconds`` pass at the present factor."""
        return seconds / self._factor

    def longest_s(self, seconds: float) -> float:
        """The most steady seconds that a wait of ``seconds`` on this clock can last."""
        return seconds if self.ros_ns is None else seconds / self._slowest

    def _read_ros(self) -> int | None:
        """Simulated nanoseconds; None without simulated time."""
        clock = self._ros_clock
        is_active = clock is not None and clock.ros_time_is_active
        return int(clock.now().nanoseconds) if is_active else None

    def _measure(self, ros: float) -> None:
        before, self._last_ros = self._last_ros, ros
        if ros == before:
            # A clock that is silent keeps its factor, until it counts as standing.
            if self.steady - self._changed_at > self._max_age_s:
                self._begin()
            return
        self._changed_at = self.steady
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
    """``SimulatedTime``, read by each call. Thread-safe."""

    def __init__(
        self, ros_clock: Any, motion: MotionConfig, steady: Callable[[], float] = time.monotonic
    ) -> None:
        """``ros_clock`` None: there is no simulated time."""
        self._time, self._lock = SimulatedTime(steady, ros_clock, motion), threading.Lock()

    def _read(self) -> SimulatedTime:
        with self._lock:
            self._time.read()
            return self._time

    def __call__(self) -> float:
        return self._read().simulated

    @property
    def measured(self) -> float | None:
        """The measured real-time factor; None without simulated time that advances."""
        return self._read().measured

    def stretched(self, seconds: float) -> float:
        """As of SimulatedTime."""
        return self._read().stretched(seconds)

    def longest_s(self, seconds: float) -> float:
        """As of SimulatedTime."""
        return self._read().longest_s(seconds)


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
