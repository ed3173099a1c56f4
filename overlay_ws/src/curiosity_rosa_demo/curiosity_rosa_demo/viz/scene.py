# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The scene to draw: the rover's pose and trail, the last trace events, the last capture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent
from curiosity_rosa_demo.trace.events import CaptureTaken

VISIBLE_STEP_M = 0.01  # metres or radians; a smaller change is not visible


@dataclass(frozen=True)
class Capture:
    """The result of a capture_and_score. ``score`` is None when it failed, with ``reason``."""

    score: float | None
    is_good: bool
    reason: str = ''


@dataclass(frozen=True)
class Scene:
    """One moment. ``pose`` is None while TF is unavailable. Events are oldest first."""

    pose: RoverPose | None = None
    trail: Sequence[tuple[float, float]] = ()
    events: Sequence[TraceEvent] = ()
    capture: Capture | None = None


def capture_in(event: TraceEvent, score_threshold: float) -> Capture | None:
    """The capture that ``event`` reports, or None."""
    taken = CaptureTaken.of(event)
    if taken is None:
        return None
    if taken.ok is False:
        return Capture(None, False, taken.error_reason or event.message)
    if taken.score is None or not 0.0 <= taken.score <= 1.0:
        return None
    return Capture(taken.score, taken.is_good(score_threshold))


def has_visibly_moved(before: RoverPose | None, now: RoverPose | None) -> bool:
    """Whether the two poses differ by more than VISIBLE_STEP_M, or only one is known."""
    if before is None or now is None:
        return before is not now
    steps = (now.x - before.x, now.y - before.y, now.yaw_rad - before.yaw_rad)
    return any(abs(step) > VISIBLE_STEP_M for step in steps)
