# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schemas of guardrails.yaml (limits and approvals) and skills.yaml (settings of each skill)."""

from __future__ import annotations

from enum import Enum
import re
from typing import Annotated, Literal

from curiosity_rosa_demo.domain.brain_state import DecisionType
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.plan.plan import RiskLevel
from curiosity_rosa_demo.domain.skills import ALWAYS_CANCELLABLE
from curiosity_rosa_demo.infra.config.base import Fraction, Metres, rule_error, Seconds, Section
from pydantic import BeforeValidator, Field, model_validator


def _member(kind: type[Enum]) -> BeforeValidator:
    """Convert a YAML string to an enum member; pydantic's strict mode would refuse it."""

    def read(value: object) -> object:
        try:
            return kind(value)
        except ValueError:
            allowed = ', '.join(str(each.value) for each in kind)
            raise ValueError(f'must be one of {allowed}') from None

    return BeforeValidator(read)


Risk = Annotated[RiskLevel, _member(RiskLevel)]
Strategy = Annotated[DecisionType, _member(DecisionType)]
ErrorMap = dict[str, Strategy]


# --- guardrails.yaml -------------------------------------------------------------------------


class Budget(Section):
    max_cost: float = Field(gt=0.0, le=1e6)
    max_metres: float = Field(gt=0.0, le=1e6)
    max_seconds: float = Field(gt=0.0, le=1e6)


class Patience(Section):
    refused_in_a_row: int = Field(ge=1, le=1000)
    same_refused: int = Field(ge=1, le=1000)
    failures_in_a_row: int = Field(ge=1, le=1000)
    no_progress: int = Field(ge=2, le=1000)
    idle_steps: int = Field(ge=1, le=1000)
    idle_cost: float = Field(gt=0.0, le=1e6)
    detour_cost: float = Field(gt=0.0, le=1e6)
    takeovers: int = Field(ge=1, le=1000)
    exhausted: Annotated[DecisionType, _member(DecisionType)]

    @model_validator(mode='after')
    def _asks_or_ends(self) -> Patience:
        if self.exhausted not in (DecisionType.ASK_HUMAN, DecisionType.ABORT):
            raise rule_error('exhausted', self.exhausted.value, 'must be ASK_HUMAN or ABORT')
        return self


class Geofence(Section):
    enabled: bool
    x_min: Metres
    x_max: Metres
    y_min: Metres
    y_max: Metres
    margin_m: float = Field(ge=0.0, le=1e3)
    max_speed_mps: float = Field(gt=0.0, le=100.0)
    leaving: Literal['refuse', 'ask']

    @model_validator(mode='after')
    def _has_an_inside(self) -> Geofence:
        for axis in 'xy':
            low, high = getattr(self, f'{axis}_min'), getattr(self, f'{axis}_max')
            if high - low <= 2 * self.margin_m:
                rule = f'must be more than 2 * margin_m above {axis}_min ({low:g})'
                raise rule_error(f'{axis}_max', high, rule)
        return self


class EnergyRules(Section):
    enabled: bool
    home_x: Metres
    home_y: Metres
    charge_per_m: float = Field(ge=0.0, le=1.0)
    reserve: float = Field(ge=0.0, le=0.5)


class ApprovalRules(Section):
    timeout_s: Seconds
    skills: list[str]
    risk_levels: list[Risk]
    battery_below: Fraction


Binding = Literal['ask', 'refuse', 'pass']
AlwaysBound = Literal['ask', 'refuse']


class Origins(Section):
    """What an order that ``approval`` names meets, by its origin. No order of the agent's own
    passes without a person's yes.
    """

    model: AlwaysBound
    plan: AlwaysBound
    autonomy: AlwaysBound
    trigger: AlwaysBound
    recovery: AlwaysBound
    console: Binding
    page: Binding
    http: Binding
    action: Binding
    mcp: AlwaysBound

    def binding(self, origin: Origin) -> Binding:
        """Charging only stops and stows, which asks nobody; anything more is refused."""
        if origin is Origin.CHARGE:
            return 'refuse'
        binding: Binding = getattr(self, origin.value)
        return binding


class RehearsalRules(Section):
    enabled: bool
    max_s: float = Field(gt=0.0, le=0.5)
    battery_pct_per_s: float = Field(ge=0.0, le=100.0)
    gap_m: float = Field(gt=0.0, le=1e3)
    gap_share: float = Field(ge=0.0, le=1.0)
    gap_rad: float = Field(gt=0.0, le=3.2)


class Guardrails(Section):
    budget: Budget
    patience: Patience
    geofence: Geofence
    energy: EnergyRules
    approval: ApprovalRules
    origins: Origins
    rehearsal: RehearsalRules


# --- skills.yaml -----------------------------------------------------------------------------


BASE_RULE = (
    'must be true for a skill that requires base, since a pause has to stop a motion; set it to '
    'true, or remove base from resources_required'
)
NAMED_RULE = 'must be true for a skill that drives or lasts until it is cancelled; set it to true'


Words = dict[Literal['en', 'ja', 'zh'], list[str]]  # phrases that order a skill, by language


def check_words(words: Words) -> None:
    """Raises PydanticCustomError."""
    for language, phrases in words.items():
        for phrase in phrases:
            if not 2 <= len(phrase) <= 60 or re.search(r'["\d]', phrase):
                rule = 'must be 2 to 60 characters without digits and quotation marks'
                raise rule_error(f'words.{language}', phrase, rule)


class SkillSettings(Section):
    """The fields of a SkillDef, without its name and arguments, and the risk level.
    ``cancel_supported``: false means that only a stop ends the skill. ``repeatable``: the skill
    leads to a fixed state, so an interrupted call can be run again. ``words``: phrases that order
    the skill, by language.
    """

    interface_type: Literal['ros2_action', 'ros2_service', 'internal']
    resources_required: list[str]
    preemptible: bool
    cancel_supported: bool
    timeout_s: float = Field(gt=0.0, le=1e6)
    risk: Risk
    repeatable: bool = False
    words: Words = Field(default_factory=dict)
    error_map: ErrorMap

    @property
    def phrases(self) -> tuple[str, ...]:
        """The words of all languages."""
        return tuple(phrase for phrases in self.words.values() for phrase in phrases)

    @model_validator(mode='after')
    def _phrases_are_words(self) -> SkillSettings:
        check_words(self.words)
        return self

    @model_validator(mode='after')
    def _base_can_be_cancelled(self) -> SkillSettings:
        if 'base' in self.resources_required and not self.cancel_supported:
            raise rule_error('cancel_supported', False, BASE_RULE)
        return self


class Skills(Section):
    error_map: ErrorMap
    skills: dict[str, SkillSettings]

    @model_validator(mode='after')
    def _some_are_always_cancellable(self) -> Skills:
        for name in ALWAYS_CANCELLABLE:
            if name in self.skills and not self.skills[name].cancel_supported:
                raise rule_error(f'skills.{name}.cancel_supported', False, NAMED_RULE)
        return self
