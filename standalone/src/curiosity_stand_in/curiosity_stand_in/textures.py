# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The renderer's textures, made once from fixed seeds. RGB, uint8 unless noted."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Floats = NDArray[np.float32]

SUN = np.array([0.22, 0.84, 0.52], np.float32)  # direction to the sun, odometry frame
SUN /= np.linalg.norm(SUN)

GROUND_TILE_M = 56.0  # colours repeat after this distance, in both directions
RELIEF_TILE_M = 7.0
HAZE = np.array([214, 172, 134], np.float32)
ZENITH = np.array([168, 126, 96], np.float32)
RIDGE = np.array([150, 104, 78], np.float32)


def tiling_noise(size: int, *, slope: float, seed: int, lowest: float = 1.0) -> Floats:
    """Fractal noise of mean 0 and deviation 1 that continues over its own edges.

    White noise whose spectrum is scaled by f ** -slope, with nothing below ``lowest`` cycles.
    """
    white = np.random.default_rng(seed).standard_normal((size, size))
    fx, fy = np.fft.rfftfreq(size) * size, np.fft.fftfreq(size) * size
    frequency = np.hypot(fy[:, None], fx[None, :])
    gain = np.where(frequency < lowest, 0.0, np.maximum(frequency, 1.0) ** -slope)
    noise = np.fft.irfft2(np.fft.rfft2(white) * gain, s=(size, size))
    return (noise / noise.std()).astype(np.float32)


def ground_colours(size: int = 1024) -> list[Image]:
    """Sand, dust and darker bedrock over GROUND_TILE_M; each level is half as fine as the last."""
    large = tiling_noise(size, slope=1.7, seed=11)
    fine = tiling_noise(size, slope=0.7, seed=12, lowest=8.0)
    dust = smooth(large * 0.8 + fine * 0.35, -0.9, 1.3)
    rock = smooth(tiling_noise(size, slope=1.5, seed=13) + fine * 0.5, 0.7, 1.9)
    sand, pale, dark = (
        np.array(c, np.float32) for c in ((150, 92, 60), (190, 130, 88), (96, 62, 48))
    )
    colour = sand + (pale - sand) * dust[..., None]
    colour += (dark - colour) * (0.75 * rock[..., None])
    colour *= (1.0 + 0.07 * fine)[..., None]
    return _pyramid(_bytes(colour), 6)


def ground_relief(size: int = 1024) -> list[Image]:
    """Light and shade of grains, pebbles and ripples over RELIEF_TILE_M; 128 changes nothing."""
    height = 0.9 * tiling_noise(size, slope=1.25, seed=21, lowest=2.0)
    height += 0.12 * tiling_noise(size, slope=0.3, seed=22, lowest=30.0)
    at = np.arange(size, dtype=np.float32) / size
    bent = 1.3 * tiling_noise(size, slope=2.0, seed=23)
    ripples = np.sin(2 * np.pi * (9 * at[None, :] + 22 * at[:, None]) + bent)
    height += 0.8 * ripples * smooth(tiling_noise(size, slope=1.8, seed=24), -0.2, 1.2)
    brightness = np.ones((size, size), np.float32)
    _scatter_pebbles(height, brightness, count=900)
    gain = 0.17
    slope_x = (np.roll(height, -1, 1) - np.roll(height, 1, 1)) * gain * 2
    slope_y = (np.roll(height, -1, 0) - np.roll(height, 1, 0)) * gain * 2
    length = np.sqrt(slope_x**2 + slope_y**2 + 1.0)
    light = (SUN[2] - slope_x * SUN[0] - slope_y * SUN[1]) / length / SUN[2]
    shade = 128.0 * (0.35 + 0.65 * np.clip(light, 0.0, 1.9))
    return _pyramid(_bytes(shade * brightness), 5)


def _scatter_pebbles(height: Floats, brightness: Floats, *, count: int) -> None:
    size = height.shape[0]
    random = np.random.default_rng(25)
    for _ in range(count):
        radius = 1.6 + 8.0 * random.random() ** 8
        reach = int(radius + 2)
        dx, dy = np.meshgrid(np.arange(-reach, reach + 1), np.arange(-reach, reach + 1))
        stretch, turn = 0.6 + 0.4 * random.random(), random.random() * np.pi
        along = dx * np.cos(turn) + dy * np.sin(turn)
        across = (dy * np.cos(turn) - dx * np.sin(turn)) / stretch
        bump = np.sqrt(np.maximum(0.0, 1.0 - (along**2 + across**2) / radius**2))
        rows = (int(random.integers(size)) + dy) % size
        columns = (int(random.integers(size)) + dx) % size
        height[rows, columns] += (0.8 * radius * bump).astype(np.float32)
        own = 0.75 + 0.4 * random.random()
        brightness[rows, columns] += (own - brightness[rows, columns]) * np.minimum(1, 2 * bump)


def sky_ridges(width: int = 4096, height: int = 64) -> Image:
    """Hills around the whole horizon; the lowest row touches the horizon."""
    up = np.arange(height, dtype=np.float32)[::-1, None]
    picture = sky_rows(up)[:, None, :].repeat(width, 1)
    for seed, tallest, part in ((31, 52.0, 0.3), (32, 30.0, 0.5), (33, 13.0, 0.75)):
        line = tallest * _profile(width, seed)
        cover = np.clip(line - up + 0.5, 0.0, 1.0)[..., None]
        foot = np.clip(up / (0.8 * tallest), 0.3, 1.0)[..., None]  # haze gathers at the foot
        picture += (HAZE + (RIDGE - HAZE) * part * foot - picture) * cover
    return _bytes(picture)


def _profile(width: int, seed: int) -> Floats:
    """A skyline from 0 to 1 that closes on itself."""
    gain = np.maximum(np.arange(width // 2 + 1, dtype=np.float64), 3.0) ** -1.5
    gain[0] = 0.0
    line = np.fft.irfft(np.fft.rfft(np.random.default_rng(seed).standard_normal(width)) * gain)
    return ((line - line.min()) / np.ptp(line)).astype(np.float32)


def sky(size: int) -> Image:
    """The clear sky above a horizon at the lower edge."""
    rows = sky_rows(np.arange(size, 0, -1, dtype=np.float32))[:, None, :]
    # Without noise the slow gradient has visible steps.
    noise = np.random.default_rng(34).uniform(-0.9, 0.9, (size, size, 1))
    return _bytes(rows + noise)


def sky_rows(above_horizon: NDArray[np.float32]) -> Floats:
    """The colours of the clear sky, by pixels above the horizon."""
    part = 1.0 - np.exp(-np.maximum(above_horizon.ravel(), 0.0) / 320.0)
    return (HAZE + (ZENITH - HAZE) * part[:, None]).astype(np.float32)


def smooth(value: Floats, low: float, high: float) -> Floats:
    part = np.clip((value - low) / (high - low), 0.0, 1.0)
    return (part * part * (3 - 2 * part)).astype(np.float32)


def _bytes(picture: NDArray[np.floating]) -> Image:
    return np.clip(picture + 0.5, 0, 255).astype(np.uint8)


def _pyramid(picture: Image, levels: int) -> list[Image]:
    out = [picture]
    while len(out) < levels:
        size = out[-1].shape[0] // 2
        out.append(np.asarray(cv2.resize(out[-1], (size, size), interpolation=cv2.INTER_AREA)))
    return out
