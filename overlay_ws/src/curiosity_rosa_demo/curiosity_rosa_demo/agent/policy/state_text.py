"""What goes on, in words for a person. Pure."""

from __future__ import annotations

from curiosity_rosa_demo.agent.policy.world_state import Ongoing, WorldState
from curiosity_rosa_demo.agent.policy.world_view import World, energy_now


def state_text(state: WorldState, world: World, at: float, holding: str) -> str:
    """Times are local."""
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
    return '; '.join(parts)


def _ongoing(ongoing: Ongoing, world: World) -> str:
    since = f'{world.local(ongoing.began_at):%H:%M}'
    until = '' if ongoing.until is None else f' until {world.local(ongoing.until):%H:%M}'
    return f'{ongoing.activity} since {since}{until}, by the {ongoing.by.value}'
