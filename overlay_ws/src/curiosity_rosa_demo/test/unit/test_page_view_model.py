# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page without a browser: its model, what it asks, the feed, the routes, the map and goals."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
import json
import math
from pathlib import Path
import re
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.page import feed as feed_module
from curiosity_rosa_demo.agent.interfaces.page import map_goals, open_pages, panels
from curiosity_rosa_demo.agent.interfaces.page.controller import (
    event_json,
    MAX_LINE_CHARS,
    PageController,
    read_arguments,
)
from curiosity_rosa_demo.agent.interfaces.page.drawings import DRAWING_FAILED_HTML, Look
from curiosity_rosa_demo.agent.interfaces.page.feed import PageFeed
from curiosity_rosa_demo.agent.interfaces.page.page import add_page
from curiosity_rosa_demo.agent.interfaces.page.panels import MAX_SCALE, MIN_SCALE, read_look
from curiosity_rosa_demo.agent.interfaces.page.status_rows import PanelData
from curiosity_rosa_demo.agent.interfaces.page.task_history import TaskHistories, TaskHistory
from curiosity_rosa_demo.agent.interfaces.page.timeline import TalkLines
from curiosity_rosa_demo.agent.interfaces.page.view_model import MAX_LINES, PageSnapshot, ViewModel
from curiosity_rosa_demo.agent.runtime.robot import LineResult
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.task import BadTask, StoreError
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    Mode,
    ReactState,
    TasksState,
)
from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.models import RoverPose, TraceKind
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.rehearsal import Comparison, Rehearsal
from curiosity_rosa_demo.drawing import world_map
from curiosity_rosa_demo.drawing.svg import LabelPlace, LabelPlacer
from curiosity_rosa_demo.drawing.view import Frame, View
from curiosity_rosa_demo.imaging.image_header import picture_size
from curiosity_rosa_demo.trace.events import QuestionAsked, TurnStarted
from curiosity_rosa_demo.trace.trace_codec import new_event
from examples import examples
from fake_robot import CONFIG, FakeRobot
from ground_world import analyzed
from http_world import served as serve
from http_world import until
import httpx
from hypothesis import given, settings
from hypothesis import strategies as st
import nicegui
from our_sources import ROOT
import pytest
from skill_world import in_loop, LONG_S
from strategies import json_values, text


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


def texts(lines: Sequence[PanelData]) -> list[str]:
    return [line['text'] for line in lines]


def test_a_goal_and_a_rehearsed_path_are_on_the_map_and_its_figures_stand_with_the_question(
    robot: FakeRobot,
) -> None:
    model, path = model_of(robot), [(0.0, 0.0), (2.0, 0.0), (4.0, 1.0)]
    rehearsed = Rehearsal(path=path, text='Rehearsal: 4.2 m\nThe gate would refuse it')
    task = Task('navigate_to_pose', metadata={'arguments': {'x': 6.5, 'y': 1.0}})
    task.state = LifecycleState.ACTIVE
    before = svg(look(model))
    assert ('cr-forecast' in before, 'drives to' in before) == (False, False)
    assert 'drives to x 6.50 m, y 1.00 m' in svg(look(model, [TaskHistory(task, ())]))
    robot.ask('Drive?', rehearsal=rehearsed)
    asked = look(model)
    assert 'rehearsed path' in svg(asked)
    assert 'cr-forecast' in svg(asked)
    assert asked.parts['approvals']['rows'][0]['rehearsal'] == rehearsed.text.split('\n')
    gap = Comparison(4.2, 3.0, Place(4.0, 1.0, 0.0), 1.2, 0.0, 0.0, 0.8, ['distance'])
    react = ReactState(rehearsal=rehearsed.model_copy(update={'real': gap}))
    robot.brain_state = robot.brain_state.model_copy(update={'react': react})
    robot.questions = lambda: []  # type: ignore[method-assign]
    over = look(model)
    assert over.parts['plan']['differs'] is True
    assert over.parts['plan']['rehearsal'] == rehearsed.text.split('\n')
    assert 'cr-forecast' not in svg(over)


def test_only_what_changed_is_another_object(robot: FakeRobot) -> None:
    robot.ask('drive?')
    robot.trace(TraceKind.ACT, 'one')
    model = model_of(robot)
    first, second = look(model), look(model, now=1000.1)
    robot.where = RoverPose(x=3.0, frame_id='odom')
    moved = look(model)
    for later, changed in ((second, set()), (moved, {'status', 'map', 'scene'})):
        shown, before = ({**each.parts, **each.drawings} for each in (later, first))
        assert {name for name in before if before[name] is not shown[name]} == changed
    robot.brain_state = BrainState(tasks=TasksState(mode=Mode.EXEC))
    assert look(model).parts['status']['mode'] == 'EXEC'


