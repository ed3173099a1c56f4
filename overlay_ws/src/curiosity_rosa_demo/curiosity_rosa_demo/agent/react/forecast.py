# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs calls in the mind: dead reckoning from the present pose, the gate's fence, the scan. Pure.

The gate stays the authority: what it says about the fence is asked of the gate's own functions, at
each predicted place, and nothing that it would refuse passes here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
import math
import threading
import time
from typing import Any

from curiosity_rosa_demo.agent.language.tables import say
from curiosity_rosa_demo.agent.react.fence import fence_margin_m
from curiosity_rosa_demo.agent.react.gate import order_verdict, proposal_of
from curiosity_rosa_demo.agent.react.guardrails import Ask, geofence
from curiosity_rosa_demo.agent.react.situation import (
    Limits,
    NAVIGATE_SKILL,
    Proposal,
    Situation,
    situation_of_facts,
)
from curiosity_rosa_demo.agent.skills.drive import SpeedEstimate
from curiosity_rosa_demo.agent.skills.paths import (
    metres_of,
    NavigationGoal,
    plan_drive,
    SIDES,
)
from curiosity_rosa_demo.agent.skills.registry import checked_arguments, SkillRegistry
from curiosity_rosa_demo.agent.skills.skill import BadArguments, UnknownSkill
from curiosity_rosa_demo.agent.tasks.origin import Order
from curiosity_rosa_demo.domain.brain_state import Spent
from curiosity_rosa_demo.domain.geometry import DIRECTIONS, finite_float, MotionSpeeds, Place, XY
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.plan import MAX_STEPS
from curiosity_rosa_demo.domain.refusal import Refusal, RefusalCode
from curiosity_rosa_demo.domain.rehearsal import Rehearsal, StepForecast
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.obstacles import RoverShape

# --- The speeds of the rover's motions, from those that it has driven. Thread-safe -------------


MIN_SECONDS = 1.0  # a shorter motion is more start and stop than speed
MAX_TURN_RAD = 5.0  # near a whole circle the change of the heading is ambiguous


class MeasuredSpeeds:
    """Metres and radians in the world frame, seconds. Until a motion is measured: ``known``.
    ``start_s``: from the call of a motion until the rover moves.
    """

    def __init__(self, known: MotionSpeeds, start_s: float) -> None:
        self._lock = threading.Lock()
        self._straight = SpeedEstimate(known.straight, 0.0, start_s)
        self._arc = SpeedEstimate(known.arc, known.turn, start_s)

    def now(self) -> MotionSpeeds:
        with self._lock:
            return MotionSpeeds(self._straight.speed, self._arc.speed, self._arc.turn)

    def learn(self, name: str, before: Mapping[str, object], result: ToolResult) -> None:
        """Add a motion that ended well. ``before``: the facts at its start."""
        side, data = DIRECTIONS[name], result.data
        seconds, metres = (
            finite_float(data.get('duration_s')),
            finite_float(data.get('distance_m')),
        )
        if not result.ok or seconds is None or metres is None or seconds < MIN_SECONDS:
            return
        if side == 0:
            with self._lock:
                self._straight.update(seconds, metres, 0.0)
            return
        begin, end = finite_float(before.get('yaw_rad')), finite_float(data.get('yaw_rad'))
        if begin is None or end is None:
            return
        turned = (side * (end - begin)) % math.tau
        with self._lock:
            if 0.0 < turned < MAX_TURN_RAD and self._arc.turn * seconds < MAX_TURN_RAD:
                self._arc.update(seconds, metres, turned)


# -----------------------------------------------------------------------------------------------
# The motions of one call, as dead reckoning predicts them. Pure. Metres, radians, seconds.


SAMPLE_M = 0.25  # between two places of a path
MAX_SAMPLES = 200  # of one segment


@dataclass(frozen=True)
class Segment:
    """``metres`` along an arc that turns by ``turn`` radians, left above 0; 0: straight."""

    metres: float
    turn: float

    def seconds(self, speeds: MotionSpeeds) -> float:
        return abs(self.turn) / speeds.turn if self.turn else self.metres / speeds.straight

    def places(self, start: Place) -> list[Place]:
        """The places on the way, the end last."""
        count = min(MAX_SAMPLES, max(1, math.ceil(self.metres / SAMPLE_M)))
        return [
            start.after(self.metres * part / count, self.turn * part / count)
            for part in range(1, count + 1)
        ]


def segments_of(
    op: Operation, start: Place, speeds: MotionSpeeds, config: Config
) -> tuple[Segment, ...] | None:
    """How ``op``, which moves the base, drives from ``start``: of a navigation, the path that it
    plans first. None: that cannot be known beforehand.
    """
    way = speeds.way_of(op.skill, op.arguments)
    if way is not None:
        return (Segment(*way),)
    navigation, radius = config.agent.navigation, speeds.radius_m
    x, y, yaw_rad = (finite_float(op.arguments.get(key)) for key in ('x', 'y', 'yaw_rad'))
    if op.skill != NAVIGATE_SKILL or navigation.provider != 'motions' or x is None or y is None:
        return None
    goal = NavigationGoal(x, y, yaw_rad)
    if goal.is_reached(start):
        return ()
    longest_m = navigation.max_detour * goal.distance(start)
    plan = plan_drive(start, goal, radius, longest_m=longest_m)
    return tuple(
        Segment(metres_of(each, radius), SIDES[each[0]] * each[1]) for each in plan.segments
    )


