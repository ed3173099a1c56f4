# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What outlives an agent beside its stores: trail, captures and the log of its trace."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
import os
from pathlib import Path
import tempfile

from curiosity_rosa_demo.agent.runtime.session_recorder import (
    MAX_PLACES,
    SessionFolder,
    TRAIL_FILE,
)
from curiosity_rosa_demo.domain.geometry import XY
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.pictures import Capture, MAX_CAPTURES, Picture
from curiosity_rosa_demo.trace.jsonl_log import JsonLines, read_newest
from curiosity_rosa_demo.trace.trace_codec import decode, encode, new_event
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from skill_world import no_file_beyond
from strategies import events

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
)


def shown(each: Capture) -> tuple[object, ...]:
    """What does not depend on when it was loaded."""
    return each.event_id, each.picture.jpeg, each.picture.at, each.score, each.is_good, each.pose


@given(trail=places, taken=captures)
@settings(max_examples=examples(40))
def test_what_is_saved_is_loaded(trail: list[XY], taken: list[Capture]) -> None:
    with tempfile.TemporaryDirectory() as path:
        folder = SessionFolder(Path(path, 'tasks.db.session'))
        folder.save_trail(trail)
        for each in taken:
            folder.save_capture(each)
        loaded = folder.load()
    rounded = [pytest.approx(place, abs=0.001) for place in trail]
    assert list(loaded.trail) == rounded
    assert [shown(each) for each in loaded.captures] == [shown(each) for each in taken]


@pytest.mark.parametrize('step_s', [1.0, 0.0, -3600.0])  # 0 and below: the clock was set back
def test_only_the_newest_are_kept(tmp_path: Path, step_s: float) -> None:
    folder = SessionFolder(tmp_path)
    for number in range(MAX_CAPTURES + 3):
        picture = Picture(b'jpeg', 1.8e9 + number * step_s, 0.0)
        folder.save_capture(Capture(str(number), picture, 0.5, True, None))
    folder.save_trail([(float(number), 0.0) for number in range(MAX_PLACES + 9)])
    loaded = folder.load()
    assert [each.event_id for each in loaded.captures][:: MAX_CAPTURES - 1] == ['3', '52']
    assert len(list(tmp_path.glob('*.jpg'))) == MAX_CAPTURES
    assert (len(loaded.trail), loaded.trail[0]) == (MAX_PLACES, (9.0, 0.0))


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    folder = SessionFolder(tmp_path)
    folder.save_capture(Capture('a', Picture(b'jpeg', 1.8e9, 0.0), 0.5, True, None))
    (tmp_path / 'capture-2.jpg').write_bytes(b'jpeg')
    for content in ('', '{', '[[1]]', '[[1, "x"]]', '[[1, NaN]]', '7', '[' * 100_000):
        for name in (TRAIL_FILE, 'capture-1.json', 'capture-2.json'):
            (tmp_path / name).write_text(content)
        loaded = folder.load()
        assert (list(loaded.trail), [each.event_id for each in loaded.captures]) == ([], ['a'])
    assert SessionFolder(tmp_path / 'none').load().captures == []


def test_a_run_is_saved_as_it_goes_on(tmp_path: Path) -> None:
    folder, trail = SessionFolder(tmp_path), list[XY]()
    capture = Capture('a', Picture(b'jpeg', 1.8e9, 0.0), 0.5, True, None)
    record = partial(
        folder.record_event, trail=lambda: tuple(trail), capture_of=lambda event: capture
    )
    record(new_event(TraceKind.OBSERVE, 'nothing new'))
    assert not (tmp_path / TRAIL_FILE).exists()
    trail.append((1.0, 2.0))
    record(new_event(TraceKind.OBSERVE, 'on the way'))
    done = new_event(TraceKind.RESULT, 'done', tool_name='capture_and_score', ok=True, score=0.5)
    record(done)
    loaded = folder.load()
    assert (list(loaded.trail), [shown(each) for each in loaded.captures]) == (
        [(1.0, 2.0)],
        [shown(capture)],
    )


def record(path: Path, events: list[TraceEvent]) -> None:
    recorder = JsonLines(path)
    for event in events:
        recorder.write(event)
    recorder.close()


