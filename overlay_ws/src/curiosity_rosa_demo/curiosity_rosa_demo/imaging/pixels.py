# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Decodes JPEG and PNG to pixels and encodes pixels as JPEG, with OpenCV."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.imaging.image_header import (
    DecodeError,
    EncodeError,
    is_jpeg,
    picture_size,
)
from curiosity_rosa_demo.imaging.score_label import Pixels
import cv2
import numpy as np


def decode_picture(data: bytes) -> Pixels:
    """The pixels of a JPEG or PNG, BGR. Raises DecodeError."""
    # A camera of a robot has no EXIF orientation to trust.
    flags = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION
    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error as error:
        raise DecodeError(_plain(error)) from error
    if pixels is None:
        raise DecodeError('the compressed data is corrupt')
    return pixels  # type: ignore[return-value]


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
