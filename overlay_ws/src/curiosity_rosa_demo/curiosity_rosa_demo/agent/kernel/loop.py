"""The kernel's loop: a tick for every message and every urgent change, and at least every tick_s.

Lives in one asyncio loop and never waits in it: what it decides is handed on as actions, which
others carry out.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping

from curiosity_rosa_demo.agent.kernel.actions import Action, plan
from curiosity_rosa_demo.domain.brain import BrainState, Json, QueuedTask, Reading

log = logging.getLogger('curiosity_rosa.kernel')

Tick = Callable[[BrainState], BrainState]
Act = Callable[[list[Action], Json | None, BrainState], None]


class KernelLoop:
    """``act`` gets the actions of a tick in their order and the message that the tick took."""

    def __init__(
        self,
        *,
        readings: Callable[[], Mapping[str, Reading]],
        tasks: Callable[[], list[QueuedTask]],
        act: Act,
        tick_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._readings, self._tasks, self._act = readings, tasks, act
        self._tick_s, self._clock = tick_s, clock
        self._messages: deque[Json] = deque()
        self._news = asyncio.Event()
        self.state = BrainState()
        self.last_tick_s: float | None = None
        self.ticks = 0

    def post(self, message: Json) -> None:
        """A message of a user, in the loop's thread."""
        self._messages.append(message)
        self._news.set()

    def poke(self) -> None:
        """Something changed: tick now. In the loop's thread."""
        self._news.set()

    def latch(self, reason: str) -> None:
        """Begin with a safety latch of an earlier run."""
        robot = self.state.robot.model_copy(update={'safety_latch': reason})
        self.state = self.state.model_copy(update={'robot': robot})

    async def run(self, tick: Tick) -> None:
        """Until it is cancelled."""
        while True:
            self._step(tick)
            if self._messages:
                await asyncio.sleep(0)
                continue
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), self._tick_s)
            except asyncio.TimeoutError:
                continue

    def _step(self, tick: Tick) -> None:
        # One message a tick, so that its actions are known to be its own.
        message = self._messages.popleft() if self._messages else None
        before = self.state.model_copy(
            update={
                'telemetry': self.state.telemetry.model_copy(
                    update={'now_s': self._clock(), 'readings': dict(self._readings())}
                ),
                'tasks': self.state.tasks.model_copy(
                    update={
                        'inbox': [message] if message is not None else [],
                        'queue': self._tasks(),
                    }
                ),
            }
        )
        after = tick(before)
        self._act(plan(self.state, after), message, after)
        self.state = after
        self.ticks += 1
        self.last_tick_s = self._clock()
