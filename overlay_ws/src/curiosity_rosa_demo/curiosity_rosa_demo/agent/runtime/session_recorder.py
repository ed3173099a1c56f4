# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Saves the trail and the captures of this run, for the page of the agent that runs next."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from curiosity_rosa_demo.domain.geometry import XY
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.pictures import Capture
from curiosity_rosa_demo.infra.storage.session_folder import SessionFolder
from curiosity_rosa_demo.trace.events import CaptureTaken


class SessionRecorder:
    """``capture_of`` waits for the picture of an event's capture; None: none came."""

    def __init__(
        self,
        folder: SessionFolder,
        trail: Callable[[], Sequence[XY]],
        capture_of: Callable[[TraceEvent], Capture | None],
    ) -> None:
        self._folder, self._trail, self._capture_of = folder, trail, capture_of
        self._saved: Sequence[XY] = trail()

    def record_event(self, event: TraceEvent) -> None:
        """Save what is new since the last event. Raises OSError."""
        trail = self._trail()
        if trail != self._saved:
            self._folder.save_trail(trail)
            self._saved = trail
        taken = CaptureTaken.of(event)
        if taken is not None and taken.ok and (capture := self._capture_of(event)) is not None:
            self._folder.save_capture(capture)
