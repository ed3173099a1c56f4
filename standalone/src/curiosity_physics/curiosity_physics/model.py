# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The MuJoCo model of a robot in a world.

A servo is a joint equality constraint, which the solver solves together with the contacts: a
stiff actuator would show the contacts its whole torque, and the rover would leap when it brakes.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

from curiosity_physics import worlds
from curiosity_physics.controllers import SUSPENSION
from curiosity_stand_in.camera import FIELD_OF_VIEW, SIZE
from curiosity_stand_in.frames import CAMERA_FRAME
from curiosity_stand_in.robot import Joint, Placement, Robot, Shape
import mujoco
import numpy as np

STEP_S = 0.002
# MuJoCo's cameras look along -z with y up; the link's x looks ahead and its z up.
LOOK_AHEAD = (0.5, 0.5, -0.5, -0.5)
COLLISION_GROUP, VISUAL_GROUP = 3, 1
REST_FRICTION = 0.3  # mu1 and mu2 of the demo's rover but for its wheels
# Of the equality constraints: the acceleration is -B x velocity - K x offset. B takes the joint to
# its velocity within a few steps. The lead, velocity x B / K, is what the offset is held at.
SERVO_B, SERVO_K = 200.0, 20.0
SERVO_IMPEDANCE = (0.995, 0.9995, 0.001, 0.5, 2.0)
FREE = ('suspension_arm_B2_L_joint', 'suspension_arm_B2_R_joint')


@dataclass(frozen=True)
class Built:
    """A compiled model. ``servos`` are the names of the joints with a servo, in their order."""

    model: mujoco.MjModel
    robot: Robot
    world: worlds.World
    servos: tuple[str, ...]


def build(robot: Robot, world: worlds.World, *, friction: float, step_s: float = STEP_S) -> Built:
    """``friction``: of the wheels. The rover stands at the world's origin, a little above it."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.compiler.boundmass = 1e-6
    spec.compiler.boundinertia = 1e-9
    option = spec.option
    option.timestep = step_s
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = 10.0
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.visual.global_.offwidth = spec.visual.global_.offheight = SIZE
    spec.visual.quality.shadowsize = 0
    spec.visual.headlight.active = 0
    spec.stat.extent = 10.0  # metres; the camera's near and far planes are parts of it
    spec.visual.map.znear, spec.visual.map.zfar = 0.005, 10.0
    worlds.add(spec, world)
    _add_meshes(spec, robot)
    body = spec.worldbody.add_body(name=robot.root)
    body.add_freejoint(name='base')
    servos = [
        joint.name
        for joint in robot.joints
        if joint.moves and joint.name not in (*SUSPENSION, *FREE)
    ]
    _add_link(spec, body, robot, robot.root, friction)
    for name in servos:
        equality = spec.add_equality(
            name=name, type=mujoco.mjtEq.mjEQ_JOINT, name1=name,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
        )  # fmt: skip
        equality.solref = (-SERVO_K, -SERVO_B)
        equality.solimp = SERVO_IMPEDANCE
        equality.data[:] = 0.0
    return Built(spec.compile(), robot, world, tuple(servos))


def _add_meshes(spec: mujoco.MjSpec, robot: Robot) -> None:
    for file, meshes in robot.meshes.items():
        for number, mesh in enumerate(meshes):
            spec.add_mesh(
                name=f'{file.stem}_{number}', uservert=mesh.vertices.ravel(),
                userface=mesh.faces.ravel(), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
            )  # fmt: skip
        # The collision shape: the hull of all of it.
        corners = np.concatenate([mesh.vertices for mesh in meshes])
        spec.add_mesh(name=f'{file.stem}_hull', uservert=corners.ravel(), maxhullvert=64)


def _add_link(
    spec: mujoco.MjSpec, body: mujoco.MjsBody, robot: Robot, name: str, friction: float
) -> None:
    link = robot.links[name]
    if link.mass > 0.0:
        body.mass, body.inertia, body.ipos = link.mass, link.inertia, (0.0, 0.0, 0.0)
        body.explicitinertial = True
    wheel = 'wheel' in name and '_to_' not in name
    for shape in link.collisions:
        _add_shape(
            body, robot, shape, hull=True, contype=1, conaffinity=2, group=COLLISION_GROUP,
            priority=1,  # the rover's friction counts, not the world's
            friction=(friction if wheel else REST_FRICTION, 0.005, 1e-4), condim=3, mass=0.0,
        )  # fmt: skip
    for shape in link.visuals:
        _add_shape(
            body, robot, shape, hull=False, contype=0, conaffinity=0, group=VISUAL_GROUP, mass=0.0
        )
    if name == CAMERA_FRAME:
        body.add_camera(name=CAMERA_FRAME, quat=LOOK_AHEAD, fovy=math.degrees(FIELD_OF_VIEW))
    for joint in robot.children(name):
        child = body.add_body(name=joint.child, pos=joint.place.xyz, quat=_turn(joint.place))
        if joint.moves:
            _add_joint(child, joint)
        _add_link(spec, child, robot, joint.child, friction)


def _turn(place: Placement) -> tuple[float, float, float, float]:
    """As MuJoCo has it: w, x, y, z."""
    x, y, z, w = place.transform.rotation
    return w, x, y, z


def _add_joint(body: mujoco.MjsBody, joint: Joint) -> None:
    limited = math.isfinite(joint.limits[0])
    made = body.add_joint(
        name=joint.name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=joint.axis, limited=limited,
        damping=joint.damping, frictionloss=joint.friction,
    )  # fmt: skip
    if limited:
        made.range = joint.limits


def _add_shape(
    body: mujoco.MjsBody, robot: Robot, shape: Shape, *, hull: bool, **options: object
) -> None:
    place: Placement = shape.place
    common = {'pos': place.xyz, 'quat': _turn(place), **options}
    if shape.kind == 'box':
        half = tuple(edge / 2 for edge in shape.size)
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=half, rgba=(*shape.rgb, 1), **common)
    elif shape.kind == 'cylinder':
        radius, length = shape.size
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=(radius, length / 2, 0.0),
            rgba=(*shape.rgb, 1), **common,
        )  # fmt: skip
    elif shape.file is not None and hull:
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f'{shape.file.stem}_hull', **common
        )
    elif shape.file is not None:
        for number, mesh in enumerate(robot.meshes[shape.file]):
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f'{shape.file.stem}_{number}',
                rgba=(*mesh.rgb, 1), **common,
            )  # fmt: skip
