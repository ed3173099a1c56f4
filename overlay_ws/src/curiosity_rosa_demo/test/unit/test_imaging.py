# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Pictures: darkened, labelled, refused with the reason, kept; the ground in them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
import json
import math
from pathlib import Path
import re
import struct
from typing import Any
import zlib

from curiosity_rosa_demo.agent.rule_model.texts import ground_text
from curiosity_rosa_demo.agent.topics.captures import Artifacts
from curiosity_rosa_demo.domain.ground import Geometry, GroundAnalysis, TextureClass
from curiosity_rosa_demo.domain.models import LightScore, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.pictures import Capture, Picture
from curiosity_rosa_demo.imaging.ground.analysis import analyze, GroundRefused
from curiosity_rosa_demo.imaging.ground.texture import texture_of
from curiosity_rosa_demo.imaging.ground.view import hidden, leaning, Lens, Scene
from curiosity_rosa_demo.imaging.image_header import DecodeError, EncodeError, picture_size
from curiosity_rosa_demo.imaging.pixels import (
    decode_picture,
    encode_jpeg,
    ENCODINGS,
    Pixels,
    raw_pixels,
)
from curiosity_rosa_demo.infra.config.limits import PartConfig
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.sim.image_pipeline import ImagePipeline, Label
from curiosity_rosa_demo.sim.light_model import LightModel
from curiosity_rosa_demo.trace.trace_codec import new_event
from curiosity_stand_in.renderer import Renderer
import cv2
from examples import examples
from ground_views import BODY, gentle_relief, judged, views
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from missions.rover_twin import ANALYSIS
import numpy as np
import numpy.typing as npt
import pytest
from skill_world import no_file_beyond
from skimage import data

# --- compressed pictures -------------------------------------------------------------------------


SUBSAMPLINGS = {
    '4:4:4': cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,
    '4:2:2': cv2.IMWRITE_JPEG_SAMPLING_FACTOR_422,
    '4:2:0': cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420,
    '4:4:0': cv2.IMWRITE_JPEG_SAMPLING_FACTOR_440,
    '4:1:1': cv2.IMWRITE_JPEG_SAMPLING_FACTOR_411,
    'grey': None,
}
DIM = LightScore(score=0.42, is_good=False)
BRIGHT = LightScore(score=1.0, is_good=True)
LIGHTS = st.builds(
    lambda score: LightScore(score=score, is_good=score >= 0.8), st.floats(0.0, 1.0)
)


@cache
def ground(width: int, height: int, seed: int = 1) -> Pixels:
    """BGR pixels with the statistics of a picture: coarse strong patches, fine weak noise."""
    random = np.random.default_rng(seed)
    pixels = np.full((height, width, 3), (70.0, 105.0, 150.0), np.float32)
    for grain, strength in ((1, 6), (4, 25), (16, 90)):
        noise = random.standard_normal((height, width, 3)).astype(np.float32)
        pixels += strength * cv2.GaussianBlur(noise, (0, 0), grain)
    return np.clip(pixels, 0, 255).astype(np.uint8)


def jpeg(
    pixels: Pixels, subsampling: str = '4:2:0', progressive: bool = False, quality: int = 85
) -> bytes:
    flags = [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_PROGRESSIVE, int(progressive)]
    factor = SUBSAMPLINGS[subsampling]
    if factor is None:
        pixels = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)  # type: ignore[assignment]
    else:
        flags += [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, factor]
    return cv2.imencode('.jpg', pixels, flags)[1].tobytes()


def pixels_of(data: bytes) -> Pixels:
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert pixels is not None
    return pixels  # type: ignore[return-value]


def darkened(data: bytes, light: LightScore, *, label: bool = True, quality: int = 85) -> Pixels:
    return pixels_of(ImagePipeline(quality, 0.15, label).darkened(decode_picture(data), light))


