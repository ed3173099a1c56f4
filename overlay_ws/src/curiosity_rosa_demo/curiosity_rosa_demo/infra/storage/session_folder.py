# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the page showed of a run, for the agent that runs next: trail and captures. Beside them
lie its trace, and what agent/interfaces/page/history.py writes.

Losing it costs no more than the sight of the past, so what cannot be read is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import json
import math
import os
from pathlib import Path
import time
from typing import Any

from curiosity_rosa_demo.domain.geometry import XY
from curiosity_rosa_demo.domain.models import RoverPose
from curiosity_rosa_demo.domain.pictures import (
    Capture,
    MAX_CAPTURES,
    MAX_KEPT_BYTES,
    MAX_PICTURE_BYTES,
    Picture,
)

MAX_PLACES = 2000
TRAIL_FILE, TRACE_FILE, VIEW_FILE = 'trail.json', 'trace.jsonl', 'view.jsonl'
MAX_TRACE_BYTES, TRACE_FILES = 4_000_000, 2


@dataclass(frozen=True)
class EarlierSession:
    trail: Sequence[XY] = ()  # the oldest first, as the captures
    captures: Sequence[Capture] = ()


class SessionFolder:
    """Use it from one thread. Each file is replaced as a whole."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def trace(self) -> Path:
        return self.path / TRACE_FILE

    @property
    def view(self) -> Path:
        return self.path / VIEW_FILE

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

    def save_trail(self, places: Sequence[XY]) -> None:
        """Raises OSError."""
        rounded = [(round(x, 3), round(y, 3)) for x, y in places[-MAX_PLACES:]]
        self._write(TRAIL_FILE, json.dumps(rounded).encode())

    def save_capture(self, capture: Capture) -> None:
        """Also removes the oldest beyond MAX_CAPTURES. Raises OSError."""
        name, pose = f'capture-{1000 * capture.picture.at:015.0f}', capture.pose
        about = {
            'event_id': capture.event_id,
            'at': capture.picture.at,
            'score': capture.score,
            'is_good': capture.is_good,
            'pose': None if pose is None else pose.model_dump(mode='json'),
        }
        self._write(f'{name}.jpg', capture.picture.jpeg)
        self._write(f'{name}.json', json.dumps(about).encode())
        for file in self._capture_files()[:-MAX_CAPTURES]:
            file.unlink(missing_ok=True)
            file.with_suffix('.jpg').unlink(missing_ok=True)

    def _capture_files(self) -> list[Path]:
        return sorted(self.path.glob('capture-*.json'))

    def _trail(self) -> list[XY]:
        try:
            found = json.loads(_content(self.path / TRAIL_FILE))
            return [_place(each) for each in found][-MAX_PLACES:]
        except (OSError, ValueError, TypeError, RecursionError):
            return []

    def _write(self, name: str, content: bytes) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        part = self.path / f'{name}.part'
        part.write_bytes(content)
        os.replace(part, self.path / name)


def _content(file: Path) -> bytes:
    """Raises OSError."""
    with file.open('rb') as opened:
        return opened.read(MAX_PICTURE_BYTES)


def _place(point: Any) -> XY:
    """Raises ValueError and TypeError."""
    x, y = (float(each) for each in point)
    if not (math.isfinite(x) and math.isfinite(y)):
        raise ValueError(point)
    return x, y


def _capture(file: Path) -> Capture | None:
    try:
        about = json.loads(_content(file))
        jpeg = _content(file.with_suffix('.jpg'))
        pose = about['pose']
        return Capture(
            str(about['event_id']),
            Picture(jpeg, float(about['at']), time.monotonic()),
            float(about['score']),
            bool(about['is_good']),
            None if pose is None else RoverPose.model_validate(pose),
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
