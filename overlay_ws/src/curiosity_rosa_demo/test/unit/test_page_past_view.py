# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a page shows that looks back, at this robot or at a recording."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.page import feed as feed_module
from curiosity_rosa_demo.agent.interfaces.page.drawings import DrawingCache
from curiosity_rosa_demo.agent.interfaces.page.feed import PageFeed
from curiosity_rosa_demo.agent.interfaces.page.history import FORMAT, History
from curiosity_rosa_demo.agent.interfaces.page.history_file import HistoryFile
from curiosity_rosa_demo.agent.interfaces.page.past_view import LIVE_PARTS
from curiosity_rosa_demo.agent.interfaces.page.recording_library import (
    RecordingLibrary,
    RecordingNotShown,
)
from curiosity_rosa_demo.agent.interfaces.page.talk_lines import TalkLines
from curiosity_rosa_demo.agent.interfaces.page.time_view import TimeView
from curiosity_rosa_demo.agent.interfaces.page.view_model import PageSnapshot
from curiosity_rosa_demo.domain.brain_state import BrainState, Mode, TasksState
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from examples import examples
from fake_robot import CONFIG, FakeRobot
from full_disk import no_file_beyond
from http_world import until
from hypothesis import given, settings
from mcap_world import a_drive, BEGAN_NS, DRIVE_JPEG, write_run
import pytest
from skill_world import in_loop
from strategies import json_values

BEGAN_S = BEGAN_NS * 1e-9
RECORDED_KEYS = {
    'status': (
        'auto auto_on body held mode motion nodes pausable power queued replay sources task '
        'usage why'
    ),
    'plan': 'differs goal rehearsal status steps',
    'progress': 'rows',
    'tasks': 'rows',
    'triggers': 'rows',
    'captures': 'replay rows',
    'ground': 'rows',
    'scene': 'forecast goal obstacles pose spots',
}
SAFE = BrainState(tasks=TasksState(mode=Mode.SAFE, mode_reason='tilt'))


@pytest.fixture(autouse=True)
def recorded_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, 'RECORD_PERIOD_S', 0.02)


@asynccontextmanager
async def recording_feed(robot: FakeRobot, file: Path | None = None) -> AsyncIterator[PageFeed]:
    feed = PageFeed(robot, robot.runner, CONFIG, TalkLines(), file and HistoryFile(file))
    recorder = asyncio.create_task(feed.record())
    yield feed
    recorder.cancel()
    await asyncio.wait([recorder])
    await feed.close()


def view_of(feed: PageFeed, folder: Path | None = None) -> TimeView:
    return TimeView(feed.story, RecordingLibrary(folder), DrawingCache(CONFIG))


async def drives_to(feed: PageFeed, robot: FakeRobot, x: float) -> float:
    """Returns the time at which it is there."""
    robot.where = RoverPose(x=x, frame_id='odom')
    robot.trace(TraceKind.RESULT, f'drove to {x:g}')
    reached = f'x {x:.1f} m, y 0.0 m'
    await until(lambda: place(feed.snapshot()) == reached, reached)
    return feed.snapshot().now


def place(snapshot: PageSnapshot) -> str:
    found = [row['text'] for row in snapshot.parts['status']['motion'] if row['name'] == 'Place']
    return str(found[0])


def texts(snapshot: PageSnapshot) -> list[str]:
    return [line['text'] for line in snapshot.lines]


def unmarked(facts: dict[str, Any]) -> dict[str, Any]:
    """Without what says that it is past; the picture of the ground is not kept."""
    return {name: value for name, value in facts.items() if name not in ('past', 'picture')}


# --- this robot ------------------------------------------------------------------------------


@in_loop
async def test_the_view_of_the_newest_time_is_the_live_view() -> None:
    with FakeRobot() as robot:
        async with recording_feed(robot) as feed:
            await robot.submit(robot.make_task('mast_open', {}))
            await until(lambda: bool(feed.snapshot().parts['tasks']['rows']), 'the task')
            await drives_to(feed, robot, 3.0)
            live = feed.snapshot()
            past = feed.story.snapshot(live.now, live, DrawingCache(CONFIG))
            assert past.lines == live.lines
            assert past.count == live.count
            for name in ('tasks', 'plan', 'progress', 'triggers', 'captures', 'ground', 'scene'):
                assert unmarked(past.parts[name]) == live.parts[name], name
            for name in ('mode', 'why', 'task', 'queued', 'motion', 'power'):
                assert past.parts['status'][name] == live.parts['status'][name]
            for name in ('map', 'plot', 'steps'):
                assert past.drawings[name].svg() == live.drawings[name].svg()


