# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Shortest paths of a vehicle that drives forward and turns in arcs (L. E. Dubins, 1957).

Metres and radians. The formulas are those of Shkel and Lumelsky, "Classification of the Dubins
set" (2001), for a start at the origin and lengths in units of the radius.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import math

from curiosity_rosa_demo.domain.geometry import Place

DUBINS_WORDS = ('LSL', 'RSR', 'LSR', 'RSL', 'RLR', 'LRL')


@dataclass(frozen=True)
class DubinsPath:
    """At most three segments, each a letter of L, S, R and its length in metres along the path."""

    segments: tuple[tuple[str, float], ...]

    @property
    def length(self) -> float:
        return sum(metres for _, metres in self.segments)


def dubins_paths(start: Place, goal: Place, radius: float) -> Iterator[DubinsPath]:
    """Yield the path of each Dubins word that connects the two poses, in no order of length."""
    dx, dy = goal.x - start.x, goal.y - start.y
    distance, bearing = math.hypot(dx, dy) / radius, math.atan2(dy, dx)
    alpha, beta = (
        _normalized_angle(start.yaw_rad - bearing),
        _normalized_angle(goal.yaw_rad - bearing),
    )
    for word in DUBINS_WORDS:
        lengths = _lengths(word, alpha, beta, distance)
        if lengths is not None:
            yield DubinsPath(
                tuple(
                    (letter, length * radius) for letter, length in zip(word, lengths, strict=True)
                )
            )


def paths_to_place(start: Place, x: float, y: float, radius: float) -> Iterator[DubinsPath]:
    """Yield the paths to a place that may be the shortest one, with any heading at its end.

    They are an arc and a straight line to a place outside the circle of that arc, else two arcs of
    opposite directions (Bui, Soueres, Boissonnat and Laumond, "Shortest path synthesis for Dubins
    non-holonomic robot", 1994).
    """
    dx, dy = (x - start.x) / radius, (y - start.y) / radius
    ahead = dx * math.cos(start.yaw_rad) + dy * math.sin(start.yaw_rad)
    left = dy * math.cos(start.yaw_rad) - dx * math.sin(start.yaw_rad)
    for first, second, aside in (('L', 'R', left), ('R', 'L', -left)):  # mirrored: turn left first
        away = math.hypot(ahead, aside - 1.0)  # from the centre of the first circle, in radii
        bearing = math.atan2(aside - 1.0, ahead)
        if away >= 1.0:
            line = math.sqrt(away * away - 1.0)
            turn = _normalized_angle(bearing - math.atan2(-1.0, line))
            yield DubinsPath(((first, turn * radius), ('S', line * radius)))
        if 1.0 <= away <= 3.0:  # the second circle touches the first and leads through the place
            at = math.acos(min(1.0, max(-1.0, (away * away + 3.0) / (4.0 * away))))
            for centre in (bearing + at, bearing - at):
                # The second circle's centre lies two radii away from the first's at this angle.
                to_x, to_y = 2.0 * math.cos(centre), 1.0 + 2.0 * math.sin(centre)
                from_touch = math.atan2(-math.sin(centre), -math.cos(centre))
                to_place = math.atan2(aside - to_y, ahead - to_x)
                arcs = (
                    _normalized_angle(centre + math.pi / 2),
                    _normalized_angle(from_touch - to_place),
                )
                yield DubinsPath(((first, arcs[0] * radius), (second, arcs[1] * radius)))


def _lengths(word: str, alpha: float, beta: float, d: float) -> tuple[float, float, float] | None:
    """The lengths of the three segments in radii; None if the word has no path."""
    sa, sb, ca, cb = math.sin(alpha), math.sin(beta), math.cos(alpha), math.cos(beta)
    cab = math.cos(alpha - beta)
    if word == 'LSL':
        square = 2 + d * d - 2 * cab + 2 * d * (sa - sb)
        theta = math.atan2(cb - ca, d + sa - sb)
        return _lengths_if_real(
            square, _normalized_angle(theta - alpha), _normalized_angle(beta - theta)
        )
    if word == 'RSR':
        square = 2 + d * d - 2 * cab + 2 * d * (sb - sa)
        theta = math.atan2(ca - cb, d - sa + sb)
        return _lengths_if_real(
            square, _normalized_angle(alpha - theta), _normalized_angle(theta - beta)
        )
    if word == 'LSR':
        square = -2 + d * d + 2 * cab + 2 * d * (sa + sb)
        theta = math.atan2(-ca - cb, d + sa + sb) - math.atan2(-2.0, _real_root(square))
        return _lengths_if_real(
            square, _normalized_angle(theta - alpha), _normalized_angle(theta - beta)
        )
    if word == 'RSL':
        square = -2 + d * d + 2 * cab - 2 * d * (sa + sb)
        theta = math.atan2(ca + cb, d - sa - sb) - math.atan2(2.0, _real_root(square))
        return _lengths_if_real(
            square, _normalized_angle(alpha - theta), _normalized_angle(beta - theta)
        )
    if word == 'RLR':
        middle = (6 - d * d + 2 * cab + 2 * d * (sa - sb)) / 8
        if abs(middle) > 1:
            return None
        turn = _normalized_angle(math.tau - math.acos(middle))
        first = _normalized_angle(alpha - math.atan2(ca - cb, d - sa + sb) + turn / 2)
        return first, turn, _normalized_angle(alpha - beta - first + turn)
    middle = (6 - d * d + 2 * cab + 2 * d * (sb - sa)) / 8
    if abs(middle) > 1:
        return None
    turn = _normalized_angle(math.tau - math.acos(middle))
    first = _normalized_angle(-alpha + math.atan2(-ca + cb, d + sa - sb) + turn / 2)
    return first, turn, _normalized_angle(beta - alpha - first + turn)


def _lengths_if_real(
    square: float, first: float, last: float
) -> tuple[float, float, float] | None:
    return (first, math.sqrt(square), last) if square >= 0 else None


def _real_root(square: float) -> float:
    return math.sqrt(max(square, 0.0))


def _normalized_angle(angle: float) -> float:
    """``angle`` in [0, 2 pi). Rounding errors just below a full turn become 0."""
    angle %= math.tau
    return 0.0 if angle > math.tau - 1e-9 else angle


def pose_after(start: Place, letter: str, metres: float, radius: float) -> Place:
    """The pose at the end of one segment."""
    turn = {'S': 0.0, 'L': 1.0, 'R': -1.0}[letter] * metres / radius
    return start.after(metres, turn)
