# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The file of a recording: what was written is read, however its writer ended."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from pathlib import Path
import signal
import subprocess
import sys
import tempfile

from curiosity_rosa_demo.recording.mcap.file import NotARecording, RunFile, TRAILER
from curiosity_rosa_demo.recording.mcap.reader import Decoder, RunReader
from examples import examples
from full_disk import no_file_beyond
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap_world import a_string, BEGAN_NS, channels, INFO, write_run
import pytest

TRACE = channels()['trace']
roles = st.sampled_from(sorted(set(channels()) - {'calls'}))
messages = st.tuples(roles, st.floats(0.0, 1e5), st.binary(max_size=200))


def by_library(path: Path) -> list[bytes]:
    """As anybody else reads it: the index at the end first, where there is one."""
    with path.open('rb') as file:
        return [message.data for _, _, message in make_reader(file).iter_messages()]


def in_order(path: Path) -> list[tuple[str, int, bytes]]:
    return [(entry.role, entry.at_ns, entry.data) for entry in RunReader(path)]


@settings(max_examples=examples(40))
@given(st.lists(st.lists(messages, max_size=6), max_size=4), st.booleans())
def test_what_is_written_is_read_back(
    batches: list[list[tuple[str, float, bytes]]], ends: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'deep', 'run.mcap')
        file = RunFile(path, INFO)
        told: list[tuple[str, int, bytes]] = []
        for batch in batches:
            for role, at_s, data in batch:
                told.append((role, BEGAN_NS + round(at_s * 1e9), data))
                file.write(channels()[role], data, told[-1][1])
            file.flush()
            # Whole after each flush, for the library too, while it is being written.
            assert in_order(path) == told
            assert sorted(by_library(path)) == sorted(data for _, _, data in told)
            assert path.stat().st_size == file.size
        if ends:
            file.finish({'why': 'done'})
        else:
            file.close()
        reader = RunReader(path)
        assert [(e.role, e.at_ns, e.data) for e in reader] == told
        assert (reader.info, reader.end_problem) == (INFO, '')
        assert reader.end == ({'why': 'done'} if ends else None)
        times = [at_ns for _, at_ns, _ in told]
        assert reader.span_ns() == ((min(times), max(times)) if times else None)
        assert sorted(by_library(path)) == sorted(data for _, _, data in told)


@pytest.mark.parametrize('finished', [True, False])
def test_a_torn_file_gives_all_that_is_whole(tmp_path: Path, finished: bool) -> None:
    path = tmp_path / 'run.mcap'
    file = RunFile(path, INFO)
    flushed = [(0, 0)]  # bytes in the file after each flush, messages
    for number in range(1, 31):
        file.write(TRACE, a_string(f'event {number}' * 5), BEGAN_NS + number)
        if number % 5 == 0:
            file.flush()
            flushed.append((file.size - len(TRAILER), number))
    if finished:
        file.finish({})
    else:
        file.close()
    whole = path.read_bytes()
    everything = in_order(path)
    assert len(everything) == 30
    torn = tmp_path / 'torn.mcap'
    for size in range(flushed[-2][0], len(whole)):
        torn.write_bytes(whole[:size])
        reader = RunReader(torn)
        read = [(entry.role, entry.at_ns, entry.data) for entry in reader]
        at_least = max(count for end, count in flushed if end <= size)
        assert read == everything[: len(read)], size
        assert len(read) >= at_least, size
        assert reader.end_problem, size
        reader.span_ns()


@settings(max_examples=examples(80))
@given(st.data())
def test_bytes_that_mean_nothing_are_told_not_raised(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_run(Path(folder, 'run.mcap'), [('trace', 0.0, a_string('x' * 50))] * 3)
        spoiled = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 5))):
            spoiled[data.draw(st.integers(0, len(spoiled) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(spoiled)
        decoder = Decoder()
        with suppress(NotARecording):
            assert len([decoder.decode(entry) for entry in RunReader(path)]) <= 3


def test_what_is_no_recording_is_said_with_its_name(tmp_path: Path) -> None:
    for name, content in (('empty', b''), ('text', b'Hello'), ('cut', b'\x89MCAP0\r\n')):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(NotARecording, match=name):
            RunReader(path)
    with pytest.raises(NotARecording, match='none does not exist; in the console, ":record on"'):
        RunReader(tmp_path / 'none')


def test_a_file_that_is_there_is_never_written_over(tmp_path: Path) -> None:
    path = write_run(tmp_path / 'run.mcap', [('trace', 0.0, b'first')])
    with pytest.raises(FileExistsError):
        RunFile(path, INFO)
    assert by_library(path) == [b'first']


@pytest.mark.parametrize('room', [1, 30, 2000, 40_000])
def test_a_full_disk_leaves_the_file_whole(tmp_path: Path, room: int) -> None:
    path = tmp_path / 'run.mcap'
    file = RunFile(path, INFO, compression='NONE')
    file.write(TRACE, a_string('before'), BEGAN_NS)
    file.flush()
    with no_file_beyond(file.size + room):
        file.write(TRACE, a_string('x' * 50_000), BEGAN_NS)
        with pytest.raises(OSError, match='File too large'):
            file.flush()
        with pytest.raises(OSError, match='File too large'):
            file.finish({})
    assert by_library(path) == [a_string('before')]
    reader = RunReader(path)
    assert ([entry.data for entry in reader], reader.end_problem) == ([a_string('before')], '')


# Writes numbers, 20 to a flush, and says how many of them a flush has returned for.
WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from curiosity_rosa_demo.recording.mcap.file import RunFile
from mcap_world import BEGAN_NS, CALLS, INFO
file = RunFile(Path(sys.argv[1]), INFO)
number = 0
while True:
    for number in range(number + 1, number + 21):
        file.write(CALLS, b'%d' % number + b' ' * 20_000, BEGAN_NS + number)
    file.flush()
    print(number, flush=True)
"""


@pytest.mark.parametrize('flushes', [1, 7, 40])
def test_after_kill_9_the_library_reads_everything_that_was_flushed(
    tmp_path: Path, flushes: int
) -> None:
    path = tmp_path / 'run.mcap'
    command = [sys.executable, '-c', WRITER, str(path), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        flushed = 0
        for _ in range(flushes):
            flushed = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        flushed = max([flushed, *(int(each) for each in writer.stdout.read().split())])
    read = [int(data) for data in by_library(path)]
    assert len(read) >= flushed >= 20 * flushes
    assert all(after == before + 1 for before, after in pairwise(read))
    reader = RunReader(path)
    assert [int(entry.data) for entry in reader] == read
    assert (reader.end_problem, reader.end) == ('', None)
