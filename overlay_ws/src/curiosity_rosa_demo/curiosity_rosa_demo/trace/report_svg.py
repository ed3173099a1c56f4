"""The report's map, and its plots of the score and the battery."""

from __future__ import annotations

import math
from collections.abc import Sequence

from curiosity_rosa_demo.trace.report_plot import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    box,
    circle,
    drawing,
    frame,
    path,
)
from curiosity_rosa_demo.trace.report_run import Place, Run, Shot

MAP_HEIGHT, SCORE_HEIGHT, BATTERY_HEIGHT = 560.0, 220.0, 180.0
LARGEST_M = 1e6
TRAIL_POINTS = 5000  # more cannot be told apart


def map_svg(run: Run) -> str:
    """Where the rover was, from above: +X to the right, +Y up, metres, one scale for both."""
    places = [place for place in run.trail if _on_the_map(place)]
    if not places:
        return ''
    zone = run.zone
    across, up = _axes(places, zone)
    parts = []
    if zone:
        low, high, half = zone
        x, y = across.at(low), up.at(half)
        parts.append(box('zone', x, y, across.at(high) - x, up.at(-half) - y, 'bright zone'))
    parts += frame(across, up, 'x, metres', 'y, metres')
    every = math.ceil(len(places) / TRAIL_POINTS)
    shown = [*places[::every], places[-1]]
    parts.append(path([(across.at(place.x), up.at(place.y)) for place in shown]))
    for look, place, title in (
        ('begin', places[0], 'where the recording begins'),
        ('end', places[-1], 'where it ends'),
    ):
        parts.append(circle(look, across.at(place.x), up.at(place.y), 6, title))
    parts += [
        _mark(shot, across.at(shot.place.x), up.at(shot.place.y))
        for shot in run.shots
        if shot.place is not None and _on_the_map(shot.place)
    ]
    return drawing('Map', up.start + BOTTOM, parts)


def score_svg(shots: Sequence[Shot]) -> str:
    """Score over x, of the captures whose place is known."""
    known = [
        (shot.place.x, min(1.0, max(0.0, shot.score)), shot)
        for shot in shots
        if shot.score is not None and shot.place is not None and _on_the_map(shot.place)
    ]
    if not known:
        return ''
    xs = [x for x, _, _ in known]
    across = Axis(min(xs) - 0.5, max(xs) + 0.5, LEFT, WIDTH - RIGHT)
    up = Axis(0.0, 1.0, SCORE_HEIGHT - BOTTOM, TOP)
    marks = [_mark(shot, across.at(x), up.at(score)) for x, score, shot in known]
    parts = [*frame(across, up, 'x, metres', 'score'), *marks]
    return drawing('Score over position', SCORE_HEIGHT, parts)


def battery_svg(battery: Sequence[tuple[float, float]]) -> str:
    """``battery``: seconds, and the charge from 0 to 1."""
    if len(battery) < 2 or battery[-1][0] <= battery[0][0]:
        return ''
    across = Axis(battery[0][0], battery[-1][0], LEFT, WIDTH - RIGHT)
    up = Axis(0.0, 100.0, BATTERY_HEIGHT - BOTTOM, TOP)
    percent = [(at_s, 100.0 * min(1.0, max(0.0, level))) for at_s, level in battery]
    level = path([(across.at(at_s), up.at(each)) for at_s, each in percent])
    parts = [*frame(across, up, 'time', 'battery, %', times=True), level]
    return drawing('Battery', BATTERY_HEIGHT, parts)


def _on_the_map(place: Place) -> bool:
    return max(abs(place.x), abs(place.y)) <= LARGEST_M


def _axes(places: Sequence[Place], zone: tuple[float, float, float] | None) -> tuple[Axis, Axis]:
    xs = [0.0, *(place.x for place in places), *(zone[:2] if zone else ())]
    ys = [0.0, *(place.y for place in places), *((-zone[2], zone[2]) if zone else ())]
    low_x, high_x, low_y, high_y = min(xs) - 1.0, max(xs) + 1.0, min(ys) - 1.0, max(ys) + 1.0
    wide, high = WIDTH - LEFT - RIGHT, MAP_HEIGHT - TOP - BOTTOM
    scale = min(wide / (high_x - low_x), high / (high_y - low_y))
    spare = wide / scale - (high_x - low_x)  # a high map gets ground on both sides
    across = Axis(low_x - spare / 2, high_x + spare / 2, LEFT, WIDTH - RIGHT)
    return across, Axis(low_y, high_y, TOP + (high_y - low_y) * scale, TOP)


def _mark(shot: Shot, x: float, y: float) -> str:
    look = 'failed' if shot.score is None else 'good' if shot.is_good else 'dark'
    score = '' if shot.score is None else f', score {shot.score:.2f}'
    mark = circle(f'shot {look}', x, y, 8, f'capture {shot.number}: {look}{score}')
    return f'<a href="#shot-{shot.number}">{mark}</a>'
