# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""SVG as text. Whatever comes from outside goes through here: escaped, finite, in one line."""

from __future__ import annotations

from collections.abc import Iterable
import html
import math
from typing import NamedTuple, NewType
import unicodedata

from curiosity_rosa_demo.domain.text import one_line
from curiosity_rosa_demo.drawing.columns import columns_of, first_columns

Svg = NewType('Svg', str)  # markup; every other text has to be escaped
Attribute = str | float | None

MAX_COORDINATE_M = 1e7  # metres; nothing beyond can be drawn
MAX_TITLE_COLUMNS = 300  # columns of a title or of an id
LETTER_WIDTH = 7.0  # room for one of 12 units


def element(name: str, *children: Svg, **attributes: Attribute) -> Svg:
    """``class_`` is written class, ``data_event`` data-event; None leaves an attribute out."""
    shown = ''.join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = ''.join(children)
    return Svg(f'<{name}{shown}>{inside}</{name}>' if inside else f'<{name}{shown}/>')


def drawing(
    kind: str, width: float, height: float, words: str, *parts: Svg, role: str = 'group'
) -> Svg:
    """The <svg>, which fills the width that it is given, in the colours of colours.css().
    ``words``: what a screen reader says of it.
    """
    return element(
        'svg',
        element('rect', class_='cr-ground', x=0.0, y=0.0, width=width, height=height),
        *parts,
        viewBox=f'0 0 {width:g} {height:g}',
        class_=f'cr-drawing cr-{kind}',
        role=role,
        aria_label=words,
    )


def escaped(words: str) -> Svg:
    return Svg(html.escape(plain_text(words)))


def title(words: str) -> Svg:
    """What a pointer that rests on the shape, and a screen reader, tell of it."""
    return element('title', escaped(clip_columns(words, MAX_TITLE_COLUMNS)))


def line(
    x1: float, y1: float, x2: float, y2: float, class_: str | None = None, words: str = ''
) -> Svg:
    """``words``: its title."""
    inside = [title(words)] if words else []
    return element('line', *inside, class_=class_, x1=x1, y1=y1, x2=x2, y2=y2)


def label(
    words: str, x: float, y: float, anchor: str | None = None, class_: str | None = None
) -> Svg:
    return element('text', escaped(words), x=x, y=y, text_anchor=anchor, class_=class_)


def label_width(words: str) -> float:
    """For a label of these words."""
    return LETTER_WIDTH * columns_of(words)


def first_fitting_label(choices: Iterable[str], x: float, y: float, width: float) -> list[Svg]:
    """The first of the choices for which there is room, as a label; or none."""
    return [label(words, x, y) for words in choices if label_width(words) <= width][:1]


def points_attribute(places: Iterable[tuple[float, float]]) -> str:
    """As polylines, polygons and paths have them."""
    return ' '.join(f'{number_text(x)},{number_text(y)}' for x, y in places)


def number_text(value: float) -> str:
    """At most two decimals, no exponent. Raises ValueError unless it is finite."""
    if not math.isfinite(value):
        raise ValueError(f'{value} cannot be drawn; only finite numbers can')
    shown = f'{value:.2f}'.rstrip('0').rstrip('.')
    return '0' if shown == '-0' else shown


def is_drawable(*values: object) -> bool:
    """Whether all are numbers (True is none), finite and no farther than LARGEST."""
    return all(
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and -MAX_COORDINATE_M <= value <= MAX_COORDINATE_M
        for value in values
    )


def plain_text(words: str) -> str:
    """In one line, without what XML forbids and what turns the direction of writing."""
    if words.isascii() and words.isprintable():
        return words
    return ' '.join(''.join(map(_plain, words)).split())


def clip_columns(words: str, columns: int) -> str:
    """``plain_text`` in at most so many columns; a wide letter takes two."""
    words = one_line(plain_text(words[: 10 * columns + 100]))
    if columns_of(words) <= columns:
        return words
    return f'{first_columns(words, columns - 1).rstrip()}…'


def _value(value: str | float) -> str:
    return html.escape(plain_text(value)) if isinstance(value, str) else number_text(value)


def _plain(character: str) -> str:
    kind = unicodedata.category(character)
    if kind in ('Cc', 'Zl', 'Zp'):
        return ' '
    return '' if kind.startswith('C') else character


