# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Poses of frames from /tf and /tf_static, without tf2_ros, which PyPI lacks. Pure.

Metres, seconds, quaternions (x, y, z, w). Leading slashes of frame names are dropped, in messages
and in lookups: the Curiosity demo publishes /odom and /base_footprint, which tf2 refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
import math
import threading
import time
from typing import Any

from curiosity_rosa_demo.domain.geometry import yaw
from curiosity_rosa_demo.domain.graph import FrameAge
from curiosity_rosa_demo.domain.models import RoverPose, Stamp
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.config.topics import TfTopics

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

# A stamp that is older by less than this is late and dropped; by more, the clock was reset.
LATE_S = 1.0
CLOCKS_APART_S = 60.0  # stamps that differ by more are of two clocks
MIN_NORM = 1e-6  # a shorter quaternion has no usable direction


class TransformUnavailable(Exception):
    """The message is ``TF unavailable: <world> -> <base>: <reason>``. ``apart_s``: between the
    stamps of a measurement and of the pose, if those are the reason.
    """

    def __init__(self, world: str, base: str, reason: str, apart_s: float = 0.0) -> None:
        why = RefusalCode.TF_UNAVAILABLE.text(world=world, base=base)
        super().__init__(f'{why}: {reason}')
        self.apart_s = apart_s


@dataclass(frozen=True)
class Transform:
    """Pose of a child frame in its parent frame. The rotation is a unit quaternion."""

    translation: Vector
    rotation: Quaternion

    def __matmul__(self, inner: Transform) -> Transform:
        """Compose: ``inner`` is a pose in this child frame; the result is in this parent frame."""
        (x, y, z), (dx, dy, dz) = self.translation, self.rotate(inner.translation)
        rotation = _unit(_product(self.rotation, inner.rotation))
        return Transform((x + dx, y + dy, z + dz), rotation)

    def inverse(self) -> Transform:
        back = Transform(ORIGIN, _conjugate(self.rotation))
        dx, dy, dz = back.rotate(self.translation)
        return Transform((-dx, -dy, -dz), back.rotation)

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
        heading = Transform(ORIGIN, (0.0, 0.0, math.sin(half), math.cos(half)))
        return heading @ Transform(ORIGIN, self.rotation)

    def rotate(self, vector: Vector) -> Vector:
        """A direction of the child frame in the parent frame."""
        turned = _product(self.rotation, (*vector, 0.0))
        x, y, z, _ = _product(turned, _conjugate(self.rotation))
        return x, y, z

    def differs(self, other: Transform, metres: float, radians: float) -> bool:
        """Whether it lies farther than ``metres`` from another pose, or is turned by more."""
        cosine = abs(sum(a * b for a, b in zip(self.rotation, other.rotation, strict=True)))
        turn = 2.0 * math.acos(min(1.0, cosine))
        return math.dist(self.translation, other.translation) > metres or turn > radians

    def is_finite(self) -> bool:
        return all(map(math.isfinite, (*self.translation, *self.rotation)))


ORIGIN = (0.0, 0.0, 0.0)
IDENTITY = Transform(ORIGIN, (0.0, 0.0, 0.0, 1.0))


