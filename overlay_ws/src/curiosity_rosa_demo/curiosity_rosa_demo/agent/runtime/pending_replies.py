# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Replies that are still pending: each callback is called exactly once, also after a failure, and
a task whose reply came too late does not run.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
import threading

from curiosity_rosa_demo.agent.runtime.action_dispatcher import MessageReply, ReplyCallback


class PendingReplies:
    """Thread-safe. A callback is called in the thread that calls its wrapper, or ``fail_all``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: set[ReplyCallback] = set()
        self._failure = ''

    def expect_reply(self, on_reply: ReplyCallback) -> ReplyCallback:
        """A wrapper to call in place of ``on_reply``. After ``fail_all`` it is called at once."""

        def once(reply: MessageReply) -> None:
            with self._lock:
                is_first = once in self._waiting
                self._waiting.discard(once)
            if is_first:
                on_reply(reply)

        with self._lock:
            self._waiting.add(once)
            failure = self._failure
        if failure:
            once(MessageReply([failure], ok=False))
        return once

    def fail_all(self, why: str) -> None:
        """Call all pending callbacks, and each later one, with the failure ``why``."""
        with self._lock:
            self._failure, waiting = why, list(self._waiting)
        for once in waiting:
            once(MessageReply([why], ok=False))


class Submission:
    """A task on its way to the runner, and ``reply``, what became of it. After ``withdraw`` the
    task must not start: if the runner stores it nevertheless, ``cancel`` is called in the
    runtime's loop.
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        self.reply: Future[MessageReply] = Future()
        self.reply.set_running_or_notify_cancel()  # who waits for it cannot cancel it
        self._cancel, self._lock = cancel, threading.Lock()
        self._withdrawn = False

    def wanted(self) -> bool:
        return not self._withdrawn

    def settle(self, reply: MessageReply) -> None:
        with self._lock:
            late = self._withdrawn
            self.reply.set_result(reply)
        if late and reply.task is not None:
            self._cancel()

    def withdraw(self) -> MessageReply | None:
        """The reply, if it has come meanwhile."""
        with self._lock:
            if self.reply.done():
                return self.reply.result()
            self._withdrawn = True
            return None
