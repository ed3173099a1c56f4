# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The artifacts of a run in a folder: the last capture, the last analysis, and the trace."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.pictures import Capture, Picture
from curiosity_rosa_demo.trace.events import CaptureTaken, GroundAnalyzed


class Artifacts:
    """Writes capture.jpg, analysis.json and analysis.jpg, and names trace.jsonl, in ``folder``,
    which it makes. Raises OSError.

    ``capture_of`` waits for the capture of an event and its picture, ``analysis_of`` for the
    picture of an analysis; None: the event has none. ``fresh``: remove the files of an earlier
    run. A restarted agent keeps them.
    """

    def __init__(
        self,
        folder: str,
        capture_of: Callable[[TraceEvent], Capture | None],
        analysis_of: Callable[[TraceEvent], Picture | None],
        *,
        fresh: bool,
    ) -> None:
        self._capture_of, self._analysis_of = capture_of, analysis_of
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self.picture = self._folder / 'capture.jpg'
        self.analysis = self._folder / 'analysis.json'
        self.analysis_picture = self._folder / 'analysis.jpg'
        self.trace = self._folder / 'trace.jsonl'
        if fresh:
            written = (self.picture, self.analysis, self.analysis_picture)
            for stale in (*written, *self._folder.glob('trace.jsonl*')):
                stale.unlink(missing_ok=True)

    def record_event(self, event: TraceEvent) -> None:
        """Write the files of a successful capture or analysis, each atomically. Those of an
        earlier one are removed first, and an earlier analysis with its capture. Raises OSError.
        """
        if GroundAnalyzed.of(event):
            self._record_analysis(event)
            return
        taken = CaptureTaken.of(event)
        if taken is None or not taken.ok:
            return
        for stale in (self.picture, self.analysis, self.analysis_picture):
            stale.unlink(missing_ok=True)
        capture = self._capture_of(event)
        if capture is None:
            raise TimeoutError('the picture of the capture has not come')
        _write(self.picture, capture.picture.jpeg)

    def _record_analysis(self, event: TraceEvent) -> None:
        self.analysis_picture.unlink(missing_ok=True)
        text = json.dumps(event.data or {}, ensure_ascii=False, indent=1)
        _write(self.analysis, f'{text}\n'.encode())
        picture = self._analysis_of(event)
        if picture is None:
            raise TimeoutError('the picture of the analysis has not come')
        _write(self.analysis_picture, picture.jpeg)


def _write(file: Path, data: bytes) -> None:
    part = file.with_suffix('.part')
    try:
        part.write_bytes(data)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
