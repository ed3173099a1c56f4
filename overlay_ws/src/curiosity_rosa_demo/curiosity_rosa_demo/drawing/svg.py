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
from pathlib import Path
from typing import NewType

from curiosity_rosa_demo.domain.geometry import XY
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.drawing.columns import clip_columns, columns_of

Svg = NewType('Svg', str)  # markup; every other text has to be escaped

MAX_COORDINATE_M = 1e7  # metres; nothing beyond can be drawn
MAX_TITLE_COLUMNS = 300  # columns of a title or of an id
LETTER_WIDTH = 7.0  # room for one of 12 units


def element(name: str, *children: Svg, **attributes: str | float | None) -> Svg:
    """``class_`` is written class, ``data_event`` data-event; None leaves an attribute out."""
    shown = ''.join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = ''.join(children)
    return Svg(f'<{name}{shown}>{inside}</{name}>' if inside else f'<{name}{shown}/>')


def drawing(
    kind: str, width: float, height: float, words: str, *parts: Svg, role: str = 'group'
) -> Svg:
    """The <svg>, which fills the width that it is given, in the colours of ``css``.
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


def escaped(value: str | float) -> Svg:
    """A text on one line, without control characters; a number as ``number_text``."""
    return Svg(html.escape(printable(value) if isinstance(value, str) else number_text(value)))


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


def points_attribute(places: Iterable[XY]) -> str:
    """As polylines, polygons and paths have them."""
    return ' '.join(f'{number_text(x)},{number_text(y)}' for x, y in places)


def number_text(value: float) -> str:
    """At most two decimals, no exponent. Raises ValueError unless it is finite."""
    if not math.isfinite(value):
        raise ValueError(f'{value} cannot be drawn; only finite numbers can')
    shown = f'{value:.2f}'.rstrip('0').rstrip('.')
    return '0' if shown == '-0' else shown


def is_drawable(*values: object) -> bool:
    """Whether all are numbers (True is none), finite and no farther than MAX_COORDINATE_M."""
    return all(
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and -MAX_COORDINATE_M <= value <= MAX_COORDINATE_M
        for value in values
    )


def css() -> str:
    """Once a page: the colours as custom properties, and how the drawings use them."""
    return Path(__file__).with_name('drawing.css').read_text(encoding='utf-8')


# --- Labels that do not cover each other. Pure -------------------------------------------------


ASCENT, DESCENT = 11.0, 3.0  # of a line of 12 units, from its baseline


LabelPlace = tuple[float, float, str | None]  # x, y and anchor of ``label``; None: it begins at x


class LabelPlacer:
    """Gives each label the first of its places that is free and inside the drawing."""

    def __init__(self, width: float, height: float) -> None:
        self._width, self._height = width, height
        self._taken: list[tuple[float, float, float, float]] = []

    def place(
        self, words: str, places: Iterable[LabelPlace], class_: str | None = None
    ) -> list[Svg]:
        """The label, or none when no place is free."""
        width = label_width(words)
        for x, y, anchor in places:
            left = x - {'middle': width / 2, 'end': width}.get(anchor or '', 0.0)
            top, right, bottom = y - ASCENT, left + width, y + DESCENT
            inside = min(left, top) >= 0.0 and right <= self._width and bottom <= self._height
            if inside and not any(
                left < taken[2] and taken[0] < right and top < taken[3] and taken[1] < bottom
                for taken in self._taken
            ):
                self._taken.append((left, top, right, bottom))
                return [label(words, x, y, anchor, class_)]
        return []
