# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's state as one line for the operator. Pure."""

from __future__ import annotations

from curiosity_rosa_demo.agent.policy.world_state import Ongoing, WorldState
from curiosity_rosa_demo.agent.policy.world_view import energy_now, WorldModel
from curiosity_rosa_demo.domain.text import printable


def state_text(state: WorldState, world: WorldModel, at: float, holding: str) -> str:
    """Place, energy, ongoing and suspended activities, hold reason. Times are local."""
    where = f'at {state.place}' if state.place else 'at an unknown place'
    parts = [f'{where}, energy {energy_now(state, world, at):.0%}']
    if state.activity is None:
        parts.append('nothing goes on')
    else:
        parts.append(_ongoing(state.activity, world))
    if state.suspended:
        names = ', '.join(each.activity for each in reversed(state.suspended))
        parts.append(f'goes on afterwards: {names}')
    if holding:
        parts.append(f'held: {holding}')
    return printable('; '.join(parts))


def _ongoing(ongoing: Ongoing, world: WorldModel) -> str:
    since = f'{world.local(ongoing.began_at):%H:%M}'
    until = '' if ongoing.until is None else f' until {world.local(ongoing.until):%H:%M}'
    return f'{ongoing.activity} since {since}{until}, by the {ongoing.by.value}'
