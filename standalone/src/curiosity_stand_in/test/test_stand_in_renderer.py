# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

import math

from curiosity_stand_in.camera import mast_camera, SIZE
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.mast import CLOSED, Joints, OPENED, ZERO
from curiosity_stand_in.renderer import Renderer
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

poses = st.builds(
    Pose,
    st.floats(-1e3, 1e3),
    st.floats(-1e3, 1e3),
    st.floats(-4, 4),
    st.floats(0.8, 1.2),
    st.floats(-0.4, 0.4),
    st.floats(-0.4, 0.4),
)
STANDING = Pose(pitch=-0.07)
joints = st.builds(Joints, st.floats(0, 1.57), st.floats(-7, 7), st.floats(-1.5, 1.5))


@pytest.fixture(scope='module')
def renderer() -> Renderer:
    return Renderer()


@settings(max_examples=examples(15))
@given(pose=poses, joints=joints)
def test_whatever_the_rover_does_there_is_a_picture_and_only_one(
    renderer: Renderer, pose: Pose, joints: Joints
) -> None:
    picture = renderer.render(pose, joints)
    assert picture.shape == (SIZE, SIZE, 3)
    assert picture.dtype == np.uint8
    assert picture.std() > 2.0
    renderer.render(Pose(1.0, 2.0, 3.0), ZERO)  # nothing of another view may stay behind
    assert (renderer.render(pose, joints) == picture).all()


@pytest.mark.parametrize(
    ('joints', 'heading', 'tilt', 'height'),
    [(OPENED, 0.02, -0.07, 2.19), (ZERO, 0.52, -0.07, 2.19)],
)
def test_the_raised_camera_is_the_demos(
    joints: Joints, heading: float, tilt: float, height: float
) -> None:
    """Measured with the demo's URDF in MuJoCo."""
    camera = mast_camera(STANDING, joints)
    assert camera.heading == pytest.approx(heading, abs=0.01)
    assert camera.tilt == pytest.approx(tilt, abs=0.04)  # the foot turns the pitch into roll
    assert camera.place[2] == pytest.approx(height, abs=0.02)


def test_the_stowed_camera_looks_straight_up(renderer: Renderer) -> None:
    camera = mast_camera(Pose(), CLOSED)
    assert camera.tilt == pytest.approx(-math.pi / 2, abs=0.01)
    assert camera.place[2] == pytest.approx(1.46, abs=0.02)
    sky = renderer.render(Pose(), CLOSED).astype(int)
    assert np.ptp(sky.mean(axis=2)) < 30  # neither ground nor deck


def test_a_mast_that_looks_back_sees_the_deck_wherever_the_rover_is(renderer: Renderer) -> None:
    back = Joints(0.0, 2.6, 0.6)
    here = renderer.render(Pose(), back)
    there = renderer.render(Pose(50.0, -20.0, 1.0, roll=0.1, pitch=-0.1), back)
    same = (here == there).all(axis=2)
    assert same.mean() > 0.3
    assert np.ptp(here[same].astype(int).mean(axis=1)) > 80  # the deck has a pattern


@given(poses, joints, st.floats(0.5, 30), st.floats(-0.6, 0.6))
def test_a_point_on_the_ground_is_seen_by_the_ray_through_it(
    pose: Pose, joints: Joints, ahead: float, aside: float
) -> None:
    rolled = mast_camera(pose, joints)
    camera = rolled.level()
    c, s = math.cos(camera.heading), math.sin(camera.heading)
    left = ahead * aside
    x = np.array([camera.place[0] + c * ahead - s * left])
    y = np.array([camera.place[1] + s * ahead + c * left])
    column, row, depth = camera.project(x, y, 0.0)
    if depth[0] < 0.1 or row[0] < camera.horizon() + 1:
        return
    ray_ahead, per_pixel = camera.rays_to_ground(row)
    assert ray_ahead[0] == pytest.approx(ahead, rel=1e-6)
    assert (camera.centre - column[0]) * per_pixel[0] == pytest.approx(left, rel=1e-6, abs=1e-6)
    # Without its roll it sees the same, turned about the centre.
    turned = rolled.turned_from(camera) @ (column[0], row[0], 1.0)
    seen = rolled.project(x, y, 0.0)
    assert turned == pytest.approx((seen[0][0], seen[1][0]), rel=1e-3, abs=0.1)
