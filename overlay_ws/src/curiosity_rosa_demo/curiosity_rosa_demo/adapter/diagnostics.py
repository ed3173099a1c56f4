# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter's entry of the diagnostics topic. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from curiosity_rosa_demo.adapter.mast import Mast
from curiosity_rosa_demo.adapter.motion_guard import MotionGuard
from curiosity_rosa_demo.adapter.obstacle_stop import ObstacleStop
from curiosity_rosa_demo.adapter.other_adapters import contest
from curiosity_rosa_demo.adapter.status import view_text
from curiosity_rosa_demo.domain.adapter_status import rival_texts
from curiosity_rosa_demo.domain.models import E_STOP_PRESSED, service_unavailable, VIEW_LOST
from curiosity_rosa_demo.infra.diagnostics import Finding, finding, Level

SILENT_S = 2.0  # each source publishes at least five times a second


def diagnose(
    guard: MotionGuard,
    *,
    e_stop: bool,
    missing: Collection[str],
    mismatch: str = '',
    far_off: Collection[str] = (),
    ages_s: Mapping[str, float | None],
    obstacles: ObstacleStop,
    clock_problem: str = '',
    real_time_factor: float | None = None,
    rivals: Mapping[str, list[str]] | None = None,
) -> Finding:
    """The adapter's health. ``missing`` names the rover's services that are not available;
    ``mismatch`` says which profile has others, or ''; ``far_off`` names the figures of the profile
    that differ from what was measured.
    ``ages_s`` holds the seconds since the last message of odometry, joint states and heartbeat;
    None means that none arrived. ``clock_problem``: why no motion can be timed; '' without one.
    ``real_time_factor``: simulated seconds per steady second; None without simulated time.
    ``rivals``: the nodes that publish one topic of the rover, by topic.
    """
    problems = {service_unavailable(name): Level.ERROR for name in missing}
    for problem in (clock_problem, contest(guard.other_adapters)):
        if problem:
            problems[problem] = Level.ERROR
    for problem in rival_texts({'rival_publishers': rivals}):
        problems[problem] = Level.WARN
    for problem in filter(None, (mismatch, *far_off)):
        problems[problem] = Level.WARN
    for source, age_s in ages_s.items():
        if age_s is not None and age_s > SILENT_S:
            problems[f'No {source} for {age_s:.0f} s'] = Level.ERROR
    if guard.stopping and guard.last_error:
        problems[f'Stopping: {guard.last_error}'] = Level.WARN
    if obstacles.view_lost:
        problems[VIEW_LOST] = Level.WARN
    if e_stop:
        problems[E_STOP_PRESSED] = Level.WARN
    if guard.mast is Mast.UNKNOWN:
        problems['Mast unknown: mast_close makes it known'] = Level.WARN
    return finding(
        problems,
        'moving' if guard.moving else 'standing still',
        {
            'mast': guard.mast.value,
            'moving': guard.moving,
            'move_allowed': guard.move_allowed,
            'stopping': guard.stopping,
            'e_stop': e_stop,
            'last_error_reason': guard.last_error,
            'obstacle_view': view_text(guard, obstacles),
            'obstacle_ahead_m': obstacles.ahead_m,
            'real_time_factor': real_time_factor,
            **{f'{source.replace(" ", "_")}_age_s': age_s for source, age_s in ages_s.items()},
        },
    )
