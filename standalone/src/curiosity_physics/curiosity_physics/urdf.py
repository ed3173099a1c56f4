# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Reads a rover: our own, rover.urdf, or that of a clone of space-ros/demos, with its meshes."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import math
import os
from pathlib import Path
import tempfile
import xml.etree.ElementTree as ET

from curiosity_physics import collada
from curiosity_physics.robot import FREE, GREY, Joint, Link, Mesh, Place, Robot, Shape, Vector

PACKAGE = 'curiosity_description'
XACRO = Path('models/urdf/curiosity_mars_rover.xacro')
OWN = Path(__file__).with_name('rover.urdf')


def own() -> Robot:
    """The rover of our own making."""
    return _robot(ET.parse(OWN).getroot(), 'a rover of our own')


def read(demos: Path) -> Robot:
    """The rover of the clone in the folder ``demos``, as ``demos.find`` gives it.

    Raises ValueError, which names the file.
    """
    import xacro  # not needed for our own

    with _findable(demos / PACKAGE):
        file = demos / PACKAGE / XACRO
        try:
            root = ET.fromstring(xacro.process_file(str(file)).toxml())
        except Exception as error:  # xacro raises what it likes
            raise ValueError(f'{file}: xacro: {error}') from None
        return _robot(root, 'space-ros/demos')


def _robot(root: ET.Element, origin: str) -> Robot:
    links = {each.get('name', ''): _link(each) for each in root.findall('link')}
    joints = tuple(_joint(each) for each in root.findall('joint'))
    shapes = [shape for link in links.values() for shape in (*link.collisions, *link.visuals)]
    meshes: dict[Path, tuple[Mesh, ...]] = {}
    for shape in shapes:
        if shape.file is not None and shape.file not in meshes:
            try:
                meshes[shape.file] = collada.read(shape.file)
            except OSError as error:
                raise ValueError(f'{shape.file}: {error.strerror}') from None
    (base,) = set(links) - {joint.child for joint in joints}
    return Robot(origin, base, links, joints, meshes)


@contextlib.contextmanager
def _findable(package: Path) -> Iterator[None]:
    """Let ``$(find PACKAGE)`` of xacro answer with this folder."""
    before = os.environ.get('AMENT_PREFIX_PATH', '')
    with tempfile.TemporaryDirectory() as prefix:
        index = Path(prefix, 'share/ament_index/resource_index/packages')
        index.mkdir(parents=True)
        (index / PACKAGE).touch()
        Path(prefix, 'share', PACKAGE).symlink_to(package.resolve())
        os.environ['AMENT_PREFIX_PATH'] = f'{prefix}:{before}'
        try:
            yield
        finally:
            os.environ['AMENT_PREFIX_PATH'] = before


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


def _place(element: ET.Element) -> Place:
    origin = element.find('origin')
    return (
        Place()
        if origin is None
        else Place(_vector(origin.get('xyz')), _vector(origin.get('rpy')))
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
