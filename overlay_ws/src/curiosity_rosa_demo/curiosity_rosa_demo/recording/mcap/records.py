# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The records of an MCAP file, read one by one within limits. Chunks are decompressed as streams,
and records that no recording needs, such as indexes and attachments, are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
import struct
from typing import Any, BinaryIO
import zlib

from curiosity_rosa_demo.recording.mcap.file import MB, ReadLimits, RecordingTooLarge
import lz4.frame
from mcap.data_stream import ReadDataStream
from mcap.exceptions import EndOfFile, InvalidMagic
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, Message, Metadata, Schema
from mcap.writer import MCAP0_MAGIC
import zstandard

HEAD = struct.Struct('<BQ')  # of a record: opcode, length
MESSAGE_HEAD_BYTES = 22  # of a message's record, before its data
MIN_WINDOW_BYTES = 1024  # least limit that zstandard accepts
DEFINITIONS = {
    Opcode.SCHEMA: Schema.read,
    Opcode.CHANNEL: Channel.read,
    Opcode.METADATA: Metadata.read,
}


class RecordStream:
    """The records of ``path`` in file order: Schema, Channel, Metadata, Message, and Chunk with
    ``chunks``, else the records inside. Raises RecordingTooLarge, OSError, and any exception of
    the libraries for a torn or invalid record.
    """

    def __init__(self, path: Path, limits: ReadLimits, *, chunks: bool) -> None:
        self._path, self._limits, self._chunks = path, limits, chunks
        self._definitions: dict[tuple[int, bytes], int] = {}  # bytes, by opcode and ID
        self._messages = 0
        self._total = 0  # bytes, decompressed

    def __iter__(self) -> Iterator[Any]:
        with self._path.open('rb') as file:
            size = self._path.stat().st_size
            check_magic(file)
            while True:
                opcode, length = HEAD.unpack(_read_whole(file, HEAD.size))
                if length > size - file.tell():
                    raise EndOfFile  # torn
                if opcode == Opcode.FOOTER:
                    check_magic(file, after=length)
                    return
                if opcode == Opcode.CHUNK:
                    self._check(length, self._limits.record, 'a record')
                    chunk = Chunk.read(ReadDataStream(BytesIO(_read_whole(file, length))))
                    if self._chunks:
                        yield chunk
                    else:
                        yield from self._in_chunk(chunk)
                else:
                    yield from self._record(file, opcode, length)

    def _in_chunk(self, chunk: Chunk) -> Iterator[Any]:
        """One record at a time: as objects, small messages take ten times their bytes."""
        data = self._decompressed(chunk)
        if chunk.uncompressed_crc not in (0, zlib.crc32(data)):
            raise ValueError('a chunk has another checksum than its data')
        stream = BytesIO(data)
        while head := stream.read(HEAD.size):
            opcode, length = HEAD.unpack(head)
            if length > len(data) - stream.tell():
                raise EndOfFile
            yield from self._record(stream, opcode, length)

    def _record(self, stream: BinaryIO, opcode: int, length: int) -> Iterator[Any]:
        limits = self._limits
        if opcode == Opcode.MESSAGE:
            self._check(length - MESSAGE_HEAD_BYTES, limits.message, 'a message')
            self._messages += 1
            if self._messages > limits.messages:
                raise RecordingTooLarge(
                    self._path, f'it has {self._messages} messages', f'{limits.messages} messages'
                )
            yield Message.read(ReadDataStream(BytesIO(_read_whole(stream, length))), length)
        elif opcode in DEFINITIONS:
            self._check(length, limits.definitions, 'a schema, a channel or metadata')
            body = _read_whole(stream, length)
            # A file may repeat a definition in each chunk; a reader keeps the last one.
            key = body[:2] if opcode != Opcode.METADATA else b''
            self._definitions[opcode, key] = length
            known = sum(self._definitions.values())
            self._check(known, limits.definitions, 'all schemas and channels together')
            yield DEFINITIONS[Opcode(opcode)](ReadDataStream(BytesIO(body)))
        else:
            stream.seek(length, 1)

    def _decompressed(self, chunk: Chunk) -> bytes:
        """The records of ``chunk``; decompresses at most one byte more than it says it holds."""
        limit, size = self._limits.chunk, chunk.uncompressed_size
        self._check(size, limit, 'a chunk, decompressed,')
        if chunk.compression == 'zstd':
            self._check(zstandard.frame_content_size(chunk.data), limit, 'a chunk, decompressed,')
            decompressor = zstandard.ZstdDecompressor(max_window_size=max(MIN_WINDOW_BYTES, limit))
            with decompressor.stream_reader(chunk.data) as stream:
                data = stream.read(size + 1)
        elif chunk.compression == 'lz4':
            data = lz4.frame.LZ4FrameDecompressor().decompress(chunk.data, max_length=size + 1)
        elif chunk.compression == '':
            data = chunk.data
        else:
            raise ValueError(f'a chunk is compressed with {chunk.compression[:20]!r}')
        if len(data) != size:
            raise ValueError('a chunk has another size than it says')
        self._total += len(data)
        self._check(self._total, self._limits.total, 'the chunks together, decompressed,')
        return data

    def _check(self, size: int, limit: int, what: str) -> None:
        if size > limit:
            text = f'{what} has {size / MB:.1f} MB'
            raise RecordingTooLarge(self._path, text, f'{limit / MB:g} MB')


def check_magic(file: BinaryIO, *, after: int = 0) -> None:
    """Raises InvalidMagic unless the file's mark comes after so many bytes."""
    file.seek(after, 1)
    mark = file.read(len(MCAP0_MAGIC))
    if mark != MCAP0_MAGIC:
        raise InvalidMagic(mark)


def _read_whole(stream: BinaryIO, length: int) -> bytes:
    """Raises EndOfFile if fewer bytes remain."""
    data = stream.read(length)
    if len(data) < length:
        raise EndOfFile
    return data
