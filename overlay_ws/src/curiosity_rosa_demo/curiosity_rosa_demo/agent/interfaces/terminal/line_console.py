# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a source of lines needs of a console: that of this process, or of a running agent."""

from __future__ import annotations

from typing import Protocol

from curiosity_rosa_demo.domain.outcome import Outcome


class LineConsole(Protocol):
    """Every method is thread-safe."""

    def handle_line(self, line: str) -> bool:
        """Run a line of the operator. Returns False for ``:quit``."""

    def stop(self, by: str) -> Outcome:
        """Stop the rover and end all tasks. Blocks until the rover's answer."""

    def print_notice(self, text: str) -> None:
        """Print a text that is not the outcome of a command."""

    def wait_until_idle(self, timeout_s: float | None = None) -> bool:
        """Wait until all requests of the operator have ended; False after ``timeout_s``."""

    def take_outcome(self) -> Outcome | None:
        """The outcome of the operator's last request; None: there is none since the last call."""

    def blocked_reason(self) -> str:
        """Why the operator's requests wait for a person; '': they do not."""

    def cancel_requests(self, why: str) -> None:
        """Cancel the unfinished tasks that the operator asked for."""

    def reject_questions(self) -> None:
        """No further line of this console can answer a question."""