@in_loop
async def test_a_view_is_that_of_its_time_and_only_what_calls_for_a_person_is_live() -> None:
    with FakeRobot() as robot:
        async with recording_feed(robot) as feed:
            times = [await drives_to(feed, robot, x) for x in (1.0, 2.0, 3.0)]
            robot.brain_state = SAFE
            robot.ask('May I?')
            await until(lambda: bool(feed.snapshot().parts['approvals']['rows']), 'the question')
            view, live = view_of(feed), feed.snapshot()
            assert view.refusal() == ''
            for number, at in enumerate(times, 1):
                await view.act({'act': 'show', 'at': at}, live)
                shown = view.shown(live)
                assert 'press L' in view.refusal().replace('Press', 'press')
                assert place(shown) == f'x {number}.0 m, y 0.0 m'
                assert texts(shown) == [f'drove to {x}' for x in range(1, number + 1)]
                assert shown.parts['status']['mode'] != 'SAFE'
                for part in LIVE_PARTS:
                    assert shown.parts[part] == live.parts[part]
                for part, facts in shown.parts.items():
                    assert part in (*LIVE_PARTS, 'scene') or facts['past'] is True
            await view.act({'act': 'live'}, live)
            assert view.shown(live) is live
            assert view.refusal() == ''


@in_loop
async def test_after_a_restart_the_story_has_what_was_before_and_says_what_is_lost(
    tmp_path: Path,
) -> None:
    file = tmp_path / 'view.jsonl'
    with FakeRobot() as robot:
        async with recording_feed(robot, file) as feed:
            then = await drives_to(feed, robot, 7.0)
            await until(lambda: 'x 7.0 m' in file.read_text(), 'the place, in the file')
        events = robot.event_bus.trace_events()
    with file.open('a') as damaged:
        damaged.write('{"at": 5, "cha')  # the agent was killed while it wrote
    with FakeRobot() as robot:
        robot.earlier = [*events]
        async with recording_feed(robot, file) as feed:
            now = await drives_to(feed, robot, -3.0)
            live = feed.snapshot()
            assert [line['kind'] for line in live.lines] == ['RESULT', 'RESTART', 'RESULT']
            view = view_of(feed)
            assert view.facts()['note'].startswith('One line of the history could not be read')
            await view.act({'act': 'show', 'at': then}, live)
            assert place(view.shown(live)) == 'x 7.0 m, y 0.0 m'
            assert texts(view.shown(live)) == ['drove to 7']
            await view.act({'act': 'show', 'at': now}, live)
            assert place(view.shown(live)) == 'x -3.0 m, y 0.0 m'
            assert [kind for _, kind in view.facts()['marks']] == ['restart']