@settings(max_examples=examples(30))
@given(st.lists(st.integers(0, 220), max_size=8))
def test_a_page_gets_each_line_once_however_they_come(batches: list[int]) -> None:
    robot = FakeRobot()
    model = model_of(robot)
    count, told, said = 0, [], 0
    for batch in batches:
        for _ in range(batch):
            robot.trace(TraceKind.ACT, str(said))
            said += 1
        shown = look(model)
        told += texts(shown.lines_after(count))
        count = shown.count
    assert told == [str(number) for number in range(said)]
    assert len(look(model).lines) == min(said, MAX_LINES)


def test_after_a_restart_the_page_tells_what_was_before_and_marks_it(robot: FakeRobot) -> None:
    robot.earlier = [new_event(TraceKind.ACT, 'drove'), new_event(TraceKind.ERROR, 'fell')]
    model = model_of(robot)
    robot.trace(TraceKind.OBSERVE, 'up again')
    told = [('ACT', True), ('ERROR', True), ('RESTART', False), ('OBSERVE', False)]
    assert [(line['kind'], line['earlier']) for line in look(model).lines] == told
    raw = event_json(robot.earlier, robot.earlier[0].event_id)
    assert json.loads(raw)['message'] == 'drove'
    assert look(model_of(FakeRobot())).lines == ()  # a first run


def test_a_replay_is_said_until_something_live_comes(robot: FakeRobot) -> None:
    """Before its first event and over events of the agent too, while one is played."""
    model = model_of(robot)
    for played, data, said in (
        ('', {'replay': True}, True),
        ('', None, False),
        ('run.mcap, 0 s of 60 s', None, True),
        ('', None, False),
    ):
        for event in (False, True):
            robot.replay = played
            if event or not played:
                robot.trace(TraceKind.ACT, 'then', data=data)
            alarms = look(model).parts['alarms']
            assert alarms['replay'] is said
            assert not played or alarms['replay_text'] == played


def test_a_question_about_a_task_is_no_step_of_the_turn_that_runs(robot: FakeRobot) -> None:
    robot.trace(**TurnStarted(0).trace_fields('User: look'))
    robot.trace(TraceKind.ACT, 'mast_open()')
    model = model_of(robot)
    before = svg(look(model), 'steps')
    robot.trace(**QuestionAsked('t1', '', 't1').trace_fields('Asking: drive?'))
    assert svg(look(model), 'steps') == before
    robot.trace(**QuestionAsked('q1').trace_fields('Asking: drive?'))
    assert svg(look(model), 'steps') != before


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
        patch.setattr(world_map, 'render_in', broken)
        shown = look(model_of(robot))
        assert svg(shown) == DRAWING_FAILED_HTML
    assert svg(shown, 'plot').startswith('<svg')


def test_a_file_that_cannot_be_read_now_is_read_again(robot: FakeRobot) -> None:
    histories = TaskHistories(robot.runner)
    task = robot.do(robot.runner.submit(robot.make_task('mast_open', {})))
    robot.do(robot.runner.wait(task.id, LONG_S))
    history = robot.runner.history

    def broken(task_id: str) -> Any:
        raise StoreError('the disk is gone')

    robot.runner.history = broken  # type: ignore[method-assign]
    assert robot.do(histories.read())[0].rows == ()
    robot.runner.history = history  # type: ignore[method-assign]
    assert len(robot.do(histories.read())[0].rows) == 3


NO_OBJECTS = (
    ('{"x": }', 'line 1, column 7'),
    ('[1]', 'must be an object'),
    ('{"x": NaN}', 'NaN'),
    ('{"x": -Infinity}', 'Infinity'),
    ('{"x":' * 150 + '1' + '}' * 150, 'nested'),
    ('[' * 100_000, 'nested too deep'),
    (None, 'text'),
)


def test_an_edit_reaches_the_robot_with_its_arguments_if_they_are_json(robot: FakeRobot) -> None:
    for written, said in NO_OBJECTS:
        with pytest.raises(ValueError, match=said):
            read_arguments(written)
    question = robot.ask('drive?', {'skill': 'move_forward', 'arguments': {'duration_s': 9.0}})
    controller = PageController(robot, robot.runner)
    edit = {'id': question.id, 'action': 'EDIT', 'arguments': '{"duration_s": 2.0', 'why': 'w'}
    ok, words = asyncio.run(controller.answer(edit))
    assert (ok, 'not JSON' in words, robot.answers) == (False, True, [])
    edit['arguments'] += '}'
    assert asyncio.run(controller.answer(edit)) == (True, f'edit {question.id}')
    assert robot.answers == [(question.id, ApprovalAction.EDIT, {'duration_s': 2.0}, 'w')]


