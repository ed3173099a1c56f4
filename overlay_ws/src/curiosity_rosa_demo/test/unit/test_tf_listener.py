# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Poses from /tf and /tf_static: look-ups, ages, refusals."""

from __future__ import annotations

import math
from typing import Any

from curiosity_rosa_demo.infra.config.topics import TfTopics
from curiosity_rosa_demo.infra.tf.listener import level_pose, TransformSource, TransformUnavailable
from geometry_msgs.msg import TransformStamped
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import numpy.typing as npt
import pytest
from tf2_msgs.msg import TFMessage

MAX_AGE_S = 1.0
UPRIGHT = (0.0, 0.0, 0.0, 1.0)


class Heard:
    """A source on a clock of its own, told what /tf and /tf_static would tell it."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.source = TransformSource(MAX_AGE_S, lambda: self.now_s)

    def link(
        self,
        parent: str,
        child: str,
        move: tuple[float, ...] = (0.0, 0.0, 0.0),
        turn: tuple[float, ...] = UPRIGHT,
        *,
        stamp: float = 10.0,
        static: bool = False,
    ) -> None:
        stamped = TransformStamped(child_frame_id=child)
        stamped.header.frame_id = parent
        stamped.header.stamp.sec = math.floor(stamp)
        stamped.header.stamp.nanosec = round((stamp % 1) * 1e9)
        translation, rotation = stamped.transform.translation, stamped.transform.rotation
        translation.x, translation.y, translation.z = map(float, move)
        rotation.x, rotation.y, rotation.z, rotation.w = map(float, turn)
        self.source.receive(TFMessage(transforms=[stamped]), static=static)

    def x(self, base: str = 'base') -> float:
        return self.source.lookup('odom', base).x

    def refusal(self, world: str = 'odom', base: str = 'base') -> str:
        with pytest.raises(TransformUnavailable) as refused:
            self.source.lookup(world, base)
        return str(refused.value)


@pytest.fixture
def heard() -> Heard:
    return Heard()


def test_a_sensor_is_posed_in_all_six_dimensions_at_the_time_of_its_measurement(
    heard: Heard,
) -> None:
    heard.link('base', 'mast', (0, 0, 1), stamp=12.0)
    heard.link(
        'mast', 'lidar', (0, 0, 0.5), (0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5)), static=True
    )
    for at_s in (12.0, 12.0 - MAX_AGE_S, 12.0 + MAX_AGE_S):
        pose = heard.source.transform('base', 'lidar', at_ns=round(at_s * 1e9))
        assert pose.translation == pytest.approx((0, 0, 1.5))
        assert pose.rotate((1.0, 0.0, 0.0)) == pytest.approx((0, 0, -1))
    for at_s in (10.9, 13.1):
        with pytest.raises(TransformUnavailable, match=r'1\.1 s from the measurement'):
            heard.source.transform('base', 'lidar', at_ns=round(at_s * 1e9))


@pytest.mark.parametrize('pitch', [-0.124, -0.07, 0.0, 0.3])
@pytest.mark.parametrize('yaw', [0.0, 2.0])
def test_a_pose_turned_level_has_the_bases_heading_and_its_true_height(
    heard: Heard, pitch: float, yaw: float
) -> None:
    frames = TfTopics(
        topic='/tf', static_topic='/tf_static', base_frame='base', world_frame='odom',
        camera_frame='camera',
    )  # fmt: skip
    heard.link('base', 'lidar', (1.3, 0, -0.5), static=True)
    unlevelled = level_pose(heard.source, frames, 'lidar', at_ns=12 * 10**9)
    assert unlevelled.translation == (1.3, 0, -0.5)
    sy, cy, sp, cp = math.sin(yaw / 2), math.cos(yaw / 2), math.sin(pitch / 2), math.cos(pitch / 2)
    heard.link('odom', 'base', (5, 6, 0), (-sp * sy, sp * cy, cp * sy, cp * cy), stamp=12.0)
    pose = level_pose(heard.source, frames, 'lidar', at_ns=12 * 10**9)
    sin, cos = math.sin(pitch), math.cos(pitch)
    wanted = (1.3 * cos - 0.5 * sin, 0.0, -1.3 * sin - 0.5 * cos)
    assert pose.translation == pytest.approx(wanted, abs=1e-9)
    assert pose.rotate((1.0, 0.0, 0.0)) == pytest.approx((cos, 0.0, -sin), abs=1e-9)


def test_what_was_never_heard_is_unavailable_and_the_reason_says_which(heard: Heard) -> None:
    assert heard.refusal() == 'TF unavailable: odom -> base: odom was never seen'
    heard.link('odom', 'other')
    assert heard.refusal() == 'TF unavailable: odom -> base: base was never seen'
    heard.link('elsewhere', 'base')
    assert heard.refusal() == 'TF unavailable: odom -> base: the two frames are not connected'
    for parent, child in ('ba', 'cb', 'ac'):
        heard.link(parent, child)
    assert 'loop through a' in heard.refusal('odom', 'a')
    assert 'loop through a' in heard.refusal('a', 'odom')


def test_a_moving_link_that_falls_silent_is_lost_and_found_again(heard: Heard) -> None:
    heard.link('odom', 'base', (3, 0, 0), static=True)
    heard.now_s += 1e6
    pose = heard.source.lookup('odom', 'base')
    assert (pose.x, pose.stamp.sec, pose.stamp.nanosec) == (3.0, 0, 0)  # a static one never ages
    for _ in range(3):  # the same instant again makes it no younger
        heard.link('odom', 'a', (3, 0, 0), stamp=10.0)
        assert heard.x('a') == 3.0
        heard.now_s += MAX_AGE_S / 2
    assert 'no transform for 1.5 s (odom -> a)' in heard.refusal(base='a')
    heard.link('odom', 'a', (7, 0, 0), stamp=10.1)
    heard.link('odom', 'a', (1, 0, 0), stamp=10.0)  # late: it does not take the rover back
    assert heard.x('a') == 7.0


@pytest.mark.parametrize('back_s', [2.0, 100.0])
def test_time_that_starts_anew_is_believed(heard: Heard, back_s: float) -> None:
    heard.link('base', 'camera', (1, 0, 0), static=True)
    heard.link('odom', 'base', (9, 0, 0), stamp=200.0)
    heard.link('odom', 'base', (0, 0, 0), stamp=200.0 - back_s)
    assert heard.x('camera') == 1.0
    heard.link('odom', 'base', (0.5, 0, 0), stamp=200.1 - back_s)
    assert heard.x('camera') == 1.5


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({'move': (math.nan, 0, 0)}, 'not finite'),
    ({'move': (0, 0, math.inf)}, 'not finite'),
    ({'turn': (0, 0, math.nan, 1)}, 'not finite'),
    ({'turn': (0, 0, 0, 0)}, 'quaternion of length 0'),
    ({'turn': (0, 0, 0, 1e-12)}, 'quaternion of length 1e-12'),
    ({'turn': (0, 0, 0, 1e308 * 10)}, 'not finite'),
]


@pytest.mark.parametrize('stamp', [10.0, 10.1])
def test_a_broken_link_is_unavailable_until_a_good_one_comes(stamp: float) -> None:
    for link, reason in BROKEN:
        heard = Heard()
        heard.link('odom', 'base', (1, 0, 0), stamp=10.0)
        heard.link('odom', 'base', stamp=stamp, **link)
        heard.link('base', 'camera', static=True)
        told = f'TF unavailable: odom -> camera: {reason} (odom -> base)'
        assert heard.refusal(base='camera') == told
        heard.source.lookup('base', 'camera')
        heard.link('odom', 'base', (2, 0, 0), stamp=10.2)
        assert heard.x('camera') == 2.0


METRES = st.floats(-1e3, 1e3)
MOVES = st.tuples(METRES, METRES, METRES)
TURNS = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: math.hypot(*q) > 1e-2)
LINKS = st.tuples(MOVES, TURNS, st.sampled_from([1e-1, 1.0, 1e100]), st.booleans())


def matrix(move: tuple[float, ...], turn: tuple[float, ...]) -> npt.NDArray[np.float64]:
    """Homogeneous matrix, the rotation from the axis and the angle (Rodrigues' formula)."""
    x, y, z, w = np.array(turn) / np.linalg.norm(turn)
    sine = math.hypot(x, y, z)
    axis = np.array([x, y, z]) / sine if sine > 0 else np.array([0.0, 0.0, 1.0])
    angle = 2 * math.atan2(sine, w)
    cross = np.cross(np.eye(3), axis)
    result = np.eye(4)
    result[:3, :3] += math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
    result[:3, 3] = move
    return result


@given(left=st.lists(LINKS, max_size=4), right=st.lists(LINKS, max_size=4))
def test_any_path_through_the_tree_is_the_product_of_its_matrices(
    left: list[Any], right: list[Any]
) -> None:
    heard = Heard()
    heard.link('far', 'root', static=True)
    matrices = []
    for name, branch in (('l', left), ('r', right)):
        product, parent = np.eye(4), 'root'
        for index, (move, turn, length, static) in enumerate(branch):
            child = f'{name}{index}'
            scaled = tuple(length * part for part in turn)
            heard.link(parent, child, move, scaled, static=static)
            product, parent = product @ matrix(move, turn), child
        matrices.append((parent, product))
    (world, to_world), (base, to_base) = matrices
    wanted = np.linalg.inv(to_world) @ to_base
    pose = heard.source.lookup(world, base)
    assert (pose.x, pose.y) == pytest.approx((wanted[0, 3], wanted[1, 3]), abs=1e-6)
    flat = math.hypot(wanted[0, 0], wanted[1, 0])
    if flat > 1e-3:  # straight up or down, yaw is anything
        assert math.cos(pose.yaw_rad) == pytest.approx(wanted[0, 0] / flat, abs=1e-6)
        assert math.sin(pose.yaw_rad) == pytest.approx(wanted[1, 0] / flat, abs=1e-6)


FRAMES = st.sampled_from(['odom', '/odom', 'base', 'a', 'b', '/c', ''])


@given(
    st.lists(
        st.tuples(
            *(FRAMES, FRAMES, st.tuples(*[st.floats()] * 3), st.tuples(*[st.floats()] * 4)),
            *(st.floats(0.0, 30.0), st.booleans()),
        ),
        max_size=12,
    )
)
def test_whatever_is_heard_a_look_up_gives_a_finite_pose_or_the_reason(
    messages: list[Any],
) -> None:
    heard = Heard()
    for parent, child, move, turn, stamp, static in messages:
        heard.link(parent, child, move, turn, stamp=stamp, static=static)
        heard.now_s += 0.3
        try:
            pose = heard.source.lookup('odom', 'base')
        except TransformUnavailable:
            assert heard.refusal().startswith('TF unavailable: odom -> base: ')
        else:
            assert all(map(math.isfinite, (pose.x, pose.y, pose.yaw_rad)))
