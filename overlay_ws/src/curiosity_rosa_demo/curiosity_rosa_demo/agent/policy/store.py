# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's file: its state, whether autonomy is on, and the last decisions; decisions and
state as texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timezone
from itertools import groupby
import os
from pathlib import Path
import sqlite3

from curiosity_rosa_demo.agent.policy.world import Rejection, Source, WorldModel, WorldState
from curiosity_rosa_demo.domain.models import Model
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.infra.config.behaviour import WorldView
from curiosity_rosa_demo.infra.files import (
    check_integrity,
    fault_of,
    FileDamaged,
    FileFault,
    has_other_tables,
    make_durable,
    open_or_set_aside,
)
from pydantic import Field, ValidationError

MAX_TEXT_COLUMNS = 300  # columns of each text in the log; the rest is clipped
APPLICATION_ID = 0x43524F50  # 'CROP', in the header of the file
VERSION = 1

_LAYOUT = f"""
    BEGIN IMMEDIATE;
    CREATE TABLE kept (
        one INTEGER PRIMARY KEY CHECK (one = 1), state TEXT NOT NULL, auto INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE decision (seq INTEGER PRIMARY KEY, decision TEXT NOT NULL) STRICT;
    PRAGMA application_id = {APPLICATION_ID};
    PRAGMA user_version = {VERSION};
    COMMIT
"""
_REMEDIES = {
    FileFault.FULL: 'free some space or check the disk',
    FileFault.READ_ONLY: 'make the file and its folder writable',
    FileFault.DAMAGED: 'restart, then it is set aside',
    FileFault.OTHER: 'move the file away and restart',
}


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


class PolicyStoreError(Exception):
    """The file cannot be used or written. Data that was saved before is safe."""


class PolicyStore:
    """An open file. ``state``: the saved one, or None when none fits ``view``. ``kept``: number of
    decisions to keep. ``notes``: texts about a replaced file or dropped data. Every method but
    close(), and the constructor, raises PolicyStoreError.
    """

    def __init__(self, path: str | Path, kept: int, view: WorldView) -> None:
        self.path, self._kept = os.path.realpath(path), kept
        self.notes: list[str] = []
        self.state: WorldState | None = None
        self.was_on = False
        try:
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            self._connection, row, note = open_or_set_aside(
                self.path, datetime.now(timezone.utc), self._prepare, patience_s=0.5
            )
        except (OSError, sqlite3.Error, FileDamaged) as error:
            raise _store_error(error, self.path) from None
        self.notes += [note] if note else []
        if row is not None:
            self.was_on = bool(row[1])
            self.state = self._state_if_valid(row[0], view)

    def _prepare(self, connection: sqlite3.Connection) -> tuple[str, int] | None:
        """The saved row: state and auto, or None. Raises FileDamaged, PolicyStoreError,
        sqlite3.Error.
        """
        try:
            connection.execute('PRAGMA locking_mode = EXCLUSIVE')
            (version,) = connection.execute('PRAGMA user_version').fetchone()
            (application,) = connection.execute('PRAGMA application_id').fetchone()
            (tables,) = connection.execute('SELECT count(*) FROM sqlite_master').fetchone()
            # Before any write: a file of another program stays as it is.
            if application != APPLICATION_ID and (application or version or tables):
                raise FileDamaged('it is a database of something else')
            if version > VERSION:
                raise PolicyStoreError(
                    f'{self.path} has version {version}, this program knows versions up to '
                    f'{VERSION}; run the newer program, or move the file away'
                )
            make_durable(connection)
            check_integrity(connection)
            if not version:
                connection.executescript(_LAYOUT)
            connection.execute('UPDATE kept SET auto = auto')  # fails when not writable
            row: tuple[str, int] | None = connection.execute(
                'SELECT state, auto FROM kept'
            ).fetchone()
        except sqlite3.Error as error:
            if has_other_tables(error):
                raise FileDamaged(str(error)) from error
            raise
        return row

    def save(self, state: WorldState, decision: Decision, auto: bool) -> None:
        """Save all in one transaction. The saved ``ticked_at`` covers the decision's tick."""
        ticked = state.model_copy(update={'ticked_at': max(state.ticked_at, decision.at)})
        try:
            self._execute('BEGIN IMMEDIATE')
            self._execute(
                'INSERT OR REPLACE INTO kept VALUES (1, ?, ?)', ticked.model_dump_json(), auto
            )
            self._execute('INSERT INTO decision (decision) VALUES (?)', decision.model_dump_json())
            self._execute(
                'DELETE FROM decision WHERE seq <= (SELECT max(seq) FROM decision) - ?', self._kept
            )
            self._execute('COMMIT')
        except PolicyStoreError:
            with suppress(sqlite3.Error):  # the transaction may be over already
                self._connection.execute('ROLLBACK')
            raise
        self.was_on = auto

    def save_was_on(self, auto: bool) -> None:
        """Save whether autonomy is on, without a decision. Writes nothing to the file before the
        first save().
        """
        self._execute('UPDATE kept SET auto = ?', auto)
        self.was_on = auto

    def recent_decisions(self, count: int) -> list[Decision]:
        """The newest last. A decision in an older version's format is left out."""
        rows = self._execute('SELECT decision FROM decision ORDER BY seq DESC LIMIT ?', count)
        found = []
        for (text,) in reversed(rows):
            with suppress(ValidationError):
                found.append(Decision.model_validate_json(text))
        return found

    def close(self) -> None:
        self._connection.close()

    def _execute(self, statement: str, *values: object) -> list[tuple[str, ...]]:
        """All rows. Raises PolicyStoreError."""
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise _store_error(error, self.path) from None

    def _state_if_valid(self, text: str, view: WorldView) -> WorldState | None:
        try:
            state = WorldState.model_validate_json(text)
        except ValidationError as error:
            fault = f'{error.errors()[0]["loc"]}: {error.errors()[0]["msg"]}'
            self.notes.append(f'the state in {self.path} cannot be read ({fault}); it was dropped')
            return None
        if unknown := _unknown_name(state, view):
            self.notes.append(
                f'the state in {self.path} was dropped: the world view has no {unknown}'
            )
            return None
        # A device that the world view declares unavailable is unusable, whatever was saved.
        usable = {
            name: device.available and state.devices.get(name, True)
            for name, device in view.devices.items()
        }
        return state.model_copy(update={'devices': usable})


def _unknown_name(state: WorldState, view: WorldView) -> str:
    """The first name in the state that the world view lacks, and those that it has; '': none."""
    if state.place and state.place not in view.places:
        return f'place {state.place!r}; it has {", ".join(view.places)}'
    names = [each.activity for each in state.begun if each.activity not in view.activities]
    return f'activity {names[0]!r}; it has {", ".join(view.activities)}' if names else ''


def _store_error(error: Exception, path: str) -> PolicyStoreError:
    """The error with its cause and a remedy for the user."""
    fault = FileFault.DAMAGED if has_other_tables(error) else fault_of(error)
    if fault is FileFault.LOCKED:
        return PolicyStoreError(f'{path} is in use by another program; end that program')
    return PolicyStoreError(f'The policy store {path} cannot be used: {error}; {_REMEDIES[fault]}')


# --- The log of the decisions, and the state, as texts. Pure ------------------------------------


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