def psnr(got: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> float:
    error = np.mean((got.astype(np.float64) - wanted) ** 2)
    return 10 * float(np.log10(255.0**2 / max(error, 1e-9)))


@pytest.mark.parametrize('subsampling', SUBSAMPLINGS)
def test_the_picture_is_within_40_db_of_the_exact_one(subsampling: str) -> None:
    for size, score, quality in (((400, 400), 0.0, 85), ((399, 301), 0.42, 98), ((64, 17), 1, 98)):
        data = jpeg(ground(*size), subsampling)
        light = LightScore(score=score, is_good=False)
        exact = pixels_of(data).astype(np.float64) * (0.15 + 0.85 * score)
        got = darkened(data, light, label=False, quality=quality)
        assert psnr(got, exact) >= 40.0
        assert np.abs(got.mean(axis=(0, 1)) - exact.mean(axis=(0, 1))).max() < 1.0  # the colours


@pytest.mark.parametrize('background', [0, 128, 255])
@pytest.mark.parametrize('size', [(320, 240), (120, 300)])
def test_the_text_is_burned_in_and_reads_on_any_ground(
    size: tuple[int, int], background: int
) -> None:
    width, height = size
    data = jpeg(np.full((height, width, 3), background, np.uint8))
    with_text = darkened(data, BRIGHT).astype(int)
    without = darkened(data, BRIGHT, label=False).astype(int)
    x0, y0, x1, y1 = Label.of(BRIGHT, width, height).box
    assert x1 - x0 >= width * 0.5 or y1 - y0 >= height / 22
    grey = with_text[y0:y1, x0:x1].mean(axis=2)
    assert np.percentile(grey, 99) - np.percentile(grey, 20) > 120  # light strokes, dark box
    changed = np.abs(with_text - without).max(axis=2) > 40
    assert not changed[: max(0, y0 - 16)].any()


@given(light=LIGHTS, width=st.integers(1, 4000), height=st.integers(1, 4000))
def test_the_label_lies_inside_the_picture(light: LightScore, width: int, height: int) -> None:
    x0, y0, x1, y1 = Label.of(light, width, height).box
    assert 0 <= x0 < x1 <= width
    assert 0 <= y0 < y1 <= height
    verdict = 'GOOD' if light.is_good else 'DARK'
    assert Label.of(light, 800, 800).text == f'score {light.score:.2f}  {verdict}'


def png_header(width: int, height: int) -> bytes:
    body = b'IHDR' + struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)
    return (
        b'\x89PNG\r\n\x1a\n' + struct.pack('>I', 13) + body + struct.pack('>I', zlib.crc32(body))
    )


def with_size(data: bytes, width: int, height: int) -> bytes:
    at = data.index(b'\xff\xc0')
    return data[: at + 5] + struct.pack('>HH', height, width) + data[at + 9 :]


SMALL = jpeg(ground(48, 40))
IDAT = struct.pack('>I', 4) + b'IDAT' + bytes(8)
THUMBNAIL = b'\xff\xe1' + struct.pack('>H', len(SMALL) + 2) + SMALL
UNDECODABLE: list[tuple[bytes, str]] = [
    (b'', 'holds no data'),
    (b'not a picture', 'neither JPEG nor PNG'),
    (b'\xff\xd8', 'cut off'),
    (SMALL[:200], 'cut off'),
    (SMALL[:-50], 'cut off'),
    (SMALL[:2] + THUMBNAIL + SMALL[2:-50], 'cut off'),
    (with_size(SMALL, 65535, 65535), 'more than 64 megapixels'),
    (png_header(30_000, 30_000) + IDAT, 'more than 64 megapixels'),
    (png_header(30, 30), '.'),
    (png_header(30, 30)[:20], 'cut off'),
]


@given(st.integers(8, 200), st.integers(8, 200), st.integers(1, 400))
def test_a_part_of_the_pixels_shows_the_whole_picture(width: int, height: int, least: int) -> None:
    data = jpeg(ground(width, height))
    whole, part = decode_picture(data), decode_picture(data, least)
    assert min(least, max(width, height)) <= max(part.shape[:2])
    assert max(part.shape[:2]) <= max(2 * least, max(width, height) / 8 + 1)
    small: Any = cv2.resize(whole, part.shape[1::-1], interpolation=cv2.INTER_AREA)
    assert psnr(part, small.astype(np.float64)) >= 25.0


@settings(max_examples=examples(150))
@given(st.sampled_from(sorted(SUBSAMPLINGS)), st.booleans(), st.floats(0, 1, exclude_max=True))
def test_every_cut_is_refused_and_a_wrong_byte_gives_a_picture_or_the_reason(
    source: str, progressive: bool, where: float
) -> None:
    """A warning is an error here, a crash ends the test run."""
    data = bytearray(jpeg(ground(40, 24), source, progressive))
    at = int(where * len(data))
    with pytest.raises(DecodeError):
        decode_picture(bytes(data[:at]))
    data[at] ^= 1 + at % 255
    with suppress(DecodeError):
        assert darkened(bytes(data), DIM) is not None


