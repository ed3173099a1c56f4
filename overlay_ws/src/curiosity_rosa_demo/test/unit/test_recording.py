# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A recording: what it holds, whole however its writer ends, bounded for its reader."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from itertools import count, pairwise
import math
import os
from pathlib import Path
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import tracemalloc
from typing import Any

from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.recording import file as file_module
from curiosity_rosa_demo.recording import run as run_module
from curiosity_rosa_demo.recording import writer as writer_module
from curiosity_rosa_demo.recording.channels import (
    definition,
    message_class,
    recorded_channels,
)
from curiosity_rosa_demo.recording.file import (
    MAX_CHUNK_BYTES,
    MAX_MESSAGE_BYTES,
    NotARecording,
    RunFile,
    RunReader,
    TRAILER,
)
from curiosity_rosa_demo.recording.recorder import delete_surplus, recording_name, Throttle
from curiosity_rosa_demo.recording.report import run as report
from curiosity_rosa_demo.recording.writer import RunWriter
from examples import examples
from harness import wait_until
from hypothesis import given, settings
from hypothesis import strategies as st
import lz4.frame
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, DataEnd, Footer, Header, Schema
from mcap.writer import MCAP0_MAGIC
from mcap_world import a_picture, a_string, BEGAN_NS, by_library, channels, CONFIG, INFO, write_run
import pytest
from rclpy.serialization import serialize_message
from skill_world import no_file_beyond
import zstandard

# --- what is recorded ----------------------------------------------------------------------------


def fields(message: Any) -> Any:
    """Slots of a ROS message, or of one that the file's own definition made, as plain values."""
    if hasattr(message, 'get_fields_and_field_types'):
        names: Any = message.get_fields_and_field_types()
    elif hasattr(message, '__slots__'):
        names = message.__slots__
    elif isinstance(message, (str, bool, int, float)):
        return message
    else:
        return [fields(each) for each in message]
    return {name: fields(getattr(message, name)) for name in names if name[0] != '_'}


@pytest.mark.parametrize('role', sorted(set(channels()) - {'calls'}))
def test_each_message_is_read_by_the_definition_in_the_file(tmp_path: Path, role: str) -> None:
    message = message_class(channels()[role].type)()
    if hasattr(message, 'header'):
        message.header.frame_id, message.header.stamp.sec = 'odom', 12
    data = bytes(serialize_message(message))
    reader = RunReader(write_run(tmp_path / 'run.mcap', [(role, 0.0, data)]))
    (entry,) = reader
    read, sent = fields(reader.decode(entry)), fields(message)
    assert str(read) == str(sent)  # NaN is equal to itself in print


def test_what_is_recorded_is_of_its_own_rover_and_no_command() -> None:
    for name in ('no_such_msgs/msg/Thing', 'std_msgs/msg/Thing'):
        with pytest.raises((LookupError, OSError), match=r'no_such_msgs|Thing'):
            definition(name)
    topics = load_config(namespace='ours', rover_namespace='mars').topics
    rates = CONFIG.agent.recording.rates
    recorded = {each.topic for each in recorded_channels(topics, rates)}
    assert [name for name in recorded if not name.startswith(('/ours/', '/mars/'))] == []
    assert {topics.trace.events, topics.status.adapter, topics.rover.odometry} <= recorded
    assert topics.rover.cmd_vel not in recorded
    images = CONFIG.topics.images.model_copy(update={'input': 'raw'})
    raw = recorded_channels(CONFIG.topics.model_copy(update={'images': images}), rates)
    (camera,) = (each for each in raw if each.role == 'camera')
    assert (camera.raw_topic, camera.topic) == ('/image_raw', '/image_raw/compressed')


