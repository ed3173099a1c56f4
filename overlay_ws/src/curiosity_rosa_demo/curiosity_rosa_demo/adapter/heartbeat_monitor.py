# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Liveness of the agent's kernel by its heartbeat. Pure; times are seconds of a steady clock."""

from __future__ import annotations


class AgentHeartbeatMonitor:
    """Silence counts only after a first beat: without an agent, a person may call the services."""

    def __init__(self, max_age_s: float) -> None:
        self.max_age_s = max_age_s
        self._at: float | None = None

    @property
    def received(self) -> bool:
        return self._at is not None

    def beat(self, now: float) -> None:
        self._at = now

    def forget(self) -> None:
        self._at = None

    def silent(self, now: float) -> bool:
        return self._at is not None and now - self._at > self.max_age_s

    def next_wakeup(self, now: float) -> float | None:
        """The time at which the silence begins; None without a beat or when already silent."""
        if self._at is None or self.silent(now):
            return None
        return self._at + self.max_age_s + 0.01
