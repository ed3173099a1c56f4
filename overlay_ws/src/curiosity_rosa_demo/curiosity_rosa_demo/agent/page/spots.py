"""Captures as the drawings show them: marks that can be chosen. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curiosity_rosa_demo.agent.page.svg import TOLD, Svg, cut, drawable, element, points, title

if TYPE_CHECKING:
    from curiosity_rosa_demo.agent.http.robot import Shot

MOST = 60  # are drawn, the newest


@dataclass(frozen=True)
class Spot:
    """A capture: its trace event, where the rover stood (metres, world frame), how bright."""

    event_id: str
    x: float
    y: float
    score: float
    is_good: bool

    @property
    def words(self) -> str:
        verdict = 'good' if self.is_good else 'dark'
        return f'capture at x {self.x:.2f} m, y {self.y:.2f} m: score {self.score:.2f}, {verdict}'


def spots_of(shots: Iterable[Shot]) -> tuple[Spot, ...]:
    """Those whose place is known."""
    return tuple(
        Spot(shot.event_id, shot.pose.x, shot.pose.y, shot.score, shot.is_good)
        for shot in shots
        if shot.pose is not None
    )


def newest(spots: Iterable[Spot]) -> list[Spot]:
    """The last MOST that can be drawn, the oldest first."""
    kept = [spot for spot in spots if drawable(spot.x, spot.y) and 0.0 <= spot.score <= 1.0]
    return kept[-MOST:]


def mark(spot: Spot, x: float, y: float, *more: Svg) -> Svg:
    """A button at (x, y) of the drawing: a disc with a tick when it is good, else a square, the
    fuller the brighter. Its trace event is its data-event."""
    if spot.is_good:
        tick = [(x - 2.8, y), (x - 0.8, y + 2.4), (x + 3.0, y - 2.4)]
        shapes = [
            element('circle', cx=x, cy=y, r=6.0),
            element('polyline', class_='cr-tick', points=points(tick)),
        ]
    else:
        square = {'x': x - 4.5, 'y': y - 4.5, 'width': 9.0, 'height': 9.0}
        shapes = [element('rect', **square, fill_opacity=spot.score)]
    return element(
        'g',
        title(spot.words),
        element('circle', class_='cr-hit', cx=x, cy=y, r=12.0),
        *shapes,
        *more,
        class_=f'cr-spot {"cr-good" if spot.is_good else "cr-dark"}',
        data_event=cut(spot.event_id, TOLD),
        tabindex='0',
        role='button',
        aria_label=spot.words,
    )
