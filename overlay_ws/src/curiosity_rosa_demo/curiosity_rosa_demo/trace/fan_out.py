# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Passes each trace event to several listeners and isolates their failures."""

from __future__ import annotations

from collections.abc import Callable
import logging

from curiosity_rosa_demo.domain.models import TraceEvent

_log = logging.getLogger('curiosity_rosa.trace')

Listener = Callable[[TraceEvent], None]


class TraceFanOut:
    """Calls ``failed`` with the name of a listener that raised and its error, on the thread that
    emits. The listener stays: after a full disk, for example, the next event may succeed.
    """

    def __init__(self, failed: Callable[[str, Exception], None]) -> None:
        self._failed = failed
        self._listeners: list[tuple[str, Listener]] = []

    def add(self, name: str, listener: Listener) -> None:
        """Add a listener for later events. Listeners run in the order of their addition."""
        self._listeners.append((name, listener))

    def emit(self, event: TraceEvent) -> None:
        """Call every listener in the caller's thread. Thread-safe."""
        for name, listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception as error:  # isolate the other listeners and the caller
                self._report(name, error)

    def _report(self, name: str, error: Exception) -> None:
        try:
            self._failed(name, error)
        except Exception:  # the report may fail for the same reason
            _log.exception('event=listener_failed name=%s', name)
