# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Limits of a recording: a reader refuses a file beyond them, and our recorder stays below them.

A compressed chunk of 100 kB may hold gigabytes, so each size is checked before its memory is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MB = 1_000_000


class NotARecording(Exception):
    """The file is not a recording. The message names the file."""


class RecordingTooLarge(NotARecording):
    """The file exceeds a limit. The message names file, value, limit and the way out."""

    def __init__(self, path: Path, what: str, limit: str) -> None:
        super().__init__(
            f'{path}: {what}, more than the limit of {limit}. No recording of this agent is like '
            f'that; make a smaller file with "mcap filter" or "ros2 bag convert"'
        )


@dataclass(frozen=True)
class ReadLimits:
    """Sizes are in bytes. Our own chunks hold 4 MiB and at most one message more."""

    record: int = 32 * MB  # in the file, compressed; of records that are not skipped
    chunk: int = 32 * MB  # decompressed
    message: int = 16 * MB
    definitions: int = 4 * MB  # of all schemas and channels together, and of one metadata record
    messages: int = 20_000_000
    total: int = 32_000 * MB  # decompressed, of the whole file


LIMITS = ReadLimits()
