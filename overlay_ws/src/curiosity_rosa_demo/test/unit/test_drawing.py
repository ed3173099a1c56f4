# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""What the report and RViz draw: map and plots. Every number that comes in appears where it
belongs or is left out, and no text becomes markup.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import pairwise
import math
import re
from typing import Any
from xml.etree import ElementTree

from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.drawing.plots import (
    battery_over_time,
    CaptureMarker,
    MAX_MARKERS,
    score_over_position,
)
from curiosity_rosa_demo.drawing.svg import element, escaped, is_drawable
from curiosity_rosa_demo.drawing.trail import Trail, TRAIL_JUMP_M, TRAIL_STEP_M
from curiosity_rosa_demo.drawing.world_map import Frame, MapScene, MIN_SCALE, render, view_of
from curiosity_rosa_demo.infra.config.base import time_zone
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.trace.events import CaptureTaken
from curiosity_rosa_demo.trace.trace_codec import new_event
from curiosity_rosa_demo.viz.marker_builder import (
    AMBER,
    capture_in,
    GREEN,
    MarkerBuilder,
    RED,
)
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth
import pytest
from strategies import events, finite, fraction, text
from visualization_msgs.msg import Marker, MarkerArray

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


quick = settings(deadline=None, max_examples=examples(60))

CONFIG = load_config()
viz = CONFIG.thresholds.viz
shape = CONFIG.thresholds.obstacles
FENCE = CONFIG.guardrails.geofence  # 100 m every way
EMPTY = MapScene(CONFIG.thresholds, FENCE)
NOON = datetime(2026, 11, 22, 12, 0, tzinfo=timezone.utc)
TIME_ZONES = [timezone.utc, timezone(timedelta(hours=9)), time_zone('Asia/Kathmandu')]

near = st.floats(-40.0, 40.0)
angle = st.floats(-math.pi, math.pi)
any_float = st.floats() | st.floats(-50.0, 50.0)
places = st.tuples(any_float, any_float)
fences = st.builds(
    lambda x, y, wide, high: FENCE.model_copy(
        update={'x_min': x, 'x_max': x + wide, 'y_min': y, 'y_max': y + high}
    ),
    *(near, near, st.floats(3.0, 200.0), st.floats(3.0, 200.0)),
)
poses = st.builds(Place, finite | near, finite | near, finite | angle)
spots = st.builds(
    CaptureMarker,
    texts,
    any_float,
    any_float,
    any_float | st.floats(0.0, 1.0) | st.none(),
    st.booleans(),
    st.sampled_from(['', '#capture-1']),
)
obstacles = st.fixed_dictionaries(
    {},
    optional={
        'distance_m': any_float | st.none() | texts | st.booleans() | st.integers(),
        'bearing_rad': any_float | st.none() | texts,
    },
)
scenes = st.builds(
    MapScene,
    limits=st.none() | st.just(CONFIG.thresholds),
    fence=st.none() | st.just(FENCE) | fences,
    pose=st.none() | poses,
    trail=st.lists(places, max_size=40),
    spots=st.lists(spots, max_size=8),
    obstacles=st.lists(obstacles, max_size=5),
    whole=st.booleans(),
)
levels = (
    st.lists(st.tuples(st.floats(-9e4, 9e5), st.floats(0.0, 1.0)), min_size=2, max_size=40)
    .map(sorted)
    .filter(lambda each: each[-1][0] > each[0][0])
)
DRAWINGS: dict[str, st.SearchStrategy[str]] = {
    'map': scenes.map(render),
    'scores': st.builds(
        score_over_position,
        st.lists(spots, max_size=8),
        st.none() | st.floats(0.0, 1.0),
    ),
    'battery': levels.map(lambda each: battery_over_time(each, '{:g}'.format)),
}


@pytest.mark.parametrize('kind', DRAWINGS)
@quick
@given(data=st.data())
def test_every_drawing_is_sound(kind: str, data: st.DataObject) -> None:
    checked(data.draw(DRAWINGS[kind]))