def standing_seconds(op: Operation, config: Config) -> float:
    """How long a call takes that does not move the base; 0 where nobody knows."""
    mast = config.thresholds.mast
    if op.skill == 'wait':
        return finite_float(op.arguments.get('duration_s')) or 0.0
    return {
        'mast_open': mast.open_duration_s,
        'mast_close': mast.close_duration_s,
        'mast_rotate': mast.rotate_duration_s,
    }.get(op.skill, 0.0)


MAX_PATH_POINTS = 200


@dataclass(frozen=True)
class Surroundings:
    """``speeds``: as measured. ``obstacles``: distance and bearing from the base, as the scan
    shows them now; None: it has no view. ``stale``: the pose is old.
    """

    speeds: MotionSpeeds
    obstacles: tuple[XY, ...] | None = None
    stale: bool = False


@dataclass(frozen=True)
class Call:
    """``fallback``: the plan's call in its place when it is refused."""

    op: Operation
    step_id: int | None = None
    fallback: Operation | None = None


@dataclass(frozen=True)
class Stage:
    """What a rehearsal needs besides the calls and the facts. ``origin`` and ``language``: of the
    order. ``clock``: steady seconds.
    """

    config: Config
    registry: SkillRegistry
    surroundings: Surroundings
    origin: Origin
    language: str
    clock: Callable[[], float] = time.monotonic

    @cached_property
    def limits(self) -> Limits:
        return Limits.of(self.config)

    def propose(self, op: Operation) -> Proposal | None:
        """The call with what its skill needs; None: no skill takes it, so it will not run."""
        try:
            checked_arguments(self.registry.get(op.skill), op.arguments)
        except (UnknownSkill, BadArguments):
            return None
        return proposal_of(op, self.registry, self.config)


def rehearse(
    calls: Iterable[Call], facts: Mapping[str, object], stage: Stage, spent: Spent | None = None
) -> Rehearsal | None:
    """The forecast of ``calls`` in their order; None when the rehearsal is off or no call moves
    the base. Takes at most about rehearsal.max_s.
    """
    rules, listed = stage.config.guardrails.rehearsal, list(islice(calls, MAX_STEPS))
    proposals = [stage.propose(call.op) for call in listed]
    drives = any(each is not None and stage.limits.may_move_base(each) for each in proposals)
    if not rules.enabled or not drives:
        return None
    spent = spent or Spent()
    situation = situation_of_facts(facts, spent=spent)
    start = Place.known(situation.x, situation.y, situation.yaw_rad)
    if start is None:
        made = Rehearsal(why_not='pose_unknown')
    elif stage.surroundings.stale:
        made = Rehearsal(why_not='stale')
    elif situation.moving:
        made = Rehearsal(why_not='moving')
    else:
        made = _forecast(listed, situation, start, stage)
        energy, battery = made.energy_pct, finite_float(facts.get('battery_pct'))
        left = None if battery is None else max(0.0, battery - energy)
        made = made.model_copy(update={'battery_left_pct': left, 'driven_m': spent.metres})
    return made.model_copy(update={'text': rehearsal_text(made, stage.language)})


def _forecast(
    calls: Iterable[Call], situation: Situation, start: Place, stage: Stage
) -> Rehearsal:
    """Run the calls one after the other, as far as it can be known where they lead."""
    rules = stage.config.guardrails.rehearsal
    places, unknown_from = [start], ''
    steps: list[StepForecast] = []
    until = stage.clock() + rules.max_s
    for call in calls:
        if len(places) > 1:  # a call ends with a stop
            situation = replace(situation, moving=False)
        in_time = stage.clock() <= until
        # what no skill takes fails at once
        op = call.op if call.fallback is None or stage.propose(call.op) else call.fallback
        found = _step(op, call.step_id, situation, places[-1], stage) if in_time else None
        if found is not None and found[0].verdict == 'refuse' and call.fallback is not None:
            found = _step(call.fallback, call.step_id, situation, places[-1], stage)
        if found is None:
            unknown_from = call.op.text
            break
        steps.append(found[0])
        places += found[1]
    driving_s = sum(each.seconds for each in steps if each.metres)
    margins = [each.fence_margin_m for each in steps if each.fence_margin_m is not None]
    return Rehearsal(
        start=start,
        end=places[-1],
        path=_thinned([(round(each.x, 3), round(each.y, 3)) for each in places]),
        metres=sum(each.metres for each in steps),
        seconds=sum(each.seconds for each in steps),
        energy_pct=driving_s * rules.battery_pct_per_s,
        fence_margin_m=min(margins, default=None),
        obstacle_margin_m=_obstacle_margin(places, stage),
        steps=steps,
        unknown_from=unknown_from,
    )


