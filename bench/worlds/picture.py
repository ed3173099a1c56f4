# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The driven paths of some worlds as one SVG sheet. World frame, metres, x to the right."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
import math

from worlds.world import World

PANEL_PX, CAPTION_PX, COLUMNS = 240, 34, 5
HALF_M = 34.0  # of a panel's side
FAR_M = 4 * HALF_M
THINNED = 8  # of a path every eighth place is drawn
STYLE = (
    'text{font:11px sans-serif;fill:#222}.ground{fill:#3b3430}.dim{fill:#8a7a55}'
    '.light{fill:#ffe08a}.rock{fill:#111}.path{fill:none;stroke:#4da3ff;stroke-width:.5}'
    '.start{fill:#4da3ff}.end{fill:#ff5a4d}'
)
Path = Sequence[tuple[float, float]]


def sheet(panels: Sequence[tuple[World, Path, str]]) -> str:
    """An SVG document: each world with its path and a caption."""
    rows = math.ceil(len(panels) / COLUMNS)
    width, height = COLUMNS * PANEL_PX, rows * (PANEL_PX + CAPTION_PX)
    body = ''.join(
        _panel(number, world, path, caption)
        for number, (world, path, caption) in enumerate(panels)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">'
        f'<style>{STYLE}</style>{body}</svg>\n'
    )


def _panel(number: int, world: World, path: Path, caption: str) -> str:
    left = number % COLUMNS * PANEL_PX
    top = number // COLUMNS * (PANEL_PX + CAPTION_PX)
    scale = PANEL_PX / (2 * HALF_M)
    points = ' '.join(f'{x:.1f},{y:.1f}' for x, y in [*path[::THINNED], path[-1]])
    rocks = ''.join(
        f'<circle class="rock" cx="{disc.x:.1f}" cy="{disc.y:.1f}" r="{disc.radius:.1f}"/>'
        for disc in world.obstacles
    )
    ends = ''.join(
        f'<circle class="{name}" cx="{x:.1f}" cy="{y:.1f}" r=".9"/>'
        for name, (x, y) in (('start', path[0]), ('end', path[-1]))
    )
    lines = ''.join(
        f'<text x="{left + 4}" y="{top + PANEL_PX + 13 * (row + 1)}">{escape(line)}</text>'
        for row, line in enumerate(caption.splitlines())
    )
    return (
        f'<svg x="{left + 2}" y="{top + 2}" width="{PANEL_PX - 4}" height="{PANEL_PX - 4}" '
        f'viewBox="0 0 {PANEL_PX} {PANEL_PX}"><g transform="translate({PANEL_PX / 2} '
        f'{PANEL_PX / 2}) scale({scale:.3f} {-scale:.3f})">'
        f'<rect class="ground" x="{-FAR_M}" y="{-FAR_M}" width="{2 * FAR_M}" '
        f'height="{2 * FAR_M}"/>{_light(world)}{rocks}'
        f'<polyline class="path" points="{points}"/>{ends}</g></svg>{lines}'
    )


def _light(world: World) -> str:
    """The half-plane of some light, and in it that of full light."""
    if not world.has_light:
        return ''
    degrees = math.degrees(world.light.heading_rad)
    halves = (('dim', world.light.dark_m), ('light', world.light.bright_m))
    return ''.join(
        f'<rect class="{name}" x="{edge:.1f}" y="{-FAR_M}" width="{FAR_M}" height="{2 * FAR_M}" '
        f'transform="rotate({degrees:.1f})"/>'
        for name, edge in halves
    )