ANSWERS = st.dictionaries(st.sampled_from(['id', 'action', 'arguments', 'why']), json_values)


@settings(max_examples=examples(30))
@given(json_values, ANSWERS)
def test_whatever_a_browser_sends_is_answered_in_words(sent: Any, answer: dict[str, Any]) -> None:
    with FakeRobot() as robot:
        controller = PageController(robot, robot.runner)
        ok, words = asyncio.run(controller.answer(answer))
        assert (ok, bool(words)) == (False, True)
        if not isinstance(sent, str):
            assert asyncio.run(controller.say(sent)) == (False, 'The line is empty.', '')
        assert asyncio.run(controller.cancel(sent))[0] is False
        assert event_json(robot.event_bus.trace_events(), sent) == 'This event is no longer kept.'


def test_what_came_of_a_line_is_told_and_a_fault_without_its_text(robot: FakeRobot) -> None:
    controller = PageController(robot, robot.runner)

    def said(line: str) -> tuple[bool, str, str]:
        return asyncio.run(controller.say(line))

    ok, words, task_id = said('x' * (MAX_LINE_CHARS + 1))
    assert (ok, str(MAX_LINE_CHARS) in words, robot.lines, task_id) == (False, True, [], '')
    ok, words, task_id = said('go to the light')
    assert (ok, words) == (True, f'task {task_id[:8]}')
    assert said(':nonsense') == (False, 'There is no command :nonsense; :help shows them', '')

    async def broken(line: str, origin: Origin, operator: str) -> LineResult:
        raise RuntimeError('secret')

    robot.say = broken  # type: ignore[method-assign]
    ok, words, _ = said('hello')
    assert (ok, 'RuntimeError' in words, 'secret' in words) == (False, True, False)


class Reader:
    """An open page that keeps what it is told, and fails if it shall."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.looks: list[PageSnapshot] = []
        self.pages = 0

    def update(self, snapshot: PageSnapshot, pages: int) -> None:
        self.looks.append(snapshot)
        self.pages = pages
        if self.fails:
            raise RuntimeError('this page is broken')


def feed_of(robot: FakeRobot) -> PageFeed:
    return PageFeed(robot, robot.runner, CONFIG, TalkLines())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (feed_module, open_pages):
        monkeypatch.setattr(module, 'UPDATE_PERIOD_S', 0.02)


@in_loop
async def test_all_pages_share_one_look_and_a_broken_page_harms_no_other() -> None:
    before = asyncio.all_tasks()
    with FakeRobot() as robot:
        feed, readers = feed_of(robot), [Reader(fails=number == 0) for number in range(20)]
        for reader in readers:
            feed.add_page(reader)
        await until(lambda: all(len(each.looks) >= 3 for each in readers), 'three looks each')
        assert all(each.looks[2] is readers[0].looks[2] for each in readers)
        assert readers[1].pages == 20
        for reader in readers:
            feed.remove_page(reader)
        while others := asyncio.all_tasks() - before:  # nobody looks while no page is open
            await asyncio.wait(others, timeout=LONG_S)
        seen = len(reader.looks)
        feed.add_page(reader)
        await until(lambda: len(reader.looks) > seen, 'another look')


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
        feed, reader, usual = feed_of(robot), Reader(), robot.call
        robot.deaf = fault == 'refuses'
        if not robot.deaf:
            robot.call = call  # type: ignore[method-assign,assignment]
        feed.add_page(reader)
        await until(lambda: len(reader.looks) >= 5, 'five looks')
        if fault == 'never answers':
            assert len(asked) == 1
            asked[0].close()
            return
        robot.call, robot.deaf = usual, False  # type: ignore[method-assign]
        await robot.submit(robot.make_task('mast_open', {}))
        await until(lambda: bool(reader.looks[-1].parts['tasks']['rows']), 'the task')


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


@given(json_values | st.fixed_dictionaries({'width': json_values, 'height': json_values}))
def test_whatever_a_browser_reports_is_a_look_that_can_be_drawn(args: Any) -> None:
    given_look = read_look(args)
    if given_look is not None:
        assert min(given_look.width, given_look.height) >= 120.0
        assert max(given_look.width, given_look.height) <= 2560.0
    near_ones = [read_look({'width': each, 'height': 300}) for each in (441, 447, 449)]
    assert near_ones[0] == near_ones[1] != near_ones[2]  # some share a drawing
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