@given(st.lists(events, min_size=1, max_size=4), events, st.data())
def test_a_torn_file_loses_only_its_last_line(
    sent: list[TraceEvent], later: TraceEvent, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'trace.jsonl')
        record(path, sent)
        whole = path.read_bytes()
        start = whole.rstrip(b'\n').rfind(b'\n') + 1  # of the last line
        # Within the line, and within a character too.
        path.write_bytes(whole[: data.draw(st.integers(start + 1, len(whole) - 2))])

        *kept, torn = read_newest(path)
        assert kept == [decode(encode(event)) for event in sent[:-1]]
        assert torn.kind is TraceKind.ERROR
        assert 'Unreadable trace event' in torn.message

        record(path, [later])
        assert read_newest(path)[-1] == decode(encode(later))
        assert len(read_newest(path)) == len(sent) + 1


def test_events_of_several_threads_are_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / 'trace.jsonl'
    recorder = JsonLines(path)
    sent = [new_event(TraceKind.ACT, f'{number} {"x" * 3000}') for number in range(400)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(recorder.write, sent))
    recorder.close()
    recorder.write(new_event(TraceKind.ACT, 'late'))  # of a thread that is late
    recorded = read_newest(path)
    assert {event.event_id for event in recorded} == {event.event_id for event in sent}
    assert len(recorded) == len(sent)


def test_what_a_full_disk_did_not_take_is_all_that_is_lost(tmp_path: Path) -> None:
    path = tmp_path / 'trace.jsonl'
    recorder = JsonLines(path)
    events = [new_event(TraceKind.ACT, f'event {number}') for number in range(5)]
    recorder.write(events[0])
    with no_file_beyond(path.stat().st_size + 20):  # within the next line
        for event in events[1:3]:
            with pytest.raises(OSError, match='File too large'):
                recorder.write(event)
    for event in events[3:]:
        recorder.write(event)
    recorder.close()
    kinds = [event.kind for event in read_newest(path)]
    assert kinds == [TraceKind.ACT, TraceKind.ERROR, TraceKind.ACT, TraceKind.ACT]
    assert [event.message for event in read_newest(path)][2:] == ['event 3', 'event 4']


@given(st.integers(0, 60), st.integers(1, 4), st.integers(300, 1500), st.booleans())
def test_a_log_keeps_the_newest_events_within_its_files(
    count: int, max_files: int, max_bytes: int, restarts: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'trace.jsonl')
        log = JsonLines(path, max_bytes=max_bytes, max_files=max_files)
        for number in range(count):
            log.write(new_event(TraceKind.ACT, str(number)))
            if restarts and number == count // 2:
                log.close()
                log = JsonLines(path, max_bytes=max_bytes, max_files=max_files)
        log.close()
        older = [Path(f'{path}.{n}') for n in range(max_files - 1, 0, -1)]
        files = [each for each in (*older, path) if each.exists()]
        assert sorted(files) == sorted(Path(folder).iterdir())
        assert all(each.stat().st_size <= max_bytes for each in files)
        lines = [line for each in files for line in each.read_text().splitlines()]
        kept = [int(decode(line).message) for line in lines]
        assert kept == list(range(count - len(kept), count))
        assert len(kept) == count or len(files) == max_files
        newest = [line for each in files[-2:] for line in each.read_text().splitlines()]
        assert read_newest(path, 7) == [decode(line) for line in newest[-7:]]


def test_a_pipe_does_not_rotate_and_what_cannot_be_written_is_an_os_error(tmp_path: Path) -> None:
    path = tmp_path / 'pipe'
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    log = JsonLines(path, max_bytes=300)
    for number in range(10):
        log.write(new_event(TraceKind.ACT, str(number)))
    log.close()
    assert os.read(reader, 100_000).count(b'\n') == 10
    os.close(reader)
    assert list(tmp_path.iterdir()) == [path]
    (tmp_path / 'file').write_text('')
    for wrong in (tmp_path, tmp_path / 'file' / 'trace.jsonl', Path('/proc/no/trace.jsonl')):
        with pytest.raises(OSError, match=str(wrong.parent)):
            JsonLines(wrong)


def test_of_a_large_log_the_newest_are_read_and_no_log_has_none(tmp_path: Path) -> None:
    path = tmp_path / 'trace.jsonl'
    assert (read_newest(path, 3), read_newest(tmp_path, 3)) == ([], [])
    record(path, [new_event(TraceKind.ACT, str(number)) for number in range(5000)])
    assert [each.message for each in read_newest(path, 3)] == ['4997', '4998', '4999']
