# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Reads the triangles of a COLLADA 1.4 file: positions, node matrices and a colour a material."""

from __future__ import annotations

from collections import defaultdict
import functools
from pathlib import Path
import xml.etree.ElementTree as ET

from curiosity_stand_in.robot import Floats, Mesh, Vector
import cv2
import numpy as np

NS = '{http://www.collada.org/2005/11/COLLADASchema}'
GREY: Vector = (0.6, 0.6, 0.6)


def read(file: Path) -> tuple[Mesh, ...]:
    """One mesh for each material, in the file's own frame. Raises ValueError and OSError."""
    try:
        root = ET.parse(file).getroot()
        parts = _parts(root)
        colours = _colours(root, file.parent)
    except (ET.ParseError, KeyError, IndexError, ValueError) as error:
        raise ValueError(f'{file}: no COLLADA file that this reads: {error}') from None
    return tuple(
        Mesh(points, np.arange(len(points), dtype=np.int32).reshape(-1, 3), colours[material])
        for material, points in parts.items()
    )


def _parts(root: ET.Element) -> dict[str, Floats]:
    """The corners of all triangles, three rows each, by material."""
    found: dict[str, list[Floats]] = defaultdict(list)
    geometries = {each.get('id', ''): each for each in root.iter(f'{NS}geometry')}

    def visit(node: ET.Element, above: Floats) -> None:
        matrix = node.find(f'{NS}matrix')
        here = above if matrix is None else above @ _numbers(matrix).reshape(4, 4)
        for instance in node.findall(f'{NS}instance_geometry'):
            materials = {
                each.get('symbol', ''): each.get('target', '')[1:]
                for each in instance.iter(f'{NS}instance_material')
            }
            for symbol, points in _triangles(geometries[instance.get('url', '')[1:]]):
                moved = points @ here[:3, :3].T + here[:3, 3]
                found[materials.get(symbol, '')].append(moved)
        for child in node.findall(f'{NS}node'):
            visit(child, here)

    for scene in root.iter(f'{NS}visual_scene'):
        for node in scene.findall(f'{NS}node'):
            visit(node, np.eye(4))
    return {material: np.concatenate(points) for material, points in found.items()}


def _triangles(geometry: ET.Element) -> list[tuple[str, Floats]]:
    """The material's symbol and the corners of each list of triangles."""
    arrays = {
        each.get('id', ''): _numbers(each.find(f'{NS}float_array')).reshape(-1, 3)
        for each in geometry.iter(f'{NS}source')
        if each.find(f'.//{NS}accessor').get('stride') == '3'  # type: ignore[union-attr]
    }
    for vertices in geometry.iter(f'{NS}vertices'):
        source = vertices.find(f"{NS}input[@semantic='POSITION']")
        if source is not None:
            arrays[vertices.get('id', '')] = arrays[source.get('source', '')[1:]]
    result = []
    for triangles in geometry.iter(f'{NS}triangles'):
        inputs = triangles.findall(f'{NS}input')
        width = 1 + max(int(each.get('offset', 0)) for each in inputs)
        corner = next(each for each in inputs if each.get('semantic') == 'VERTEX')
        indices = _numbers(triangles.find(f'{NS}p')).astype(int).reshape(-1, width)
        points = arrays[corner.get('source', '')[1:]][indices[:, int(corner.get('offset', 0))]]
        result.append((triangles.get('material', ''), points))
    return result


def _colours(root: ET.Element, folder: Path) -> dict[str, Vector]:
    """The diffuse colour of each material; of a texture, its mean."""
    files = {
        each.get('id', ''): each.findtext(f'{NS}init_from', '') for each in root.iter(f'{NS}image')
    }
    effects: dict[str, Vector] = {}
    for effect in root.iter(f'{NS}effect'):
        diffuse = effect.find(f'.//{NS}diffuse')
        colour = None if diffuse is None else diffuse.find(f'{NS}color')
        image = next((each.text for each in effect.iter(f'{NS}init_from')), '')
        if colour is not None:
            red, green, blue = _numbers(colour)[:3]
            effects[effect.get('id', '')] = (float(red), float(green), float(blue))
        else:
            effects[effect.get('id', '')] = _mean(folder / files.get(image or '', ''))
    colours: dict[str, Vector] = defaultdict(lambda: GREY)
    for material in root.iter(f'{NS}material'):
        instance = material.find(f'{NS}instance_effect')
        if instance is not None:
            colours[material.get('id', '')] = effects.get(instance.get('url', '')[1:], GREY)
    return colours


@functools.cache
def _mean(file: Path) -> Vector:
    """The mean colour of a texture, without the black that no triangle uses."""
    picture = cv2.imread(str(file), cv2.IMREAD_REDUCED_COLOR_4) if file.is_file() else None
    if picture is None:
        return GREY
    pixels = picture.reshape(-1, 3)
    used = pixels[pixels.max(axis=1) > 25]
    blue, green, red = (used if len(used) else pixels).mean(axis=0) / 255.0
    return float(red), float(green), float(blue)


def _numbers(element: ET.Element | None) -> Floats:
    if element is None or not element.text:
        raise ValueError('an element without numbers')
    return np.array(element.text.split(), dtype=np.float64)
