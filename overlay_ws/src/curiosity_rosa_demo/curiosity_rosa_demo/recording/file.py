# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An MCAP file that is valid after each flush, so a killed writer leaves a readable file; and its
messages, read in file order within limits. Of a torn file, all intact records are read.

Readers refuse an MCAP file without a footer. Each flush therefore writes a footer after the data,
and the next flush overwrites it with new data and a new footer.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
from dataclasses import dataclass
from io import BytesIO
import os
from pathlib import Path
from typing import Any
import zlib

from curiosity_rosa_demo.recording.channels import CDR, Channel
import lz4.frame
from mcap.data_stream import RecordBuilder
from mcap.exceptions import RecordLengthLimitExceeded
from mcap.opcode import Opcode
from mcap.records import Channel as McapChannel
from mcap.records import Chunk, DataEnd, Footer, Message, Metadata, Schema
from mcap.stream_reader import StreamReader
from mcap.well_known import SchemaEncoding
from mcap.writer import CompressionType, MCAP0_MAGIC, Writer
from mcap_ros2.decoder import DecoderFactory
import zstandard

INFO_RECORD = 'curiosity_rosa'  # metadata record about the run
THRESHOLDS, GUARDRAILS = 'thresholds', 'guardrails'  # its keys of the limits, as JSON
ROBOT = 'robot'  # its key of the profile's name
END_RECORD = 'curiosity_rosa_end'  # ... about its end; missing if the writer was killed
MB = 1_000_000


# Bytes. A reader refuses a file beyond the first two, for a compressed chunk of 100 kB may hold
# gigabytes; our recorder stays below them: its chunks hold 4 MiB and at most one message more.
MAX_RECORD_BYTES = 32 * MB  # in the file, compressed
MAX_CHUNK_BYTES = 32 * MB  # decompressed
MAX_MESSAGE_BYTES = 16 * MB  # that is recorded


class NotARecording(Exception):
    """The file is not a recording, or exceeds a limit. The message names the file."""


# --- Written ------------------------------------------------------------------------------------