# -----------------------------------------------------------------------------------------------
# The colours of the page and of reports, light and dark, and the style sheet of the drawings
#
# Each pair keeps WCAG's contrast on every ground: 4.5 for text, 3 for shapes. No state is told by
# its colour alone: shapes, signs and words tell it too.


Pair = tuple[str, str]  # on light, on dark

BACKGROUND_COLOURS: dict[str, Pair] = {
    'page': ('#ffffff', '#11151b'),
    'panel': ('#f5f6f8', '#1a2029'),
    'zone': ('#fff3c4', '#3a3314'),
}
TEXT_COLOURS: dict[str, Pair] = {
    'ink': ('#1b1f24', '#e8ebef'),
    'soft': ('#535b66', '#a9b3c0'),
    'alarm-ink': ('#a3161b', '#ff9a94'),
}
SHAPE_COLOURS: dict[str, Pair] = {
    'axis': ('#6d7580', '#8a94a3'),
    'zone-edge': ('#8a6d00', '#d9b93b'),
    'rover': ('#9a3412', '#ff9d5c'),
    'trail': ('#1d5fbf', '#6fb1ff'),
    'good': ('#0b6e4f', '#3fd09b'),
    'dark': ('#5b3f99', '#c3a6ff'),
    'goal': ('#8f1d76', '#ff8fdc'),
    'obstacle': ('#a3161b', '#ff8078'),
    'fence': ('#a3161b', '#ff8078'),
    'thinking': ('#5b3f99', '#c3a6ff'),
    'checking': ('#535b66', '#a9b3c0'),
    'acting': ('#1d5fbf', '#6fb1ff'),
    'asking': ('#8f1d76', '#ff8fdc'),
    'pending': ('#535b66', '#a9b3c0'),
    'waiting': ('#76600a', '#d9b93b'),
    'active': ('#1d5fbf', '#6fb1ff'),
    'paused': ('#9a3412', '#ff9d5c'),
    'recovering': ('#5b3f99', '#c3a6ff'),
    'completed': ('#0b6e4f', '#3fd09b'),
    'failed': ('#a3161b', '#ff8078'),
    'cancelled': ('#3d444d', '#c5ccd6'),
}
ON_SHAPE_COLOUR: Pair = ('#ffffff', '#11151b')  # text upon a shape
FAINT_COLOUR: Pair = ('#dfe3e8', '#2a323d')  # the grid: for the eye to rest on, tells nothing

PHASES = ('thinking', 'checking', 'acting', 'asking')  # of a turn
STATES = (  # of a task
    *('pending', 'waiting', 'active', 'paused', 'recovering'),
    *('completed', 'failed', 'cancelled'),
)

_RULES = """
.cr-drawing { display: block; width: 100%; height: auto; }
.cr-drawing text { fill: var(--cr-ink); font: 12px system-ui, 'DejaVu Sans', sans-serif;
  font-variant-numeric: tabular-nums; }
.cr-drawing .cr-numbers text { fill: var(--cr-soft); font-size: 12px; }
.cr-map text, .cr-plot text { paint-order: stroke; stroke: var(--cr-page); stroke-width: 3px;
  stroke-linejoin: round; }
.cr-drawing .cr-alarm { fill: var(--cr-alarm-ink); }
.cr-ground { fill: var(--cr-page); }
.cr-grid line { stroke: var(--cr-faint); }
.cr-grid .cr-axis { stroke: var(--cr-axis); }
.cr-zone { fill: var(--cr-zone); stroke: var(--cr-zone-edge); stroke-dasharray: 2 3; }
.cr-fence { stroke: var(--cr-fence); stroke-width: 2.5; stroke-dasharray: 9 5; }
.cr-trail { fill: none; stroke: var(--cr-trail); stroke-width: 2; stroke-linejoin: round; }
.cr-begin { fill: var(--cr-page); stroke: var(--cr-trail); stroke-width: 2; }
.cr-way { stroke: var(--cr-goal); stroke-dasharray: 4 4; }
.cr-forecast { fill: none; stroke: var(--cr-goal); stroke-width: 2; stroke-dasharray: 2 5;
  stroke-linecap: round; }
.cr-goal { fill: none; stroke: var(--cr-goal); stroke-width: 2; }
.cr-obstacle line { stroke: var(--cr-obstacle); stroke-width: 4; stroke-linecap: round; }
.cr-rover polygon { fill: var(--cr-rover); stroke: var(--cr-page); }
.cr-wheels line { stroke: var(--cr-ink); stroke-linecap: round; }
.cr-rover .cr-mast { fill: var(--cr-page); }
.cr-unknown rect { fill: var(--cr-panel); stroke: var(--cr-alarm-ink); stroke-width: 2; }
.cr-drawing .cr-unknown text { fill: var(--cr-alarm-ink); font-weight: 600; }
.cr-hit { fill: transparent; stroke: none; }
.cr-spot { cursor: pointer; }
.cr-good > circle:not(.cr-hit) { fill: var(--cr-good); stroke: var(--cr-page); }
.cr-good .cr-tick { fill: none; stroke: var(--cr-on-shapes); stroke-width: 1.6; }
.cr-dark rect { fill: var(--cr-dark); stroke: var(--cr-dark); stroke-width: 2; }
.cr-spot.cr-failed line { stroke: var(--cr-failed); stroke-width: 2.5; }
.cr-spot:focus { outline: none; }
.cr-spot:focus-visible .cr-hit, .cr-spot:hover .cr-hit { stroke: var(--cr-ink); stroke-width: 2; }
.cr-scale polyline, .cr-ticks polyline { fill: none; stroke: var(--cr-axis); }
.cr-threshold { stroke: var(--cr-good); stroke-width: 1.5; stroke-dasharray: 6 4; }
.cr-light { fill: none; stroke: var(--cr-zone-edge); stroke-width: 1.5; stroke-dasharray: 2 3; }
.cr-now { stroke: var(--cr-axis); stroke-dasharray: 3 3; }
.cr-drawing .cr-bar text { fill: var(--cr-on-shapes); font-size: 12px; }
.cr-drawing .cr-soft { fill: var(--cr-soft); }
"""


