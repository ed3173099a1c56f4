# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
import math
import os
from pathlib import Path
from xml.etree import ElementTree

from curiosity_rosa_demo.domain.models import RoverPose
from curiosity_rosa_demo.drawing.colours import css
from curiosity_rosa_demo.drawing.map_ground import Zone
from curiosity_rosa_demo.drawing.markers import CaptureMarker, MAX_MARKERS
from curiosity_rosa_demo.drawing.svg import (
    clip_columns,
    element,
    escaped,
    is_drawable,
    number_text,
)
from curiosity_rosa_demo.drawing.trail import MOST_KEPT, MOST_READ, simplified
from curiosity_rosa_demo.drawing.view import fit_view, Frame, View
from curiosity_rosa_demo.drawing.world_map import MapScene, render, view_of
from curiosity_rosa_demo.infra.config.guardrails import Geofence
from curiosity_rosa_demo.infra.config_loader import load_config
from drawing_checks import checked, classed, corners, HOSTILE, texts, titles, words
from examples import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth
import pytest

quick = settings(deadline=None, max_examples=examples(60))

CONFIG = load_config()
viz = CONFIG.thresholds.viz
ZONE = Zone(viz.bright_zone_x_min, viz.bright_zone_x_max, viz.bright_zone_half_width)
FENCE = CONFIG.guardrails.geofence  # 100 m every way
EMPTY = MapScene(ZONE, FENCE)

any_float = st.floats() | st.floats(-50.0, 50.0)
places = st.tuples(any_float, any_float)
near = st.floats(-40.0, 40.0)
zones = st.builds(
    lambda low, length, half_width: Zone(low, low + length, half_width),
    st.floats(-9e5, 9e5),
    st.floats(1e-3, 9e4),
    st.floats(0.01, 1e4),
)
fences = st.builds(
    lambda x, y, wide, high: Geofence(
        enabled=True,
        x_min=x,
        x_max=x + wide,
        y_min=y,
        y_max=y + high,
        margin_m=1.0,
        max_speed_mps=1.0,
        leaving='refuse',
    ),
    *(near, near, st.floats(3.0, 200.0), st.floats(3.0, 200.0)),
)
finite = st.floats(allow_nan=False, allow_infinity=False)
poses = st.builds(
    RoverPose,
    x=finite | near,
    y=finite | near,
    yaw_rad=finite | st.floats(-7.0, 7.0),
    frame_id=st.just('odom'),
)
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
    zone=st.none() | st.just(ZONE) | zones,
    fence=st.none() | st.just(FENCE) | fences,
    pose=st.none() | poses,
    trail=st.lists(places, max_size=40),
    spots=st.lists(spots, max_size=8),
    obstacles=st.lists(obstacles, max_size=5),
    goal=st.none() | places,
    whole=st.booleans(),
)


EXAMPLE = Path(__file__).resolve().parents[5] / 'docs/images/map_example.svg'


def at(x: float, y: float, yaw_rad: float = 0.0) -> RoverPose:
    return RoverPose(x=x, y=y, yaw_rad=yaw_rad, frame_id='odom')


def middle(shape: ElementTree.Element) -> tuple[float, float]:
    xs, ys = zip(*corners(shape), strict=True)
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2


@quick
@given(scenes)
def test_every_scene_is_a_sound_drawing(scene: MapScene) -> None:
    checked(render(scene))


@quick
@given(scenes, scenes)
def test_a_kept_view_shows_all_there_is(before: MapScene, scene: MapScene) -> None:
    checked(render(scene, view_of(before)))


@pytest.mark.parametrize('hostile', HOSTILE)
def test_what_a_text_says_is_no_markup(hostile: str) -> None:
    marker = CaptureMarker(hostile, 1.0, 2.0, 0.5, False)
    root = checked(render(replace(EMPTY, spots=[marker])), 8_000)
    [mark] = classed(root, 'cr-spot')
    assert mark.attrib['data-event'].startswith(hostile[:4].split('\n')[0])


