# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""A robot as links and joints, as a URDF says it; and our own rover, rover.urdf, that of the
stand-in's frames and of the physics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import functools
import math
from pathlib import Path
import xml.etree.ElementTree as ET

from curiosity_rosa_demo.infra.tf import Transform
import numpy as np
from numpy.typing import NDArray

Vector = tuple[float, float, float]
Floats = NDArray[np.float64]
ZERO: Vector = (0.0, 0.0, 0.0)
FREE = (-math.inf, math.inf)
GREY: Vector = (0.55, 0.54, 0.52)


@dataclass(frozen=True)
class Placement:
    """A frame in its parent: metres, and fixed-axis roll, pitch, yaw in radians (URDF)."""

    xyz: Vector = ZERO
    rpy: Vector = ZERO

    @property
    def transform(self) -> Transform:
        (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a / 2), math.sin(a / 2)) for a in self.rpy)
        x, y = sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy
        z, w = cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy
        return Transform(self.xyz, (x, y, z, w))


@dataclass(frozen=True)
class Mesh:
    """Triangles of one colour: ``vertices`` (n, 3) in metres, ``faces`` (m, 3), ``rgb`` 0 to 1."""

    vertices: Floats
    faces: NDArray[np.int32]
    rgb: Vector


@dataclass(frozen=True)
class Shape:
    """``kind`` is box (``size``: its edges), cylinder (its radius, length) or mesh (``file``)."""

    kind: str
    size: tuple[float, ...] = ()
    place: Placement = field(default_factory=Placement)
    file: Path | None = None
    rgb: Vector = GREY


@dataclass(frozen=True)
class Link:
    """``mass`` in kg and ``inertia``, the principal moments in kg m2 about the link's origin."""

    name: str
    mass: float = 0.0
    inertia: Vector = ZERO
    collisions: tuple[Shape, ...] = ()
    visuals: tuple[Shape, ...] = ()


@dataclass(frozen=True)
class Joint:
    """``moves``: turns about ``axis`` within ``limits`` in radians; otherwise fixed."""

    name: str
    parent: str
    child: str
    place: Placement = field(default_factory=Placement)
    moves: bool = False
    axis: Vector = (1.0, 0.0, 0.0)
    limits: tuple[float, float] = FREE
    damping: float = 0.0
    friction: float = 0.0

    def at(self, angle: float) -> Transform:
        """The child in the parent."""
        s, c = math.sin(angle / 2), math.cos(angle / 2)
        x, y, z = (s * part for part in self.axis)
        return self.place.transform @ Transform(ZERO, (x, y, z, c))


@dataclass(frozen=True)
class Robot:
    """A tree of links from ``root``. ``origin`` names it to people."""

    origin: str
    root: str
    links: Mapping[str, Link]
    joints: tuple[Joint, ...]
    meshes: Mapping[Path, tuple[Mesh, ...]] = field(default_factory=dict)

    def children(self, parent: str) -> list[Joint]:
        return [joint for joint in self.joints if joint.parent == parent]


# --- the reader --------------------------------------------------------------------------------

OWN = Path(__file__).with_name('rover.urdf')


@functools.cache
def own() -> Robot:
    """The rover of our own making."""
    return parse(ET.parse(OWN).getroot(), 'a rover of our own')


def parse(root: ET.Element, origin: str) -> Robot:
    """The robot of a URDF, without its meshes. Raises ValueError."""
    links = {each.get('name', ''): _link(each) for each in root.findall('link')}
    joints = tuple(_joint(each) for each in root.findall('joint'))
    (base,) = set(links) - {joint.child for joint in joints}
    return Robot(origin, base, links, joints)


def _link(element: ET.Element) -> Link:
    inertial = element.find('inertial')
    if inertial is None:
        return Link(element.get('name', ''))
    moments = _child(inertial, 'inertia')
    return Link(
        element.get('name', ''),
        float(_child(inertial, 'mass').get('value', '0')),
        (_number(moments, 'ixx'), _number(moments, 'iyy'), _number(moments, 'izz')),
        tuple(_shape(each) for each in element.findall('collision')),
        tuple(_shape(each) for each in element.findall('visual')),
    )


def _shape(element: ET.Element) -> Shape:
    geometry = _child(element, 'geometry')[0]
    place, colour = _place(element), element.find('material/color')
    rgb = GREY if colour is None else _vector(colour.get('rgba', '').rpartition(' ')[0])
    if geometry.tag == 'box':
        return Shape('box', _vector(geometry.get('size')), place, rgb=rgb)
    if geometry.tag == 'cylinder':
        size = _number(geometry, 'radius'), _number(geometry, 'length')
        return Shape('cylinder', size, place, rgb=rgb)
    if geometry.tag == 'mesh':
        # Resolved while the package can be found by its temporary name.
        return Shape('mesh', place=place, file=Path(geometry.get('filename', '')).resolve())
    raise ValueError(f'a shape of the kind {geometry.tag}: it must be box, cylinder or mesh')


def _joint(element: ET.Element) -> Joint:
    axis, limit, dynamics = (element.find(tag) for tag in ('axis', 'limit', 'dynamics'))
    kind = element.get('type')
    limits = FREE
    if kind == 'revolute' and limit is not None:
        limits = _number(limit, 'lower'), _number(limit, 'upper')
    return Joint(
        element.get('name', ''),
        _child(element, 'parent').get('link', ''),
        _child(element, 'child').get('link', ''),
        _place(element),
        kind in ('revolute', 'continuous'),
        _vector(None if axis is None else axis.get('xyz'), (1.0, 0.0, 0.0)),
        limits,
        0.0 if dynamics is None else _number(dynamics, 'damping'),
        0.0 if dynamics is None else _number(dynamics, 'friction'),
    )


def _place(element: ET.Element) -> Placement:
    origin = element.find('origin')
    return (
        Placement()
        if origin is None
        else Placement(_vector(origin.get('xyz')), _vector(origin.get('rpy')))
    )


def _vector(text: str | None, default: Vector = (0.0, 0.0, 0.0)) -> Vector:
    if text is None:
        return default
    x, y, z = (float(word) for word in text.split())
    return x, y, z


def _number(element: ET.Element, name: str) -> float:
    value = float(element.get(name, '0'))
    if not math.isfinite(value):
        raise ValueError(f'{element.tag}: {name} = {value}')
    return value


def _child(element: ET.Element, tag: str) -> ET.Element:
    child = element.find(tag)
    if child is None:
        raise ValueError(f'{element.get("name", element.tag)} has no {tag}')
    return child