def css() -> str:
    """Once a page: the colours as custom properties, and how the drawings use them. Dark on a
    screen, not on paper, where the browser says so; NiceGUI's body--light and body--dark overrule
    it.
    """
    light, dark = (_properties(side) for side in (0, 1))
    bars = ''.join(
        f'.cr-{name} {{ --cr-own: var(--cr-{name}); }}\n' for name in (*STATES, *PHASES)
    )
    return (
        f':root, .body--light {{ {light} }}\n'
        f'@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n'
        f'.body--dark {{ {dark} }}\n{_RULES}{bars}'
        '.cr-bar rect { fill: var(--cr-own); stroke: var(--cr-page); }\n'
        '.cr-drawing .cr-sign { fill: var(--cr-own); font-weight: 600; }\n'
    )


def _properties(side: int) -> str:
    pairs = {
        **BACKGROUND_COLOURS,
        **TEXT_COLOURS,
        **SHAPE_COLOURS,
        'on-shapes': ON_SHAPE_COLOUR,
        'faint': FAINT_COLOUR,
    }
    return ' '.join(f'--cr-{name}: {pair[side]};' for name, pair in pairs.items())


# --- Labels that do not cover each other. Pure -------------------------------------------------


ASCENT, DESCENT = 11.0, 3.0  # of a line of 12 units, from its baseline


class LabelPlace(NamedTuple):
    """Where a label may stand: as ``label`` takes it. ``anchor`` None: it begins at ``x``."""

    x: float
    y: float
    anchor: str | None = None


class LabelPlacer:
    """Gives each label the first of its places that is free and inside the drawing."""

    def __init__(self, width: float, height: float) -> None:
        self._width, self._height = width, height
        self._taken: list[tuple[float, float, float, float]] = []

    def place(
        self, words: str, places: Iterable[LabelPlace], class_: str | None = None
    ) -> list[Svg]:
        """The label, or none when no place is free."""
        for each in places:
            box = self._box(words, each)
            if self._is_inside(box) and not any(_overlap(box, other) for other in self._taken):
                self._taken.append(box)
                return [label(words, each.x, each.y, each.anchor, class_)]
        return []

    def _box(self, words: str, place: LabelPlace) -> tuple[float, float, float, float]:
        width = label_width(words)
        shift = {'middle': width / 2, 'end': width}.get(place.anchor or '', 0.0)
        left = place.x - shift
        return left, place.y - ASCENT, left + width, place.y + DESCENT

    def _is_inside(self, box: tuple[float, float, float, float]) -> bool:
        left, top, right, bottom = box
        return left >= 0.0 and top >= 0.0 and right <= self._width and bottom <= self._height


def _overlap(
    one: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
