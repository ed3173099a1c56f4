# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Read the messages of a recording in file order. From a torn file, read all intact records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.recording.mcap.file import (
    END_RECORD,
    INFO_RECORD,
    LIMITS,
    NotARecording,
    ReadLimits,
    RecordingTooLarge,
)
from curiosity_rosa_demo.recording.mcap.records import check_magic, HEAD, RecordStream
from mcap.exceptions import InvalidMagic
from mcap.opcode import Opcode
from mcap.records import Channel as McapChannel
from mcap.records import Chunk, Message, Metadata, Schema
from mcap_ros2.decoder import DecoderFactory


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
            try:
                check_magic(file)
            except InvalidMagic:
                raise NotARecording(f'{self.path} is no MCAP file') from None
            if len(head := file.read(HEAD.size)) < HEAD.size or head[0] != Opcode.HEADER:
                raise NotARecording(f'{self.path} holds no recording: it has no header')

    def __iter__(self) -> Iterator[Entry]:
        schemas: dict[int, Schema] = {}
        channels: dict[int, McapChannel] = {}
        for record in self._records(chunks=False):
            if isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, McapChannel):
                channels[record.id] = record
            elif isinstance(record, Metadata):
                self._read_record(record)
            elif isinstance(record, Message) and record.channel_id in channels:
                yield _entry(record, channels[record.channel_id], schemas)

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

    def _read_record(self, record: Metadata) -> None:
        if record.name == INFO_RECORD:
            self.info = dict(record.metadata)
        elif record.name == END_RECORD:
            self.end = dict(record.metadata)

    def _records(self, *, chunks: bool) -> Iterator[Any]:
        self.end_problem = ''
        records = iter(RecordStream(self.path, self._limits, chunks=chunks))
        while True:
            try:
                record = next(records)
            except StopIteration:
                return
            except (OSError, RecordingTooLarge):
                raise
            except Exception as error:  # the libraries raise many types for a torn record
                self.end_problem = f'{type(error).__name__} {error}'.strip()
                return
            yield record


class Decoder:
    """Decodes CDR to objects with the fields of the message. Needs only the file, not ROS."""

    def __init__(self) -> None:
        self._factory = DecoderFactory()
        self._known: dict[int, Callable[[bytes], Any] | None] = {}

    def decode(self, entry: Entry) -> Any:
        """Decode the message; None if that fails."""
        if entry.schema is None:
            return None
        try:
            if entry.schema.id not in self._known:
                self._known[entry.schema.id] = self._factory.decoder_for(
                    entry.encoding, entry.schema
                )
            decode = self._known[entry.schema.id]
            return None if decode is None else decode(entry.data)
        except Exception:  # the data does not match the definition
            return None


def _entry(message: Message, channel: McapChannel, schemas: dict[int, Schema]) -> Entry:
    schema = schemas.get(channel.schema_id)
    return Entry(
        role=channel.metadata.get('role', ''),
        topic=channel.topic,
        type=schema.name if schema else '',
        encoding=channel.message_encoding,
        at_ns=message.log_time,
        data=message.data,
        schema=schema,
    )
