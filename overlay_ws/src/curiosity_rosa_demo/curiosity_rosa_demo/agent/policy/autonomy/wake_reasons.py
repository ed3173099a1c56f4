# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Why the policy is to decide before its next minute, and the messages for it. From any thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
import threading

from curiosity_rosa_demo.agent.kernel.task_queue import wants_to_run
from curiosity_rosa_demo.domain.brain_state import BrainState, UserInterruptType

MAX_MESSAGES = 20  # that wait for the next tick
MAX_MESSAGE_CHARS = 1000  # characters of one


class WakeReasons:
    """``wake`` is called when there is some. ``paused``: a person said pause, and not resume."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._reasons: dict[str, None] = {}
        self._messages: deque[str] = deque()
        self._last_seen: object = None
        self.paused = False

    def add(self, why: str) -> None:
        with self._lock:
            self._reasons[why] = None
        self._wake()

    def add_message(self, text: str) -> str:
        """Why it was not taken; '': it was."""
        text = text[:MAX_MESSAGE_CHARS].strip()
        if not text:
            return 'it is empty'
        with self._lock:
            if len(self._messages) >= MAX_MESSAGES:
                return f'{MAX_MESSAGES} others wait already'
            self._messages.append(text)
        self.add('a message')
        return ''

    def take_all(self) -> tuple[str, tuple[str, ...]]:
        """Why to decide now, in words, and the messages."""
        with self._lock:
            why, self._reasons = ', '.join(self._reasons), {}
            messages, self._messages = tuple(self._messages), deque()
        return why, messages

    def clear(self) -> None:
        self.take_all()
        self.paused = False

    def update_from_kernel(self, state: BrainState, ours: Collection[str]) -> None:
        """After each tick of the kernel, in one thread. ``ours``: tasks of the policy."""
        said, tasks = state.hci.user_interrupt, state.tasks
        if said is UserInterruptType.PAUSE:
            self.paused = True
        elif said is UserInterruptType.RESUME and _concerns_policy(state, ours):
            self.paused = False
        queue = sorted((task.task_id, wants_to_run(task)) for task in tasks.queue)
        seen = (tasks.mode, tasks.mode_reason, self.paused, queue)
        if seen != self._last_seen:
            self._last_seen = seen
            self.add('the tasks or the mode')


def _concerns_policy(state: BrainState, ours: Collection[str]) -> bool:
    """A resume without a task's ID means all."""
    task_id = state.hci.interrupt_payload.get('task_id')
    return not isinstance(task_id, str) or task_id in ours
