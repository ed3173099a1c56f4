# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The time and the size of each drawing of the page.

Each drawing has its largest scene: a map with a trail of 2,000 points, realistic and worst case
(no two points near each other), 60 captures and an obstacle on each side;
20 tasks with 60 states each; a turn of 200 events. CPU time of this process, which is more
reliable than wall time on a busy machine; medians and 99th percentiles.

Aim: a map in under 5 ms. The map is drawn at most 5 times a second, once for all open pages.

Must never happen: a drawing that is no valid XML or exceeds 60 kB.

Run: python bench/page_render.py [rounds, default 200]
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
import math
import random
from statistics import median
import sys
import time
from xml.etree import ElementTree

from _bench import quantile, report, table
from curiosity_rosa_demo.agent.interfaces.page import timeline
from curiosity_rosa_demo.agent.interfaces.page.phase_bar import phase_bar
from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.drawing import plots, world_map
from curiosity_rosa_demo.drawing.map_ground import Zone
from curiosity_rosa_demo.drawing.markers import CaptureMarker
from curiosity_rosa_demo.infra.config_loader import load_config

AIM_MS = 5.0
MOST_BYTES = 60_000
TRAIL = 2000
NOW = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
DRIVEN, WILD = 'map, a trail that was driven', 'map, a wild trail'


def scene(trail: list[tuple[float, float]]) -> world_map.MapScene:
    config = load_config()
    return world_map.MapScene(
        Zone(5.0, 10.0, 5.0),
        config.guardrails.geofence,
        RoverPose(x=trail[-1][0], y=trail[-1][1], yaw_rad=0.5, frame_id='odom'),
        trail,
        spots(),
        [{'distance_m': 3.0, 'bearing_rad': side * math.pi / 2} for side in range(4)],
        (8.0, 3.0),
    )


def spots() -> list[CaptureMarker]:
    return [CaptureMarker(f'event {i}', i / 6, i % 3 - 1.0, i / 60, i > 47) for i in range(60)]


def task_rows() -> list[timeline.TimelineRow]:
    states = (LifecycleState.ACTIVE, LifecycleState.PAUSED)
    return [
        timeline.TimelineRow(
            f'task {task}',
            'navigate_to_pose(x=8.5, y=3.0)',
            [
                HistoryRow(NOW - timedelta(seconds=3000 - 40 * i), None, states[i % 2], 'a reason')
                for i in range(60)
            ],
        )
        for task in range(20)
    ]


def turn() -> list[TraceEvent]:
    kinds = (TraceKind.DECIDE, TraceKind.ACT, TraceKind.RESULT)
    return [
        TraceEvent(event_id=str(i), ts=float(i), kind=kinds[i % 3], message='', tool_name='drive')
        for i in range(200)
    ]


def drawings() -> dict[str, Callable[[], str]]:
    chance = random.Random(1)
    driven = scene([(i / 200, 2 * math.sin(i / 300)) for i in range(TRAIL)])
    wild = scene([(chance.uniform(-9, 9), chance.uniform(-9, 9)) for _ in range(TRAIL)])
    captures, tasks, events = spots(), task_rows(), turn()
    light = load_config().thresholds.light_model
    return {
        DRIVEN: lambda: world_map.render(driven),
        WILD: lambda: world_map.render(wild),
        'score over position': lambda: plots.score_over_position(captures, 0.8, light=light),
        'time line': lambda: timeline.render(tasks, NOW),
        'steps of a turn': lambda: phase_bar(events),
    }


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    faults: list[str] = []
    took: dict[str, list[float]] = {}
    size: dict[str, int] = {}
    makers = drawings()
    for _ in range(rounds):
        for name, draw in makers.items():
            began = time.process_time()
            drawing = draw()
            took.setdefault(name, []).append(1000 * (time.process_time() - began))
            size[name] = len(drawing.encode())
    for name, draw in makers.items():
        try:
            ElementTree.fromstring(draw())
        except ElementTree.ParseError as error:
            faults.append(f'{name} is no XML: {error}')
        if size[name] > MOST_BYTES:
            faults.append(f'{name} has {size[name]} bytes; at most {MOST_BYTES} are allowed')
    figures = {name: (median(each), quantile(each, 0.99)) for name, each in took.items()}
    table(
        ('drawing', 'median ms', 'p99 ms', 'bytes'),
        [(name, *figure, size[name]) for name, figure in figures.items()],
    )
    worst = max(figures[DRIVEN][0], figures[WILD][0])
    return report(
        'page_render',
        faults,
        rounds=rounds,
        map_ms=round(worst, 2),
        aim_ms=AIM_MS,
        met=worst < AIM_MS,
    )


if __name__ == '__main__':
    raise SystemExit(main())
