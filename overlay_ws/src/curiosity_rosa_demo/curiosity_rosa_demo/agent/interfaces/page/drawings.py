# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The drawings of the page, cached until their data changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
import json
import logging
from typing import Any

from curiosity_rosa_demo.agent.interfaces.page import phase_bar, timeline
from curiosity_rosa_demo.agent.interfaces.page.status_rows import PanelData
from curiosity_rosa_demo.agent.interfaces.page.task_history import TaskHistory
from curiosity_rosa_demo.agent.react.situation import NAVIGATE_SKILL
from curiosity_rosa_demo.agent.tasks.texts import task_summary
from curiosity_rosa_demo.domain.brain_state import BrainState, Question
from curiosity_rosa_demo.domain.geometry import finite_float, Place, XY
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.pictures import Capture
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.drawing import plots, world_map
from curiosity_rosa_demo.drawing.plots import CaptureMarker
from curiosity_rosa_demo.drawing.svg import is_drawable
from curiosity_rosa_demo.drawing.world_map import Frame, View
from curiosity_rosa_demo.infra.config.topics import Config

TIMELINE_PERIOD_S = 2.0  # the time line moves even without new data
MAX_TIMELINE_ROWS = 6  # the panel is low
PLOT_HEIGHT = 168.0
MAX_LOOKS = 64  # of one drawing; each open page has one
DRAWING_FAILED_HTML = '<p>This cannot be drawn; the log of the agent says why.</p>'
RUNNING_NAVIGATION = (NAVIGATE_SKILL, 'running')

_log = logging.getLogger('curiosity_rosa.page')


@dataclass(frozen=True)
class Look:
    """How a page shows a drawing: in pixels, so that its text keeps its size. ``centre``: of the
    map, in metres, with ``scale`` pixels a metre; None: all of it. ``follows``: the centre is the
    rover.
    """

    width: float
    height: float
    centre: XY | None = None
    scale: float = 0.0
    follows: bool = False


DEFAULT_LOOK = Look(480.0, 400.0)
MIN_LOOK_PX, MAX_LOOK_PX, LOOK_STEP_PX = 120.0, 2560.0, 8.0
MIN_SCALE, MAX_SCALE = 0.2, 400.0  # pixels a metre of the map


def read_look(args: object) -> Look | None:
    """What a browser asked for; None: it is no look. Sizes are in whole steps, so that pages of
    about the same size share a drawing.
    """
    if not isinstance(args, dict):
        return None
    width, height = finite_float(args.get('width')), finite_float(args.get('height'))
    if width is None or height is None:
        return None
    x, y = finite_float(args.get('x')), finite_float(args.get('y'))
    scale = finite_float(args.get('scale'))
    known = None not in (x, y, scale) and is_drawable(x, y)
    return Look(
        _stepped(width, MIN_LOOK_PX, MAX_LOOK_PX),
        _stepped(height, MIN_LOOK_PX, MAX_LOOK_PX),
        centre=(x, y) if known and x is not None and y is not None else None,
        scale=min(MAX_SCALE, max(MIN_SCALE, scale)) if known and scale is not None else 0.0,
        follows=known and args.get('follows') is True,
    )


