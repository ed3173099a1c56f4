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

import math

from curiosity_rosa_demo.domain.ground import TextureClass, TextureResult
import cv2
import numpy as np
import numpy.typing as npt

LEVELS = 32  # grey levels of the co-occurrence
PAIRS_PX = (1, 2, 4)
ANGLES = (0.0, math.pi / 4, math.pi / 2, 3 * math.pi / 4)
LBP_POINTS, LBP_RADIUS = 8, 1.0
DETREND_PX = 24.0  # brightness that changes more slowly is light, not texture
HALF = 0.5  # the autocorrelation at the lag that gives the grain


# The names describe the picture at its own scale.
SMOOTH_BELOW = 3.0  # deviation in grey levels
JOINTED_FROM = 0.18  # energy: even faces between joints
RIPPLED_FROM = 0.45  # coherence
COARSE_FROM = 0.28  # homogeneity: grains are several pixels wide


def texture_of(
    patch: npt.NDArray[np.uint8], metres_per_pixel: float
) -> tuple[TextureResult, float]:
    """The texture of a grey patch of at least 32 x 32 pixels, and the deviation of its grey.

    ``contrast`` is in squared grey levels of LEVELS, the others are 0 to 1. ``lbp_uniform``: the
    share of edges, corners and spots; ``lbp_entropy``: 0 (one pattern) to 1 (all equally
    frequent). ``orientation_deg``: the direction of the ridges in the picture, 0 (across) to 180,
    positive upwards on the left; ``coherence``: 0 (none) to 1 (parallel lines).
    """
    from skimage.feature import graycomatrix, graycoprops, local_binary_pattern  # takes a second

    grey = patch.astype(np.float32)
    flat = grey - np.asarray(cv2.GaussianBlur(grey, (0, 0), DETREND_PX), np.float32)
    deviation = float(flat.std())
    # Mean 128, three deviations to each end: independent of light and camera gain.
    grey = np.clip(128.0 + flat * (127.0 / (3.0 * max(deviation, 1e-3))), 0, 255).astype(np.uint8)
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
    shares = np.bincount(found.astype(int).ravel(), minlength=LBP_POINTS + 2) / found.size
    held = shares[shares > 0]
    orientation, coherence = _orientation(flat)
    name, sure = _class_of(deviation, energy, coherence, homogeneity)
    grain = _grain_px(flat)
    texture = TextureResult(
        name=name,
        contrast=round(contrast, 2),
        homogeneity=round(homogeneity, 3),
        energy=round(energy, 3),
        lbp_uniform=round(float(1.0 - shares[-1]), 3),
        lbp_entropy=round(float(-(held * np.log(held)).sum() / math.log(LBP_POINTS + 2)), 3),
        orientation_deg=round(orientation, 1),
        coherence=round(coherence, 3),
        grain_px=round(grain, 1),
        grain_cm=round(100 * metres_per_pixel * grain, 2),
        confidence=round(sure, 2),
    )
    return texture, deviation


def _class_of(
    deviation: float, energy: float, coherence: float, homogeneity: float
) -> tuple[TextureClass, float]:
    """The class and how sure it is: by the distance of each measure from its threshold."""
    rules = (
        (TextureClass.SMOOTH, SMOOTH_BELOW / max(deviation, 1e-6)),
        (TextureClass.JOINTED, energy / JOINTED_FROM),
        (TextureClass.RIPPLED, coherence / RIPPLED_FROM),
        (TextureClass.COARSE_GRAINED, homogeneity / COARSE_FROM),
    )
    sure = 0.95
    for name, ratio in rules:
        sure = min(sure, 0.5 + abs(ratio - 1.0))
        if ratio >= 1.0:
            return name, sure
    return TextureClass.FINE_GRAINED, sure


def _orientation(flat: npt.NDArray[np.float32]) -> tuple[float, float]:
    smooth = cv2.GaussianBlur(flat, (0, 0), 1.0)
    dx, dy = cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)
    xx, yy, xy = (float((a * b).mean()) for a, b in ((dx, dx), (dy, dy), (dx, dy)))
    if xx + yy <= 0.0:
        return 0.0, 0.0
    across = 0.5 * math.atan2(2 * xy, xx - yy)  # of the gradient; ridges lie at right angles
    coherence = math.hypot(xx - yy, 2 * xy) / (xx + yy)
    return (90.0 - math.degrees(across)) % 180.0, coherence


def _grain_px(flat: npt.NDArray[np.float32]) -> float:
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
