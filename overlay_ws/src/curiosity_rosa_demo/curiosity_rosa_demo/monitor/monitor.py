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
from functools import cache
from pathlib import Path
import re
from typing import Literal

from curiosity_rosa_demo.infra.config.base import read_yaml
from curiosity_rosa_demo.infra.config.limits import Thresholds
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from reelay import dense_timed_monitor

# --- The numbers in the formulas, from the configuration that the operator may change -----------

# From a cause to standing wheels, beside the configured times: messages at 5 to 10 Hz, and a call
# of another node, which the trace reports up to 2.5 s late.
MESSAGES_S = 1.5
REACTION_S = 0.5  # a mast or an e-stop that has been so for this long is known to the adapter
KERNEL_S = 2.0  # the agent's kernel latches SAFE within this time of its cause
CHARGE_S = 60.0  # time of an agent to end its motion and to stow the mast before it charges


def limits_of(thresholds: Thresholds) -> dict[str, float]:
    """The value of each <name> of requirements.yaml: seconds."""
    motion, mast = thresholds.motion, thresholds.mast
    stop_s = motion.stop_timeout_s + motion.settle_s + MESSAGES_S
    return {
        'stop_s': stop_s,
        'leash_s': motion.max_duration_s + stop_s,
        'unasked_s': stop_s + motion.settle_s,
        'asked_s': motion.max_duration_s + 2 * stop_s,
        'silence_s': motion.odometry_stop_s + stop_s,
        'stale_s': motion.odometry_max_age_s + stop_s,
        'mast_s': mast.joint_max_age_s + stop_s,
        'reaction_s': REACTION_S,
        'safe_s': stop_s + KERNEL_S,
        'runaway_s': 2 * stop_s,
        'slip_s': 2 * thresholds.drive.slip_s + stop_s,
        'stuck_s': thresholds.drive.stuck_s + stop_s,
        'charge_s': CHARGE_S,
    }


# --- The table of requirements, requirements.yaml -----------------------------------------------

FILE = Path(__file__).with_name('requirements.yaml')
Severity = Literal['advisory', 'caution', 'warning', 'critical']
Response = Literal['warn', 'hold', 'stop', 'stow', 'safe']
SIGNAL, LIMIT = re.compile(r'\{(\w+)\}'), re.compile(r'<(\w+)>')


class Requirement(BaseModel):
    """One entry. ``rule``: ``module.path:Name`` below the package; the tests: ``file::function``.

    ``formula`` is true as long as the requirement holds. {name} is a signal (signals.py), <name> a
    number (``limits_of``). Exactly one of ``formula`` and ``no_monitor`` is given.
    """

    model_config = ConfigDict(frozen=True, extra='forbid', strict=True)

    id: str = Field(pattern=r'^(S[1-6]|FR-\d\d)$')
    title: str = Field(min_length=1)
    severity: Severity
    response: Response
    rationale: str = Field(min_length=1)
    source: str = Field(min_length=1)
    rule: str = Field(pattern=r'^[a-z_.]+:\w+(\.\w+)*$')
    property_test: str = Field(pattern=r'^[\w/]+\.py::\w+$')
    ros_test: str = Field(pattern=r'^[\w/]+\.py::\w+$')
    formula: str = ''
    no_monitor: str = ''

    @property
    def signals(self) -> tuple[str, ...]:
        """The names of the signals in the formula, each once."""
        return tuple(dict.fromkeys(SIGNAL.findall(self.formula)))

    def formula_with(self, limits: dict[str, float]) -> str:
        """The formula with its limits as numbers. Raises KeyError for an unknown one."""
        return LIMIT.sub(lambda name: f'{limits[name[1]]:g}', self.formula)


@cache
def load_requirements() -> tuple[Requirement, ...]:
    """The entries in file order."""
    return TypeAdapter(tuple[Requirement, ...]).validate_python(read_yaml(FILE))


# --- The verdicts -------------------------------------------------------------------------------

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
        """Raises KeyError for an unknown limit."""
        self._formulas = [_Formula(each, limits) for each in requirements if each.formula]
        self._signals = {
            name: False for each in self._formulas for name in each.requirement.signals
        }
        self._start_s: float | None = None
        self._now_s = 0.0

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
        changed = {
            name for name, value in signals.items() if name in known and known[name] != bool(value)
        }
        known.update((name, bool(signals[name])) for name in changed)
        return [
            Verdict(rule.id, holds, at_s + self._start_s, rule.severity, rule.response, rule.title)
            for formula in self._formulas
            for rule in (formula.requirement,)
            for at_s, holds in formula.update(now_s, known, changed)
        ]


class _Formula:
    def __init__(self, requirement: Requirement, limits: dict[str, float]) -> None:
        self.requirement = requirement
        self.holds = True
        self._names = requirement.signals
        self._monitor = dense_timed_monitor(pattern=requirement.formula_with(limits))
        self._updated_s = 0.0
        self._monitor.update({'time': 0.0, **dict.fromkeys(self._names, False)})

    def update(
        self, now_s: float, signals: Mapping[str, bool], changed: set[str]
    ) -> list[tuple[float, bool]]:
        """When the formula has become false or true since the last update."""
        if now_s - self._updated_s < REFRESH_S and changed.isdisjoint(self._names):
            return []
        self._updated_s = now_s
        sample = {name: signals[name] for name in self._names}
        changes = []
        for piece in self._monitor.update({'time': now_s, **sample}):
            if piece['value'] != self.holds:
                self.holds = piece['value']
                changes.append((piece['time'], self.holds))
        return changes
