# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The kernel's loop: a tick for every message and every urgent change, and at least every tick_s.

KernelLoop runs in one asyncio loop and never blocks it: a tick only passes its actions to the
``act`` callback, which must return at once.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
import time

from curiosity_rosa_demo.agent.kernel.actions import Action, plan, StopRover
from curiosity_rosa_demo.agent.kernel.decide import event_arbitrate, kernel_route, task_queue
from curiosity_rosa_demo.agent.kernel.hear import hci_ingress, Message, Ordered
from curiosity_rosa_demo.agent.kernel.sense import telemetry_sync, world_update
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Json,
    Question,
    QueuedTask,
    Reading,
    RunningSkill,
    SkillDef,
    SkillsState,
)
from curiosity_rosa_demo.infra.config.limits import Thresholds

Step = Callable[[BrainState, Thresholds], BrainState]
Act = Callable[[list[Action], Message | None, BrainState], None]
STEPS: tuple[Step, ...] = (
    hci_ingress,
    telemetry_sync,
    world_update,
    event_arbitrate,
    task_queue,
    kernel_route,
)


def tick(state: BrainState, rules: Thresholds) -> BrainState:
    for step in STEPS:
        state = step(state, rules)
    return state


class KernelLoop:
    """``act`` receives the ordered actions of a tick, the message that the tick took, and the new
    state. ``question`` returns the question that a plain yes or no answers, and ``running`` the
    running skills. ``registry`` lists every registered skill.

    ``admit`` is asked about a message when its turn comes; False: it is dropped. The loop's
    counters are in ``state.trace.metrics``.
    """

    def __init__(
        self,
        *,
        readings: Callable[[], Mapping[str, Reading]],
        tasks: Callable[[], list[QueuedTask]],
        question: Callable[[], Question | None],
        act: Act,
        tick_s: float,
        rules: Thresholds,
        admit: Callable[[Message], bool] = lambda message: True,
        running: Callable[[], list[RunningSkill]] = list,
        registry: Iterable[SkillDef] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._readings, self._tasks, self._question = readings, tasks, question
        self._act, self._admit, self._running = act, admit, running
        self._tick_s, self._rules, self._clock = tick_s, rules, clock
        self._messages: deque[Message] = deque()
        self._wakeup = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None  # that of run()
        definitions = {definition.name: definition for definition in registry}
        self.state = BrainState(skills=SkillsState(registry=definitions))
        self._violations: deque[str] = deque()  # not yet seen by a tick
        self.ticks = 0
        self._counts: Counter[str] = Counter(messages=0, rover_stops=0, mode_changes=0)

    def post(self, message: Message) -> None:
        """Queue a message. Thread-safe."""
        self._messages.append(message)
        self.tick_now()

    def violate(self, reason: str) -> None:
        """Report a broken safety rule. A tick runs at once and latches SAFE. Thread-safe."""
        self._violations.append(reason)
        self.tick_now()

    def tick_now(self) -> None:
        """Run a tick at once, because an input changed. Thread-safe."""
        if self._loop is not None:  # otherwise the first tick is still to come
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._wakeup.set)

    def set_safety_latch(self, reason: str) -> None:
        """Restore the safety latch of an earlier run, before the first tick."""
        robot = self.state.robot.model_copy(update={'safety_latch': reason})
        self.state = self.state.model_copy(update={'robot': robot})

    async def run(self) -> None:
        """Run ticks until cancelled."""
        loop = self._loop = asyncio.get_running_loop()
        while True:
            self._tick()
            if self._messages:
                await asyncio.sleep(0)
                continue
            self._wakeup.clear()
            # Half the CPU cost of asyncio.wait_for().
            timer = loop.call_later(self._tick_s, self._wakeup.set)
            await self._wakeup.wait()
            timer.cancel()

    def _tick(self) -> None:
        # One message per tick, so that each action belongs to a known message.
        message = self._messages.popleft() if self._messages else None
        if message is not None and not self._admit(message):
            message = None
        violation = ''
        while self._violations:  # another thread may add one at any time
            violation = self._violations.popleft()
        has_meaning = message is not None and not isinstance(message, Ordered)
        before = self.state
        telemetry = {'now_s': self._clock(), 'readings': dict(self._readings())}
        tasks = {'inbox': [message] if has_meaning else [], 'queue': self._tasks()}
        react, skills = {'question': self._question()}, {'running': self._running()}
        after = tick(
            before.model_copy(
                update={
                    'telemetry': before.telemetry.model_copy(update=telemetry),
                    'tasks': before.tasks.model_copy(update=tasks),
                    'react': before.react.model_copy(update=react),
                    'skills': before.skills.model_copy(update=skills),
                    'robot': before.robot.model_copy(update={'violation': violation}),
                }
            ),
            self._rules,
        )
        actions = plan(before, after)
        self.ticks += 1
        self._counts['messages'] += has_meaning
        self._counts['rover_stops'] += sum(isinstance(each, StopRover) for each in actions)
        self._counts['mode_changes'] += before.tasks.mode is not after.tasks.mode
        metrics: Json = {'ticks': self.ticks, **self._counts}
        trace = after.trace.model_copy(update={'metrics': metrics})
        self.state = after.model_copy(update={'trace': trace})
        self._act(actions, message, self.state)
