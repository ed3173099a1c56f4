# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Views of the stand-in's camera with their painted rocks, and what an analysis makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
import math
import statistics

from curiosity_rosa_demo.domain.ground import GroundAnalysis
from curiosity_rosa_demo.imaging.ground.analysis import analyze, GroundRefused
from curiosity_rosa_demo.imaging.ground.view import ground_view, Lens, Scene
from curiosity_rosa_demo.imaging.pixels import decode_picture, encode_jpeg
from curiosity_rosa_demo.infra.config.limits import PartConfig
from curiosity_stand_in import camera, frames
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.parts import Joints
from curiosity_stand_in.renderer import Relief, Renderer, RockInView
import numpy as np
import numpy.typing as npt

RANGE_M, COUNTED_M = 20.0, 19.0
LEAST_WIDTH_M, LEAST_PX = 0.35, 30
BASE_HEIGHT_M = 0.9
BODY = PartConfig(x_min=-1.45, x_max=1.45, y_min=-1.3, y_max=1.3, height_m=1.1)
LENS = Lens(camera.FOCAL / camera.SIZE, camera.FOCAL / camera.SIZE)


def gentle_relief(
    x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Swells of up to 0.24 m that are 25 m long; slopes of up to 3.4 degrees."""
    swell = np.sin(x * math.tau / 27.0 + 1.0) + np.sin(y * math.tau / 23.0 + 2.0)
    return np.asarray(0.12 * swell, np.float64)


@dataclass(frozen=True)
class View:
    pose: Pose
    joints: Joints

    @property
    def attitude(self) -> tuple[float, float]:
        return self.pose.roll, self.pose.pitch

    def scene(self, attitude: tuple[float, float]) -> Scene:
        """The camera by TF, and this attitude of the body."""
        mount = frames.mount(frames.CAMERA_FRAME, self.joints)
        return Scene(LENS, mount, (BODY,), RANGE_M, '', attitude, -BASE_HEIGHT_M)


def views(
    number: int, *, pitch: float = 0.0, roll: float = 0.0, relief: Relief | None = None
) -> Iterator[View]:
    """From random places with the mast raised. ``pitch``: nose up. On a relief the body leans with
    the slope under it, too.
    """
    random = np.random.default_rng(7)
    for _ in range(number):
        x, y, yaw = random.uniform((-40, -40, -3), (60, 40, 3))
        joints = Joints(0.0, random.uniform(-2, 2), random.uniform(0, 0.25))
        z, lean, nose = BASE_HEIGHT_M, roll, pitch
        if relief is not None:
            ahead, left = (_rise(relief, x, y, yaw + turn) for turn in (0.0, math.pi / 2))
            nose, lean = pitch + math.atan(ahead), roll + math.atan(left)
            z += float(relief(np.array([x]), np.array([y]))[0])
        yield View(Pose(x, y, yaw, z, lean, -nose), joints)


def _rise(relief: Relief, x: float, y: float, heading: float) -> float:
    """Metres per metre along the heading, over the length of the rover."""
    dx, dy = math.cos(heading), math.sin(heading)
    low, high = relief(np.array([x - dx, x + dx]), np.array([y - dy, y + dy])).tolist()
    return float(high - low) / 2.0


@dataclass
class Judgement:
    """Of the rocks within COUNTED_M that are wide enough and not hidden: how many were found. Of
    the found ones: how many lie on a painted rock (it covers a fifth of their box, or their box
    half of it). Errors: fraction of the distance, degrees, and
    percentage points of the coverage.
    """

    rocks: int = 0
    hits: int = 0
    found: int = 0
    right: int = 0
    distances: list[float] = field(default_factory=list)
    bearings: list[float] = field(default_factory=list)
    coverages: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        return self.hits / max(1, self.rocks)

    @property
    def precision(self) -> float:
        return self.right / max(1, self.found)

    @property
    def distance_error(self) -> float:
        """The median of the absolute errors; 1.0 without any."""
        return statistics.median(map(abs, self.distances)) if self.distances else 1.0


def judged(renderer: Renderer, seen: Iterable[View]) -> tuple[Judgement, Judgement]:
    """Of the analysis in a level frame, and of one that takes the body's plane for level."""
    levelled, unlevelled = Judgement(), Judgement()
    for view in seen:
        rendered = renderer.render(view.pose, view.joints)[:, :, ::-1].copy()
        picture = decode_picture(encode_jpeg(rendered, 80))
        rocks = renderer.rock_masks(view.pose, view.joints)
        for out, attitude in ((levelled, view.attitude), (unlevelled, (0.0, 0.0))):
            try:
                analysis, _ = analyze(picture, view.scene(attitude))
            except GroundRefused as refused:
                out.refusals.append(str(refused))
            else:
                _judge(out, rocks, view, analysis)
    return levelled, unlevelled


def _judge(
    out: Judgement,
    rocks: list[tuple[RockInView, npt.NDArray[np.bool_]]],
    view: View,
    analysis: GroundAnalysis,
) -> None:
    out.seconds.append(analysis.took_ms / 1e3)
    size, pose = camera.SIZE, view.pose
    shown = ground_view(view.scene(view.attitude), size, size)
    c, s = math.cos(pose.yaw), math.sin(pose.yaw)
    truth = []
    covered = np.zeros((size, size), np.bool_)
    for rock, mask in rocks:
        dx, dy = rock.x - pose.x, rock.y - pose.y
        ahead, left = dx * c + dy * s, dy * c - dx * s
        away = math.hypot(ahead, left)
        if (mask & ~shown.rover).sum() > LEAST_PX:
            truth.append((rock, mask, away, math.degrees(math.atan2(left, ahead))))
        if away <= RANGE_M:
            covered |= mask
    hit = set()
    for each in analysis.nearest_rocks:
        x, y, wide, tall = each.box_px
        part = slice(y, y + tall), slice(x, x + wide)
        over = [(int(mask[part].sum()), n) for n, (_, mask, *_) in enumerate(truth)]
        pixels, which = max(over, default=(0, -1))
        out.found += 1
        if which < 0 or pixels <= min(0.2 * wide * tall, 0.5 * truth[which][1].sum()):
            continue
        out.right += 1
        hit.add(which)
        rock, _, away, bearing = truth[which]
        if away <= COUNTED_M and 2 * rock.radius >= LEAST_WIDTH_M:
            out.distances.append((each.distance_m - away) / away)
            out.bearings.append(abs((each.bearing_deg - bearing + 180) % 360 - 180))
    for n, (rock, _, away, _) in enumerate(truth):
        if away <= COUNTED_M and 2 * rock.radius >= LEAST_WIDTH_M:
            out.rocks += 1
            out.hits += n in hit
    ground = np.count_nonzero(shown.mask)
    coverage = 100.0 * np.count_nonzero(covered & shown.mask) / ground
    out.coverages.append(abs(analysis.rock_coverage_pct - coverage))
