# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Read the messages of a recording in file order, within limits. From a torn file, read all intact
records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO
import zlib

from curiosity_rosa_demo.recording.file import (
    END_RECORD,
    INFO_RECORD,
    LIMITS,
    NotARecording,
    ReadLimits,
    RecordingTooLarge,
    TRAILER,
)
import lz4.frame
from mcap.exceptions import EndOfFile
from mcap.opcode import Opcode
from mcap.records import Channel as McapChannel
from mcap.records import Chunk, Message, Metadata, Schema
from mcap.stream_reader import StreamReader
from mcap.writer import MCAP0_MAGIC
from mcap_ros2.decoder import DecoderFactory
import zstandard

HEAD_BYTES = 9  # of a record: opcode, length
MIN_WINDOW_BYTES = 1024  # least limit that zstandard accepts


@dataclass(frozen=True)
class Entry:
    """A message and its channel. ``role`` is '' in a file from another program. ``at_ns``: time of
    receipt, nanoseconds since the epoch.
    """

    role: str
    topic: str
    type: str
    encoding: str
    at_ns: int
    data: bytes
    schema: Schema | None


class RunReader:
    """An iterable over the messages; it can be iterated repeatedly. The iteration sets ``info``,
    ``end`` and ``end_problem``. It raises RecordingTooLarge, and OSError.
    """

    def __init__(self, path: str | Path, limits: ReadLimits = LIMITS) -> None:
        """Check that the file starts as MCAP. Raises NotARecording, OSError."""
        self.path, self._limits = Path(path), limits
        self.info: dict[str, str] = {}
        self.end: dict[str, str] | None = None  # None: writer killed or still writing
        self.end_problem = ''  # why reading ended early; '' if it did not
        if not self.path.exists():
            raise NotARecording(
                f'{self.path} does not exist; in the console, ":record on" begins a recording '
                'and ":record" names its file'
            )
        with self.path.open('rb') as file:
            if file.read(len(MCAP0_MAGIC)) != MCAP0_MAGIC:
                raise NotARecording(f'{self.path} is no MCAP file')
            if len(head := file.read(HEAD_BYTES)) < HEAD_BYTES or head[0] != Opcode.HEADER:
                raise NotARecording(f'{self.path} holds no recording: it has no header')

    def __iter__(self) -> Iterator[Entry]:
        schemas: dict[int, Schema] = {}
        channels: dict[int, McapChannel] = {}
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
                self._check(len(record.data), self._limits.message, 'a message')
                channel = channels[record.channel_id]
                schema = schemas.get(channel.schema_id)
                yield Entry(
                    role=channel.metadata.get('role', ''),
                    topic=channel.topic,
                    type=schema.name if schema else '',
                    encoding=channel.message_encoding,
                    at_ns=record.log_time,
                    data=record.data,
                    schema=schema,
                )

    def span_ns(self) -> tuple[int, int] | None:
        """Times of the first and the last message, nanoseconds since the epoch; None if there are
        no messages. Fast: it does not decompress chunks.
        """
        first, last = 0, 0
        for record in self._records(chunks=True):
            if isinstance(record, Chunk):
                first = min(first or record.message_start_time, record.message_start_time)
                last = max(last, record.message_end_time)
        return (first, last) if last else None

    def _records(self, *, chunks: bool) -> Iterator[Any]:
        """Chunks with ``chunks``, else the records inside, one at a time: as objects, small
        messages take ten times their bytes.
        """
        self.end_problem = ''
        try:
            with self.path.open('rb') as file:
                for record in _records_of(_BoundedFile(self.path, file, self._limits.record)):
                    if isinstance(record, Chunk) and not chunks:
                        data = BytesIO(self._decompressed(record) + TRAILER)
                        yield from _records_of(data, skip_magic=True)
                    else:
                        yield record
        except (OSError, RecordingTooLarge):
            raise
        except Exception as error:  # the libraries raise many types for a torn record
            self.end_problem = f'{type(error).__name__} {error}'.strip()

    def _decompressed(self, chunk: Chunk) -> bytes:
        """The records of ``chunk``; decompresses at most as much as a chunk may hold."""
        limit, size = self._limits.chunk, chunk.uncompressed_size
        self._check(size, limit, 'a chunk, decompressed,')
        if chunk.compression == 'zstd':
            self._check(zstandard.frame_content_size(chunk.data), limit, 'a chunk, decompressed,')
            decompressor = zstandard.ZstdDecompressor(max_window_size=max(MIN_WINDOW_BYTES, limit))
            data = decompressor.decompress(chunk.data, max_output_size=size)
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

    def _check(self, size: int, limit: int, what: str) -> None:
        if size > limit:
            raise RecordingTooLarge(self.path, what, size, limit)


class _BoundedFile:
    """Refuses to read what is larger than a record may be, before its memory is used."""

    def __init__(self, path: Path, file: BinaryIO, limit: int) -> None:
        self._path, self._file, self._limit = path, file, limit
        self._size = path.stat().st_size

    def read(self, size: int) -> bytes:
        if size > self._limit:
            if size > self._size - self._file.tell():
                raise EndOfFile  # torn
            raise RecordingTooLarge(self._path, 'a record', size, self._limit)
        return self._file.read(size)


def _records_of(stream: Any, *, skip_magic: bool = False) -> Iterator[Any]:
    reader = StreamReader(stream, skip_magic=skip_magic, emit_chunks=True, record_size_limit=None)
    return reader.records


class Decoder:
    """Decodes CDR to objects with the fields of the message. Needs only the file, not ROS."""

    def __init__(self) -> None:
        self._factory = DecoderFactory()

    def decode(self, entry: Entry) -> Any:
        """Decode the message; None if that fails."""
        try:
            decode = self._factory.decoder_for(entry.encoding, entry.schema)
            return None if decode is None else decode(entry.data)
        except Exception:  # the data does not match the definition
            return None
