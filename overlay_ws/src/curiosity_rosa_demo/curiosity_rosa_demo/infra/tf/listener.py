# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Look up the pose of a frame from /tf and /tf_static, with tf2_ros where it is installed.

Leading slashes of frame names are dropped, in messages and in lookups: the Curiosity demo
publishes /odom and /base_footprint, which tf2 refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import importlib.util
import threading
import time
from typing import Any, Protocol

from curiosity_rosa_demo.domain.graph import FrameAge
from curiosity_rosa_demo.domain.models import RoverPose, Stamp
from curiosity_rosa_demo.infra.clocks import SimulationClock
from curiosity_rosa_demo.infra.config.topics import Config, TfTopics
from curiosity_rosa_demo.infra.tf.tree import (
    composed,
    frame_name,
    FrameLink,
    FrameTree,
    IDENTITY,
    Transform,
    TransformUnavailable,
)
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from tf2_msgs.msg import TFMessage

__all__ = [
    'ADAPTERS',
    'ComposedTransforms',
    'Tf2Transforms',
    'TransformSource',
    'TransformUnavailable',
    'make_transform_source',
]

# The profiles of tf2_ros: a publisher that matches its listeners also matches this one.
TF_QOS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=100, reliability=ReliabilityPolicy.RELIABLE
)
TF_STATIC_QOS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


class TransformSource(Protocol):
    """Port: the current pose of one frame in another."""

    def lookup(self, world: str, base: str) -> RoverPose:
        """Pose of ``base`` in ``world``, in metres and radians. Thread-safe; does not wait for
        transforms.

        Raises TransformUnavailable when a frame is unknown or unconnected, a number in the chain
        is not finite, or the stamp of a moving link has not changed for ``tf.max_age_s``. The
        simulation's clock, which advances steadily, measures that age: stamps of any clock do.
        """
        ...

    def transform(self, world: str, base: str, *, at_ns: int) -> Transform:
        """The newest pose of ``base`` in ``world``, in all six dimensions. Thread-safe.

        Raises TransformUnavailable like ``lookup``, and when the pose's stamp is further from
        ``at_ns``, the stamp of a measurement, than ``tf.max_age_s``.
        """
        ...

    def moving_links(self, world: str, base: str) -> list[str]:
        """The names of the links between two frames that are not static. Thread-safe.

        Raises TransformUnavailable like ``lookup``.
        """
        ...

    def frames(self) -> list[FrameAge]:
        """All frames that were heard, and their ages by the clock of ``lookup``. Thread-safe."""
        ...


def level_pose(source: TransformSource, tf: TfTopics, frame: str, *, at_ns: int) -> Transform:
    """The newest pose of ``frame`` in the base frame turned level: at the base's origin, with its
    heading, z up. A suspension that holds the body nose up turns a scan's heights. Where the world
    does not know the base, in the base frame as it is. Raises TransformUnavailable as
    ``transform`` does for the frame.
    """
    pose = source.transform(tf.base_frame, frame, at_ns=at_ns)
    try:
        return source.transform(tf.world_frame, tf.base_frame, at_ns=at_ns).tilt @ pose
    except TransformUnavailable:
        return pose


class ComposedTransforms:
    """TransformSource without tf2_ros: composes the newest transform of each link. ``on_link``
    runs for each new transform, on the thread that receives it; it must not block.
    """

    def __init__(
        self,
        max_age_s: float,
        clock: Callable[[], float] = time.monotonic,
        on_link: Callable[[FrameLink], None] | None = None,
    ) -> None:
        self._tree = FrameTree(max_age_s)
        self._tell = on_link
        self._max_age_s = max_age_s
        self._clock = clock
        self._lock = threading.Lock()

    def receive(self, message: TFMessage, *, static: bool) -> None:
        """Add a message of /tf or, with ``static``, of /tf_static. Thread-safe."""
        with self._lock:
            for stamped in message.transforms:
                parent, child = stamped.header.frame_id, stamped.child_frame_id
                move, turn = stamped.transform.translation, stamped.transform.rotation
                stamp = stamped.header.stamp
                before = self._tree.link(child)
                link = self._tree.update(
                    parent,
                    child,
                    (move.x, move.y, move.z),
                    (turn.x, turn.y, turn.z, turn.w),
                    stamp_ns=stamp.sec * 1_000_000_000 + stamp.nanosec,
                    now_s=self._clock(),
                    static=static,
                )
                if link is not None:
                    self._on_link(before, link)
                    if self._tell is not None:
                        self._tell(link)

    def frames(self) -> list[FrameAge]:
        with self._lock:
            now_s = self._clock()
            return [
                FrameAge(each.parent, each.child, max(0.0, now_s - each.changed_s), each.static)
                for each in self._tree
            ]

    def moving_links(self, world: str, base: str) -> list[str]:
        with self._lock:
            up, down = self._tree.chain(world, base, self._clock())
        return [link.name for link in (*down, *up) if not link.static]

    def lookup(self, world: str, base: str) -> RoverPose:
        transform, stamp_ns = self._newest(world, base)
        sec, nanosec = divmod(stamp_ns, 1_000_000_000)
        return RoverPose(
            x=transform.translation[0],
            y=transform.translation[1],
            yaw_rad=transform.yaw,
            frame_id=frame_name(world),
            stamp=Stamp(sec=sec, nanosec=nanosec),
        )

    def transform(self, world: str, base: str, *, at_ns: int) -> Transform:
        if frame_name(world) == frame_name(base):
            return IDENTITY
        transform, stamp_ns = self._newest(world, base)
        apart_s = abs(at_ns - stamp_ns) / 1e9
        if stamp_ns and apart_s > self._max_age_s:  # 0: the whole chain is static
            raise TransformUnavailable(world, base, f'{apart_s:.1f} s from the measurement')
        return transform

    def _newest(self, world: str, base: str) -> tuple[Transform, int]:
        with self._lock:
            up, down = self._tree.chain(world, base, self._clock())
            transform, stamp_ns = self._composed(world, base, up, down)
        if not transform.is_finite():
            raise TransformUnavailable(world, base, 'not finite')
        return transform, stamp_ns

    def _on_link(self, before: FrameLink | None, link: FrameLink) -> None:
        """Called with the lock held after the tree stored a link; for subclasses."""

    def _composed(
        self, world: str, base: str, up: list[FrameLink], down: list[FrameLink]
    ) -> tuple[Transform, int]:
        return composed(up, down)


