# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The stored record of each tick's decision; the decision log and the state as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from curiosity_rosa_demo.agent.policy.world import Rejection, Source, WorldModel, WorldState
from curiosity_rosa_demo.domain.models import Model
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.drawing.columns import clip_columns
from pydantic import Field

MAX_TEXT_COLUMNS = 300  # columns of each text in the log; the rest is clipped


class Decision(Model):
    """One tick: its cause, its path through the tree without what failed, and its effects
    (``done``; '' for none). ``place``, ``energy`` and ``activity`` ('' for none) are the values
    after the tick. ``answer_text``: the model's text. ``holding``: why no activity may start; ''
    when one may.
    """

    number: int
    at: float
    cause: str
    missed: int = 0
    path: list[str] = Field(default_factory=list)
    answer_text: str = ''
    rejected: list[Rejection] = Field(default_factory=list)
    done: str = ''
    place: str
    energy: float
    activity: str = ''
    holding: str = ''


def decision_log(decisions: Iterable[Decision], world: WorldModel, n: int | None = None) -> str:
    """The last ``n`` entries, the newest last; consecutive uneventful ticks form one entry. Times
    are local. Line breaks are removed from a model's text, so it cannot forge an entry.
    """
    entries = [
        entry
        for uneventful, run in groupby(decisions, _group_key)
        for entry in (
            [_group_entry(list(run), world)] if uneventful else (_entry(d, world) for d in run)
        )
    ]
    return '\n'.join(entries if n is None else entries[max(0, len(entries) - n) :])


def _group_key(decision: Decision) -> tuple[str, str, str] | None:
    """Equal for ticks that share one entry; None for a tick with an entry of its own."""
    if decision.done or decision.answer_text or decision.rejected or decision.missed:
        return None
    return decision.activity, decision.place, decision.holding


def _group_entry(run: list[Decision], world: WorldModel) -> str:
    ticks = '1 tick' if len(run) == 1 else f'{len(run)} ticks'
    return _lines(run[0], world, f'{ticks}: {_continues_text(run[0])}', _path_text(run[-1]))


def _entry(decision: Decision, world: WorldModel) -> str:
    where = f'at {decision.place}' if decision.place else 'at an unknown place'
    effect = printable(decision.done) or _continues_text(decision)
    details = list(_refusal_lines(decision))
    if decision.missed:
        ticks = '1 tick was' if decision.missed == 1 else f'{decision.missed} ticks were'
        details.append(f'{ticks} slept through before')
    energy = f'energy {100.0 * decision.energy:.0f} %'
    return _lines(decision, world, f'{where}, {energy}: {effect}', *details, _path_text(decision))


def _lines(decision: Decision, world: WorldModel, first: str, *more: str) -> str:
    local_time = f'{world.local(decision.at):%a %d %b %H:%M}'
    return '\n    '.join([f'{local_time}  {first}', *more])


def _continues_text(decision: Decision) -> str:
    if decision.holding:
        aside = f'{decision.activity} is put aside' if decision.activity else 'nothing may begin'
        return f'{_clipped(decision.holding)}; {aside}'
    return f'{decision.activity} goes on' if decision.activity else 'nothing to do'


def _refusal_lines(decision: Decision) -> Iterator[str]:
    words = _clipped(decision.answer_text)
    ideas = [each for each in decision.rejected if each.by is Source.MODEL]
    if words and not ideas:
        yield f'the model said: {words}'
    for each in ideas:
        said = f' ({words})' if words and each is ideas[0] else ''
        yield f'the model said "{_clipped(each.type)}"{said}: refused, {_clipped(each.reason)}'
    for each in decision.rejected:
        if each.by is not Source.MODEL:
            name, why = _clipped(each.type), _clipped(each.reason)
            yield f'the {each.by.value} wanted {name}: refused, {why}'


def _path_text(decision: Decision) -> str:
    return f'{_clipped(decision.cause)}: {" > ".join(map(_clipped, decision.path))}'


def _clipped(text: str) -> str:
    return clip_columns(text, MAX_TEXT_COLUMNS)


def state_text(state: WorldState, world: WorldModel, at: float, holding: str) -> str:
    """Place, energy, ongoing and suspended activities, hold reason, in one line. Times are
    local.
    """
    where = f'at {state.place}' if state.place else 'at an unknown place'
    parts = [f'{where}, energy {world.energy(state, at):.0%}']
    if (ongoing := state.activity) is None:
        parts.append('nothing goes on')
    else:
        since = f'{world.local(ongoing.began_at):%H:%M}'
        until = '' if ongoing.until is None else f' until {world.local(ongoing.until):%H:%M}'
        parts.append(f'{ongoing.activity} since {since}{until}, by the {ongoing.by.value}')
    if state.suspended:
        names = ', '.join(each.activity for each in reversed(state.suspended))
        parts.append(f'goes on afterwards: {names}')
    if holding:
        parts.append(f'held: {holding}')
    return printable('; '.join(parts))
