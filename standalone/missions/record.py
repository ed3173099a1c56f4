# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The record of a mission: each line has a time, a source and a text. Its bytes are the trace."""

from __future__ import annotations

from collections.abc import Callable
import hashlib

MAX_LINE = 400  # characters


class Record:
    """``now`` returns the mission's time in seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.lines: list[str] = []

    def add(self, source: str, text: str) -> None:
        flat = text.replace('\n', ' | ')[:MAX_LINE]
        self.lines.append(f'{self._now():9.3f}  {source:<9} {flat}')

    @property
    def text(self) -> str:
        return '\n'.join(self.lines) + '\n'

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()
