# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the page shows of the past: its history by time, the file of it, and recordings."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
import json
import math
from pathlib import Path
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.talk import TalkLines
from curiosity_rosa_demo.agent.interfaces.page import feed as feed_module
from curiosity_rosa_demo.agent.interfaces.page.document import patched
from curiosity_rosa_demo.agent.interfaces.page.feed import PageFeed, restart_line
from curiosity_rosa_demo.agent.interfaces.page.history import (
    FORMAT,
    History,
    HistoryFile,
    MAX_KEPT_PLACES,
)
from curiosity_rosa_demo.agent.interfaces.page.page import add_page
from curiosity_rosa_demo.agent.interfaces.page.recordings import (
    RecordingLibrary,
    RecordingNotShown,
)
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.geometry import XY
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.trace.trace_codec import decode, encode, new_event
from examples import examples
from fake_robot import CONFIG, FakeRobot
from http_world import client, until
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap_world import a_drive, BEGAN_NS, DRIVE_JPEG, write_run
import pytest
from skill_world import in_loop, no_file_beyond
from strategies import json_values

NOW = 1e9  # later than all that is recorded here
IDS = ('a', 'b', 'c')  # of captures

facts = st.dictionaries(st.sampled_from(['mode', 'why', 'level']), json_values, max_size=3)
captures = st.dictionaries(st.sampled_from(IDS), st.fixed_dictionaries({'score': st.floats(0, 1)}))
parts = {'state': facts, 'tasks': facts, 'captures': captures}
documents = st.fixed_dictionaries(parts).map(lambda raw: patched({}, raw))


@dataclass
class Shown:
    """What a page showed at a time."""

    at: float
    document: Json
    trail: Sequence[XY]
    starts: bool = False  # the agent


@st.composite
def runs(draw: st.DrawFn) -> list[Shown]:
    """What was shown one after the other, in whole seconds."""
    times = sorted(draw(st.sets(st.integers(1, 1000), min_size=1, max_size=40)))
    run, trail, x = list[Shown](), list[XY](), 0.0
    for at in times:
        if draw(st.integers(0, 9)) == 0:
            trail = []  # the world was reset
        for _ in range(draw(st.integers(0, 3))):
            x += 0.5  # the rover comes to no place twice
            trail = [*trail, (x, -x)][-4:]
        run.append(Shown(float(at), draw(documents), trail, starts=draw(st.booleans())))
    return run


def recorded(run: Sequence[Shown], history: History | None = None) -> tuple[History, list[str]]:
    """The history, and the lines for its file."""
    history, lines = history or History(), list[str]()
    for each in run:
        if each.starts:
            lines.append(history.record_start(each.at))
        lines.append(history.record(each.at, each.document))
        lines.append(history.record_trail(each.at, each.trail))
    return history, [line for line in lines if line]


def as_read(document: Json) -> Any:
    return json.loads(json.dumps(document))


def view(history: History, at: float) -> tuple[Json, list[XY]]:
    """The document of then, and the trail."""
    found = history.view(at, IDS)
    return found, found.pop('trail')


@settings(max_examples=examples(100))
@given(runs(), st.data())
def test_the_view_of_a_time_is_what_was_shown_then_and_nothing_later_changes_it(
    run: list[Shown], data: st.DataObject
) -> None:
    history, _ = recorded(run)
    assert history.view(run[0].at - 0.5, IDS) == {'captures': {}, 'trail': []}
    for each in run:
        for at in (each.at, each.at + 0.5):
            assert view(history, at)[0] == as_read(each.document)
    assert view(history, NOW)[0] == as_read(run[-1].document)
    assert (history.start, history.end) == (run[0].at, run[-1].at)
    cut = data.draw(st.integers(1, len(run)))
    early, _ = recorded(run[:cut])
    for each in run[:cut]:
        assert view(history, each.at) == view(early, each.at)


@settings(max_examples=examples(60))
@given(runs(), st.lists(st.tuples(st.integers(0, 200), st.binary(max_size=30)), max_size=4))
def test_an_agent_that_starts_has_the_views_of_the_one_before_and_counts_damaged_lines(
    run: list[Shown], damages: list[tuple[int, bytes]]
) -> None:
    """A line that is damaged may be one that others build on, until the agent starts again."""
    before, lines = recorded(run)
    for place, damage in damages:
        lines.insert(place % (len(lines) + 1), '{"at": 5, ' + damage.decode(errors='replace'))
    last = Shown(2000.0, {'state': {'mode': 'IDLE'}, 'captures': {}}, [], starts=True)
    for further in ([], recorded([last])[1]):
        following = History()
        following.restore([*lines, *further], NOW)
        assert following.unreadable == len(damages)
        for each in run:  # a line was put in, none was lost
            assert view(following, each.at) == view(before, each.at)
        if not further:
            assert following.starts == before.starts
            assert following.marks.newest(99) == before.marks.newest(99)
    assert view(following, 2000.0)[0] == as_read(last.document)


