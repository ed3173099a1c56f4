"""What the report's drawings are made of: axes, lines, labels. SVG, with the page's colours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from curiosity_rosa_demo.trace.report_text import clock

WIDTH = 960.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 16.0, 36.0  # margins, for the labels


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high``, which is more, onto ``start`` to ``end`` of the drawing."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 8) -> list[float]:
        """Round values, at most ``most`` + 1 of them."""
        step = round_step((self.high - self.low) / most)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is at least ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= least * (1 - 1e-9))


def frame(
    across: Axis, up: Axis, x_label: str, y_label: str, *, times: bool = False
) -> Iterator[str]:
    """The grid and its labels; ``times``: the axis across is seconds."""
    for tick in across.ticks():
        x = across.at(tick)
        yield line(x, up.end, x, up.start)
        yield label('x', x, up.start + 16, clock(tick) if times else f'{tick:g}')
    for tick in up.ticks(5):
        y = up.at(tick)
        yield line(across.start, y, across.end, y)
        yield label('y', across.start - 6, y + 4, f'{tick:g}')
    yield label('x', (across.start + across.end) / 2, up.start + 32, x_label)
    turned = f'translate(16 {(up.start + up.end) / 2:.1f}) rotate(-90)'
    yield f'<text class="x" transform="{turned}">{y_label}</text>'


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="grid" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def label(look: str, x: float, y: float, text: str) -> str:
    return f'<text class="{look}" x="{x:.1f}" y="{y:.1f}">{text}</text>'


def circle(look: str, x: float, y: float, radius: float, title: str) -> str:
    """``title`` is HTML already."""
    return (
        f'<circle class="{look}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}">'
        f'<title>{title}</title></circle>'
    )


def box(look: str, x: float, y: float, width: float, height: float, title: str) -> str:
    """``title`` is HTML already."""
    return (
        f'<rect class="{look}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}"><title>{title}</title></rect>'
    )


def path(points: Sequence[tuple[float, float]]) -> str:
    return f'<polyline class="trail" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def drawing(title: str, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH:.0f} {height:.0f}" role="img" aria-label="{title}">'
        f'{"".join(parts)}</svg>'
    )
