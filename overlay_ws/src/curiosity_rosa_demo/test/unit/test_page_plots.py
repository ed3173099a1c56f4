# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from curiosity_rosa_demo.agent.interfaces.page.drawings import markers_of
from curiosity_rosa_demo.agent.interfaces.page.phase_bar import (
    duration_text,
    phase_bar,
    phase_spans,
)
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.drawing.markers import CaptureMarker
from curiosity_rosa_demo.drawing.plots import battery_over_time, score_over_position
from curiosity_rosa_demo.drawing.scale import round_step, tick_text, ticks
from curiosity_rosa_demo.infra.config.thresholds import LightModelConfig
from curiosity_rosa_demo.infra.config_loader import load_config
from drawing_checks import checked, classed, corners, HOSTILE, texts, titles, words
from examples import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
import pytest
from strategies import events

quick = settings(deadline=None, max_examples=examples(60))

LIGHT = load_config().thresholds.light_model  # dark up to x 0 m, bright from 5 m on

any_float = st.floats() | st.floats(-50.0, 50.0)
spots = st.builds(
    CaptureMarker,
    texts,
    any_float,
    any_float,
    any_float | st.floats(0.0, 1.0) | st.none(),
    st.booleans(),
)
lights = st.builds(
    lambda low, wide: LightModelConfig(x_min=low, x_good=low + wide),
    st.floats(-9e5, 9e5),
    st.floats(1e-3, 9e4),
)


def spot(x: float, score: float, is_good: bool = False) -> CaptureMarker:
    return CaptureMarker(f'at {x}', x, 0.0, score, is_good)


# --- score over position ----------------------------------------------------------------------


@quick
@given(st.lists(spots, max_size=8), st.none() | st.floats(0.0, 1.0), st.none() | lights)
def test_every_plot_is_a_sound_drawing(
    many: list[CaptureMarker], threshold: float | None, light: LightModelConfig | None
) -> None:
    checked(score_over_position(many, threshold, light=light))


def test_a_plot_without_captures_says_so() -> None:
    assert 'no captures yet' in words(checked(score_over_position([], 0.8)))
    shown = checked(score_over_position([spot(1.0, 0.2)], 0.8))
    assert 'no captures yet' not in words(shown)


def test_each_capture_stands_over_its_place_at_its_score() -> None:
    many = [spot(0.0, 0.0), spot(2.0, 0.5), spot(4.0, 1.0, True)]
    root = checked(score_over_position(many, 0.5))
    marks = classed(root, 'cr-spot')
    assert [mark.attrib['data-event'] for mark in marks] == ['at 0.0', 'at 2.0', 'at 4.0']
    (x0, y0), (x1, y1), (x2, y2) = (
        (float(hit.attrib['cx']), float(hit.attrib['cy'])) for hit in classed(root, 'cr-hit')
    )
    assert x0 < x1 < x2
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.02)
    assert y0 > y1 > y2  # brighter is higher
    [threshold] = classed(root, 'cr-threshold')
    assert float(threshold.attrib['y1']) == pytest.approx(y1, abs=0.01)


def test_the_light_model_is_dark_then_rises_then_is_bright() -> None:
    root = checked(score_over_position([spot(2.5, 0.5)], 0.8, light=LIGHT))
    [curve], [hit] = classed(root, 'cr-light'), classed(root, 'cr-hit')
    (_, dark), (begin, low), (end, high), (_, bright) = corners(curve)
    assert (dark, bright) == (low, high)
    assert high < low
    middle = (begin + end) / 2, (low + high) / 2
    assert (float(hit.attrib['cx']), float(hit.attrib['cy'])) == pytest.approx(middle, abs=0.02)
    assert not classed(checked(score_over_position([], 0.8)), 'cr-light')


def test_the_axes_name_their_units() -> None:
    shown = words(checked(score_over_position([spot(3.0, 0.6)], 0.8, light=LIGHT)))
    assert {'x (m)', 'score', '0', '5', '0.2', '1', 'good from 0.80'} <= set(shown)


def test_what_failed_has_no_score_and_what_good_is_may_be_unknown() -> None:
    root = checked(
        score_over_position([spot(1.0, 0.5), CaptureMarker('', 2.0, 0.0, None, False)], None)
    )
    assert len(classed(root, 'cr-spot')) == 1
    assert not classed(root, 'cr-threshold')
    assert root.attrib['aria-label'] == 'Score over position: 1 capture'


@pytest.mark.parametrize('hostile', HOSTILE)
def test_an_id_is_no_markup(hostile: str) -> None:
    checked(score_over_position([CaptureMarker(hostile, 1.0, 0.0, 0.5, True)], 0.8), 9_000)


def test_a_capture_without_a_place_is_left_out() -> None:
    from curiosity_rosa_demo.domain.pictures import Capture, Picture

    picture = Picture(b'', 0.0, 0.0)
    pose = RoverPose(x=1.0, y=2.0, frame_id='odom')
    captures = [Capture('a', picture, 0.4, False, None), Capture('b', picture, 0.9, True, pose)]
    assert markers_of(captures) == (CaptureMarker('b', 1.0, 2.0, 0.9, True),)


# --- the battery ------------------------------------------------------------------------------


@quick
@given(st.lists(st.tuples(st.floats(-9e4, 9e5), st.floats(0.0, 1.0)), min_size=2, max_size=40))
def test_every_battery_is_a_sound_drawing(levels: list[tuple[float, float]]) -> None:
    levels = sorted(levels)
    assume(levels[-1][0] > levels[0][0])
    checked(battery_over_time(levels, '{:g}'.format))


