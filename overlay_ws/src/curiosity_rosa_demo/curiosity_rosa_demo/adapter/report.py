# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the adapter tells: its status, its health, which profile fits, whose calls it served."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
import math

from curiosity_rosa_demo.adapter.agent_link import contest
from curiosity_rosa_demo.adapter.part import Posture
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.adapter.watches import ViewState
from curiosity_rosa_demo.domain.adapter_status import rival_texts, Status, without_measured
from curiosity_rosa_demo.domain.models import E_STOP_PRESSED, service_unavailable, VIEW_LOST
from curiosity_rosa_demo.infra.config.robot import AppendageCommand, RobotProfile
from curiosity_rosa_demo.infra.diagnostics import Finding, Level

PERIOD_S = 1.0  # between two messages without a change
NO_MAST = 'none'  # the mast of a robot without one
MIN_PERIOD_S = 0.05  # shortest time between two messages


def status_of(
    rules: Rules,
    pose: tuple[float, float, float] | None,
    mast_turn: float | None,
    real_time_factor: float | None = None,
    rivals: Mapping[str, list[str]] | None = None,
) -> Status:
    """The status of docs/reference/contracts.md; ``pose`` is x, y, yaw in metres and radians.
    ``real_time_factor`` is the measured one; None without simulated time that advances.
    ``rivals``: the nodes that publish one topic of the rover, by topic.
    """
    mast, obstacles = rules.mast, rules.obstacles
    is_known = mast is None or mast.posture is not Posture.UNKNOWN
    is_open = mast is not None and not mast.is_stowed if is_known else None
    x, y, yaw = pose or (None, None, None)
    return {
        'mast_is_open': is_open,
        'move_allowed': rules.move_allowed,
        'moving': rules.moving,
        'last_error_reason': rules.last_error,
        'rover_x': x,
        'rover_y': y,
        'yaw_rad': yaw,
        'mast_yaw_rad': mast_turn if is_open is not False else None,
        'mast': NO_MAST if mast is None else mast.state,
        'appendages': {name: part.state for name, part in rules.parts.items() if part is not mast},
        'e_stop': rules.e_stop,
        'agent_safe_reason': rules.agent.latch,
        'violation': rules.violation,
        'other_adapters': list(rules.other_adapters),
        'rival_publishers': dict(rivals) if rivals else None,
        'obstacle_view': view_text(rules),
        'obstacle_ahead_m': obstacles.ahead_m,
        'free_m': obstacles.free_m,
        'real_time_factor': None if real_time_factor is None else round(real_time_factor, 2),
    }


def view_text(rules: Rules) -> str:
    """What the scan shows of the way ahead; says so when the stowed mast is the cause."""
    view, mast = rules.obstacles.view, rules.mast
    stowed = view is ViewState.NO_VIEW and mast is not None and mast.is_stowed
    return f'{view.value}{" while stowed" if stowed else ""}'


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

    def is_news(self, status: Status) -> bool:
        """Whether a field has changed of which ``next_wakeup`` does not know yet."""
        return not self._changed and without_measured(status) != self._published

    def lost(self) -> None:
        """The due status could not be published. It is due again after MIN_PERIOD_S."""
        self._published, self._changed = {}, True

    def next_wakeup(self) -> float:
        """Steady time in seconds by which to call ``take_due`` again."""
        return self._published_at + (MIN_PERIOD_S if self._changed else PERIOD_S)


