# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The interface of the console for the rest of the agent; ``agent/console.py`` implements it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
import threading
import time
from typing import Protocol

from curiosity_rosa_demo.agent.kernel.hci_ingress import InboxMessage
from curiosity_rosa_demo.agent.react.texts import question_summary
from curiosity_rosa_demo.agent.runtime.action_dispatcher import MessageReply, ReplyCallback
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.domain.brain_state import Question
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.skills import Outcome


class ConsolePort(Protocol):
    """Every method is thread-safe."""

    def handle_line(self, line: str) -> bool:
        """Run a line of the operator. Returns False for ``:quit``."""

    def handle_remote_line(
        self, line: str, by: str, on_reply: ReplyCallback, origin: Origin = Origin.HTTP
    ) -> None:
        """Run a line of a remote client. ``on_reply`` is called once with its result."""

    def stop(self, by: str) -> Outcome:
        """Stop the rover, end all tasks and drop the queued lines. Blocks until the answer."""

    def begin_stop(self, by: str) -> Future[Outcome]:
        """As ``stop``, but returns at once. The future gets the rover's answer."""

    def print_notice(self, text: str) -> None:
        """Print a text that is not the outcome of a command."""

    def run_queued_lines(self) -> None:
        """Run the queued lines; from now on tasks may run."""

    @property
    def is_ready(self) -> bool:
        """Whether tasks may run."""

    def wait_until_idle(self, timeout_s: float | None = None) -> bool:
        """Wait until all requests of the operator have ended; False after ``timeout_s``."""

    def take_outcome(self) -> Outcome | None:
        """The outcome of the operator's last request; None: there is none since the last call."""

    def blocked_reason(self) -> str:
        """Why the operator's requests wait for a person: the mode is SAFE, or all their tasks are
        held. '': they do not.
        """

    def cancel_requests(self, why: str) -> None:
        """Cancel the unfinished tasks that the operator asked for."""

    def report_task_end(self, task: Task) -> None:
        """Report the outcome of a requested task that has ended."""

    @property
    def pending_question(self) -> Question | None:
        """The question that a plain yes or no answers."""

    def reject_questions(self) -> None:
        """Reject all open and later questions: no further line can answer them."""


# --- What the line below a console's prompt shows ----------------------------------------------


def console_status(console: ConsolePort, session: AgentSession) -> str:
    """The question that a plain yes answers, or what runs and for how long; '': neither."""
    if (asked := console.pending_question) is not None:
        return question_summary(asked)
    activity = session.current_activity
    if activity is None:
        return ''
    return f'{activity.description}  {time.monotonic() - activity.since:.0f} s'


# --- The messages of the runtime's inbox, which is the kernel's. Each has its reply ------------


@dataclass(frozen=True, eq=False)
class UserMessage(InboxMessage):
    """A message of an operator or a client. ``on_reply`` gets its result. ``origin``: the door
    through which it came.
    """

    on_reply: ReplyCallback
    stop_count: int  # stops requested before it; a later stop drops it
    origin: Origin | None = None


@dataclass(frozen=True, eq=False)
class TaskMessage(InboxMessage):
    """A task to submit. ``on_reply`` gets the stored task, or the reason why there is none. It is
    not submitted if it is no longer ``wanted`` when its turn comes.
    """

    task: Task
    on_reply: ReplyCallback
    stop_count: int
    wanted: Callable[[], bool]


@dataclass(frozen=True, eq=False)
class StopMessage(InboxMessage):
    """Reports a stop: ``stopped_by`` has already halted the skills and stopped the rover."""

    stopped_by: str


# -----------------------------------------------------------------------------------------------
# Replies that are still pending: each callback is called exactly once, also after a failure, and
# a task whose reply came too late does not run.


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