@settings(max_examples=examples(100))
@given(st.lists(json_values.map(json.dumps) | st.text(), max_size=5), runs())
def test_whatever_stands_in_the_file_the_agent_records_on(
    odd: list[str], run: list[Shown]
) -> None:
    history = History()
    history.restore(odd, NOW)
    recorded(run, history)
    assert view(history, run[-1].at)[0] == as_read(run[-1].document)


def test_a_line_from_the_future_or_of_another_format_is_left_out() -> None:
    kept = {'format': FORMAT, 'all': {'state': {'mode': 'IDLE'}}}
    for entry in (
        {'at': NOW + 1.0, **kept},
        {'at': math.inf, **kept},
        {'at': math.nan, **kept},
        {'at': 5.0, **kept, 'format': FORMAT + 1},
        {'at': 5.0, 'all': kept['all']},
        {'at': 5.0, 'patch': {'state': {'mode': 'SAFE'}}},
        {'at': 5.0, 'places': [[math.inf, 0.0]]},
    ):
        history = History()
        history.restore([json.dumps(entry)], NOW)
        assert (history.unreadable, history.start) == (1, None), entry


def test_the_memory_is_bounded_and_the_newest_is_kept() -> None:
    history = History(max_bytes=20_000, max_lines=50)
    stored = 0
    for second in range(5000):
        at = float(second)
        stored += len(history.record(at, {'state': {'mode': str(second), 'why': 'x' * 20}}))
        history.add_line(at, restart_line(at))
    assert stored > 100_000
    start = history.start
    assert start is not None
    assert 4000.0 < start < 4990.0
    assert view(history, 4990.0)[0]['state']['mode'] == '4990'
    assert view(history, 0.0)[0] == {'captures': {}}
    assert history.lines.total == 5000
    assert len(history.lines.newest(10_000)) <= 57
    for second in range(MAX_KEPT_PLACES // 10):
        history.record_trail(5000.0, [(second + tenth / 20, 0.0) for tenth in range(20)])
    assert len(view(history, NOW)[1]) <= MAX_KEPT_PLACES // 10


BEGAN_S = BEGAN_NS * 1e-9


@pytest.fixture(autouse=True)
def recorded_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, 'RECORD_PERIOD_S', 0.02)


@asynccontextmanager
async def recording(
    file: Path | None = None, earlier: Sequence[TraceEvent] = ()
) -> AsyncIterator[tuple[FakeRobot, PageFeed]]:
    with FakeRobot() as robot:
        robot.earlier = [*earlier]
        feed = PageFeed(robot, CONFIG, TalkLines(), file and HistoryFile(file))
        recorder = asyncio.create_task(feed.record())
        yield robot, feed
        recorder.cancel()
        await asyncio.wait([recorder])
        await feed.close()


def place(document: Json) -> float:
    return float(document['state']['pose']['x'])


async def drives_to(feed: PageFeed, robot: FakeRobot, x: float) -> float:
    """Returns the time at which it is there."""
    robot.where = RoverPose(x=x, frame_id='odom')
    robot.trace(TraceKind.RESULT, f'drove to {x:g}')
    await until(lambda: place(feed.snapshot().document) == x, f'x = {x:g}')
    return feed.snapshot().now


def texts(feed: PageFeed, at: float) -> list[str]:
    lines = feed.history.lines
    return [json.loads(line)['message'] for line in lines.newest(99, lines.count_until(at))]


@in_loop
async def test_the_view_of_the_newest_time_is_the_live_view() -> None:
    async with recording() as (robot, feed):
        await robot.order(robot.make_task('mast_open', {}))
        await until(lambda: bool(feed.snapshot().document['tasks']), 'the task')
        await drives_to(feed, robot, 3.0)
        live = feed.snapshot()
        past = feed.history.view(live.now, live.document['captures'])
        assert as_read(past) == as_read(
            {name: each for name, each in live.document.items() if name in past}
        )
        assert set(live.document) - set(past) == {'about', 'approvals', 'talk', 'time'}
        assert feed.history.lines.count_until(live.now) == live.count


