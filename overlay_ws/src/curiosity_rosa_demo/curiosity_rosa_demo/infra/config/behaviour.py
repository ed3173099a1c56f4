# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schemas of skills.yaml, of triggers.yaml (conditions on topics and facts that queue a task), and
of a world view (world_view.yaml, companion.yaml): the places, devices and activities of an agent
that acts on its own, and its daily routine.

Times of day are local, ``HH:MM`` in 24 hours. A window includes its first minute and excludes its
last; ``22:00-06:00`` spans midnight. Energy is a fraction of the full charge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import date
import re
from typing import Annotated, Any, Literal

from curiosity_rosa_demo.domain.brain_state import DecisionType, Json
from curiosity_rosa_demo.domain.skills import ALWAYS_CANCELLABLE
from curiosity_rosa_demo.infra.config.agent import Language
from curiosity_rosa_demo.infra.config.base import (
    Fraction,
    Name,
    Risk,
    Rule,
    rule_error,
    Section,
    unique_names,
)
from pydantic import AfterValidator, Field


def _key(value: str) -> str:
    if len(value) > 60 or not re.fullmatch(r'[a-z][a-z0-9_]*', value):
        raise ValueError('not a name: small letters, digits and _, a letter first, at most 60')
    return value


Key = Annotated[str, AfterValidator(_key)]


# --- skills.yaml -----------------------------------------------------------------------------


def _phrase(value: str) -> str:
    if not 2 <= len(value) <= 60 or re.search(r'["\d]', value):
        raise ValueError('must be 2 to 60 characters without digits and quotation marks')
    return value


# Phrases that order a skill.
Words = dict[Language, list[Annotated[str, AfterValidator(_phrase)]]]
ErrorMap = dict[str, Annotated[DecisionType, Field(strict=False)]]


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
        return tuple(phrase for phrases in self.words.values() for phrase in phrases)

    def rules(self) -> Iterator[Rule]:
        rule = 'must be true for a skill that requires base, since a pause has to stop a motion; '
        rule += 'set it to true, or remove base from resources_required'
        needs_base = 'base' in self.resources_required
        yield needs_base and not self.cancel_supported, 'cancel_supported', rule


class Skills(Section):
    error_map: ErrorMap
    skills: dict[str, SkillSettings]

    def rules(self) -> Iterator[Rule]:
        rule = 'must be true for a skill that drives or lasts until it is cancelled'
        for name, skill in self.skills.items():
            is_fixed = name in ALWAYS_CANCELLABLE and not skill.cancel_supported
            yield is_fixed, ('skills', name, 'cancel_supported'), rule


# --- triggers.yaml ---------------------------------------------------------------------------


ALL = 'all'  # :triggers on all
MAX_TRIGGERS = 50
COMPARISONS = ('above', 'below', 'equals', 'changes')


class TopicField(Section):
    """A field of a topic's messages, such as ``pose.pose.position.x``."""

    topic: Name
    type: str = Field(max_length=200, pattern=r'^[a-z]\w*/msg/[A-Z][A-Za-z0-9]*$')
    field: str = Field(max_length=200, pattern=r'^[a-z][a-zA-Z0-9_]*(\.[a-z][a-zA-Z0-9_]*)*$')


