# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
import io
import struct
from typing import Any
import zlib

from curiosity_rosa_demo.domain.models import LightScore
from curiosity_rosa_demo.imaging.image_header import MAX_PIXELS, picture_size
from curiosity_rosa_demo.imaging.score_label import Label, Pixels
from curiosity_rosa_demo.sim.image_pipeline import DecodeError, EncodeError, ImagePipeline
import cv2
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import numpy.typing as npt
import pytest

SUBSAMPLINGS = {
    '4:4:4': cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,
    '4:2:2': cv2.IMWRITE_JPEG_SAMPLING_FACTOR_422,
    '4:2:0': cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420,
    '4:4:0': cv2.IMWRITE_JPEG_SAMPLING_FACTOR_440,
    '4:1:1': cv2.IMWRITE_JPEG_SAMPLING_FACTOR_411,
    'grey': None,
}
DARK = LightScore(score=0.0, is_good=False)
DIM = LightScore(score=0.42, is_good=False)
BRIGHT = LightScore(score=1.0, is_good=True)
LIGHTS = st.builds(
    lambda score: LightScore(score=score, is_good=score >= 0.8), st.floats(0.0, 1.0)
)

each_subsampling = pytest.mark.parametrize('subsampling', SUBSAMPLINGS)


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


@each_subsampling
@pytest.mark.parametrize(
    ('size', 'score', 'quality'),
    [((400, 400), 0.0, 85), ((399, 301), 0.42, 98), ((64, 17), 1.0, 98)],
)
def test_the_picture_is_within_40_db_of_the_exact_one(
    subsampling: str, size: tuple[int, int], score: float, quality: int
) -> None:
    data = jpeg(ground(*size), subsampling)
    light = LightScore(score=score, is_good=False)
    exact = pixels_of(data).astype(np.float64) * (0.15 + 0.85 * score)
    got = pixels_of(pipeline(label=False, quality=quality).compressed(data, light))
    assert psnr(got, exact) >= 40.0
    assert np.abs(got.mean(axis=(0, 1)) - exact.mean(axis=(0, 1))).max() < 1.0  # the colours


@given(light=LIGHTS, width=st.integers(1, 90), height=st.integers(1, 90), data=st.data())
@settings(max_examples=examples(60))
def test_any_size_score_and_subsampling_gives_a_picture_of_the_same_size(
    light: LightScore, width: int, height: int, data: st.DataObject
) -> None:
    subsampling = data.draw(st.sampled_from(sorted(SUBSAMPLINGS)))
    picture = jpeg(ground(width, height), subsampling, progressive=data.draw(st.booleans()))
    out = pipeline().compressed(picture, light)
    assert pixels_of(out).shape == (height, width, 3)


@pytest.mark.parametrize('subsampling', ['4:2:0', '4:1:1', 'grey'])
@pytest.mark.parametrize('size', [(1920, 1080), (320, 240), (120, 300)])
@pytest.mark.parametrize('background', [0, 128, 255])
def test_the_text_is_burned_in_and_reads_on_any_ground(
    subsampling: str, size: tuple[int, int], background: int
) -> None:
    width, height = size
    data = jpeg(np.full((height, width, 3), background, np.uint8), subsampling)
    with_text = pixels_of(pipeline().compressed(data, BRIGHT)).astype(int)
    without = pixels_of(pipeline(label=False).compressed(data, BRIGHT)).astype(int)
    x0, y0, x1, y1 = Label.of(BRIGHT, width, height).box
    assert x0 < width * 0.05
    assert y1 > height * 0.95
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


def test_progressive_png_and_padded_pictures_work() -> None:
    pixels = ground(64, 48)
    for data in (
        jpeg(pixels, progressive=True),
        cv2.imencode('.png', pixels)[1].tobytes(),
        cv2.imencode('.png', pixels[:, :, 0])[1].tobytes(),
        jpeg(pixels) + bytes(10),  # after its end
    ):
        assert pixels_of(pipeline().compressed(data, DIM)).shape == (48, 64, 3)


