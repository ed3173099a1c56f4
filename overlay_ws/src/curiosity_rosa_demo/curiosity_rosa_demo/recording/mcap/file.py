# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One MCAP file that is whole after each flush, so that a killed writer leaves nothing to mend.

An MCAP file ends in a footer, and readers refuse one without. So a footer stands behind what has
been written so far, and what comes next is written over it, with the next footer behind.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.recording.mcap.channels import CDR, Channel
from mcap.data_stream import RecordBuilder
from mcap.records import DataEnd, Footer
from mcap.well_known import SchemaEncoding
from mcap.writer import CompressionType, MCAP0_MAGIC, Writer

INFO_RECORD = 'curiosity_rosa'  # name of the metadata about the run
END_RECORD = 'curiosity_rosa_end'  # ... and about its end; missing where the writer was killed


class RunFile:
    """Makes ``path``, which must not be there yet, and its folder. Every method may raise
    OSError; after one the file ends, whole, with the last flush.
    """

    def __init__(
        self, path: Path, info: dict[str, str], *, compression: str = CompressionType.ZSTD.name
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.messages = 0
        self._tail = _Tail(path)
        # Chunks end with a flush, and before they are so large that a reader feels it.
        self._writer: Any = Writer(  # not everything of it is typed
            self._tail,  # type: ignore[arg-type]
            chunk_size=4 * 1024 * 1024,
            compression=CompressionType[compression],
        )
        self._ids: dict[tuple[str, str], int] = {}  # of channels, by role and topic
        self._schemas: dict[str, int] = {}
        self._writer.start(profile='ros2', library='curiosity_rosa')
        self._writer.add_metadata(INFO_RECORD, info)
        self.flush()

    @property
    def size(self) -> int:
        """Bytes in the file, without what waits for the next flush."""
        return self._tail.size

    def write(self, channel: Channel, data: bytes, at_ns: int) -> None:
        """``at_ns``: when it came, nanoseconds since the epoch."""
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
        """Everything so far into the file."""
        self._writer.flush()

    def finish(self, end: dict[str, str]) -> None:
        """Write the index that quick readers want, and close."""
        try:
            self._writer.add_metadata(END_RECORD, end)
            self._writer.finish()
            self._tail.commit(b'')
        finally:
            self.close()

    def close(self) -> None:
        """Close it as it is after the last flush."""
        self._tail.close()


class _Tail:
    """What an MCAP writer writes to: it stays here until the flush, which puts it into the file
    with a footer behind it, in one write.
    """

    def __init__(self, path: Path) -> None:
        self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        self._waiting: list[bytes] = []
        self._waits = 0  # bytes
        self._end = 0  # of what is in the file, without the footer
        self.size = 0  # of the file

    def write(self, data: bytes) -> int:
        self._waiting.append(data)
        self._waits += len(data)
        return len(data)

    def tell(self) -> int:
        return self._end + self._waits

    def flush(self) -> None:
        if self._waits:
            self.commit(TRAILER)

    def commit(self, trailer: bytes) -> None:
        if self._file is None:
            raise OSError('the recording is closed')
        data = b''.join([*self._waiting, trailer])
        try:
            done = 0
            while done < len(data):
                done += os.pwrite(self._file, memoryview(data)[done:], self._end + done)
            os.fdatasync(self._file)
        except OSError:  # such as a full disk: back to the last whole file
            with contextlib.suppress(OSError):
                os.pwrite(self._file, TRAILER, self._end)
                os.ftruncate(self._file, self._end + len(TRAILER))
            raise
        self._end += self._waits
        self.size = self._end + len(trailer)
        self._waiting.clear()
        self._waits = 0

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _trailer() -> bytes:
    """The end of a file without a summary: readers go through it from the start."""
    records: Any = RecordBuilder()
    DataEnd(0).write(records)
    Footer(summary_start=0, summary_offset_start=0, summary_crc=0).write(records)
    return bytes(records.end() + MCAP0_MAGIC)


TRAILER = _trailer()
