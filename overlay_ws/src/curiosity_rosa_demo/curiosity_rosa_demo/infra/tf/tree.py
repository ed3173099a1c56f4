# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A tree of frames: composition, lookup in either direction, and age of transforms.

Pure: the caller supplies stamps and steady time. Metres, seconds, quaternions (x, y, z, w).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import math

from curiosity_rosa_demo.domain.geometry import yaw
from curiosity_rosa_demo.domain.models import tf_unavailable

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

# A stamp that is older by less than this is late and dropped; by more, the clock was reset.
LATE_S = 1.0
MIN_NORM = 1e-6  # a shorter quaternion has no usable direction


class TransformUnavailable(Exception):
    """The message is ``TF unavailable: <world> -> <base>: <reason>``."""

    def __init__(self, world: str, base: str, reason: str) -> None:
        super().__init__(f'{tf_unavailable(world, base)}: {reason}')


@dataclass(frozen=True)
class Transform:
    """Pose of a child frame in its parent frame. The rotation is a unit quaternion."""

    translation: Vector
    rotation: Quaternion

    def __matmul__(self, inner: Transform) -> Transform:
        """Compose: ``inner`` is a pose in this child frame; the result is in this parent frame."""
        moved = _rotated(self.rotation, inner.translation)
        x, y, z = (a + b for a, b in zip(self.translation, moved, strict=True))
        return Transform((x, y, z), _product(self.rotation, inner.rotation))

    def inverse(self) -> Transform:
        x, y, z, w = self.rotation
        back = (-x, -y, -z, w)
        dx, dy, dz = _rotated(back, self.translation)
        return Transform((-dx, -dy, -dz), back)

    @property
    def yaw(self) -> float:
        """Radians about +Z, REP 103: the Z angle of the Z-Y-X Euler angles."""
        return yaw(*self.rotation)

    @property
    def tilt(self) -> Transform:
        """Roll and pitch alone: from this child frame to one at the same place with the same
        heading, whose z points up.
        """
        half = -self.yaw / 2.0
        heading = (0.0, 0.0, math.sin(half), math.cos(half))
        return Transform((0.0, 0.0, 0.0), _product(heading, self.rotation))

    def rotate(self, vector: Vector) -> Vector:
        """A direction of the child frame in the parent frame."""
        return _rotated(self.rotation, vector)

    def differs(self, other: Transform, metres: float, radians: float) -> bool:
        """Whether it lies farther than ``metres`` from another pose, or is turned by more."""
        cosine = abs(sum(a * b for a, b in zip(self.rotation, other.rotation, strict=True)))
        turn = 2.0 * math.acos(min(1.0, cosine))
        return math.dist(self.translation, other.translation) > metres or turn > radians

    def is_finite(self) -> bool:
        return all(map(math.isfinite, (*self.translation, *self.rotation)))


