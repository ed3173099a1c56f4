# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The trail and the captures of this run in a folder, for the page of the agent that runs next.

The folder also has the logs of the trace and of the page. What cannot be read is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
import time

from curiosity_rosa_demo.domain.geometry import XY
from curiosity_rosa_demo.domain.models import Model, RoverPose, TraceEvent
from curiosity_rosa_demo.domain.pictures import (
    Capture,
    MAX_CAPTURES,
    MAX_KEPT_BYTES,
    MAX_PICTURE_BYTES,
    Picture,
)
from curiosity_rosa_demo.domain.serde import from_json, SerdeError, to_json
from curiosity_rosa_demo.infra.files import replace_file
from curiosity_rosa_demo.trace.events import CaptureTaken
from pydantic import FiniteFloat, TypeAdapter, ValidationError

MAX_PLACES = 2000
TRAIL_FILE = 'trail.json'
MAX_TRACE_BYTES, TRACE_FILES = 4_000_000, 2
_TRAIL = TypeAdapter(list[tuple[FiniteFloat, FiniteFloat]])


class _About(Model):
    """A capture's file, beside that of its picture."""

    event_id: str
    at: float
    score: float
    is_good: bool
    pose: RoverPose | None


@dataclass(frozen=True)
class EarlierSession:
    trail: Sequence[XY] = ()  # the oldest first, as the captures
    captures: Sequence[Capture] = ()


class SessionFolder:
    """Use it from one thread. Each file is replaced as a whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trace, self.view = path / 'trace.jsonl', path / 'view.jsonl'
        self._saved: Sequence[XY] = ()

    def load(self) -> EarlierSession:
        """What was saved last, of the pictures the newest MAX_KEPT_BYTES."""
        captures, room = list[Capture](), MAX_KEPT_BYTES
        for file in reversed(self._capture_files()):
            capture = _capture(file)
            room -= 0 if capture is None else len(capture.picture.jpeg)
            if room < 0:
                break
            captures += [] if capture is None else [capture]
        return EarlierSession(self._trail(), captures[::-1])

    def record_event(
        self,
        event: TraceEvent,
        *,
        trail: Callable[[], Sequence[XY]],
        capture_of: Callable[[TraceEvent], Capture | None],
    ) -> None:
        """Save what is new since the last event. ``capture_of`` waits for the picture of an
        event's capture; None: none came. Raises OSError.
        """
        if (places := trail()) != self._saved:
            self.save_trail(places)
            self._saved = places
        taken = CaptureTaken.of(event)
        if taken is not None and taken.ok and (capture := capture_of(event)) is not None:
            self.save_capture(capture)

    def save_trail(self, places: Sequence[XY]) -> None:
        """Raises OSError."""
        rounded = [(round(x, 3), round(y, 3)) for x, y in places[-MAX_PLACES:]]
        self._write(TRAIL_FILE, _TRAIL.dump_json(rounded))

    def save_capture(self, capture: Capture) -> None:
        """Also removes those saved first beyond MAX_CAPTURES. Raises OSError."""
        picture, last = capture.picture, max(map(_number, self._capture_files()), default=0)
        name = f'capture-{last + 1:015}'  # not its time: the clock may be set back
        about = _About(
            event_id=capture.event_id,
            at=picture.at,
            score=capture.score,
            is_good=capture.is_good,
            pose=capture.pose,
        )
        self._write(f'{name}.jpg', picture.jpeg)
        self._write(f'{name}.json', to_json(about).encode())
        for file in self._capture_files()[:-MAX_CAPTURES]:
            file.unlink(missing_ok=True)
            file.with_suffix('.jpg').unlink(missing_ok=True)

    def _capture_files(self) -> list[Path]:
        return sorted(self.path.glob('capture-*.json'))

    def _trail(self) -> Sequence[XY]:
        try:
            return _TRAIL.validate_json(_content(self.path / TRAIL_FILE))[-MAX_PLACES:]
        except (OSError, ValidationError):
            return []

    def _write(self, name: str, content: bytes) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        replace_file(self.path / name, content)


def _number(capture: Path) -> int:
    digits = capture.stem.removeprefix('capture-')
    return int(digits) if digits.isdecimal() else 0


def _content(file: Path) -> bytes:
    """Raises OSError."""
    with file.open('rb') as opened:
        return opened.read(MAX_PICTURE_BYTES)


def _capture(file: Path) -> Capture | None:
    try:
        about, jpeg = from_json(_About, _content(file)), _content(file.with_suffix('.jpg'))
    except (OSError, SerdeError):
        return None
    picture = Picture(jpeg, about.at, time.monotonic())
    return Capture(about.event_id, picture, about.score, about.is_good, about.pose)