def test_the_scene_from_back_to_front() -> None:
    scene = MapScene(
        ZONE,
        FENCE,
        pose=at(1.0, 2.0),
        trail=[(0.0, 0.0), (1.0, 0.0), (1.0, 2.0)],
        spots=[
            CaptureMarker('e1', 0.5, 0.0, 0.1, False),
            CaptureMarker('e2', 6.0, 1.0, 0.93, True),
        ],
        obstacles=[{'distance_m': 3.0, 'bearing_rad': 0.0}],
        goal=(7.0, 3.0),
    )
    root = checked(render(scene), 8_000)
    assert [each.get('class', each.tag) for each in root] == [
        *('cr-ground', 'cr-zone', 'text', 'cr-grid', 'cr-numbers', 'cr-trail', 'cr-way'),
        *('cr-goal', 'cr-obstacle', 'cr-rover', 'cr-spot cr-dark', 'cr-spot cr-good', 'cr-scale'),
    ]
    assert root.attrib['aria-label'] == (
        'Map: rover at x 1.00 m, y 2.00 m, heading 0 degrees; captures: 2, the best scored 0.93'
    )
    assert 'capture at x 6.00 m, y 1.00 m: score 0.93, good' in titles(root)
    assert {'0.10', '0.93', 'bright zone'} <= set(words(root))


def test_x_goes_right_and_y_goes_up() -> None:
    marks = classed(
        checked(
            render(
                replace(
                    EMPTY,
                    spots=[
                        CaptureMarker('a', 0.0, 0.0, 0.5, True),
                        CaptureMarker('b', 2.0, 0.0, 0.5, True),
                        CaptureMarker('c', 0.0, 2.0, 0.5, True),
                    ],
                )
            )
        ),
        'cr-hit',
    )
    (x0, y0), (x1, y1), (x2, y2) = map(middle, marks)
    assert x1 > x0
    assert y1 == y0
    assert x2 == x0
    assert y2 < y0
    assert x1 - x0 == pytest.approx(y0 - y2, abs=0.02)


@pytest.mark.parametrize(
    ('yaw', 'right', 'up'), [(0.0, 1, 0), (math.pi / 2, 0, 1), (math.pi, -1, 0), (-1.5708, 0, -1)]
)
def test_the_nose_points_where_the_rover_does(yaw: float, right: int, up: int) -> None:
    root = checked(render(replace(EMPTY, pose=at(0.0, 0.0, yaw))))
    [rover] = classed(root, 'cr-rover')
    [hull], [mast] = list(rover.iter('polygon')), classed(root, 'cr-mast')
    (nose_x, nose_y), (x, y) = corners(hull)[0], middle(mast)
    size = math.dist((nose_x, nose_y), (x, y))
    assert (nose_x - x) / size == pytest.approx(right, abs=0.01)
    assert (y - nose_y) / size == pytest.approx(up, abs=0.01)


def test_an_obstacle_lies_in_its_bearing_from_the_nose() -> None:
    left = [{'distance_m': 4.0, 'bearing_rad': math.pi / 2}]
    root = checked(render(replace(EMPTY, pose=at(2.0, 0.0, math.pi / 2), obstacles=left)))
    [wall], [mast] = classed(root, 'cr-obstacle'), classed(root, 'cr-mast')
    [stroke] = wall.iter('line')
    (x, y), (rover_x, rover_y) = middle(stroke), middle(mast)
    assert x < rover_x - 20.0  # to the left of a rover that looks up
    assert y == pytest.approx(rover_y, abs=0.1)
    assert 'obstacle 4.0 m away' in titles(root)


def test_an_obstacle_without_a_pose_is_nowhere() -> None:
    near_by = [{'distance_m': 4.0, 'bearing_rad': 0.0}]
    assert not classed(checked(render(replace(EMPTY, obstacles=near_by))), 'cr-obstacle')


def test_an_obstacle_out_of_view_is_left_out() -> None:
    far = [{'distance_m': 50.0, 'bearing_rad': 0.0}]
    root = checked(render(replace(EMPTY, pose=at(0.0, 0.0), obstacles=far)))
    assert not classed(root, 'cr-obstacle')


def test_an_unknown_pose_is_said_and_no_rover_is_drawn() -> None:
    root = checked(render(replace(EMPTY, trail=[(0.0, 0.0), (3.0, 0.0)])))
    assert not classed(root, 'cr-rover')
    assert 'position unknown' in words(root)
    assert 'position unknown' in root.attrib['aria-label']
    assert classed(root, 'cr-trail')
    known = checked(render(replace(EMPTY, pose=at(0.0, 0.0))))
    assert 'position unknown' not in words(known)


