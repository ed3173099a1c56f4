# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A recording from anywhere costs a reader no more memory than the limits say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import struct
import tempfile
import tracemalloc

from curiosity_rosa_demo.recording.mcap.file import LIMITS, ReadLimits, RecordingTooLarge
from curiosity_rosa_demo.recording.mcap.reader import RunReader
from curiosity_rosa_demo.recording.report import run as run_module
from curiosity_rosa_demo.recording.report.main import run as report
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import lz4.frame
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, DataEnd, Footer, Header, Schema
from mcap.writer import MCAP0_MAGIC
from mcap_world import a_picture, a_string, BEGAN_NS, channels, write_run
import pytest
import zstandard

TRACE = channels()['trace']
SMALL = ReadLimits(record=100_000, chunk=3000, message=500)
SIZES = st.lists(st.lists(st.integers(0, 700), max_size=8), max_size=4)  # of messages, by chunk
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    'zstd': zstandard.compress,
    'lz4': lz4.frame.compress,
    '': bytes,
}


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


def a_chunk(data: bytes, packer: str = 'zstd', *, size: int | None = None) -> bytes:
    """``size``: what the chunk says of itself; None: the truth."""
    return record(
        Chunk(
            compression=packer,
            data=PACKERS[packer](data),
            message_start_time=BEGAN_NS,
            message_end_time=BEGAN_NS,
            uncompressed_crc=0,
            uncompressed_size=len(data) if size is None else size,
        )
    )


def a_file(path: Path, *records: bytes) -> Path:
    end = record(DataEnd(0)) + record(Footer(0, 0, 0)) + MCAP0_MAGIC
    path.write_bytes(MCAP0_MAGIC + record(Header('ros2', '')) + b''.join(records) + end)
    return path


def peak_of(run: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@settings(max_examples=examples(60), deadline=None)
@given(SIZES, st.sampled_from(sorted(PACKERS)))
def test_a_file_is_read_whole_or_refused_with_file_value_and_limit(
    sizes: list[list[int]], packer: str
) -> None:
    parts = [DEFINITIONS + b''.join(map(a_message, chunk)) for chunk in sizes]
    flat = [size for chunk in sizes for size in chunk]
    too_large = (
        max(flat, default=0) > SMALL.message or max(map(len, parts), default=0) > SMALL.chunk
    )
    with tempfile.TemporaryDirectory() as folder:
        path = a_file(Path(folder, 'a.mcap'), *(a_chunk(part, packer) for part in parts))
        reader = RunReader(path, SMALL)
        if not too_large:
            assert [len(entry.data) for entry in reader] == flat
            assert reader.end_problem == ''
            return
        with pytest.raises(RecordingTooLarge, match='more than the limit of') as refused:
            list(reader)
        assert str(path) in str(refused.value)
        assert 'make a smaller file' in str(refused.value)


BOMB = DEFINITIONS + a_message(100_000_000)  # three chunks' worth


@pytest.mark.parametrize('packer', ['zstd', 'lz4'])
def test_a_small_chunk_that_holds_much_is_refused_before_its_memory_is_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], packer: str
) -> None:
    path = a_file(tmp_path / 'bomb.mcap', a_chunk(BOMB, packer))
    assert path.stat().st_size < 2_000_000
    assert peak_of(lambda: report([str(path)])) < LIMITS.chunk
    told = capsys.readouterr().err
    assert str(path) in told
    assert 'more than the limit of 32 MB' in told
    assert not path.with_suffix('.html').exists()


def without_size(data: bytes) -> bytes:
    """A frame that does not say how much it holds."""
    return zstandard.ZstdCompressor(write_content_size=False).compress(data)


@pytest.mark.parametrize('pack', [without_size, lz4.frame.compress], ids=['zstd', 'lz4'])
def test_a_chunk_that_holds_more_than_it_says_is_torn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    packer = 'zstd' if pack is without_size else 'lz4'
    monkeypatch.setitem(PACKERS, packer, pack)
    reader = RunReader(a_file(tmp_path / 'bomb.mcap', a_chunk(BOMB, packer, size=1000)))
    assert peak_of(lambda: sum(1 for _ in reader)) < LIMITS.chunk
    assert 'another size' in reader.end_problem


def test_a_chunk_of_many_tiny_messages_is_read_one_by_one(tmp_path: Path) -> None:
    path = a_file(tmp_path / 'tiny.mcap', a_chunk(DEFINITIONS + a_message(0) * 30_000))
    reader = RunReader(path)
    assert peak_of(lambda: sum(1 for _ in reader)) < 4_000_000  # as objects: 12 MB
    assert reader.end_problem == ''


def test_attachments_and_indexes_are_skipped_and_large_ones_refused(tmp_path: Path) -> None:
    def a_file_with(size: int) -> RunReader:
        parts = [
            struct.pack('<BQ', opcode, size) + bytes(size)
            for opcode in (Opcode.ATTACHMENT, Opcode.MESSAGE_INDEX)
        ]
        return RunReader(a_file(tmp_path / 'a.mcap', *parts, a_chunk(DEFINITIONS + a_message(3))))

    assert [len(entry.data) for entry in a_file_with(1_000_000)] == [3]

    def refused() -> None:
        with pytest.raises(RecordingTooLarge, match='a record has 40'):
            list(large)

    large = a_file_with(40_000_000)
    assert peak_of(refused) < 3_000_000


def test_a_report_leaves_out_what_does_not_fit_and_counts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text_bytes, picture_bytes, many = 1_500_000, 2_000_000, 150
    monkeypatch.setattr(run_module, 'MAX_TEXT_BYTES', text_bytes)
    monkeypatch.setattr(run_module, 'MAX_PICTURE_BYTES', picture_bytes)
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
