# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""A robot as links and joints: what a URDF says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Vector = tuple[float, float, float]
Floats = NDArray[np.float64]
ZERO: Vector = (0.0, 0.0, 0.0)
FREE = (-math.inf, math.inf)
GREY: Vector = (0.55, 0.54, 0.52)


@dataclass(frozen=True)
class Place:
    """A frame in its parent: metres, and fixed-axis roll, pitch, yaw in radians (URDF)."""

    xyz: Vector = ZERO
    rpy: Vector = ZERO

    @property
    def quaternion(self) -> tuple[float, float, float, float]:
        """As w, x, y, z."""
        (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a / 2), math.sin(a / 2)) for a in self.rpy)
        return (
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        )


@dataclass(frozen=True)
class Mesh:
    """Triangles of one colour: ``vertices`` (n, 3) in metres, ``faces`` (m, 3), ``rgb`` 0 to 1."""

    vertices: Floats
    faces: NDArray[np.int32]
    rgb: Vector


@dataclass(frozen=True)
class Shape:
    """``kind`` is box (``size``: its edges), cylinder (its radius, length) or mesh (``file``)."""

    kind: str
    size: tuple[float, ...] = ()
    place: Place = field(default_factory=Place)
    file: Path | None = None
    rgb: Vector = GREY


@dataclass(frozen=True)
class Link:
    """``mass`` in kg and ``inertia``, the principal moments in kg m2 about the link's origin."""

    name: str
    mass: float = 0.0
    inertia: Vector = ZERO
    collisions: tuple[Shape, ...] = ()
    visuals: tuple[Shape, ...] = ()


@dataclass(frozen=True)
class Joint:
    """``moves``: turns about ``axis`` within ``limits`` in radians; otherwise fixed."""

    name: str
    parent: str
    child: str
    place: Place = field(default_factory=Place)
    moves: bool = False
    axis: Vector = (1.0, 0.0, 0.0)
    limits: tuple[float, float] = FREE
    damping: float = 0.0
    friction: float = 0.0


@dataclass(frozen=True)
class Robot:
    """A tree of links from ``root``. ``origin`` names it to people."""

    origin: str
    root: str
    links: Mapping[str, Link]
    joints: tuple[Joint, ...]
    meshes: Mapping[Path, tuple[Mesh, ...]] = field(default_factory=dict)

    def children(self, parent: str) -> list[Joint]:
        return [joint for joint in self.joints if joint.parent == parent]