@pytest.mark.parametrize(('x', 'sides'), [(0.0, 0), (95.0, 1), (-99.0, 1), (130.0, 1)])
def test_the_fence_is_drawn_where_it_is_in_view(x: float, sides: int) -> None:
    assert len(classed(checked(render(replace(EMPTY, pose=at(x, 0.0)))), 'cr-fence')) == sides


def test_a_small_fence_is_drawn_all_around_and_an_open_one_not() -> None:
    small = FENCE.model_copy(update={'x_min': -3.0, 'x_max': 9.0, 'y_min': -4.0, 'y_max': 4.0})
    assert len(classed(checked(render(MapScene(ZONE, small))), 'cr-fence')) == 4
    off = small.model_copy(update={'enabled': False})
    assert not classed(checked(render(MapScene(ZONE, off))), 'cr-fence')


def test_good_and_dark_captures_differ_in_shape() -> None:
    both = [CaptureMarker('a', 1.0, 0.0, 0.2, False), CaptureMarker('b', 2.0, 0.0, 0.9, True)]
    root = checked(render(replace(EMPTY, spots=both)))
    [dark], [good] = classed(root, 'cr-dark'), classed(root, 'cr-good')
    assert list(dark.iter('rect'))
    assert not list(good.iter('rect'))
    for mark, marker in ((dark, both[0]), (good, both[1])):
        assert mark.attrib['data-event'] == marker.event_id
        assert (mark.attrib['role'], mark.attrib['tabindex']) == ('button', '0')


def test_only_the_newest_captures_are_drawn_but_all_of_a_whole_run() -> None:
    many = [CaptureMarker(f'e{i}', i / 10, 0.0, 0.5, False) for i in range(MAX_MARKERS + 5)]
    marks = classed(checked(render(replace(EMPTY, spots=many))), 'cr-spot')
    assert [mark.attrib['data-event'] for mark in marks] == [
        f'e{i}' for i in range(5, MAX_MARKERS + 5)
    ]
    whole = checked(render(replace(EMPTY, spots=many, whole=True)))
    assert len(classed(whole, 'cr-spot')) == MAX_MARKERS + 5


def test_a_capture_is_a_link_where_it_leads_somewhere_and_may_have_failed() -> None:
    failed = CaptureMarker('', 1.0, 0.0, None, False, '#capture-1')
    root = checked(
        render(
            replace(EMPTY, spots=[failed, CaptureMarker('', 2.0, 0.0, 0.9, True, '#capture-2')])
        )
    )
    assert [link.attrib['href'] for link in root.iter('a')] == ['#capture-1', '#capture-2']
    assert not any('role' in link.attrib for link in root.iter('a'))
    [cross] = classed(root, 'cr-failed')
    assert not [*cross.iter('rect'), *classed(cross, 'cr-tick')]
    assert {'failed', '0.90'} <= set(words(root))
    assert 'capture at x 1.00 m, y 0.00 m: failed' in titles(root)
    assert root.attrib['aria-label'].endswith('captures: 2, the best scored 0.90')


def test_a_whole_run_is_finer_and_says_where_it_began() -> None:
    trail = [(math.cos(step / 9) * step / 999, math.sin(step / 9) * 4) for step in range(9000)]
    scene = MapScene(ZONE, FENCE, trail=trail)
    assert not classed(checked(render(scene)), 'cr-begin')
    whole = replace(scene, whole=True)
    root, frame = checked(render(whole, view_of(whole))), Frame(view_of(whole))
    [begin] = classed(root, 'cr-begin')
    assert middle(begin) == pytest.approx(frame.at(*trail[0]), abs=0.01)
    [fine], [coarse] = classed(root, 'cr-trail'), classed(checked(render(scene)), 'cr-trail')
    assert len(corners(fine)) > MOST_READ > MOST_KEPT >= len(corners(coarse)) > 100


