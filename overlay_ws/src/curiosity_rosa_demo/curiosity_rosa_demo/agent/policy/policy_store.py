# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Stores the policy across restarts: its state, whether autonomy is on, its last decisions.

One SQLite file in WAL mode with fsync: the data of a save() that returned survives a crash of the
process. For one process, and for one thread at a time.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timezone
import os
from pathlib import Path
import sqlite3

from curiosity_rosa_demo.agent.policy.decision_record import Decision
from curiosity_rosa_demo.agent.policy.world_state import WorldState
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


class PolicyStoreError(Exception):
    """The file cannot be used or written. Data that was saved before is safe."""


class PolicyStore:
    """``kept``: number of decisions to keep. ``notes``: texts about a replaced file or dropped
    data. Every method but close() raises PolicyStoreError.
    """

    def __init__(self, path: str | Path, kept: int) -> None:
        if kept < 1:
            raise ValueError(f'kept is {kept}; it must be at least 1')
        self.path = os.path.realpath(path)
        self.notes: list[str] = []
        self.was_on = False
        self._kept = kept
        self._connection: sqlite3.Connection | None = None

    def open(self, view: WorldView) -> WorldState | None:
        """Open the file. Returns the saved state, or None when none fits ``view``."""
        if self._connection is not None:
            raise PolicyStoreError(f'The policy store {self.path} is already open')
        self.notes, self.was_on = [], False
        try:
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            self._connection, row, note = open_or_set_aside(
                self.path, datetime.now(timezone.utc), self._prepare, patience_s=0.5
            )
            self.notes += [note] if note else []
        except (OSError, sqlite3.Error, FileDamaged) as error:
            raise _store_error(error, self.path) from None
        if row is None:
            return None
        text, self.was_on = row[0], bool(row[1])
        return self._state_if_valid(text, view)

    def _prepare(self, connection: sqlite3.Connection) -> tuple[str, int] | None:
        """The saved row: state and auto, or None. Raises FileDamaged, PolicyStoreError,
        sqlite3.Error.
        """
        try:
            connection.execute('PRAGMA locking_mode = EXCLUSIVE')
            _check_owner(connection, self.path)  # before any write
            make_durable(connection)
            check_integrity(connection)
            if connection.execute('PRAGMA user_version').fetchone() == (0,):
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
        connection = self._open_connection()
        ticked = state.model_copy(update={'ticked_at': max(state.ticked_at, decision.at)})
        statements = (
            ('BEGIN IMMEDIATE', ()),
            ('INSERT OR REPLACE INTO kept VALUES (1, ?, ?)', (ticked.model_dump_json(), auto)),
            ('INSERT INTO decision (decision) VALUES (?)', (decision.model_dump_json(),)),
            (
                'DELETE FROM decision WHERE seq <= (SELECT max(seq) FROM decision) - ?',
                (self._kept,),
            ),
            ('COMMIT', ()),
        )
        try:
            for statement, values in statements:
                connection.execute(statement, values)
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):  # the transaction may be over already
                connection.execute('ROLLBACK')
            raise _store_error(error, self.path) from None
        self.was_on = auto

    def save_was_on(self, auto: bool) -> None:
        """Save whether autonomy is on, without a decision. Writes nothing to the file before the
        first save().
        """
        connection = self._open_connection()
        try:
            connection.execute('UPDATE kept SET auto = ?', (auto,))
        except sqlite3.Error as error:
            raise _store_error(error, self.path) from None
        self.was_on = auto

    def recent_decisions(self, count: int) -> list[Decision]:
        """The newest last. A decision in an older version's format is left out."""
        try:
            rows = self._open_connection().execute(
                'SELECT decision FROM decision ORDER BY seq DESC LIMIT ?', (count,)
            )
            texts = [text for (text,) in rows]
        except sqlite3.Error as error:
            raise _store_error(error, self.path) from None
        return [decision for text in reversed(texts) if (decision := _parse_decision(text))]

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise PolicyStoreError(f'The policy store {self.path} is not open; call open() first')
        return self._connection

    def _state_if_valid(self, text: str, view: WorldView) -> WorldState | None:
        try:
            state = WorldState.model_validate_json(text)
        except ValidationError as error:
            fault = f'{error.errors()[0]["loc"]}: {error.errors()[0]["msg"]}'
            self.notes.append(f'the state in {self.path} cannot be read ({fault}); it was dropped')
            return None
        mismatch = _unknown_name_text(state, view)
        if mismatch:
            self.notes.append(f'the state in {self.path} was dropped: {mismatch}')
            return None
        devices = {name: each.available for name, each in view.devices.items()}
        # A device that the world view declares unavailable is unusable, whatever was saved.
        usable = {
            name: available and state.devices.get(name, True)
            for name, available in devices.items()
        }
        return state.model_copy(update={'devices': usable})


def _unknown_name_text(state: WorldState, view: WorldView) -> str:
    """The first name in the state that the world view lacks, as text; '' when it has all."""
    if state.place and state.place not in view.places:
        return f'the world view has no place {state.place!r}; it has {", ".join(view.places)}'
    activities = [*state.suspended, *([state.activity] if state.activity else [])]
    for name in (each.activity for each in activities):
        if name not in view.activities:
            known = ', '.join(view.activities)
            return f'the world view has no activity {name!r}; it has {known}'
    return ''


def _parse_decision(text: str) -> Decision | None:
    try:
        return Decision.model_validate_json(text)
    except ValidationError:
        return None


def _check_owner(connection: sqlite3.Connection, path: str) -> None:
    (version,) = connection.execute('PRAGMA user_version').fetchone()
    (application,) = connection.execute('PRAGMA application_id').fetchone()
    (tables,) = connection.execute('SELECT count(*) FROM sqlite_master').fetchone()
    if application != APPLICATION_ID and (application or version or tables):
        raise FileDamaged('it is a database of something else')
    if version > VERSION:
        raise PolicyStoreError(
            f'{path} has version {version}, this program knows versions up to {VERSION}; run the '
            'newer program, or move the file away'
        )


def _is_damaged(error: BaseException) -> bool:
    return fault_of(error) is FileFault.DAMAGED or has_other_tables(error)


def _store_error(error: Exception, path: str) -> PolicyStoreError:
    """The error with its cause and a remedy for the user."""
    text, fault = str(error), fault_of(error)
    if fault is FileFault.LOCKED:
        return PolicyStoreError(f'{path} is in use by another program; end that program')
    if fault is FileFault.FULL:
        remedy = 'free some space or check the disk'
    elif fault is FileFault.READ_ONLY:
        remedy = 'make the file and its folder writable'
    elif _is_damaged(error):
        remedy = 'restart, then it is set aside'
    else:
        remedy = 'move the file away and restart'
    return PolicyStoreError(f'The policy store {path} cannot be used: {text}; {remedy}')
