# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page as the server gives it, without a browser, and what is installed of its
JavaScript. What it does in a browser stands in standalone/test/test_page_browser.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
import json
from pathlib import Path
import re
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.page import panels
from curiosity_rosa_demo.agent.interfaces.page.page import add_page
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.imaging.image_header import picture_size
from fake_robot import CONFIG, FakeRobot
from ground_world import analyzed
from http_world import served as serve
import httpx
import nicegui
from our_sources import ROOT
import pytest

Answer = tuple[int, str, bytes]  # status, type, body


class Served:
    """The page of a robot, at an address."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, method: str, path: str) -> Answer:
        answer = httpx.request(method, f'{self.url}{path}', headers={'Accept': 'text/html'})
        return answer.status_code, answer.headers.get('Content-Type', ''), answer.content


@contextmanager
def page_of(robot: FakeRobot) -> Iterator[Served]:
    def make() -> Any:
        app = create_app(robot.runner, robot=robot, settings=CONFIG.agent.http)
        add_page(app, robot, robot.runner, CONFIG)
        return app

    with serve(make, CONFIG.agent.http) as url:
        yield Served(url)


@pytest.fixture
def robot() -> Iterator[FakeRobot]:
    with FakeRobot() as robot:
        yield robot


@pytest.fixture
def served(robot: FakeRobot) -> Iterator[Served]:
    with page_of(robot) as served:
        yield served


def test_stop_is_in_the_page_before_any_script_of_the_library(served: Served) -> None:
    status, kind, body = served.ask('GET', '/')
    assert (status, kind.partition(';')[0]) == (200, 'text/html')
    text = body.decode()
    assert text.index('id="stop"') < text.index('id="app"')
    assert text.index('fetch(`${path}/stop') < text.index('id="app"')
    assert 'lang="en-US"' in text


def test_nothing_in_the_page_is_of_another_server(served: Served) -> None:
    text = served.ask('GET', '/')[2].decode()
    assert "default-src 'self'" in text
    loaded = re.findall(r'(?:src|href|url|from|import)\s*[=(:]?\s*["\'(]+([^"\')]+)', text)
    assert loaded
    assert [each for each in loaded if '//' in each] == []


def test_beside_the_page_the_api_answers_as_ever(served: Served) -> None:
    for method, path, status in (
        ('GET', '/nonsense', 404),
        ('POST', '/', 404),
        ('GET', '/page/captures/none.jpg', 404),
        ('DELETE', '/stop', 405),
    ):
        assert served.ask(method, path)[:2] == (status, 'application/problem+json')


def test_a_capture_is_given_as_it_was_taken(served: Served, robot: FakeRobot) -> None:
    task = robot.do(robot.runner.submit(robot.make_task('react', {'text': 'look'})))
    robot.do(robot.runner.wait(task.id, 10.0))
    [capture] = robot.captures()
    found = served.ask('GET', f'/page/captures/{capture.event_id}.jpg')
    assert found == (200, 'image/jpeg', capture.picture.jpeg)


def test_the_picture_of_the_newest_analysis_is_given(served: Served, robot: FakeRobot) -> None:
    assert served.ask('GET', '/ground')[0] == served.ask('GET', '/ground.jpg')[0] == 404
    robot.analyzed = ground = analyzed('g1')
    assert ground.picture is not None
    shown = (200, 'image/jpeg', ground.picture.jpeg)
    assert served.ask('GET', '/page/ground/g1.jpg') == served.ask('GET', '/ground.jpg') == shown
    assert served.ask('GET', '/page/ground/g0.jpg')[0] == 404


def test_a_camera_that_gives_nothing_is_no_error_of_the_page(
    served: Served, robot: FakeRobot
) -> None:
    status, kind, body = served.ask('GET', '/page/frame.jpg')
    assert (status, kind) == (200, 'image/jpeg')
    assert body.startswith(b'\xff\xd8')
    whole = max(picture_size(body))
    for px, longest in ((1, 64), (65, 128), (4096, 4096)):
        _, kind, small = served.ask('GET', f'/page/frame.jpg?px={px}')
        assert (kind, max(picture_size(small))) == ('image/jpeg', min(longest, whole))
    assert served.ask('GET', '/page/frame.jpg?px=0')[0] == 422
    robot.camera = False
    assert served.ask('GET', '/page/frame.jpg')[0] == 204


def test_the_app_that_was_added_last_has_the_page_and_what_the_robot_did(robot: FakeRobot) -> None:
    for mode in ('one', 'two'):
        robot.trace(TraceKind.ACT, f'{mode} </script><b>')
        with page_of(robot) as served:
            text = served.ask('GET', '/')[2].decode()
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
