# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What all open pages show, made once for all of them. A part that did not change stays the same
object, so that a page can tell by identity what to send.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
import math

from curiosity_rosa_demo.agent.interfaces.page.drawings import Pictures
from curiosity_rosa_demo.agent.interfaces.page.status_rows import (
    ages,
    Facts,
    is_replay,
    plan_facts,
    progress_facts,
    question_facts,
    shot_facts,
    status_facts,
    task_facts,
    trace_facts,
)
from curiosity_rosa_demo.agent.interfaces.page.task_history import Life
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.infra.config.contracts import Config

LINES = 500  # of the trace are kept
STEPS = 200  # events in which the last turn is looked for
BEGINS = ('User: ', 'Going on after ')  # as Session.turn() traces it


@dataclass(frozen=True)
class Look:
    """``parts`` by the names of the panels; ``lines`` of the trace, the last of which has number
    ``count``; ``ages`` in seconds. ``now``: since the epoch; ``clock``: of the steady clock.
    """

    parts: Mapping[str, Facts]
    ages: Mapping[str, float | None]
    lines: Sequence[Facts]
    count: int
    now: float
    clock: float

    def since(self, count: int) -> Sequence[Facts]:
        """The lines after number ``count``, as far as they are kept."""
        return self.lines[max(0, len(self.lines) - (self.count - count)) :]


class ViewModel:
    """For one thread, but for ``hear``."""

    def __init__(self, robot: Robot, config: Config) -> None:
        self._robot = robot
        self._limits = {
            'odometry': config.thresholds.telemetry.odometry_max_age_s,
            'scan': config.thresholds.telemetry.scan_max_age_s,
            'battery': config.thresholds.telemetry.battery_max_age_s,
        }
        self._pictures = Pictures(config)
        self._parts: dict[str, Facts] = {}
        self._heard: deque[TraceEvent] = deque(maxlen=LINES)
        self._lines: deque[Facts] = deque(maxlen=LINES)
        self._count = 0
        self._last: TraceEvent | None = None

    def hear(self, event: TraceEvent) -> None:
        """From any thread. When it is looked at too seldom, the oldest give way."""
        self._heard.append(event)

    def look(self, lives: Sequence[Life], *, now: float, clock: float) -> Look:
        """The newest of everything; asks the robot only for what can be had at once."""
        robot = self._robot
        if self._last is None:
            self._take(robot.events(LINES))
        self._take(self._heard.popleft() for _ in range(len(self._heard)))
        state, pose, health, shots = robot.state(), robot.pose(), robot.health(), robot.shots()
        pictures = self._pictures
        parts = {
            'status': status_facts(
                state,
                pose,
                health,
                waits_for=robot.ready(),
                auto=robot.auto(),
                replay=self._last is not None and is_replay(self._last),
                limits=self._limits,
            ),
            'approvals': {
                'rows': [
                    question_facts(each, robot.asks_until(each)) for each in robot.questions()
                ]
            },
            'plan': plan_facts(state.react.plan),
            'progress': progress_facts(state.skills.running),
            'tasks': task_facts(life.task for life in lives),
            'shots': shot_facts(shots),
            'map': {'svg': pictures.map(state, pose, robot.trail(), shots, lives)},
            'plot': {'svg': pictures.plot(shots)},
            'times': {'svg': pictures.times(lives, now)},
            'steps': {'svg': pictures.steps(last_turn(_steps(robot.events(STEPS))))},
        }
        for name, facts in parts.items():
            if self._parts.get(name) != facts:
                self._parts[name] = facts
        lines = tuple(self._lines)
        return Look(
            dict(self._parts), _finite(ages(state, health)), lines, self._count, now, clock
        )

    def _take(self, events: Iterable[TraceEvent]) -> None:
        """What began before ``hear`` was called may come both ways."""
        known = {line['id'] for line in self._lines}
        for event in events:
            if event.event_id not in known:
                known.add(event.event_id)
                before = None if self._last is None else self._last.ts
                self._lines.append(trace_facts(event, before))
                self._count += 1
                self._last = event


def last_turn(events: Sequence[TraceEvent]) -> Sequence[TraceEvent]:
    """From where the last turn began, as far as it is known."""
    for place in range(len(events) - 1, -1, -1):
        if events[place].kind is TraceKind.OBSERVE and events[place].message.startswith(BEGINS):
            return events[place:]
    return events


def _steps(events: Iterable[TraceEvent]) -> list[TraceEvent]:
    """How far a skill is begins no step."""
    return [event for event in events if not (event.data and 'progress' in event.data)]


def _finite(values: Mapping[str, float | None]) -> dict[str, float | None]:
    return {
        name: round(value, 2) if value is not None and math.isfinite(value) else None
        for name, value in values.items()
    }
