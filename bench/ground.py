# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What analyze_ground finds in the stand-in's pictures, compared with the rocks it has painted.

Each view is rendered from a random place with the mast raised, as an 80 % JPEG. One row for each
attitude of the body: flat ground, nose up by 0.07 rad (standing) and 0.15 rad, rolled, and on a
gentle relief. Of the rocks within 19 m that are at least 0.35 m wide and not hidden (30 pixels in
view):
- recall: the share that was found; precision: the share of found rocks that lie on a painted one
- coverage: the share of the ground's pixels within 20 m that show rocks; its absolute error
- distance and bearing: median errors of the found rocks; ``unlevelled`` takes the body for level

Must never happen: a view that is refused, a recall under 0.85, a precision under 0.95, or a
distance error over 5 % (10 % on the relief).

Run: python bench/ground.py [views of each row, default 50]
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

from _bench import milliseconds, report, table
from curiosity_stand_in.renderer import Renderer
from ground_views import gentle_relief, judged, views

STANDING = 'nose up 0.07'
ROWS: dict[str, dict[str, Any]] = {
    'flat': {},
    STANDING: {'pitch': 0.07},
    'nose up 0.15': {'pitch': 0.15},
    'roll 0.1': {'roll': 0.1},
    'roll -0.2, nose up 0.1': {'roll': -0.2, 'pitch': 0.1},
    'relief, nose up 0.07': {'pitch': 0.07, 'relief': gentle_relief},
}
LEAST_RECALL, LEAST_PRECISION = 0.85, 0.95
MOST_DISTANCE, MOST_DISTANCE_RELIEF = 0.05, 0.10


def main() -> int:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    flat, swells = Renderer(), Renderer(relief=gentle_relief)
    faults: list[str] = []
    figures: dict[str, Any] = {'views': number}
    seconds: list[float] = []
    lines = []
    for name, lean in ROWS.items():
        renderer = swells if 'relief' in lean else flat
        found, without = judged(renderer, views(number, **lean))
        most = MOST_DISTANCE_RELIEF if 'relief' in lean else MOST_DISTANCE
        faults += [f'{name}: {why}' for why in found.refusals]
        if number >= 20:
            faults += [
                f'{name}: {what} {value:.3f}'
                for what, value, good in (
                    ('recall', found.recall, found.recall >= LEAST_RECALL),
                    ('precision', found.precision, found.precision >= LEAST_PRECISION),
                    ('distance error', found.distance_error, found.distance_error <= most),
                )
                if not good
            ]
        seconds += found.seconds
        figures[name] = {
            'rocks': found.rocks,
            'recall': round(found.recall, 3),
            'precision': round(found.precision, 3),
            'coverage_error_points': round(statistics.fmean(found.coverages), 2),
            'bearing_error_deg': round(statistics.median(found.bearings), 2),
            'distance_error_pct': round(100 * found.distance_error, 2),
            'unlevelled_distance_error_pct': round(100 * without.distance_error, 2),
            'unlevelled_recall': round(without.recall, 3),
        }
        lines.append((name, *figures[name].values()))
    table(('view', *figures['flat']), lines)
    figures.update(figures[STANDING])
    figures.update(milliseconds(seconds))
    status: int = report('ground', faults, **figures)
    return status


if __name__ == '__main__':
    sys.exit(main())
