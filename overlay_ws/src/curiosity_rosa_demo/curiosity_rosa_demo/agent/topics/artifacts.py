# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The artifacts of a run in a folder: the picture of the last capture and the trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.pictures import Capture
from curiosity_rosa_demo.trace.events import CaptureTaken


class Artifacts:
    """Writes capture.jpg and names trace.jsonl in ``folder``, which it makes. Raises OSError.

    ``capture_of`` waits for the capture of an event and its picture; None: the event has none.
    ``fresh``: remove the files of an earlier run. A restarted agent keeps them.
    """

    def __init__(
        self, folder: str, capture_of: Callable[[TraceEvent], Capture | None], *, fresh: bool
    ) -> None:
        self._capture_of = capture_of
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self.picture = self._folder / 'capture.jpg'
        self.trace = self._folder / 'trace.jsonl'
        if fresh:
            for stale in (self.picture, *self._folder.glob('trace.jsonl*')):
                stale.unlink(missing_ok=True)

    def record_event(self, event: TraceEvent) -> None:
        """Write the picture of a successful capture, atomically. The picture of an earlier capture
        is removed first. Raises OSError.
        """
        taken = CaptureTaken.of(event)
        if taken is None or not taken.ok:
            return
        self.picture.unlink(missing_ok=True)
        capture = self._capture_of(event)
        if capture is None:
            raise TimeoutError('the picture of the capture has not come')
        part = self.picture.with_suffix('.part')
        try:
            part.write_bytes(capture.picture.jpeg)
            part.replace(self.picture)
        finally:
            part.unlink(missing_ok=True)