class TriggerConfig(Section):
    """One source (``watch`` or ``fact``), one comparison, one action (``goal`` or ``skill``)."""

    name: Key
    enabled: bool = True
    watch: TopicField | None = None
    fact: Key | None = None
    above: float | None = None
    rearm_below: float | None = None
    below: float | None = None
    rearm_above: float | None = None
    equals: str | bool | int | float | None = None
    changes: bool = False
    for_s: float = Field(default=0.0, ge=0.0, le=86400.0)
    max_age_s: float = Field(default=5.0, gt=0.0, le=3600.0)
    min_interval_s: float = Field(default=60.0, ge=1.0, le=86400.0)
    max_per_hour: int = Field(default=6, ge=1, le=60)
    goal: str = Field(default='', max_length=2000)
    skill: str = ''
    arguments: Json = Field(default_factory=dict)
    priority: int = Field(default=3, ge=-1000, le=1000)

    def rules(self) -> Iterator[Rule]:
        me = f'the trigger {self.name!r}'
        yield self.name == ALL, 'name', 'this name stands for all triggers; take another'
        for keys, rule in (
            (('watch', 'fact'), 'a topic (watch) or a fact (fact)'),
            (COMPARISONS, 'one of above, below, equals and changes'),
            (('goal', 'skill'), 'a goal or a skill'),
        ):
            given = [key for key in keys if self._has(key)]
            key, found = [keys[0], *given][-1], ' and '.join(given) or 'none'
            yield len(given) != 1, key, f'{me} needs {rule}; it has {found}'
        yield self.arguments and not self.skill, 'arguments', f'{me} has no skill for them'
        for order, threshold in (('below', 'above'), ('above', 'below')):
            rearm, limit = f'rearm_{order}', getattr(self, threshold)
            if (back := getattr(self, rearm)) is not None:
                yield limit is None, rearm, f'{me} has no {threshold}: leave it out'
                is_beyond = back != limit and (back < limit) != (order == 'below')
                rule = f'of {me} must be {order} or equal to {threshold} ({limit:g})'
                yield is_beyond, rearm, rule

    def _has(self, key: str) -> bool:
        value = getattr(self, key)
        is_empty = key != 'equals' and (value is False or not str(value).strip())
        return value is not None and not is_empty


class TriggersConfig(Section):
    triggers: Annotated[list[TriggerConfig], AfterValidator(unique_names)] = Field(
        default_factory=list, max_length=MAX_TRIGGERS
    )


# --- world views -----------------------------------------------------------------------------


DAYS = ('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun')
HOLIDAY = 'holiday'  # in place of the weekday
MESSAGE = 'external.message'
DAY_MIN = 1440


def minutes_of_day(text: str) -> int:
    """Convert ``HH:MM`` to minutes since midnight. Raises ValueError."""
    if not re.fullmatch(r'([01][0-9]|2[0-3]):[0-5][0-9]', text, re.ASCII):
        raise ValueError(f'{text!r} is not a time of day; write HH:MM, such as 07:20')
    return int(text[:2]) * 60 + int(text[3:])


def _window(value: str) -> str:
    if not value:
        return value
    begin, dash, end = value.partition('-')
    if not dash:
        raise ValueError('not a window; write "07:20-07:40", or "" for any time')
    if minutes_of_day(begin) == minutes_of_day(end):
        raise ValueError('a window that is empty; write "" for any time')
    return value


Window = Annotated[str, AfterValidator(_window)]
Day = Literal['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun', 'holiday']


class PlaceConfig(Section):
    """``leads_to``: the places that one activity can reach from here. ``zone``: in a
    measured world the rover is here while the kernel measures it in this zone; the one place
    without a zone covers the rest.
    """

    leads_to: list[Key] = Field(default_factory=list)
    zone: Literal['', 'base', 'bright'] = ''


class DeviceConfig(Section):
    abilities: list[Key] = Field(min_length=1)
    available: bool = True


class StepConfig(Section):
    """One step of a plan: a skill and its arguments."""

    skill: str = Field(min_length=1)
    arguments: Json = Field(default_factory=dict)


class ActivityConfig(Section):
    """``at``: places where the activity can start; empty: anywhere. ``to``: the place where it
    ends; empty: where it started. ``window`` and ``days``: when it may start; the part of a window
    after midnight belongs to the day before; a holiday has no weekday. ``does`` or ``asks``: its
    work. ``minutes``: how long it lasts after its work; 0: it ends with its work. ``needs``:
    required abilities, as ``device.ability``. ``again_after_h``: the shortest time since it was
    last done, or started without a failure. ``ends``: it starts only during one of these
    activities, and ends that one. ``interruptible``: a preemptive activity may interrupt it.
    ``energy_per_h``: change of the charge in an hour where no battery is measured. ``energy_min``:
    charge that it needs to start. ``expects``: the result of its work.
    """

    says: str = Field(min_length=1)
    at: list[Key] = Field(default_factory=list)
    to: str = ''
    days: list[Day] = Field(default_factory=list)
    window: Window = ''
    minutes: float = Field(default=0.0, ge=0.0, le=DAY_MIN)
    interruptible: bool = True
    needs: list[str] = Field(default_factory=list)
    energy_per_h: float = Field(default=0.0, ge=-10.0, le=10.0)
    energy_min: Fraction = 0.0
    again_after_h: float = Field(default=0.0, ge=0.0, le=8760.0)
    ends: list[Key] = Field(default_factory=list)
    does: list[StepConfig] = Field(default_factory=list)
    asks: str = ''
    expects: Literal['good_capture', 'answer'] = 'answer'

    def rules(self) -> Iterator[Rule]:
        rule = 'steps (does) or words for the model (asks), not both'
        yield self.does and self.asks, 'asks', rule
        rule = 'must be above 0 for an activity without does and without asks'
        yield not (self.does or self.asks or self.minutes), 'minutes', rule