@given(st.lists(st.floats(0.0, 10.0), max_size=60).map(sorted), st.floats(0.2, 20.0))
def test_of_many_messages_few_are_kept_and_the_last_one_always(
    times: list[float], hz: float
) -> None:
    thinning = Throttle(hz)
    passed: list[tuple[float, float]] = []  # when it passed, and which
    for now in times:
        for each in (thinning.take_due(now), thinning.accept(repr(now).encode(), now)):
            if each is not None:
                passed.append((now, float(each)))
    end = (times[-1] if times else 0.0) + 2.0 / hz
    last = thinning.take_due(end)
    if last is not None:
        passed.append((end, float(last)))
    assert [which for _, which in passed][-1:] == times[-1:]
    gaps = [b - a for (a, _), (b, _) in pairwise(passed)]
    assert all(gap >= 1.0 / hz - 1e-9 for gap in gaps)
    assert thinning.take_due(math.inf) is None


# --- the file ------------------------------------------------------------------------------------


TRACE = channels()['trace']


roles = st.sampled_from(sorted(set(channels()) - {'calls'}))
messages = st.tuples(roles, st.floats(0.0, 1e5), st.binary(max_size=200))


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


def test_what_is_no_recording_is_said_with_its_name_and_no_file_written_over(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'none'
    with pytest.raises(NotARecording, match='none does not exist; in the console, ":record on"'):
        RunReader(path)
    for content in (b'', b'Hello', b'\x89MCAP0\r\n'):
        path.write_bytes(content)
        with pytest.raises(NotARecording, match=str(path)):
            RunReader(path)
    with pytest.raises(FileExistsError):
        RunFile(path, INFO)
    assert path.read_bytes() == content


# Writes numbers, 20 to a flush, and says how many of them a flush has returned for.
WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from curiosity_rosa_demo.recording.file import RunFile
from curiosity_rosa_demo.recording.channels import CALLS_CHANNEL
from mcap_world import BEGAN_NS, INFO
file = RunFile(Path(sys.argv[1]), INFO)
number = 0
while True:
    for number in range(number + 1, number + 21):
        file.write(CALLS_CHANNEL, b'%d' % number + b' ' * 20_000, BEGAN_NS + number)
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


# --- what a reader would not have room for -------------------------------------------------------


SMALL = {'MAX_RECORD_BYTES': 100_000, 'MAX_CHUNK_BYTES': 3000}


def record(made: Header | Schema | Channel | Chunk | DataEnd | Footer) -> bytes:
    builder = RecordBuilder()
    made.write(builder)
    return bytes(builder.end())


DEFINITIONS = record(Schema(id=1, name='a/msg/B', encoding='ros2msg', data=b'')) + record(
    Channel(id=1, schema_id=1, topic='/t', message_encoding='cdr', metadata={'role': 'trace'})
)


def a_message(size: int) -> bytes:
    head = struct.pack('<BQ', Opcode.MESSAGE, 22 + size)
    return head + struct.pack('<HIQQ', 1, 0, BEGAN_NS, BEGAN_NS) + bytes(size)


def a_chunk(
    data: bytes, packer: str = 'zstd', *, packed: bytes | None = None, **said: Any
) -> bytes:
    """``packed``: as it stands in the file. ``said``: what the chunk says of itself wrongly."""
    packers: dict[str, Callable[[bytes], bytes]] = {
        'zstd': zstandard.compress,
        'lz4': lz4.frame.compress,
    }
    truth = {
        'message_start_time': BEGAN_NS,
        'message_end_time': BEGAN_NS,
        'uncompressed_crc': 0,
        'uncompressed_size': len(data),
    }
    data = packers.get(packer, bytes)(data) if packed is None else packed
    return record(Chunk(compression=packer, data=data, **{**truth, **said}))


def a_file(path: Path, *records: bytes) -> Path:
    end = record(DataEnd(0)) + record(Footer(0, 0, 0)) + MCAP0_MAGIC
    path.write_bytes(MCAP0_MAGIC + record(Header('ros2', '')) + b''.join(records) + end)
    return path


def zstd_stream(data: bytes, **parameters: int) -> bytes:
    """A frame that does not say how much it holds."""
    chosen = zstandard.ZstdCompressionParameters(write_content_size=False, **parameters)
    stream = zstandard.ZstdCompressor(compression_params=chosen).compressobj()
    return stream.compress(data) + stream.flush()


def a_record(size: int, opcode: Opcode = Opcode.ATTACHMENT) -> bytes:
    return struct.pack('<BQ', opcode, size) + bytes(min(size, 40_000_000))


TWO = DEFINITIONS + a_message(9) * 2
# What is told of a file with such a record after a good chunk; each limit of a reader has a row.
LIMIT_ROWS: list[tuple[str, bytes]] = [
    ('', a_chunk(b'', 'lz4') + a_chunk(b'', '')),
    ('', a_chunk(a_chunk(TWO))),  # no MCAP file has one in another
    ('', a_record(99_000) + a_record(99_000, Opcode.MESSAGE_INDEX)),
    ('record has length 200000 that exceeds limit 100000', a_record(200_000)),
    ('RecordLengthLimitExceeded', a_record(10**12)),  # torn
    ('a chunk, decompressed, has', a_chunk(TWO, uncompressed_size=3001)),
    ('ZstdError', a_chunk(bytes(3001), uncompressed_size=99)),
    ('a chunk has another size', a_chunk(TWO, '', uncompressed_size=99)),
    ('a chunk has another size', a_chunk(TWO, 'lz4', uncompressed_size=99)),
    ('another size', a_chunk(TWO, packed=zstd_stream(TWO, window_log=10), uncompressed_size=99)),
    ('ZstdError', a_chunk(TWO, packed=zstd_stream(TWO, window_log=20))),
    ('a chunk has another checksum', a_chunk(TWO, uncompressed_crc=1)),
    ("a chunk is compressed with 'brotli'", a_chunk(TWO, 'brotli')),
    ('make a smaller file', a_chunk(DEFINITIONS + a_message(3001), 'lz4')),
]


def test_what_is_beyond_a_limit_is_told_and_what_is_whole_before_it_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit in SMALL.items():
        monkeypatch.setattr(file_module, name, limit)
    wrong = []
    for told, hostile in LIMIT_ROWS:
        reader = RunReader(a_file(tmp_path / 'a.mcap', a_chunk(TWO), hostile))
        read, said = [], ''
        try:
            read.extend(len(entry.data) for entry in reader)
        except NotARecording as error:
            said = str(error)
        said = said or reader.end_problem
        named = not said or said == reader.end_problem or f'{reader.path}' in said
        if told not in said or bool(told) != bool(said) or not named or read != [9, 9]:
            wrong.append((told, said, read))
    assert wrong == []


BOMB = DEFINITIONS + a_message(100_000_000)  # three chunks' worth
BOMBS = {
    'exceeds limit 32000000': a_chunk(BOMB, 'lz4'),
    'another size': a_chunk(BOMB, packed=zstd_stream(BOMB), uncompressed_size=1000),
    'has length 40000000': a_record(40_000_000),
    'a chunk in a chunk': a_chunk(a_chunk(BOMB)),
    '': a_chunk(DEFINITIONS + a_message(0) * 10_000),  # as objects: 4 MB
}


def test_a_file_that_takes_much_memory_is_refused_before_it_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for told, hostile in BOMBS.items():
        reader = RunReader(a_file(tmp_path / 'bomb.mcap', hostile))
        tracemalloc.start()
        with suppress(NotARecording):
            assert sum(1 for _ in reader) == (0 if told else 10_000)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < (MAX_CHUNK_BYTES if told else 3_000_000), told
    path = a_file(tmp_path / 'bomb.mcap', a_chunk(BOMB, 'lz4'))
    assert report([str(path)]) == 2
    assert re.fullmatch(f'.*{path}.* exceeds limit 32000000.*\n', capsys.readouterr().err)
    assert not path.with_suffix('.html').exists()


def test_a_report_leaves_out_what_does_not_fit_and_counts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text_bytes, picture_bytes, many = 1_500_000, 2_000_000, 150
    monkeypatch.setitem(run_module.ROOM, 'text', text_bytes)
    monkeypatch.setitem(run_module.ROOM, 'pictures', picture_bytes)
    text = '{"event_id": "%d", "ts": 1.9e9, "kind": "ACT", "message": "%s"}'
    events = [('trace', 0.0, a_string(text % (n, 'x' * 15_000))) for n in range(many)]
    pictures = [('capture', 1.0, a_picture(bytes(250_000)))] * 11
    run = run_module.read_run(write_run(tmp_path / 'run.mcap', [*events, *pictures]))
    kept = len(run.events)
    assert many - 100 < kept < many
    assert sum(len(event.message) for _, event in run.events) < text_bytes
    assert many - kept + 3 <= run.left_out <= many - kept + 4
    assert report([str(tmp_path / 'run.mcap')]) == 0
    page = (tmp_path / 'run.html').read_text()
    assert f'leaves out {run.left_out} messages beyond its size' in page


# --- the thread that writes ----------------------------------------------------------------------


def a_writer(folder: Path, said: list[str], max_mb: float = 100.0) -> RunWriter:
    numbers = count(1)

    def create() -> RunFile:
        return RunFile(folder / f'{next(numbers)}.mcap', INFO)

    return RunWriter(create, said.append, max_mb)


@pytest.fixture(autouse=True)
def _busy_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, 'PERIOD_S', 0.01)


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


