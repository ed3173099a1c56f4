# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Reasons for an early tick of the policy, and its queue of messages. Thread-safe."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
import threading

from curiosity_rosa_demo.agent.kernel.task_queue import wants_to_run
from curiosity_rosa_demo.domain.brain_state import BrainState, UserInterruptType

MAX_MESSAGES = 20  # in the queue for the next tick
MAX_MESSAGE_CHARS = 1000  # characters of one


class WakeReasons:
    """``wake`` is called for each reason. ``paused``: an operator's pause is in effect."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._reasons: dict[str, None] = {}
        self._messages: deque[str] = deque()
        self._notices: deque[str] = deque()
        self._last_seen: object = None
        self.paused = False

    def add(self, why: str) -> None:
        with self._lock:
            self._reasons[why] = None
        self._wake()

    def add_message(self, text: str, *, interrupts: bool = True) -> str:
        """Queue a message for the next tick. Returns why it was rejected; '' when it was not.
        ``interrupts`` false: a notice, which takes no room from the messages.
        """
        text = text[:MAX_MESSAGE_CHARS].strip()
        if not text:
            return 'it is empty'
        queue = self._messages if interrupts else self._notices
        with self._lock:
            if len(queue) >= MAX_MESSAGES:
                return f'{MAX_MESSAGES} others wait already'
            queue.append(text)
        self.add('a message')
        return ''

    def take_all(self) -> tuple[str, tuple[str, ...]]:
        """Return and clear the reasons, as text, and the messages."""
        with self._lock:
            why, self._reasons = ', '.join(self._reasons), {}
            messages = tuple(self._messages)
            self._messages.clear()
        return why, messages

    def take_notices(self) -> tuple[str, ...]:
        """Return and clear the messages that interrupt nothing."""
        with self._lock:
            notices = tuple(self._notices)
            self._notices.clear()
        return notices

    def clear(self) -> None:
        self.take_all()
        self.take_notices()
        self.paused = False

    def update_from_kernel(self, state: BrainState, ours: Collection[str]) -> None:
        """Call after each kernel tick, from one thread. ``ours``: IDs of the policy's tasks."""
        interrupt, tasks = state.hci.user_interrupt, state.tasks
        if interrupt is UserInterruptType.PAUSE:
            self.paused = True
        elif interrupt is UserInterruptType.RESUME and _concerns_policy(state, ours):
            self.paused = False
        queue = sorted((task.task_id, wants_to_run(task)) for task in tasks.queue)
        seen = (tasks.mode, tasks.mode_reason, self.paused, queue)
        if seen != self._last_seen:
            self._last_seen = seen
            self.add('the tasks or the mode')


def _concerns_policy(state: BrainState, ours: Collection[str]) -> bool:
    """A resume without a task ID applies to all tasks."""
    task_id = state.hci.interrupt_payload.get('task_id')
    return not isinstance(task_id, str) or task_id in ours
