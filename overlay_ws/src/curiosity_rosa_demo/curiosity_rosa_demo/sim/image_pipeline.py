# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Darkens a camera picture by its light score and draws the score and the verdict into it.

Brightness factor = min_brightness + (1 - min_brightness) * score, applied to R, G and B.
"""

from __future__ import annotations

from curiosity_rosa_demo.domain.models import LightScore
from curiosity_rosa_demo.imaging.image_header import (
    DecodeError,
    EncodeError,
    ImageError,
    picture_size,
)
from curiosity_rosa_demo.imaging.pixels import decode_picture, encode_jpeg
from curiosity_rosa_demo.imaging.raw_image import pixels_of, RawImage
from curiosity_rosa_demo.imaging.score_label import Label, Pixels
import cv2

__all__ = ['DecodeError', 'EncodeError', 'ImageError', 'ImagePipeline', 'RawImage']


class ImagePipeline:
    """Keeps no state between pictures. Thread-safe.

    ``jpeg_quality`` is 1 to 100; ``min_brightness``, 0.0 to 1.0, is the factor at score 0.0. With
    ``label`` False no text is drawn. Raises ValueError for a number out of range.
    """

    def __init__(self, *, jpeg_quality: int, min_brightness: float, label: bool = True) -> None:
        if not 1 <= jpeg_quality <= 100:
            raise ValueError(f'jpeg_quality must be 1 to 100, not {jpeg_quality}')
        if not 0.0 <= min_brightness <= 1.0:
            raise ValueError(f'min_brightness must be 0.0 to 1.0, not {min_brightness}')
        self._quality = jpeg_quality
        self._min_brightness = min_brightness
        self._label = label

    def factor(self, light: LightScore) -> float:
        return self._min_brightness + (1.0 - self._min_brightness) * light.score

    def compressed(self, data: bytes, light: LightScore) -> bytes:
        """Darken a JPEG or PNG and return a JPEG. Raises DecodeError, EncodeError."""
        picture_size(data)  # refused before it is decoded
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


def _scale(pixels: Pixels, factor: float) -> None:
    """pixels * factor, rounded, in place."""
    if factor != 1.0:
        cv2.convertScaleAbs(pixels, dst=pixels, alpha=factor)