def test_a_slow_disk_costs_messages_and_nobody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    file = SlowFile(tmp_path / 'run.mcap')
    file.answers.clear()
    file.asked.clear()
    monkeypatch.setattr(writer_module, 'MAX_QUEUED_BYTES', 100_000)
    writer = RunWriter(lambda: file, said.append, 1.0)
    wait_until(file.asked.is_set, 'the writer to wait for the disk')
    # Were one of these to wait for the disk, the test would never get past it.
    sent = [b'%04d' % number * 250 for number in range(500)]
    took = [writer.enqueue(TRACE, each) for each in sent]
    kept = sum(took)
    assert 50 <= kept <= 100  # of 100 kB
    assert took == [True] * kept + [False] * (500 - kept)
    assert writer.dropped == 500 - kept
    file.answers.set()
    wait_until(lambda: said, 'the drops to be told')
    assert 'too slow' in said[0]
    assert wait_until(lambda: writer.enqueue(TRACE, b'after'), 'room again')
    writer.close('')
    assert len(said) == 1
    assert (writer.messages, writer.dropped) == (kept + 1, 500 - kept)
    reader = RunReader(writer.path)
    assert [entry.data for entry in reader] == [*sent[:kept], b'after']
    assert (reader.end or {})['dropped'] == str(500 - kept)
    # A disk that never answers does not hold up the end.
    monkeypatch.setattr(writer_module, 'CLOSE_WAIT_S', 0.05)
    hung = SlowFile(tmp_path / 'never.mcap')
    hung.answers.clear()
    writer = RunWriter(lambda: hung, said.append, 1.0)
    writer.enqueue(TRACE, b'one')
    writer.close('')
    assert 'has not answered' in writer.problem
    hung.answers.set()


