# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The label with score and verdict, drawn into the lower left corner of a picture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from curiosity_rosa_demo.domain.models import LightScore
import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

_FONT = cv2.FONT_HERSHEY_SIMPLEX
_TEXT_HEIGHT = 1 / 22  # of the picture's height
_WIDEST = 0.92  # of the picture's width
_SMALLEST_PX = 5

# Luma of the text and of the box behind it: white on near black reads on any ground.
TEXT_LUMA, BOX_LUMA = 235, 24
# Chroma (Cb, Cr) of the whole box: green or amber, weak enough to leave the text white.
GOOD_CHROMA, DARK_CHROMA = (112, 112), (112, 140)


@dataclass(frozen=True)
class Label:
    """Text, position and style of the label, in pixels. The box lies inside the picture."""

    text: str
    box: tuple[int, int, int, int]  # x0, y0, x1, y1; x1 and y1 are exclusive
    origin: tuple[int, int]
    scale: float
    thickness: int
    chroma: tuple[int, int]

    @classmethod
    def of(cls, light: LightScore, width: int, height: int) -> Label:
        verdict = 'GOOD' if light.is_good else 'DARK'
        text = f'score {light.score:.2f}  {verdict}'
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
        return cls(
            text=text,
            box=(x0, y0, x1, y1),
            origin=(x0 + pad, y1 - pad - base),
            scale=scale,
            thickness=thickness,
            chroma=GOOD_CHROMA if light.is_good else DARK_CHROMA,
        )

    def draw(self, pixels: Pixels) -> None:
        """Draw the label into 8-bit pixels, in place: a grey or a BGR picture."""
        x0, y0, x1, y1 = self.box
        pixels[y0:y1, x0:x1] = _drawn(self, grey=pixels.ndim == 2)


@lru_cache(maxsize=4)  # a rover that stands still has the same label in every picture
def _drawn(label: Label, *, grey: bool) -> Pixels:
    x0, y0, x1, y1 = label.box
    colours = [(luma,) if grey else _bgr(luma, label.chroma) for luma in (BOX_LUMA, TEXT_LUMA)]
    patch = np.empty((y1 - y0, x1 - x0, len(colours[0])), np.uint8)
    patch[:] = colours[0]
    origin = label.origin[0] - x0, label.origin[1] - y0
    cv2.putText(
        patch, label.text, origin, _FONT, label.scale, colours[1], label.thickness, cv2.LINE_AA
    )
    return patch[:, :, 0] if grey else patch


def _bgr(luma: int, chroma: tuple[int, int]) -> tuple[int, int, int]:
    """Convert JFIF 1.02 YCbCr (ITU-R BT.601, full range) to 8-bit BGR."""
    cb, cr = chroma[0] - 128, chroma[1] - 128
    blue, green, red = luma + 1.772 * cb, luma - 0.344136 * cb - 0.714136 * cr, luma + 1.402 * cr
    blue, green, red = (min(255, max(0, round(part))) for part in (blue, green, red))
    return blue, green, red
