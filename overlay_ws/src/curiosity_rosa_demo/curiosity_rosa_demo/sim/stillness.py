# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether the camera stood still when a frame was taken. Pure: the caller supplies the times.

The parts that carry the camera are the base and the joints between base and camera. A part stands
still when it has moved less than the still limits allow, up to its newest reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
import threading
from typing import Any

from curiosity_rosa_demo.infra.tf import FrameLink, LATE_S

STILL_S = 0.25  # over which the still limits count; shorter motions are seen as well
NS = 1_000_000_000


@dataclass(frozen=True)
class Instant:
    """``stamp_s``: of the message, 0.0: it has none. ``received_s``: steady."""

    stamp_s: float
    received_s: float

    def since(self, before: Instant) -> float:
        """Seconds by the stamps, or by the receipt where a stamp is missing."""
        if self.stamp_s and before.stamp_s:
            return self.stamp_s - before.stamp_s
        return self.received_s - before.received_s


@dataclass
class _Part:
    """``anchor``: the reading that the newer ones are compared with, from ``anchor_at``."""

    anchor: Any
    anchor_at: Instant
    moved_at: Instant
    seen_at: Instant


class Stillness:
    """Records the readings of parts. Thread-safe.

    ``still_mps``, ``still_radps``: slower counts as still. ``max_age_s``: steady seconds after
    which a silent part no longer counts; ``skew_s``: stamps of one clock may differ by so much
    more than their times of receipt do. Both change with the simulation's speed.
    """

    def __init__(
        self,
        *,
        still_mps: float,
        still_radps: float,
        max_age_s: Callable[[], float],
        skew_s: Callable[[], float],
    ) -> None:
        self._metres, self._radians = still_mps * STILL_S, still_radps * STILL_S
        self._max_age_s, self._skew_s = max_age_s, skew_s
        self._lock = threading.Lock()
        self._parts: dict[str, _Part] = {}

    def record_angle(self, joint: str, angle: float, at: Instant) -> None:
        """A reading of a joint, in radians; one that is not a number counts as moving."""
        self._record(joint, angle, at, lambda a, b: not abs(a - b) <= self._radians)

    def record_link(self, link: FrameLink, received_s: float) -> None:
        """A transform of a moving link; its part is named ``<parent> -> <child>``."""
        if link.static:
            return
        at = Instant(link.stamp_ns / NS, received_s)
        self._record(
            link.name,
            link.transform,
            at,
            lambda a, b: bool(link.fault) or a.differs(b, self._metres, self._radians),
        )

    def moving(self, parts: Iterable[str], frame: Instant, now_s: float) -> str:
        """The first of ``parts`` that was not still when the frame was taken; '': all stood still.

        A part that was never heard of, or is silent, does not count. A frame must be newer than a
        part's last motion, by receipt and, where both have stamps of one clock, by stamp. And the
        part must have been read after the frame, in the same way.
        """
        max_age_s, skew_s = self._max_age_s(), self._skew_s()
        with self._lock:
            for name in parts:
                part = self._parts.get(name)
                if part is None or now_s - part.seen_at.received_s > max_age_s:
                    continue
                if not _was_still(part, frame, skew_s):
                    return name
        return ''

    def _record(
        self, name: str, value: Any, at: Instant, differs: Callable[[Any, Any], bool]
    ) -> None:
        with self._lock:
            part = self._parts.get(name)
            since = 0.0 if part is None else at.since(part.seen_at)
            if part is None or since < -LATE_S:  # the first one, or a restarted clock
                self._parts[name] = _Part(value, at, at, at)
                return
            if since < 0.0:
                return
            part.seen_at = at
            if differs(value, part.anchor):
                part.anchor, part.anchor_at, part.moved_at = value, at, at
            elif at.since(part.anchor_at) >= STILL_S:
                part.anchor, part.anchor_at = value, at


def _was_still(part: _Part, frame: Instant, skew_s: float) -> bool:
    moved, seen = part.moved_at, part.seen_at
    if seen.since(moved) < STILL_S:
        return False
    apart_s = (frame.stamp_s - seen.stamp_s) - (frame.received_s - seen.received_s)
    one_clock = bool(frame.stamp_s and seen.stamp_s) and abs(apart_s) <= skew_s
    if one_clock and frame.stamp_s <= moved.stamp_s:
        return False
    read_later = seen.received_s >= frame.received_s
    if one_clock:
        read_later = read_later or seen.stamp_s >= frame.stamp_s
    return frame.received_s > moved.received_s and read_later
