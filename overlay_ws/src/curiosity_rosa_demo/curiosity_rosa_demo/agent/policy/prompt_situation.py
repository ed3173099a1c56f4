# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The current situation, as values and as text for the model's prompt."""

from __future__ import annotations

from curiosity_rosa_demo.agent.policy.suggestion import PromptSituation
from curiosity_rosa_demo.agent.policy.world_state import WorldState
from curiosity_rosa_demo.agent.policy.world_view import energy_now, WorldModel

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
