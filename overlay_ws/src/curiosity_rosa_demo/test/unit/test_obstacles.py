# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Poses from TF, what a scan shows of the way, and whether the camera stood still."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
import math
from typing import Any

from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_rosa_demo.infra.config.topics import TfTopics
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.obstacles import (
    free_distance,
    RoverShape,
    view_of,
)
from curiosity_rosa_demo.infra.tf import (
    FrameLink,
    level_pose,
    Transform,
    TransformSource,
    TransformUnavailable,
)
from curiosity_rosa_demo.sim.stillness import Instant, STILL_S, Stillness
from examples import examples
from geometry_msgs.msg import TransformStamped
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
import numpy as np
import numpy.typing as npt
import pytest
from sensor_msgs.msg import LaserScan
from tf2_msgs.msg import TFMessage

ARM = load_config(robot='curiosity').thresholds
OUT, STOWED_ARM = RoverShape.of(ARM), RoverShape.of(ARM, ('arm',))
SHAPE = RoverShape.of(load_config().thresholds)  # curiosity_2025: the arm is always out
SHAPES = pytest.mark.parametrize(
    'shape', [SHAPE, STOWED_ARM, OUT], ids=['arm at its start', 'arm stowed', 'arm unknown']
)
GROUND = load_config().thresholds.obstacles.ground_z_m
LEVEL = (0.0, 0.0, 0.0, 1.0)
FRONT = Transform((1.3, 0.0, -0.5), LEVEL)  # the stand-in's ``lidar: body``
# The demo's lidar on the stowed mast: x looks up, y to the front and left (30 degrees).
STOWED = Transform((0.22, 0.32, 0.33), (-0.35355339, -0.61237244, -0.35355339, 0.61237244))
RAISED = Transform((0.72, -0.56, 1.34), (0.0, 0.0, math.sin(0.26), math.cos(0.26)))
BEAMS = 640
STEP = 2.0 * math.pi / BEAMS
places = st.floats(-30.0, 30.0)


def scan_with(ranges: list[float], **changes: float) -> LaserScan:
    given = {'angle_min': -math.pi, 'angle_increment': STEP, 'range_min': 0.1, 'range_max': 20.0}
    return LaserScan(**{**given, **changes}, ranges=ranges)


def touches(points: np.ndarray, motion: str, metres: float, shape: RoverShape) -> bool:
    """Whether the rover's outline, with its margin, covers a point after ``metres`` of motion."""
    side, radius = DIRECTIONS[motion], shape.turn_radius_m
    x, y = points[:, 0], points[:, 1]
    if side == 0:
        own_x, own_y = x - metres, y
    else:
        turn = side * metres / radius
        centre = side * radius
        c, s = math.cos(turn), math.sin(turn)
        own_x = c * x + s * (y - centre)
        own_y = -s * x + c * (y - centre) + centre
    return any(
        box.x_min < at_x < box.x_max
        and box.y_min - shape.margin_m < at_y < box.y_max + shape.margin_m
        for box in shape.boxes
        for at_x, at_y in zip(own_x, own_y, strict=True)
    )


def test_ground_and_what_is_above_the_rover_are_no_obstacles() -> None:
    low, high = SHAPE.floor_m, SHAPE.ceiling_m
    for height in (GROUND, low - 0.01, low + 0.01, high - 0.01, high + 0.01):
        view = view_of(scan_of_point(3.0, 0.0), Transform((0.01, 0.0, height), LEVEL), SHAPE)
        assert bool(view.points.size) is (low < height < high)


def scan_of_point(x: float, y: float) -> LaserScan:
    """From 1 cm ahead of the base: one return at a place of the base frame."""
    angle, metres = math.atan2(y, x - 0.01), math.hypot(y, x - 0.01)
    ranges = [math.inf] * BEAMS + [metres]
    return scan_with(ranges, angle_min=angle - STEP * BEAMS, range_min=0.0)