class RunFile:
    """Creates ``path``, which must not exist, and its folder. Every method may raise OSError; the
    file then ends with the last successful flush and stays valid. Not thread-safe.
    """

    def __init__(self, path: Path, info: dict[str, str]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.messages = 0
        self._tail = _Tail(path)
        # A flush ends a chunk; the size limit keeps the memory of readers small.
        self._writer: Any = Writer(  # partly untyped
            self._tail,  # type: ignore[arg-type]
            chunk_size=4 * 1024 * 1024,
            compression=CompressionType.ZSTD,
        )
        self._ids: dict[tuple[str, str], int] = {}  # channel IDs by role and topic
        self._writer.start(profile='ros2', library='curiosity_rosa')
        self._writer.add_metadata(INFO_RECORD, info)
        self.flush()

    @property
    def size(self) -> int:
        """Bytes in the file, without unflushed data."""
        return self._tail.size

    def write(self, channel: Channel, data: bytes, at_ns: int) -> None:
        """Append a message. ``at_ns``: time of receipt, nanoseconds since the epoch."""
        key = channel.role, channel.topic
        if key not in self._ids:
            is_cdr, definition = channel.encoding == CDR, channel.schema.encode()
            encoding = SchemaEncoding.ROS2 if is_cdr else SchemaEncoding.JSONSchema
            schema = self._writer.register_schema(channel.type, encoding, definition)
            self._ids[key] = self._writer.register_channel(
                channel.topic, channel.encoding, schema, {'role': channel.role}
            )
        self.messages += 1
        self._writer.add_message(
            self._ids[key], log_time=at_ns, data=data, publish_time=at_ns, sequence=self.messages
        )

    def flush(self) -> None:
        """Write all buffered messages to the disk."""
        self._writer.flush()

    def finish(self, end: dict[str, str]) -> None:
        """Write the metadata ``end`` and the summary, which readers use as an index, and close."""
        try:
            self._writer.add_metadata(END_RECORD, end)
            self._writer.finish()
            self._tail.commit(b'')
        finally:
            self.close()

    def close(self) -> None:
        """Close the file as of the last flush; drops unflushed data."""
        self._tail.close()


class _Tail:
    """The output stream of the MCAP writer. It buffers data; ``flush`` writes the buffer and a
    footer to the file.
    """

    def __init__(self, path: Path) -> None:
        self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        self._buffer: list[bytes] = []
        self._buffered_bytes = 0
        self._end = 0  # offset of the footer: bytes of data in the file
        self.size = 0  # bytes, footer included

    def write(self, data: bytes) -> int:
        self._buffer.append(data)
        self._buffered_bytes += len(data)
        return len(data)

    def tell(self) -> int:
        return self._end + self._buffered_bytes

    def flush(self) -> None:
        if self._buffered_bytes:
            self.commit(TRAILER)

    def commit(self, trailer: bytes) -> None:
        if self._file is None:
            raise OSError('the recording is closed')
        data = b''.join([*self._buffer, trailer])
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(self._file, memoryview(data)[written:], self._end + written)
            os.fdatasync(self._file)
        except OSError:  # e.g. disk full: restore the state of the last flush
            with contextlib.suppress(OSError):
                os.pwrite(self._file, TRAILER, self._end)
                os.ftruncate(self._file, self._end + len(TRAILER))
            raise
        self._end += self._buffered_bytes
        self.size = self._end + len(trailer)
        self._buffer.clear()
        self._buffered_bytes = 0

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


_records: Any = RecordBuilder()
DataEnd(0).write(_records)
Footer(summary_start=0, summary_offset_start=0, summary_crc=0).write(_records)
TRAILER = bytes(_records.end() + MCAP0_MAGIC)  # without a summary: readers must scan the file


# --- Read ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """A message and its channel. ``role`` is '' in a file from another program. ``at_ns``: time of
    receipt, nanoseconds since the epoch; ``at_s``: seconds since the first message of the file.
    """

    role: str
    topic: str
    type: str
    encoding: str
    at_ns: int
    at_s: float
    data: bytes
    schema: Schema | None


class RunReader:
    """An iterable over the messages; it can be iterated repeatedly. The iteration sets ``info``,
    ``end`` and ``end_problem``. It raises NotARecording for what exceeds a limit, and OSError.
    """

    def __init__(self, path: str | Path) -> None:
        """Check that the file starts as MCAP. Raises NotARecording, OSError."""
        self.path = Path(path)
        self.info: dict[str, str] = {}
        self.end: dict[str, str] | None = None  # None: writer killed or still writing
        self.end_problem = ''  # why reading ended early; '' if it did not
        self._decoders = DecoderFactory()
        if not self.path.exists():
            raise NotARecording(
                f'{self.path} does not exist; in the console, ":record on" begins a recording '
                'and ":record" names its file'
            )
        head = MCAP0_MAGIC + bytes([Opcode.HEADER])
        with self.path.open('rb') as file:
            if file.read(len(head)) != head:
                raise NotARecording(f'{self.path} is no MCAP file, or ends before its header')

    def __iter__(self) -> Iterator[Entry]:
        schemas: dict[int, Schema] = {}
        channels: dict[int, McapChannel] = {}
        first_ns: int | None = None
        for record in self._records(chunks=False):
            if isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, McapChannel):
                channels[record.id] = record
            elif isinstance(record, Metadata) and record.name == INFO_RECORD:
                self.info = dict(record.metadata)
            elif isinstance(record, Metadata) and record.name == END_RECORD:
                self.end = dict(record.metadata)
            elif isinstance(record, Message) and record.channel_id in channels:
                channel = channels[record.channel_id]
                schema = schemas.get(channel.schema_id)
                first_ns = record.log_time if first_ns is None else first_ns
                yield Entry(
                    role=channel.metadata.get('role', ''),
                    topic=channel.topic,
                    type=schema.name if schema else '',
                    encoding=channel.message_encoding,
                    at_ns=record.log_time,
                    at_s=(record.log_time - first_ns) * 1e-9,
                    data=record.data,
                    schema=schema,
                )

    def decode(self, entry: Entry) -> Any:
        """An object with the fields of the ROS message; None for one that is not of its type.
        Needs only the file, not ROS.
        """
        try:
            decode = self._decoders.decoder_for(entry.encoding, entry.schema)
            return None if decode is None else decode(entry.data)
        except Exception:  # the data does not match the definition
            return None

    def span_ns(self) -> tuple[int, int] | None:
        """Times of the first and the last message, nanoseconds since the epoch; None if there are
        no messages. Fast: it does not decompress chunks.
        """
        chunks = [each for each in self._records(chunks=True) if isinstance(each, Chunk)]
        first = min((chunk.message_start_time for chunk in chunks), default=0)
        last = max((chunk.message_end_time for chunk in chunks), default=0)
        return (first, last) if last else None

    def _records(self, *, chunks: bool) -> Iterator[Any]:
        """Chunks with ``chunks``, else the records inside, one at a time: as objects, small
        messages take ten times their bytes.
        """
        self.end_problem = ''
        with self.path.open('rb') as file:
            try:
                limit = MAX_RECORD_BYTES
                reader = StreamReader(file, emit_chunks=True, record_size_limit=limit)
                for record in reader.records:
                    if isinstance(record, Chunk) and not chunks:
                        inside = BytesIO(self._decompressed(record) + TRAILER)
                        # A chunk in a chunk, which no MCAP file has, stays compressed.
                        yield from StreamReader(inside, skip_magic=True, emit_chunks=True).records
                    else:
                        yield record
            except (OSError, NotARecording):
                raise
            except Exception as error:  # the libraries raise many types for a torn record
                if isinstance(error, RecordLengthLimitExceeded):
                    file.seek(-8, os.SEEK_CUR)
                    length = int.from_bytes(file.read(8), 'little')
                    if length <= self.path.stat().st_size - file.tell():  # else it is torn
                        raise self._too_large(str(error)) from None
                self.end_problem = f'{type(error).__name__} {error}'.strip()

    def _decompressed(self, chunk: Chunk) -> bytes:
        """The records of ``chunk``; decompresses at most as much as a chunk may hold."""
        size = chunk.uncompressed_size
        if size > MAX_CHUNK_BYTES:
            why = f'a chunk, decompressed, has length {size} that exceeds limit {MAX_CHUNK_BYTES}'
            raise self._too_large(why)
        if chunk.compression == 'zstd':
            zstd = zstandard.ZstdDecompressor(max_window_size=MAX_CHUNK_BYTES)
            data = zstd.stream_reader(chunk.data).read(size + 1)
        elif chunk.compression == 'lz4':
            data = lz4.frame.LZ4FrameDecompressor().decompress(chunk.data, max_length=size + 1)
        elif chunk.compression == '':
            data = chunk.data
        else:
            raise ValueError(f'a chunk is compressed with {chunk.compression[:20]!r}')
        if len(data) != size:
            raise ValueError('a chunk has another size than it says')
        if chunk.uncompressed_crc not in (0, zlib.crc32(data)):
            raise ValueError('a chunk has another checksum than its data')
        return data

    def _too_large(self, why: str) -> NotARecording:
        return NotARecording(
            f'{self.path}: {why} (bytes). No recording of this agent is like that; make a smaller '
            'file with "mcap filter" or "ros2 bag convert"'
        )
