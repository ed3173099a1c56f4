# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The analysis of the ground: named photographs, painted rocks, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

from curiosity_rosa_demo.agent.rule_model.texts import ground_text
from curiosity_rosa_demo.domain.ground import Geometry, GroundAnalysis, TextureClass
from curiosity_rosa_demo.imaging.ground.analysis import analyze, class_of, GroundRefused, Scene
from curiosity_rosa_demo.imaging.ground.texture import texture_of
from curiosity_rosa_demo.imaging.ground.view import Body, CameraPose, Lens
from curiosity_stand_in.renderer import Renderer
import cv2
from ground_views import gentle_relief, judged, views
from hypothesis import assume, given
from hypothesis import strategies as st
import numpy as np
import pytest
from skimage import data

SIZE, RANGE_M, TILT = 800, 20.0, 0.3
LENS = Lens.of_field_of_view(SIZE, SIZE, 1.3962634)
CAMERA = CameraPose.level(2.0, TILT)
BODY = (Body(-1.45, 1.45, -1.3, 1.3, 1.1),)
SCENE = Scene(LENS, CAMERA, BODY, RANGE_M)


def ground(seed: int = 1) -> np.ndarray:
    """Sand of constant hue with fine and coarse grains."""
    noise = np.random.default_rng(seed).normal(0.0, 1.0, (SIZE, SIZE)).astype(np.float32)
    scales = [cv2.GaussianBlur(noise, (0, 0), sigma) for sigma in (1.0, 3.0, 8.0)]
    light = 1.0 + 0.06 * sum(scale / scale.std() for scale in scales)[..., None]
    return np.clip(np.array([60.0, 92.0, 150.0]) * light, 0, 255).astype(np.uint8)


def with_rock(ahead: float, left: float, width: float) -> np.ndarray:
    picture = ground()
    c, s = math.cos(TILT), math.sin(TILT)
    depth = ahead * c + CAMERA.height * s
    column = LENS.cx - LENS.fx * left / depth
    row = LENS.cy + LENS.fy * (CAMERA.height * c - ahead * s) / depth
    half = LENS.fx * width / depth / 2
    corners = (round(column - half), round(row - half)), (round(column + half), round(row))
    cv2.rectangle(picture, *corners, (50, 55, 60), -1)
    return picture


PHOTOGRAPHS = [
    (data.gravel, TextureClass.COARSE_GRAINED),
    (data.grass, TextureClass.FINE_GRAINED),
    (data.brick, TextureClass.JOINTED),
]


def test_photographs_and_ridges_get_their_class_and_ridges_their_direction() -> None:
    for photograph, name in PHOTOGRAPHS:
        found, sure = class_of(texture_of(photograph()))
        assert (found, sure > 0.5) == (name, True)
    y, x = np.mgrid[0:200, 0:200].astype(np.float64)
    for degrees in (0, 30, 90, 150):
        turn = math.radians(degrees)
        across = x * math.sin(turn) + y * math.cos(turn)
        grain = np.random.default_rng(3).normal(0.0, 12.0, across.shape)
        texture = texture_of((128 + 40 * np.sin(across / 2) + grain).astype(np.uint8))
        assert class_of(texture)[0] is TextureClass.RIPPLED
        assert abs((texture.orientation_deg - degrees + 90) % 180 - 90) < 3


@pytest.mark.parametrize(('ahead', 'left'), [(6.0, 0.0), (9.0, 3.0), (12.0, -4.0)])
def test_a_painted_rock_is_found_where_it_stands(ahead: float, left: float) -> None:
    analysis, picture = analyze(with_rock(ahead, left, 0.8), SCENE)
    rock = analysis.largest_rock
    assert analysis.rocks == 1
    assert rock is not None
    assert rock.distance_m == pytest.approx(math.hypot(ahead, left), rel=0.05)
    assert rock.bearing_deg == pytest.approx(math.degrees(math.atan2(left, ahead)), abs=2.0)
    assert rock.width_m == pytest.approx(0.8, rel=0.25)
    assert picture.shape == (SIZE, SIZE, 3)
    assert analysis.geometry is Geometry.MEASURED
    assert GroundAnalysis.model_validate_json(analysis.model_dump_json()) == analysis


