# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Errors of real SQLite files are told apart by their codes, whatever their words are."""

from __future__ import annotations

import errno
from pathlib import Path
import sqlite3

from curiosity_rosa_demo.agent.tasks.errors import StoreError, StoreFull, StoreLocked
from curiosity_rosa_demo.agent.tasks.store_writer import store_error
from curiosity_rosa_demo.infra.storage.quarantine import FileDamaged
from curiosity_rosa_demo.infra.storage.sqlite_errors import fault_of, FileFault, has_other_tables
from full_disk import no_file_beyond
import pytest


def failure(path: Path, statement: str, *, uri: str = '') -> sqlite3.Error:
    connection = sqlite3.connect(f'{path.as_uri()}{uri}', uri=True, timeout=0.0)
    try:
        connection.execute(statement)
    except sqlite3.Error as error:
        return error
    finally:
        connection.close()
    raise AssertionError(f'{statement} did not fail')


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / 'a.db'
    connection = sqlite3.connect(path)
    connection.execute('CREATE TABLE one (x)')
    connection.close()
    return path


def test_a_file_that_another_program_has_is_locked(database: Path) -> None:
    other = sqlite3.connect(database, isolation_level=None)
    other.execute('BEGIN EXCLUSIVE')
    assert fault_of(failure(database, 'BEGIN IMMEDIATE')) is FileFault.LOCKED
    other.close()


def test_a_file_that_cannot_be_written_is_read_only(database: Path, tmp_path: Path) -> None:
    error = failure(database, 'INSERT INTO one VALUES (1)', uri='?mode=ro')
    assert fault_of(error) is FileFault.READ_ONLY
    absent = tmp_path / 'no' / 'such.db'
    with pytest.raises(sqlite3.Error) as raised:
        sqlite3.connect(f'{absent.as_uri()}?mode=rw', uri=True)
    assert fault_of(raised.value) is FileFault.READ_ONLY


def test_a_disk_that_takes_no_more_is_full(database: Path) -> None:
    with no_file_beyond(database.stat().st_size):
        error = failure(database, 'CREATE TABLE two AS SELECT randomblob(100000)')
    assert fault_of(error) is FileFault.FULL


def test_what_is_no_database_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / 'a.db'
    path.write_bytes(b'no database at all' * 100)
    assert fault_of(failure(path, 'SELECT * FROM sqlite_master')) is FileFault.DAMAGED


def test_a_table_that_is_not_there_is_no_damage_but_another_layout(database: Path) -> None:
    error = failure(database, 'SELECT * FROM two')
    assert (fault_of(error), has_other_tables(error)) == (FileFault.OTHER, True)


def test_a_name_within_an_error_decides_nothing(database: Path) -> None:
    """A table called readonly is no file that cannot be written."""
    for name, kind in (('locked', StoreLocked), ('"is full"', StoreFull)):
        error = failure(database, f'SELECT * FROM {name}')
        if hasattr(error, 'sqlite_errorcode'):
            assert fault_of(error) is FileFault.OTHER
            assert type(store_error(error, 'a.db')) is StoreError is not kind


@pytest.mark.parametrize(
    ('error', 'fault'),
    [
        (OSError(errno.ENOSPC, 'No space left on device'), FileFault.FULL),
        (PermissionError(errno.EACCES, 'Permission denied'), FileFault.READ_ONLY),
        (FileDamaged('it is a database of something else'), FileFault.DAMAGED),
        (ValueError('readonly'), FileFault.OTHER),
        # As on Python 3.10: no code.
        (sqlite3.OperationalError('database or disk is full'), FileFault.FULL),
        (sqlite3.OperationalError('disk I/O error'), FileFault.FULL),
        (sqlite3.OperationalError('attempt to write a readonly database'), FileFault.READ_ONLY),
        (sqlite3.OperationalError('database is locked'), FileFault.LOCKED),
        (sqlite3.DatabaseError('database disk image is malformed'), FileFault.DAMAGED),
        (sqlite3.OperationalError('Could not decode to UTF-8 column'), FileFault.DAMAGED),
        (sqlite3.OperationalError('near "x": syntax error'), FileFault.OTHER),
    ],
)
def test_what_has_no_code_is_told_by_its_kind_and_text(error: Exception, fault: FileFault) -> None:
    assert fault_of(error) is fault
