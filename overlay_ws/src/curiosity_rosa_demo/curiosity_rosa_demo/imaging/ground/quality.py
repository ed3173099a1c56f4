# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Exposure and sharpness of a picture's ground, and the refusals they give."""

from __future__ import annotations

from curiosity_rosa_demo.imaging.ground.view import Mask
import cv2
import numpy as np
import numpy.typing as npt
from skimage.measure import blur_effect

DARKEST_LUMA = 28.0  # 0 to 255; a median below shows no texture in 8 bits
BRIGHTEST_LUMA = 243.0
LEAST_SHARPNESS = 0.45
FLAT_DEVIATION = 1.0  # grey levels; ground without any texture is not called blurred but flat
DARK_CLIP, BRIGHT_CLIP = 5, 250


def luma_of(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """ITU-R BT.601 luma of a BGR or grey picture."""
    if pixels.ndim == 2:
        return pixels
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), np.uint8)


def exposure(luma: npt.NDArray[np.uint8], mask: Mask) -> tuple[float, float]:
    """The median luma of the masked pixels, 0 to 255, and the share that is clipped, 0 to 1."""
    values = luma[mask]
    clipped = np.count_nonzero((values < DARK_CLIP) | (values > BRIGHT_CLIP)) / max(1, values.size)
    return float(np.median(values)), float(clipped)


def sharpness(patch: npt.NDArray[np.uint8]) -> float:
    """0 (blurred) to 1 (sharp): one minus the perceptual blur of Crete et al., 2007 (The blur
    effect: perception and estimation with a new no-reference perceptual blur metric).
    """
    if float(patch.std()) < FLAT_DEVIATION:
        return 0.0
    blur = blur_effect(patch, h_size=11)  # type: ignore[no-untyped-call]
    return float(np.clip(1.0 - blur, 0.0, 1.0))
