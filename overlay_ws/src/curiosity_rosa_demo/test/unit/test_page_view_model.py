# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page without a browser: its document and the patches of it, socket, files, pictures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from fnmatch import fnmatch
import gzip
import json
from pathlib import Path
import re
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.robot_routes import state_view
from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.talk import MAX_TALK_LINES, TalkLines
from curiosity_rosa_demo.agent.interfaces.page import feed as feed_module
from curiosity_rosa_demo.agent.interfaces.page import page as page_module
from curiosity_rosa_demo.agent.interfaces.page import views as views_module
from curiosity_rosa_demo.agent.interfaces.page.document import ages, patch_of, patched
from curiosity_rosa_demo.agent.interfaces.page.feed import line_of, MAX_LINES, PageFeed
from curiosity_rosa_demo.agent.interfaces.page.page import add_page
from curiosity_rosa_demo.agent.interfaces.page.views import Views
from curiosity_rosa_demo.agent.kernel.hear import Reply
from curiosity_rosa_demo.domain.adapter_status import NodeStatus
from curiosity_rosa_demo.domain.brain_state import BrainState, Reading, RobotState
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.imaging.image_header import picture_size
from curiosity_rosa_demo.trace.reporter import status_text
from fake_robot import analyzed, CONFIG, FakeRobot
from harness import ROOT
from http_world import as_page, client, until
from http_world import served as serve
import httpx
from hypothesis import given
from hypothesis import strategies as st
import pytest
from skill_world import in_loop, LONG_S
from starlette.websockets import WebSocketDisconnect
from strategies import events, json_objects


@pytest.fixture
def robot() -> Iterator[FakeRobot]:
    with FakeRobot() as robot:
        yield robot


class Browser:
    """The other end of a socket. ``fails``: it takes nothing. ``leaves``: with the first text."""

    def __init__(self, fails: bool = False, leaves: bool = False) -> None:
        self.fails, self.leaves = fails, leaves
        self.says: asyncio.Queue[str | None] = asyncio.Queue()  # None: it closes
        self.told: list[dict[str, Any]] = []

    async def accept(self) -> None: ...

    async def receive_text(self) -> str:
        if (text := await self.says.get()) is None:
            raise WebSocketDisconnect
        return text

    async def close(self) -> None:
        self.says.put_nowait(None)

    async def send_text(self, text: str) -> None:
        if self.fails:
            raise OSError('gone')
        self.told.append(json.loads(text))
        if self.leaves:
            self.says.put_nowait(None)

    @property
    def document(self) -> dict[str, Any]:
        """As link.js keeps it."""
        kept: dict[str, Any] = {}
        for each in self.told:
            kept = patched({} if 'process' in each else kept, each.get('patch', {}))
        return kept

    @property
    def lines(self) -> list[str]:
        """The texts of the trace, as link.js keeps them."""
        kept: list[str] = []
        for each in self.told:
            new = [line['message'] for line in each.get('lines', ())]
            kept = new if each.get('replace') else [*kept, *new]
        return kept

    @property
    def beats(self) -> list[dict[str, Any]]:
        return [each['beat'] for each in self.told if 'beat' in each]


@asynccontextmanager
async def following(robot: FakeRobot, *browsers: Browser) -> AsyncIterator[Views]:
    """``browsers`` follow the view of ``robot``; in the end all have closed."""
    feed = PageFeed(robot, CONFIG, TalkLines())
    views = Views(feed.snapshot, robot.stop)
    jobs = [asyncio.create_task(views.follow(each)) for each in browsers]  # type: ignore[arg-type]
    yield views
    for each in browsers:
        each.says.put_nowait(None)
    await asyncio.wait_for(asyncio.gather(*jobs), LONG_S)


@in_loop
@pytest.mark.parametrize('batches', [(3, 0, 1), (600,), (0, 2, 520, 1), (1,) * 7], ids=str)
async def test_a_page_gets_each_line_once_however_they_come(batches: tuple[int, ...]) -> None:
    with FakeRobot() as robot:
        early, late, said = Browser(), Browser(), list[str]()
        async with following(robot, early) as views:
            for batch in batches:
                for _ in range(batch):
                    said.append(str(len(said)))
                    robot.trace(TraceKind.ACT, said[-1])
                await until(lambda: early.lines[-1:] == said[-1:], 'the last line')
            assert early.lines[-MAX_LINES:] == said[-MAX_LINES:]
            job = asyncio.create_task(views.follow(late))  # type: ignore[arg-type]
            await until(lambda: late.lines == said[-MAX_LINES:], 'all lines, later')
            late.says.put_nowait(None)
            await job