def files_held() -> list[str]:
    """By this process; a descriptor that another thread closes just now is none."""
    links = []
    for each in Path('/proc/self/fd').iterdir():
        with suppress(FileNotFoundError):
            links.append(os.readlink(each))
    return links


@pytest.mark.parametrize('room', [1, 100, 30_000])
def test_a_full_disk_ends_the_recording_leaves_it_whole_and_says_so(
    tmp_path: Path, room: int
) -> None:
    said: list[str] = []
    writer = a_writer(tmp_path, said)
    writer.enqueue(TRACE, a_string('before'))
    path = writer.path
    wait_until(lambda: by_library(path), 'the first message in the file')
    assert str(path) in files_held()
    with no_file_beyond(path.stat().st_size + room):
        writer.enqueue(TRACE, os.urandom(50_000))
        wait_until(lambda: writer.problem, 'the end of the recording')
    assert 'File too large' in writer.problem
    wait_until(lambda: said, 'it to be told')
    assert str(path) not in files_held()
    assert len(said) == 1
    assert str(path) in said[0]
    assert not writer.enqueue(TRACE, b'after')
    writer.close('too late')
    assert 'File too large' in writer.problem
    assert by_library(path) == [a_string('before')] == [entry.data for entry in RunReader(path)]


def test_a_full_file_is_finished_and_the_recording_continues_in_the_next(tmp_path: Path) -> None:
    said: list[str] = []
    writer = a_writer(tmp_path, said, max_mb=0.1)
    static, sent = a_string('static'), [os.urandom(30_000) for _ in range(20)]
    writer.enqueue(channels()['tf_static'], static)
    for number, data in enumerate(sent):
        wait_until(lambda n=number: writer.messages > n, 'the last message in the file')
        assert writer.enqueue(TRACE, data)
    writer.close('that was all')
    assert not writer.enqueue(TRACE, b'late')
    paths = sorted(tmp_path.iterdir(), key=lambda path: int(path.stem))
    assert writer.files == len(paths) >= 5
    assert writer.path == paths[-1]
    readers = [RunReader(path) for path in paths]
    entries = [list(reader) for reader in readers]
    assert [e.data for part in entries for e in part if e.role == 'trace'] == sent
    assert [part[0].data for part in entries] == [static] * len(paths)
    ends = [(reader.end or {})['why'] for reader in readers]
    following = [f'continued in {path.name}' for path in paths[1:]]
    assert ends == [*following, 'that was all']
    assert all(path.stat().st_size < 100_000 + 4_000_000 for path in paths)
    assert all(reader.info == INFO for reader in readers)
    assert said == [
        f'The recording continues in {path} (recording.max_file_mb: 0.1).' for path in paths[1:]
    ]


