# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""A rover of our own making, of boxes and cylinders: with the figures of the demo's rover (masses,
places of joints, wheels) and none of its files. Joints and frames have the demo's names.

Axes of the base: x ahead, y left, z up; the chassis is turned by 1.57 rad, so its x is to the left
and its y is back. Metres and kilograms.
"""

from __future__ import annotations

import math

from curiosity_physics.robot import (
    box_inertia,
    cylinder_inertia,
    FREE,
    Joint,
    Link,
    Place,
    Robot,
    Shape,
    Vector,
    ZERO,
)

CHASSIS_MASS, SUSPENSION_MASS, WHEEL_MASS = 733.64, 7.296, 2.07
ARM_MASS, MAST_MASS = 6.0, 50.0 / 3  # of each of their parts
AXIS_MASS = 2 * SUSPENSION_MASS  # of both differential axes, which the chassis carries
CHASSIS_SIZE: Vector = (1.53774, 2.08157, 0.76)  # in its own axes; its moments are a solid box's
WHEEL_RADIUS, WHEEL_WIDTH = 0.242647, 0.39473
SUSPENSION_LIMIT, BOGIE_LIMIT, STEER_LIMIT = 0.4, 1.2, 0.6
DAMPING = FRICTION = 0.5  # of the suspension: Nm s/rad, Nm
SPLAY_RAD = 0.19565  # the axes of the suspension arms rise outwards by this angle
# For the left side; the right one is its mirror.
PIVOT: Vector = (0.2133, 0.7938, 0.0)  # of both suspension arms, in the base
FRONT_STEER: Vector = (0.87876, 0.2589, -0.2481)  # from PIVOT
BOGIE: Vector = (-0.73683, -0.006, -0.2354)  # from PIVOT
BACK_STEER: Vector = (-0.62363, 0.26271, -0.00069)  # from BOGIE
MIDDLE_WHEEL: Vector = (0.44859, 0.39423, -0.41098)  # from BOGIE
FRONT_DROP, BACK_DROP = -0.3996, -0.410523  # from a steering joint down to its wheel
BODY_RGB, METAL_RGB, DARK_RGB = (0.62, 0.6, 0.56), (0.42, 0.4, 0.38), (0.2, 0.19, 0.18)
X: Vector = (1.0, 0.0, 0.0)
Y: Vector = (0.0, 1.0, 0.0)
Z: Vector = (0.0, 0.0, 1.0)


def _box(x: float, y: float, z: float, at: Vector = ZERO, rgb: Vector = METAL_RGB) -> Shape:
    return Shape('box', (x, y, z), Place(at), rgb=rgb)


def _bar(to: Vector, thickness: float = 0.07) -> Shape:
    """A bar from the origin to a point."""
    x, y, z = to
    length = math.hypot(x, y, z)
    turn = (0.0, math.atan2(-z, math.hypot(x, y)), math.atan2(y, x))
    middle = (x / 2, y / 2, z / 2)
    return Shape('box', (length, thickness, thickness), Place(middle, turn), rgb=METAL_RGB)


def _part(name: str, mass: float, size: Vector, *shapes: Shape) -> Link:
    """A link with the moments of a box of this size; what is seen of it also touches."""
    return Link(name, mass, box_inertia(mass, *size), shapes, shapes)


def _mirrored(place: Vector, side: int) -> Vector:
    return place[0], side * place[1], place[2]


def _side(letter: str, side: int) -> tuple[list[Link], list[Joint]]:
    """The suspension of the left (1) or right (-1) side."""
    front, back, bogie = (_mirrored(place, side) for place in (FRONT_STEER, BACK_STEER, BOGIE))
    middle, pivot = _mirrored(MIDDLE_WHEEL, side), _mirrored(PIVOT, side)
    splayed = (0.0, math.cos(SPLAY_RAD), side * math.sin(SPLAY_RAD))
    limits = -SUSPENSION_LIMIT, SUSPENSION_LIMIT
    arm = (0.4, 1.0, 0.3)
    steering = (0.528, 0.21, 0.45)
    links = [
        _part(f'suspension_arm_F_{letter}', SUSPENSION_MASS, arm, _bar(front)),
        _part(f'suspension_arm_B_{letter}', SUSPENSION_MASS, arm, _bar(bogie)),
        _part(
            f'suspension_arm_B2_{letter}', SUSPENSION_MASS, (1.2, 0.4, 0.63),
            _bar(back), _bar((middle[0], middle[1] - side * 0.2, middle[2] + 0.25)),
        ),
        _part(f'suspension_steer_F_{letter}', SUSPENSION_MASS, steering,
              _box(0.08, 0.08, 0.14, (0.0, 0.0, -0.07))),
        _part(f'suspension_steer_B_{letter}', SUSPENSION_MASS, steering,
              _box(0.08, 0.08, 0.14, (0.0, 0.0, -0.07))),
    ]  # fmt: skip
    joints = [
        _turning(f'suspension_arm_F_{letter}', 'base_link', pivot, splayed,
                 limits=limits, damped=True),
        _turning(f'suspension_arm_B_{letter}', 'base_link', pivot, splayed,
                 limits=limits, damped=True),
        _turning(
            f'suspension_arm_B2_{letter}', f'suspension_arm_B_{letter}', bogie, Y,
            limits=(-BOGIE_LIMIT, BOGIE_LIMIT), damped=True,
        ),
        _turning(f'suspension_steer_F_{letter}', f'suspension_arm_F_{letter}', front, Z,
                 limits=(-STEER_LIMIT, STEER_LIMIT)),
        _turning(f'suspension_steer_B_{letter}', f'suspension_arm_B2_{letter}', back, Z,
                 limits=(-STEER_LIMIT, STEER_LIMIT)),
    ]  # fmt: skip
    for name, parent, place in (
        ('front', f'suspension_steer_F_{letter}', (0.0, 0.0, FRONT_DROP)),
        ('middle', f'suspension_arm_B2_{letter}', middle),
        ('back', f'suspension_steer_B_{letter}', (0.0, 0.0, BACK_DROP)),
    ):
        tyre = Shape(
            'cylinder', (WHEEL_RADIUS, WHEEL_WIDTH), Place(ZERO, (math.pi / 2, 0.0, 0.0)),
            rgb=DARK_RGB,
        )  # fmt: skip
        across, _, along = cylinder_inertia(WHEEL_MASS, WHEEL_RADIUS, WHEEL_WIDTH)
        wheel = f'{name}_wheel_{letter}'
        marks = (_box(0.4, WHEEL_WIDTH + 0.01, 0.05), _box(0.05, WHEEL_WIDTH + 0.01, 0.4))
        links.append(Link(wheel, WHEEL_MASS, (across, along, across), (tyre,), (tyre, *marks)))
        # The wheels of the right side turn the other way, as in the demo.
        joints.append(_turning(wheel, parent, place, (0.0, float(side), 0.0)))
    return links, joints


def _turning(
    child: str,
    parent: str,
    place: Vector,
    axis: Vector,
    *,
    limits: tuple[float, float] = FREE,
    damped: bool = False,
    turned: Vector = ZERO,
) -> Joint:
    damping, friction = (DAMPING, FRICTION) if damped else (0.0, 0.0)
    joint = f'{child}_joint'
    return Joint(joint, parent, child, Place(place, turned), True, axis, limits, damping, friction)


def _fixed(child: str, parent: str, place: Vector = ZERO, turned: Vector = ZERO) -> Joint:
    return Joint(f'{parent}_to_{child}', parent, child, Place(place, turned))


def _chassis() -> tuple[list[Link], list[Joint]]:
    body = _box(1.25, 1.95, 0.5, (0.0, 0.0, 0.08), BODY_RGB)
    deck = _box(1.35, 2.05, 0.04, (0.0, 0.0, 0.34), BODY_RGB)
    generator = _box(0.45, 0.5, 0.45, (0.0, 1.4, 0.35), DARK_RGB)
    mass = CHASSIS_MASS + AXIS_MASS
    shapes = (body, deck, generator)
    links = [
        Link('base_footprint'),
        Link('base_link'),
        Link('chassis', mass, box_inertia(mass, *CHASSIS_SIZE), shapes, shapes),
    ]
    joints = [
        _fixed('base_link', 'base_footprint'),
        _fixed('chassis', 'base_link', ZERO, (0.0, 0.0, 1.57)),
    ]
    return links, joints


def _mast() -> tuple[list[Link], list[Joint]]:
    head = _box(0.55, 0.28, 0.2, (0.0, 0.0, 0.17), BODY_RGB)
    links = [
        Link('chassis_to_mast_p'),
        _part('mast_p', MAST_MASS, (0.19, 0.22, 0.53), _box(0.12, 0.12, 0.47, (0.0, 0.0, 0.235))),
        _part('mast_02', MAST_MASS, (0.27, 0.23, 0.29), _box(0.14, 0.14, 0.2, (0.0, 0.0, 0.1))),
        _part('mast_cameras', MAST_MASS, (0.55, 0.28, 0.2), head),
        Link('camera_link'),
        Link('lidar_link'),
    ]
    foot = (-0.55456, -0.722499, 0.331395)
    ahead = (0.0, 0.0, -math.pi / 2)
    joints = [
        _fixed('chassis_to_mast_p', 'chassis', foot, (0.0, 0.0, 0.523599)),
        _turning('mast_p', 'chassis_to_mast_p', ZERO, Y, limits=(0.0, 1.57)),
        _turning('mast_02', 'mast_p', (0.0, 0.0, 0.473641), Z),
        _turning('mast_cameras', 'mast_02', (0.0, 0.0, 0.20859), X, limits=(-1.57, 1.57)),
        _fixed('camera_link', 'mast_cameras', (0.13642, -0.218683, 0.222314), ahead),
        _fixed('lidar_link', 'mast_cameras', (0.0, 0.0, 0.325), ahead),
    ]
    return links, joints


def _arm() -> tuple[list[Link], list[Joint]]:
    upper, fore = (0.071249, -0.825069, 0.0), (-0.193815, 0.0, 0.779746)
    links = [
        _part('arm_01', ARM_MASS, (0.36, 0.33, 0.3), _box(0.2, 0.2, 0.25, (0.0, -0.08, -0.1))),
        _part('arm_02', ARM_MASS, (0.47, 0.97, 0.22), _bar(upper, 0.1)),
        _part('arm_03', ARM_MASS, (0.31, 0.18, 0.88), _bar(fore, 0.09)),
        _part('arm_04', ARM_MASS, (0.32, 0.34, 0.29), _box(0.2, 0.2, 0.15, (0.1, 0.0, 0.05))),
        _part('arm_tools', ARM_MASS, (0.6, 0.47, 0.22), _box(0.5, 0.45, 0.2, (0.0, 0.0, 0.13))),
    ]
    quarter = (-1.57, 1.57)
    joints = [
        _turning('arm_01', 'chassis', (0.449641, -1.11319, 0.112807), Z, limits=quarter),
        _turning('arm_02', 'arm_01', (0.0, -0.160259, -0.166117), X, limits=quarter),
        _turning('arm_03', 'arm_02', upper, X, limits=(-5.0, 5.0)),
        _turning('arm_04', 'arm_03', fore, Y, limits=quarter, turned=(0.0, 0.0, math.pi / 2)),
        _turning('arm_tools', 'arm_04', (0.141321, 0.042652, 0.105732), Z),
    ]
    return links, joints


def _robot() -> Robot:
    links: dict[str, Link] = {}
    joints: list[Joint] = []
    for part in (_chassis(), _side('L', 1), _side('R', -1), _arm(), _mast()):
        links |= {link.name: link for link in part[0]}
        joints += part[1]
    return Robot('a rover of our own', 'base_footprint', links, tuple(joints))


ROBOT = _robot()