@in_loop
async def test_what_came_of_a_line_is_told_to_all_pages_and_a_fault_without_its_text() -> None:
    with FakeRobot() as robot:
        app = create_app(robot)

        async def broken(*_: object, **__: object) -> Reply:
            raise RuntimeError('secret')

        async with client(app) as script, client(app) as http:
            as_page(http, app)
            await script.post('/say', json={'text': 'of a script'})
            said = {'text': 'go to the light', 'token': 'a'}
            task = (await http.post('/say?operator=Anna', json=said)).json()['task']
            await http.post('/say', json={'text': ':nonsense', 'token': 'b'})
            refused = {'text': 'go', 'token': 'c', 'unless_stop': 'Not now.'}
            assert (await http.post('/say', json=refused)).json()['words'] == 'Not now.'
            assert (await http.post('/say', json={**refused, 'text': ':stop'})).json()['ok']
            robot.say = broken  # type: ignore[method-assign,assignment]
            await http.post('/say', json={'text': 'hello'})
        told = [(row['text'], row['by'], row['ok'], row['task']) for row in app.state.talk.rows()]
        assert told == [
            ('go to the light', 'Anna', True, task['id']),
            (':nonsense', '', False, ''),
            (':stop', '', True, ''),
            ('hello', '', False, ''),
        ]
        assert 'secret' not in str(app.state.talk.rows())
        assert robot.lines == ['of a script', 'go to the light', ':nonsense', ':stop']


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (feed_module, views_module):
        monkeypatch.setattr(module, 'UPDATE_PERIOD_S', 0.02)


@in_loop
async def test_all_pages_share_one_look_and_a_broken_page_harms_no_other() -> None:
    before = asyncio.all_tasks()
    with FakeRobot() as robot:
        browsers = [Browser(fails=number == 0) for number in range(20)]
        async with following(robot, *browsers):
            await until(lambda: all(len(each.beats) >= 3 for each in browsers[1:]), 'three beats')
            clocks = [{beat['clock'] for beat in each.beats} for each in browsers[1:]]
            assert all(len(each & clocks[0]) >= 3 for each in clocks)
            assert max(beat['pages'] for beat in browsers[1].beats) == 20
        while others := asyncio.all_tasks() - before:  # nobody looks while no page is open
            await asyncio.wait(others, timeout=LONG_S)
        browser = Browser()
        async with following(robot, browser):
            await until(lambda: bool(browser.beats), 'another look')


@in_loop
async def test_a_page_that_leaves_while_it_is_told_something_is_let_go() -> None:
    with FakeRobot() as robot:
        browser = Browser(leaves=True)
        async with following(robot, browser) as views:
            await until(lambda: bool(browser.told), 'the first text')
            again = asyncio.create_task(views.follow(Browser(leaves=True)))  # type: ignore[arg-type]
            await asyncio.wait_for(again, LONG_S)


@in_loop
async def test_a_stop_goes_through_the_socket_whatever_else_a_browser_sends() -> None:
    with FakeRobot() as robot:
        browser = Browser()
        async with following(robot, browser):
            for hostile in ('{', '[]', '7', '[' * 10_000, '{"echo": {}}'):
                browser.says.put_nowait(hostile)
            browser.says.put_nowait('{"echo": 5}')
            browser.says.put_nowait('{"stop": "Anna"}')
            await until(lambda: any('stopped' in each for each in browser.told), 'the stop')
            await until(lambda: any(each.get('echo') == 5 for each in browser.told), 'the echo')
        assert robot.stops == ['Anna']


@in_loop
@pytest.mark.parametrize('fault', ['raises', 'refuses', 'never answers'])
async def test_a_runtime_that_gives_no_tasks_holds_up_nothing_else(fault: str) -> None:
    asked: list[Coroutine[Any, Any, Any]] = []

    def call(work: Coroutine[Any, Any, Any]) -> Awaitable[Any]:
        asked.append(work)
        if fault == 'never answers':
            return asyncio.get_running_loop().create_future()
        work.close()
        raise RuntimeError('no loop')

    with FakeRobot() as robot:
        browser, usual = Browser(), robot.call
        robot.deaf = fault == 'refuses'
        if not robot.deaf:
            robot.call = call  # type: ignore[method-assign,assignment]
        async with following(robot, browser):
            await until(lambda: len(browser.beats) >= 5, 'five beats')
            if fault == 'never answers':
                assert len(asked) == 1
                asked[0].close()
                return
            robot.call, robot.deaf = usual, False  # type: ignore[method-assign]
            await robot.order(robot.make_task('mast_open', {}))
            await until(lambda: bool(browser.document['tasks']), 'the task')


Ask = Callable[[str, str], tuple[int, str, bytes]]  # its answer: status, type, body


