# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter's status, for get_status and the status topic, and its publishing rate. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from curiosity_rosa_demo.adapter.agent_link import contest
from curiosity_rosa_demo.adapter.appendage import Mast
from curiosity_rosa_demo.adapter.motion_guard import MotionGuard
from curiosity_rosa_demo.adapter.watches import ObstacleStop, ViewState
from curiosity_rosa_demo.domain.adapter_status import rival_texts, Status, without_measured
from curiosity_rosa_demo.domain.models import E_STOP_PRESSED, service_unavailable, VIEW_LOST
from curiosity_rosa_demo.infra.diagnostics import Finding, finding, Level

PERIOD_S = 1.0  # between two messages without a change
MIN_PERIOD_S = 0.05  # shortest time between two messages


def status_of(
    guard: MotionGuard,
    pose: tuple[float, float, float] | None,
    mast_turn: float | None,
    obstacles: ObstacleStop,
    real_time_factor: float | None = None,
    rivals: Mapping[str, list[str]] | None = None,
) -> Status:
    """The status of docs/reference/contracts.md; ``pose`` is x, y, yaw in metres and radians.
    ``real_time_factor`` is the measured one; None without simulated time that advances.
    ``rivals``: the nodes that publish one topic of the rover, by topic.
    """
    is_open = None if guard.mast is Mast.UNKNOWN else not guard.mast.is_stowed
    x, y, yaw = pose or (None, None, None)
    return {
        'mast_is_open': is_open,
        'move_allowed': guard.move_allowed,
        'moving': guard.moving,
        'last_error_reason': guard.last_error,
        'rover_x': x,
        'rover_y': y,
        'yaw_rad': yaw,
        'mast_yaw_rad': mast_turn if is_open is not False else None,
        'mast': guard.mast.value,
        'appendages': {name: part.posture.value for name, part in guard.appendages.items()},
        'e_stop': guard.e_stop,
        'agent_safe_reason': guard.agent_latch,
        'violation': guard.violation,
        'other_adapters': list(guard.other_adapters),
        'rival_publishers': dict(rivals) if rivals else None,
        'obstacle_view': view_text(guard, obstacles),
        'obstacle_ahead_m': obstacles.ahead_m,
        'free_m': obstacles.free_m,
        'real_time_factor': None if real_time_factor is None else round(real_time_factor, 2),
    }


def view_text(guard: MotionGuard, obstacles: ObstacleStop) -> str:
    """What the scan shows of the way ahead; says so when the stowed mast is the cause."""
    stowed = obstacles.view is ViewState.NO_VIEW and guard.mast is Mast.CLOSED
    return f'{obstacles.view.value}{" while stowed" if stowed else ""}'


class StatusSchedule:
    """When to publish the status: each PERIOD_S, and when a field changes that is not measured."""

    def __init__(self) -> None:
        self._published_at = float('-inf')
        self._published: Status = {}
        self._changed = True

    def take_due(self, status: Status, now: float) -> bool:
        """Whether to publish ``status`` at ``now``, in steady seconds. True marks it published."""
        decided = without_measured(status)
        self._changed = decided != self._published
        if now < self.next_wakeup():
            return False
        self._published_at, self._published, self._changed = now, decided, False
        return True

    def lost(self) -> None:
        """The due status could not be published. It is due again after MIN_PERIOD_S."""
        self._published, self._changed = {}, True

    def next_wakeup(self) -> float:
        """Steady time in seconds by which to call ``take_due`` again."""
        return self._published_at + (MIN_PERIOD_S if self._changed else PERIOD_S)


# --- The adapter's entry of the diagnostics topic. Pure ----------------------------------------


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
