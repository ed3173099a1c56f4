# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Axes, and round numbers for them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
import math


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high``, which is more, onto ``start`` to ``end`` of a drawing."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Never beyond the ends."""
        part = (value - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * min(1.0, max(0.0, part))


def round_step(span: float, most: int) -> float:
    """The smallest of 1, 2, 5, 10, ... that divides ``span`` (above 0) into ``most`` or fewer."""
    least = span / most
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0, 20.0) if step * power >= least)


def ticks(low: float, high: float, step: float) -> list[float]:
    """The multiples of ``step`` from ``low`` to ``high``."""
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def tick_text(value: float, step: float) -> str:
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    shown = f'{value:.{decimals}f}'
    return shown.removeprefix('-') if float(shown) == 0.0 else shown.replace('-', '−')
