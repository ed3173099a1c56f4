# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page as the server gives it, without a browser: what is installed of its JavaScript, the map
and its goals. What it does in a browser stands in standalone/test/test_page_browser.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
import json
import math
from pathlib import Path
import re
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.page import map_goals, panels
from curiosity_rosa_demo.agent.interfaces.page.controller import PageController
from curiosity_rosa_demo.agent.interfaces.page.drawings import Look
from curiosity_rosa_demo.agent.interfaces.page.page import add_page
from curiosity_rosa_demo.agent.interfaces.page.panels import MAX_SCALE, MIN_SCALE, read_look
from curiosity_rosa_demo.agent.interfaces.page.timeline import TalkLines
from curiosity_rosa_demo.agent.interfaces.page.view_model import ViewModel
from curiosity_rosa_demo.agent.tasks.task import BadTask
from curiosity_rosa_demo.domain.models import RoverPose, TraceKind
from curiosity_rosa_demo.drawing.svg import LabelPlace, LabelPlacer
from curiosity_rosa_demo.drawing.view import Frame, View
from curiosity_rosa_demo.imaging.image_header import picture_size
from examples import examples
from fake_robot import CONFIG, FakeRobot
from ground_world import analyzed
from http_world import served as serve
import httpx
from hypothesis import given, settings
from hypothesis import strategies as st
import nicegui
from our_sources import ROOT
import pytest
from strategies import json_values

Ask = Callable[[str, str], tuple[int, str, bytes]]  # its answer: status, type, body


@contextmanager
def page_of(robot: FakeRobot) -> Iterator[Ask]:
    """Asks the server of its page."""

    def make() -> Any:
        app = create_app(robot.runner, robot=robot, settings=CONFIG.agent.http)
        add_page(app, robot, robot.runner, CONFIG)
        return app

    with serve(make, CONFIG.agent.http) as url:

        def ask(method: str, path: str) -> tuple[int, str, bytes]:
            answer = httpx.request(method, f'{url}{path}', headers={'Accept': 'text/html'})
            return answer.status_code, answer.headers.get('Content-Type', ''), answer.content

        yield ask


@pytest.fixture
def robot() -> Iterator[FakeRobot]:
    with FakeRobot() as robot:
        yield robot


@pytest.fixture
def ask(robot: FakeRobot) -> Iterator[Ask]:
    with page_of(robot) as ask:
        yield ask


def test_stop_is_in_the_page_before_any_script_of_the_library_and_the_api_beside_it(
    ask: Ask,
) -> None:
    status, kind, body = ask('GET', '/')
    assert (status, kind.partition(';')[0]) == (200, 'text/html')
    text = body.decode()
    assert text.index('id="stop"') < text.index('id="app"')
    assert text.index('fetch(`${path}/stop') < text.index('id="app"')
    assert 'lang="en-US"' in text
    assert "default-src 'self'" in text
    loaded = re.findall(r'(?:src|href|url|from|import)\s*[=(:]?\s*["\'(]+([^"\')]+)', text)
    assert loaded
    assert [each for each in loaded if '//' in each] == []  # nothing of another server
    for method, path, code in (
        ('GET', '/nonsense', 404),
        ('POST', '/', 404),
        ('GET', '/page/captures/none.jpg', 404),
        ('DELETE', '/stop', 405),
    ):
        assert ask(method, path)[:2] == (code, 'application/problem+json')


def test_captures_analyses_and_frames_are_given_as_pictures(ask: Ask, robot: FakeRobot) -> None:
    task = robot.do(robot.runner.submit(robot.make_task('react', {'text': 'look'})))
    robot.do(robot.runner.wait(task.id, 10.0))
    [capture] = robot.captures()
    found = ask('GET', f'/page/captures/{capture.event_id}.jpg')
    assert found == (200, 'image/jpeg', capture.picture.jpeg)
    assert ask('GET', '/ground')[0] == ask('GET', '/ground.jpg')[0] == 404
    robot.analyzed = ground = analyzed('g1')
    assert ground.picture is not None
    shown = (200, 'image/jpeg', ground.picture.jpeg)
    assert ask('GET', '/page/ground/g1.jpg') == ask('GET', '/ground.jpg') == shown
    assert ask('GET', '/page/ground/g0.jpg')[0] == 404
    whole = max(picture_size(ask('GET', '/page/frame.jpg')[2]))
    for px, longest in ((1, 64), (65, 128), (4096, 4096)):
        status, kind, small = ask('GET', f'/page/frame.jpg?px={px}')
        assert (status, kind) == (200, 'image/jpeg')
        assert max(picture_size(small)) == min(longest, whole)
    assert ask('GET', '/page/frame.jpg?px=0')[0] == 422
    robot.camera = False  # no error of the page
    assert ask('GET', '/page/frame.jpg')[0] == 204


def test_the_app_that_was_added_last_has_the_page_and_what_the_robot_did(robot: FakeRobot) -> None:
    for mode in ('one', 'two'):
        robot.trace(TraceKind.ACT, f'{mode} </script><b>')
        with page_of(robot) as ask:
            text = ask('GET', '/')[2].decode()
        assert '</script><b>' not in text
        assert f'{mode} &lt;/script&gt;&lt;b&gt;' in text


PAGE = Path(panels.__file__).parent
PACKAGE = PAGE.parents[2]
MODULES = sorted(each.name for each in (PAGE / 'modules').glob('*.js'))
SCRIPTS = sorted(PAGE.parent.rglob('*.js'))


def test_every_script_is_installed_and_finds_what_it_imports() -> None:
    setup = (ROOT / 'overlay_ws/src/curiosity_rosa_demo/setup.py').read_text()
    installed = re.findall(r"'(agent/[^']+\*[^']*)'", setup)
    for script in SCRIPTS:
        name = str(script.relative_to(PACKAGE))
        assert any(fnmatch(name, pattern) for pattern in installed), name
        source = script.read_text()
        for imported in re.findall(r"^import .* from '([^']+)';$", source, re.MULTILINE):
            folder, _, module = imported.rpartition('/')
            assert imported == 'vue' or (folder in ('curiosity', '.') and module in MODULES)


def test_the_types_are_those_of_the_vue_that_runs() -> None:
    library = Path(nicegui.__file__).parent / 'static/vue.esm-browser.prod.js'
    running = re.search(r'vue v(\d+\.\d+\.\d+)', library.read_text()[:200])
    assert running is not None
    wanted = json.loads((ROOT / 'package.json').read_text())['devDependencies']['vue']
    assert running[1] == wanted


GOAL = {'what': 'drive', 'x': 6.5, 'y': 1.0}
metres, pixels = st.floats(-1e3, 1e3), st.floats(120.0, 2560.0)


def tasks_of(robot: FakeRobot) -> list[Any]:
    async def tasks() -> list[Any]:
        return list(robot.runner.list_tasks())

    return robot.do(tasks())


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


def propose(robot: FakeRobot, **goal: Any) -> dict[str, Any]:
    return asyncio.run(map_goals.propose(robot, {**GOAL, **goal}))


def test_a_goal_is_rehearsed_and_ordered_through_the_port_as_of_the_page(robot: FakeRobot) -> None:
    robot.paused, path = True, [[0.0, 0.0], [6.5, 1.0]]
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
