# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Alarms for the operator, at most one per text and ALARM_PERIOD_S. Pure; steady seconds."""

from __future__ import annotations

from dataclasses import dataclass

ALARM_PERIOD_S = 10.0


@dataclass
class _Fold:
    """An alarm since its last report: ``repeats`` is the number of those not reported yet."""

    until: float
    repeats: int = 0


class AlarmFold:
    """The first alarm of a text is due at once. Its repetitions are counted, and due as one line
    after ALARM_PERIOD_S.
    """

    def __init__(self) -> None:
        self._folds: dict[str, _Fold] = {}
        self._due: list[str] = []

    def add(self, text: str, now: float) -> None:
        fold = self._folds.get(text)
        if fold is None or (now >= fold.until and fold.repeats == 0):
            self._folds[text] = _Fold(now + ALARM_PERIOD_S)
            self._due.append(text)
        else:
            fold.repeats += 1

    def take_due(self, now: float) -> list[str]:
        """Return and clear the lines that are due at ``now``."""
        for text, fold in list(self._folds.items()):
            if now < fold.until:
                continue
            if fold.repeats == 0:
                del self._folds[text]
                continue
            times = 'once' if fold.repeats == 1 else f'{fold.repeats} times'
            self._due.append(f'{text} ({times} more)')
            self._folds[text] = _Fold(now + ALARM_PERIOD_S)
        due, self._due = self._due, []
        return due

    def next_wakeup(self) -> float | None:
        """The time by which to call ``take_due`` again; None when no repetition is pending."""
        return min((fold.until for fold in self._folds.values() if fold.repeats), default=None)
