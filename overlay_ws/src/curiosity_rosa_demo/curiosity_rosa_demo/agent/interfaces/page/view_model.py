# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The data of all open pages, made once for all of them. An unchanged part stays the same object,
so that a page detects changes by identity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
import math
import time

from curiosity_rosa_demo.agent.interfaces.http.talk import TalkLines
from curiosity_rosa_demo.agent.interfaces.page.drawings import Drawing, DrawingCache, scene_data
from curiosity_rosa_demo.agent.interfaces.page.head_rows import sensor_ages, status_data
from curiosity_rosa_demo.agent.interfaces.page.history import History, unreadable_text
from curiosity_rosa_demo.agent.interfaces.page.status_rows import (
    alarm_data,
    capture_data,
    ground_data,
    is_replay,
    PanelData,
    plan_data,
    progress_facts,
    question_data,
    restart_data,
    task_data,
    trace_data,
    trigger_data,
)
from curiosity_rosa_demo.agent.interfaces.page.task_detail import task_detail, TaskEvents
from curiosity_rosa_demo.agent.interfaces.page.task_history import TaskHistory
from curiosity_rosa_demo.agent.interfaces.terminal.commands import with_templates
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.domain.brain_state import BrainState
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.origin import MAX_OPERATOR_CHARS
from curiosity_rosa_demo.domain.pictures import Capture
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.trace.events import QuestionAsked, SkillProgressed, TurnStarted
from curiosity_rosa_demo.trace.trace_buffer import Subscription

MAX_LINES = 500  # stored lines of the trace
TURN_EVENTS = 200  # newest events, searched for the last turn


@dataclass(frozen=True)
class PageSnapshot:
    """``parts`` and ``drawings``: by panel. ``lines``: of the trace; the last one has number
    ``count``. ``ages``: in seconds. ``now``: seconds since the epoch; ``clock``: steady seconds.
    ``detail``: of the task with this ID; None: it is not among the newest.
    """

    parts: Mapping[str, PanelData]
    drawings: Mapping[str, Drawing]
    ages: Mapping[str, float | None]
    lines: Sequence[PanelData]
    count: int
    now: float
    clock: float
    detail: Callable[[str], PanelData | None] = lambda task_id: None


