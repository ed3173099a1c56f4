# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Text and shapes are seen on every ground in both themes, and every class has a style."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
import re
from xml.etree import ElementTree

from curiosity_rosa_demo.agent.interfaces.page import timeline
from curiosity_rosa_demo.agent.interfaces.page.phase_bar import phase_bar
from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.drawing import colours, plots, world_map
from curiosity_rosa_demo.drawing.map_ground import Zone
from curiosity_rosa_demo.drawing.markers import CaptureMarker
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.recording.report.timeline import timeline_svg
import pytest

THEMES = (0, 1)  # light, dark
GROUNDS = colours.BACKGROUND_COLOURS


def luminance(colour: str) -> float:
    """WCAG 2.1, relative luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_wcag() -> None:
    assert contrast('#000000', '#ffffff') == pytest.approx(21.0)
    assert contrast('#777777', '#ffffff') == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize('theme', THEMES)
def test_text_shapes_and_bars_stand_out_from_every_ground(theme: int) -> None:
    text, shapes = colours.TEXT_COLOURS, colours.SHAPE_COLOURS
    bars = [shapes[name][theme] for name in (*colours.STATES, *colours.PHASES)]
    on_bars = [colours.ON_SHAPE_COLOUR[theme], GROUNDS['page'][theme]]  # text in it, or as a sign
    pairs = [
        *(
            (one[theme], ground[theme], 4.5)
            for one in text.values()
            for ground in GROUNDS.values()
        ),
        *(
            (one[theme], ground[theme], 3.0)
            for one in shapes.values()
            for ground in GROUNDS.values()
        ),
        *((bar, other, 4.5) for bar in bars for other in on_bars),
    ]
    assert [each for each in pairs if contrast(*each[:2]) < each[2]] == []


def test_every_colour_that_is_used_is_defined_in_both_themes() -> None:
    css = colours.css()
    defined = re.findall(r'--(cr-[\w-]+):', css)
    for name in set(re.findall(r'var\(--(cr-[\w-]+)\)', css)) - {'cr-own'}:
        assert defined.count(name) == 3, name  # light, dark by the browser, dark by the page
    light, dark = (f'--cr-page: {GROUNDS["page"][theme]};' for theme in THEMES)
    blocks = dict(re.findall(r'([^{}]+?) \{ ([^{}]*--cr-page[^{}]*)\}', css))
    shown = {where.strip(): block for where, block in blocks.items()}
    assert light in shown[':root, .body--light']
    assert dark in shown['.body--dark']
    assert dark in shown[':root']
    assert '@media screen and (prefers-color-scheme: dark) { :root' in css
    assert {*colours.STATES} == {state.value for state in LifecycleState}


def drawings() -> list[str]:
    config, noon = load_config(), datetime(2026, 1, 1, tzinfo=timezone.utc)
    spots = [CaptureMarker('a', 1.0, 0.0, 0.2, False), CaptureMarker('b', 6.0, 0.0, 0.9, True)]
    zone = Zone(5.0, 10.0, 5.0)
    scene = world_map.MapScene(
        zone,
        config.guardrails.geofence.model_copy(update={'x_max': 11.0}),
        RoverPose(x=0.0, frame_id='odom'),
        [(0.0, 0.0), (1.0, 1.0)],
        spots,
        [{'distance_m': 2.0, 'bearing_rad': 0.0}],
        (3.0, 3.0),
        forecast=[(1.0, 1.0), (3.0, 3.0)],
    )
    failed = replace(scene, spots=[CaptureMarker('c', 1.0, 0.0, None, False)], whole=True)
    rows = [
        HistoryRow(noon - timedelta(minutes=9 - i), None, state, '')
        for i, state in enumerate(LifecycleState)
    ]
    turn = [
        TraceEvent(event_id='e', ts=float(i), kind=kind, message='', tool_name='look')
        for i, kind in enumerate([TraceKind.DECIDE, TraceKind.ACT, TraceKind.RESULT] * 2)
    ]
    return [
        *(world_map.render(each) for each in (scene, world_map.MapScene(zone), failed)),
        plots.battery_over_time([(0.0, 0.9), (60.0, 0.4)], str),
        timeline_svg([(event.ts, event) for event in turn]),
        plots.score_over_position(spots, 0.8, light=config.thresholds.light_model),
        timeline.render([timeline.TimelineRow('a', 'a', rows)], noon),
        phase_bar(turn),
    ]


def test_every_class_of_a_drawing_is_styled() -> None:
    hooks = {'cr-map', 'cr-plot', 'cr-timeline', 'cr-steps', 'cr-task-row', 'cr-spot', 'cr-events'}
    styled = set(re.findall(r'\.(cr-[\w-]+)', colours.css()))
    used = {
        name
        for drawing in drawings()
        for shape in ElementTree.fromstring(drawing).iter()
        for name in shape.get('class', '').split()
    }
    assert used - hooks <= styled
    assert styled - used <= {'cr-asking'}  # nothing is styled that is never drawn
