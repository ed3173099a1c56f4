# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The robots of the fleet as JSON for the page. Pure. Durations are in seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from curiosity_rosa_demo.agent.interfaces.fleet.robot_client import RobotState, StopResult
from curiosity_rosa_demo.agent.interfaces.fleet.stop_all import result_text
from curiosity_rosa_demo.agent.interfaces.page.head_rows import battery_row, wheels_text
from curiosity_rosa_demo.agent.interfaces.page.status_rows import clipped, PanelData
from curiosity_rosa_demo.domain.brain_state import BrainState, Mode
from curiosity_rosa_demo.drawing.columns import clip_columns

LOST_S = 4.0  # without an answer: two reads, each at its time-out, are longer
MAX_TASK_COLUMNS = 80


class Link(str, Enum):
    WAITING = 'waiting'  # for the first answer
    LIVE = 'live'
    LOST = 'lost'


@dataclass(frozen=True)
class Sighting:
    """What is known of a robot. ``state``: the last good answer. ``failure``: why the newest read
    failed; '' if it did not.
    """

    name: str
    url: str
    state: RobotState | None = None
    failure: str = ''

    def link(self, now: float) -> Link:
        if self.failure or (self.state is not None and now - self.state.at > LOST_S):
            return Link.LOST
        return Link.WAITING if self.state is None else Link.LIVE

    def age_s(self, now: float) -> float | None:
        """Of the last good answer."""
        return None if self.state is None else max(0.0, now - self.state.at)


def robot_row(sighting: Sighting, stop: StopResult | None, now: float) -> PanelData:
    """``now``: steady seconds. A lost robot keeps its last state, which the page marks."""
    state = sighting.state
    return {
        'name': sighting.name,
        'url': f'{sighting.url}/',
        'link': sighting.link(now).value,
        'failure': clipped(sighting.failure),
        'stop': None if stop is None else {'ok': stop.ok, 'text': clipped(result_text(stop))},
        'age': f'robot:{sighting.name}',
        'limit': LOST_S,
        **({} if state is None else _state_data(state)),
    }


def _state_data(state: RobotState) -> PanelData:
    brain = state.brain
    return {
        'mode': brain.tasks.mode.value,
        'doing': clip_columns(_doing(brain) or state.not_ready, MAX_TASK_COLUMNS),
        'facts': _facts(brain),
        'questions': [clipped(each.text) for each in state.questions],
    }


def _doing(brain: BrainState) -> str:
    """The task that runs, or why the robot is in this mode."""
    tasks = brain.tasks
    active = next((each for each in tasks.queue if each.task_id == tasks.active_task_id), None)
    return tasks.mode_reason if active is None or tasks.mode is Mode.SAFE else active.goal


def _facts(brain: BrainState) -> list[PanelData]:
    robot = brain.robot
    battery = battery_row(brain, {})
    wheels_silent = 'odometry' in robot.silent
    rows = [
        ('Wheels', f'{wheels_text(brain)}{", odometry silent" * wheels_silent}', wheels_silent),
        ('Battery', battery['text'], battery['bad'] or 'battery' in robot.silent),
        ('Mast', robot.mast, False),
    ]
    if robot.estop:
        rows.append(('E-stop', 'PRESSED', True))
    return [{'name': name, 'text': clipped(text), 'bad': bad} for name, text, bad in rows]


def fleet_head(sightings: Sequence[Sighting], now: float) -> PanelData:
    """What stands above all robots: counts, and what calls a person."""
    live = [each for each in sightings if each.link(now) is Link.LIVE]
    lost = sum(each.link(now) is Link.LOST for each in sightings)
    states = [each.state for each in live if each.state is not None]
    safe = sum(each.brain.tasks.mode is Mode.SAFE for each in states)
    questions = sum(len(each.questions) for each in states)
    return {
        'robots': len(sightings),
        'live': len(live),
        'lost': lost,
        'safe': safe,
        'questions': questions,
    }


def ages(sightings: Sequence[Sighting], now: float) -> Mapping[str, float | None]:
    return {f'robot:{each.name}': each.age_s(now) for each in sightings}