IDENTITY = Transform((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


def _product(a: Quaternion, b: Quaternion) -> Quaternion:
    """Hamilton product a b, normalized."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return _unit(
        (
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        )
    )


def _rotated(q: Quaternion, v: Vector) -> Vector:
    """v rotated by q: v + 2 w (u x v) + 2 u x (u x v), where u is the vector part of q."""
    x, y, z, w = q
    tx = 2.0 * (y * v[2] - z * v[1])
    ty = 2.0 * (z * v[0] - x * v[2])
    tz = 2.0 * (x * v[1] - y * v[0])
    return (
        v[0] + w * tx + y * tz - z * ty,
        v[1] + w * ty + z * tx - x * tz,
        v[2] + w * tz + x * ty - y * tx,
    )


def _unit(q: Quaternion) -> Quaternion:
    norm = math.hypot(*q)
    x, y, z, w = (part / norm for part in q)
    return (x, y, z, w)


def frame_name(name: str) -> str:
    """The name without leading slashes, as in tf2: the Curiosity demo publishes /odom."""
    return name.lstrip('/')


@dataclass(frozen=True)
class FrameLink:
    """The newest transform of a child frame. ``changed_s``: steady time of its last new stamp.
    ``fault``: why the transform is invalid; empty: it is valid.
    """

    parent: str
    child: str
    transform: Transform
    stamp_ns: int
    changed_s: float
    static: bool
    fault: str = ''

    @property
    def name(self) -> str:
        return f'{self.parent} -> {self.child}'


class FrameTree:
    """The newest transform of each child frame. Not thread-safe."""

    def __init__(self, max_age_s: float) -> None:
        if not max_age_s > 0.0:
            raise ValueError(f'max_age_s must be greater than 0, not {max_age_s}')
        self._max_age_s = max_age_s
        self._links: dict[str, FrameLink] = {}

    def __iter__(self) -> Iterator[FrameLink]:
        return iter(self._links.values())

    def update(
        self,
        parent: str,
        child: str,
        translation: Vector,
        rotation: Quaternion,
        *,
        stamp_ns: int,
        now_s: float,
        static: bool,
    ) -> FrameLink | None:
        """Store a transform as received. Returns the new link, or None if it was dropped: invalid
        frame names, a late stamp, or a repeated stamp without a fault.
        """
        parent, child = frame_name(parent), frame_name(child)
        if not parent or not child or parent == child:
            return None
        known = self._links.get(child)
        changed_s = now_s
        transform, fault = _checked(translation, rotation)
        if known is not None and not static and not known.static:
            if 0 < known.stamp_ns - stamp_ns < LATE_S * 1e9:
                return None
            if stamp_ns == known.stamp_ns:
                if not fault and not known.fault:
                    return None  # the first transform for a stamp counts, as in tf2
                changed_s = known.changed_s  # a repeated stamp is no fresher
        link = FrameLink(parent, child, transform, stamp_ns, changed_s, static, fault)
        self._links[child] = link
        return link

    def chain(
        self, world: str, base: str, now_s: float
    ) -> tuple[list[FrameLink], list[FrameLink]]:
        """Links from ``base`` up to the common ancestor, and from ``world`` up to it.

        Raises TransformUnavailable for an unknown frame, no connection, a loop, an invalid link or
        a stale one. Each moving link must be fresh: a pose is as old as its oldest link.
        """
        world, base = frame_name(world), frame_name(base)
        known = self._links.keys() | {link.parent for link in self._links.values()}
        for frame in (world, base):
            if frame not in known:
                raise TransformUnavailable(
                    world, base, f'{frame or "(empty name)"} was never seen'
                )
        above_base, loop_b = self._ancestors(base)
        above_world, loop_w = self._ancestors(world)
        common = next((frame for frame in above_base if frame in above_world), None)
        if common is None:
            loop = loop_b or loop_w
            why = f'loop through {loop}' if loop else 'the two frames are not connected'
            raise TransformUnavailable(world, base, why)
        up = [self._links[frame] for frame in above_base[: above_base.index(common)]]
        down = [self._links[frame] for frame in above_world[: above_world.index(common)]]
        for link in (*up, *down):
            if link.fault:
                raise TransformUnavailable(world, base, f'{link.fault} ({link.name})')
        for link in (*up, *down):
            age_s = now_s - link.changed_s
            if not link.static and age_s > self._max_age_s:
                why = f'no transform for {age_s:.1f} s ({link.name})'
                raise TransformUnavailable(world, base, why)
        return up, down

    def _ancestors(self, frame: str) -> tuple[list[str], str]:
        """The frame and its ancestors, and the frame at which a loop closes, or ''."""
        path = [frame]
        seen = {frame}
        while (link := self._links.get(path[-1])) is not None:
            if link.parent in seen:
                return path, link.parent
            path.append(link.parent)
            seen.add(link.parent)
        return path, ''


def composed(up: list[FrameLink], down: list[FrameLink]) -> tuple[Transform, int]:
    """Pose of the chain's base in its world, and the stamp of its oldest moving link in ns."""
    return _product_of(down).inverse() @ _product_of(up), oldest_stamp_ns(up, down)


def oldest_stamp_ns(up: list[FrameLink], down: list[FrameLink]) -> int:
    """Stamp of the oldest moving link in ns; 0, as in tf2, when the whole chain is static."""
    return min((link.stamp_ns for link in (*up, *down) if not link.static), default=0)


def _product_of(links: list[FrameLink]) -> Transform:
    result = IDENTITY
    for link in links:
        result = link.transform @ result
    return result


def _checked(translation: Vector, rotation: Quaternion) -> tuple[Transform, str]:
    if not all(map(math.isfinite, (*translation, *rotation))):
        return IDENTITY, 'not finite'
    norm = math.hypot(*rotation)
    if not MIN_NORM <= norm < math.inf:
        return IDENTITY, f'quaternion of length {norm:.3g}'
    return Transform(translation, _unit(rotation)), ''
