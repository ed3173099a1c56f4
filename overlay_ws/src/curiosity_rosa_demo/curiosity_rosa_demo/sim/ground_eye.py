# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The undarkened frame of the last capture, and the analysis of its ground.

``remember`` runs at each capture and only keeps references. ``analyze`` takes up to a second and
runs in a thread of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.domain.geometry import roll_pitch
from curiosity_rosa_demo.domain.ground import GroundAnalysis
from curiosity_rosa_demo.domain.models import tf_unavailable
from curiosity_rosa_demo.imaging.camera import Frame
from curiosity_rosa_demo.imaging.ground.analysis import analyze, GroundRefused, Scene
from curiosity_rosa_demo.imaging.ground.view import Attitude, Body, CameraPose, Lens
from curiosity_rosa_demo.imaging.pixels import encode_jpeg, pixels_of
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.tf import Transform, TransformSource, TransformUnavailable
from nav_msgs.msg import Odometry
from sensor_msgs.msg import CameraInfo, CompressedImage, Image
from std_msgs.msg import Header

PLANAR_RAD = 1e-9  # a measured roll and pitch are never both so exactly 0
# The axes of a camera's frame that CameraPose has: along the view, to the left, up.
OPTICAL_SUFFIXES = ('_optical', '_optical_frame')  # REP 103: z along the view, x right, y down
OPTICAL_AXES = ((0.0, 0.0, 1.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0))
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Taken:
    """A captured frame with the camera's model and pose in the base frame, and roll and pitch of
    the base in radians; None: unknown, ``why`` says so.
    """

    message: CompressedImage | Image
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

    def receive_info(self, message: CameraInfo) -> None:
        self._info = message

    def receive_odometry(self, message: Odometry) -> None:
        self._odometry = message

    def remember(self, frame: Frame) -> None:
        """Keep the frame of a successful capture, with the poses of now: nothing has moved since
        the frame.
        """
        info, topics, notes = self._info, self._config.topics, []
        tf, at_ns = topics.tf, stamp_ns(frame.message.header)
        pose = self._transform(tf.base_frame, tf.camera_frame, at_ns)
        if pose is None:
            notes.append(tf_unavailable(tf.base_frame, tf.camera_frame))
        attitude = self._attitude(at_ns)
        if attitude is None:
            standing = self._config.thresholds.body.standing_pitch_rad
            notes.append(
                f'No roll and pitch in {tf.world_frame} -> {tf.base_frame} or on '
                f'{topics.rover.odometry}, taken for {standing:g} rad nose up'
            )
        if info is None or not info.width or not (info.k[0] > 0.0 and info.k[4] > 0.0):
            info = None
            notes.append(f'No camera info on {topics.images.input_camera_info}')
        self._taken = Taken(frame.message, info, pose, attitude, '; '.join(notes))

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
            apart_s = abs(stamp_ns(odometry.header) - at_ns) / 1e9
            turn = odometry.pose.pose.orientation
            if apart_s <= self._config.thresholds.tf.max_age_s:
                turns.append((turn.x, turn.y, turn.z, turn.w))
        attitudes = (roll_pitch(*each) for each in turns)
        return next((each for each in attitudes if max(map(abs, each)) > PLANAR_RAD), None)

    def analyze(self) -> tuple[GroundAnalysis, bytes, Header]:
        """The analysis of the last capture, its annotated JPEG, and the header of its frame.

        Raises ImageError, as GroundRefused too.
        """
        taken = self._taken
        if taken is None:
            raise GroundRefused('no capture has succeeded yet; take one first')
        pixels = pixels_of(taken.message)
        height, width = pixels.shape[:2]
        analysis, picture = analyze(pixels, self._scene(taken, width, height))
        jpeg = encode_jpeg(picture, self._config.thresholds.capture.jpeg_quality)
        return analysis, jpeg, taken.message.header

    def _scene(self, taken: Taken, width: int, height: int) -> Scene:
        thresholds = self._config.thresholds
        ground, shape = thresholds.ground, thresholds.obstacles
        standing = thresholds.body.standing_pitch_rad
        if taken.info is not None:
            k, wide = taken.info.k, width / taken.info.width
            lens = Lens(float(k[0]), float(k[4]), float(k[2]), float(k[5])).scaled(wide)
        else:
            lens = Lens.of_field_of_view(width, height, ground.field_of_view_rad)
        if taken.pose is not None:
            optical = self._config.topics.tf.camera_frame.endswith(OPTICAL_SUFFIXES)
            turned = map(taken.pose.rotate, OPTICAL_AXES if optical else AXES)
            ahead, left, up = zip(*turned, strict=True)
            x, y, z = taken.pose.translation
            pose = CameraPose(x, y, z - shape.ground_z_m, (ahead, left, up))
        else:
            # The configured tilt is that of a rover that stands.
            tilt = ground.camera_tilt_rad + standing
            pose = CameraPose.level(ground.camera_height_m, tilt)
        half, deck_m = shape.half_width_m, ground.deck_height_m
        bodies = [Body(-shape.rear_m, shape.front_m, -half, half, deck_m)]
        bodies += [
            Body(part.x_min, part.x_max, part.y_min, part.y_max, part.height_m)
            for name, part in shape.parts.items()
            if name not in self._config.robot.appendages  # no command stows it
        ]
        attitude = Attitude(*(taken.attitude or (0.0, -standing)))
        height_m = -shape.ground_z_m
        return Scene(lens, pose, tuple(bodies), ground.range_m, taken.why, attitude, height_m)


def stamp_ns(header: Header) -> int:
    return int(header.stamp.sec * 1_000_000_000 + header.stamp.nanosec)
