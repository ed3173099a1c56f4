# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the adapter tells: its status, its health, which profile fits. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
import math

from curiosity_rosa_demo.adapter.agent_link import contest
from curiosity_rosa_demo.adapter.part import Posture
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.adapter.watches import ViewState
from curiosity_rosa_demo.domain.adapter_status import rival_texts, Status, without_measured
from curiosity_rosa_demo.domain.models import E_STOP_PRESSED
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.config.robot import AppendageCommand, RobotProfile
from curiosity_rosa_demo.infra.diagnostics import Finding, Level

PERIOD_S = 1.0  # between two messages without a change
NO_MAST = 'none'  # the mast of a robot without one
MIN_PERIOD_S = 0.05  # shortest time between two messages


def status_of(rules: Rules, rivals: Mapping[str, list[str]] | None = None) -> Status:
    """The status of docs/reference/contracts.md. ``rivals``: the nodes that publish one topic of
    the rover, by topic.
    """
    mast, obstacles, factor = rules.mast, rules.obstacles, rules.time.measured
    is_known = mast is None or mast.posture is not Posture.UNKNOWN
    is_open = mast is not None and not mast.is_stowed if is_known else None
    reading = None if mast is None or is_open is False else mast.heard(rules.time.simulated)
    turn = math.nan if reading is None else reading.angles[1]
    # The scan of a stowed mast may see nothing of the way.
    is_cause = obstacles.view is ViewState.NO_VIEW and mast is not None and mast.is_stowed
    x, y, yaw = rules.pose or (None, None, None)
    return {
        'mast_is_open': is_open,
        'move_allowed': rules.move_allowed,
        'moving': rules.moving,
        'stopping': rules.stopping,
        'last_error_reason': rules.last_error,
        'rover_x': x,
        'rover_y': y,
        'yaw_rad': yaw,
        'mast_yaw_rad': turn if math.isfinite(turn) else None,
        'mast': NO_MAST if mast is None else mast.state,
        'appendages': {name: part.state for name, part in rules.parts.items() if part is not mast},
        'e_stop': rules.e_stop,
        'agent_safe_reason': rules.agent.latch,
        'violation': rules.violation,
        'other_adapters': list(rules.other_adapters),
        'rival_publishers': dict(rivals) if rivals else None,
        'obstacle_view': f'{obstacles.view.value}{" while stowed" if is_cause else ""}',
        'obstacle_ahead_m': (obstacles.free_m or {}).get('move_forward'),
        'free_m': obstacles.free_m,
        'real_time_factor': None if factor is None else round(factor, 2),
    }


class StatusSchedule:
    """When to publish the status: each PERIOD_S, and when a field changes that is not measured,
    MIN_PERIOD_S after the last at the earliest. Steady seconds.
    """

    def __init__(self) -> None:
        self._published_at, self._published = float('-inf'), Status()

    def due_at(self, status: Status) -> float:
        is_news = without_measured(status) != self._published
        return self._published_at + (MIN_PERIOD_S if is_news else PERIOD_S)

    def published(self, status: Status, now: float) -> None:
        """``status``: empty if it was lost, which is due again after MIN_PERIOD_S."""
        self._published_at, self._published = now, without_measured(status)


SILENT_S = 2.0  # each source publishes at least five times a second
FIGURES = (
    *('mast', 'moving', 'move_allowed', 'stopping', 'e_stop', 'last_error_reason'),
    *('obstacle_view', 'obstacle_ahead_m', 'real_time_factor'),
)


def diagnose(
    rules: Rules,
    status: Status,
    *,
    missing: Collection[str],
    mismatch: str = '',
    ages_s: Mapping[str, float | None],
) -> Finding:
    """The adapter's health. ``missing`` names the rover's services that are not available;
    ``mismatch`` says which profile has others, or ''. ``ages_s`` holds the seconds since the last
    message of odometry, joint states and heartbeat; None means that none arrived.
    """
    mast = rules.mast
    stopping = rules.stopping and rules.last_error
    unknown = mast is not None and mast.posture is Posture.UNKNOWN
    errors = [
        *(RefusalCode.NO_SERVICE.text(name=name) for name in missing),
        *(rules.time.problem, contest(rules.other_adapters)),
        *(f'No {source} for {s:.0f} s' for source, s in ages_s.items() if s and s > SILENT_S),
    ]
    warnings = [
        *rival_texts(status),
        *(mismatch, *rules.drive.wrong_figures()),
        f'Stopping: {rules.last_error}' if stopping else '',
        rules.obstacles.refusal('', drives=True),
        E_STOP_PRESSED if status['e_stop'] else '',
        'Mast unknown: mast_close makes it known' if unknown else '',
    ]
    facts = {**status, 'stopping': rules.stopping}
    return Finding(
        dict.fromkeys(errors, Level.ERROR) | dict.fromkeys(warnings, Level.WARN),
        'moving' if rules.moving else 'standing still',
        {key: facts[key] for key in FIGURES}
        | {f'{source.replace(" ", "_")}_age_s': age_s for source, age_s in ages_s.items()},
    )


def mismatch(
    chosen: str,
    missing: Collection[str],
    profiles: Mapping[str, RobotProfile],
    is_offered: Callable[[AppendageCommand], bool],
) -> str:
    """The way out of a wrong choice; '' without one. ``missing``: names of the ``chosen`` profile
    behind which there is no robot. A profile fits if the robot offers each of its commands.
    """
    others = {name: each for name, each in profiles.items() if missing and name != chosen}
    fitting = ' or '.join(
        name
        for name in sorted(others)
        if (commands := others[name].commands)
        and all(is_offered(command) for _, command in commands.values())
    )
    way_out = 'choose with --robot, robot:= or nodes.yaml'
    told = f'Robot profile {chosen} does not fit this robot, {fitting} does; {way_out}'
    return told if fitting else ''
