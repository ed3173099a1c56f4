# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Reads the rover of a clone of space-ros/demos: its xacro files and its meshes."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
from dataclasses import replace
import os
from pathlib import Path
import tempfile
import xml.etree.ElementTree as ET

from curiosity_physics import collada
from curiosity_physics.demos import DESCRIPTION
from curiosity_stand_in.robot import Mesh, parse, Robot

PACKAGE = DESCRIPTION.parts[0]


def read(demos: Path) -> Robot:
    """The rover of the clone in the folder ``demos``, as ``demos.find`` gives it.

    Raises ValueError, which names the file.
    """
    import xacro  # our own rover needs none

    file = demos / DESCRIPTION
    with _findable(demos / PACKAGE):
        try:
            root = ET.fromstring(xacro.process_file(str(file)).toxml())
        except Exception as error:  # xacro raises what it likes
            raise ValueError(f'{file}: xacro: {error}') from None
        robot = parse(root, 'space-ros/demos')
    meshes: dict[Path, tuple[Mesh, ...]] = {}
    for link in robot.links.values():
        for shape in (*link.collisions, *link.visuals):
            if shape.file is not None and shape.file not in meshes:
                try:
                    meshes[shape.file] = collada.read(shape.file)
                except OSError as error:
                    raise ValueError(f'{shape.file}: {error.strerror}') from None
    return replace(robot, meshes=meshes)


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