def _step(
    op: Operation, step_id: int | None, situation: Situation, here: Place, stage: Stage
) -> tuple[StepForecast, list[Place]] | None:
    """One call from ``here``, and the places on its way; None: where it leads cannot be known."""
    proposal, speeds = stage.propose(op), stage.surroundings.speeds
    if proposal is None:
        return None
    told: dict[str, Any] = {'call': op.text, 'step_id': step_id}
    if not stage.limits.may_move_base(proposal):
        seconds = standing_seconds(op, stage.config)
        return StepForecast(**told, metres=0.0, seconds=seconds, end=here), []
    situation = replace(situation, x=here.x, y=here.y, yaw_rad=here.yaw_rad)
    segments = segments_of(op, here, speeds, stage.config)
    if segments is None:
        return None
    ways: list[Place] = []
    for segment in segments:
        ways += segment.places(ways[-1] if ways else here)
    step = StepForecast(
        **told,
        metres=sum(segment.metres for segment in segments),
        seconds=sum(segment.seconds(speeds) for segment in segments),
        end=ways[-1] if ways else here,
        fence_margin_m=fence_margin_m(proposal, situation, stage.limits),
        **_at_the_fence(proposal, situation, stage),
    )
    return step, ways


def _at_the_fence(proposal: Proposal, situation: Situation, stage: Stage) -> dict[str, Any]:
    """What the gate says of the fence: ``verdict``, ``reason`` and ``refusal`` of a forecast."""
    verdict = order_verdict(proposal, situation, stage.limits, Order(stage.origin), (geofence,))
    if isinstance(verdict, Refusal) and verdict.code is RefusalCode.GEOFENCE:
        refusal = {key: str(at) for key, at in verdict.to_json().items()}
        return {'verdict': 'refuse', 'reason': verdict.reason, 'refusal': refusal}
    if isinstance(verdict, Ask) and verdict.fence:
        return {'verdict': 'ask', 'reason': verdict.fence}
    return {}


def _obstacle_margin(places: Sequence[Place], stage: Stage) -> float | None:
    """The least distance between the rover's body and a return of the scan. It drives with its
    appendages stowed.
    """
    seen = stage.surroundings.obstacles
    if not seen:  # None: no view; empty: nothing near
        return None
    start, config = places[0], stage.config
    shape = RoverShape.of(config.thresholds, config.robot.appendages)
    returns = [
        (
            start.x + far * math.cos(start.yaw_rad + at),
            start.y + far * math.sin(start.yaw_rad + at),
        )
        for far, at in seen
    ]

    def free(place: Place, point: XY) -> float:
        cos, sin = math.cos(place.yaw_rad), math.sin(place.yaw_rad)
        dx, dy = point[0] - place.x, point[1] - place.y
        return shape.distance(dx * cos + dy * sin, dy * cos - dx * sin)

    return min(free(place, point) for place in places for point in returns)


def _thinned(path: list[XY]) -> list[XY]:
    """At most MAX_PATH_POINTS of them, the first and the last among them."""
    if len(path) <= MAX_PATH_POINTS:
        return path
    last = len(path) - 1
    return [path[round(last * each / (MAX_PATH_POINTS - 1))] for each in range(MAX_PATH_POINTS)]


# --- The forecast as text ----------------------------------------------------------------------


def rehearsal_text(rehearsal: Rehearsal, language: str) -> str:
    """One line of figures; a second one when the fence stands in the way of a plan."""
    if rehearsal.why_not or rehearsal.end is None:
        return say(f'rehearsal.{rehearsal.why_not or "pose_unknown"}', language)
    if not rehearsal.steps:
        return say('rehearsal.unknown', language, call=rehearsal.unknown_from)
    parts = [
        say(
            'rehearsal.way',
            language,
            metres=rehearsal.metres,
            seconds=rehearsal.seconds,
            end=_place_text(rehearsal.end),
        ),
        say('rehearsal.energy', language, energy=rehearsal.energy_pct),
    ]
    margin = rehearsal.fence_margin_m
    if margin is not None:
        parts.append(
            say(
                f'rehearsal.{"outside" if margin < 0.0 else "fence"}', language, margin=abs(margin)
            )
        )
    if rehearsal.obstacle_margin_m is not None:
        parts.append(say('rehearsal.obstacle', language, margin=rehearsal.obstacle_margin_m))
    if rehearsal.unknown_from:
        parts.append(say('rehearsal.unknown_from', language, call=rehearsal.unknown_from))
    comma, end = say('rehearsal.comma', language), say('rehearsal.end', language)
    lines = [comma.join(parts) + end]
    step = rehearsal.at_the_fence
    if step is not None and step.step_id is not None:  # a question has its own reasons
        call = f'{step.step_id}. {step.call}'
        lines.append(say(f'rehearsal.{step.verdict}', language, call=call, reason=step.reason))
    return '\n'.join(lines)


def _place_text(end: Place) -> str:
    degrees = math.degrees(math.remainder(end.yaw_rad, math.tau))
    return f'x {end.x:.1f} m, y {end.y:.1f} m, {degrees:.0f}°'