class Tf2Transforms(ComposedTransforms):
    """TransformSource on tf2_ros, which interpolates each link to the newest common time.

    This class fills the buffer itself. tf2's listener keeps leading slashes, drops NaN so that the
    last valid pose seems current, and keeps the poses of the previous run when simulated time
    restarts.
    """

    def __init__(
        self,
        max_age_s: float,
        clock: Callable[[], float] = time.monotonic,
        on_link: Callable[[FrameLink], None] | None = None,
    ) -> None:
        super().__init__(max_age_s, clock, on_link)
        import tf2_ros

        self._tf2_ros: Any = tf2_ros
        self._buffer: Any = tf2_ros.Buffer()

    def _on_link(self, before: FrameLink | None, link: FrameLink) -> None:
        if self._tree.has_restarted(before, link):
            self._buffer = self._tf2_ros.Buffer()  # Buffer.clear() keeps static transforms
            for each in self._tree:
                self._put_in_buffer(each)
        else:
            self._put_in_buffer(link)

    def _put_in_buffer(self, link: FrameLink) -> None:
        if link.fault:
            return
        from geometry_msgs.msg import TransformStamped

        stamped = TransformStamped(child_frame_id=link.child)
        stamped.header.frame_id = link.parent
        sec, nanosec = divmod(link.stamp_ns, 1_000_000_000)
        stamped.header.stamp.sec, stamped.header.stamp.nanosec = sec, nanosec
        move, turn = stamped.transform.translation, stamped.transform.rotation
        move.x, move.y, move.z = link.transform.translation
        turn.x, turn.y, turn.z, turn.w = link.transform.rotation
        put = self._buffer.set_transform_static if link.static else self._buffer.set_transform
        put(stamped, 'curiosity_rosa')

    def _composed(
        self, world: str, base: str, up: list[FrameLink], down: list[FrameLink]
    ) -> tuple[Transform, int]:
        from rclpy.time import Time

        try:
            found = self._buffer.lookup_transform(frame_name(world), frame_name(base), Time())
        except self._tf2_ros.TransformException as error:
            raise TransformUnavailable(world, base, str(error)) from error
        move, turn = found.transform.translation, found.transform.rotation
        stamp = found.header.stamp
        return (
            Transform((move.x, move.y, move.z), (turn.x, turn.y, turn.z, turn.w)),
            stamp.sec * 1_000_000_000 + stamp.nanosec,
        )


# In order of preference.
ADAPTERS: list[type[ComposedTransforms]] = [
    *([Tf2Transforms] if importlib.util.find_spec('tf2_ros') else []),
    ComposedTransforms,
]


def make_transform_source(
    node: Node,
    config: Config,
    simulation: SimulationClock | None = None,
    *,
    on_link: Callable[[FrameLink], None] | None = None,
) -> TransformSource:
    """Create the preferred adapter, with subscriptions on ``node``. The caller spins ``node``.
    ``simulation``: the clock of this process, if it has one. ``on_link``: as ComposedTransforms
    has it.
    """
    clock = simulation or SimulationClock.of(node.get_clock(), config.thresholds.motion)
    source, topics = ADAPTERS[0](config.thresholds.tf.max_age_s, clock, on_link), config.topics.tf
    for topic, qos, static in (
        (topics.topic, TF_QOS, False),
        (topics.static_topic, TF_STATIC_QOS, True),
    ):
        node.create_subscription(TFMessage, topic, partial(source.receive, static=static), qos)
    return source