@pytest.mark.parametrize('zone', [None, Zone(0.0, 1e300, 1.0), Zone(0.0, math.nan, 1.0)])
def test_a_map_needs_neither_zone_nor_fence(zone: Zone | None) -> None:
    root = checked(render(MapScene(zone)))
    assert not classed(root, 'cr-zone')
    assert 'position unknown' in words(root)


@quick
@given(st.floats(-1e5, 1e5), st.floats(1e-3, 1e5))
def test_the_scale_bar_is_as_long_as_it_says(low: float, wide: float) -> None:
    assume(low + wide > low)
    zone = ZONE._replace(x_min=low, x_max=low + wide)
    root, frame = checked(render(MapScene(zone))), Frame(view_of(MapScene(zone)))
    [bar] = classed(root, 'cr-scale')
    [path], [label] = bar.iter('polyline'), bar.iter('text')
    (left, _), *_, (right, _) = corners(path)
    metres = float((label.text or '').removesuffix(' m'))
    assert (right - left) / frame.scale == pytest.approx(metres, rel=1e-3)
    assert metres / 10 ** math.floor(math.log10(metres) + 1e-9) == pytest.approx(
        min(
            (1, 2, 5),
            key=lambda lead: abs(lead - metres / 10 ** math.floor(math.log10(metres) + 1e-9)),
        )
    )


def test_the_grid_is_numbered_in_metres() -> None:
    root = checked(render(replace(EMPTY, pose=at(0.0, 0.0))))
    frame = Frame(view_of(replace(EMPTY, pose=at(0.0, 0.0))))
    [numbers] = classed(root, 'cr-numbers')
    along = [each for each in numbers if each.get('text-anchor') == 'middle']
    assert len(along) >= 5
    for each in along:
        metres = float((each.text or '').replace('−', '-'))
        assert float(each.attrib['x']) == pytest.approx(frame.at(metres, 0.0)[0], abs=0.01)


# --- the view ---------------------------------------------------------------------------------

bounds = st.builds(
    lambda x, y, wide, high: View(x, x + wide, y, y + high),
    *(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0.0, 1e5), st.floats(0.0, 1e5)),
)


@quick
@given(bounds, st.none() | bounds)
def test_a_view_has_room_around_everything(inside: View, last: View | None) -> None:
    view = fit_view(inside, last)
    assert view.contains(inside.grown(2.0))
    assert fit_view(inside, view) == view
    assert view.longest <= 2.5 * fit_view(inside).longest


@quick
@given(near, near, st.floats(-0.9, 0.9), st.floats(-0.9, 0.9))
def test_small_moves_leave_the_view_where_it_is(x: float, y: float, dx: float, dy: float) -> None:
    first = view_of(replace(EMPTY, pose=at(x, y)))
    assert view_of(replace(EMPTY, pose=at(x + dx, y + dy)), first) == first


def test_a_view_shrinks_when_what_was_far_is_gone() -> None:
    far = view_of(replace(EMPTY, pose=at(5000.0, 0.0)))
    assert view_of(replace(EMPTY, pose=at(0.0, 0.0)), far) == view_of(
        replace(EMPTY, pose=at(0.0, 0.0))
    )


# --- the trail --------------------------------------------------------------------------------

lines = st.lists(st.tuples(st.floats(0.0, 60.0), st.floats(0.0, 60.0)), max_size=120)


def gap(place: tuple[float, float], way: list[tuple[float, float]]) -> float:
    """From a place to the line."""
    nearest = math.dist(place, way[0])
    for (ax, ay), (bx, by) in pairwise(way):
        long = (bx - ax) ** 2 + (by - ay) ** 2
        part = ((place[0] - ax) * (bx - ax) + (place[1] - ay) * (by - ay)) / long if long else 0.0
        part = min(1.0, max(0.0, part))
        nearest = min(nearest, math.dist(place, (ax + part * (bx - ax), ay + part * (by - ay))))
    return nearest


@quick
@given(lines, st.floats(0.1, 10.0))
def test_a_thinned_line_looks_the_same(line: list[tuple[float, float]], tolerance: float) -> None:
    way = simplified(line, tolerance)
    assert way[:1] == line[:1]
    assert way[-1:] == line[-1:]
    assert all(gap(place, way) <= 1.5 * tolerance for place in line)