# --- what cannot be decoded --------------------------------------------------------------------


def png_header(width: int, height: int) -> bytes:
    body = b'IHDR' + struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)
    return (
        b'\x89PNG\r\n\x1a\n' + struct.pack('>I', 13) + body + struct.pack('>I', zlib.crc32(body))
    )


def with_size(data: bytes, width: int, height: int) -> bytes:
    at = data.index(b'\xff\xc0')
    return data[: at + 5] + struct.pack('>HH', height, width) + data[at + 9 :]


SMALL = jpeg(ground(48, 40))
UNDECODABLE = {
    'nothing': (b'', 'holds no data'),
    'text': (b'not a picture', 'neither JPEG nor PNG'),
    'only a start': (b'\xff\xd8', 'cut off'),
    'no marker': (b'\xff\xd8' + bytes(20), 'no JPEG marker at byte 2'),
    'cut in the header': (SMALL[:200], 'cut off'),
    'cut in the scan': (SMALL[:-50], 'cut off'),
    'cut after a thumbnail': (
        SMALL[:2] + b'\xff\xe1' + struct.pack('>H', len(SMALL) + 2) + SMALL + SMALL[2:-50],
        'cut off',
    ),
    'JPEG of 4 gigapixels': (with_size(SMALL, 65535, 65535), 'more than 64 megapixels'),
    'JPEG without a size': (with_size(SMALL, 0, 40), 'is no size'),
    'PNG bomb': (png_header(30_000, 30_000), 'more than 64 megapixels'),
    'PNG cut off': (png_header(30, 30), ''),
    'PNG cut in the header': (png_header(30, 30)[:20], 'cut off'),
}


@pytest.mark.parametrize('name', UNDECODABLE)
def test_what_cannot_be_decoded_is_refused_with_the_reason(name: str) -> None:
    data, reason = UNDECODABLE[name]
    with pytest.raises(DecodeError) as refused:
        pipeline().compressed(data, DIM)
    assert str(refused.value).startswith('Image cannot be decoded: ')
    assert reason in str(refused.value)
    assert len(str(refused.value)) > len('Image cannot be decoded: ')


def test_the_largest_size_is_the_limit() -> None:
    assert picture_size(with_size(SMALL, 8000, 8000)) == (8000, 8000)
    assert MAX_PIXELS == 8000 * 8000


def survives(data: bytes) -> None:
    """A picture, or the typed error; a warning is an error here, a crash ends the test run."""
    try:
        out = pipeline().compressed(data, DIM)
    except DecodeError as error:
        reason = str(error)
    else:
        assert pixels_of(out) is not None
        return
    assert reason.startswith('Image cannot be decoded: ')


@given(
    source=st.sampled_from(sorted(SUBSAMPLINGS)),
    progressive=st.booleans(),
    where=st.floats(0.0, 1.0, exclude_max=True),
    value=st.integers(0, 255),
)
@settings(max_examples=examples(150))
def test_one_wrong_byte_gives_a_picture_or_the_reason(
    source: str, progressive: bool, where: float, value: int
) -> None:
    data = bytearray(jpeg(ground(40, 24), source, progressive))
    data[int(where * len(data))] = value
    survives(bytes(data))


@given(source=st.sampled_from(sorted(SUBSAMPLINGS)), where=st.floats(0.0, 1.0, exclude_max=True))
@settings(max_examples=examples(150))
def test_every_cut_is_refused(source: str, where: float) -> None:
    data = jpeg(ground(40, 24), source)
    with pytest.raises(DecodeError):
        pipeline().compressed(data[: int(where * len(data))], DIM)