@pytest.fixture
def page_url(robot: FakeRobot) -> Iterator[str]:
    def make() -> Any:
        app = create_app(robot, settings=CONFIG.agent.http)
        add_page(app, robot, CONFIG)
        return app

    with serve(make, CONFIG.agent.http) as url:
        yield url


@pytest.fixture
def ask(page_url: str) -> Ask:
    def ask(method: str, path: str) -> tuple[int, str, bytes]:
        answer = httpx.request(method, f'{page_url}{path}', headers={'Accept': 'text/html'})
        return answer.status_code, answer.headers.get('Content-Type', ''), answer.content

    return ask


def test_stop_is_in_the_page_before_any_script_of_the_library_and_the_api_beside_it(
    ask: Ask,
) -> None:
    status, kind, body = ask('GET', '/')
    assert (status, kind.partition(';')[0]) == (200, 'text/html')
    text = body.decode()
    assert text.index('id="stop"') < text.index('id="app"')
    assert text.index('fetch(`${path}/stop') < text.index('id="app"')
    assert 'lang="en-US"' in text
    loaded = re.findall(r'(?:src|href|url|from|import)\s*[=(:]?\s*["\'(]+([^"\')]+)', text)
    assert loaded
    assert [each for each in loaded if '//' in each] == []  # nothing of another server
    files = [each for each in loaded if each.startswith('/static/')]
    for path in files:
        assert ask('GET', path)[:2] == (200, 'text/javascript; charset=utf-8'), path
    sizes = {path: len(gzip.compress(ask('GET', path)[2])) for path in set(files)}
    assert sum(sizes.values()) < 150_000, sizes
    for method, path, code in (
        ('GET', '/nonsense', 404),
        ('POST', '/', 405),
        ('GET', '/static/nonsense', 404),
        ('GET', f'{files[0].rpartition("/")[0]}/../../page.py', 404),
        ('GET', '/page/captures/none.jpg', 404),
        ('DELETE', '/stop', 405),
    ):
        assert ask(method, path)[:2] == (code, 'application/problem+json'), path


def test_the_page_runs_no_code_but_its_own(page_url: str) -> None:
    policy = httpx.get(page_url).headers['Content-Security-Policy']
    rules = dict(each.strip().split(' ', 1) for each in policy.split(';'))
    assert rules['default-src'] == "'none'"
    assert all(each.startswith(("'self'", "'sha256-")) for each in rules['script-src'].split())
    assert 'unsafe' not in policy


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
    assert ask('GET', '/ground.jpg') == shown
    whole = max(picture_size(ask('GET', '/page/frame.jpg')[2]))
    for px, longest in ((1, 64), (65, 128), (4096, 4096)):
        status, kind, small = ask('GET', f'/page/frame.jpg?px={px}')
        assert (status, kind) == (200, 'image/jpeg')
        assert max(picture_size(small)) == min(longest, whole)
    assert ask('GET', '/page/frame.jpg?px=0')[0] == 422
    robot.camera = False  # no error of the page
    assert ask('GET', '/page/frame.jpg')[0] == 204


WEB = Path(page_module.__file__).parent / 'web'
PACKAGE = WEB.parents[3]


def test_every_script_is_installed_and_finds_what_it_imports() -> None:
    setup = (ROOT / 'overlay_ws/src/curiosity_rosa_demo/setup.py').read_text()
    installed = re.findall(r"'(agent/[^']+\*[^']*)'", setup)
    for script in WEB.rglob('*.js'):
        name = str(script.relative_to(PACKAGE))
        assert any(fnmatch(name, pattern) for pattern in installed), name
        for imported in re.findall(r"from '([^']+)';$", script.read_text(), re.MULTILINE):
            assert (script.parent / imported).is_file(), (name, imported)


@in_loop
async def test_a_goal_is_rehearsed_and_ordered_as_of_the_page() -> None:
    goal = {'name': 'navigate_to_pose', 'metadata': {'x': 6.5, 'y': 1.0}}
    with FakeRobot() as robot:
        app = create_app(robot)
        add_page(app, robot, CONFIG)
        robot.paused = True
        async with client(app) as http:
            as_page(http, app)
            told = (await http.post('/rehearsals', json=goal)).json()
            assert (await http.get('/tasks')).json() == []  # a rehearsal orders nothing
            ordered = (await http.post('/tasks?client=page', json=goal)).json()
            robot.refusal = 'SAFE_MODE: refused'
            refused = (await http.post('/rehearsals', json=goal)).json()
            wrong = await http.post('/rehearsals', json={**goal, 'metadata': {'x': 'far'}})
    path = [[0.0, 0.0], [6.5, 1.0]]
    assert told == {'refusal': '', 'lines': ['Rehearsal: 6.6 m'], 'path': path}
    assert (ordered['metadata']['origin'], robot.callers) == ('page', ['the page'])
    assert refused['refusal'] == 'SAFE_MODE: refused'
    assert wrong.status_code == 422