# --- the map ----------------------------------------------------------------------------------


def spot(x: float, score: float | None, is_good: bool = False, link: str = '') -> CaptureMarker:
    return CaptureMarker('' if link else f'at {x}', x, 0.0, score, is_good, link)


@quick
@given(st.lists(spots, max_size=80), st.booleans())
def test_each_capture_is_where_it_was_taken_with_its_score_or_left_out(
    many: list[CaptureMarker], whole: bool
) -> None:
    """X goes right and Y goes up, by the same scale; of many only the newest are drawn."""
    kept = [
        each
        for each in many
        if is_drawable(each.x, each.y) and (each.score is None or 0.0 <= each.score <= 1.0)
    ][-(len(many) if whole else MAX_MARKERS) :]
    scene = replace(EMPTY, spots=many, whole=whole)
    root, scale = checked(render(scene), 10**6), Frame(view_of(scene)).scale
    marks = [middle(mark) for mark in classed(root, 'cr-hit')]
    assert len(marks) == len(kept)
    for one, (x, y) in zip(kept, marks, strict=True):
        assert x - marks[0][0] == pytest.approx(scale * (one.x - kept[0].x), abs=0.03)
        assert y - marks[0][1] == pytest.approx(scale * (kept[0].y - one.y), abs=0.03)
    for one, mark in zip(kept, classed(root, 'cr-spot'), strict=True):
        verdict = 'failed' if one.score is None else 'good' if one.is_good else 'dark'
        shown = 'failed' if one.score is None else f'score {one.score:.2f}, {verdict}'
        assert titles(mark) == [f'capture at x {one.x:.2f} m, y {one.y:.2f} m: {shown}']
        assert f'cr-{verdict}' in mark.attrib['class']


@quick
@given(near, near, angle, angle, st.floats(1.0, 4.0))
def test_rover_and_obstacle_are_where_they_are(
    x: float, y: float, yaw: float, bearing: float, distance: float
) -> None:
    """The bearing counts from the nose, to the left."""
    obstacle = {'distance_m': distance, 'bearing_rad': bearing}
    around = [(x - 9.0, y - 9.0), (x + 9.0, y + 9.0)]  # so that the obstacle is in view
    limits = CONFIG.thresholds
    scene = MapScene(limits, None, Place(x, y, yaw), around, obstacles=[obstacle])
    root, frame = checked(render(scene)), Frame(view_of(scene))
    [rover], [mast] = classed(root, 'cr-rover'), classed(root, 'cr-mast')
    [wall] = classed(root, 'cr-obstacle')
    assert middle(mast) == pytest.approx(frame.at(x, y), abs=0.01)
    there = x + distance * math.cos(yaw + bearing), y + distance * math.sin(yaw + bearing)
    assert middle(next(wall.iter('line'))) == pytest.approx(frame.at(*there), abs=0.01)
    nose = frame.metres(*corners(next(rover.iter('polygon')))[0])
    front_m = shape.front_m * max(1.0, MIN_SCALE / frame.scale)  # it is never drawn smaller
    front = x + front_m * math.cos(yaw), y + front_m * math.sin(yaw)
    assert nose == pytest.approx(front, abs=0.01)


def test_an_unknown_pose_is_said_and_the_fence_is_drawn_where_it_is_in_view() -> None:
    root = checked(render(MapScene(CONFIG.thresholds, trail=[(0.0, 0.0), (3.0, 0.0)])))
    assert classed(root, 'cr-zone')
    assert classed(root, 'cr-trail')
    assert not classed(root, 'cr-rover')
    assert 'position unknown' in words(root)
    assert 'position unknown' in root.attrib['aria-label']
    small = FENCE.model_copy(update={'x_min': -3.0, 'x_max': 9.0, 'y_min': -4.0, 'y_max': 4.0})
    off = small.model_copy(update={'enabled': False})
    for fence, x, sides in ((FENCE, 0.0, 0), (FENCE, 130.0, 1), (small, 0.0, 4), (off, 0.0, 0)):
        root = checked(render(MapScene(CONFIG.thresholds, fence, Place(x, 0.0, 0.0))))
        assert len(classed(root, 'cr-fence')) == sides
        assert 'position unknown' not in words(root)


