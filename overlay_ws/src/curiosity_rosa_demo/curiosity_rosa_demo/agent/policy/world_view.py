# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The world view at a given time: local time, windows, places, energy.

Times are seconds since the epoch by the policy's clock; local time is that of the world's zone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache

from curiosity_rosa_demo.agent.policy.world_state import WorldState
from curiosity_rosa_demo.infra.config.behaviour import (
    DAY_MIN,
    DAYS,
    HOLIDAY,
    minutes_of_day,
    WorldView,
)


class WorldModel:
    def __init__(self, view: WorldView, zone: tzinfo) -> None:
        self.view, self.zone = personal(view), zone
        self._moment = local_moment(0.0, zone)

    def local(self, at: float) -> datetime:
        return self._moment_at(at)[1]

    def within(self, window: str, days: Sequence[str], at: float) -> bool:
        """Whether ``at`` is in ``window`` ('' is the whole day) of one of ``days`` (none: any)."""
        _, _, minute, _ = self._moment_at(at)
        begin, end = _minutes(window)
        inside = begin <= minute < end if begin < end else minute >= begin or minute < end
        return inside and (not days or self.day(window, at) in days)

    def day(self, window: str, at: float) -> str:
        """The weekday of ``at``, or ``holiday``. The part of a window after midnight belongs to
        the day on which the window starts.
        """
        _, local, minute, weekday = self._moment_at(at)
        begin, end = _minutes(window)
        days_ago = minute < end < begin
        if self.view.holidays and local.date() - timedelta(days_ago) in self.view.holidays:
            return HOLIDAY
        return DAYS[weekday - days_ago]  # DAYS[-1] is Sunday

    def place_of(self, zones: Collection[str]) -> str:
        """The place of a rover that was measured in ``zones``: the first match in the world view's
        order, otherwise the place without a zone.
        """
        elsewhere = ''
        for name, place in self.view.places.items():
            if place.zone in zones:
                return name
            if not place.zone:
                elsewhere = name
        return elsewhere

    def describe(self, at: float) -> str:
        """The local time as text, such as 'Monday, 2026-01-05 07:20'."""
        local = self.local(at)
        holiday = ', a holiday' if local.date() in self.view.holidays else ''
        return f'{local:%A, %Y-%m-%d %H:%M}{holiday}'

    def _moment_at(self, at: float) -> tuple[float, datetime, int, int]:
        if at != self._moment[0]:
            self._moment = local_moment(at, self.zone)
        return self._moment


def personal(view: WorldView) -> WorldView:
    """``view`` with the windows and durations of its person."""
    habits = [habit for habit in view.person.values() if habit.minutes]
    if not habits:
        return view
    later, longer = Counter[str](), Counter[str]()
    for habit in habits:
        later.update(dict.fromkeys(habit.later, habit.minutes))
        later.subtract(dict.fromkeys(habit.earlier, habit.minutes))
        longer.update(dict.fromkeys(habit.longer, habit.minutes))
    activities = {
        name: each.model_copy(
            update={
                'window': _shifted(each.window, later[name]),
                'minutes': min(DAY_MIN, max(1.0, each.minutes + longer[name]))
                if longer[name]
                else each.minutes,
            }
        )
        for name, each in view.activities.items()
    }
    routine = [
        each.model_copy(update={'window': _shifted(each.window, later[each.activity])})
        for each in view.routine
    ]
    return view.model_copy(update={'activities': activities, 'routine': routine})


def _shifted(window: str, minutes: int) -> str:
    if not (window and minutes):
        return window
    times = [(each + minutes) % DAY_MIN for each in _minutes(window)]
    return '-'.join(f'{each // 60:02}:{each % 60:02}' for each in times)


def local_moment(at: float, zone: tzinfo) -> tuple[float, datetime, int, int]:
    """``at``, its local time, the minute of the day and the number of the weekday."""
    local = datetime.fromtimestamp(at, zone)
    return at, local, local.hour * 60 + local.minute, local.weekday()


def energy_now(state: WorldState, world: WorldModel, at: float) -> float:
    """The energy at ``at``: the measured value, or the state's value with the ongoing activity's
    effect since ``energy_at``. A held activity has no effect.
    """
    ongoing, view = state.activity, world.view
    if ongoing is None or ongoing.held or view.measured:
        return state.energy
    activity = view.activities.get(ongoing.activity)
    if activity is None:  # the world view was edited meanwhile
        return state.energy
    until = at if ongoing.until is None else min(at, ongoing.until)
    hours = max(0.0, until - ongoing.energy_at) / 3600.0
    return min(1.0, max(0.0, state.energy + activity.energy_per_h * hours))


@lru_cache(maxsize=256)
def _minutes(window: str) -> tuple[int, int]:
    """Begin and end of ``window`` in minutes since midnight; a window over midnight ends before
    it begins.
    """
    if not window:
        return 0, DAY_MIN
    begin, _, end = window.partition('-')
    return minutes_of_day(begin), minutes_of_day(end)
