# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Raw images: one contract for both decoders, OpenCV alone and cv_bridge.

The decoder on cv_bridge runs on the twin in test/cv_bridge_twin.py, and where cv_bridge itself is
installed on that, too: the names of the tests say on which.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
import sys
from typing import Any

from curiosity_rosa_demo.imaging.image_header import DecodeError
from curiosity_rosa_demo.imaging.raw_image import (
    ALIASES,
    CvBridgeDecoder,
    ENCODINGS,
    OpenCvDecoder,
    raw_decoder,
    RawDecoder,
)
from cv_bridge_twin import CvBridge
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

BLUE, GREEN, RED = 30, 90, 210


def decoders() -> dict[str, RawDecoder]:
    found: dict[str, RawDecoder] = {
        'opencv': OpenCvDecoder(),
        'cv_bridge-twin': CvBridgeDecoder(CvBridge()),
    }
    if find_spec('cv_bridge') is not None:
        import cv_bridge

        found['cv_bridge-real'] = CvBridgeDecoder(cv_bridge.CvBridge())
    return found


DECODERS = decoders()
each_decoder = pytest.mark.parametrize('decoder', DECODERS.values(), ids=DECODERS)


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


@each_decoder
@pytest.mark.parametrize('encoding', [*ENCODINGS, *ALIASES])
@given(
    width=st.integers(2, 20).map(lambda half: 2 * half),
    height=st.integers(4, 40),
    padding=st.integers(0, 7),
    is_bigendian=st.booleans(),
    lacks_last=st.booleans(),
)
def test_each_encoding_gives_its_colour(
    decoder: RawDecoder,
    encoding: str,
    width: int,
    height: int,
    padding: int,
    is_bigendian: bool,
    lacks_last: bool,
) -> None:
    image = raw(encoding, width, height, padding=padding, is_bigendian=is_bigendian)
    if lacks_last:  # the padding of the last row
        image = replace(image, data=image.data[: len(image.data) - padding])
    pixels = decoder.pixels(image)
    assert pixels.dtype == np.uint8
    assert pixels.shape == expected(image).shape
    tolerance = 3 if 'y' in encoding.removeprefix('bayer') else 1  # of YUV's integers
    assert np.abs(pixels.astype(int) - expected(image)).max() <= tolerance


@each_decoder
def test_the_pixels_are_a_copy(decoder: RawDecoder) -> None:
    for encoding in ('bgr8', 'mono8', 'rgb8'):
        image = raw(encoding, 4, 4)
        image = replace(image, data=bytearray(image.data))  # type: ignore[arg-type]
        pixels = decoder.pixels(image)
        pixels[:] = 0
        assert any(image.data)


@each_decoder
@pytest.mark.parametrize(
    ('change', 'reason'),
    [
        ({'encoding': 'grün8'}, "'grün8'"),
        ({'encoding': ''}, "encoding ''"),
        ({'encoding': '32FC1', 'step': 32, 'data': bytes(192)}, "'32FC1'"),
        ({'step': 23}, 'step 23 is too small, a row of 8 rgb8 takes 24'),
        ({'data': bytes(100)}, '100 bytes of data, 6 rows of step 24 need more'),
        ({'width': 0}, '0 x 6 is no size'),
        ({'width': 80_000, 'height': 80_000, 'step': 240_000}, 'more than 64 megapixels'),
        (
            {'encoding': 'yuv422', 'width': 7},
            'yuv422 has pairs of pixels, and a width of 7 is odd',
        ),
    ],
)
def test_what_cannot_be_read_is_named(
    decoder: RawDecoder, change: dict[str, Any], reason: str
) -> None:
    with pytest.raises(DecodeError) as refused:
        decoder.pixels(replace(raw('rgb8', 8, 6), **change))
    assert str(refused.value).startswith('Image cannot be decoded: ')
    assert reason in str(refused.value)


def test_without_cv_bridge_the_error_says_what_reads_more() -> None:
    with pytest.raises(DecodeError, match=r'supported: rgb8, .*, or install cv_bridge'):
        OpenCvDecoder().pixels(Raw('nv21', 8, 6, 8, bytes(72)))


def test_cv_bridge_is_taken_where_it_is_installed() -> None:
    wanted = 'cv_bridge' if find_spec('cv_bridge') is not None else 'OpenCV'
    assert raw_decoder().name == wanted


def test_a_cv_bridge_that_cannot_be_loaded_is_left_out_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / 'cv_bridge.py').write_text('raise ImportError("numpy.core failed to import")')
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, 'cv_bridge', raising=False)
    raw_decoder.cache_clear()
    try:
        assert raw_decoder().name == 'OpenCV'
    finally:
        raw_decoder.cache_clear()
    assert 'cv_bridge cannot be loaded' in caplog.text
    assert 'numpy.core failed to import' in caplog.text