@SHAPES
@given(st.data(), places, places)
def test_the_rovers_own_body_is_no_obstacle(
    shape: RoverShape, data: st.DataObject, x: float, y: float
) -> None:
    inside = any(box.holds(np.array([x]), np.array([y]))[0] for box in shape.boxes)
    assert (shape.distance(x, y) < 0.0) == inside
    box = data.draw(st.sampled_from(shape.boxes))
    x = data.draw(st.floats(box.x_min + 0.01, box.x_max - 0.01))
    y = data.draw(st.floats(box.y_min + 0.01, box.y_max - 0.01))
    scan = scan_of_point(x, y)
    assert not view_of(scan, Transform((0.01, 0.0, 0.0), LEVEL), shape).points.size


@SHAPES
@given(st.floats(0.11, 0.5))
def test_rays_that_end_on_the_rover_show_no_way(shape: RoverShape, metres: float) -> None:
    inside = Transform((shape.boxes[0].x_max - 0.6, 0.0, 0.0), LEVEL)
    covered = view_of(scan_with([metres] * BEAMS), inside, shape)
    assert (covered.sees_ahead, covered.free_m, covered.points.size) == (False, {}, 0)


@SHAPES
@pytest.mark.parametrize('motion', DIRECTIONS)
@given(st.data(), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_what_stands_within_the_margin_is_not_touched_either(
    shape: RoverShape, motion: str, data: st.DataObject, along: float, off: float, part: float
) -> None:
    box, side = data.draw(st.sampled_from(shape.boxes)), data.draw(st.sampled_from([-1, 1]))
    x = box.x_min + along * (box.x_max - box.x_min)
    y = (box.y_max if side > 0 else box.y_min) + side * (0.001 + off * shape.margin_m)
    point, body = np.array([[x, y]]), replace(shape, margin_m=0.0)
    assume(not touches(point, motion, 0.0, body))
    free_m = free_distance(point, DIRECTIONS[motion], shape)
    metres = part * min(free_m, math.tau * shape.turn_radius_m * 0.9)
    assert not touches(point, motion, max(0.0, metres - 1e-6), body)


@given(
    st.lists(st.sampled_from([math.nan, -math.inf, 0.0, -1.0, 0.05]), max_size=BEAMS).map(
        scan_with
    )
)
@example(scan_with([1.0], range_max=0.0))
@example(scan_with([1.0], angle_min=math.nan))
def test_rays_that_measured_nothing_give_neither_obstacles_nor_a_view(scan: LaserScan) -> None:
    view = view_of(scan, FRONT, SHAPE)
    assert (view.sees_ahead, view.free_m, view.points.size) == (False, {}, 0)


FIELDS = ('angle_min', 'angle_increment', 'range_min', 'range_max')
numbers = st.floats(width=32) | st.floats(-30.0, 30.0)


@given(
    st.lists(numbers, max_size=60),
    st.fixed_dictionaries(dict.fromkeys(FIELDS, numbers)),
    st.tuples(numbers, numbers, numbers),
    st.sampled_from([FRONT, STOWED, RAISED]),
)
def test_any_scan_in_any_frame_gives_a_view_that_makes_sense(
    ranges: list[float],
    fields: dict[str, float],
    place: tuple[float, float, float],
    frame: Transform,
) -> None:
    view = view_of(LaserScan(**fields, ranges=ranges), Transform(place, frame.rotation), SHAPE)
    assert view.sees_ahead == bool(view.free_m)
    assert all(metres >= 0.0 for metres in view.free_m.values())
    assert np.isfinite(view.points).all()


@SHAPES
@pytest.mark.parametrize('motion', DIRECTIONS)
@given(st.lists(st.tuples(places, places), max_size=12), st.floats(0.0, 1.0))
@example([(0.0, 1.5625)], 0.02)  # beside the axle: the tail swings out to it
@example([(0.0, -1.5625)], 0.02)
def test_within_the_free_distance_the_rover_touches_nothing_and_at_it_something(
    shape: RoverShape, motion: str, rows: list[tuple[float, float]], part: float
) -> None:
    points = np.array(rows).reshape(-1, 2)
    clear = points[[not touches(point[None, :], motion, 0.0, shape) for point in points]]
    free_m = free_distance(clear, DIRECTIONS[motion], shape)
    lap = math.tau * shape.turn_radius_m
    metres = part * min(free_m, lap * 0.9)
    assert not touches(clear, motion, max(0.0, metres - 1e-6), shape)
    if math.isfinite(free_m):
        moved = [free_m + more for more in (1e-6, 1e-3, 0.02, 0.1)]
        assert any(touches(clear, motion, metres, shape) for metres in moved)


JOINT, PERIOD_S = 'mast_p_joint', 0.01
LINK = 'chassis_to_mast_p -> mast_p'


def stillness() -> Stillness:
    return Stillness(still_mps=0.02, still_radps=0.02, max_age_s=lambda: 1.0, skew_s=lambda: 1.0)


def swept(speed: float, *, moves_s: float, stands_s: float, stamps: float = 100.0) -> Stillness:
    """A joint that moves from 0.0 s on at ``speed``, then stands; ``stamps`` are so much more than
    the time of receipt. 0.0: there are none.
    """
    out, steps = stillness(), round((moves_s + stands_s) / PERIOD_S)
    for step in range(steps + 1):
        at_s = step * PERIOD_S
        stamp_s = at_s + stamps if stamps else 0.0
        out.record_angle(JOINT, speed * min(at_s, moves_s), Instant(stamp_s, at_s))
    return out


def frame(at_s: float) -> Instant:
    return Instant(at_s + 100.0, at_s)


def test_joints_without_stamps_silent_ones_and_a_clock_that_starts_anew() -> None:
    parts = swept(1.5, moves_s=1.0, stands_s=0.5, stamps=0.0)  # judged by their receipt
    assert parts.moving([JOINT], frame(1.2), 1.5) == ''
    assert parts.moving([JOINT], frame(0.9), 1.5) == JOINT
    parts = swept(1.5, moves_s=1.0, stands_s=0.0)  # what is silent or unknown holds nothing up
    assert parts.moving(['another'], frame(1.0), 1.0) == ''
    assert parts.moving([JOINT], frame(1.0), 1.5) == JOINT
    assert parts.moving([JOINT], frame(2.5), 2.5) == ''
    parts = swept(0.0, moves_s=1.0, stands_s=0.0)
    parts.record_angle(JOINT, 0.0, Instant(3.0, 1.1))
    assert parts.moving([JOINT], Instant(3.0, 1.15), 1.2) == JOINT
    parts.record_angle(JOINT, 0.0, Instant(3.0 + STILL_S, 1.4))
    assert parts.moving([JOINT], Instant(3.1, 1.2), 1.4) == ''


@pytest.mark.parametrize(
    ('move_m', 'turn_rad', 'moving'), [(0.0, 0.0, False), (0.02, 0.0, True), (0.0, 0.02, True)]
)
def test_a_link_of_tf_moves_by_place_or_turn(move_m: float, turn_rad: float, moving: bool) -> None:
    parts = stillness()
    for step in range(10):
        turn = step * turn_rad / 2
        pose = Transform((step * move_m, 0.0, 0.0), (0.0, math.sin(turn), 0.0, math.cos(turn)))
        at_s = 0.1 * step
        link = FrameLink('chassis_to_mast_p', 'mast_p', pose, round(at_s * 1e9) + 1, at_s, False)
        parts.record_link(link, at_s)
    taken = Instant(0.85, 0.85)
    assert parts.moving([LINK], taken, 0.9) == (LINK if moving else '')


@settings(max_examples=examples(100))
@given(
    st.lists(st.floats(-0.5, 0.5), min_size=5, max_size=40),
    st.floats(0.01, 0.3),
    st.floats(0.0, 1.0),
)
def test_no_frame_counts_that_shows_another_pose_than_the_newest(
    steps: list[float], period_s: float, share: float
) -> None:
    """Whatever the joint does: a frame that counts was taken where the joint is now."""
    parts, angles = stillness(), [0.0]
    for step in steps:
        angles.append(angles[-1] + (step if abs(step) > 0.05 else 0.0))
    for number, angle in enumerate(angles):
        parts.record_angle(JOINT, angle, Instant(1.0 + number * period_s, number * period_s))
    end_s = (len(angles) - 1) * period_s
    taken_s = share * end_s
    if not parts.moving([JOINT], Instant(1.0 + taken_s, taken_s), end_s):
        before = angles[math.floor(taken_s / period_s + 1e-6)]
        assert before == pytest.approx(angles[-1], abs=0.02 * STILL_S)


MAX_AGE_S = 1.0
UPRIGHT = (0.0, 0.0, 0.0, 1.0)


TF = TfTopics(
    topic='/tf', static_topic='/tf_static', base_frame='base', world_frame='odom',
    camera_frame='camera',
)  # fmt: skip


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


def heading(yaw: float, pitch: float) -> tuple[float, ...]:
    """Nose down above 0."""
    sy, cy, sp, cp = math.sin(yaw / 2), math.cos(yaw / 2), math.sin(pitch / 2), math.cos(pitch / 2)
    return -sp * sy, sp * cy, cp * sy, cp * cy


@pytest.mark.parametrize('pitch', [0.02, 0.1, 0.4])
def test_what_stands_on_a_slope_that_falls_is_no_ground(heard: Heard, pitch: float) -> None:
    heard.link('base', 'lidar', FRONT.translation, static=True)
    heard.link('odom', 'base', turn=heading(2.0, pitch), stamp=12.0)
    pose = level_pose(heard.source, TF, 'lidar', at_ns=12 * 10**9)
    view = view_of(scan_with([2.0] * BEAMS), pose, STOWED_ARM)
    assert view.sees_ahead
    assert view.free_m['move_forward'] < 2.0


@pytest.mark.parametrize('pitch', [-0.3, -0.124, -0.07, 0.0])
@pytest.mark.parametrize('yaw', [0.0, 2.0])
def test_a_pose_turned_level_has_the_bases_heading_and_its_true_height(
    heard: Heard, pitch: float, yaw: float
) -> None:
    heard.link('base', 'lidar', (1.3, 0, -0.5), static=True)
    unlevelled = level_pose(heard.source, TF, 'lidar', at_ns=12 * 10**9)
    assert unlevelled.translation == (1.3, 0, -0.5)
    heard.link('odom', 'base', (5, 6, 0), heading(yaw, pitch), stamp=12.0)
    pose = level_pose(heard.source, TF, 'lidar', at_ns=12 * 10**9)
    sin, cos = math.sin(pitch), math.cos(pitch)
    wanted = (1.3 * cos - 0.5 * sin, 0.0, -1.3 * sin - 0.5 * cos)
    assert pose.translation == pytest.approx(wanted, abs=1e-9)
    assert pose.rotate((1.0, 0.0, 0.0)) == pytest.approx((cos, 0.0, -sin), abs=1e-9)


@pytest.mark.parametrize(
    ('late_s', 'is_used'),
    [(0.0, True), (MAX_AGE_S, True), (1.1, False), (30.0, False), (-1.1, False), (1e6, True)],
)
def test_a_late_scan_of_a_lidar_on_the_body_is_none(
    heard: Heard, late_s: float, is_used: bool
) -> None:
    """One that is stamped by a clock of its own is taken as it is."""
    heard.link('base', 'lidar', (1.3, 0, -0.5), static=True)
    heard.link('odom', 'base', stamp=2e6)
    told = nullcontext() if is_used else pytest.raises(TransformUnavailable, match='measurement')
    with told:
        level_pose(heard.source, TF, 'lidar', at_ns=round((2e6 - late_s) * 1e9))


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