class ViewModel:
    """Use it in one thread. ``history`` has the lines of the trace, and what earlier agents
    showed.
    """

    def __init__(
        self,
        robot: Robot,
        config: Config,
        talk_lines: TalkLines,
        history: History | None = None,
    ) -> None:
        self._robot, self._talk_lines = robot, talk_lines
        self._history = history or History()
        self._body = config.agent.http.body
        self._about = about_data(config)
        self._limits = {
            'odometry': config.thresholds.telemetry.odometry_max_age_s,
            'scan': config.thresholds.telemetry.scan_max_age_s,
            'battery': config.thresholds.telemetry.battery_max_age_s,
            'adapter': config.thresholds.telemetry.adapter_max_age_s,
        }
        self._drawings = DrawingCache(config)
        self._parts: dict[str, PanelData] = {}
        self._events = Subscription(robot.event_bus, 'page', TraceEvent, after=0)
        self._task_events = TaskEvents()
        self._last_event: TraceEvent | None = None
        self._add_earlier(robot.earlier_events())

    def snapshot(
        self, histories: Sequence[TaskHistory], *, now: float, clock: float
    ) -> PageSnapshot:
        """The current data of all panels. Calls only methods of the robot that do not block."""
        robot = self._robot
        read = self._events.read().events[-MAX_LINES:]
        self._add_lines(now, (each.event for each in read))
        state, health, captures = robot.state(), robot.node_statuses(), robot.captures()
        stamped = robot.pose()
        pose = stamped.place if stamped else None
        recent = robot.event_bus.trace_events(TURN_EVENTS)
        pictures, replay_text = self._drawings, robot.replay_text()
        replay = bool(replay_text) or (
            self._last_event is not None and is_replay(self._last_event)
        )
        tasks = [history.task for history in histories]
        shown_captures = capture_data(captures, replay=replay)
        questions = [
            question_data(each, robot.approval_deadline(each)) for each in robot.questions()
        ]
        parts = {
            'status': status_data(
                state,
                pose,
                health,
                auto=robot.autonomy_status(),
                auto_on=robot.autonomy_is_on(),
                tasks=tasks,
                usage=robot.usage_text(),
                body=self._body,
                replay=replay,
                limits=self._limits,
            ),
            'alarms': alarm_data(
                state,
                health,
                tasks,
                datetime.fromtimestamp(now, timezone.utc),
                waits_for=robot.not_ready_reason(),
                replay=replay,
                replay_text=replay_text,
            ),
            'approvals': {'rows': questions},
            'talk': {
                'lines': self._talk_lines.rows(),
                'captures': shown_captures['rows'],
                'questions': questions,
            },
            'plan': plan_data(state.react.plan, state.react.rehearsal),
            'progress': progress_facts(state.skills.running),
            'tasks': task_data(tasks),
            'triggers': trigger_data(robot.triggers()),
            'captures': shown_captures,
            'ground': ground_data(robot.ground()),
            'about': self._about,
            'time': self._history.facts(unreadable_text(self._history.unreadable)),
            'scene': scene_data(state, pose, captures, histories, robot.questions()),
        }
        for name, facts in parts.items():
            if self._parts.get(name) != facts:
                self._parts[name] = facts
        drawings = {
            'map': pictures.map(self._parts['scene'], robot.trail()),
            'plot': pictures.plot(self._parts['scene']),
            'times': pictures.timeline(histories, now),
            'steps': pictures.phase_bar(last_turn(turn_steps(recent))),
        }
        return PageSnapshot(
            dict(self._parts),
            drawings,
            _finite_values(sensor_ages(state, health)),
            self._history.lines.newest(MAX_LINES),
            self._history.lines.total,
            now,
            clock,
            self._details(histories, state, captures),
        )

    def _details(
        self, histories: Sequence[TaskHistory], state: BrainState, captures: Sequence[Capture]
    ) -> Callable[[str], PanelData | None]:
        known = {history.task.id: history for history in histories}

        @cache  # pages with the same open task share it
        def detail(task_id: str) -> PanelData | None:
            history = known.get(task_id)
            if history is None:
                return None
            return task_detail(history, self._task_events, state, captures)

        return detail

    def _add_earlier(self, events: Sequence[TraceEvent]) -> None:
        """What the agents before this one told, and the marks of the restarts."""
        history = self._history
        first = min([each.ts for each in events[:1]] + [history.start or math.inf])
        starts = [at for at in history.starts if at > first]
        if events and not starts:
            starts = [time.time()]
        before: float | None = None
        for event in events:
            while starts and starts[0] <= event.ts:
                history.add_line(starts[0], restart_data(starts.pop(0)))
            self._task_events.add(event)
            history.add_line(event.ts, trace_data(event, before, earlier=True))
            before = event.ts
        for at in starts:
            history.add_line(at, restart_data(at))

    def _add_lines(self, now: float, events: Iterable[TraceEvent]) -> None:
        for event in events:
            self._task_events.add(event)
            before = None if self._last_event is None else self._last_event.ts
            self._history.add_line(now, trace_data(event, before))
            self._last_event = event


def about_data(config: Config) -> PanelData:
    """What does not change while the agent runs."""
    commands = with_templates(config.prompts.templates).values()
    return {
        'camera_period_s': 1.0 / config.agent.http.camera_hz,
        'commands': [[each.name, each.argument, each.help] for each in commands],
        'fleet': bool(config.agent.http.fleet),
        'name_chars': MAX_OPERATOR_CHARS,
    }


def last_turn(events: Sequence[TraceEvent]) -> Sequence[TraceEvent]:
    """The events of the last turn; all events if its start is not among them."""
    for place in range(len(events) - 1, -1, -1):
        if TurnStarted.of(events[place]):
            return events[place:]
    return events


def turn_steps(events: Iterable[TraceEvent]) -> list[TraceEvent]:
    """The events without those that start no step of a turn: reports of progress, and questions
    about tasks.
    """
    return [event for event in events if not _is_beside_turn(event)]


def _is_beside_turn(event: TraceEvent) -> bool:
    asked = QuestionAsked.of(event)
    return SkillProgressed.of(event) is not None or (asked is not None and asked.task_id != '')


def _finite_values(values: Mapping[str, float | None]) -> dict[str, float | None]:
    return {
        name: round(value, 2) if value is not None and math.isfinite(value) else None
        for name, value in values.items()
    }
