# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""A picture of the camera: darkened, and its ground analysed, compared with plain OpenCV and
with the rocks that were painted.

Must never happen: a darkened picture that is worse than 40 dB, a view that is refused.

Run: python bench/pictures.py [darken] [ground] [--size N] [--smoke]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
import statistics
import sys
import time
from typing import Any

from _bench import main, milliseconds, Part, Result
from curiosity_rosa_demo.domain.models import LightScore
from curiosity_rosa_demo.imaging.pixels import decode_picture
from curiosity_rosa_demo.sim.image_pipeline import ImagePipeline
from curiosity_stand_in.renderer import Renderer
import cv2
from ground_views import gentle_relief, judged, views
import numpy as np

SIZES = ((800, 800), (1920, 1080))
QUALITY, MIN_BRIGHTNESS = 85, 0.15
LIGHT = LightScore(score=0.42, is_good=False)
FACTOR = MIN_BRIGHTNESS + (1 - MIN_BRIGHTNESS) * LIGHT.score
MIN_DB = 40.0  # of a darkened picture against the exact one, not encoded again
AIM_OF_CV2 = 1.1


LEAST_RECALL, LEAST_PRECISION, MOST_OFF, MOST_OFF_RELIEF = 0.85, 0.95, 5.0, 10.0
ATTITUDES: dict[str, dict[str, Any]] = {
    'flat': {},
    'nose up 0.07 (standing)': {'pitch': 0.07},
    'nose up 0.15': {'pitch': 0.15},
    'roll 0.1': {'roll': 0.1},
    'roll -0.2, nose up 0.1': {'roll': -0.2, 'pitch': 0.1},
    'relief, nose up 0.07': {'pitch': 0.07, 'relief': gentle_relief},
}
JUDGED_VIEWS = 20  # of a row; fewer say nothing


def patches(width: int, height: int) -> bytes:
    """A JPEG of a synthetic ground: strong coarse patches under weaker fine ones."""
    random = np.random.default_rng(7)
    pixels = np.full((height, width, 3), (70.0, 105.0, 150.0), np.float32)
    for grain, strength in ((1, 6), (4, 25), (16, 90), (60, 400)):
        noise = random.standard_normal((height, width, 1)).astype(np.float32)
        tint = random.standard_normal((height, width, 3)).astype(np.float32) * 0.3
        pixels += strength * cv2.GaussianBlur(noise + tint, (0, 0), grain)
    return encoded(np.clip(pixels, 0, 255).astype(np.uint8))


def decoded(data: bytes) -> Any:
    return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)


def encoded(pixels: Any) -> bytes:
    return bytes(cv2.imencode('.jpg', pixels, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1])


def by_opencv(data: bytes) -> bytes:
    pixels = cv2.convertScaleAbs(decoded(data), alpha=FACTOR)
    where = (12, pixels.shape[0] - 20)
    cv2.putText(pixels, 'score 0.42  DARK', where, cv2.FONT_HERSHEY_SIMPLEX, 1.5, (235,) * 3, 3)
    return encoded(pixels)


def timed(ways: dict[str, Callable[[], Any]], rounds: int) -> dict[str, tuple[float, float]]:
    """Median and p99 in milliseconds; each round runs every way once."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for round_ in range(-5, rounds):  # the first warm up
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            if round_ >= 0:
                times[name].append(time.perf_counter() - began)
    return {name: milliseconds(values) for name, values in times.items()}


def darkened(data: bytes, *, label: bool = True) -> bytes:
    return ImagePipeline(QUALITY, MIN_BRIGHTNESS, label).darkened(decode_picture(data), LIGHT)


def darken(options: argparse.Namespace) -> Result:
    rows, faults, met = [], [], True
    for width, height in SIZES:
        data = patches(width, height)
        ways: dict[str, Callable[[], Any]] = {
            'ours': partial(darkened, data),
            'OpenCV': partial(by_opencv, data),
        }
        ours, peer = (each[0] for each in timed(ways, options.size).values())
        exact = decoded(data).astype(np.float64) * FACTOR
        got = decoded(darkened(data, label=False))
        db = float(10 * np.log10(255.0**2 / np.mean((got - exact) ** 2)))
        rows.append((f'{width} x {height}', ours, peer, round(ours / peer, 2), round(db, 1)))
        met = met and ours <= AIM_OF_CV2 * peer
        faults += [f'{width} x {height}: {db:.1f} dB'] if db < MIN_DB else []
    return Result(
        'Darkening a picture',
        'One JPEG from camera to capture topic; the peer is plain OpenCV, without checks.',
        ('picture', 'ours, ms', 'OpenCV, ms', 'of OpenCV', 'dB against the exact picture'),
        rows,
        f'at most {AIM_OF_CV2:g} of OpenCV',
        met,
        faults,
    )


def ground(options: argparse.Namespace) -> Result:
    rows, faults, seconds = [], [], []
    for name, lean in ATTITUDES.items():
        renderer = Renderer(relief=gentle_relief) if 'relief' in lean else Renderer()
        found, _ = judged(renderer, views(options.size, **lean))
        off = 100 * found.distance_error
        faults += [f'{name}: {why}' for why in found.refusals]
        limits = (
            ('recall', found.recall, found.recall >= LEAST_RECALL),
            ('precision', found.precision, found.precision >= LEAST_PRECISION),
            ('distance', off, off <= (MOST_OFF_RELIEF if 'relief' in lean else MOST_OFF)),
        )
        if options.size >= JUDGED_VIEWS:
            faults += [f'{name}: {what} {value:.3f}' for what, value, good in limits if not good]
        seconds += found.seconds
        rows.append(
            (name, found.rocks, round(found.recall, 2), round(found.precision, 2),
             round(statistics.fmean(found.coverages), 2), round(off, 1),
             round(statistics.median(found.bearings), 1))
        )  # fmt: skip
    return Result(
        'The ground in a picture',
        'Rocks that analyze_ground finds, and those that the stand-in has painted; each view '
        f'takes {milliseconds(seconds)[0]:.0f} ms.',
        ('attitude', 'rocks', 'recall', 'precision', 'coverage off, points', 'distance off, %',
         'bearing off, deg'),
        rows,
        f'recall {LEAST_RECALL:g}, precision {LEAST_PRECISION:g}',
        not faults,
        faults,
    )  # fmt: skip


if __name__ == '__main__':
    sys.exit(
        main(
            Part('darken', darken, 'rounds', 500, 5),
            Part('ground', ground, 'views of each attitude', 50, 3),
        )
    )
