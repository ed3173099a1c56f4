# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Look up the pose of a frame from /tf and /tf_static, without tf2_ros, which PyPI lacks.

Leading slashes of frame names are dropped, in messages and in lookups: the Curiosity demo
publishes /odom and /base_footprint, which tf2 refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import threading
import time

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

__all__ = ['TransformSource', 'TransformUnavailable', 'level_pose', 'make_transform_source']

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
        self._tree = FrameTree(max_age_s)
        self._tell = on_link
        self._max_age_s = max_age_s
        self._clock = clock
        self._lock = threading.Lock()

    def receive(self, message: TFMessage, *, static: bool) -> None:
        """Add a message of /tf or, with ``static``, of /tf_static."""
        with self._lock:
            for stamped in message.transforms:
                parent, child = stamped.header.frame_id, stamped.child_frame_id
                move, turn = stamped.transform.translation, stamped.transform.rotation
                stamp = stamped.header.stamp
                link = self._tree.update(
                    parent,
                    child,
                    (move.x, move.y, move.z),
                    (turn.x, turn.y, turn.z, turn.w),
                    stamp_ns=stamp.sec * 1_000_000_000 + stamp.nanosec,
                    now_s=self._clock(),
                    static=static,
                )
                if link is not None and self._tell is not None:
                    self._tell(link)

    def frames(self) -> list[FrameAge]:
        """All frames that were heard, and their ages by the clock of ``lookup``."""
        with self._lock:
            now_s = self._clock()
            return [
                FrameAge(each.parent, each.child, max(0.0, now_s - each.changed_s), each.static)
                for each in self._tree
            ]

    def moving_links(self, world: str, base: str) -> list[str]:
        """The names of the moving links between two frames. Raises like ``lookup``."""
        with self._lock:
            up, down = self._tree.chain(world, base, self._clock())
        return [link.name for link in (*down, *up) if not link.static]

    def lookup(self, world: str, base: str) -> RoverPose:
        """Pose of ``base`` in ``world``, in metres and radians. Raises TransformUnavailable."""
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
        """The newest pose of ``base`` in ``world``, in all six dimensions.

        Raises like ``lookup``, and when the pose's stamp is further from ``at_ns``, the stamp of a
        measurement, than ``tf.max_age_s``.
        """
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
        transform, stamp_ns = composed(up, down)
        if not transform.is_finite():
            raise TransformUnavailable(world, base, 'not finite')
        return transform, stamp_ns


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


def make_transform_source(
    node: Node,
    config: Config,
    simulation: SimulationClock | None = None,
    *,
    on_link: Callable[[FrameLink], None] | None = None,
) -> TransformSource:
    """A source with subscriptions on ``node``, which the caller spins. ``simulation``: the clock
    of this process, if it has one.
    """
    clock = simulation or SimulationClock.of(node.get_clock(), config.thresholds.motion)
    source = TransformSource(config.thresholds.tf.max_age_s, clock, on_link)
    topics = config.topics.tf
    for topic, qos, static in (
        (topics.topic, TF_QOS, False),
        (topics.static_topic, TF_STATIC_QOS, True),
    ):
        node.create_subscription(TFMessage, topic, partial(source.receive, static=static), qos)
    return source