@in_loop
async def test_after_a_restart_the_story_has_what_was_before_and_says_what_is_lost(
    tmp_path: Path,
) -> None:
    file = tmp_path / 'view.jsonl'
    async with recording(file) as (robot, feed):
        then = await drives_to(feed, robot, 7.0)
        await until(lambda: '"x":7.0' in file.read_text(), 'the place, in the file')
        events = robot.event_bus.trace_events()
    late = new_event(TraceKind.ACT, 'of a clock that was set back').model_copy(update={'ts': 9e9})
    events = [decode('{"event_id": "a", "ts'), late, *events, decode(encode(late)[:-1])]
    with file.open('a') as damaged:
        damaged.write('{"at": 5, "cha')  # the agent was killed while it wrote
    async with recording(file, events) as (robot, feed):
        now = await drives_to(feed, robot, -3.0)
        live = feed.snapshot()
        kinds = [json.loads(line)['kind'] for line in live.lines]
        assert kinds == ['RESULT', 'RESTART', 'RESULT']
        time = live.document['time']
        assert time['note'].startswith('4 lines of the history could not be read')
        assert [kind for _, kind in time['marks']] == ['restart']
        assert place(feed.history.view(then, ())) == 7.0
        assert texts(feed, then) == ['drove to 7']
        assert place(feed.history.view(now, ())) == -3.0


@in_loop
async def test_a_disk_that_fails_for_a_while_is_told_once_and_costs_only_that_while(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / 'view.jsonl'
    async with recording(file) as (robot, feed):
        await until(file.exists, 'the file')
        with no_file_beyond(file.stat().st_size):
            for x in (1.0, 2.0, 3.0):
                await drives_to(feed, robot, x)
                await until(lambda: 'not_kept' in caplog.text, 'the warning')
        then = await drives_to(feed, robot, 4.0)
        await until(lambda: '"x":4.0' in file.read_text(), 'the place, in the file')
    assert caplog.text.count('event=page_history_not_kept') == 1
    following = History()
    HistoryFile(file).restore(following, time.time())
    assert following.unreadable == 0
    assert place(following.view(then, ())) == 4.0


def test_a_recording_is_shown_by_time(tmp_path: Path) -> None:
    write_run(tmp_path / 'drive.mcap', a_drive())
    library = RecordingLibrary(tmp_path)
    history = library.open('drive.mcap').history
    assert history.start == pytest.approx(BEGAN_S, abs=0.01)
    assert history.end == pytest.approx(BEGAN_S + 10.0, abs=0.01)
    assert [kind for _, kind in history.marks.newest(9)] == ['capture', 'error']
    for second in range(11):
        found = history.view(BEGAN_S + second + 0.9, ['one'])
        power = found['state']['brain_state']['robot']['battery_pct']
        assert (power, found['trail'][-1]) == (90 - second, (second, 0.0))
        assert [*found['captures']] == ['one'] * (second >= 4)
        seen = history.lines.count_until(BEGAN_S + second + 0.9)
        assert seen == bisect_right([4.0, 8.0], second + 0.9)
    assert library.pictures()['one'] == DRIVE_JPEG
    assert 'two' not in library.pictures()


def test_what_is_no_recording_of_the_folder_is_not_opened(tmp_path: Path) -> None:
    write_run(tmp_path / 'w.mcap', a_drive())
    folder = tmp_path / 'recordings'
    (folder / 'folder.mcap').mkdir(parents=True)
    (folder / 'x.mcap').write_bytes(b'no recording')
    assert RecordingLibrary(folder).names() == ['x.mcap']
    for name in ('../w.mcap', 'none.mcap', 'x.mcap', 'folder.mcap', '', '\0'):
        for library in (RecordingLibrary(folder), RecordingLibrary(None)):
            with pytest.raises(RecordingNotShown):
                library.open(name)


@in_loop
async def test_the_view_of_any_time_of_a_robot_or_a_recording_is_given(tmp_path: Path) -> None:
    write_run(tmp_path / 'drive.mcap', a_drive())
    with FakeRobot() as robot:
        app = create_app(robot)
        add_page(app, robot, CONFIG, recordings=tmp_path)
        traced = robot.trace(TraceKind.ACT, 'live').event_id
        async with client(app) as http:
            now = (await http.get('/view')).json()
            assert [line['message'] for line in now['lines']] == ['live']
            assert (await http.get('/recordings')).json() == ['drive.mcap']
            story = (await http.get('/recordings/drive.mcap')).json()
            assert [kind for _, kind in story['marks']] == ['capture', 'error']
            query = {'at': story['end'], 'recording': 'drive.mcap'}
            then = (await http.get('/view', params=query)).json()
            assert 'tasks' not in then['document']['state']['brain_state']
            assert [*then['document']['captures']] == ['one']
            assert (len(then['lines']), then['count']) == (2, 2)
            for at in (-1e300, 0.0, 1e300):  # before and after all that is known
                answer = await http.get('/view', params={'at': at})
                assert answer.status_code == 200
            for event_id in ('one', traced):
                found = (await http.get(f'/trace/{event_id}')).json()
                assert found['event_id'] == event_id
            for path, status in (
                ('/view?at=1&recording=gone.mcap', 404),
                ('/view?at=nan', 422),
                ('/recordings/gone.mcap', 404),
                ('/trace/none', 404),
            ):
                assert (await http.get(path)).status_code == status, path
