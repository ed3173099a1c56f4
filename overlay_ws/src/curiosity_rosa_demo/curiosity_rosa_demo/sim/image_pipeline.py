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

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from curiosity_rosa_demo.domain.models import LightScore
from curiosity_rosa_demo.imaging.pixels import encode_jpeg, Pixels
import cv2
import numpy as np

_FONT = cv2.FONT_HERSHEY_SIMPLEX
_TEXT_HEIGHT = 1 / 22  # of the picture's height
_WIDEST = 0.92  # of the picture's width
_SMALLEST_PX = 5

# Of the box and of the text, BGR. White on near black reads on any ground; a tint of green or
# amber, weak enough for that.
GOOD = (0, 41, 2), (207, 252, 213)
DARK = (0, 21, 41), (207, 232, 252)
GREY = (24,), (235,)


class Label(NamedTuple):
    """Score and verdict in the lower left corner of a picture; text, place and size in pixels.
    The box lies inside the picture.
    """

    text: str
    box: tuple[int, int, int, int]  # x0, y0, x1, y1; x1 and y1 are exclusive
    origin: tuple[int, int]  # of the text, from the box's corner
    scale: float
    thickness: int

    @classmethod
    def of(cls, light: LightScore, width: int, height: int) -> Label:
        text = f'score {light.score:.2f}  {"GOOD" if light.is_good else "DARK"}'
        wanted = max(_SMALLEST_PX, round(height * _TEXT_HEIGHT))
        thickness = max(1, wanted // 10)
        scale = cv2.getFontScaleFromHeight(_FONT, wanted, thickness)
        (text_w, text_h), base = cv2.getTextSize(text, _FONT, scale, thickness)
        if text_w > width * _WIDEST:
            scale *= width * _WIDEST / text_w
            thickness = 1
            (text_w, text_h), base = cv2.getTextSize(text, _FONT, scale, thickness)
        pad = max(1, text_h // 3)
        x0 = min(pad, width - 1)
        y1 = max(1, height - x0)
        x1 = min(width, x0 + text_w + 2 * pad)
        y0 = max(0, y1 - text_h - base - 2 * pad)
        origin = pad, y1 - pad - base - y0
        return cls(text, (x0, y0, x1, y1), origin, scale, thickness)


@dataclass(frozen=True)
class ImagePipeline:
    """``jpeg_quality`` is 1 to 100; ``min_brightness``, 0.0 to 1.0, is the factor at score 0.0.
    With ``label`` False no text is drawn. Thread-safe.
    """

    jpeg_quality: int
    min_brightness: float
    label: bool = True

    def darkened(self, pixels: Pixels, light: LightScore) -> bytes:
        """The pixels, which change, as a JPEG. Raises EncodeError."""
        factor = self.min_brightness + (1.0 - self.min_brightness) * light.score
        cv2.convertScaleAbs(pixels, dst=pixels, alpha=factor)
        if self.label:
            height, width = pixels.shape[:2]
            label = Label.of(light, width, height)
            x0, y0, x1, y1 = label.box
            colours = GREY if pixels.ndim == 2 else GOOD if light.is_good else DARK
            pixels[y0:y1, x0:x1] = _drawn(label, *colours)
        return encode_jpeg(pixels, self.jpeg_quality)


@lru_cache(maxsize=4)  # a rover that stands still has the same label in every picture
def _drawn(label: Label, box: tuple[int, ...], ink: tuple[int, ...]) -> Pixels:
    text, (x0, y0, x1, y1), origin, scale, thickness = label
    patch = np.full((y1 - y0, x1 - x0, len(box)), box, np.uint8)
    cv2.putText(patch, text, origin, _FONT, scale, ink, thickness, cv2.LINE_AA)
    return patch if len(box) > 1 else patch[:, :, 0]
