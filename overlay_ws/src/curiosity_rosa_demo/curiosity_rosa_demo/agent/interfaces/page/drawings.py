# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The drawings of the page, made anew only when what they show has changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import datetime, timezone
import logging

from curiosity_rosa_demo.agent.interfaces.page import decision_strip, timeline
from curiosity_rosa_demo.agent.interfaces.page.task_history import Life
from curiosity_rosa_demo.agent.react.guardrails.situation import NAVIGATE
from curiosity_rosa_demo.agent.tasks.texts import what
from curiosity_rosa_demo.domain.brain_state import BrainState
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent
from curiosity_rosa_demo.domain.pictures import Shot
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.drawing import plots, world_map
from curiosity_rosa_demo.drawing.map_ground import Zone
from curiosity_rosa_demo.drawing.markers import Spot
from curiosity_rosa_demo.drawing.view import View
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.trace.reporter import number

TIMES_EVERY_S = 2.0  # the time line moves on by itself
NOT_DRAWN = '<p>This cannot be drawn; the log of the agent says why.</p>'
RUNNING = (NAVIGATE, 'running')

_log = logging.getLogger('curiosity_rosa.page')


class Pictures:
    def __init__(self, config: Config) -> None:
        self._config = config
        self._view: View | None = None
        self._made: dict[str, tuple[Hashable, str]] = {}

    def map(
        self,
        state: BrainState,
        pose: RoverPose | None,
        trail: Sequence[tuple[float, float]],
        shots: Sequence[Shot],
        lives: Sequence[Life],
    ) -> str:
        fence, viz = self._config.guardrails.geofence, self._config.thresholds.viz
        zone = Zone(viz.bright_zone_x_min, viz.bright_zone_x_max, viz.bright_zone_half_width)
        scene = world_map.Map(
            zone=zone,
            fence=fence if fence.enabled else None,
            pose=pose,
            trail=trail,
            spots=spots_of(shots),
            obstacles=state.world.obstacles,
            goal=_goal(state, lives),
        )

        def draw() -> str:
            self._view = world_map.view_of(scene, self._view)
            return world_map.render(scene, self._view)

        place = pose and (round(pose.x, 2), round(pose.y, 2), round(pose.yaw_rad, 2))
        obstacles = str(state.world.obstacles)
        seen = (place, len(trail), *trail[-1:], scene.spots, obstacles, scene.goal)
        return self._kept('map', seen, draw)

    def plot(self, shots: Sequence[Shot]) -> str:
        spots, numbers = spots_of(shots), self._config.thresholds
        threshold = numbers.quality.score_threshold
        return self._kept(
            'plot',
            spots,
            lambda: plots.score_over_position(spots, threshold, light=numbers.light_model),
        )

    def times(self, lives: Sequence[Life], now: float) -> str:
        """``lives``: any order; drawn in that of submission."""
        shown = sorted((life for life in lives if life.rows), key=lambda life: life.task.seq)
        seen = (now // TIMES_EVERY_S, tuple((life.task.id, len(life.rows)) for life in shown))
        rows = [timeline.Life(each.task.id, what(each.task), each.rows) for each in shown]
        moment = datetime.fromtimestamp(now, timezone.utc)
        return self._kept('times', seen, lambda: timeline.render(rows, moment))

    def steps(self, events: Sequence[TraceEvent]) -> str:
        seen = tuple(event.event_id for event in events)
        return self._kept('steps', seen, lambda: decision_strip.decision_strip(events))

    def _kept(self, name: str, seen: Hashable, draw: Callable[[], str]) -> str:
        made = self._made.get(name)
        if made is None or made[0] != seen:
            try:
                drawing = draw()
            except Exception:  # a drawing is missed less than everything else would be
                _log.exception('event=not_drawn drawing=%s', name)
                drawing = NOT_DRAWN
            made = self._made[name] = (seen, drawing)
        return made[1]


def spots_of(shots: Iterable[Shot]) -> tuple[Spot, ...]:
    """Those whose place is known."""
    return tuple(
        Spot(shot.event_id, shot.pose.x, shot.pose.y, shot.score, shot.is_good)
        for shot in shots
        if shot.pose is not None
    )


def _goal(state: BrainState, lives: Sequence[Life]) -> tuple[float, float] | None:
    """Where the rover drives to, when the task that runs or the step of its plan says so."""
    for life in lives:
        if life.task.state is LifecycleState.ACTIVE and life.task.name == NAVIGATE:
            return _place(life.task.metadata.get('arguments'))
    steps = (state.react.plan or {}).get('steps')
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict) and (step.get('action'), step.get('status')) == RUNNING:
            return _place(step.get('parameters'))
    return None


def _place(arguments: object) -> tuple[float, float] | None:
    if not isinstance(arguments, dict):
        return None
    x, y = number(arguments.get('x')), number(arguments.get('y'))
    return None if x is None or y is None else (x, y)
