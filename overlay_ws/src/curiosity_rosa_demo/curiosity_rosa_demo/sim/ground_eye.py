# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The undarkened frame of the last capture, and the analysis of its ground.

``remember`` runs at each capture and only keeps references. ``analyze`` takes up to a second and
runs in a thread of its own; its first call imports OpenCV's and scikit-image's modules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import threading
from typing import Any, TYPE_CHECKING

from curiosity_rosa_demo.domain.geometry import roll_pitch
from curiosity_rosa_demo.domain.ground import GroundAnalysis
from curiosity_rosa_demo.domain.models import tf_unavailable
from curiosity_rosa_demo.imaging.camera import Frame
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.tf import Transform, TransformSource, TransformUnavailable, Vector
from nav_msgs.msg import Odometry
from sensor_msgs.msg import CameraInfo, Image

if TYPE_CHECKING:
    from curiosity_rosa_demo.imaging.ground.view import Body

OPTICAL_SUFFIXES = ('_optical', '_optical_frame')  # REP 103: z along the view, x right, y down
PLANAR_RAD = 1e-9  # a measured roll and pitch are never both so exactly 0


@dataclass(frozen=True)
class Taken:
    """A captured frame with the camera's model and pose in the base frame, and roll and pitch of
    the base in radians; None: unknown, ``why`` says so.
    """

    message: Any
    info: CameraInfo | None
    pose: Transform | None
    attitude: tuple[float, float] | None
    why: str


class GroundEye:
    """``transforms`` gives the camera's pose. Thread-safe."""

    def __init__(self, config: Config, transforms: TransformSource) -> None:
        self._config, self._transforms = config, transforms
        self._info: CameraInfo | None = None
        self._odometry: Odometry | None = None
        self._taken: Taken | None = None
        self._working = threading.Lock()

    def receive_info(self, message: CameraInfo) -> None:
        self._info = message

    def receive_odometry(self, message: Odometry) -> None:
        self._odometry = message

    def remember(self, frame: Frame) -> None:
        """Keep the frame of a successful capture, with the poses of now: nothing has moved since
        the frame.
        """
        message, info = frame.message, self._info
        tf, notes = self._config.topics.tf, []
        at_ns = _stamp_ns(message)
        pose = self._transform(tf.base_frame, tf.camera_frame, at_ns)
        if pose is None:
            notes.append(tf_unavailable(tf.base_frame, tf.camera_frame))
        attitude = self._attitude(at_ns)
        if attitude is None:
            standing = self._config.thresholds.body.standing_pitch_rad
            notes.append(
                f'No roll and pitch in {tf.world_frame} -> {tf.base_frame} or on '
                f'{self._config.topics.rover.odometry}, taken for {standing:g} rad nose up'
            )
        if info is None or not info.width or not (info.k[0] > 0.0 and info.k[4] > 0.0):
            info = None
            notes.append(f'No camera info on {self._config.topics.images.input_camera_info}')
        self._taken = Taken(message, info, pose, attitude, '; '.join(notes))

    def _transform(self, world: str, base: str, at_ns: int) -> Transform | None:
        try:
            return self._transforms.transform(world, base, at_ns=at_ns)
        except TransformUnavailable:
            return None

    def _attitude(self, at_ns: int) -> tuple[float, float] | None:
        """Roll and pitch of the base, by TF or else by odometry. None: both are planar, or there
        are none at the time of the frame.
        """
        tf, odometry = self._config.topics.tf, self._odometry
        found = self._transform(tf.world_frame, tf.base_frame, at_ns)
        turns = [] if found is None else [found.rotation]
        if odometry is not None:
            apart_s = abs(_stamp_ns(odometry) - at_ns) / 1e9
            turn = odometry.pose.pose.orientation
            if apart_s <= self._config.thresholds.tf.max_age_s:
                turns.append((turn.x, turn.y, turn.z, turn.w))
        attitudes = (roll_pitch(*each) for each in turns)
        return next((each for each in attitudes if max(map(abs, each)) > PLANAR_RAD), None)

    def _bodies(self) -> Iterator[Body]:
        """The deck, and each part that sticks out and that no command stows."""
        from curiosity_rosa_demo.imaging.ground.view import Body

        shape = self._config.thresholds.obstacles
        half, deck = shape.half_width_m, self._config.thresholds.ground.deck_height_m
        yield Body(-shape.rear_m, shape.front_m, -half, half, deck)
        for name, part in shape.parts.items():
            if name not in self._config.robot.appendages:
                yield Body(part.x_min, part.x_max, part.y_min, part.y_max, part.height_m)

    def analyze(self) -> tuple[GroundAnalysis, bytes, Any]:
        """The analysis of the last capture, its annotated JPEG, and the header of its frame.

        Raises GroundRefused and ImageError.
        """
        from curiosity_rosa_demo.imaging.ground.analysis import analyze, GroundRefused
        from curiosity_rosa_demo.imaging.image_header import picture_size
        from curiosity_rosa_demo.imaging.pixels import decode_picture, encode_jpeg
        from curiosity_rosa_demo.imaging.raw_image import pixels_of

        taken = self._taken
        if taken is None:
            raise GroundRefused('no capture has succeeded yet; take one first')
        with self._working:
            if isinstance(taken.message, Image):
                pixels = pixels_of(taken.message)
            else:
                data = bytes(taken.message.data)
                picture_size(data)
                pixels = decode_picture(data)
            height, width = pixels.shape[:2]
            analysis, picture = analyze(pixels, self._scene(taken, width, height))
            quality = self._config.thresholds.capture.jpeg_quality
            return analysis, encode_jpeg(picture, quality), taken.message.header

    def _scene(self, taken: Taken, width: int, height: int) -> Any:
        from curiosity_rosa_demo.imaging.ground.analysis import Scene
        from curiosity_rosa_demo.imaging.ground.view import Attitude, CameraPose, Lens

        ground, body = self._config.thresholds.ground, self._config.thresholds.obstacles
        standing = self._config.thresholds.body.standing_pitch_rad
        if taken.info is not None:
            k, wide = taken.info.k, width / taken.info.width
            lens = Lens(float(k[0]), float(k[4]), float(k[2]), float(k[5])).scaled(wide)
        else:
            lens = Lens.of_field_of_view(width, height, ground.field_of_view_rad)
        if taken.pose is not None:
            pose = _camera_pose(taken.pose, body.ground_z_m, self._config.topics.tf.camera_frame)
        else:
            # The configured tilt is that of a rover that stands.
            tilt = ground.camera_tilt_rad + standing
            pose = CameraPose.level(ground.camera_height_m, tilt)
        return Scene(
            lens,
            pose,
            tuple(self._bodies()),
            ground.range_m,
            taken.why,
            Attitude(*(taken.attitude or (0.0, -standing))),
            -body.ground_z_m,
        )


def _stamp_ns(message: Any) -> int:
    stamp = message.header.stamp
    return int(stamp.sec * 1_000_000_000 + stamp.nanosec)


def _camera_pose(transform: Transform, ground_z: float, frame: str) -> Any:
    from curiosity_rosa_demo.imaging.ground.view import CameraPose

    optical = frame.endswith(OPTICAL_SUFFIXES)
    axes: tuple[Vector, ...] = (
        ((0.0, 0.0, 1.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0))
        if optical
        else ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    )
    columns = [transform.rotate(axis) for axis in axes]
    rows = tuple(zip(*columns, strict=True))
    x, y, z = transform.translation
    return CameraPose(x, y, z - ground_z, rows)  # type: ignore[arg-type]