def test_a_battery_that_falls_falls() -> None:
    root = checked(battery_over_time([(0.0, 0.9), (30.0, 0.8), (60.0, 0.5)], '{:g} s'.format))
    [curve] = classed(root, 'cr-trail')
    (x0, y0), (x1, y1), (x2, y2) = corners(curve)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.02)
    assert y0 < y1 < y2
    assert {'0 s', '60 s', '100%', 'battery', 'time'} <= set(words(root))
    assert root.attrib['aria-label'] == 'Battery: from 90% to 50%'


# --- round numbers ----------------------------------------------------------------------------


@quick
@given(st.floats(1e-3, 1e7), st.integers(1, 20))
def test_steps_are_round_and_few(span: float, most: int) -> None:
    step = round_step(span, most)
    assert step * most >= span * (1 - 1e-9)
    assert f'{step:.3e}'[:5] in ('1.000', '2.000', '5.000')
    assert round_step(span, most) <= 2.5 * span / most * (1 + 1e-9)


@quick
@given(st.floats(-1e6, 1e6), st.floats(0.01, 1e5))
def test_ticks_lie_inside_and_read_as_what_they_are(low: float, span: float) -> None:
    step = round_step(span, 8)
    marks = ticks(low, low + span, step)
    assert len(marks) in range(10)
    for tick in marks:
        assert low - 1e-6 * step <= tick <= low + span + 1e-6 * step
        shown = float(tick_text(tick, step).replace('−', '-'))
        assert shown == pytest.approx(tick, abs=step / 1000)
    assert len({tick_text(tick, step) for tick in marks}) == len(marks)


def test_zero_has_no_sign() -> None:
    assert tick_text(-0.0, 0.5) == '0.0'
    assert tick_text(-0.5, 0.5) == '−0.5'


# --- where the time of a turn went ------------------------------------------------------------


def event(ts: float, kind: TraceKind, tool: str | None = None, **data: str) -> TraceEvent:
    return TraceEvent(
        event_id=str(ts), ts=ts, kind=kind, message='', tool_name=tool, data=dict(data) or None
    )


TURN = [
    event(10.0, TraceKind.HYPOTHESIZE),
    event(10.5, TraceKind.DECIDE, 'mast_close'),
    event(10.51, TraceKind.ACT, 'mast_close'),
    event(12.51, TraceKind.RESULT, 'mast_close'),
    event(13.0, TraceKind.OBSERVE),
    event(13.51, TraceKind.DECIDE, 'move_forward'),
    event(13.52, TraceKind.DECIDE, 'move_forward', question='q'),
    event(23.52, TraceKind.OBSERVE),
    event(23.53, TraceKind.ACT, 'move_forward'),
    event(27.53, TraceKind.ERROR, 'move_forward'),
    event(28.53, TraceKind.RESULT),
    event(99.0, TraceKind.OBSERVE),
]


def test_each_stretch_of_a_turn_has_its_name_and_time() -> None:
    assert [(s.phase, round(s.seconds, 3), s.detail) for s in phase_spans(TURN)] == [
        ('thinking', 0.5, ''),
        ('checking', 0.01, 'mast_close'),
        ('acting', 2.0, 'mast_close'),
        ('thinking', 1.0, 'mast_close'),
        ('checking', 0.01, 'move_forward'),
        ('asking', 10.0, 'move_forward'),
        ('checking', 0.01, 'move_forward'),
        ('acting', 4.0, 'move_forward'),
        ('thinking', 1.0, 'move_forward'),
    ]


def test_the_phase_bar_gives_the_sums_in_words() -> None:
    root = checked(phase_bar(TURN), 4_000)
    told = '18.5 s: thinking 2.5 s · checking 30 ms · acting 6.0 s · asking 10.0 s'
    assert told in words(root)
    assert root.attrib['aria-label'] == f'Time of the turn: {told}'
    assert 'asking move_forward: 10.0 s' in titles(root)


def test_bars_are_as_long_as_they_took() -> None:
    bars = classed(checked(phase_bar(TURN)), 'cr-bar')
    widths = [float(next(bar.iter('rect')).attrib['width']) for bar in bars]
    assert len(widths) == 9
    assert widths[5] == pytest.approx(5 * widths[2], rel=0.01)
    assert sum(widths) == pytest.approx(512.0, abs=0.1)


@pytest.mark.parametrize('few', [[], TURN[:1]])
def test_a_turn_that_has_not_begun_has_no_bars(few: list[TraceEvent]) -> None:
    root = checked(phase_bar(few))
    assert words(root) == ['no steps yet']


@quick
@given(st.lists(events, max_size=20))
def test_every_turn_is_a_sound_drawing(turn: list[TraceEvent]) -> None:
    checked(phase_bar(turn))


def test_a_turn_without_end_stays_small() -> None:
    kinds = (TraceKind.DECIDE, TraceKind.ACT, TraceKind.RESULT)
    checked(phase_bar([event(i, kinds[i % 3], f'tool {i}') for i in range(10_000)]), 60_000)


@pytest.mark.parametrize(
    ('seconds', 'shown'),
    [(0.0004, '0.4 ms'), (0.25, '250 ms'), (0.9994, '999 ms'), (1.0, '1.0 s'), (125.2, '125 s')],
)
def test_times_are_short(seconds: float, shown: str) -> None:
    assert duration_text(seconds) == shown
