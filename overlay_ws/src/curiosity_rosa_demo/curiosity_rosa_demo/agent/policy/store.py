# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's file: its state, whether autonomy is on, and the last decisions."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timezone
import os
from pathlib import Path
import sqlite3

from curiosity_rosa_demo.agent.policy.decisions import Decision
from curiosity_rosa_demo.agent.policy.world import WorldState
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
from pydantic import ValidationError

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
