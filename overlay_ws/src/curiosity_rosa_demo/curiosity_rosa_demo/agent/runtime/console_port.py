# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The interface of the console for the rest of the agent; ``agent/console.py`` implements it."""

from __future__ import annotations

from concurrent.futures import Future
import time
from typing import Protocol

from curiosity_rosa_demo.agent.react.turn.texts import question_summary
from curiosity_rosa_demo.agent.runtime.action_dispatcher import ReplyCallback
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.domain.brain_state import Question
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.outcome import Outcome


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
