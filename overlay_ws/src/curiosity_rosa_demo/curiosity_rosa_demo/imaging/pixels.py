# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Decodes raw images, JPEG and PNG to pixels and encodes pixels as JPEG, with OpenCV."""

from __future__ import annotations

from typing import Any, Protocol

from curiosity_rosa_demo.imaging.image_header import (
    check_size,
    DecodeError,
    EncodeError,
    is_jpeg,
    picture_size,
)
from curiosity_rosa_demo.imaging.score_label import Pixels
import cv2
import numpy as np

# sensor_msgs/Image encodings: bytes per pixel, and OpenCV's conversion to BGR.
_ENCODINGS: dict[str, tuple[int, int | None]] = {
    'rgb8': (3, cv2.COLOR_RGB2BGR),
    'bgr8': (3, None),
    'mono8': (1, None),
    'rgba8': (4, cv2.COLOR_RGBA2BGR),
    'bgra8': (4, cv2.COLOR_BGRA2BGR),
}


class RawImage(Protocol):
    """The used fields of sensor_msgs/Image."""

    encoding: str
    width: int
    height: int
    step: int
    data: Any


def decode_picture(data: bytes) -> Pixels:
    """The pixels of a JPEG or PNG, BGR. Raises DecodeError."""
    # Ignore the EXIF orientation, as YuvJpeg does.
    flags = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION
    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error as error:
        raise DecodeError(_plain(error)) from error
    if pixels is None:
        raise DecodeError('the compressed data is corrupt')
    return pixels  # type: ignore[return-value]


def pixels_of(image: RawImage) -> Pixels:
    """A copy of the pixels of a raw image: BGR, or grey for mono8. Raises DecodeError."""
    known = _ENCODINGS.get(image.encoding)
    if known is None:
        named, supported = image.encoding[:40], ', '.join(_ENCODINGS)
        raise DecodeError(f'encoding {named!r} is not supported; supported: {supported}')
    depth, conversion = known
    width, height, step = image.width, image.height, image.step
    check_size(width, height)
    row = width * depth
    if step < row:
        raise DecodeError(
            f'step {step} is too small, a row of {width} {image.encoding} takes {row}'
        )
    data = np.frombuffer(image.data, np.uint8)
    if data.size < step * (height - 1) + row:
        raise DecodeError(f'{data.size} bytes of data, {height} rows of step {step} need more')
    pixels = np.lib.stride_tricks.as_strided(
        data, shape=(height, width, depth), strides=(step, depth, 1), writeable=False
    )
    if conversion is not None:
        return cv2.cvtColor(np.ascontiguousarray(pixels), conversion)  # type: ignore[return-value]
    return pixels[:, :, 0].copy() if depth == 1 else pixels.copy()


def scaled_jpeg(data: bytes, longest_px: int, quality: int) -> bytes:
    """A JPEG or PNG as a JPEG whose longer side has at most ``longest_px``. Raises ImageError."""
    width, height = picture_size(data)
    if max(width, height) <= longest_px and is_jpeg(data):
        return data
    pixels, part = decode_picture(data), min(1.0, longest_px / max(width, height))
    size = (max(1, round(width * part)), max(1, round(height * part)))
    small: Any = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return encode_jpeg(small, quality)


def encode_jpeg(pixels: Pixels, quality: int) -> bytes:
    """The pixels as a JPEG; ``quality`` is 1 to 100. Raises EncodeError."""
    try:
        done, data = cv2.imencode('.jpg', pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])
    except cv2.error as error:
        raise EncodeError(_plain(error)) from error
    if not done:
        raise EncodeError(f'OpenCV made no JPEG of {pixels.shape[1]} x {pixels.shape[0]}')
    return data.tobytes()


def _plain(error: cv2.error) -> str:
    return str(getattr(error, 'err', '') or error).strip()[:200]