def test_a_straight_drive_is_two_points_and_a_turn_back_is_kept() -> None:
    ahead = [(step / 10, 5.0) for step in range(1000)]
    assert simplified(ahead, 0.5) == [ahead[0], ahead[-1]]
    there_and_back = [*ahead, *reversed(ahead[:-1])]
    assert max(x for x, _ in simplified(there_and_back, 0.5)) >= 99.0


def test_a_bend_is_followed() -> None:
    bend = [(100 * math.cos(step / 200), 100 * math.sin(step / 200)) for step in range(300)]
    way = simplified(bend, 0.5)
    assert 5 < len(way) < 30
    assert all(gap(place, way) <= 0.75 for place in bend)


def test_a_wild_trail_stays_small() -> None:
    wild = [(math.sin(step**2) * 10, math.cos(step**3) * 10) for step in range(2000)]
    assert len(simplified(wild, 1e-9)) <= MOST_KEPT
    checked(render(replace(EMPTY, trail=wild)), 12_000)


# --- the markup -------------------------------------------------------------------------------


@quick
@given(texts, texts)
def test_any_text_survives_as_text(words: str, value: str) -> None:
    root = ElementTree.fromstring(element('text', escaped(words), data_event=value))
    assert not list(root)
    assert set(root.attrib) == {'data-event'}
    assert element('text', escaped('a < b & "c"')) == '<text>a &lt; b &amp; &quot;c&quot;</text>'


@quick
@given(texts, st.integers(1, 40))
def test_a_cut_text_is_short_and_says_so(words: str, columns: int) -> None:
    shown = clip_columns(words, columns)
    assert get_cwidth(shown) <= columns
    assert len(shown) <= 10 * columns + 100  # of letters without a width
    assert '\n' not in shown
    assert clip_columns('光の方へ進む', 5) == '光の…'


@pytest.mark.parametrize(
    ('value', 'shown'), [(0.0, '0'), (-0.001, '0'), (1.5, '1.5'), (2.0, '2'), (1e7, '10000000')]
)
def test_numbers_are_short(value: float, shown: str) -> None:
    assert number_text(value) == shown


@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match='finite'):
        number_text(value)


@pytest.mark.parametrize('value', [None, True, '1', math.nan, math.inf, 1e8, -(10**400)])
def test_what_is_no_number_or_too_far_is_not_drawn(value: object) -> None:
    assert not is_drawable(value)
    assert not is_drawable(0.0, value)
    assert is_drawable(0, -1.5, 1e7)


def with_style(drawing: str, style: str) -> str:
    """The drawing as a file of its own, with its style sheet and name space inside."""
    root, _, rest = drawing.partition('>')
    return f'{root} xmlns="http://www.w3.org/2000/svg"><style>{style}</style>{rest}'


def test_a_file_of_its_own_has_its_style_inside() -> None:
    root = ElementTree.fromstring(with_style(render(EMPTY), '.cr-map { color: red; }'))
    assert root.tag == '{http://www.w3.org/2000/svg}svg'
    assert root[0].text == '.cr-map { color: red; }'


def test_the_example_of_the_documents_is_what_is_drawn() -> None:
    scene = MapScene(
        ZONE,
        FENCE.model_copy(update={'x_min': -3.0, 'x_max': 13.0, 'y_min': -8.0, 'y_max': 8.0}),
        pose=at(6.4, -1.0, -0.5),
        trail=[(step / 100, 1.4 * math.sin(step / 160)) for step in range(640)],
        spots=[
            CaptureMarker('first', 0.0, 0.0, 0.0, False),
            CaptureMarker('second', 1.6, 1.18, 0.32, False),
            CaptureMarker('third', 3.1, 1.31, 0.62, False),
            CaptureMarker('last', 6.4, -1.0, 1.0, True),
        ],
        obstacles=[{'distance_m': 3.4, 'bearing_rad': 0.0}],
        goal=(8.5, 3.0),
    )
    drawn = with_style(render(scene), css())
    if os.environ.get('PAGE_IMAGES'):
        EXAMPLE.write_text(drawn, encoding='utf-8')
    again = 'draw it anew: PAGE_IMAGES=docs/images python -m pytest -k example_of_the_documents'
    assert EXAMPLE.read_text(encoding='utf-8') == drawn, again
