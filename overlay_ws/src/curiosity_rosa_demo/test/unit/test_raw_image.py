# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Raw images: each encoding, with padding and in both byte orders."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from curiosity_rosa_demo.imaging.image_header import DecodeError
from curiosity_rosa_demo.imaging.raw_image import ALIASES, ENCODINGS, pixels_of
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

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
    pixels = pixels_of(image)
    assert pixels.dtype == np.uint8
    assert pixels.shape == expected(image).shape
    tolerance = 3 if 'y' in encoding.removeprefix('bayer') else 1  # of YUV's integers
    assert np.abs(pixels.astype(int) - expected(image)).max() <= tolerance


def test_the_pixels_are_a_copy() -> None:
    for encoding in ('bgr8', 'mono8', 'rgb8'):
        image = raw(encoding, 4, 4)
        image = replace(image, data=bytearray(image.data))  # type: ignore[arg-type]
        pixels = pixels_of(image)
        pixels[:] = 0
        assert any(image.data)


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
def test_what_cannot_be_read_is_named(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(DecodeError) as refused:
        pixels_of(replace(raw('rgb8', 8, 6), **change))
    assert str(refused.value).startswith('Image cannot be decoded: ')
    assert reason in str(refused.value)