# --- the markup -------------------------------------------------------------------------------


@quick
@given(texts | st.text(st.characters(), max_size=300), texts, st.integers(3, 40))
@example('火星の岩' * 100, '', 9)
@example('a\x00b\u202ec\u2028d\ud800e', '', 20)
def test_any_text_survives_as_text_and_is_cut_to_its_columns(
    inside: str, value: str, columns: int
) -> None:
    root = ElementTree.fromstring(element('text', escaped(inside), data_event=value))
    assert not list(root)
    assert set(root.attrib) == {'data-event'}
    shown = clip_columns(inside, columns)
    assert get_cwidth(shown) <= columns
    assert len(shown) <= 10 * columns + 100  # of letters without a width
    assert shown.isprintable()
    if inside.isprintable() and inside == ' '.join(inside.split()) and len(inside) <= 100:
        assert (shown == inside) == (get_cwidth(inside) <= columns)
        assert shown == inside or shown.endswith('...')


# --- in RViz ---------------------------------------------------------------------------------


metres = st.floats(-1e6, 1e6)
captures = st.builds(CaptureTaken, ok=st.booleans(), score=fraction, error_reason=st.none() | text)
rviz_scenes = st.fixed_dictionaries(
    {
        'pose': st.none() | poses,
        'trail': st.lists(st.tuples(finite, finite), max_size=30),
        'events': st.lists(events, max_size=15),
        'capture': st.none() | captures,
    }
)
builder = MarkerBuilder(CONFIG.thresholds, 'odom')


def drawn(array: MarkerArray) -> dict[str, list[Marker]]:
    """The markers that are drawn, by namespace."""
    found: dict[str, list[Marker]] = {}
    for marker in array.markers:
        if marker.action == Marker.ADD:
            found.setdefault(marker.ns, []).append(marker)
    return found


def numbers(marker: Marker) -> Iterator[float]:
    pose = marker.pose
    for each in (pose.position, pose.orientation, marker.scale, marker.color, *marker.points):
        yield from (getattr(each, name) for name in each.get_fields_and_field_types())


@settings(max_examples=examples(40))
@given(rviz_scenes, st.integers(0, 12), st.integers(2, 20))
def test_every_marker_is_one_that_rviz_can_draw(
    scene: dict[str, Any], lines: int, points: int
) -> None:
    """Each array begins with the deletion of what the ones before have drawn."""
    config = viz.model_copy(update={'trace_lines': lines, 'trail_points': points})
    thresholds = CONFIG.thresholds.model_copy(update={'viz': config})
    first, *markers = MarkerBuilder(thresholds, '/odom').build(**scene).markers
    assert first.action == Marker.DELETEALL
    allowed = {('bright_zone', 0), ('rover', 0), ('rover', 1), ('trail', 0), ('score', 0)}
    allowed |= {('trace', slot) for slot in range(config.trace_lines or len(scene['events']))}
    keys = [(marker.ns, marker.id) for marker in markers]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= allowed
    for marker in markers:
        assert marker.action == Marker.ADD
        assert marker.header.frame_id == 'odom'
        assert all(map(math.isfinite, numbers(marker)))
        turn = marker.pose.orientation
        assert turn.x**2 + turn.y**2 + turn.z**2 + turn.w**2 == pytest.approx(1.0)
        assert marker.color.a > 0.0
        if marker.type == Marker.TEXT_VIEW_FACING:
            assert marker.text.strip()
            assert marker.scale.z > 0.0
        if marker.type == Marker.LINE_STRIP:
            assert 2 <= len(marker.points) <= config.trail_points
            assert marker.scale.x > 0.0
        if marker.type in (Marker.CUBE, Marker.ARROW):
            assert min(marker.scale.x, marker.scale.y, marker.scale.z) > 0.0