class RoutineConfig(Section):
    """``activity`` is due in ``window`` on ``days`` while the energy is below ``energy_below``.
    ``preemptive``: it interrupts an interruptible activity.
    """

    activity: Key
    window: Window = ''
    days: list[Day] = Field(default_factory=list)
    energy_below: float = Field(default=2.0, gt=0.0, le=2.0)  # 2: at any charge
    preemptive: bool = True


class EmergencyConfig(Section):
    """The activity that an event starts at once, whatever activity is running."""

    event: Literal['external.message']
    activity: Key


class BeginsConfig(Section):
    place: Key
    energy: Fraction


class HabitConfig(Section):
    """A personal parameter. The windows of ``later``, of the routine too, are so many ``minutes``
    later, those of ``earlier`` earlier, and the activities in ``longer`` last longer.
    """

    minutes: int = Field(default=0, ge=-240, le=240)
    later: list[Key] = Field(default_factory=list)
    earlier: list[Key] = Field(default_factory=list)
    longer: list[Key] = Field(default_factory=list)


class WorldView(Section):
    """``measured``: telemetry gives place and energy; otherwise they are computed.
    ``never``: facts for the model about impossible things. ``routine``: the due activities, by
    descending importance.
    """

    says: str = Field(min_length=1)
    measured: bool
    never: list[str] = Field(default_factory=list)
    begins: BeginsConfig
    places: dict[Key, PlaceConfig] = Field(min_length=1)
    devices: dict[Key, DeviceConfig] = Field(default_factory=dict)
    activities: dict[Key, ActivityConfig] = Field(min_length=1)
    emergencies: list[EmergencyConfig] = Field(default_factory=list)
    routine: list[RoutineConfig]
    holidays: list[Annotated[date, Field(strict=False)]] = Field(default_factory=list)
    person: dict[Key, HabitConfig] = Field(default_factory=dict)

    def rules(self) -> Iterator[Rule]:
        for path, known in self._references():
            named = self.value_at(path)
            for name in [named] if isinstance(named, str) else named:
                if name not in known:
                    rule = f'no such one; there are {", ".join(known) or "none"}'
                    raise rule_error(path, name, rule)
        zones = {name: place.zone for name, place in self.places.items()}
        if self.measured and sorted(zones.values()) != sorted({'', *zones.values()}):
            rule = 'of a measured world each has a zone of its own, and one has none'
            raise rule_error(['places'], zones, rule)
        for name, activity in self.activities.items():
            key, to = ('activities', name, 'to'), activity.to
            yield to and activity.at == [to], key, 'it begins there: leave it out'
            for place in activity.at or self.places:
                rule = f'no way leads there from {place}: name it in its leads_to'
                yield to not in ('', place, *self.places[place].leads_to), key, rule

    def _references(self) -> Iterator[tuple[tuple[Any, ...], Collection[str]]]:
        """Each key whose value is a name or names, and those of which they must be."""
        places, activities = self.places, self.activities
        abilities = [
            f'{name}.{each}' for name, it in self.devices.items() for each in it.abilities
        ]
        yield ('begins', 'place'), places
        yield from ((('places', name, 'leads_to'), places) for name in places)
        for name in activities:
            yield ('activities', name, 'at'), places
            yield ('activities', name, 'to'), ('', *places)
            yield ('activities', name, 'ends'), activities
            yield ('activities', name, 'needs'), abilities
        for number in range(len(self.routine)):
            yield ('routine', number, 'activity'), activities
        for number in range(len(self.emergencies)):
            yield ('emergencies', number, 'activity'), activities
        for name in self.person:
            for key in ('later', 'earlier', 'longer'):
                yield ('person', name, key), activities
