# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Pictures of the rover's camera: as received, and as captured and scored; and their source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.ground import GroundAnalysis
from curiosity_rosa_demo.domain.models import RoverPose

WHOLE = 2**31  # pixels: a side that no picture has
MAX_CAPTURES = 50  # kept of a run
MAX_PICTURE_BYTES = 8_000_000  # of one picture; a larger one is not kept
MAX_KEPT_BYTES = 64_000_000  # of all captures; the oldest go first


@dataclass(frozen=True)
class Picture:
    """A received JPEG. ``at`` is in seconds since the epoch, ``received_s`` in steady seconds."""

    jpeg: bytes
    at: float
    received_s: float


@dataclass(frozen=True)
class Capture:
    """A captured and scored picture with the rover's pose. ``event_id`` names its trace event."""

    event_id: str
    picture: Picture
    score: float
    is_good: bool
    pose: RoverPose | None


@dataclass(frozen=True)
class AnalyzedGround:
    """An analysis of the ground with its annotated picture; None: it has not arrived. ``at`` is in
    seconds since the epoch. ``event_id`` names its trace event.
    """

    event_id: str
    at: float
    analysis: GroundAnalysis
    picture: Picture | None


class PictureSource(Protocol):
    """Where pictures come from. Thread-safe; the calls block for some seconds at most, and raise
    TurnCancelled.
    """

    def camera_picture(self, cancellation: Cancellation) -> Picture | None:
        """The camera's picture of this moment; None: none came in time."""

    def newest_capture(self, cancellation: Cancellation) -> Capture | None:
        """The newest capture. Waits for the picture of one that has just been taken."""
