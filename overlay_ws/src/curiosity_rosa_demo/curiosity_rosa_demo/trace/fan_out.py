# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One trace event to several listeners, none of which can hurt another one or what emits."""

from __future__ import annotations

from collections.abc import Callable
import logging

from curiosity_rosa_demo.domain.models import TraceEvent

_log = logging.getLogger('curiosity_rosa.trace')

Listener = Callable[[TraceEvent], None]


class TraceFanOut:
    """``failed`` gets the name of a listener that raised, and the error; from any thread. The
    listener stays: what failed for one event, such as a full disk, may work for the next.
    """

    def __init__(self, failed: Callable[[str, Exception], None]) -> None:
        self._failed = failed
        self._listeners: list[tuple[str, Listener]] = []

    def add(self, name: str, listener: Listener) -> None:
        """From now on; the listeners are called in the order in which they were added."""
        self._listeners.append((name, listener))

    def emit(self, event: TraceEvent) -> None:
        """From any thread, and in that thread."""
        for name, listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception as error:  # whatever it is, it is the listener's alone
                self._report(name, error)

    def _report(self, name: str, error: Exception) -> None:
        try:
            self._failed(name, error)
        except Exception:  # the report may fail for the same reason
            _log.exception('event=listener_failed name=%s', name)