def test_a_picture_too_wide_for_jpeg_is_refused() -> None:
    with pytest.raises(EncodeError, match=r'^Image cannot be encoded: '):
        encode_jpeg(np.zeros((2, 70_000), np.uint8), 85)


# --- raw pictures --------------------------------------------------------------------------------


BLUE, GREEN, RED = 30, 90, 210


@dataclass(frozen=True)
class Raw:
    encoding: str
    width: int
    height: int
    step: int
    data: bytes = field(repr=False)
    is_bigendian: int = 0


def raw(
    encoding: str, width: int, height: int, *, padding: int = 0, is_bigendian: bool = False
) -> Raw:
    """A picture of one colour, without an alpha of its own."""
    bits = 16 if encoding.endswith('16') else 8
    channels = {'r': RED, 'g': GREEN, 'b': BLUE, 'a': 7}
    if encoding.startswith('bayer'):
        pattern = encoding[6:10]
        cells = np.array([channels[each] for each in pattern]).reshape(2, 2)
        values = np.tile(cells, (height // 2 + 1, width // 2 + 1))[:height, :width, None]
    elif encoding.startswith('mono'):
        values = np.full((height, width, 1), GREEN)
    elif encoding in ('yuv422', 'uyvy', 'yuv422_yuy2', 'yuyv'):
        y, u, v = yuv(BLUE, GREEN, RED)
        four = (u, y, v, y) if encoding in ('yuv422', 'uyvy') else (y, u, y, v)
        values = np.tile(np.array(four).reshape(1, 2, 2), (height, width // 2 + 1, 1))[:, :width]
    else:
        one = [channels[each] for each in encoding.rstrip('0123456789')]
        values = np.tile(np.array(one), (height, width, 1))
    scale, kind = (257, 'u2') if bits == 16 else (1, 'u1')
    rows = (values * scale).astype(f'{">" if is_bigendian else "<"}{kind}').reshape(height, -1)
    data = b''.join(row.tobytes() + b'\xee' * padding for row in rows)
    return Raw(encoding, width, height, len(data) // height, data, int(is_bigendian))


def yuv(blue: int, green: int, red: int) -> tuple[int, int, int]:
    """ITU-R BT.601 with the range of video."""
    y = 16 + 0.257 * red + 0.504 * green + 0.098 * blue
    u = 128 - 0.148 * red - 0.291 * green + 0.439 * blue
    v = 128 + 0.439 * red - 0.368 * green - 0.071 * blue
    return round(y), round(u), round(v)


def expected(image: Raw) -> Any:
    if image.encoding.startswith('mono'):
        return np.full((image.height, image.width), GREEN)
    return np.tile(np.array([BLUE, GREEN, RED]), (image.height, image.width, 1))


@pytest.mark.parametrize('encoding', ENCODINGS)
@given(
    width=st.integers(2, 20).map(lambda half: 2 * half),
    height=st.integers(4, 40),
    padding=st.integers(0, 7),
    is_bigendian=st.booleans(),
    lacks_last=st.booleans(),
)
def test_each_encoding_gives_its_colour(
    encoding: str, width: int, height: int, padding: int, is_bigendian: bool, lacks_last: bool
) -> None:
    image = raw(encoding, width, height, padding=padding, is_bigendian=is_bigendian)
    if lacks_last:  # the padding of the last row
        image = replace(image, data=image.data[: len(image.data) - padding])
    pixels = raw_pixels(image)  # type: ignore[arg-type]
    assert pixels.dtype == np.uint8
    assert pixels.shape == expected(image).shape
    tolerance = 3 if 'y' in encoding.removeprefix('bayer') else 1  # of YUV's integers
    assert np.abs(pixels.astype(int) - expected(image)).max() <= tolerance


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({'encoding': 'grün8'}, "'grün8'"),
    ({'encoding': '32FC1', 'step': 32, 'data': bytes(192)}, "'32FC1'"),
    ({'step': 23}, 'step 23 is too small, a row of 8 rgb8 takes 24'),
    ({'step': 2**32 - 1}, 'need more'),
    ({'data': bytes(100)}, '100 bytes of data, 6 rows of step 24 need more'),
    ({'width': 0}, '0 x 6 is no size'),
    ({'height': 2**32 - 1}, 'more than 64 megapixels'),
    ({'encoding': 'yuv422', 'width': 7}, 'yuv422 has pairs of pixels, and a width of 7 is odd'),
]


def test_what_cannot_be_read_is_refused_with_the_reason_and_a_sound_picture_darkened() -> None:
    wrong = []
    raws = [(replace(raw('rgb8', 8, 6), **change), reason) for change, reason in CHANGES]
    for given_data, reason in [*UNDECODABLE, *raws]:
        read = raw_pixels if isinstance(given_data, Raw) else decode_picture
        with pytest.raises(DecodeError) as refused:
            read(given_data)  # type: ignore[arg-type]
        if not re.match(f'Image cannot be decoded: .*{reason}', str(refused.value)):
            wrong.append((reason, str(refused.value)))
    assert wrong == []
    assert picture_size(with_size(SMALL, 8000, 8000)) == (8000, 8000)
    image = raw('rgb8', 64, 48, padding=5)
    pixels = raw_pixels(image)  # type: ignore[arg-type]
    dark = pixels_of(ImagePipeline(98, 0.15, label=False).darkened(pixels, DIM))
    assert psnr(dark, expected(image).astype(np.float64) * (0.15 + 0.85 * 0.42)) >= 33.0


# --- the light -----------------------------------------------------------------------------------


METRES = st.floats(-1e6, 1e6)


@st.composite
def light_models(draw: st.DrawFn) -> LightModel:
    x_min = draw(METRES)
    x_good = draw(METRES.filter(lambda x: x > x_min))
    return LightModel(x_min, x_good, draw(st.floats(0.0, 1.0)))


@given(light_models(), METRES | st.floats(allow_nan=False, allow_infinity=False))
def test_between_the_ends_it_is_the_formula_of_the_design(model: LightModel, x: float) -> None:
    for end, score in ((model.x_min, 0.0), (model.x_good, 1.0)):
        assert model.score(end).score == score
    wanted = min(1.0, max(0.0, (x - model.x_min) / (model.x_good - model.x_min)))
    light = model.score(x)
    assert 0.0 <= light.score <= 1.0
    assert math.isclose(light.score, wanted, rel_tol=1e-12, abs_tol=1e-12)
    assert light.is_good == (light.score >= model.threshold)


def test_the_shipped_model_is_dark_at_the_start_and_good_ahead() -> None:
    shipped = LightModel.of(load_config().thresholds)
    assert [shipped.score(x).is_good for x in (0.0, 2.5, 4.0)] == [False, False, True]


SIZE, RANGE_M, TILT = 800, 20.0, 0.3
LENS = Lens.of_field_of_view(1.3962634)
HEIGHT = 2.0
SCENE = Scene(LENS, leaning(0.0, TILT, HEIGHT), (BODY,), RANGE_M)


def sand(seed: int = 1) -> np.ndarray:
    """Sand of constant hue with fine and coarse grains."""
    noise = np.random.default_rng(seed).normal(0.0, 1.0, (SIZE, SIZE)).astype(np.float32)
    scales = [cv2.GaussianBlur(noise, (0, 0), sigma) for sigma in (1.0, 3.0, 8.0)]
    light = 1.0 + 0.06 * sum(scale / scale.std() for scale in scales)[..., None]
    return np.clip(np.array([60.0, 92.0, 150.0]) * light, 0, 255).astype(np.uint8)


def with_rock(ahead: float, left: float, width: float) -> np.ndarray:
    picture = sand()
    c, s = math.cos(TILT), math.sin(TILT)
    depth, focal = ahead * c + HEIGHT * s, SIZE * LENS.fx
    column, row = (SIZE / 2 + focal * off / depth for off in (-left, HEIGHT * c - ahead * s))
    half = focal * width / depth / 2
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
        texture, _ = texture_of(photograph(), 0.01)
        assert (texture.name, texture.confidence > 0.5) == (name, True)
    y, x = np.mgrid[0:200, 0:200].astype(np.float64)
    for degrees in (0, 30, 90, 150):
        turn = math.radians(degrees)
        across = x * math.sin(turn) + y * math.cos(turn)
        grain = np.random.default_rng(3).normal(0.0, 12.0, across.shape)
        texture, _ = texture_of((128 + 40 * np.sin(across / 2) + grain).astype(np.uint8), 0.01)
        assert texture.name is TextureClass.RIPPLED
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
@example((1.0, 1.0), (1.0, 1.0), 1.0, (1e-45, 1e-45))  # a division overflows
def test_a_box_hides_a_ray_that_passes_through_it(
    x: tuple[float, float], y: tuple[float, float], top: float, point: tuple[float, float]
) -> None:
    box = PartConfig(x_min=x[0], x_max=x[0] + x[1], y_min=y[0], y_max=y[0] + y[1], height_m=top)
    shares = np.linspace((HEIGHT - top) / HEIGHT, 1.0, 4001)
    way = np.outer(shares, point)
    margins = np.minimum(way - (box.x_min, box.y_min), (box.x_max, box.y_max) - way).min(axis=1)
    assume(abs(margins.max()) > 0.01)  # the samples lie less than that apart
    rays = (np.float32([[one]]) for one in point)
    assert bool(hidden(box, SCENE, *rays)) == (margins.max() > 0.0)


@pytest.mark.parametrize(
    ('picture', 'scene', 'why'),
    [
        ((0.1 * sand()).astype(np.uint8), SCENE, 'too dark'),
        (np.full((SIZE, SIZE, 3), 255, np.uint8), SCENE, 'overexposed'),
        (cv2.GaussianBlur(with_rock(6, 0, 0.8), (0, 0), 4), SCENE, 'blurred'),
        (sand(), replace(SCENE, mount=leaning(0.0, -0.9, HEIGHT)), 'shows ground'),
    ],
    ids=['dark', 'bright', 'blurred', 'sky'],
)
def test_it_refuses_in_words(picture: np.ndarray, scene: Scene, why: str) -> None:
    with pytest.raises(GroundRefused, match=f'^Ground cannot be analyzed: .*{why}'):
        analyze(picture, scene)


@pytest.mark.slow
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
    found, without = judged(Renderer(relief=lean.get('relief')), views(10, **lean))
    assert found.refusals == []
    assert found.rocks > 35
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
    scene = replace(SCENE, note='No camera info on /camera_info')
    analysis, _ = analyze(with_rock(6.0, 0.0, 0.8), scene)
    assert analysis.geometry is Geometry.ESTIMATED
    for language, words in ANSWERS.items():
        text = ground_text(language, analysis.model_dump(mode='json'))
        assert [word for word in words if word not in text] == [], text


def result(tool: str = 'capture_and_score', *, ok: bool = True, **data: Any) -> TraceEvent:
    return new_event(TraceKind.RESULT, tool, tool_name=tool, ok=ok, score=0.5, data=data)


def test_the_folder_holds_what_the_last_capture_made_and_nothing_older(tmp_path: Path) -> None:
    pictures: dict[str, bytes] = {}

    def of(event: TraceEvent) -> Capture | None:
        jpeg = pictures.get(event.event_id)
        return jpeg and Capture(event.event_id, Picture(jpeg, 0.0, 0.0), 0.5, False, None)

    def make(*, fresh: bool = True) -> Artifacts:
        annotated = Picture(b'annotated', 0.0, 0.0)
        return Artifacts(str(tmp_path / 'deep'), of, lambda event: annotated, fresh=fresh)

    def take(jpeg: bytes) -> None:
        event = result()
        pictures[event.event_id] = jpeg
        artifacts.record_event(event)

    def there() -> list[str]:
        return sorted(file.name for file in (tmp_path / 'deep').iterdir())

    artifacts = make()
    for jpeg in (b'first', b'second'):
        take(jpeg)
        assert artifacts.picture.read_bytes() == jpeg
    for event in (result(ok=False), result('move_stop')):
        artifacts.record_event(event)
    assert artifacts.picture.read_bytes() == b'second'
    with no_file_beyond(100), pytest.raises(OSError, match='File too large'):
        take(bytes(10_000))  # no half picture, and no earlier one
    assert there() == []
    take(bytes(10_000))
    assert artifacts.picture.stat().st_size == 10_000
    with pytest.raises(OSError, match='has not come'):
        artifacts.record_event(result())
    assert there() == []
    data = ANALYSIS.model_dump(mode='json')
    artifacts.record_event(result('analyze_ground', **data))
    assert json.loads(artifacts.analysis.read_text()) == data
    assert artifacts.analysis_picture.read_bytes() == b'annotated'
    take(b'next')
    assert there() == ['capture.jpg']
    assert make(fresh=False).picture.exists()
    assert not make().picture.exists()