# --- The adapter's entry of the diagnostics topic. Pure ----------------------------------------


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
    clock_problem: str = '',
) -> Finding:
    """The adapter's health. ``missing`` names the rover's services that are not available;
    ``mismatch`` says which profile has others, or ''. ``ages_s`` holds the seconds since the last
    message of odometry, joint states and heartbeat; None means that none arrived.
    ``clock_problem``: why no motion can be timed; '' without one.
    """
    mast = rules.mast
    silent = {source: age_s for source, age_s in ages_s.items() if age_s and age_s > SILENT_S}
    stopping = rules.stopping and rules.last_error
    unknown = mast is not None and mast.posture is Posture.UNKNOWN
    errors = [
        *map(service_unavailable, missing),
        *(clock_problem, contest(rules.other_adapters)),
        *(f'No {source} for {age_s:.0f} s' for source, age_s in silent.items()),
    ]
    warnings = [
        *rival_texts(status),
        *(mismatch, *rules.drive.wrong_figures()),
        f'Stopping: {rules.last_error}' if stopping else '',
        VIEW_LOST if rules.obstacles.view_lost else '',
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


# --- Whether another shipped profile fits the robot that runs here. Pure -----------------------


def mismatch(
    chosen: str,
    missing: Collection[str],
    profiles: Mapping[str, RobotProfile],
    is_offered: Callable[[AppendageCommand], bool],
) -> str:
    """The way out of a wrong choice; '' without one. ``missing``: names of the ``chosen`` profile
    behind which there is no robot. A profile fits if the robot offers each of its commands.
    """
    if not missing:
        return ''
    fitting = [
        name
        for name, profile in profiles.items()
        if name != chosen
        and profile.commands
        and all(is_offered(command) for _, command in profile.commands.values())
    ]
    if not fitting:
        return ''
    others = ' or '.join(sorted(fitting))
    way_out = 'choose with --robot, robot:= or nodes.yaml'
    return f'Robot profile {chosen} does not fit this robot, {others} does; {way_out}'


# --- Which calls of /adapter/* were not the agent's. Pure; steady seconds ----------------------
# A ROS request does not name its caller. So the agent's heartbeat says how many calls of each
# service the agent has sent, and a call that no such number covers within CLAIM_WAIT_S is another
# node's. The graph, asked after the call, says which other nodes have a client: one is the caller,
# or a node that the graph does not show yet. Nothing here decides whether a call is served.

CLAIM_WAIT_S = 2.0  # a heartbeat is due every 0.1 s


@dataclass(eq=False)
class Call:
    """One call. ``has_agent``: whether the agent has a client of the service; None until somebody
    has looked. ``others``: the other nodes that have one. ``answer``: '' is a success; None: it is
    not answered yet.
    """

    service: str
    at: float
    has_agent: bool | None = None
    others: set[str] = field(default_factory=set)
    answer: str | None = None


class CallLog:
    def __init__(self) -> None:
        self._unclaimed: list[Call] = []  # the oldest first
        self._claims: dict[str, list[float]] = {}  # by service: the time at which each ends
        self._sent: dict[str, int] | None = None  # as the agent last said it, at this tick
        self._tick = -1
        self._beat_at = -math.inf

    def begin(self, service: str, now: float) -> Call:
        """Record a call that has arrived. Set its ``answer`` when it is served."""
        call = Call(service, now)
        claims = [end for end in self._claims.get(service, ()) if end > now]
        if claims:
            claims.pop(0)
        else:
            self._unclaimed.append(call)
        self._claims[service] = claims
        return call

    def unnamed(self) -> set[str]:
        """The services of unclaimed calls for whose callers nobody has looked."""
        return {call.service for call in self._unclaimed if call.has_agent is None}

    def name(
        self, service: str, *, has_agent: bool, others: Collection[str], until: float
    ) -> None:
        """Record who has a client of ``service``, for the calls that came before ``until``."""
        for call in self._unclaimed:
            if call.service == service and call.has_agent is None and call.at <= until:
                call.has_agent, call.others = has_agent, set(others)

    def record_sent(self, tick: int, sent: Mapping[str, int], now: float) -> None:
        """Record how many calls of each service the agent has sent since its start. The ``tick``
        of its heartbeat rises until it restarts.
        """
        is_same_agent = self._sent is not None and tick > self._tick
        before = (is_same_agent and self._sent) or {}
        self._sent, self._tick, self._beat_at = dict(sent), tick, now
        for service, count in sent.items():
            fresh = max(0, count - before.get(service, 0))
            claimed = [call for call in self._unclaimed if call.service == service][:fresh]
            self._unclaimed = [call for call in self._unclaimed if call not in claimed]
            if is_same_agent:  # otherwise the rest are calls from before
                ends = [now + CLAIM_WAIT_S] * (fresh - len(claimed))
                self._claims.setdefault(service, []).extend(ends)

    def take_foreign(self, now: float) -> list[Call]:
        """Return and forget the answered calls that the agent has not claimed in time."""
        due = [
            call
            for call in self._unclaimed
            if call.answer is not None and now - call.at >= CLAIM_WAIT_S
        ]
        self._unclaimed = [call for call in self._unclaimed if call not in due]
        is_agent_heard = now - self._beat_at < CLAIM_WAIT_S
        # An agent that is leaving, or frozen, claims nothing. Without another node it is the
        # likely caller, and no one is accused.
        return [call for call in due if call.others or not call.has_agent or is_agent_heard]
