# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Darkens a camera picture by its light score and draws the score and the verdict into it.

Brightness factor = min_brightness + (1 - min_brightness) * score, applied to R, G and B. Scaling Y
about 0 and Cb, Cr about 128 has the same effect on the YCbCr planes of a JPEG, because the
conversion is linear. Only rounding differs, and colours that the conversion to RGB clips.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curiosity_rosa_demo.domain.models import LightScore
from curiosity_rosa_demo.imaging.image_header import (
    DecodeError,
    EncodeError,
    ImageError,
    is_jpeg,
    picture_size,
)
from curiosity_rosa_demo.imaging.pixels import (
    decode_picture,
    encode_jpeg,
    pixels_of,
)
from curiosity_rosa_demo.imaging.raw_image import RawImage
from curiosity_rosa_demo.imaging.score_label import Label, Pixels
import cv2

if TYPE_CHECKING:
    from curiosity_rosa_demo.imaging.yuv_jpeg import YuvJpeg

__all__ = ['DecodeError', 'EncodeError', 'ImageError', 'ImagePipeline', 'RawImage']


class ImagePipeline:
    """Keeps no state between pictures. Thread-safe.

    ``jpeg_quality`` is 1 to 100; ``min_brightness``, 0.0 to 1.0, is the factor at score 0.0. With
    ``fast`` False, or without libjpeg-turbo, OpenCV handles every picture. With ``label`` False no
    text is drawn. Raises ValueError for a number out of range.
    """

    def __init__(
        self, *, jpeg_quality: int, min_brightness: float, fast: bool = True, label: bool = True
    ) -> None:
        if not 1 <= jpeg_quality <= 100:
            raise ValueError(f'jpeg_quality must be 1 to 100, not {jpeg_quality}')
        if not 0.0 <= min_brightness <= 1.0:
            raise ValueError(f'min_brightness must be 0.0 to 1.0, not {min_brightness}')
        self._quality = jpeg_quality
        self._min_brightness = min_brightness
        self._label = label
        self._yuv = _yuv_jpeg() if fast else None

    @property
    def fast(self) -> bool:
        return self._yuv is not None

    def factor(self, light: LightScore) -> float:
        return self._min_brightness + (1.0 - self._min_brightness) * light.score

    def compressed(self, data: bytes, light: LightScore) -> bytes:
        """Darken a JPEG or PNG and return a JPEG. Raises DecodeError, EncodeError."""
        width, height = picture_size(data)
        if self._yuv is not None and is_jpeg(data):
            planes = self._yuv.decode(data, width, height)
            if planes is not None:
                factor = self.factor(light)
                luma_bytes = planes.luma.strides[0] * height
                _scale(planes.packed[:luma_bytes], factor)
                if planes.chroma is not None:
                    _scale(planes.packed[luma_bytes:], factor, about=128.0)
                if self._label:
                    label = Label.of(light, width, height)
                    label.draw(planes.luma)
                    if planes.chroma is not None:
                        cb, cr = planes.chroma
                        label.tint(cb, cr, width, height)
                return self._yuv.encode(planes, self._quality)
        return self._through_pixels(decode_picture(data), light)

    def raw(self, image: RawImage, light: LightScore) -> bytes:
        """Darken a sensor_msgs/Image and return a JPEG. Raises DecodeError, EncodeError."""
        return self._through_pixels(pixels_of(image), light)

    def _through_pixels(self, pixels: Pixels, light: LightScore) -> bytes:
        _scale(pixels, self.factor(light))
        if self._label:
            height, width = pixels.shape[:2]
            Label.of(light, width, height).draw(pixels)
        return encode_jpeg(pixels, self._quality)


def _yuv_jpeg() -> YuvJpeg | None:
    try:  # imported here: the library is optional
        from curiosity_rosa_demo.imaging.yuv_jpeg import YuvJpeg

        return YuvJpeg()
    except (ImportError, OSError, RuntimeError, AttributeError):
        return None


def _scale(pixels: Pixels, factor: float, *, about: float = 0.0) -> None:
    """(pixels - about) * factor + about, rounded, in place; never negative for 8-bit pixels."""
    if factor != 1.0:
        cv2.convertScaleAbs(pixels, dst=pixels, alpha=factor, beta=about * (1.0 - factor))
