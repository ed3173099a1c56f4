"""How bright it was where. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from curiosity_rosa_demo.agent.page.scale import round_step, tick_text, ticks
from curiosity_rosa_demo.agent.page.spots import Spot, mark, newest
from curiosity_rosa_demo.agent.page.svg import Svg, element, label, line, points, room, title
from curiosity_rosa_demo.infra.config_models import LightModelConfig

WIDTH, HEIGHT = 480.0, 220.0
LEFT, RIGHT, TOP, BOTTOM = 40.0, 464.0, 18.0, 180.0  # of the axes
PARTS, MOST_TICKS = 6, 9
EMPTY_SPAN_M = (0.0, 5.0)
SCORES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Axes:
    """From metres along X and a score to the drawing."""

    low: float
    high: float

    def at(self, x: float, score: float) -> tuple[float, float]:
        part = (x - self.low) / (self.high - self.low)
        return LEFT + (RIGHT - LEFT) * part, BOTTOM - (BOTTOM - TOP) * score


def score_over_position(
    spots: Sequence[Spot], threshold: float, *, light: LightModelConfig | None = None
) -> Svg:
    """The score, 0 to 1, over X in metres of the world frame; an <svg> like map_svg.render's.

    ``light``: the model by which the simulator scores, drawn as a line.
    """
    spots = newest(spots)
    axes = _axes(spots, light)
    empty = [] if spots else [label('no captures yet', (LEFT + RIGHT) / 2, 100.0, 'middle')]
    return element(
        'svg',
        element('rect', class_='cr-ground', x=0.0, y=0.0, width=WIDTH, height=HEIGHT),
        *_scales(axes),
        *_light(light, axes),
        *_threshold(threshold),
        *(mark(spot, *axes.at(spot.x, spot.score)) for spot in spots),
        *empty,
        viewBox=f'0 0 {WIDTH:g} {HEIGHT:g}',
        class_='cr-drawing cr-plot',
        role='group',
        aria_label=f'Score over position: {len(spots)} captures, good from {threshold:.2f}',
    )


def _axes(spots: Sequence[Spot], light: LightModelConfig | None) -> Axes:
    """Whole steps around all that is drawn, so that they seldom change."""
    xs = [spot.x for spot in spots] + ([light.x_min, light.x_good] if light else [])
    low, high = (min(xs), max(xs)) if xs else EMPTY_SPAN_M
    step = round_step(max(high - low, 1.0), PARTS)
    return Axes(math.floor(low / step - 0.2) * step, math.ceil(high / step + 0.2) * step)


def _scales(axes: Axes) -> Iterator[Svg]:
    step = round_step(axes.high - axes.low, MOST_TICKS)
    lines, numbers = [], []
    for x in ticks(axes.low, axes.high, step):
        across, _ = axes.at(x, 0.0)
        lines.append(line(across, TOP, across, BOTTOM))
        number = tick_text(x, step)
        if across + room(number) / 2 <= WIDTH:
            numbers.append(label(number, across, BOTTOM + 15.0, 'middle'))
    for score in SCORES:
        _, down = axes.at(axes.low, score)
        lines.append(line(LEFT, down, RIGHT, down))
        numbers.append(label(f'{score:g}', LEFT - 6.0, down + 4.0, 'end'))
    numbers.append(label('x (m)', RIGHT, HEIGHT - 8.0, 'end'))
    numbers.append(label('score', 4.0, 12.0))
    yield element('g', *lines, class_='cr-grid', aria_hidden='true')
    corner = points([(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)])
    yield element('g', element('polyline', points=corner), *numbers, class_='cr-ticks cr-numbers')


def _light(light: LightModelConfig | None, axes: Axes) -> Iterator[Svg]:
    if light is None:
        return
    bends = [(axes.low, 0.0), (light.x_min, 0.0), (light.x_good, 1.0), (axes.high, 1.0)]
    way = points([axes.at(*bend) for bend in bends])
    yield element('polyline', title('light model'), class_='cr-light', points=way)


def _threshold(threshold: float) -> Iterator[Svg]:
    down = BOTTOM - (BOTTOM - TOP) * threshold
    yield line(LEFT, down, RIGHT, down, 'cr-threshold', f'good from {threshold:.2f}')
    yield label(f'good from {threshold:.2f}', LEFT + 5.0, down - 5.0, class_='cr-soft')
