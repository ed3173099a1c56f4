# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a page shows that looks back: the view of a time, as the snapshot that a live page gets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from curiosity_rosa_demo.agent.interfaces.page.drawings import DrawingCache
from curiosity_rosa_demo.agent.interfaces.page.history import History
from curiosity_rosa_demo.agent.interfaces.page.status_rows import PanelData, plan_data
from curiosity_rosa_demo.agent.interfaces.page.task_history import TaskHistory
from curiosity_rosa_demo.agent.interfaces.page.view_model import (
    last_turn,
    MAX_LINES,
    PageSnapshot,
    TURN_EVENTS,
    turn_steps,
)
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.infra.storage.session_folder import MAX_PLACES

# What calls for a person now, whatever time is shown.
LIVE_PARTS = ('alarms', 'approvals', 'talk')
NO_SCENE: PanelData = {'pose': None, 'spots': [], 'obstacles': [], 'goal': None, 'forecast': []}
UNKNOWN_MODE = 'UNKNOWN'


@dataclass(frozen=True)
class Story:
    """A history, and what belongs to it. ``name``: of a recording; '': this robot. ``pictures``:
    the IDs of the captures whose pictures are kept. ``note``: what is missing of it; '': nothing.
    """

    name: str
    history: History
    events: Callable[[], Sequence[TraceEvent]]
    histories: Callable[[], Sequence[TaskHistory]] = lambda: ()
    pictures: Callable[[], Collection[str]] = lambda: ()
    note: str = ''

    def snapshot(self, at: float, live: PageSnapshot, drawings: DrawingCache) -> PageSnapshot:
        """The view at ``at``. ``drawings``: those of the page that looks back."""
        view = self.history.view(at, MAX_PLACES)
        parts = past_parts(view.parts or _unknown_parts(live.parts), self.pictures())
        count = self.history.lines.count_until(at)
        events = [event for event in self.events() if event.ts <= at][-TURN_EVENTS:]
        shown = {
            'map': drawings.map(parts['scene'], view.trail),
            'plot': drawings.plot(parts['scene']),
            'times': drawings.timeline(histories_until(self.histories(), at), at),
            'steps': drawings.phase_bar(last_turn(turn_steps(events))),
        }
        return replace(
            live,
            parts={**parts, **live_parts(live, parts['captures'])},
            drawings=shown,
            lines=self.history.lines.newest(MAX_LINES, count),
            count=count,
        )


def live_parts(live: PageSnapshot, captures: PanelData) -> dict[str, PanelData]:
    """What stays live, with the pictures of ``captures`` in the conversation."""
    parts = {name: live.parts[name] for name in LIVE_PARTS}
    return {**parts, 'talk': {**parts['talk'], 'captures': captures['rows']}}


def unreadable_text(lines: int) -> str:
    """What is lost of the history of earlier agents; '': nothing."""
    what = f'{lines} lines' if lines > 1 else 'One line'
    return f'{what} of the history could not be read and is left out.' if lines else ''


def past_parts(parts: Mapping[str, PanelData], pictures: Collection[str]) -> dict[str, PanelData]:
    """``parts`` as those of another time: without ages, and without buttons for what was. Captures
    whose picture is no longer kept are left out.
    """
    status, ground = parts['status'], parts['ground']
    captures = [row for row in parts['captures']['rows'] if row['id'] in pictures]
    return {
        **{name: {**facts, 'past': True} for name, facts in parts.items() if name != 'scene'},
        'scene': parts['scene'],
        'status': {
            **status,
            'past': True,
            'replay': True,
            'pausable': False,
            'held': False,
            'nodes': [{**node, 'aged': False} for node in status['nodes']],
        },
        'captures': {**parts['captures'], 'rows': captures, 'past': True},
        'ground': {**ground, 'picture': False, 'past': True},
    }


def histories_until(histories: Sequence[TaskHistory], at: float) -> list[TaskHistory]:
    """The changes of state up to ``at``."""
    moment = datetime.fromtimestamp(at, timezone.utc)
    cut = [
        TaskHistory(each.task, tuple(row for row in each.rows if row.at <= moment))
        for each in histories
    ]
    return [each for each in cut if each.rows]


def _unknown_parts(live: Mapping[str, PanelData]) -> dict[str, PanelData]:
    """Of a time of which only the trace is known."""
    status = live['status']
    return {
        **{name: {'rows': []} for name in ('progress', 'tasks', 'triggers', 'ground')},
        'captures': {'rows': [], 'replay': False},
        'plan': plan_data(None),
        'scene': NO_SCENE,
        'status': {
            **status,
            **dict.fromkeys(('why', 'auto', 'task', 'queued', 'usage'), ''),
            'mode': UNKNOWN_MODE,
            'auto_on': False,
            'motion': [{**row, 'text': 'unknown', 'bad': False} for row in status['motion']],
            'power': [{**row, 'text': 'unknown', 'bad': False} for row in status['power']],
            'sources': [],
            'nodes': [],
        },
    }
