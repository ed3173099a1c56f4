# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Evaluates the formulas of the requirements over time. Pure; shares no code with the adapter.

Reelay (C++) evaluates past-time metric temporal logic in dense time: its cost grows with the
number of changes, not with the time that passes. ``bench/rules.py`` compares it with the guard.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from curiosity_rosa_demo.monitor.requirements import Requirement, Response, Severity
from reelay import dense_timed_monitor

REFRESH_S = 0.2  # a formula whose signals have not changed is evaluated again after this time
BEFORE_S = 0.001  # before the first step all signals are false, so that no window is vacuous


@dataclass(frozen=True)
class Verdict:
    """A requirement was violated (``ok`` False), or holds again. ``at_s``: time of the step's
    clock at which that began, at most REFRESH_S before the step that returns it.
    """

    requirement: str
    ok: bool
    at_s: float
    severity: Severity
    response: Response
    title: str


class Monitor:
    """``step`` is called with rising times, in seconds of any clock."""

    def __init__(self, requirements: Iterable[Requirement], limits: dict[str, float]) -> None:
        """Raises RequirementsError for an unknown limit."""
        self._formulas = [_Formula(each, limits) for each in requirements if each.formula]
        self._signals = {
            name: False for each in self._formulas for name in each.requirement.signals
        }
        self._start_s: float | None = None
        self._now_s = 0.0

    @property
    def signals(self) -> tuple[str, ...]:
        """The names of the signals that the formulas read."""
        return tuple(self._signals)

    @property
    def violated(self) -> list[Requirement]:
        """The requirements that do not hold now."""
        return [each.requirement for each in self._formulas if not each.holds]

    def step(self, time_s: float, signals: Mapping[str, float | bool]) -> list[Verdict]:
        """From ``time_s`` on, the signals have these values; a number is true unless it is zero.
        A signal that is not given keeps its value; each is false at first. Unknown names are
        ignored. A step that is not later than the one before counts as an instant later.
        """
        if self._start_s is None:
            self._start_s = time_s - BEFORE_S
        now_s = max(time_s - self._start_s, self._now_s + 1e-6)
        self._now_s = now_s
        known = self._signals
        changed = set()
        for name, value in signals.items():
            if name in known and known[name] != bool(value):
                known[name] = bool(value)
                changed.add(name)
        return [
            Verdict(
                formula.requirement.id,
                holds,
                at_s + self._start_s,
                formula.requirement.severity,
                formula.requirement.response,
                formula.requirement.title,
            )
            for formula in self._formulas
            if formula.is_due(now_s, changed)
            for at_s, holds in formula.update(now_s, known)
        ]


class _Formula:
    def __init__(self, requirement: Requirement, limits: dict[str, float]) -> None:
        self.requirement = requirement
        self.holds = True
        self._names = requirement.signals
        self._monitor = dense_timed_monitor(pattern=requirement.formula_with(limits))
        self._updated_s = 0.0
        self._monitor.update({'time': 0.0, **dict.fromkeys(self._names, False)})

    def is_due(self, now_s: float, changed: set[str]) -> bool:
        if now_s - self._updated_s >= REFRESH_S:
            return True
        return not changed.isdisjoint(self._names)

    def update(self, now_s: float, signals: Mapping[str, bool]) -> list[tuple[float, bool]]:
        """When the formula has become false or true since the last update."""
        self._updated_s = now_s
        sample = {name: signals[name] for name in self._names}
        changes = []
        for piece in self._monitor.update({'time': now_s, **sample}):
            if piece['value'] != self.holds:
                self.holds = piece['value']
                changes.append((piece['time'], self.holds))
        return changes
