# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The thread that writes a recording: nobody waits for it, and what it could not do is said."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta, timezone
from itertools import count
import os
from pathlib import Path
import threading

from curiosity_rosa_demo.recording.mcap.file import LIMITS, RunFile
from curiosity_rosa_demo.recording.mcap.reader import RunReader
from curiosity_rosa_demo.recording.mcap.writer import RunWriter
from curiosity_rosa_demo.recording.recorder import delete_surplus, recording_name, surplus
from full_disk import no_file_beyond
from harness import wait_until
from hypothesis import given
from hypothesis import strategies as st
from mcap_world import a_string, BEGAN_NS, by_library, channels, INFO
import pytest

TRACE = channels()['trace']


class SlowFile(RunFile):
    """On a disk that answers when the test lets it."""

    def __init__(self, path: Path) -> None:
        self.answers, self.asked = threading.Event(), threading.Event()
        self.answers.set()
        super().__init__(path, INFO)

    def flush(self) -> None:
        self.asked.set()
        assert self.answers.wait(20.0)
        super().flush()


def test_messages_are_in_the_file_soon_and_in_order(tmp_path: Path) -> None:
    said: list[str] = []
    writer = RunWriter(RunFile(tmp_path / 'run.mcap', INFO), said.append, period_s=0.01)
    sent = [a_string(str(number)) for number in range(50)]
    for number, data in enumerate(sent):
        assert writer.enqueue(TRACE, data, BEGAN_NS + number)
    path = writer.progress.path
    wait_until(lambda: by_library(path) == sent, 'the messages in the file')
    assert writer.progress.messages == 50
    done = writer.close('that was all')
    assert (done.messages, done.dropped, done.problem) == (50, 0, '')
    assert done.size == path.stat().st_size
    reader = RunReader(path)
    assert [entry.data for entry in reader] == sent
    assert reader.end == {'messages': '50', 'dropped': '0', 'why': 'that was all'}
    assert not writer.enqueue(TRACE, b'late')
    assert said == []


def test_a_slow_disk_costs_messages_and_nobody_waits(tmp_path: Path) -> None:
    said: list[str] = []
    file = SlowFile(tmp_path / 'run.mcap')
    file.answers.clear()
    file.asked.clear()
    writer = RunWriter(file, said.append, period_s=0.01, max_waiting=100_000)
    wait_until(file.asked.is_set, 'the writer to wait for the disk')
    # Were one of these to wait for the disk, the test would never get past it.
    took = [writer.enqueue(TRACE, b'x' * 1000, BEGAN_NS + number) for number in range(500)]
    kept = sum(took)
    assert 50 <= kept <= 100  # of 100 kB
    assert took == [True] * kept + [False] * (500 - kept)
    assert writer.progress.dropped == 500 - kept
    file.answers.set()
    wait_until(lambda: said, 'the drops to be told')
    assert 'too slow' in said[0]
    assert wait_until(lambda: writer.enqueue(TRACE, b'after', BEGAN_NS), 'room again')
    done = writer.close('')
    assert len(said) == 1
    assert (done.messages, done.dropped) == (kept + 1, 500 - kept)
    reader = RunReader(done.path)
    assert [entry.at_ns - BEGAN_NS for entry in reader] == [*range(kept), 0]
    assert (reader.end or {})['dropped'] == str(500 - kept)


def files_held() -> list[str]:
    """By this process; a descriptor that another thread closes just now is none."""
    links = []
    for each in Path('/proc/self/fd').iterdir():
        with suppress(FileNotFoundError):
            links.append(os.readlink(each))
    return links


def test_a_full_disk_ends_the_recording_and_says_so(tmp_path: Path) -> None:
    said: list[str] = []
    writer = RunWriter(RunFile(tmp_path / 'run.mcap', INFO), said.append, period_s=0.01)
    writer.enqueue(TRACE, a_string('before'), BEGAN_NS)
    path = writer.progress.path
    wait_until(lambda: by_library(path), 'the first message in the file')
    assert str(path) in files_held()
    # Not to be compressed: else it would fit.
    noise = bytes(number * number * 7 % 251 for number in range(3000)) * 3
    with no_file_beyond(path.stat().st_size + 100):
        writer.enqueue(TRACE, noise, BEGAN_NS)
        wait_until(lambda: writer.progress.problem, 'the end of the recording')
    assert 'File too large' in writer.progress.problem
    wait_until(lambda: said, 'it to be told')
    assert str(path) not in files_held()
    assert len(said) == 1
    assert str(path) in said[0]
    assert not writer.enqueue(TRACE, b'after', BEGAN_NS)
    assert 'File too large' in writer.close('too late').problem
    assert by_library(path) == [a_string('before')]


def test_a_disk_that_never_answers_does_not_hold_up_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('curiosity_rosa_demo.recording.mcap.writer.CLOSE_WAIT_S', 0.05)
    file = SlowFile(tmp_path / 'run.mcap')
    file.answers.clear()
    writer = RunWriter(file, lambda _: None, period_s=0.01)
    writer.enqueue(TRACE, b'one', BEGAN_NS)
    assert 'has not answered' in writer.close('').problem
    file.answers.set()


