# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Values of a model call: the situation that it gets and the suggestion that it returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from curiosity_rosa_demo.agent.policy.action import PolicyAction
from curiosity_rosa_demo.agent.policy.world_state import WorldState
from curiosity_rosa_demo.agent.policy.world_view import energy_now, WorldModel
from curiosity_rosa_demo.domain.text import printable

MAX_TEXT_CHARS = 300  # characters of a model's text that are kept

Key = tuple[str, str, int, tuple[str, ...]]


@dataclass(frozen=True)
class PromptSituation:
    """The input of a model call. ``activity``: the ongoing one, '' for none. ``options``: names
    of the activities that the model may suggest. ``text``: for the prompt, needed only in a call.
    """

    place: str
    activity: str
    energy: float  # a fraction of the full charge
    options: tuple[str, ...]
    text: str

    @cached_property
    def key(self) -> Key:
        """The cache key: equal for situations that may share an answer."""
        return self.place, self.activity, int(self.energy * 10), self.options


@dataclass(frozen=True)
class Suggestion:
    """``answer_text``: the model's text in one line. ``cached``: the answer is from the cache."""

    action: PolicyAction
    answer_text: str
    cached: bool


@dataclass(frozen=True)
class NoSuggestion:
    reason: str
    answer_text: str = ''


@dataclass(frozen=True)
class PendingSuggestion:
    """The model has not answered yet."""


class SuggestionFailed(Exception):
    """The model gave no readable action. ``reason`` is for the user, ``answer_text`` is the
    model's text.
    """

    def __init__(self, reason: str, answer_text: str = '') -> None:
        super().__init__(reason)
        self.reason = reason
        self.answer_text = cleaned_text(answer_text)


def cleaned_text(text: str) -> str:
    """A model's text, clipped, as one line of valid Unicode that a console can show."""
    return printable(text[: 4 * MAX_TEXT_CHARS])[:MAX_TEXT_CHARS]


def checked_action(action: object) -> PolicyAction:
    """``action`` with printable texts. Raises SuggestionFailed for anything but a PolicyAction,
    and for an unprintable name.
    """
    if not isinstance(action, PolicyAction):
        raise SuggestionFailed('The model named no activity.', str(action))
    if action.type != printable(action.type):
        raise SuggestionFailed('The model named an activity that nobody can read.', action.type)
    return action.model_copy(update={'rationale': cleaned_text(action.rationale)})


def suggestion_text(action: PolicyAction, why: str) -> str:
    name = f'{action.type} (preemptive)' if action.preemptive else action.type
    return f'{name}: {why}' if why else name


# --- The current situation, as values and as text for the model's prompt -----------------------


MAX_RECENT = 6  # past events in the text, the latest first


def prompt_situation(
    world: WorldModel, state: WorldState, at: float, options: tuple[str, ...]
) -> PromptSituation:
    """The situation without its text, which costs more and is needed only for a call."""
    activity = state.activity.activity if state.activity else ''
    return PromptSituation(
        place=state.place,
        activity=activity,
        energy=energy_now(state, world, at),
        options=options,
        text='',
    )


def situation_text(world: WorldModel, state: WorldState, at: float) -> str:
    """The text of the situation. Times are local."""
    place = state.place or 'an unknown place'
    energy = energy_now(state, world, at)
    lines = [f'It is {world.describe(at)}.', f'Place: {place}. Energy: {energy:.0%}.']
    if state.activity:
        since = _time(world, state.activity.began_at)
        lines.append(f'Goes on: {state.activity.activity}, since {since}.')
    if state.suspended:
        names = ', '.join(ongoing.activity for ongoing in reversed(state.suspended))
        lines.append(f'Put aside, goes on afterwards: {names}.')
    missing = [name for name, usable in state.devices.items() if not usable]
    if missing:
        lines.append(f'Cannot be used: {", ".join(missing)}.')
    lines += _recent_lines(world, state)
    return '\n'.join(lines)


def _recent_lines(world: WorldModel, state: WorldState) -> list[str]:
    memory = state.memory
    events = [(at, f'{name} ended') for name, at in memory.ended.items()]
    events += [(at, f'{name} failed') for name, at in memory.failed.items()]
    events += [(at, f'came to {place}') for place, at in memory.arrived.items()]
    latest = sorted(events, reverse=True)[:MAX_RECENT]
    return [f'{_time(world, at)}: {event}.' for at, event in latest]


def _time(world: WorldModel, at: float) -> str:
    return world.local(at).strftime('%a %H:%M')
