"""Round numbers for axes. Pure."""

from __future__ import annotations

import math


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
