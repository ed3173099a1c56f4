# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pictures that were looked at, by their hash: in memory only, for the requests of a model."""

from __future__ import annotations

from collections import OrderedDict
import hashlib
import threading
import time

from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import Json
from curiosity_rosa_demo.domain.pictures import Picture, PictureSource
from curiosity_rosa_demo.imaging.image_header import ImageError, picture_size

MAX_BYTES = 32_000_000  # of all kept pictures; the oldest go first
HASH_DIGITS = 32


class SeenPictures:
    """Facts about pictures for a skill, and their JPEGs for a model. Thread-safe. ``source`` None:
    there are no pictures.
    """

    def __init__(self, source: PictureSource | None = None) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._jpegs: OrderedDict[str, bytes] = OrderedDict()

    def see_camera(self, cancellation: Cancellation) -> Json | None:
        """The facts of the camera's picture of this moment: ``picture``, a reference with ID,
        SHA-256, pixels and bytes, and its age in seconds. None: there is none. Raises
        TurnCancelled.
        """
        picture = None if self._source is None else self._source.camera_picture(cancellation)
        if picture is None:
            return None
        return self._facts(f'camera {picture.at:.3f}', picture)

    def see_capture(self, cancellation: Cancellation, *, after_s: float = 0.0) -> Json | None:
        """The same of the newest capture, with its score. None: there is none that was received
        after ``after_s`` (steady seconds). Raises TurnCancelled.
        """
        capture = None if self._source is None else self._source.newest_capture(cancellation)
        if capture is None or capture.picture.received_s < after_s:
            return None
        facts = self._facts(f'capture {capture.event_id}', capture.picture)
        return facts and {**facts, 'score': capture.score, 'is_good': capture.is_good}

    def jpeg_of(self, sha256: str) -> bytes | None:
        """The JPEG as it was received; None: it is no longer kept."""
        with self._lock:
            return self._jpegs.get(sha256)

    def _facts(self, name: str, picture: Picture) -> Json | None:
        try:
            width, height = picture_size(picture.jpeg)
        except ImageError:
            return None
        sha256 = hashlib.sha256(picture.jpeg).hexdigest()[:HASH_DIGITS]
        with self._lock:
            self._jpegs[sha256] = picture.jpeg
            self._jpegs.move_to_end(sha256)
            while sum(map(len, self._jpegs.values())) > MAX_BYTES:
                self._jpegs.popitem(last=False)
        reference: Json = {
            'id': name,
            'sha256': sha256,
            'width': width,
            'height': height,
            'bytes': len(picture.jpeg),
        }
        age_s = max(0.0, time.monotonic() - picture.received_s)
        return {'picture': reference, 'age_s': round(age_s, 2)}