def test_what_a_reader_would_refuse_is_not_recorded(tmp_path: Path) -> None:
    said: list[str] = []
    writer = a_writer(tmp_path, said)
    assert not writer.enqueue(TRACE, bytes(MAX_MESSAGE_BYTES + 1))
    assert writer.enqueue(TRACE, os.urandom(MAX_MESSAGE_BYTES))
    wait_until(lambda: said, 'the loss to be told')
    assert f'16.0 MB on {TRACE.topic}' in said[0]
    writer.close('')
    assert (writer.messages, writer.dropped) == (1, 1)
    reader = RunReader(writer.path)
    assert [len(entry.data) for entry in reader] == [MAX_MESSAGE_BYTES]
    assert reader.end_problem == ''


# --- only our oldest files are deleted -----------------------------------------------------------


BEGAN = datetime(2026, 11, 23, 8, 0, 0, tzinfo=timezone.utc)
recordings = st.tuples(st.integers(0, 10**8), st.integers(1, 12))  # seconds after BEGAN, number


def name_of(recording: tuple[int, int], domain: str = '0') -> str:
    return recording_name(BEGAN + timedelta(seconds=recording[0]), domain, recording[1])


@settings(max_examples=examples(40))
@given(
    st.sets(recordings, max_size=15),
    recordings,
    st.sets(recordings, max_size=5),
    st.integers(1, 7),
)
def test_the_oldest_of_this_domain_beyond_the_limit_are_deleted_and_never_the_new_one(
    ours: set[tuple[int, int]], new: tuple[int, int], others: set[tuple[int, int]], max_files: int
) -> None:
    """Whatever the clock said when the new file got its name."""
    name = name_of((0, 1))
    foreign = ['run.mcap', f'{name}.bak', f'my_{name}', name.replace('.mcap', '.html')]
    foreign += [name_of(each, '7') for each in others]
    with tempfile.TemporaryDirectory() as folder:
        for each in (*map(name_of, ours | {new}), *foreign):
            Path(folder, each).touch()
        deleted = delete_surplus(Path(folder), '0', max_files, spare=Path(folder, name_of(new)))
        left = {each.name for each in Path(folder).iterdir()}
    older = [name_of(each) for each in sorted(ours - {new})]
    expected = older[: max(0, len(older) + 1 - max_files)]
    assert [each.name for each in deleted] == expected
    assert left == {*map(name_of, ours | {new}), *foreign} - set(expected)