def test_a_picture_too_wide_for_jpeg_is_an_encode_error() -> None:
    wide = cv2.imencode('.png', np.zeros((2, 70_000), np.uint8))[1].tobytes()
    with pytest.raises(EncodeError, match=r'^Image cannot be encoded: '):
        pipeline().compressed(wide, DIM)
    with pytest.raises(EncodeError, match=r'^Image cannot be encoded: '):
        pipeline().raw(raw('mono8', np.zeros((1, 70_000, 3), np.uint8)), DIM)


@pytest.mark.parametrize(
    ('quality', 'brightness', 'named'),
    [(0, 0.1, 'jpeg_quality'), (101, 0.1, 'jpeg_quality'), (85, -0.1, 'min_brightness')],
)
def test_settings_out_of_range_are_refused(quality: int, brightness: float, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        ImagePipeline(jpeg_quality=quality, min_brightness=brightness)


# --- raw pictures ------------------------------------------------------------------------------


@dataclass
class Raw:
    encoding: str
    width: int
    height: int
    step: int
    data: bytes = field(repr=False)
    is_bigendian: int = 0


def raw(encoding: str, bgr: Pixels, padding: int = 0) -> Raw:
    red, green, blue = bgr[:, :, 2], bgr[:, :, 1], bgr[:, :, 0]
    alpha = np.full_like(red, 7)
    channels = {
        'rgb8': [red, green, blue],
        'bgr8': [blue, green, red],
        'rgba8': [red, green, blue, alpha],
        'bgra8': [blue, green, red, alpha],
        'mono8': [green],
    }[encoding]
    height, width = red.shape
    rows = np.stack(channels, axis=2).reshape(height, -1)
    out = io.BytesIO()
    for row in rows:
        out.write(row.tobytes() + b'\xee' * padding)
    return Raw(encoding, width, height, rows.shape[1] + padding, out.getvalue())


@given(
    encoding=st.sampled_from(['rgb8', 'bgr8', 'rgba8', 'bgra8', 'mono8']),
    padding=st.integers(0, 9),
    lacks_last=st.booleans(),
    width=st.integers(1, 70),
    height=st.integers(1, 70),
    score=st.floats(0.0, 1.0),
)
def test_raw_pictures_are_darkened_and_padding_is_not_shown(
    encoding: str, padding: int, lacks_last: bool, width: int, height: int, score: float
) -> None:
    bgr = cv2.GaussianBlur(ground(width, height), (0, 0), 3).astype(np.uint8)
    light = LightScore(score=score, is_good=False)
    source = bgr[:, :, 1:2].repeat(3, axis=2) if encoding == 'mono8' else bgr
    image = raw(encoding, bgr, padding)
    if lacks_last:
        image.data = image.data[: len(image.data) - padding]
    out = pipeline(label=False, quality=98).raw(image, light)
    assert psnr(pixels_of(out), source.astype(np.float64) * (0.15 + 0.85 * score)) >= 33.0


@pytest.mark.parametrize(
    ('change', 'reason'),
    [
        ({'encoding': '16UC1'}, "encoding '16UC1' is not supported; supported: rgb8, bgr8, rgba8"),
        ({'encoding': ''}, "encoding '' is not supported"),
        ({'step': 59}, 'step 59 is too small, a row of 20 rgb8 takes 60'),
        ({'data': b''}, '0 bytes of data, 10 rows of step 60 need more'),
        ({'height': 11}, '600 bytes of data, 11 rows of step 60 need more'),
        ({'width': 0}, '0 x 10 is no size'),
        ({'height': 2**32 - 1}, 'more than 64 megapixels'),
        ({'step': 2**32 - 1}, 'need more'),
    ],
)
def test_a_raw_picture_that_does_not_add_up_is_refused(
    change: dict[str, Any], reason: str
) -> None:
    image = raw('rgb8', ground(20, 10))
    for name, value in change.items():
        setattr(image, name, value)
    with pytest.raises(DecodeError) as refused:
        pipeline().raw(image, DIM)
    assert str(refused.value).startswith('Image cannot be decoded: ')
    assert reason in str(refused.value)
