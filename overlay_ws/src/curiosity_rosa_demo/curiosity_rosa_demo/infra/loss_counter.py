# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Counts lost messages, events and files by destination."""

from __future__ import annotations

from collections import Counter
import threading


class LossCounter:
    """Counts losses by destination, such as a topic or a file. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def count(self, destination: str, losses: int = 1) -> int:
        """Count ``losses`` for ``destination``; returns its total."""
        with self._lock:
            self._counts[destination] += losses
            return self._counts[destination]

    def counts(self) -> dict[str, int]:
        """Total losses by destination, in the order of each destination's first loss."""
        with self._lock:
            return dict(self._counts)
