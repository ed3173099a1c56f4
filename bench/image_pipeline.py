# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The time to darken one camera JPEG, compared with peers and a floor in the same run.

Contenders, interleaved, medians in milliseconds:
- ours: ImagePipeline.compressed, with score, verdict and all checks
- numpy: cv2.imdecode, multiply as float32, cv2.putText, cv2.imencode
- cv2: the same with cv2.convertScaleAbs
- floor: libjpeg-turbo's YUV decode + encode with nothing in between

Aims: 1.8 times as fast as numpy, within 1.1 of the floor. The exit status depends only on the
correctness: at least 40 dB against the exact result (float64, no re-encoding).

Run: python bench/image_pipeline.py [seconds per size, default 4]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
import sys
import time
from typing import Any

from _bench import report
from curiosity_rosa_demo.domain.models import LightScore
from curiosity_rosa_demo.sim.image_pipeline import ImagePipeline
import cv2
import numpy as np
import turbojpeg

SIZES = ((800, 800), (1920, 1080))
QUALITY = 85
MIN_BRIGHTNESS = 0.15
LIGHT = LightScore(score=0.42, is_good=False)
FACTOR = MIN_BRIGHTNESS + (1 - MIN_BRIGHTNESS) * LIGHT.score
MIN_DB = 40.0


def ground(width: int, height: int) -> Any:
    """BGR pixels of a synthetic ground: strong coarse patches under weaker fine ones."""
    random = np.random.default_rng(7)
    pixels = np.full((height, width, 3), (70.0, 105.0, 150.0), np.float32)
    for grain, strength in ((1, 6), (4, 25), (16, 90), (60, 400)):
        noise = random.standard_normal((height, width, 1)).astype(np.float32)
        tint = random.standard_normal((height, width, 3)).astype(np.float32) * 0.3
        pixels += strength * cv2.GaussianBlur(noise + tint, (0, 0), grain)
    return np.clip(pixels, 0, 255).astype(np.uint8)


def decoded(data: bytes) -> Any:
    return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)


def encoded(pixels: Any) -> bytes:
    return bytes(cv2.imencode('.jpg', pixels, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1])


def labelled(pixels: Any) -> Any:
    where = (12, pixels.shape[0] - 20)
    cv2.putText(pixels, 'score 0.42  DARK', where, cv2.FONT_HERSHEY_SIMPLEX, 1.5, (235,) * 3, 3)
    return pixels


def numpy_way(data: bytes) -> bytes:
    dark = decoded(data).astype(np.float32) * FACTOR  # a factor up to 1 needs no clipping
    return encoded(labelled(dark.astype(np.uint8)))


def cv2_way(data: bytes) -> bytes:
    return encoded(labelled(cv2.convertScaleAbs(decoded(data), alpha=FACTOR)))


def measured(
    ways: Mapping[str, Callable[[bytes], bytes]], data: bytes, for_s: float
) -> dict[str, float]:
    """Median milliseconds of each way; each round runs every way once."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        way(data)
    end = time.perf_counter() + for_s
    while time.perf_counter() < end:
        for name, way in ways.items():
            start = time.perf_counter()
            way(data)
            times[name].append(1e3 * (time.perf_counter() - start))
    return {name: median(values) for name, values in times.items()}


def psnr(got: bytes, exact: Any) -> float:
    return float(10 * np.log10(255.0**2 / np.mean((decoded(got) - exact) ** 2)))


def main() -> int:
    for_s = float(sys.argv[1]) if len(sys.argv) > 1 else 4.0
    settings = {'jpeg_quality': QUALITY, 'min_brightness': MIN_BRIGHTNESS}
    ours = ImagePipeline(**settings)  # type: ignore[arg-type]
    bare = ImagePipeline(**settings, label=False)  # type: ignore[arg-type]
    if not ours.fast:
        print('libturbojpeg is missing, there is no floor: apt-get install libturbojpeg0')
        return 2
    codec = turbojpeg.TurboJPEG()
    sizes = {}
    for width, height in SIZES:
        data = encoded(ground(width, height))

        def floor(data: bytes, width: int = width, height: int = height) -> bytes:
            packed, _ = codec.decode_to_yuv(data)
            return bytes(codec.encode_from_yuv(packed, height, width, QUALITY))

        ways = {
            'ours': lambda data: ours.compressed(data, LIGHT),
            'numpy': numpy_way,
            'cv2': cv2_way,
            'floor': floor,
        }
        ms = measured(ways, data, for_s)
        db = psnr(bare.compressed(data, LIGHT), decoded(data).astype(np.float64) * FACTOR)
        size = f'{width}x{height}'
        print(
            f'{size}, {len(data) / 1e3:.0f} kB: '
            + ', '.join(f'{n} {t:.2f} ms' for n, t in ms.items())
        )
        print(
            f'  {ms["numpy"] / ms["ours"]:.2f} times numpy (aim 1.8), '
            f'{ms["cv2"] / ms["ours"]:.2f} times cv2, '
            f'{ms["ours"] / ms["floor"]:.3f} of the floor (aim 1.1), '
            f'{db:.1f} dB (at least {MIN_DB:.0f})'
        )
        sizes[size] = {
            **{f'{name}_ms': round(value, 3) for name, value in ms.items()},
            'times_numpy': round(ms['numpy'] / ms['ours'], 3),
            'times_cv2': round(ms['cv2'] / ms['ours'], 3),
            'of_floor': round(ms['ours'] / ms['floor'], 3),
            'psnr_db': round(db, 2),
        }
    faults = [
        f'{size}: {found["psnr_db"]} dB'
        for size, found in sizes.items()
        if found['psnr_db'] < MIN_DB
    ]
    status: int = report('image_pipeline', faults, sizes=sizes)
    return status


if __name__ == '__main__':
    sys.exit(main())
