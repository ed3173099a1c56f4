# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The map and its goals, and colours and styles of every drawing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
import math
from typing import Any

from curiosity_rosa_demo.agent.interfaces.page import map_goals, timeline
from curiosity_rosa_demo.agent.interfaces.page.controller import PageController
from curiosity_rosa_demo.agent.interfaces.page.drawings import Look
from curiosity_rosa_demo.agent.interfaces.page.panels import MAX_SCALE, MIN_SCALE, read_look
from curiosity_rosa_demo.agent.interfaces.page.phase_bar import phase_bar
from curiosity_rosa_demo.agent.interfaces.page.timeline import TalkLines
from curiosity_rosa_demo.agent.interfaces.page.view_model import ViewModel
from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.agent.tasks.task import BadTask
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.drawing import plots, world_map
from curiosity_rosa_demo.drawing.map_ground import Zone
from curiosity_rosa_demo.drawing.markers import CaptureMarker
from curiosity_rosa_demo.drawing.svg import LabelPlace, LabelPlacer
from curiosity_rosa_demo.drawing.view import Frame, View
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.recording.report.summary import timeline_svg
from examples import examples
from fake_robot import CONFIG, FakeRobot
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from strategies import json_values

GOAL = {'what': 'drive', 'x': 6.5, 'y': 1.0}
metres, pixels = st.floats(-1e3, 1e3), st.floats(120.0, 2560.0)


@pytest.fixture
def robot() -> Iterator[FakeRobot]:
    with FakeRobot() as robot:
        robot.paused = True
        yield robot


def tasks_of(robot: FakeRobot) -> list[Any]:
    async def tasks() -> list[Any]:
        return list(robot.runner.list_tasks())

    return robot.do(tasks())


# --- the view --------------------------------------------------------------------------------


@given(metres, metres, st.floats(MIN_SCALE, MAX_SCALE), pixels, pixels)
def test_a_view_has_its_centre_in_the_middle_and_its_scale(
    x: float, y: float, scale: float, width: float, height: float
) -> None:
    frame = Frame.centred((x, y), scale, width, height)
    assert frame.at(x, y) == pytest.approx((width / 2, height / 2), abs=1e-3)
    assert frame.scale == pytest.approx(scale)
    shown = frame.shown
    assert shown.x_max - shown.x_min == pytest.approx(width / scale)
    assert frame.metres(*frame.at(x + 1.0, y - 2.0)) == pytest.approx((x + 1.0, y - 2.0), abs=1e-3)


def test_a_view_without_a_place_shows_all_and_no_scale_is_beyond_its_limits() -> None:
    size = {'width': 400, 'height': 304}
    assert read_look(size) == Look(400.0, 304.0)
    assert read_look({**size, 'x': 1.0, 'y': math.inf, 'scale': 3.0}) == Look(400.0, 304.0)
    near = read_look({**size, 'x': 1.0, 'y': 2.0, 'scale': 1e9, 'follows': True})
    assert near == Look(400.0, 304.0, (1.0, 2.0), MAX_SCALE, follows=True)


def test_each_look_is_drawn_once_and_a_following_one_has_the_rover_in_its_middle(
    robot: FakeRobot,
) -> None:
    robot.where = RoverPose(x=90.0, y=20.0, frame_id='odom')
    drawing = (
        ViewModel(robot, CONFIG, TalkLines()).snapshot((), now=1.0, clock=1.0).drawings['map']
    )
    all_of_it = drawing.picture()
    look = Look(400.0, 304.0, (0.0, 0.0), 20.0, follows=True)
    view = drawing.picture(look).view
    assert view == View(80.0, 100.0, pytest.approx(12.4), pytest.approx(27.6))
    assert drawing.picture(look) is drawing.picture(look)
    assert drawing.picture() is all_of_it


# --- labels ----------------------------------------------------------------------------------

places = st.builds(
    LabelPlace,
    st.floats(-50.0, 450.0),
    st.floats(-50.0, 350.0),
    st.sampled_from([None, 'middle', 'end']),
)


@settings(max_examples=examples(50))
@given(st.lists(st.tuples(st.sampled_from(['0.62', 'bright zone', '4.0 m']), places), max_size=30))
def test_no_label_covers_another_or_leaves_the_drawing(wanted: list[Any]) -> None:
    placer, shown = LabelPlacer(400.0, 300.0), []
    for words, place in wanted:
        if placer.place(words, [place]):
            wide = 7.0 * len(words)
            left = place.x - {'middle': wide / 2, 'end': wide}.get(place.anchor or '', 0.0)
            shown.append((left, place.y - 11.0, left + wide, place.y + 3.0))
    for number, (left, top, right, bottom) in enumerate(shown):
        assert min(left, top) >= 0.0
        assert (right <= 400.0, bottom <= 300.0) == (True, True)
        for other in shown[number + 1 :]:
            assert left >= other[2] or other[0] >= right or top >= other[3] or other[1] >= bottom


# --- goals -----------------------------------------------------------------------------------


def propose(robot: FakeRobot, **goal: Any) -> dict[str, Any]:
    return asyncio.run(map_goals.propose(robot, {**GOAL, **goal}))


def test_a_goal_is_rehearsed_and_ordered_through_the_port_as_of_the_page(
    robot: FakeRobot,
) -> None:
    path = [[0.0, 0.0], [6.5, 1.0]]
    assert propose(robot) == {'ok': True, 'lines': ['Rehearsal: 6.6 m'], 'path': path}
    assert tasks_of(robot) == []  # a proposal orders nothing
    controller = PageController(robot, robot.runner)
    ok, words = asyncio.run(controller.order(GOAL))
    [task] = tasks_of(robot)
    assert (ok, words, task.metadata['origin']) == (True, f'task {task.id[:8]}', 'page')
    assert task.metadata['arguments'] == {'x': 6.5, 'y': 1.0, 'yaw_rad': None}
    robot.where = RoverPose(x=1.0, y=1.0, frame_id='odom')
    asyncio.run(controller.order({'what': 'face', 'x': 1.0, 'y': 9.0}))
    faces = tasks_of(robot)[-1]  # to face a place is to drive on in its direction
    assert faces.metadata['arguments'] == {'x': 1.0, 'y': 7.0, 'yaw_rad': 1.571}
    robot.where = None
    assert propose(robot, what='face')['lines'] == [map_goals.NO_POSE]
    robot.refusal = 'SAFE_MODE: refused'
    refused = propose(robot)
    assert (refused['ok'], refused['lines'][0]) == (False, 'SAFE_MODE: refused')


@settings(max_examples=examples(30))
@given(st.dictionaries(st.sampled_from(['what', 'x', 'y']), json_values | st.just('drive')))
def test_whatever_is_proposed_is_answered_in_words(sent: dict[str, Any]) -> None:
    robot = FakeRobot()
    robot.where = None
    proposal = asyncio.run(PageController(robot, robot.runner).propose(sent))
    assert proposal['lines']
    if not proposal['ok']:
        with pytest.raises(BadTask):
            asyncio.run(map_goals.order(robot, sent))


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
