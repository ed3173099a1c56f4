# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An MCAP file that is valid after each flush, so a killed writer leaves a readable file.

Readers refuse an MCAP file without a footer. Each flush therefore writes a footer after the data,
and the next flush overwrites it with new data and a new footer.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
import os
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.recording.channels import CDR, Channel
from mcap.data_stream import RecordBuilder
from mcap.records import DataEnd, Footer
from mcap.well_known import SchemaEncoding
from mcap.writer import CompressionType, MCAP0_MAGIC, Writer

# -----------------------------------------------------------------------------------------------
# Limits of a recording: a reader refuses a file beyond them, and our recorder stays below them
#
# A compressed chunk of 100 kB may hold gigabytes, so each size is checked before its memory is
# used.


MB = 1_000_000


class NotARecording(Exception):
    """The file is not a recording. The message names the file."""


class RecordingTooLarge(NotARecording):
    """The file exceeds a limit. The message names file, value, limit and the way out."""

    def __init__(self, path: Path, what: str, size: int, limit: int) -> None:
        super().__init__(
            f'{path}: {what} has {size / MB:.1f} MB, more than the limit of {limit / MB:g} MB. No '
            'recording of this agent is like that; make a smaller file with "mcap filter" or '
            '"ros2 bag convert"'
        )


@dataclass(frozen=True)
class ReadLimits:
    """Sizes are in bytes. Our own chunks hold 4 MiB and at most one message more."""

    record: int = 32 * MB  # in the file, compressed
    chunk: int = 32 * MB  # decompressed
    message: int = 16 * MB


LIMITS = ReadLimits()


INFO_RECORD = 'curiosity_rosa'  # metadata record about the run
THRESHOLDS, GUARDRAILS = 'thresholds', 'guardrails'  # its keys of the limits, as JSON
END_RECORD = 'curiosity_rosa_end'  # ... about its end; missing if the writer was killed


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
        self._schemas: dict[str, int] = {}
        self._writer.start(profile='ros2', library='curiosity_rosa')
        self._writer.add_metadata(INFO_RECORD, info)
        self.flush()

    @property
    def size(self) -> int:
        """Bytes in the file, without unflushed data."""
        return self._tail.size

    def write(self, channel: Channel, data: bytes, at_ns: int) -> None:
        """Append a message. ``at_ns``: time of receipt, nanoseconds since the epoch."""
        known = self._ids.get((channel.role, channel.topic))
        number = self._register(channel) if known is None else known
        self.messages += 1
        self._writer.add_message(
            number, log_time=at_ns, data=data, publish_time=at_ns, sequence=self.messages
        )

    def _register(self, channel: Channel) -> int:
        encoding = SchemaEncoding.ROS2 if channel.encoding == CDR else SchemaEncoding.JSONSchema
        if channel.type not in self._schemas:
            self._schemas[channel.type] = self._writer.register_schema(
                channel.type, encoding, channel.schema.encode()
            )
        number = int(
            self._writer.register_channel(
                channel.topic,
                channel.encoding,
                self._schemas[channel.type],
                {'role': channel.role},
            )
        )
        self._ids[channel.role, channel.topic] = number
        return number

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


def _trailer() -> bytes:
    """The end of a file without a summary: readers must scan the file."""
    records: Any = RecordBuilder()
    DataEnd(0).write(records)
    Footer(summary_start=0, summary_offset_start=0, summary_crc=0).write(records)
    return bytes(records.end() + MCAP0_MAGIC)


TRAILER = _trailer()
