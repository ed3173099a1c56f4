# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Decodes sensor_msgs/Image to BGR pixels of 8 bits, or to grey ones for mono8 and mono16."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

from curiosity_rosa_demo.imaging.image_header import check_size, DecodeError
from curiosity_rosa_demo.imaging.score_label import Pixels
import cv2
import numpy as np

SCALE_16_TO_8 = 255.0 / 65535.0  # as cv_bridge does


class RawImage(Protocol):
    """The used fields of sensor_msgs/Image."""

    encoding: str
    width: int
    height: int
    step: int
    is_bigendian: int
    data: Any


@dataclass(frozen=True)
class _Encoding:
    channels: int
    bits: int = 8
    conversion: int | None = None  # OpenCV's, to BGR
    even_width: bool = False


def _with_16_bits(encodings: dict[str, _Encoding]) -> dict[str, _Encoding]:
    wide = {f'{name[:-1]}16': replace(each, bits=16) for name, each in encodings.items()}
    return {**encodings, **wide}


# OpenCV names a Bayer pattern after the second row, ROS after the first.
ENCODINGS: dict[str, _Encoding] = {
    **_with_16_bits(
        {
            'rgb8': _Encoding(3, conversion=cv2.COLOR_RGB2BGR),
            'bgr8': _Encoding(3),
            'rgba8': _Encoding(4, conversion=cv2.COLOR_RGBA2BGR),
            'bgra8': _Encoding(4, conversion=cv2.COLOR_BGRA2BGR),
            'mono8': _Encoding(1),
            'bayer_rggb8': _Encoding(1, conversion=cv2.COLOR_BayerBG2BGR),
            'bayer_bggr8': _Encoding(1, conversion=cv2.COLOR_BayerRG2BGR),
            'bayer_gbrg8': _Encoding(1, conversion=cv2.COLOR_BayerGR2BGR),
            'bayer_grbg8': _Encoding(1, conversion=cv2.COLOR_BayerGB2BGR),
        }
    ),
    'yuv422': _Encoding(2, conversion=cv2.COLOR_YUV2BGR_UYVY, even_width=True),
    'yuv422_yuy2': _Encoding(2, conversion=cv2.COLOR_YUV2BGR_YUY2, even_width=True),
}

ALIASES = {'uyvy': 'yuv422', 'yuyv': 'yuv422_yuy2'}  # newer names


def pixels_of(image: RawImage) -> Pixels:
    """A copy of the pixels: BGR, or grey. Raises DecodeError, for an unknown encoding with those
    that are supported.
    """
    known = ENCODINGS.get(ALIASES.get(image.encoding, image.encoding))
    if known is None:
        raise DecodeError(
            f'encoding {image.encoding[:40]!r} is not supported; supported: '
            f'{", ".join([*ENCODINGS, *ALIASES])}; publish one of these'
        )
    if known.even_width and image.width % 2:
        raise DecodeError(
            f'{image.encoding} has pairs of pixels, and a width of {image.width} is odd'
        )
    rows = packed_rows(image, known.channels * known.bits // 8)
    kind = np.dtype(f'{">" if image.is_bigendian else "<"}u{known.bits // 8}')
    pixels: Any = rows.view(kind).reshape(image.height, image.width, known.channels)
    if known.bits == 16:
        pixels = pixels.astype(np.uint16)
    try:
        if known.conversion is not None:
            pixels = cv2.cvtColor(pixels, known.conversion)
        if known.bits == 16:
            pixels = cv2.convertScaleAbs(pixels, alpha=SCALE_16_TO_8)
    except cv2.error as error:
        raise DecodeError(f'{image.encoding}: {str(error.err).strip()[:200]}') from error
    if known.conversion is None and known.bits == 8:
        pixels = pixels.copy()
    grey = pixels.ndim == 3 and pixels.shape[2] == 1
    return np.asarray(pixels[:, :, 0] if grey else pixels)


def packed_rows(image: RawImage, pixel_bytes: int) -> Any:
    """The rows without padding, as bytes, not to be written to. Raises DecodeError."""
    width, height, step = image.width, image.height, image.step
    check_size(width, height)
    row = width * pixel_bytes
    if step < row:
        raise DecodeError(
            f'step {step} is too small, a row of {width} {image.encoding} takes {row}'
        )
    data = np.frombuffer(image.data, np.uint8)
    if data.size < step * (height - 1) + row:
        raise DecodeError(f'{data.size} bytes of data, {height} rows of step {step} need more')
    rows = np.lib.stride_tricks.as_strided(
        data, shape=(height, row), strides=(step, 1), writeable=False
    )
    return np.ascontiguousarray(rows)
