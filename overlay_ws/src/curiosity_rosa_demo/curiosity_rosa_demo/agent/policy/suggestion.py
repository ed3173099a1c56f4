# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Values of a model call: the situation that it gets and the suggestion that it returns. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from curiosity_rosa_demo.agent.policy.world import Blackboard, PolicyAction, WorldModel
from curiosity_rosa_demo.domain.text import printable

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