@given(metres, metres, st.floats(-math.pi, math.pi))
def test_the_rover_and_the_bright_zone_are_where_they_are(x: float, y: float, yaw: float) -> None:
    markers = drawn(builder.build(Place(x, y, yaw)))
    (body, heading), (zone,) = markers['rover'], markers['bright_zone']
    assert zone.pose.position.x - zone.scale.x / 2 == viz.bright_zone_x_min
    assert zone.pose.position.x + zone.scale.x / 2 == viz.bright_zone_x_max
    assert (heading.pose.position.x, heading.pose.position.y) == (x, y)
    front_x = body.pose.position.x + body.scale.x / 2.0 * math.cos(yaw)
    rear_y = body.pose.position.y - body.scale.x / 2.0 * math.sin(yaw)
    assert front_x == pytest.approx(x + shape.front_m * math.cos(yaw))
    assert rear_y == pytest.approx(y - shape.rear_m * math.sin(yaw))
    for marker in (body, heading):
        turn = marker.pose.orientation
        assert 2.0 * math.atan2(turn.z, turn.w) == pytest.approx(yaw)


def test_the_newest_line_is_lowest_and_the_score_has_its_verdict_as_its_colour() -> None:
    sent = [new_event(TraceKind.ACT, f'event {number}') for number in range(20)]
    lines = drawn(builder.build(events=sent))['trace']
    assert [line.text for line in lines] == [f'ACT event {19 - i}' for i in range(20)]
    heights = [line.pose.position.z for line in lines]
    assert heights == sorted(heights)
    for capture, said, wanted in (
        (CaptureTaken(True, 0.42, None), 'score 0.42 DARK', AMBER),
        (CaptureTaken(True, 0.42, None, None, True), 'score 0.42 GOOD', GREEN),
        (CaptureTaken(None, 1.0, None), 'score 1.00 GOOD', GREEN),
        (CaptureTaken(False, None, 'Mast up'), 'capture failed: Mast up', RED),
    ):
        (score,) = drawn(builder.build(events=sent, capture=capture))['score']
        shown = tuple(round(getattr(score.color, channel), 5) for channel in 'rgba')
        assert (score.text, shown) == (said, wanted)


told_captures = st.builds(
    lambda ok, score, said: new_event(
        TraceKind.RESULT, '', tool_name='capture_and_score', ok=ok, score=score, data=said
    ),
    st.none() | st.booleans(),
    st.none() | fraction | finite,
    st.fixed_dictionaries({'is_good': st.none() | st.booleans() | st.just('perhaps')}),
)


@given(events | told_captures)
def test_only_a_result_of_a_capture_is_a_capture(event: TraceEvent) -> None:
    """Whose score lies between 0 and 1, or that failed. A damaged one is none."""
    is_result = event.kind is TraceKind.RESULT and event.tool_name == 'capture_and_score'
    scored = event.score is not None and 0.0 <= event.score <= 1.0
    damaged = (event.data or {}).get('is_good') == 'perhaps'
    is_capture = is_result and not damaged and (event.ok is False or scored)
    assert (capture_in(event) is not None) is is_capture


@given(st.lists(st.tuples(finite, finite)), st.integers(2, 8))
def test_a_trail_has_no_small_steps_no_jumps_and_an_end(
    places: list[tuple[float, float]], size: int
) -> None:
    trail = Trail(size)
    for x, y in places:
        before = trail.points()
        assert trail.add(x, y) == (trail.points() != before)
        points = trail.points()
        assert len(points) <= size
        assert math.dist(points[-1], (x, y)) <= TRAIL_STEP_M
        for a, b in pairwise(points):
            assert TRAIL_STEP_M < math.dist(a, b) <= TRAIL_JUMP_M
