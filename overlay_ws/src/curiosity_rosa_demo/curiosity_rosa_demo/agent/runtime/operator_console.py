# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The console as the rest of the agent sees it; ``agent/console.py`` is it."""

from __future__ import annotations

from typing import Protocol

from curiosity_rosa_demo.agent.runtime.action_dispatcher import ReplyCallback
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.domain.brain_state import Question
from curiosity_rosa_demo.domain.outcome import Outcome


class OperatorConsole(Protocol):
    """Every method may be called from any thread."""

    def handle_line(self, line: str) -> bool:
        """Take a line of the operator; False: it asks to leave."""

    def handle_remote_line(self, line: str, by: str, on_reply: ReplyCallback) -> None:
        """Take a line of somebody else, who hears once what came of it."""

    def stop(self, by: str) -> Outcome:
        """Stop the rover, what runs and what waits."""

    def print_notice(self, text: str) -> None:
        """Print something that is not a command's outcome."""

    def run_queued_lines(self) -> None:
        """From now on tasks may run."""

    @property
    def is_ready(self) -> bool:
        """Whether tasks may run."""

    def wait_until_idle(self, timeout_s: float | None = None) -> bool:
        """Wait until all that was asked for has ended; False after ``timeout_s``."""

    def report_task_end(self, task: Task) -> None:
        """A task that was asked for has ended."""

    @property
    def pending_question(self) -> Question | None:
        """The one that a plain yes or no answers."""

    def reject_questions(self) -> None:
        """No further line will come."""
