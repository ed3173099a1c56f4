# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page without a browser: its model, panels, feed and routes, the map and goals, and what a
browser asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta, timezone
from fnmatch import fnmatch
import gzip
import json
import math
from pathlib import Path
import re
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.talk import MAX_TALK_LINES, TalkLines
from curiosity_rosa_demo.agent.interfaces.page import feed as feed_module
from curiosity_rosa_demo.agent.interfaces.page import page as page_module
from curiosity_rosa_demo.agent.interfaces.page import status_rows, task_detail
from curiosity_rosa_demo.agent.interfaces.page import views as views_module
from curiosity_rosa_demo.agent.interfaces.page.drawings import (
    DRAWING_FAILED_HTML,
    drawn,
    Look,
    MAX_SCALE,
    read_look,
)
from curiosity_rosa_demo.agent.interfaces.page.feed import PageFeed
from curiosity_rosa_demo.agent.interfaces.page.head_rows import sensor_ages, status_data
from curiosity_rosa_demo.agent.interfaces.page.page import add_page
from curiosity_rosa_demo.agent.interfaces.page.task_detail import TaskEvents
from curiosity_rosa_demo.agent.interfaces.page.task_history import TaskHistory
from curiosity_rosa_demo.agent.interfaces.page.view_model import MAX_LINES, PageSnapshot, ViewModel
from curiosity_rosa_demo.agent.interfaces.page.views import Views
from curiosity_rosa_demo.agent.kernel.hear import Reply
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.domain.adapter_status import NodeStatus
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Mode,
    Question,
    ReactState,
    Reading,
    RobotState,
    TasksState,
)
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.drawing import world_map
from curiosity_rosa_demo.imaging.image_header import picture_size
from curiosity_rosa_demo.trace.events import ModelCalled, with_task
from curiosity_rosa_demo.trace.reporter import status_text
from curiosity_rosa_demo.trace.trace_codec import new_event
from examples import examples
from fake_robot import analyzed, CONFIG, FakeRobot
from harness import ROOT
from http_world import as_page, client, until
from http_world import served as serve
import httpx
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from skill_world import in_loop, LONG_S
from starlette.websockets import WebSocketDisconnect
from strategies import events, json_objects, json_values, text


@pytest.fixture
def robot() -> Iterator[FakeRobot]:
    with FakeRobot() as robot:
        yield robot


def model_of(robot: FakeRobot) -> ViewModel:
    return ViewModel(robot, CONFIG, TalkLines())


def look(
    model: ViewModel, histories: Sequence[TaskHistory] = (), now: float = 1000.0
) -> PageSnapshot:
    return model.snapshot(histories, now=now, clock=now)


def svg(snapshot: PageSnapshot, name: str = 'map') -> str:
    return snapshot.drawings[name].svg()


