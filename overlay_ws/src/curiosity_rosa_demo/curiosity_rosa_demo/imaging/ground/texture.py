# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Texture of a grey patch of ground: co-occurrence, local binary patterns, orientation, grain.

Sources: Haralick, Shanmugam and Dinstein 1973 (co-occurrence); Ojala, Pietikainen and Maenpaa 2002
(local binary patterns); Bigun and Granlund 1987 (structure tensor); Buscombe, Rubin and Warrick
2010 (grain size from the autocorrelation).
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import cv2
import numpy as np
import numpy.typing as npt
from skimage.feature import graycomatrix, graycoprops, local_binary_pattern

LEVELS = 32  # grey levels of the co-occurrence
PAIRS_PX = (1, 2, 4)
ANGLES = (0.0, math.pi / 4, math.pi / 2, 3 * math.pi / 4)
LBP_POINTS, LBP_RADIUS = 8, 1.0
DETREND_PX = 24.0  # brightness that changes more slowly is light, not texture
HALF = 0.5  # the autocorrelation at the lag that gives the grain


@dataclass(frozen=True)
class Texture:
    """``contrast`` in squared grey levels of LEVELS, the others 0 to 1. ``orientation_deg`` is the
    direction of the ridges in the picture, 0 (across) to 180, positive upwards on the left;
    ``coherence`` 0 (none) to 1 (parallel lines). ``deviation``: of the grey, of 255.
    """

    contrast: float
    homogeneity: float
    energy: float
    lbp_uniform: float  # share of the uniform patterns: edges, corners and spots
    lbp_entropy: float  # 0 (one pattern) to 1 (all equally frequent)
    orientation_deg: float
    coherence: float
    deviation: float
    grain_px: float


def texture_of(patch: npt.NDArray[np.uint8]) -> Texture:
    """Measure a grey patch of at least 32 x 32 pixels."""
    flat = _detrended(patch)
    grey = _stretched(flat)
    pairs = graycomatrix(  # type: ignore[no-untyped-call]
        (grey.astype(np.uint16) * LEVELS // 256).astype(np.uint8),
        PAIRS_PX,
        ANGLES,
        levels=LEVELS,
        symmetric=True,
        normed=True,
    )
    contrast, homogeneity, energy = (
        float(graycoprops(pairs, name).mean())  # type: ignore[no-untyped-call]
        for name in ('contrast', 'homogeneity', 'energy')
    )
    found = local_binary_pattern(  # type: ignore[no-untyped-call]
        grey, LBP_POINTS, LBP_RADIUS, 'uniform'
    )
    patterns = found.astype(int)
    shares = np.bincount(patterns.ravel(), minlength=LBP_POINTS + 2) / patterns.size
    held = shares[shares > 0]
    orientation, coherence = _orientation(flat)
    return Texture(
        contrast=contrast,
        homogeneity=homogeneity,
        energy=energy,
        lbp_uniform=float(1.0 - shares[-1]),
        lbp_entropy=float(-(held * np.log(held)).sum() / math.log(LBP_POINTS + 2)),
        orientation_deg=orientation,
        coherence=coherence,
        deviation=float(flat.std()),
        grain_px=grain_px(flat),
    )


def _detrended(patch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    grey = patch.astype(np.float32)
    return grey - np.asarray(cv2.GaussianBlur(grey, (0, 0), DETREND_PX), np.float32)


def _stretched(flat: npt.NDArray[np.float32]) -> npt.NDArray[np.uint8]:
    """Mean 128, three deviations to each end: independent of light and camera gain."""
    deviation = max(float(flat.std()), 1e-3)
    return np.clip(128.0 + flat * (127.0 / (3.0 * deviation)), 0, 255).astype(np.uint8)


def _orientation(flat: npt.NDArray[np.float32]) -> tuple[float, float]:
    smooth = cv2.GaussianBlur(flat, (0, 0), 1.0)
    dx, dy = cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)
    xx, yy, xy = (float((a * b).mean()) for a, b in ((dx, dx), (dy, dy), (dx, dy)))
    if xx + yy <= 0.0:
        return 0.0, 0.0
    across = 0.5 * math.atan2(2 * xy, xx - yy)  # of the gradient; ridges lie at right angles
    coherence = math.hypot(xx - yy, 2 * xy) / (xx + yy)
    return (90.0 - math.degrees(across)) % 180.0, coherence


def grain_px(flat: npt.NDArray[np.float32]) -> float:
    """The mean grain diameter across the rows, in pixels: 2 pi times the lag at which the
    autocorrelation of the rows falls to one half.

    Only across: in a tilted view the scale along a row is nearly constant, up the columns it is
    not.
    """
    width = flat.shape[1]
    rows = flat - flat.mean(axis=1, keepdims=True)
    power = np.abs(np.fft.rfft(rows, 2 * width, axis=1)) ** 2
    correlation = np.fft.irfft(power.mean(axis=0))[: width // 2]
    if correlation[0] <= 0.0:
        return 0.0
    correlation = correlation / correlation[0]
    below = np.flatnonzero(correlation < HALF)
    if not len(below):
        return float(width)
    lag = int(below[0])
    high, low = correlation[lag - 1], correlation[lag]
    return float(2 * math.pi * (lag - 1 + (high - HALF) / (high - low)))
