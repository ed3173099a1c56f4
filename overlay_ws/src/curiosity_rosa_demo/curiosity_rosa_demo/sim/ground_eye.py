# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The undarkened frame of the last capture, and the analysis of its ground.

``remember`` runs at each capture and decodes nothing. ``analyze`` takes up to a second and runs in
a thread of its own.
"""

from __future__ import annotations

from curiosity_rosa_demo.domain.geometry import roll_pitch
from curiosity_rosa_demo.domain.ground import GroundAnalysis
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.imaging.camera import Frame
from curiosity_rosa_demo.imaging.ground.analysis import analyze, GroundRefused
from curiosity_rosa_demo.imaging.ground.view import leaning, Lens, Scene
from curiosity_rosa_demo.imaging.pixels import encode_jpeg, pixels_of
from curiosity_rosa_demo.infra.config.limits import PartConfig
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.tf import (
    stamp_ns,
    Transform,
    TransformSource,
    TransformUnavailable,
)
from nav_msgs.msg import Odometry
from sensor_msgs.msg import CameraInfo
from std_msgs.msg import Header

PLANAR_RAD = 1e-9  # a measured roll and pitch are never both so exactly 0
OPTICAL_SUFFIXES = ('_optical', '_optical_frame')  # REP 103: z along the view, x right, y down
OPTICAL = Transform((0.0, 0.0, 0.0), (0.5, -0.5, 0.5, 0.5))  # in it: x along the view, z up


class GroundEye:
    """``transforms`` gives the camera's pose. Thread-safe."""

    def __init__(self, config: Config, transforms: TransformSource) -> None:
        self._config, self._transforms = config, transforms
        self.info: CameraInfo | None = None  # the newest messages
        self.odometry: Odometry | None = None
        self._taken: tuple[Frame, Scene] | None = None

    def remember(self, frame: Frame) -> None:
        """Keep the frame of a successful capture, with the poses of now: nothing has moved since
        the frame. What is not measured is taken from the configuration, for a rover that stands.
        """
        thresholds, topics, notes = self._config.thresholds, self._config.topics, []
        ground, shape, tf = thresholds.ground, thresholds.obstacles, topics.tf
        standing, at_ns = thresholds.body.standing_pitch_rad, stamp_ns(frame.message)
        mount = self._transform(tf.base_frame, tf.camera_frame, at_ns)
        if mount is None:
            frames = {'world': tf.base_frame, 'base': tf.camera_frame}
            notes.append(RefusalCode.TF_UNAVAILABLE.text(**frames))
            height_m = ground.camera_height_m + shape.ground_z_m
            mount = leaning(0.0, ground.camera_tilt_rad + standing, height_m)
        elif tf.camera_frame.endswith(OPTICAL_SUFFIXES):
            mount = mount @ OPTICAL
        attitude = self._attitude(at_ns)
        if attitude is None:
            attitude = 0.0, -standing
            notes.append(
                f'No roll and pitch in {tf.world_frame} -> {tf.base_frame} or on '
                f'{topics.rover.odometry}, taken for {standing:g} rad nose up'
            )
        lens = _lens_of(self.info)
        if lens is None:
            lens = Lens.of_field_of_view(ground.field_of_view_rad)
            notes.append(f'No camera info on {topics.images.input_camera_info}')
        chassis = PartConfig.model_construct(
            x_min=-shape.rear_m,
            x_max=shape.front_m,
            y_min=-shape.half_width_m,
            y_max=shape.half_width_m,
            height_m=ground.deck_height_m,
        )
        appendages = self._config.robot.appendages  # no command stows any other part
        parts = [part for name, part in shape.parts.items() if name not in appendages]
        note, bodies = '; '.join(notes), (chassis, *parts)
        scene = Scene(lens, mount, bodies, ground.range_m, note, attitude, shape.ground_z_m)
        self._taken = frame, scene

    def _transform(self, world: str, base: str, at_ns: int) -> Transform | None:
        try:
            return self._transforms.transform(world, base, at_ns=at_ns)
        except TransformUnavailable:
            return None

    def _attitude(self, at_ns: int) -> tuple[float, float] | None:
        """Roll and pitch of the base, by TF or else by odometry. None: both are planar, or there
        are none at the time of the frame.
        """
        tf, odometry = self._config.topics.tf, self.odometry
        found = self._transform(tf.world_frame, tf.base_frame, at_ns)
        turns = [] if found is None else [found.rotation]
        if odometry is not None:
            apart_s = abs(stamp_ns(odometry) - at_ns) / 1e9
            turn = odometry.pose.pose.orientation
            if apart_s <= self._config.thresholds.tf.max_age_s:
                turns.append((turn.x, turn.y, turn.z, turn.w))
        attitudes = (roll_pitch(*each) for each in turns)
        return next((each for each in attitudes if max(map(abs, each)) > PLANAR_RAD), None)

    def analyze(self) -> tuple[GroundAnalysis, bytes, Header]:
        """The analysis of the last capture, its annotated JPEG, and the header of its frame.

        Raises ImageError, as GroundRefused too.
        """
        if self._taken is None:
            raise GroundRefused('no capture has succeeded yet; take one first')
        frame, scene = self._taken
        analysis, picture = analyze(pixels_of(frame.message), scene)
        jpeg = encode_jpeg(picture, self._config.thresholds.capture.jpeg_quality)
        return analysis, jpeg, frame.message.header


def _lens_of(info: CameraInfo | None) -> Lens | None:
    """None: it says none."""
    if info is None or not (info.width and info.height and info.k[0] > 0.0 and info.k[4] > 0.0):
        return None
    fx, fy, cx, cy = (float(info.k[n]) for n in (0, 4, 2, 5))
    right, below = cx - (info.width - 1) / 2, cy - (info.height - 1) / 2
    return Lens(*(pixels / info.width for pixels in (fx, fy, right, below)))
