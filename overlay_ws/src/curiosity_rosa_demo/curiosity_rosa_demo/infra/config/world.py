# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schema of a world view (world_view.yaml, companion.yaml): the places, devices and activities of
an agent that acts on its own, and its daily routine.

Times of day are local, ``HH:MM`` in 24 hours. A window includes its first minute and excludes its
last; ``22:00-06:00`` spans midnight. Energy is a fraction of the full charge.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
import re
from typing import Annotated, Literal

from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.infra.config.base import Fraction, rule_error, Section
from pydantic import AfterValidator, Field, model_validator

DAYS = ('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun')
HOLIDAY = 'holiday'  # in place of the weekday
MESSAGE = 'external.message'
DAY_MIN = 1440


def _key(value: str) -> str:
    if len(value) > 60 or not re.fullmatch(r'[a-z][a-z0-9_]*', value):
        raise ValueError('not a name: small letters, digits and _, a letter first, at most 60')
    return value


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


Key = Annotated[str, AfterValidator(_key)]
Window = Annotated[str, AfterValidator(_window)]
Day = Literal['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun', 'holiday']
Date = Annotated[date, Field(strict=False)]
Zone = Literal['', 'base', 'bright']  # '': none; the kernel measures the other two
Minutes = Annotated[float, Field(ge=0.0, le=DAY_MIN)]


class PlaceConfig(Section):
    """``leads_to``: the places that one activity can reach from here. ``zone``: in a
    measured world the rover is here while the kernel measures it in this zone; the one place
    without a zone covers the rest.
    """

    leads_to: list[Key] = Field(default_factory=list)
    zone: Zone = ''


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
    activities, and ends that one.
    """

    says: str = Field(min_length=1)
    at: list[Key] = Field(default_factory=list)
    to: str = ''
    days: list[Day] = Field(default_factory=list)
    window: Window = ''
    minutes: Minutes = 0.0
    interruptible: bool = True
    needs: list[str] = Field(default_factory=list)
    energy_per_h: float = Field(default=0.0, ge=-10.0, le=10.0)
    energy_min: Fraction = 0.0
    again_after_h: float = Field(default=0.0, ge=0.0, le=8760.0)
    ends: list[Key] = Field(default_factory=list)
    does: list[StepConfig] = Field(default_factory=list)
    asks: str = ''
    expects: Literal['good_capture', 'answer'] = 'answer'

    @model_validator(mode='after')
    def _has_work_or_duration(self) -> ActivityConfig:
        if self.does and self.asks:
            raise rule_error(
                'asks', self.asks, 'steps (does) or words for the model (asks), not both'
            )
        if not (self.does or self.asks or self.minutes):
            rule = 'must be above 0 for an activity without does and without asks'
            raise rule_error('minutes', self.minutes, rule)
        return self


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
    holidays: list[Date] = Field(default_factory=list)
    person: dict[Key, HabitConfig] = Field(default_factory=dict)

    @model_validator(mode='after')
    def _references_are_valid(self) -> WorldView:
        self._check_places()
        for name, activity in self.activities.items():
            self._check_activity(f'activities.{name}', activity)
        for number, entry in enumerate(self.routine):
            self._check_reference(f'routine.{number}', 'activity', entry.activity, self.activities)
        for number, emergency in enumerate(self.emergencies):
            self._check_reference(
                f'emergencies.{number}', 'activity', emergency.activity, self.activities
            )
        for habit, each in self.person.items():
            for key in ('later', 'earlier', 'longer'):
                for name in getattr(each, key):
                    self._check_reference(f'person.{habit}', key, name, self.activities)
        return self

    def _check_places(self) -> None:
        self._check_reference('begins', 'place', self.begins.place, self.places)
        for name, place in self.places.items():
            for other in place.leads_to:
                self._check_reference(f'places.{name}', 'leads_to', other, self.places)
        zones = [place.zone for place in self.places.values()]
        for zone in zones:
            if self.measured and (zones.count(zone) > 1 or '' not in zones):
                rule = 'of a measured world each has a zone of its own, and one has none'
                raise rule_error('places', dict(zip(self.places, zones, strict=True)), rule)

    def _check_activity(self, key: str, activity: ActivityConfig) -> None:
        for place in activity.at:
            self._check_reference(key, 'at', place, self.places)
        for other in activity.ends:
            self._check_reference(key, 'ends', other, self.activities)
        for need in activity.needs:
            device, _, ability = need.partition('.')
            if device not in self.devices or ability not in self.devices[device].abilities:
                known = [f'{d}.{a}' for d, each in self.devices.items() for a in each.abilities]
                rule = f'no such ability; there are {", ".join(known) or "none"}'
                raise rule_error(f'{key}.needs', need, rule)
        if activity.to:
            self._check_reference(key, 'to', activity.to, self.places)
            if activity.at == [activity.to]:
                raise rule_error(f'{key}.to', activity.to, 'it begins there: leave it out')
            for place in activity.at or self.places:
                if place != activity.to and activity.to not in self.places[place].leads_to:
                    rule = f'no way leads there from {place}: name it in its leads_to'
                    raise rule_error(f'{key}.to', activity.to, rule)

    def _check_reference(self, section: str, key: str, name: str, known: Collection[str]) -> None:
        if name not in known:
            raise rule_error(
                f'{section}.{key}', name, f'no such one; there are {", ".join(known)}'
            )