@in_loop
async def test_a_disk_that_fails_for_a_while_is_told_once_and_costs_only_that_while(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / 'view.jsonl'
    with FakeRobot() as robot:
        async with recording_feed(robot, file) as feed:
            await until(file.exists, 'the file')
            with no_file_beyond(file.stat().st_size):
                for x in (1.0, 2.0, 3.0):
                    await drives_to(feed, robot, x)
                    await until(lambda: 'not_kept' in caplog.text, 'the warning')
            then = await drives_to(feed, robot, 4.0)
            await until(lambda: 'x 4.0 m' in file.read_text(), 'the place, in the file')
    assert caplog.text.count('event=page_history_not_kept') == 1
    following = History()
    HistoryFile(file).restore(following, time.time())
    assert following.unreadable == 0
    assert 'x 4.0 m' in str(following.view(then, 10).parts['status'])


@in_loop
async def test_what_the_file_holds_has_the_format_of_its_number() -> None:
    """A panel cannot show data that lack a key: who changes a key raises FORMAT."""
    with FakeRobot() as robot:
        async with recording_feed(robot) as feed:
            parts = feed.snapshot().parts
    found = {
        name: ' '.join(sorted(facts)) for name, facts in parts.items() if name not in LIVE_PARTS
    }
    assert (FORMAT, found) == (2, RECORDED_KEYS)


@in_loop
async def test_of_a_time_that_only_the_trace_tells_the_rest_is_unknown() -> None:
    with FakeRobot() as robot:
        robot.earlier = [TraceEvent(event_id='e', ts=1e9, kind=TraceKind.ACT, message='drove')]
        robot.where = RoverPose(x=9.0, frame_id='odom')
        async with recording_feed(robot) as feed:
            live = feed.snapshot()
            past = feed.story.snapshot(1e9, live, DrawingCache(CONFIG))
            assert (texts(past), place(past)) == (['drove'], 'unknown')
            assert past.parts['status']['mode'] == 'UNKNOWN'
            assert past.parts['tasks']['rows'] == []


@settings(max_examples=examples(20), deadline=None)
@given(json_values)
def test_whatever_a_browser_asks_for_a_time_is_shown(given: object) -> None:
    async def ask() -> None:
        with FakeRobot() as robot:
            async with recording_feed(robot) as feed:
                view, live = view_of(feed, Path('/no/such/folder')), feed.snapshot()
                for act in ('show', 'play', 'pause', 'speed', 'recordings', 'recording', given):
                    await view.act({'act': act, 'at': given, 'speed': given, 'name': given}, live)
                    assert view.shown(live).count == live.count

    asyncio.run(ask())


# --- recordings ------------------------------------------------------------------------------


def test_a_recording_is_shown_by_time(tmp_path: Path) -> None:
    write_run(tmp_path / 'drive.mcap', a_drive())
    library = RecordingLibrary(tmp_path)
    history = library.open('drive.mcap').history
    assert history.start == pytest.approx(BEGAN_S, abs=0.01)
    assert history.end == pytest.approx(BEGAN_S + 10.0, abs=0.01)
    assert [kind for _, kind in history.marks.newest(9)] == ['capture', 'error']
    for second in range(11):
        view = history.view(BEGAN_S + second + 0.9, 1000)
        power = view.parts['status']['power'][0]['text']
        assert (power, view.trail[-1]) == (f'{90 - second} %', (second, 0.0))
        assert [row['id'] for row in view.parts['captures']['rows']] == ['one'] * (second >= 4)
        seen = history.lines.count_until(BEGAN_S + second + 0.9)
        assert seen == bisect_right([4.0, 8.0], second + 0.9)
    assert library.picture('one') == DRIVE_JPEG
    assert library.picture('two') is None


def test_what_comes_later_in_a_recording_changes_no_view(tmp_path: Path) -> None:
    whole = RecordingLibrary(tmp_path).open(write_run(tmp_path / 'w.mcap', a_drive()).name)
    for seconds in range(1, 10):
        early = [said for said in a_drive() if said[1] <= seconds]
        cut = RecordingLibrary(tmp_path).open(write_run(tmp_path / f'{seconds}.mcap', early).name)
        for second in range(seconds):
            at = BEGAN_S + second + 0.5
            assert whole.history.view(at, 1000) == cut.history.view(at, 1000)


def test_a_recording_that_was_cut_shows_what_it_has_and_says_so(tmp_path: Path) -> None:
    whole = RecordingLibrary(tmp_path).open(write_run(tmp_path / 'w.mcap', a_drive()).name)
    assert whole.note == ''
    cut = write_run(tmp_path / 'cut.mcap', a_drive(), end=False)
    cut.write_bytes(cut.read_bytes()[:-60])
    story = RecordingLibrary(tmp_path).open('cut.mcap')
    assert 'torn' in story.note
    assert story.history.end > BEGAN_S + 5.0
    assert story.history.view(BEGAN_S + 5.5, 1000) == whole.history.view(BEGAN_S + 5.5, 1000)


@pytest.mark.parametrize('name', ['../w.mcap', 'none.mcap', 'x.mcap', 'folder.mcap', '', '\0'])
def test_what_is_no_recording_of_the_folder_is_not_opened(tmp_path: Path, name: str) -> None:
    write_run(tmp_path / 'w.mcap', a_drive())
    folder = tmp_path / 'recordings'
    (folder / 'folder.mcap').mkdir(parents=True)
    (folder / 'x.mcap').write_bytes(b'no recording')
    assert RecordingLibrary(folder).names() == ['x.mcap']
    with pytest.raises(RecordingNotShown):
        RecordingLibrary(folder).open(name)
    with pytest.raises(RecordingNotShown):
        RecordingLibrary(None).open(name)


@in_loop
async def test_a_page_opens_a_recording_and_the_live_view_wins(tmp_path: Path) -> None:
    write_run(tmp_path / 'drive.mcap', a_drive())
    with FakeRobot() as robot:
        async with recording_feed(robot) as feed:
            view, live = view_of(feed, tmp_path), feed.snapshot()
            await view.act({'act': 'recording', 'name': 'drive.mcap'}, live)
            shown = view.shown(live)
            assert (view.story_name, shown.parts['status']['mode']) == ('drive.mcap', 'UNKNOWN')
            assert shown.parts['alarms'] is live.parts['alarms']
            assert view.refusal()
            assert [event.event_id for event in view.events()] == ['one', 'two']
            await view.act({'act': 'show', 'at': BEGAN_S + 99.0}, live)
            assert view.facts()['at'] == view.facts()['end'] == pytest.approx(BEGAN_S + 10.0)
            await view.act({'act': 'live'}, live)
            assert view.shown(live) is live
            opening = asyncio.create_task(
                view.act({'act': 'recording', 'name': 'drive.mcap'}, live)
            )
            await asyncio.sleep(0)  # it begins to read
            assert view.facts()['reading'] == 'drive.mcap'
            await view.act({'act': 'live'}, live)
            await opening
            assert (view.story_name, view.refusal()) == ('', '')
            await view.act({'act': 'recording', 'name': 'gone.mcap'}, live)
            assert "no recording 'gone.mcap' any more" in view.facts()['problem']
            assert view.facts()['reading'] == ''
            assert view.shown(live) is live
