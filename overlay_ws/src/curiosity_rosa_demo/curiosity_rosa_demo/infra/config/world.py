# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Shape and limits of a world view (world_view.yaml, companion.yaml): what there is in the world
of an agent that acts unasked, what it can do there, and when.

Times of day are local, ``HH:MM`` of 24 hours; a window ``22:00-06:00`` goes over midnight. Its
first minute is inside, its last is not. Energy is a fraction of the full charge.
"""

from __future__ import annotations

from collections.abc import Collection
import re
from typing import Annotated, Literal

from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.infra.config.base import Fraction, rule_error, Section
from pydantic import AfterValidator, Field, model_validator

DAYS = ('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun')
MESSAGE = 'external.message'
DAY_MIN = 1440


def _key(value: str) -> str:
    if len(value) > 60 or not re.fullmatch(r'[a-z][a-z0-9_]*', value):
        raise ValueError('not a name: small letters, digits and _, a letter first, at most 60')
    return value


def minutes_of_day(text: str) -> int:
    """Minutes since midnight of ``HH:MM``. Raises ValueError."""
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
Day = Literal['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
Zone = Literal['', 'base', 'bright']  # '': none; the others as the kernel measures them
Minutes = Annotated[float, Field(ge=0.0, le=DAY_MIN)]


class PlaceConfig(Section):
    """``leads_to``: places that can be reached from here in one activity. ``zone``: the rover is
    here when it is measured in this zone; the place without one is everywhere else.
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
    """``at``: where it can begin; empty: anywhere. ``to``: where it ends, empty: where it began.
    ``window`` and ``days``: when it may begin; what is left of a window after midnight belongs to
    the day before. It takes ``minutes`` after its work (``does`` or ``asks``) is done; 0: as long
    as the work. ``needs``: abilities, ``device.ability``. ``again_after_h``: after it was last
    done, or begun without having failed. ``ends``: it can only begin during one of these, and
    ends it.
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
    def _takes_something(self) -> ActivityConfig:
        if self.does and self.asks:
            raise rule_error(
                'asks', self.asks, 'steps (does) or words for the model (asks), not both'
            )
        if not (self.does or self.asks or self.minutes):
            rule = 'must be above 0 for an activity without does and without asks'
            raise rule_error('minutes', self.minutes, rule)
        return self


class RoutineConfig(Section):
    """``activity`` is due in ``window`` on ``days``, below ``energy_below``. ``preemptive``: it
    goes before an interruptible activity.
    """

    activity: Key
    window: Window = ''
    days: list[Day] = Field(default_factory=list)
    energy_below: float = Field(default=2.0, gt=0.0, le=2.0)  # 2: at any charge
    preemptive: bool = True


class EmergencyConfig(Section):
    """What an event makes it do at once, whatever goes on."""

    event: Literal['external.message']
    activity: Key


class BeginsConfig(Section):
    place: Key
    energy: Fraction


class WorldView(Section):
    """``measured``: place and energy are those of the rover, not computed. ``never``: for the
    model, what cannot be. ``routine``: what is due, the most important first.
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

    @model_validator(mode='after')
    def _hangs_together(self) -> WorldView:
        self._check_places()
        for name, activity in self.activities.items():
            self._check_activity(f'activities.{name}', activity)
        for number, entry in enumerate(self.routine):
            self._named(f'routine.{number}', 'activity', entry.activity, self.activities)
        for number, emergency in enumerate(self.emergencies):
            self._named(f'emergencies.{number}', 'activity', emergency.activity, self.activities)
        return self

    def _check_places(self) -> None:
        self._named('begins', 'place', self.begins.place, self.places)
        for name, place in self.places.items():
            for other in place.leads_to:
                self._named(f'places.{name}', 'leads_to', other, self.places)
        zones = [place.zone for place in self.places.values()]
        for zone in zones:
            if self.measured and (zones.count(zone) > 1 or '' not in zones):
                rule = 'of a measured world each has a zone of its own, and one has none'
                raise rule_error('places', dict(zip(self.places, zones, strict=True)), rule)

    def _check_activity(self, key: str, activity: ActivityConfig) -> None:
        for place in activity.at:
            self._named(key, 'at', place, self.places)
        for other in activity.ends:
            self._named(key, 'ends', other, self.activities)
        for need in activity.needs:
            device, _, ability = need.partition('.')
            if device not in self.devices or ability not in self.devices[device].abilities:
                known = [f'{d}.{a}' for d, each in self.devices.items() for a in each.abilities]
                rule = f'no such ability; there are {", ".join(known) or "none"}'
                raise rule_error(f'{key}.needs', need, rule)
        if activity.to:
            self._named(key, 'to', activity.to, self.places)
            if activity.at == [activity.to]:
                raise rule_error(f'{key}.to', activity.to, 'it begins there: leave it out')
            for place in activity.at or self.places:
                if place != activity.to and activity.to not in self.places[place].leads_to:
                    rule = f'no way leads there from {place}: name it in its leads_to'
                    raise rule_error(f'{key}.to', activity.to, rule)

    def _named(self, section: str, key: str, name: str, known: Collection[str]) -> None:
        if name not in known:
            raise rule_error(
                f'{section}.{key}', name, f'no such one; there are {", ".join(known)}'
            )
