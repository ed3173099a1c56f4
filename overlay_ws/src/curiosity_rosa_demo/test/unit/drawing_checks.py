# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What holds for every drawing of the page and of reports, whatever it is made of."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from hypothesis import strategies as st

HOSTILE = (
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onload='alert(1)",
    '</title></svg><script>alert(1)</script>',
    '<![CDATA[ ]]> <!-- --> &amp; &lt; &#x0; &bogus;',
    'javascript:alert(1)',
    'nul \x00 bell \x07 esc \x1b[31m',
    'half \ud83d of a pair \ufffe \uffff',
    'turned \u202e round \u2066 \u200f',
    'lines\none\r\ntwo\u2028three\x85four',
    '光の方へ進む🤖' * 400,
    'w' * 9_000,
)
texts = st.sampled_from(HOSTILE) | st.text(max_size=40)

TAGS = {'svg', 'g', 'a', 'rect', 'circle', 'line', 'polyline', 'polygon', 'text', 'title'}
ATTRIBUTES = {
    *('class', 'viewBox', 'role', 'aria-label', 'aria-hidden', 'tabindex', 'text-anchor'),
    *('data-at', 'data-event', 'data-step', 'data-task', 'href'),
    *('x', 'y', 'x1', 'y1', 'x2', 'y2', 'cx', 'cy', 'r', 'rx', 'width', 'height', 'points'),
    *('stroke-width', 'fill-opacity'),
}
NUMBER = re.compile(r'-?\d+(\.\d+)?')
LARGEST_BYTES = 60_000


def checked(drawing: str, most_bytes: int = LARGEST_BYTES) -> ElementTree.Element:
    """Its root: well formed, nothing but shapes and text, all of it inside, and not large."""
    root = ElementTree.fromstring(drawing)
    assert len(drawing.encode()) <= most_bytes
    left, top, width, height = map(float, root.attrib['viewBox'].split())
    assert (left, top) == (0.0, 0.0)
    for shape in root.iter():
        assert shape.tag in TAGS
        assert set(shape.attrib) <= ATTRIBUTES, shape.attrib
        assert shape.get('href', '#').startswith('#')
        for x, y in corners(shape):
            assert -0.01 <= x <= width + 0.01, ElementTree.tostring(shape)
            assert -0.01 <= y <= height + 0.01, ElementTree.tostring(shape)
    return root


def corners(shape: ElementTree.Element) -> list[tuple[float, float]]:
    """The places that a shape reaches. Of a label as a wide font would have it."""
    number = {key: _number(value) for key, value in shape.attrib.items() if _is_numeric(key)}
    if shape.tag == 'rect':
        x, y = number['x'], number['y']
        return [(x, y), (x + number['width'], y + number['height'])]
    if shape.tag == 'circle':
        x, y, r = number['cx'], number['cy'], number['r']
        return [(x - r, y - r), (x + r, y + r)]
    if shape.tag == 'line':
        return [(number['x1'], number['y1']), (number['x2'], number['y2'])]
    if shape.tag in ('polyline', 'polygon'):
        return [_pair(pair) for pair in shape.attrib['points'].split()]
    if shape.tag == 'text':
        long = 6.5 * len(shape.text or '')
        begin = {'middle': -long / 2, 'end': -long}.get(shape.get('text-anchor', ''), 0.0)
        x, y = number['x'], number['y']
        return [(x + begin, y - 10.0), (x + begin + long, y + 3.0)]
    return []


def middle(shape: ElementTree.Element) -> tuple[float, float]:
    xs, ys = zip(*corners(shape), strict=True)
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2


def classed(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in root.iter() if name in each.get('class', '').split()]


def words(root: ElementTree.Element) -> list[str]:
    """Of the labels."""
    return [each.text or '' for each in root.iter('text')]


def titles(root: ElementTree.Element) -> list[str]:
    return [each.text or '' for each in root.iter('title')]


def _is_numeric(key: str) -> bool:
    return key in ('x', 'y', 'x1', 'y1', 'x2', 'y2', 'cx', 'cy', 'r', 'rx', 'width', 'height')


def _number(value: str) -> float:
    assert NUMBER.fullmatch(value), value
    return float(value)


def _pair(value: str) -> tuple[float, float]:
    x, y = value.split(',')
    return _number(x), _number(y)
