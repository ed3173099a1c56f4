# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Pictures: darkened by the light, labelled, refused with the reason; each raw encoding."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
import math
import re
import struct
from typing import Any
import zlib

from curiosity_rosa_demo.domain.models import LightScore
from curiosity_rosa_demo.imaging.image_header import picture_size
from curiosity_rosa_demo.imaging.raw_image import ALIASES, ENCODINGS
from curiosity_rosa_demo.imaging.raw_image import pixels_of as pixels_of_raw
from curiosity_rosa_demo.imaging.score_label import Label, Pixels
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.sim.image_pipeline import DecodeError, EncodeError, ImagePipeline
from curiosity_rosa_demo.sim.light_model import LightModel
import cv2
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import numpy.typing as npt
import pytest

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


def pipeline(*, label: bool = True, quality: int = 85) -> ImagePipeline:
    return ImagePipeline(jpeg_quality=quality, min_brightness=0.15, label=label)


def psnr(got: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> float:
    error = np.mean((got.astype(np.float64) - wanted) ** 2)
    return 10 * float(np.log10(255.0**2 / max(error, 1e-9)))


@pytest.mark.parametrize('subsampling', SUBSAMPLINGS)
def test_the_picture_is_within_40_db_of_the_exact_one(subsampling: str) -> None:
    for size, score, quality in (((400, 400), 0.0, 85), ((399, 301), 0.42, 98), ((64, 17), 1, 98)):
        data = jpeg(ground(*size), subsampling)
        light = LightScore(score=score, is_good=False)
        exact = pixels_of(data).astype(np.float64) * (0.15 + 0.85 * score)
        got = pixels_of(pipeline(label=False, quality=quality).compressed(data, light))
        assert psnr(got, exact) >= 40.0
        assert np.abs(got.mean(axis=(0, 1)) - exact.mean(axis=(0, 1))).max() < 1.0  # the colours


@pytest.mark.parametrize('background', [0, 128, 255])
@pytest.mark.parametrize('size', [(320, 240), (120, 300)])
def test_the_text_is_burned_in_and_reads_on_any_ground(
    size: tuple[int, int], background: int
) -> None:
    width, height = size
    data = jpeg(np.full((height, width, 3), background, np.uint8))
    with_text = pixels_of(pipeline().compressed(data, BRIGHT)).astype(int)
    without = pixels_of(pipeline(label=False).compressed(data, BRIGHT)).astype(int)
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
THUMBNAIL = b'\xff\xe1' + struct.pack('>H', len(SMALL) + 2) + SMALL
UNDECODABLE: list[tuple[bytes, str]] = [
    (b'', 'holds no data'),
    (b'not a picture', 'neither JPEG nor PNG'),
    (b'\xff\xd8', 'cut off'),
    (b'\xff\xd8' + bytes(20), 'no JPEG marker at byte 2'),
    (SMALL[:200], 'cut off'),
    (SMALL[:-50], 'cut off'),
    (SMALL[:2] + THUMBNAIL + SMALL[2:-50], 'cut off'),
    (with_size(SMALL, 65535, 65535), 'more than 64 megapixels'),
    (with_size(SMALL, 0, 40), 'is no size'),
    (png_header(30_000, 30_000), 'more than 64 megapixels'),
    (png_header(30, 30), '.'),
    (png_header(30, 30)[:20], 'cut off'),
]


@settings(max_examples=examples(150))
@given(st.sampled_from(sorted(SUBSAMPLINGS)), st.booleans(), st.floats(0, 1, exclude_max=True))
def test_every_cut_is_refused_and_a_wrong_byte_gives_a_picture_or_the_reason(
    source: str, progressive: bool, where: float
) -> None:
    """A warning is an error here, a crash ends the test run."""
    data = bytearray(jpeg(ground(40, 24), source, progressive))
    at = int(where * len(data))
    with pytest.raises(DecodeError):
        pipeline().compressed(bytes(data[:at]), DIM)
    data[at] ^= 1 + at % 255
    with suppress(DecodeError):
        assert pixels_of(pipeline().compressed(bytes(data), DIM)) is not None


def test_a_picture_too_wide_for_jpeg_and_settings_out_of_range_are_refused() -> None:
    wide = cv2.imencode('.png', np.zeros((2, 70_000), np.uint8))[1].tobytes()
    with pytest.raises(EncodeError, match=r'^Image cannot be encoded: '):
        pipeline().compressed(wide, DIM)
    for quality, brightness, named in ((0, 0.1, 'jpeg'), (101, 0.1, 'jpeg'), (85, -0.1, 'min_')):
        with pytest.raises(ValueError, match=named):
            ImagePipeline(jpeg_quality=quality, min_brightness=brightness)


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


@pytest.mark.parametrize('encoding', [*ENCODINGS, *ALIASES])
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
    pixels = pixels_of_raw(image)
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
        read = pipeline().raw if isinstance(given_data, Raw) else pipeline().compressed
        with pytest.raises(DecodeError) as refused:
            read(given_data, DIM)  # type: ignore[arg-type]
        if not re.match(f'Image cannot be decoded: .*{reason}', str(refused.value)):
            wrong.append((reason, str(refused.value)))
    assert wrong == []
    assert picture_size(with_size(SMALL, 8000, 8000)) == (8000, 8000)
    image = raw('rgb8', 64, 48, padding=5)
    dark = pixels_of(pipeline(label=False, quality=98).raw(image, DIM))
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


def test_a_model_or_a_position_that_makes_no_sense_is_refused() -> None:
    shipped = LightModel.of(load_config().thresholds)
    assert [shipped.score(x).is_good for x in (0.0, 2.5, 4.0)] == [False, False, True]
    with pytest.raises(ValueError, match='x must be finite'):
        shipped.score(math.nan)
    rows = {(5, 0, 0.8): 'x_good', (-math.inf, 5, 0.8): 'x_min', (0, 5, math.nan): 'threshold'}
    for values, named in rows.items():
        with pytest.raises(ValueError, match=named):
            LightModel(*values)
