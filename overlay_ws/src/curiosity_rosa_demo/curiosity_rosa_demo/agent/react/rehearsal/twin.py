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
import math
import time

from curiosity_rosa_demo.agent.react.guardrails.approval import Ask
from curiosity_rosa_demo.agent.react.guardrails.gate import order_verdict
from curiosity_rosa_demo.agent.react.guardrails.geofence import fence_margin_m
from curiosity_rosa_demo.agent.react.guardrails.order import Order
from curiosity_rosa_demo.agent.react.guardrails.rules import geofence
from curiosity_rosa_demo.agent.react.guardrails.situation import (
    Limits,
    Proposal,
    Situation,
    situation_of_facts,
)
from curiosity_rosa_demo.agent.react.rehearsal.motions import (
    segments_of,
    standing_seconds,
    Unpredictable,
)
from curiosity_rosa_demo.agent.react.rehearsal.texts import rehearsal_text
from curiosity_rosa_demo.domain.brain_state import Spent
from curiosity_rosa_demo.domain.dead_reckoning import MotionSpeeds, Place
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.plan.plan import RiskLevel
from curiosity_rosa_demo.domain.refusal import Refusal, RefusalCode
from curiosity_rosa_demo.domain.rehearsal import FenceVerdict, Rehearsal, StepForecast
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.obstacles import RoverShape
from curiosity_rosa_demo.trace.reporter import finite_float

MAX_PATH_POINTS = 200
MAX_STEPS = 200
SkillFacts = Callable[[str], tuple[frozenset[str], RiskLevel, float] | None]
XY = tuple[float, float]


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
    """What a rehearsal needs besides the calls and the facts. ``skill_facts``: resources, risk and
    cost of a skill; None: there is no such skill. ``clock``: steady seconds.
    """

    config: Config
    limits: Limits
    skill_facts: SkillFacts
    surroundings: Surroundings
    origin: Origin
    language: str
    clock: Callable[[], float] = time.monotonic


def rehearse(
    calls: Iterable[Call], facts: Mapping[str, object], stage: Stage, spent: Spent | None = None
) -> Rehearsal | None:
    """The forecast of ``calls`` in their order; None when the rehearsal is off or no call moves
    the base. Takes at most about rehearsal.max_s.
    """
    rules = stage.config.guardrails.rehearsal
    listed = [call for _, call in zip(range(MAX_STEPS), calls, strict=False)]
    if not rules.enabled or not any(_drives(call, stage) for call in listed):
        return None
    spent = spent or Spent()
    situation = situation_of_facts(facts, spent=spent)
    start = _place(situation)
    if start is None:
        return _told(Rehearsal(why_not='pose_unknown'), stage)
    if stage.surroundings.stale:
        return _told(Rehearsal(why_not='stale'), stage)
    if situation.moving:
        return _told(Rehearsal(why_not='moving'), stage)
    run = _Run(stage, situation, start)
    until = stage.clock() + rules.max_s
    for call in listed:
        if stage.clock() > until or not run.add(call):
            run.unknown_from = call.op.text
            break
    return _told(run.result(facts, spent.metres), stage)


class _Run:
    """The twin between two calls."""

    def __init__(self, stage: Stage, situation: Situation, start: Place) -> None:
        self._stage, self._situation = stage, situation
        self._places = [start]
        self._steps: list[StepForecast] = []
        self.unknown_from = ''

    @property
    def _here(self) -> Place:
        return self._places[-1]

    def add(self, call: Call) -> bool:
        """Run the call; False: where it leads cannot be known."""
        found = self._forecast(call.op, call.step_id)
        if found is not None and found[0].verdict == 'refuse' and call.fallback is not None:
            found = self._forecast(call.fallback, call.step_id)
        if found is None:
            return False
        step, ways = found
        self._steps.append(step)
        self._places += ways
        return True

    def _forecast(
        self, op: Operation, step_id: int | None
    ) -> tuple[StepForecast, list[Place]] | None:
        stage = self._stage
        proposal = _proposal(op, stage)
        if proposal is None:
            return None
        if not stage.limits.may_move_base(proposal):
            seconds = standing_seconds(op, stage.config)
            return StepForecast(
                call=op.text, step_id=step_id, metres=0.0, seconds=seconds, end=self._here
            ), []
        speeds = stage.surroundings.speeds
        here = self._here
        situation = replace(self._situation, x=here.x, y=here.y, yaw_rad=here.yaw_rad)
        if len(self._places) > 1:  # a call ends with a stop
            situation = replace(situation, moving=False)
        try:
            segments = segments_of(op, here, speeds, stage.config)
        except Unpredictable:
            return None
        verdict, reason, refusal = _at_the_fence(proposal, situation, stage)
        ways: list[Place] = []
        for segment in segments:
            ways += segment.places(ways[-1] if ways else here)
        step = StepForecast(
            call=op.text,
            step_id=step_id,
            metres=sum(segment.metres for segment in segments),
            seconds=sum(segment.seconds(speeds) for segment in segments),
            end=ways[-1] if ways else here,
            fence_margin_m=fence_margin_m(proposal, situation, stage.limits),
            verdict=verdict,
            reason=reason,
            refusal=refusal,
        )
        return step, ways

    def result(self, facts: Mapping[str, object], driven_m: float) -> Rehearsal:
        stage, steps = self._stage, self._steps
        seconds = sum(each.seconds for each in steps)
        driving_s = sum(each.seconds for each in steps if each.metres)
        energy = driving_s * stage.config.guardrails.rehearsal.battery_pct_per_s
        battery = finite_float(facts.get('battery_pct'))
        margins = [each.fence_margin_m for each in steps if each.fence_margin_m is not None]
        return Rehearsal(
            start=self._places[0],
            end=self._here,
            path=_thinned([(round(each.x, 3), round(each.y, 3)) for each in self._places]),
            metres=sum(each.metres for each in steps),
            seconds=seconds,
            energy_pct=energy,
            battery_left_pct=None if battery is None else max(0.0, battery - energy),
            fence_margin_m=min(margins, default=None),
            obstacle_margin_m=_obstacle_margin(self._places, stage),
            steps=steps,
            unknown_from=self.unknown_from,
            driven_m=driven_m,
        )


def _told(rehearsal: Rehearsal, stage: Stage) -> Rehearsal:
    return rehearsal.model_copy(update={'text': rehearsal_text(rehearsal, stage.language)})


def _proposal(op: Operation, stage: Stage) -> Proposal | None:
    known = stage.skill_facts(op.skill)
    return None if known is None else Proposal(op, *known)


def _drives(call: Call, stage: Stage) -> bool:
    proposal = _proposal(call.op, stage)
    return proposal is not None and stage.limits.may_move_base(proposal)


def _place(situation: Situation) -> Place | None:
    x, y, yaw = situation.x, situation.y, situation.yaw_rad
    return None if x is None or y is None or yaw is None else Place(x=x, y=y, yaw_rad=yaw)


def _at_the_fence(
    proposal: Proposal, situation: Situation, stage: Stage
) -> tuple[FenceVerdict, str, dict[str, str] | None]:
    verdict = order_verdict(proposal, situation, stage.limits, Order(stage.origin), (geofence,))
    if isinstance(verdict, Refusal) and verdict.code is RefusalCode.GEOFENCE:
        return 'refuse', verdict.reason, {key: str(at) for key, at in verdict.to_json().items()}
    if isinstance(verdict, Ask) and verdict.fence:
        return 'ask', verdict.fence, None
    return 'pass', '', None


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
