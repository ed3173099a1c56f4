# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Joints that move on a straight line in joint space, as a trajectory of one point leads them."""

from __future__ import annotations

from dataclasses import dataclass

Angles = tuple[float, ...]  # radians


@dataclass(frozen=True)
class JointLine:
    """From ``start`` to ``target`` within ``duration_s``, then hold ``target``."""

    start: Angles
    target: Angles
    duration_s: float

    def at(self, seconds: float) -> Angles:
        """The joints ``seconds`` after the start."""
        part = 1.0 if self.duration_s <= 0.0 else min(1.0, max(0.0, seconds / self.duration_s))
        return tuple(a + (b - a) * part for a, b in zip(self.start, self.target, strict=True))
