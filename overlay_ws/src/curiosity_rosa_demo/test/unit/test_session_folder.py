# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What outlives an agent for the page of the next one: trail and captures."""

from __future__ import annotations

from pathlib import Path
import tempfile

from curiosity_rosa_demo.agent.runtime.session_recorder import SessionRecorder
from curiosity_rosa_demo.domain.models import RoverPose, TraceKind
from curiosity_rosa_demo.domain.pictures import Capture, MAX_CAPTURES, Picture
from curiosity_rosa_demo.infra.storage.session_folder import (
    MAX_PLACES,
    Place,
    SessionFolder,
    TRAIL_FILE,
)
from curiosity_rosa_demo.trace.trace_codec import new_event
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

metres = st.floats(-1e4, 1e4)
places = st.lists(st.tuples(metres, metres), max_size=30)
poses = st.none() | st.builds(RoverPose, x=metres, y=metres, yaw_rad=st.floats(-3.0, 3.0))
pictures = st.builds(
    Picture, jpeg=st.binary(max_size=50), at=st.floats(1.7e9, 1.9e9), received_s=st.just(0.0)
)
captures = st.lists(
    st.builds(
        Capture,
        event_id=st.text(max_size=20),
        picture=pictures,
        score=st.floats(0.0, 1.0),
        is_good=st.booleans(),
        pose=poses,
    ),
    max_size=5,
    unique_by=lambda each: round(1000 * each.picture.at),
)


def shown(each: Capture) -> tuple[object, ...]:
    """What does not depend on when it was loaded."""
    return each.event_id, each.picture.jpeg, each.picture.at, each.score, each.is_good, each.pose


@given(trail=places, taken=captures)
@settings(max_examples=examples(40))
def test_what_is_saved_is_loaded(trail: list[Place], taken: list[Capture]) -> None:
    with tempfile.TemporaryDirectory() as path:
        folder = SessionFolder(Path(path, 'tasks.db.session'))
        folder.save_trail(trail)
        for each in taken:
            folder.save_capture(each)
        loaded = folder.load()
    rounded = [pytest.approx(place, abs=0.001) for place in trail]
    assert list(loaded.trail) == rounded
    in_time = sorted(taken, key=lambda each: each.picture.at)
    assert [shown(each) for each in loaded.captures] == [shown(each) for each in in_time]


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    folder = SessionFolder(tmp_path)
    for number in range(MAX_CAPTURES + 3):
        picture = Picture(b'jpeg', 1.8e9 + number, 0.0)
        folder.save_capture(Capture(str(number), picture, 0.5, True, None))
    folder.save_trail([(float(number), 0.0) for number in range(MAX_PLACES + 9)])
    loaded = folder.load()
    assert [each.event_id for each in loaded.captures][:: MAX_CAPTURES - 1] == ['3', '52']
    assert len(list(tmp_path.glob('*.jpg'))) == MAX_CAPTURES
    assert (len(loaded.trail), loaded.trail[0]) == (MAX_PLACES, (9.0, 0.0))


@pytest.mark.parametrize(
    'content', ['', '{', '[[1]]', '[[1, "x"]]', '[[1, NaN]]', '7', '[' * 100_000]
)
def test_what_cannot_be_read_is_left_out(tmp_path: Path, content: str) -> None:
    folder = SessionFolder(tmp_path)
    folder.save_capture(Capture('a', Picture(b'jpeg', 1.8e9, 0.0), 0.5, True, None))
    for name in (TRAIL_FILE, 'capture-1.json', 'capture-2.json'):
        (tmp_path / name).write_text(content)
    (tmp_path / 'capture-2.jpg').write_bytes(b'jpeg')
    loaded = folder.load()
    assert (list(loaded.trail), [each.event_id for each in loaded.captures]) == ([], ['a'])
    assert SessionFolder(tmp_path / 'none').load().captures == []


def test_a_run_is_saved_as_it_goes_on(tmp_path: Path) -> None:
    folder, trail = SessionFolder(tmp_path), list[Place]()
    capture = Capture('a', Picture(b'jpeg', 1.8e9, 0.0), 0.5, True, None)
    recorder = SessionRecorder(folder, lambda: tuple(trail), lambda event: capture)
    recorder.record_event(new_event(TraceKind.OBSERVE, 'nothing new'))
    assert not (tmp_path / TRAIL_FILE).exists()
    trail.append((1.0, 2.0))
    recorder.record_event(new_event(TraceKind.OBSERVE, 'on the way'))
    done = new_event(TraceKind.RESULT, 'done', tool_name='capture_and_score', ok=True, score=0.5)
    recorder.record_event(done)
    loaded = folder.load()
    assert (list(loaded.trail), [shown(each) for each in loaded.captures]) == (
        [(1.0, 2.0)],
        [shown(capture)],
    )