@given(
    st.tuples(st.floats(-3.0, 3.0), st.floats(0.1, 3.0)),
    st.tuples(st.floats(-3.0, 3.0), st.floats(0.1, 3.0)),
    st.floats(0.1, 1.9),
    st.tuples(st.floats(-20.0, 20.0), st.floats(-20.0, 20.0)),
)
def test_a_box_hides_a_ray_that_passes_through_it(
    x: tuple[float, float], y: tuple[float, float], top: float, point: tuple[float, float]
) -> None:
    box = Body(x[0], x[0] + x[1], y[0], y[0] + y[1], top)
    shares = np.linspace((CAMERA.height - top) / CAMERA.height, 1.0, 4001)
    way = np.outer(shares, point)
    margins = np.minimum(way - (box.x_min, box.y_min), (box.x_max, box.y_max) - way).min(axis=1)
    assume(abs(margins.max()) > 0.01)  # the samples lie less than that apart
    rays = (np.float32([[one]]) for one in point)
    assert bool(box.hides(CAMERA, *rays)) == (margins.max() > 0.0)


@pytest.mark.parametrize(
    ('picture', 'scene', 'why'),
    [
        ((0.1 * ground()).astype(np.uint8), SCENE, 'too dark'),
        (np.full((SIZE, SIZE, 3), 255, np.uint8), SCENE, 'overexposed'),
        (cv2.GaussianBlur(with_rock(6, 0, 0.8), (0, 0), 4), SCENE, 'blurred'),
        (ground(), Scene(LENS, CameraPose.level(2.0, -0.9), BODY, RANGE_M), 'shows ground'),
    ],
    ids=['dark', 'bright', 'blurred', 'sky'],
)
def test_it_refuses_in_words(picture: np.ndarray, scene: Scene, why: str) -> None:
    with pytest.raises(GroundRefused, match=f'^Ground cannot be analyzed: .*{why}'):
        analyze(picture, scene)


@pytest.mark.parametrize(
    ('lean', 'most', 'unlevelled'),
    [
        ({}, 0.05, 0.0),
        ({'pitch': 0.07}, 0.05, 0.15),
        ({'pitch': 0.15}, 0.05, 0.25),
        ({'roll': -0.15, 'pitch': 0.05}, 0.05, 0.15),
        ({'pitch': 0.07, 'relief': gentle_relief}, 0.10, 0.15),
    ],
    ids=['flat', 'standing', 'nose-up', 'rolled', 'relief'],
)
def test_rocks_of_rendered_scenes_are_found_where_they_stand(
    lean: dict[str, Any], most: float, unlevelled: float
) -> None:
    found, without = judged(Renderer(relief=lean.get('relief')), views(20, **lean))
    assert found.refusals == []
    assert found.rocks > 70
    assert found.recall >= 0.85
    assert found.precision >= 0.95
    assert found.distance_error <= most
    # Without the attitude the same pictures give wrong distances.
    assert without.distance_error >= unlevelled


ANSWERS = {
    'en': ['coarse-grained', '1 rock within', '6.', 'estimates: No camera info'],
    'ja': ['粗い粒状', '1 個', 'm', '推定値'],
    'zh': ['粗粒状', '1 块岩石', '米', '估计值'],
}


def test_the_answer_has_the_numbers() -> None:
    scene = Scene(LENS, CAMERA, BODY, RANGE_M, 'No camera info on /camera_info')
    analysis, _ = analyze(with_rock(6.0, 0.0, 0.8), scene)
    assert analysis.geometry is Geometry.ESTIMATED
    for language, words in ANSWERS.items():
        text = ground_text(language, analysis.model_dump(mode='json'))
        assert [word for word in words if word not in text] == [], text
