# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The file in which a History outlives its agent."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from curiosity_rosa_demo.agent.interfaces.page.history import History, MAX_BYTES
from curiosity_rosa_demo.trace.json_lines import JsonLines

FILES = 2  # the file and the one before


class HistoryFile:
    """Use it from one thread at a time. Raises OSError when the file cannot be created."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = JsonLines(path, max_bytes=MAX_BYTES // FILES, max_files=FILES)

    def restore(self, history: History, now: float) -> None:
        """What cannot be read is left out; ``history`` counts its lines."""
        for path in (Path(f'{self._path}.1'), self._path):
            try:
                text = path.read_text(encoding='utf-8', errors='replace')
            except OSError:
                continue
            history.restore(filter(None, text.split('\n')), now)

    def append(self, lines: Iterable[str]) -> None:
        """Raises OSError; a later call may still write."""
        self._lines.append('\n'.join(lines).encode())

    def close(self) -> None:
        self._lines.close()
