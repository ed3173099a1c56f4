# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What analyze_ground finds in the stand-in's pictures, compared with the rocks it has painted.

Each view is rendered from a random place with the mast raised, as an 80 % JPEG. Of the rocks
within 19 m that are at least 0.35 m wide and not hidden (30 pixels in view):
- recall: the share that was found; precision: the share of found rocks that lie on a painted one
- coverage: the share of the ground's pixels within 20 m that show rocks; its absolute error
- largest rock: error of its distance and bearing against the painted rock at its place

Must never happen: a view that is refused, or a recall under 0.7.

Run: python bench/ground.py [views, default 50]
"""

from __future__ import annotations

import math
import statistics
import sys

from _bench import milliseconds, report, table
from curiosity_rosa_demo.imaging.ground.analysis import analyze, GroundRefused, Scene
from curiosity_rosa_demo.imaging.ground.view import Body, CameraPose, ground_view, Lens
from curiosity_rosa_demo.imaging.pixels import decode_picture, encode_jpeg
from curiosity_stand_in import camera, mast
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.renderer import Renderer
import numpy as np

RANGE_M, COUNTED_M = 20.0, 19.0
LEAST_WIDTH_M, LEAST_PX = 0.35, 30
AIM_RECALL, WORST_RECALL = 0.85, 0.7
AIM_COVERAGE = 1.0  # percentage points, mean
BODY = Body(front=1.45, rear=1.45, half_width=1.3, top=1.1)  # as in thresholds.yaml
LENS = Lens(camera.FOCAL, camera.FOCAL, camera.CENTRE, camera.CENTRE)


def pose_of(joints: mast.Joints) -> CameraPose:
    """The camera in the base frame, with the ground at z = 0."""
    seen = camera.mast_camera(Pose(0.0, 0.0, 0.0), joints)
    cy, sy = math.cos(seen.heading), math.sin(seen.heading)
    ct, st = math.cos(seen.tilt), math.sin(seen.tilt)
    rotation = ((cy * ct, -sy, cy * st), (sy * ct, cy, sy * st), (-st, 0.0, ct))
    return CameraPose(seen.x, seen.y, seen.z, rotation)


def main() -> int:
    views = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    random, renderer = np.random.default_rng(7), Renderer()
    faults: list[str] = []
    hits = truths = found = right = 0
    coverage, distance, bearing, seconds = ([] for _ in range(4))
    for _ in range(views):
        pose = Pose(*random.uniform((-40, -40, -3), (60, 40, 3)))
        joints = mast.Joints(0.0, random.uniform(-2, 2), random.uniform(0, 0.25))
        picture = decode_picture(encode_jpeg(renderer.render(pose, joints)[:, :, ::-1].copy(), 80))
        seen = pose_of(joints)
        try:
            analysis, _ = analyze(picture, Scene(LENS, seen, BODY, RANGE_M))
        except GroundRefused as refused:
            faults.append(str(refused))
            continue
        seconds.append(analysis.took_ms / 1e3)
        size = camera.SIZE
        view = ground_view(size, size, LENS, seen, farthest=RANGE_M, body=BODY)
        c, s = math.cos(pose.yaw), math.sin(pose.yaw)
        truth = []
        covered = np.zeros((size, size), np.bool_)
        for rock, mask in renderer.rock_masks(pose, joints):
            dx, dy = rock.x - pose.x, rock.y - pose.y
            ahead, left = dx * c + dy * s, dy * c - dx * s
            away = math.hypot(ahead, left)
            if (mask & ~view.rover).sum() > LEAST_PX:
                truth.append((rock, mask, away, math.degrees(math.atan2(left, ahead))))
            if away <= RANGE_M:
                covered |= mask
        hit = set()
        largest = analysis.largest_rock
        for each in analysis.nearest_rocks:
            x, y, wide, tall = each.box_px
            part = slice(y, y + tall), slice(x, x + wide)
            over = [(int(m[part].sum()), n) for n, (_, m, *_) in enumerate(truth)]
            pixels, which = max(over, default=(0, -1))
            found += 1
            if pixels <= 0.2 * wide * tall:
                continue
            right += 1
            hit.add(which)
            if largest is not None and each.box_px == largest.box_px:
                distance.append(abs(largest.distance_m - truth[which][2]) / truth[which][2])
                turn = (largest.bearing_deg - truth[which][3] + 180) % 360 - 180
                bearing.append(abs(turn))
        for n, (rock, _, away, _) in enumerate(truth):
            if away <= COUNTED_M and 2 * rock.radius >= LEAST_WIDTH_M:
                truths += 1
                hits += n in hit
        shown = 100.0 * np.count_nonzero(covered & view.mask) / np.count_nonzero(view.mask)
        coverage.append(abs(analysis.rock_coverage_pct - shown))
    recall, precision = hits / max(1, truths), right / max(1, found)
    figures = {
        'views': views,
        'rocks': truths,
        'recall': round(recall, 3),
        'precision': round(precision, 3),
        'coverage_error_points': round(statistics.fmean(coverage), 2),
        'distance_error_pct': round(100 * statistics.median(distance), 2),
        'bearing_error_deg': round(statistics.median(bearing), 2),
        **milliseconds(seconds),
    }
    table(('figure', 'value'), list(figures.items()))
    if views >= 20 and recall < WORST_RECALL:
        faults.append(f'recall {recall:.2f}')
    status: int = report('ground', faults, **figures)
    return status


if __name__ == '__main__':
    sys.exit(main())
