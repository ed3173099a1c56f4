# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Inputs of the guardrails: the proposal, the known state of the rover, the limits. Pure.

A value that is missing, of the wrong type or not finite counts as unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from curiosity_rosa_demo.domain.brain_state import BatteryLevel, RunningSkill, Spent
from curiosity_rosa_demo.domain.geometry import finite_float
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.plan import RiskLevel
from curiosity_rosa_demo.domain.skills import MAST_SKILLS, MOTIONS
from curiosity_rosa_demo.infra.config.limits import (
    ApprovalRules,
    Budget,
    EnergyRules,
    Geofence,
    Origins,
    Patience,
)
from curiosity_rosa_demo.infra.config.topics import Config

NAVIGATE_SKILL = 'navigate_to_pose'
STOP_SKILLS = frozenset({'move_stop', 'stop_base'})  # always allowed, without approval
STOW_SKILL = 'mast_close'
UNREADABLE = 'unreadable'


@dataclass(frozen=True)
class Proposal:
    """An operation with the resources, risk and cost from its skill's definition."""

    op: Operation
    skill_resources: frozenset[str]
    risk: RiskLevel
    cost: float

    @property
    def skill(self) -> str:
        return self.op.skill

    @property
    def is_stop(self) -> bool:
        return self.skill in STOP_SKILLS

    @property
    def moves_mast(self) -> bool:
        return self.skill in MAST_SKILLS


@dataclass(frozen=True)
class Situation:
    """Metres and radians in the world frame; ``battery`` is 0.0 to 1.0. ``refused``: number of
    refusals of each call in this turn. None, and an empty ``mode``, mean unknown.
    """

    mode: str = ''
    mast: str = 'unknown'
    moving: bool | None = None
    x: float | None = None
    y: float | None = None
    yaw_rad: float | None = None
    battery: float | None = None
    running: tuple[RunningSkill, ...] = ()
    spent: Spent = field(default_factory=Spent)
    refused: Mapping[str, int] = field(default_factory=dict)
    safety_latch: str = ''


@dataclass(frozen=True)
class Limits:
    """``leash_s``: the adapter ends every motion after this time. ``reaction_s``: how much longer
    than its duration a motion may last: a late reply to the start, no reply to the stop, settling.
    ``turn_radius_m``: of the arcs of turn_left and turn_right, as configured. ``battery_low``: at
    this charge the rover stops and charges where it stands. ``max_detour``: of a navigation, as a
    multiple of the straight way; None: its path is not planned here, but by Nav2.
    """

    budget: Budget
    patience: Patience
    geofence: Geofence
    approval: ApprovalRules
    origins: Origins
    max_steps: int
    leash_s: float
    reaction_s: float
    turn_radius_m: float
    energy: EnergyRules
    battery_low: float
    max_detour: float | None = None
    motions: frozenset[str] = frozenset({*MOTIONS, NAVIGATE_SKILL})

    @classmethod
    def of(cls, config: Config) -> Limits:
        rules, motion = config.guardrails, config.thresholds.motion
        navigation = config.agent.navigation
        return cls(
            budget=rules.budget,
            patience=rules.patience,
            geofence=rules.geofence,
            approval=rules.approval,
            origins=rules.origins,
            max_steps=config.agent.turn.max_steps,
            leash_s=motion.max_duration_s,
            reaction_s=motion.service_timeout_s + motion.stop_timeout_s + motion.settle_s,
            turn_radius_m=config.thresholds.obstacles.turn_radius_m,
            energy=rules.energy,
            battery_low=config.thresholds.battery.low,
            max_detour=navigation.max_detour if navigation.provider == 'motions' else None,
        )

    def may_move_base(self, proposal: Proposal) -> bool:
        """Whether the skill may move the base: a motion, or any skill that claims the base."""
        if proposal.is_stop:
            return False
        return proposal.skill in self.motions or 'base' in proposal.skill_resources


def situation_of_facts(
    facts: Mapping[str, object],
    *,
    spent: Spent,
    running: Sequence[RunningSkill] = (),
    refused: Mapping[str, int] | None = None,
) -> Situation:
    """The situation from the flat ``facts`` of an observation."""
    moving = facts.get('moving')
    return Situation(
        mode=_text(facts.get('mode')),
        mast=_text(facts.get('mast')) or 'unknown',
        moving=moving if isinstance(moving, bool) else None,
        x=finite_float(facts.get('x')),
        y=finite_float(facts.get('y')),
        yaw_rad=finite_float(facts.get('yaw_rad')),
        battery=_battery(facts),
        running=tuple(running),
        spent=spent,
        refused=dict(refused or {}),
        safety_latch=_latch(facts.get('safety_latch')),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ''


def _latch(value: object) -> str:
    """The reason of the latch, '' when it is not set. An unreadable latch counts as set."""
    return UNREADABLE if value is not None and not isinstance(value, str) else _text(value)


def _battery(facts: Mapping[str, object]) -> float | None:
    """The charge; None before the first measurement, when the percentage is only a default."""
    percent = finite_float(facts.get('battery_pct'))
    if percent is None or not 0.0 <= percent <= 100.0:
        return None
    return None if facts.get('battery_state') == BatteryLevel.UNKNOWN.value else percent / 100.0