def _product(a: Quaternion, b: Quaternion) -> Quaternion:
    """Hamilton product a b."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def _conjugate(q: Quaternion) -> Quaternion:
    return -q[0], -q[1], -q[2], q[3]


def _unit(q: Quaternion) -> Quaternion:
    norm = math.hypot(*q)
    x, y, z, w = (part / norm for part in q)
    return (x, y, z, w)


def frame_name(name: str) -> str:
    return name.lstrip('/')


def stamp_ns(message: Any) -> int:
    """Of a message with a header."""
    stamp = message.header.stamp
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


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


class TransformSource:
    """The current pose of one frame in another: the product of the newest transform of each link
    between them. ``on_link`` runs for each new transform, on the thread that receives it; it must
    not block. Thread-safe.

    A look-up does not wait for transforms. It raises TransformUnavailable when a frame is unknown
    or unconnected, a number in the chain is not finite, or the stamp of a moving link has not
    changed for ``tf.max_age_s``. The simulation's clock, which advances steadily, measures that
    age: stamps of any clock do.
    """

    def __init__(
        self,
        max_age_s: float,
        clock: Callable[[], float] = time.monotonic,
        on_link: Callable[[FrameLink], None] | None = None,
    ) -> None:
        self._max_age_s, self._clock, self._tell = max_age_s, clock, on_link
        self._links: dict[str, FrameLink] = {}  # by the child frame
        self._lock = threading.Lock()

    def receive(self, message: Any, *, static: bool) -> None:
        """Add a TFMessage of /tf or, with ``static``, of /tf_static. A transform with invalid
        frame names, a late stamp, or a repeated stamp and no fault is dropped.
        """
        with self._lock:
            for stamped in message.transforms:
                link = self._next_link(stamped, static=static)
                if link is not None:
                    self._links[link.child] = link
                    if self._tell is not None:
                        self._tell(link)

    def _next_link(self, stamped: Any, *, static: bool) -> FrameLink | None:
        """The link that a TransformStamped makes; None for one that is dropped."""
        parent, child = frame_name(stamped.header.frame_id), frame_name(stamped.child_frame_id)
        if not parent or not child or parent == child:
            return None
        known, at_ns, changed_s = self._links.get(child), stamp_ns(stamped), self._clock()
        transform, fault = _checked(stamped.transform)
        if known is not None and not static and not known.static:
            if 0 < known.stamp_ns - at_ns < LATE_S * 1e9:
                return None
            if at_ns == known.stamp_ns:
                if not fault and not known.fault:
                    return None  # the first transform for a stamp counts, as in tf2
                changed_s = known.changed_s  # a repeated stamp is no fresher
        return FrameLink(parent, child, transform, at_ns, changed_s, static, fault)

    def frames(self) -> list[FrameAge]:
        """All frames that were heard, and their ages by the clock of ``lookup``."""
        with self._lock:
            now_s = self._clock()
            return [
                FrameAge(each.parent, each.child, max(0.0, now_s - each.changed_s), each.static)
                for each in self._links.values()
            ]

    def moving_links(self, world: str, base: str) -> list[str]:
        """The names of the moving links between two frames. Raises like ``lookup``."""
        up, down = self._chain(world, base)
        return [link.name for link in (*down, *up) if not link.static]

    def lookup(self, world: str, base: str) -> RoverPose:
        """Pose of ``base`` in ``world``, in metres and radians. Raises TransformUnavailable."""
        transform, at_ns = self._newest(world, base)
        sec, nanosec = divmod(at_ns, 1_000_000_000)
        return RoverPose(
            x=transform.translation[0],
            y=transform.translation[1],
            yaw_rad=transform.yaw,
            frame_id=frame_name(world),
            stamp=Stamp(sec=sec, nanosec=nanosec),
        )

    def transform(self, world: str, base: str, *, at_ns: int) -> Transform:
        """The newest pose of ``base`` in ``world``, in all six dimensions.

        Raises like ``lookup``, and when the pose's stamp is further from ``at_ns``, the stamp of a
        measurement, than ``tf.max_age_s``.
        """
        if frame_name(world) == frame_name(base):
            return IDENTITY
        transform, pose_ns = self._newest(world, base)
        apart_s = abs(at_ns - pose_ns) / 1e9
        if pose_ns and apart_s > self._max_age_s:  # 0: the whole chain is static
            why = f'{apart_s:.1f} s from the measurement'
            raise TransformUnavailable(world, base, why, apart_s)
        return transform

    def _newest(self, world: str, base: str) -> tuple[Transform, int]:
        """The pose, and the stamp of its oldest moving link in ns; 0, as in tf2, without one."""
        up, down = self._chain(world, base)
        transform = _along(down).inverse() @ _along(up)
        if not transform.is_finite():
            raise TransformUnavailable(world, base, 'not finite')
        stamps = [link.stamp_ns for link in (*up, *down) if not link.static]
        return transform, min(stamps, default=0)

    def _chain(self, world: str, base: str) -> tuple[list[FrameLink], list[FrameLink]]:
        """Links from ``base`` up to the common ancestor, and from ``world`` up to it. Each moving
        link must be fresh: a pose is as old as its oldest link.
        """
        world, base = frame_name(world), frame_name(base)
        with self._lock:
            links, now_s = dict(self._links), self._clock()
        known = links.keys() | {link.parent for link in links.values()}
        for frame in (world, base):
            if frame not in known:
                why = f'{frame or "(empty name)"} was never seen'
                raise TransformUnavailable(world, base, why)
        above_base, above_world = _ancestors(links, base), _ancestors(links, world)
        common = next((frame for frame in above_base if frame in above_world), None)
        if common is None:
            ends = above_base[-1], above_world[-1]
            loops = [links[end].parent for end in ends if end in links]
            why = f'loop through {loops[0]}' if loops else 'the two frames are not connected'
            raise TransformUnavailable(world, base, why)
        up = [links[frame] for frame in above_base[: above_base.index(common)]]
        down = [links[frame] for frame in above_world[: above_world.index(common)]]
        for link in (*up, *down):
            age_s = 0.0 if link.static else now_s - link.changed_s
            is_late = age_s > self._max_age_s
            if why := link.fault or (f'no transform for {age_s:.1f} s' if is_late else ''):
                raise TransformUnavailable(world, base, f'{why} ({link.name})')
        return up, down


def level_pose(source: TransformSource, tf: TfTopics, frame: str, *, at_ns: int) -> Transform:
    """The newest pose of ``frame`` in the base frame turned level: at the base's origin, with its
    heading, z up. A suspension that holds the body nose up turns a scan's heights. A body that is
    nose down stands on a slope, and the ground falls with it: then, and where the world does not
    know the base, or a clock of its own stamps the scan, in the base frame as it is. Raises
    TransformUnavailable as ``transform`` does for the frame, and for a late scan.
    """
    pose = source.transform(tf.base_frame, frame, at_ns=at_ns)
    try:
        tilt = source.transform(tf.world_frame, tf.base_frame, at_ns=at_ns).tilt
    except TransformUnavailable as unknown:
        if 0.0 < unknown.apart_s <= CLOCKS_APART_S:
            raise
        return pose
    is_nose_down = tilt.rotate((1.0, 0.0, 0.0))[2] < 0.0
    return pose if is_nose_down else tilt @ pose


def _ancestors(links: dict[str, FrameLink], frame: str) -> list[str]:
    """The frame and its ancestors, up to one without a parent, or whose parent closes a loop."""
    path = [frame]
    while (link := links.get(path[-1])) is not None and link.parent not in path:
        path.append(link.parent)
    return path


def _along(links: list[FrameLink]) -> Transform:
    return reduce(lambda inner, link: link.transform @ inner, links, IDENTITY)


def _checked(received: Any) -> tuple[Transform, str]:
    """A geometry_msgs/Transform, and its fault."""
    move, turn = received.translation, received.rotation
    translation, rotation = (move.x, move.y, move.z), (turn.x, turn.y, turn.z, turn.w)
    if not all(map(math.isfinite, (*translation, *rotation))):
        return IDENTITY, 'not finite'
    norm = math.hypot(*rotation)
    if not MIN_NORM <= norm < math.inf:
        return IDENTITY, f'quaternion of length {norm:.3g}'
    return Transform(translation, _unit(rotation)), ''
