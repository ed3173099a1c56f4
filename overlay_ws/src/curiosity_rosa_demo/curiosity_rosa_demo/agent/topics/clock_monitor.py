# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Reports on console and page that simulated time stands, and that it advances again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from curiosity_rosa_demo.infra.clocks import ClockWatch

CLOCK_IS_BACK = '/clock advances again; motions are allowed.'


class ClockMonitor:
    """``problem`` is why no motion can be timed; '' while time advances. ``notice`` prints a line
    and must not block.
    """

    def __init__(self, ros_clock: Any, max_age_s: float, notice: Callable[[str], None]) -> None:
        self._watch, self._notice = ClockWatch(ros_clock, max_age_s=max_age_s), notice
        self.problem = ''

    def check(self) -> None:
        """Read the clock. Called in one thread, several times a second."""
        before, self.problem = self.problem, self._watch.problem()
        if self.problem and not before:
            self._notice(f'! {self.problem}')
        elif before and not self.problem:
            self._notice(CLOCK_IS_BACK)