def _stepped(value: float, low: float, high: float) -> float:
    return min(high, max(low, value // LOOK_STEP_PX * LOOK_STEP_PX))


@dataclass(frozen=True)
class Picture:
    """A drawing. ``view``: of the map, the part of the world that it shows, in metres."""

    svg: str
    view: View | None = None

    @cached_property
    def text(self) -> str:
        """As JSON."""
        view = self.view
        box = None if view is None else [view.x_min, view.x_max, view.y_min, view.y_max]
        return json.dumps({'svg': self.svg, 'view': box})


class Drawing:
    """A drawing of the current data, drawn for each look when a page first asks for it."""

    def __init__(self, name: str, draw: Callable[[Look], Picture]) -> None:
        self._name, self._draw = name, draw
        self._pictures: dict[Look, Picture] = {}

    def picture(self, look: Look = DEFAULT_LOOK) -> Picture:
        if look not in self._pictures:
            if len(self._pictures) >= MAX_LOOKS:
                self._pictures.clear()
            try:
                picture = self._draw(look)
            except Exception:  # a failed drawing must not stop the rest of the page
                _log.exception('event=not_drawn drawing=%s', self._name)
                picture = Picture(DRAWING_FAILED_HTML)
            self._pictures[look] = picture
        return self._pictures[look]

    def svg(self, look: Look = DEFAULT_LOOK) -> str:
        return self.picture(look).svg


def drawn(drawings: Mapping[str, Drawing], looks: Mapping[str, Any]) -> dict[str, str]:
    """The drawings that a page shows, each in its look, as JSON."""
    known = {name: read_look(looks.get(name)) for name in drawings}
    return {name: drawings[name].picture(look).text for name, look in known.items() if look}


class DrawingCache:
    """The drawings. One of unchanged data stays the same object."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._views: dict[tuple[float, float], View] = {}
        self._cache: dict[str, tuple[Hashable, Drawing]] = {}

    def map(self, facts: PanelData, trail: Sequence[XY]) -> Drawing:
        """``facts``: as of ``scene_data``."""
        pose, goal = facts['pose'], facts['goal']
        scene = world_map.MapScene(
            limits=self._config.thresholds,
            fence=self._config.guardrails.geofence,
            pose=pose and Place(*pose),
            trail=trail,
            spots=_spots(facts),
            obstacles=facts['obstacles'],
            goal=goal and (goal[0], goal[1]),
            forecast=[(x, y) for x, y in facts['forecast']],
        )

        def draw(look: Look) -> Picture:
            frame = self._frame(scene, look)
            return Picture(world_map.render(scene, frame), frame.shown)

        seen = (len(trail), *trail[:1], *trail[-1:], json.dumps(facts, default=str))
        return self._cached('map', seen, draw)

    def _frame(self, scene: world_map.MapScene, look: Look) -> Frame:
        size = (look.width, look.height)
        centre = look.centre
        if look.follows and scene.pose is not None:
            centre = (scene.pose.x, scene.pose.y)
        if centre is not None and look.scale > 0.0:
            return Frame.centred(centre, look.scale, *size)
        if len(self._views) >= MAX_LOOKS:
            self._views.clear()
        view = world_map.view_of(scene, self._views.get(size))
        self._views[size] = view
        return Frame(view, *size)

    def plot(self, facts: PanelData) -> Drawing:
        """``facts``: as of ``scene_data``."""
        spots, numbers = _spots(facts), self._config.thresholds
        threshold = numbers.quality.score_threshold

        def draw(look: Look) -> Picture:
            return Picture(
                plots.score_over_position(
                    spots,
                    threshold,
                    light=numbers.light_model,
                    width=look.width,
                    height=PLOT_HEIGHT,
                )
            )

        return self._cached('plot', spots, draw)

    def timeline(self, histories: Sequence[TaskHistory], now: float) -> Drawing:
        """``histories``: in any order; drawn in the order of submission."""
        shown = sorted(
            (history for history in histories if history.rows),
            key=lambda history: history.task.seq,
        )[-MAX_TIMELINE_ROWS:]
        seen = (
            now // TIMELINE_PERIOD_S,
            tuple((history.task.id, len(history.rows)) for history in shown),
        )
        moment = datetime.fromtimestamp(now, timezone.utc)
        rows = [
            timeline.TimelineRow(each.task.id, task_summary(each.task), each.rows)
            for each in shown
        ]
        return self._cached(
            'times', seen, lambda look: Picture(timeline.render(rows, moment, width=look.width))
        )

    def phase_bar(self, events: Sequence[TraceEvent]) -> Drawing:
        seen = tuple(event.event_id for event in events)
        return self._cached(
            'steps', seen, lambda look: Picture(phase_bar.phase_bar(events, width=look.width))
        )

    def _cached(self, name: str, seen: Hashable, draw: Callable[[Look], Picture]) -> Drawing:
        cached = self._cache.get(name)
        if cached is None or cached[0] != seen:
            cached = self._cache[name] = (seen, Drawing(name, draw))
        return cached[1]


def scene_data(
    state: BrainState,
    pose: Place | None,
    captures: Iterable[Capture],
    histories: Sequence[TaskHistory],
    questions: Sequence[Question],
) -> PanelData:
    """What the map shows besides the trail, as JSON: metres, radians."""
    goal = _navigation_goal(state, histories)
    return {
        'pose': pose and [round(each, 2) for each in (pose.x, pose.y, pose.yaw_rad)],
        'spots': [
            [spot.event_id, spot.x, spot.y, spot.score, spot.is_good]
            for spot in markers_of(captures)
        ],
        'obstacles': list(state.world.obstacles),
        'goal': goal and list(goal),
        'forecast': [list(place) for place in _forecast(state, questions)],
    }


def _spots(facts: PanelData) -> tuple[CaptureMarker, ...]:
    return tuple(CaptureMarker(*spot) for spot in facts['spots'])


def markers_of(captures: Iterable[Capture]) -> tuple[CaptureMarker, ...]:
    """Markers of the captures with a known pose."""
    return tuple(
        CaptureMarker(
            capture.event_id, capture.pose.x, capture.pose.y, capture.score, capture.is_good
        )
        for capture in captures
        if capture.pose is not None
    )


def _navigation_goal(state: BrainState, histories: Sequence[TaskHistory]) -> XY | None:
    """The goal (x, y) of the running navigation task or plan step; None: there is none."""
    for history in histories:
        if history.task.state is LifecycleState.ACTIVE and history.task.name == NAVIGATE_SKILL:
            return _goal_place(history.task.metadata.get('arguments'))
    steps = (state.react.plan or {}).get('steps')
    for step in steps if isinstance(steps, list) else ():
        if (
            isinstance(step, dict)
            and (step.get('action'), step.get('status')) == RUNNING_NAVIGATION
        ):
            return _goal_place(step.get('parameters'))
    return None


def _forecast(state: BrainState, questions: Sequence[Question]) -> Sequence[XY]:
    """The predicted path of the oldest open question, else of the turn that runs."""
    asked = [each.rehearsal for each in questions if each.rehearsal is not None]
    rehearsal = asked[0] if asked else state.react.rehearsal
    return () if rehearsal is None or rehearsal.real is not None else tuple(rehearsal.path)


def _goal_place(arguments: object) -> XY | None:
    if not isinstance(arguments, dict):
        return None
    x, y = finite_float(arguments.get('x')), finite_float(arguments.get('y'))
    return None if x is None or y is None else (x, y)
