# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from collections.abc import Iterator
import itertools
import math
import unicodedata

from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.drawing.trail import Trail, TRAIL_JUMP_M, TRAIL_STEP_M
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.trace.trace_codec import new_event
from curiosity_rosa_demo.viz.marker_builder import (
    AMBER,
    Capture,
    capture_in,
    GREEN,
    MarkerBuilder,
    one_line,
    RED,
    Scene,
    visible_markers,
)
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
import pytest
from strategies import events, finite, fraction, poses, text
from visualization_msgs.msg import Marker, MarkerArray

metres = st.floats(-1e6, 1e6)
captures = st.builds(Capture, fraction, st.booleans()) | st.builds(
    Capture, st.none(), st.just(False), text
)
scenes = st.builds(
    Scene,
    pose=st.none() | poses,
    trail=st.lists(st.tuples(finite, finite), max_size=30).map(tuple),
    events=st.lists(events, max_size=15),
    capture=st.none() | captures,
)
shipped = load_config().thresholds.viz
shape = load_config().thresholds.obstacles
builder = MarkerBuilder(shipped, shape, 'odom')


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
@given(scenes, st.integers(0, 12), st.integers(2, 20))
def test_every_marker_is_one_that_rviz_can_draw(scene: Scene, lines: int, points: int) -> None:
    config = shipped.model_copy(update={'trace_lines': lines, 'trail_points': points})
    array = MarkerBuilder(config, shape, '/odom').build(scene)
    allowed = {('bright_zone', 0), ('rover', 0), ('rover', 1), ('trail', 0), ('score', 0)}
    allowed |= {('trace', slot) for slot in range(config.trace_lines or len(scene.events))}
    keys = [(marker.ns, marker.id) for marker in array.markers]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= allowed
    for marker in array.markers:
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


@settings(max_examples=examples(25))
@given(st.lists(scenes, min_size=1, max_size=5))
def test_what_vanished_is_deleted_once_and_nothing_else(story: list[Scene]) -> None:
    """A reader of all arrays sees what a late reader of the newest one sees."""
    seen: set[tuple[str, int]] = set()
    shown = frozenset()
    for scene in story:
        array = builder.build(scene, shown)
        added = {(m.ns, m.id) for m in array.markers if m.action == Marker.ADD}
        deleted = [(m.ns, m.id) for m in array.markers if m.action == Marker.DELETE]
        assert len(array.markers) == len(added) + len(deleted)
        assert sorted(deleted) == sorted(seen - added)
        seen = (seen - set(deleted)) | added
        shown = visible_markers(array)
        assert seen == shown == added


@given(metres, metres, st.floats(-math.pi, math.pi))
def test_the_rover_and_the_bright_zone_are_where_they_are(x: float, y: float, yaw: float) -> None:
    markers = drawn(builder.build(Scene(RoverPose(x=x, y=y, yaw_rad=yaw, frame_id='odom'))))
    (body, heading), (zone,) = markers['rover'], markers['bright_zone']
    assert zone.pose.position.x - zone.scale.x / 2 == shipped.bright_zone_x_min
    assert zone.pose.position.x + zone.scale.x / 2 == shipped.bright_zone_x_max
    assert (heading.pose.position.x, heading.pose.position.y) == (x, y)
    front_x = body.pose.position.x + body.scale.x / 2.0 * math.cos(yaw)
    rear_y = body.pose.position.y - body.scale.x / 2.0 * math.sin(yaw)
    assert front_x == pytest.approx(x + shape.front_m * math.cos(yaw))
    assert rear_y == pytest.approx(y - shape.rear_m * math.sin(yaw))
    for marker in (body, heading):
        turn = marker.pose.orientation
        assert 2.0 * math.atan2(turn.z, turn.w) == pytest.approx(yaw)


def test_the_newest_line_is_lowest_and_the_score_is_large_with_its_verdict_as_its_colour() -> None:
    sent = [new_event(TraceKind.ACT, f'event {number}') for number in range(20)]
    lines = drawn(builder.build(Scene(events=sent)))['trace']
    assert [line.text for line in lines] == [f'ACT event {19 - i}' for i in range(20)]
    heights = [line.pose.position.z for line in lines]
    gaps = [upper - lower for lower, upper in itertools.pairwise(heights)]
    assert min(gaps) > lines[0].scale.z
    for capture, words, wanted in (
        (Capture(0.42, False), 'score 0.42 DARK', AMBER),
        (Capture(1.0, True), 'score 1.00 GOOD', GREEN),
        (Capture(None, False, 'Mast is closed'), 'capture failed: Mast is closed', RED),
        (Capture(None, False, ''), 'capture failed:', RED),
    ):
        (score,) = drawn(builder.build(Scene(events=sent, capture=capture)))['score']
        shown = tuple(round(getattr(score.color, channel), 5) for channel in 'rgba')
        assert (score.text, shown) == (words, wanted)
        assert score.scale.z > 2 * lines[0].scale.z
        assert score.pose.position.z - score.scale.z > max(heights)


def width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in line)


@given(st.text(st.characters(), max_size=300), st.integers(1, 60))
@example('火星の岩' * 100, 9)
@example('a\x00b\u202ec\u2028d\ud800e', 20)
def test_a_line_is_clean_and_fits(words: str, columns: int) -> None:
    line = one_line(words, columns)
    assert width(line) <= columns
    assert not any(unicodedata.category(c)[0] == 'C' for c in line)
    assert line == ' '.join(line.split())
    if words.isprintable() and words == ' '.join(words.split()):
        assert (line == words) == (width(words) <= columns)
        assert line == words or line.endswith('…')


told_captures = st.builds(
    lambda ok, score, said: new_event(
        TraceKind.RESULT, '', tool_name='capture_and_score', ok=ok, score=score, data=said
    ),
    st.none() | st.booleans(),
    st.none() | fraction | finite,
    st.fixed_dictionaries({'is_good': st.none() | st.booleans() | st.text() | st.integers()}),
)


@given(events | told_captures, fraction)
def test_only_a_result_of_a_capture_is_a_capture(event: TraceEvent, threshold: float) -> None:
    """Whose score lies between 0 and 1, or is none where it failed."""
    capture = capture_in(event, threshold)
    is_result = event.kind is TraceKind.RESULT and event.tool_name == 'capture_and_score'
    scored = event.score is not None and 0.0 <= event.score <= 1.0
    assert (capture is not None) is (is_result and (event.ok is False or scored))
    if capture is not None:
        assert capture.score == (None if event.ok is False else event.score)
        said = (event.data or {}).get('is_good')
        judged = said if isinstance(said, bool) else scored and event.score >= threshold
        assert capture.is_good is (event.ok is not False and judged)


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
        for a, b in itertools.pairwise(points):
            assert TRAIL_STEP_M < math.dist(a, b) <= TRAIL_JUMP_M
