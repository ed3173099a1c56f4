# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The head of the page as JSON, and the ages that its values are marked by. Pure.

Durations are in seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from curiosity_rosa_demo.agent.interfaces.page.status_rows import clipped, PanelData, pose_text
from curiosity_rosa_demo.agent.kernel.sense import view_problem
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.texts import task_summary
from curiosity_rosa_demo.domain.adapter_status import NodeStatus, rival_texts
from curiosity_rosa_demo.domain.brain_state import BatteryLevel, BrainState
from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.drawing.columns import clip_columns

MAX_TASK_COLUMNS = 80
# sources with a shown age; the e-stop publishes only changes
SENSOR_SOURCES = ('odometry', 'scan', 'battery')


def status_data(
    state: BrainState,
    pose: Place | None,
    health: Sequence[NodeStatus],
    *,
    auto: str,
    auto_on: bool,
    replay: bool,
    limits: Mapping[str, float],
    tasks: Sequence[Task] = (),
    usage: str = '',
    body: str = '',
) -> PanelData:
    """The head. ``limits``: the age in seconds from which a source is stale. ``replay``: a
    recording is shown. ``usage``: of the language model; '' for the routine. ``body``: which rover
    it is, such as the stand-in; '' where nobody has said.
    """
    robot = state.robot
    return {
        'mode': state.tasks.mode.value,
        'why': clipped(state.tasks.mode_reason),
        'auto': clipped(auto),
        'auto_on': auto_on,
        **_task_data(tasks),
        'motion': [
            _value('Wheels', wheels_text(state), 'odometry', limits),
            _value('Place', pose_text(pose), 'odometry', limits),
            _value('Way ahead', _way_text(state), 'scan', limits),
            _value('Mast', robot.mast, 'adapter', limits),
            *(
                _value(name.capitalize(), posture, 'adapter', limits)
                for name, posture in robot.appendages.items()
            ),
            _value('E-stop', 'PRESSED' if robot.estop else 'released', bad=robot.estop),
            *(_value('Warning', text, 'adapter', limits, bad=True) for text in _rivals(state)),
        ],
        'power': [battery_row(state, limits)],
        'sources': [
            {'name': name, 'silent': name in robot.silent, 'limit': limits.get(name)}
            for name in SENSOR_SOURCES
            if name in robot.ages_s
        ],
        'nodes': [
            # A healthy node without an age is part of the agent itself.
            {
                'name': each.name,
                'ok': each.ok,
                'aged': each.age_s is not None or not each.ok,
                'text': clipped(each.text),
            }
            for each in health
        ],
        'usage': clipped(usage),
        'body': clipped(body),
        'replay': replay,
    }


def sensor_ages(state: BrainState, health: Iterable[NodeStatus]) -> dict[str, float | None]:
    """The age of each source and node in seconds; None: no message has arrived. The kernel's ages
    are those at its last tick, so its own age is added.
    """
    nodes = {f'node:{each.name}': each.age_s for each in health}
    kernel = nodes.get('node:kernel') or 0.0
    return {**nodes, **{name: age + kernel for name, age in state.robot.ages_s.items()}}


def _value(
    name: str,
    text: str,
    source: str | None = None,
    limits: Mapping[str, float] | None = None,
    *,
    bad: bool = False,
) -> PanelData:
    """A value of the head. ``from``: the source whose age is the value's."""
    limit = None if source is None or limits is None else limits.get(source)
    return {'name': name, 'text': clipped(text), 'from': source, 'limit': limit, 'bad': bad}


def _task_data(tasks: Sequence[Task]) -> PanelData:
    """The task that runs, how many wait for it, and what the buttons may do."""
    live = [task for task in tasks if not task.terminal]
    running = next((task for task in live if task.state.running), None)
    queued = sum(task.state.waits_its_turn and not task.held for task in live)
    held = sum(task.held for task in live)
    counts = [f'{queued} queued' if queued else '', f'{held} held' if held else '']
    return {
        'task': '' if running is None else clip_columns(task_summary(running), MAX_TASK_COLUMNS),
        'queued': ', '.join(filter(None, counts)),
        'pausable': len(live) > held,
        'held': held > 0,
    }


def _rivals(state: BrainState) -> list[str]:
    heard = state.robot.heard.get('adapter')
    return [] if heard is None else rival_texts(heard.value)


def wheels_text(state: BrainState) -> str:
    if 'odometry' not in state.robot.ages_s:
        return 'unknown'
    return 'moving' if state.robot.moving else 'still'


def battery_row(state: BrainState, limits: Mapping[str, float]) -> PanelData:
    robot = state.robot
    if robot.battery_state is BatteryLevel.UNKNOWN:
        return _value('Battery', 'unknown', 'battery', limits)
    low = robot.battery_state is BatteryLevel.LOW
    text = f'{round(robot.battery_pct)} %{" low" if low else ""}'
    return _value('Battery', text, 'battery', limits, bad=low)


def _way_text(state: BrainState) -> str:
    """What the scan shows of the rover's way."""
    robot = state.robot
    if 'scan' not in robot.heard or 'scan' in robot.silent:
        return 'no scan'
    if problem := view_problem(robot):
        return problem
    return 'free' if robot.scan_min_m is None else f'free for {robot.scan_min_m:.1f} m'
