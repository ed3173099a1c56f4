# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""When the policy ticks: its clock, monotonic seconds since the epoch, the ticks that it makes
due, and the reasons for an early one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
import threading
import time
from typing import NamedTuple

from curiosity_rosa_demo.agent.kernel.decide import wants_to_run
from curiosity_rosa_demo.domain.brain_state import BrainState, UserInterruptType

MAX_MESSAGES = 20  # in the queue for the next tick
MAX_MESSAGE_CHARS = 1000  # characters of one
MIN_WALL_TIME_S = 1e9  # s, September 2001: a smaller time is simulated, counted from its start
MAX_BACKWARD_STEP_S = 60.0  # s: after a smaller step back of the wall clock, now() stands still


class PolicyClock:
    """Follows ``source``: wall time, or simulated time that starts at 0 and may restart.

    The first reading of simulated time counts as ``epoch()``. When the source jumps back, or
    changes between wall and simulated time, the clock continues from its last value. Thread-safe:
    the skills of activities also read it, in their own loop.
    """

    def __init__(
        self, source: Callable[[], float] = time.time, epoch: Callable[[], float] = time.time
    ) -> None:
        self._source, self._epoch = source, epoch
        self._lock = threading.Lock()
        self._now = 0.0
        self._ahead = 0.0  # s, added to the source
        self._kind = -1  # 0: simulated time, and no /clock message yet; 1: simulated; 2: wall time

    def resume(self, at: float) -> None:
        """From now on ``now()`` returns at least ``at``."""
        with self._lock:
            self._now = max(self._now, at)

    def now(self) -> float:
        with self._lock:
            source = self._source()
            is_wall = source >= MIN_WALL_TIME_S
            kind = (source > 0.0) + is_wall
            if kind != self._kind:
                if self._kind < 0 and not is_wall:
                    self._now = max(self._now, self._epoch())
                self._kind = kind
                self._ahead = 0.0 if is_wall else self._now - source
            patience = MAX_BACKWARD_STEP_S if is_wall else 0.0
            if source + self._ahead < self._now - patience:
                self._ahead = self._now - source
            self._now = max(self._now, source + self._ahead)
            return self._now


class DueTick(NamedTuple):
    """``at``: the instant in seconds since the epoch. ``missed``: number of skipped instants
    before it.
    """

    at: float
    missed: int


class TickScheduler:
    """Ticks at the multiples of ``tick_s`` since the epoch. They are multiples in local time too:
    ``tick_s`` divides 15 minutes, and so do the offsets of time zones.
    """

    def __init__(self, tick_s: float) -> None:
        self._tick_s = tick_s
        self._last: int | None = None  # number of the last tick

    def resume(self, at: float) -> None:
        """Continue an earlier run that ticked all instants up to ``at``."""
        self._last = int(at // self._tick_s)

    def take_due(self, now: float) -> DueTick | None:
        """The latest instant up to ``now``, or None when it was taken before. Skipped instants
        before it are only counted.
        """
        number, last = int(now // self._tick_s), self._last
        if last is not None and number <= last:
            return None
        self._last = number
        return DueTick(number * self._tick_s, 0 if last is None else number - last - 1)


class WakeReasons:
    """Reasons for an early tick, and its queue of messages. Thread-safe. ``wake`` is called for
    each reason. ``paused``: an operator's pause is in effect.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._reasons: list[str] = []
        self._messages: dict[bool, list[str]] = {True: [], False: []}  # whether they interrupt
        self._last_seen: object = None
        self.paused = False

    def add(self, why: str) -> None:
        with self._lock:
            if why not in self._reasons:
                self._reasons.append(why)
        self._wake()

    def add_message(self, text: str, *, interrupts: bool = True) -> str:
        """Queue a message for the next tick. Returns why it was rejected; '' when it was not.
        ``interrupts`` false: a notice, which takes no room from the messages.
        """
        text = text[:MAX_MESSAGE_CHARS].strip()
        if not text:
            return 'it is empty'
        with self._lock:
            if len(self._messages[interrupts]) >= MAX_MESSAGES:
                return f'{MAX_MESSAGES} others wait already'
            self._messages[interrupts].append(text)
        self.add('a message')
        return ''

    def take_all(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Return and clear the reasons, as text, the messages and the notices."""
        with self._lock:
            why, self._reasons = ', '.join(self._reasons), []
            messages, self._messages = self._messages, {True: [], False: []}
        return why, tuple(messages[True]), tuple(messages[False])

    def update_from_kernel(self, state: BrainState, ours: Collection[str]) -> None:
        """Call after each kernel tick, from one thread. ``ours``: IDs of the policy's tasks. A
        resume without a task ID applies to all tasks.
        """
        interrupt, tasks = state.hci.user_interrupt, state.tasks
        resumed = state.hci.interrupt_payload.get('task_id')
        if interrupt is UserInterruptType.PAUSE:
            self.paused = True
        elif interrupt is UserInterruptType.RESUME:
            self.paused = self.paused and isinstance(resumed, str) and resumed not in ours
        queue = sorted((task.task_id, wants_to_run(task)) for task in tasks.queue)
        seen = (tasks.mode, tasks.mode_reason, self.paused, queue)
        if seen != self._last_seen:
            self._last_seen = seen
            self.add('the tasks or the mode')
