# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's values, the world view at a given time, and what a model is told of it. Pure data.

Times are seconds since the epoch by the policy's clock (clock.py), local times those of the
world's zone; energy is a fraction of the full charge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from enum import Enum
from typing import Annotated, Literal, NamedTuple

from curiosity_rosa_demo.domain.models import Model
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.infra.config.behaviour import (
    DAY_MIN,
    DAYS,
    HOLIDAY,
    MESSAGE,
    minutes_of_day,
    WorldView,
)
from pydantic import Field

Fraction = Annotated[float, Field(ge=0.0, le=1.0)]


class Source(str, Enum):
    """The source of a decision, the strongest first."""

    EMERGENCY = 'emergency'
    MODEL = 'model'
    ROUTINE = 'routine'


class PolicyAction(Model):
    """One action as a model writes it: the name of an activity, whether it may interrupt what
    goes on, and why.
    """

    type: str = Field(min_length=1, max_length=60, description='the name of an activity')
    preemptive: bool = Field(
        default=False, description='true: it interrupts the activity that goes on now'
    )
    rationale: str = Field(default='', max_length=500, description='why, in one sentence')


# --- The state between two ticks, as one value that is saved across restarts --------------------


class Ongoing(Model):
    """An activity that has started. ``task_ids``: the kernel tasks that execute it, in order; it
    ends with the last one. ``until``: when its last task ends; None when that depends on its work.
    ``energy_at``: the time up to which its effect on the energy is counted.
    """

    activity: str
    by: Source
    began_at: float
    until: float | None = None
    task_ids: list[str] = Field(default_factory=list)
    rationale: str = ''
    energy_at: float
    held: bool = False


class Memory(Model):
    """Times by activity: its last start, last proper end, and last failure or cancellation. By
    place: the last arrival.
    """

    began: dict[str, float] = Field(default_factory=dict)
    ended: dict[str, float] = Field(default_factory=dict)
    failed: dict[str, float] = Field(default_factory=dict)
    arrived: dict[str, float] = Field(default_factory=dict)


class WorldState(Model):
    """``place`` '' is unknown. ``suspended``: the interrupted activities; the last one resumes
    first. ``devices``: whether each is usable.
    """

    place: str
    energy: Fraction
    activity: Ongoing | None = None
    suspended: list[Ongoing] = Field(default_factory=list)
    devices: dict[str, bool] = Field(default_factory=dict)
    memory: Memory = Field(default_factory=Memory)
    ticked_at: float = 0.0  # the last saved tick; the clock never returns less

    @classmethod
    def first(cls, view: WorldView) -> WorldState:
        """The initial state, for when none was saved."""
        return cls(
            place=view.begins.place,
            energy=view.begins.energy,
            devices={name: device.available for name, device in view.devices.items()},
        )

    @property
    def begun(self) -> list[Ongoing]:
        """The suspended activities and the ongoing one, the newest last."""
        return [*self.suspended, *([self.activity] if self.activity else [])]

    @property
    def task_ids(self) -> list[str]:
        return [task_id for each in self.begun for task_id in each.task_ids]


# --- What goes into a tick and what comes out of it ---------------------------------------------


@dataclass(frozen=True)
class Senses:
    """Inputs from outside the policy. ``place`` and ``energy`` are None when not measured.
    ``hold_reason``: why no activity may start, such as 'SAFE: e-stop pressed'; '' when one may.
    ``tasks``: LifecycleState name of each requested kernel task; a task that the kernel does not
    know is missing. ``devices``: whether a device is usable, for each device that was switched
    since the agent started.
    """

    place: str | None = None
    energy: float | None = None
    hold_reason: str = ''
    tasks: dict[str, str] = field(default_factory=dict)
    devices: dict[str, bool] = field(default_factory=dict)


class Command(NamedTuple):
    """What the kernel has to do. ``ongoing``: the activity whose tasks are submitted."""

    does: Literal['submit', 'cancel', 'pause', 'resume']
    task_ids: tuple[str, ...]
    why: str = ''
    ongoing: Ongoing | None = None


class EventName(str, Enum):
    STATE_CHANGED = 'state.changed'
    ACTION_STARTED = 'action.started'
    ACTION_ENDED = 'action.ended'
    EXTERNAL_MESSAGE = MESSAGE


class Event(NamedTuple):
    """``what``: an activity, ``place``, ``energy`` (published at each tenth of the charge),
    ``device NAME``, or '' for a message. ``entry``: for the decision log; '' for none.
    """

    name: EventName
    what: str
    text: str
    entry: str


class Rejection(Model):
    """A refused proposal: the activity, its source and the reason."""

    type: str
    by: Source
    reason: str


@dataclass
class Blackboard:
    """What the nodes of the tree share in one tick: its inputs, and what they decide. ``waiting``:
    unhandled messages, the oldest first. ``chosen``: the action to start, with its source; that of
    an emergency answers the oldest message. ``answer_text``: the model's text.
    """

    at: float
    state: WorldState
    senses: Senses
    waiting: Sequence[str] = ()
    chosen: tuple[PolicyAction, Source] | None = None
    rejected: list[Rejection] = field(default_factory=list)
    answer_text: str = ''


# --- The world view at a given time -------------------------------------------------------------