def split_writer(folder: Path, said: list[str], max_bytes: int) -> RunWriter:
    """Its files are 1.mcap, 2.mcap and so on."""
    numbers = count(1)

    def next_file() -> RunFile:
        return RunFile(folder / f'{next(numbers)}.mcap', INFO)

    return RunWriter(
        next_file(), said.append, period_s=0.01, max_bytes=max_bytes, next_file=next_file
    )


def test_a_full_file_is_finished_and_the_recording_continues_in_the_next(tmp_path: Path) -> None:
    said: list[str] = []
    writer = split_writer(tmp_path, said, 100_000)
    static, sent = a_string('static'), [os.urandom(30_000) for _ in range(20)]
    writer.enqueue(channels()['tf_static'], static, BEGAN_NS)
    for number, data in enumerate(sent):
        wait_until(lambda n=number: writer.progress.messages > n, 'the last message in the file')
        assert writer.enqueue(TRACE, data, BEGAN_NS + number)
    done = writer.close('that was all')
    paths = sorted(tmp_path.iterdir(), key=lambda path: int(path.stem))
    assert done.files == len(paths) >= 5
    assert done.path == paths[-1]
    readers = [RunReader(path) for path in paths]
    entries = [list(reader) for reader in readers]
    assert [e.data for part in entries for e in part if e.role == 'trace'] == sent
    assert [part[0].data for part in entries] == [static] * len(paths)
    ends = [(reader.end or {})['why'] for reader in readers]
    following = [f'continued in {path.name}' for path in paths[1:]]
    assert ends == [*following, 'that was all']
    assert all(path.stat().st_size < 100_000 + 4_000_000 for path in paths)
    assert all(reader.info == INFO for reader in readers)
    assert said == []


def test_what_a_reader_would_refuse_is_not_recorded(tmp_path: Path) -> None:
    said: list[str] = []
    writer = RunWriter(RunFile(tmp_path / 'run.mcap', INFO), said.append, period_s=0.01)
    assert not writer.enqueue(TRACE, bytes(LIMITS.message + 1), BEGAN_NS)
    assert writer.enqueue(TRACE, os.urandom(LIMITS.message), BEGAN_NS)
    wait_until(lambda: said, 'the loss to be told')
    assert f'16.0 MB on {TRACE.topic}' in said[0]
    done = writer.close('')
    assert (done.messages, done.dropped) == (1, 1)
    reader = RunReader(done.path)
    assert [len(entry.data) for entry in reader] == [LIMITS.message]
    assert reader.end_problem == ''


def test_a_disk_without_room_for_the_next_file_ends_the_recording(tmp_path: Path) -> None:
    said: list[str] = []

    def no_room() -> RunFile:
        raise OSError(28, 'No space left on device')

    file = RunFile(tmp_path / 'run.mcap', INFO)
    writer = RunWriter(file, said.append, period_s=0.01, max_bytes=1, next_file=no_room)
    writer.enqueue(TRACE, a_string('one'), BEGAN_NS)
    wait_until(lambda: said, 'the end to be told')
    assert 'No space left' in said[0]
    assert by_library(file.path) == [a_string('one')]


# --- only our oldest files are deleted -----------------------------------------------------------


BEGAN = datetime(2026, 11, 23, 8, 0, 0, tzinfo=timezone.utc)
recordings = st.tuples(st.integers(0, 10**8), st.integers(1, 12))  # seconds after BEGAN, number


def name_of(recording: tuple[int, int], domain: str = '0') -> str:
    return recording_name(BEGAN + timedelta(seconds=recording[0]), domain, recording[1])


@given(st.sets(recordings, max_size=15), st.sets(recordings), st.integers(0, 6))
def test_the_oldest_of_this_domain_beyond_the_limit_are_surplus(
    ours: set[tuple[int, int]], others: set[tuple[int, int]], max_files: int
) -> None:
    names = [*map(name_of, ours), *(name_of(each, '7') for each in others)]
    expected = [name_of(each) for each in sorted(ours)][: max(0, len(ours) - max_files)]
    assert surplus(names, '0', max_files) == expected


def test_any_other_file_is_never_surplus() -> None:
    ours = 'run_20260101T000000Z_0'
    others = ['run.mcap', f'{ours}.html', f'{ours}.mcap.bak', f'my_{ours}.mcap', f'{ours}_a.mcap']
    assert surplus([*others, 'rosbag2_2026_01_01-00_00_00_0.mcap'], '0', 0) == []


def test_the_new_file_stays_even_when_the_clock_went_back(tmp_path: Path) -> None:
    names = [name_of((day * 86_400, 1)) for day in range(5)]
    for name in (*names, 'notes.txt'):
        (tmp_path / name).touch()
    deleted = delete_surplus(tmp_path, '0', 3, spare=tmp_path / names[0])
    assert [path.name for path in deleted] == names[1:3]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        'notes.txt',
        *names[:1],
        *names[3:],
    ]