class Browser:
    """The other end of a socket. ``fails``: it takes nothing."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
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

    @property
    def parts(self) -> dict[str, Any]:
        return {name: facts for each in self.told for name, facts in each['parts'].items()}

    @property
    def lines(self) -> list[str]:
        """The texts of the trace, as link.js keeps them."""
        kept: list[str] = []
        for each in self.told:
            new = [line['text'] for line in each.get('lines', ())]
            kept = new if each.get('replace') else [*kept, *new]
        return kept

    @property
    def beats(self) -> list[dict[str, Any]]:
        return [each['beat'] for each in self.told if 'beat' in each]


@asynccontextmanager
async def following(robot: FakeRobot, *browsers: Browser) -> AsyncIterator[Views]:
    """``browsers`` follow the view of ``robot``; in the end all have closed."""
    feed = PageFeed(robot, CONFIG, TalkLines())
    views = Views(feed.snapshot, robot.stop, lambda shown, looks: drawn(shown.drawings, looks))
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


@settings(max_examples=examples(30))
@given(st.lists(st.dictionaries(text, json_values, max_size=3), max_size=3))
def test_no_plan_of_a_model_breaks_the_map_and_a_drawing_that_fails_no_other(
    steps: list[Any],
) -> None:
    def broken(*given: object) -> str:
        raise ValueError('no')

    robot = FakeRobot()
    steps = [{**step, 'action': 'navigate_to_pose', 'status': 'running'} for step in steps]
    react = robot.brain_state.react.model_copy(update={'plan': {'steps': steps, 'goal': 'g'}})
    robot.brain_state = robot.brain_state.model_copy(update={'react': react})
    assert svg(look(model_of(robot))).startswith('<svg')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world_map, 'render', broken)
        shown = look(model_of(robot))
        assert svg(shown) == DRAWING_FAILED_HTML
    assert svg(shown, 'plot').startswith('<svg')


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
async def test_a_stop_goes_through_the_socket_whatever_else_a_browser_sends() -> None:
    with FakeRobot() as robot:
        browser = Browser()
        async with following(robot, browser):
            size = {'width': 400, 'height': 304}
            for hostile in ('{', '[]', '7', '[' * 10_000, '{"looks": {"map": {"width": []}}}'):
                browser.says.put_nowait(hostile)
            browser.says.put_nowait(json.dumps({'looks': {'map': size, 'no': size}, 'echo': 5}))
            browser.says.put_nowait('{"stop": "Anna"}')
            await until(lambda: any('stopped' in each for each in browser.told), 'the stop')
            await until(lambda: any(each.get('echo') == 5 for each in browser.told), 'the echo')
            drawings = [each for told in browser.told for each in told.get('drawings', {}).items()]
            assert [(name, each['svg'][:4]) for name, each in drawings] == [('map', '<svg')]
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
            await until(lambda: bool(browser.parts['tasks']['rows']), 'the task')


Ask = Callable[[str, str], tuple[int, str, bytes]]  # its answer: status, type, body


@contextmanager
def page_of(robot: FakeRobot) -> Iterator[Ask]:
    """Asks the server of its page."""

    def make() -> Any:
        app = create_app(robot, settings=CONFIG.agent.http)
        add_page(app, robot, CONFIG)
        return app

    with serve(make, CONFIG.agent.http) as url:

        def ask(method: str, path: str) -> tuple[int, str, bytes]:
            answer = httpx.request(method, f'{url}{path}', headers={'Accept': 'text/html'})
            return answer.status_code, answer.headers.get('Content-Type', ''), answer.content

        yield ask


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


def test_the_page_runs_no_code_but_its_own(robot: FakeRobot) -> None:
    def make() -> Any:
        app = create_app(robot, settings=CONFIG.agent.http)
        add_page(app, robot, CONFIG)
        return app

    with serve(make, CONFIG.agent.http) as url:
        policy = httpx.get(url).headers['Content-Security-Policy']
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


@given(json_values | st.fixed_dictionaries({'width': json_values, 'height': json_values}))
def test_whatever_a_browser_reports_is_a_look_that_can_be_drawn(args: Any) -> None:
    given_look = read_look(args)
    if given_look is not None:
        assert min(given_look.width, given_look.height) >= 120.0
        assert max(given_look.width, given_look.height) <= 2560.0
    size = {'width': 400, 'height': 304}
    assert read_look({**size, 'x': 1.0, 'y': math.inf, 'scale': 3.0}) == Look(400.0, 304.0)
    near = read_look({**size, 'x': 1.0, 'y': 2.0, 'scale': 1e9, 'follows': True})
    assert near == Look(400.0, 304.0, (1.0, 2.0), MAX_SCALE, follows=True)


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


NOW = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
seconds = st.floats(0.0, 1e6)
NODES = [
    NodeStatus('kernel', ok=True, age_s=0.1),
    NodeStatus('adapter', ok=False, age_s=None, text='gone'),
]
S = LifecycleState


def test_the_head_warns_of_who_publishes_beside_the_rover() -> None:
    both = {'/clock': ['/gazebo', '/stand_in'], '/joint_states': ['/stand_in (2 times)']}
    for rivals in (None, {}, 'no table', {'/clock': 'no list'}, both):
        told = {'mast': 'closed', 'rival_publishers': rivals}
        state = BrainState(
            robot=RobotState(heard={'adapter': Reading(value=told, received_s=1.0)})
        )
        facts = status_data(state, None, NODES, auto='off', auto_on=False, replay=False, limits={})
        warnings = [row for row in facts['motion'] if row['name'] == 'Warning']
        assert [row['bad'] for row in warnings] == [True] * (2 if rivals is both else 0)
        assert all(row['text'] in status_text(told) for row in warnings)
        assert status_text(told).count('several publishers of') == len(warnings)
        assert all('own ROS_DOMAIN_ID' in row['text'] for row in warnings)


@given(st.dictionaries(text, seconds, max_size=4), st.none() | seconds)
def test_nothing_the_kernel_knows_is_younger_than_its_last_tick(
    heard: dict[str, float], kernel: float | None
) -> None:
    state = BrainState(robot=RobotState(ages_s=heard))
    shown = sensor_ages(state, [NodeStatus('kernel', ok=True, age_s=kernel)])
    assert shown['node:kernel'] == kernel
    for name, age in heard.items():
        assert shown[name] == pytest.approx(age + (kernel or 0.0))


@given(json_objects)
def test_what_is_approved_is_seen_in_full(arguments: dict[str, Any]) -> None:
    op = {'skill': 'move_forward', 'arguments': arguments}
    long = 'why\u202e ' * status_rows.MAX_TEXT_CHARS
    facts = status_rows.question_data(
        Question(id='q1', text=long, op=op, reasons=[long]), until=None
    )
    assert json.loads(facts['arguments']) == arguments
    assert all(line.isprintable() for line in facts['arguments'].split('\n'))
    assert [facts['text'], *facts['reasons']] == 2 * ['why\\u202e ' * status_rows.MAX_TEXT_CHARS]
    assert facts['editable']
    assert not status_rows.question_data(Question(id='q1', text='go on?'), until=5.0)['editable']


@given(events, st.none() | seconds)
def test_every_event_is_a_line_that_can_be_sent(event: TraceEvent, before: float | None) -> None:
    facts = status_rows.trace_data(event, before)
    json.dumps(facts)
    assert facts['id'] == event.event_id
    assert facts['took'] is None or facts['took'] >= 0.0


def alarms(
    state: BrainState | None = None, nodes: Any = (), tasks: Any = (), waits_for: str = ''
) -> dict[str, Any]:
    state = state or BrainState()
    return status_rows.alarm_data(state, nodes, tasks, NOW, waits_for=waits_for, replay=False)


def task(text: str, state: LifecycleState, *, held: bool = False, minutes: float = 0.0) -> Task:
    made = Task('react', metadata={'text': text}, state=state, held=held)
    made.updated_at = NOW - timedelta(minutes=minutes)
    return made


def test_every_failure_is_told_and_safe_has_its_cause_and_the_way_out() -> None:
    calm = alarms(nodes=NODES[:1])
    assert (calm['safe'], calm['rows'], calm['replay']) == (None, [], False)
    latched = {'safety_latch': 'e-stop'}
    for robot, way_out in (
        ({'estop': True, **latched}, 'Release the e-stop, then press Clear.'),
        (latched, 'Look at the rover, then press Clear.'),
        ({}, 'SAFE ends when it is back.'),
    ):
        tasks = TasksState(mode=Mode.SAFE, mode_reason='e-stop pressed')
        safe = alarms(BrainState(tasks=tasks, robot=RobotState(**robot)))['safe']
        told = {'cause': 'e-stop pressed', 'way_out': way_out, 'latched': bool(robot)}
        assert safe == told
    low = {'battery_state': BatteryLevel.LOW, 'battery_pct': 11.6}
    state = BrainState(robot=RobotState(silent=['odometry'], estop=True, **low))
    nodes = [NODES[1], NodeStatus('kernel', ok=False, age_s=1.0)]
    held = [task('a', S.PAUSED, held=True)]
    rows = alarms(state, nodes, held, waits_for='no database')['rows']
    assert [row['text'] for row in rows] == [
        'Nothing can run yet: no database',
        'The e-stop is pressed',
        'odometry is silent',
        'The battery is low: 12 %',
        'adapter: gone',
        'kernel: not well',
        '1 task held until a person resumes',
    ]
    assert rows[-1]['line'] == ':resume'
    old = status_rows.FAILURE_SHOWN.total_seconds() / 60 + 1  # failed tasks, for a while
    ended = {'long ago': old, 'third': 3.0, 'second': 2.0, 'first': 1.0}
    tasks = [task(text, S.FAILED, minutes=minutes) for text, minutes in ended.items()]
    rows = alarms(tasks=[*tasks, task('done', S.COMPLETED)])['rows']
    assert [row['text'].split('failed: ')[1] for row in rows] == ['first', 'second']
    assert all(row['dismissable'] for row in rows)


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


def test_a_task_has_its_own_use_of_a_model() -> None:
    told = TaskEvents()
    for task_id in ('t1', 't1', 't2'):
        called = ModelCalled('p', 'm', 100, 20, 0, 0, False, 0.25, 'USD', task_id)
        told.add(new_event(**called.trace_fields(called.text())))
    history = TaskHistory(Task('react', id='t1'), ())
    facts = task_detail.task_detail(history, told, BrainState(), [])
    assert facts['usage'] == '2 calls: 200 tokens in, 40 out, 0.500000 USD'


@given(st.lists(events, max_size=5), json_values, json_values)
def test_whatever_a_model_wrote_can_be_sent(
    given_events: list[TraceEvent], steps: Any, usage: Any
) -> None:
    told = TaskEvents()
    plan = {'plan_id': 'p1', 'steps': steps}
    if isinstance(steps, list):
        given_events = [*given_events, new_event(TraceKind.HYPOTHESIZE, 'words', data=plan)]
    for event in given_events:
        told.add(event.model_copy(update={'data': with_task(event.data, 't1')}))
    task = Task('react', id='t1', metadata={'plan': plan, 'usage': usage})
    state = BrainState(react=ReactState(plan=plan))
    json.dumps(task_detail.task_detail(TaskHistory(task, ()), told, state, []))
    for any_plan in (plan, usage if isinstance(usage, dict) else None):
        facts = status_rows.plan_data(any_plan)
        json.dumps(facts)
        assert all(isinstance(value, str) for step in facts['steps'] for value in step.values())