class WorldModel:
    def __init__(self, view: WorldView, zone: tzinfo) -> None:
        self.view, self.zone = _personal(view), zone

    def local(self, at: float) -> datetime:
        return datetime.fromtimestamp(at, self.zone)

    def within(self, window: str, days: Sequence[str], at: float) -> bool:
        """Whether ``at`` is in ``window`` ('' is the whole day) of one of ``days`` (none: any)."""
        begin, end = _minutes(window)
        minute = _minute(self.local(at))
        inside = begin <= minute < end if begin < end else not end <= minute < begin
        return inside and (not days or self.day(window, at) in days)

    def day(self, window: str, at: float) -> str:
        """The weekday of ``at``, or ``holiday``. The part of a window after midnight belongs to
        the day on which the window starts.
        """
        begin, end = _minutes(window)
        local = self.local(at)
        day = local.date() - timedelta(days=_minute(local) < end < begin)
        return HOLIDAY if day in self.view.holidays else DAYS[day.weekday()]

    def place_of(self, zones: Collection[str]) -> str:
        """The place of a rover that was measured in ``zones``: the first match in the world view's
        order, otherwise the place without a zone.
        """
        places = self.view.places.items()
        elsewhere = next((name for name, place in places if not place.zone), '')
        return next((name for name, place in places if place.zone in zones), elsewhere)

    def energy(self, state: WorldState, at: float) -> float:
        """The measured value, or the state's value with the ongoing activity's effect since
        ``energy_at``. A held activity has no effect.
        """
        ongoing = state.activity
        if ongoing is None or ongoing.held or self.view.measured:
            return state.energy
        until = at if ongoing.until is None else min(at, ongoing.until)
        hours = max(0.0, until - ongoing.energy_at) / 3600.0
        change = self.view.activities[ongoing.activity].energy_per_h * hours
        return min(1.0, max(0.0, state.energy + change))


def _personal(view: WorldView) -> WorldView:
    """``view`` with the windows and durations of its person."""
    later, longer = Counter[str](), Counter[str]()
    for habit in view.person.values():
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


def _minutes(window: str) -> tuple[int, int]:
    """Begin and end of ``window`` in minutes since midnight; a window over midnight ends before
    it begins.
    """
    if not window:
        return 0, DAY_MIN
    begin, _, end = window.partition('-')
    return minutes_of_day(begin), minutes_of_day(end)


def _minute(local: datetime) -> int:
    return local.hour * 60 + local.minute


# --- What a model is told, and what it suggests -------------------------------------------------

MAX_TEXT_CHARS = 300  # characters of a model's text that are kept
MAX_RECENT = 6  # past events in the situation's text, the latest first

Key = tuple[str, str, int, tuple[str, ...]]


class PromptSituation(NamedTuple):
    """The input of a call. ``activity``: the ongoing one, '' for none. ``energy``: a fraction of
    the full charge. ``options``: names of the activities that the model may suggest.
    """

    place: str
    activity: str
    energy: float
    options: tuple[str, ...]
    text: str

    @property
    def key(self) -> Key:
        """The cache key: equal for situations that may share an answer."""
        return self.place, self.activity, int(self.energy * 10), self.options


class Suggestion(NamedTuple):
    """``action`` None: there is none, and ``reason`` says why. ``answer_text``: the model's text
    in one line. ``cached``: the answer is from the cache.
    """

    action: PolicyAction | None
    answer_text: str = ''
    reason: str = ''
    cached: bool = False


class SuggestionFailed(Exception):
    """The model gave no readable action. ``reason`` is for the user, ``answer_text`` is the
    model's text.
    """

    def __init__(self, reason: str, answer_text: str = '') -> None:
        super().__init__(reason)
        self.reason = reason
        self.answer_text = cleaned_text(answer_text)


Ask = Callable[[PromptSituation, str], PolicyAction]


def cleaned_text(text: str) -> str:
    """A model's text, clipped, as one line of valid Unicode that a console can show."""
    return printable(text[: 4 * MAX_TEXT_CHARS])[:MAX_TEXT_CHARS]


def suggestion_text(action: PolicyAction, why: str) -> str:
    name = f'{action.type} (preemptive)' if action.preemptive else action.type
    return f'{name}: {why}' if why else name


def situation_of(
    world: WorldModel, board: Blackboard, options: tuple[str, ...]
) -> PromptSituation:
    """Its text is for the model's prompt. Times are local."""
    at, state, memory = board.at, board.state, board.state.memory
    local, energy = world.local(at), world.energy(state, at)
    holiday = ', a holiday' if local.date() in world.view.holidays else ''
    place = state.place or 'an unknown place'
    lines = [
        f'It is {local:%A, %Y-%m-%d %H:%M}{holiday}.',
        f'Place: {place}. Energy: {energy:.0%}.',
    ]
    if state.activity:
        since = _time(world, state.activity.began_at)
        lines.append(f'Goes on: {state.activity.activity}, since {since}.')
    if state.suspended:
        names = ', '.join(ongoing.activity for ongoing in reversed(state.suspended))
        lines.append(f'Put aside, goes on afterwards: {names}.')
    missing = [name for name, usable in state.devices.items() if not usable]
    if missing:
        lines.append(f'Cannot be used: {", ".join(missing)}.')
    events = [(at, f'{name} ended') for name, at in memory.ended.items()]
    events += [(at, f'{name} failed') for name, at in memory.failed.items()]
    events += [(at, f'came to {place}') for place, at in memory.arrived.items()]
    latest = sorted(events, reverse=True)[:MAX_RECENT]
    lines += [f'{_time(world, at)}: {event}.' for at, event in latest]
    activity = state.activity.activity if state.activity else ''
    return PromptSituation(state.place, activity, energy, options, '\n'.join(lines))


def _time(world: WorldModel, at: float) -> str:
    return f'{world.local(at):%a %H:%M}'