def test_the_state_warns_of_who_publishes_beside_the_rover() -> None:
    both = {'/clock': ['/gazebo', '/stand_in'], '/joint_states': ['/stand_in (2 times)']}
    robot = FakeRobot()
    for rivals in (None, {}, 'no table', {'/clock': 'no list'}, both):
        told = {'mast': 'closed', 'rival_publishers': rivals}
        heard = {'adapter': Reading(value=told, received_s=1.0)}
        robot.brain_state = BrainState(robot=RobotState(heard=heard))
        warnings = state_view(robot).warnings
        assert len(warnings) == (2 if rivals is both else 0)
        assert all(text in status_text(told) for text in warnings)
        assert status_text(told).count('several publishers of') == len(warnings)
        assert all('own ROS_DOMAIN_ID' in text for text in warnings)


@given(
    st.dictionaries(st.sampled_from(['odometry', 'scan']), st.floats(0.0, 1e6)),
    st.none() | st.floats(0.0, 1e6),
)
def test_nothing_the_kernel_knows_is_younger_than_its_last_tick(
    heard: dict[str, float], kernel: float | None
) -> None:
    robot = FakeRobot()
    robot.brain_state = BrainState(robot=RobotState(ages_s=heard))
    robot.nodes = [NodeStatus('kernel', ok=True, age_s=kernel)]
    shown = ages(state_view(robot))
    assert shown['node:kernel'] == (kernel and pytest.approx(kernel, abs=0.01))
    for name, age in heard.items():
        assert shown[name] == pytest.approx(age + (kernel or 0.0), abs=0.01)


@given(json_objects, json_objects)
def test_a_patch_leads_from_one_document_to_another_and_is_empty_for_equal_ones(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    before, after = patched({}, one), patched({}, other)
    assert patched(before, patch_of(before, after)) == after
    assert patch_of(before, before) == {}
    assert patched({}, patch_of({}, after)) == after


@given(events, st.booleans())
def test_every_event_is_a_line_that_can_be_sent(event: TraceEvent, earlier: bool) -> None:
    line = json.loads(line_of(event, earlier=earlier))
    assert line['event_id'] == event.event_id
    assert line['message'] == event.message
    assert line.get('earlier', False) == earlier


@in_loop
async def test_the_document_is_made_of_what_the_routes_give() -> None:
    with FakeRobot() as robot:
        app = create_app(robot)
        add_page(app, robot, CONFIG)
        robot.ask('May I?', {'skill': 'move_forward', 'arguments': {'duration_s': 9.0}})
        robot.analyzed = analyzed('g1')
        task = await robot.order(robot.make_task('react', {'text': 'look'}))
        async with client(app) as http:

            async def get(path: str) -> Any:
                return (await http.get(path)).json()

            async def ended() -> bool:
                shown = (await get('/view'))['document']['tasks'].get(task.id, {})
                return bool(shown.get('state') == 'completed')

            while not await ended():
                await asyncio.sleep(0.01)
            shown = (await get('/view'))['document']
            state = await get('/state')
            own, history = shown['tasks'][task.id], shown['tasks'][task.id].pop('history')
            assert own == patched({}, await get(f'/tasks/{task.id}'))
            assert [row['state'] for row in history] == [
                row['after'] for row in await get(f'/tasks/{task.id}/history')
            ]
            assert shown['approvals'] == await get('/approvals')
            assert list(shown['captures'].values()) == [
                patched({}, each) for each in await get('/captures')
            ]
            assert shown['ground'] == patched({}, await get('/ground'))
            assert shown['trail'][-1] == pytest.approx((await get('/trail'))[-1], abs=0.01)
            for name in ('ready', 'auto', 'sources', 'way_ahead', 'warnings', 'replay'):
                assert shown['state'][name] == state[name]
            assert shown['state']['brain_state']['tasks']['mode'] == 'IDLE'


@given(st.lists(st.tuples(st.text(max_size=3), st.sampled_from(['a', 'b', '']))))
def test_the_newest_lines_stay_and_no_two_have_the_same_token(
    typed: list[tuple[str, str]],
) -> None:
    lines = TalkLines()
    for words, token in typed:
        lines.add(words, '', token)
    rows = lines.rows()
    assert [row['text'] for row in rows] == [words for words, _ in typed][-MAX_TALK_LINES:]
    kept = [row['token'] for row in rows if row['token']]
    assert len(kept) == len(set(kept))
