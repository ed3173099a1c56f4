# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The disk of the mission simulator keeps what SQLite was promised, and loses what was not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
import sqlite3

from disk_world import Damage, DATABASE, HONEST, Life, Program
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from missions.disk import Disk, DiskFaults, Host, installed
from missions.disk.file_content import FileContent, SECTOR
import pytest

FULL, BUSY, IOERR = 13, 5, 10
FAILING = DiskFaults(full=0.02, write_error=0.01, sync_error=0.03, read_error=0.01, slow=0.05)

LIVES = st.lists(
    st.builds(
        Life,
        changes=st.integers(1, 200),
        loses_power=st.booleans(),
        checkpoint_pages=st.sampled_from([5, 20, 1000]),
        closes=st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


@pytest.fixture
def disk() -> Iterator[Disk]:
    with installed(Disk(Random(1))) as disk:
        yield disk
        assert disk.defect is None


def open_database(path: str = DATABASE, mode: str = 'WAL') -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=0.0)
    assert connection.execute(f'PRAGMA journal_mode = {mode}').fetchone() == (mode.lower(),)
    connection.execute('CREATE TABLE IF NOT EXISTS t (a)')
    return connection


def values(connection: sqlite3.Connection) -> list[int]:
    return [value for (value,) in connection.execute('SELECT a FROM t')]


# --- commits survive what they should -----------------------------------------------------------


@pytest.mark.parametrize('mode', ['WAL', 'DELETE'])
@pytest.mark.parametrize('faults', [HONEST, FAILING], ids=['honest', 'failing'])
@given(lives=LIVES, seed=st.integers(0, 2**32), powersafe=st.booleans())
@settings(max_examples=examples(60))
def test_no_acknowledged_commit_is_lost_and_none_is_half_there(
    mode: str, faults: DiskFaults, lives: list[Life], seed: int, powersafe: bool
) -> None:
    disk = Disk(Random(seed), powersafe_overwrite=powersafe)
    Program(disk, mode, faults, Random(seed)).live(lives)
    assert disk.defect is None


@pytest.mark.parametrize(
    ('mode', 'faults'),
    [
        ('WAL', DiskFaults(sync_lies=0.2)),
        ('DELETE', DiskFaults(sync_lies=0.2)),
        ('WAL', DiskFaults(sync_error_loses=0.3)),
    ],
)
def test_a_disk_that_lies_about_a_sync_loses_commits(mode: str, faults: DiskFaults) -> None:
    """The same program notices it: its checks can fail."""
    lives = [Life(changes, True, 20, True) for changes in (150, 90, 120)]
    for seed in range(100):
        try:
            Program(Disk(Random(seed)), mode, faults, Random(seed)).live(lives)
        except Damage:
            return
    raise AssertionError('100 seeds and nothing was lost')


def test_the_failing_disk_fails_in_each_way() -> None:
    program = Program(Disk(Random(1)), 'WAL', FAILING, Random(1))
    program.live([Life(2000, False, 1000, True)])
    assert program.errors[FULL] > 2
    assert program.errors[IOERR] > 2
    assert len(program.acknowledged) > 20


@given(st.data(), st.integers(0, 2**32))
def test_a_loss_of_power_leaves_of_each_sector_one_of_its_versions(
    data: st.DataObject, seed: int
) -> None:
    sectors = 4
    file = FileContent(bytes(sectors * SECTOR))
    versions: list[set[bytes]] = [{bytes(SECTOR)} for _ in range(sectors)]
    for number in range(1, data.draw(st.integers(1, 6))):
        first = data.draw(st.integers(0, sectors - 1))
        last = data.draw(st.integers(first, sectors - 1))
        file.write(first * SECTOR, bytes([number]) * SECTOR * (last + 1 - first))
        if data.draw(st.booleans()):
            file.sync()
            versions = [{bytes(file.current[n * SECTOR :][:SECTOR])} for n in range(sectors)]
        for sector in range(first, last + 1):
            versions[sector].add(bytes([number]) * SECTOR)
    file.power_loss(Random(seed))
    found = [bytes(file.current[n * SECTOR :][:SECTOR]) for n in range(sectors)]
    assert all(one in known for one, known in zip(found, versions, strict=True))


def test_unsynced_writes_are_torn_and_reordered() -> None:
    """In enough losses of power, each half of a write comes alone, and the later write alone."""
    seen = set()
    for seed in range(200):
        file = FileContent(bytes(3 * SECTOR))
        file.write(0, b'a' * 2 * SECTOR)
        file.write(2 * SECTOR, b'b' * SECTOR)
        file.power_loss(Random(seed))
        seen.add(bytes(file.current[::SECTOR]))
    assert seen == {bytes([a, b, c]) for a in b'\0a' for b in b'\0a' for c in b'\0b'}


# --- names --------------------------------------------------------------------------------------


def test_a_new_file_may_vanish_until_its_folder_is_synced() -> None:
    found = set()
    for seed in range(50):
        with installed(Disk(Random(seed))) as disk:
            connection = sqlite3.connect(DATABASE)
            connection.execute('PRAGMA user_version')
            connection.close()
            disk.power_loss()
            found.add(tuple(disk.files()))
    assert found == {(), (DATABASE,)}


def test_a_rename_happens_whole_or_not_at_all() -> None:
    found = set()
    for seed in range(50):
        disk = Disk(Random(seed))
        disk.write_file('/robot/old', b'x')
        disk.rename('/robot/old', '/robot/new')
        assert disk.files() == ['/robot/new']
        disk.power_loss()
        found.add(tuple(disk.files()))
        with pytest.raises(FileNotFoundError, match='/robot/none is not on the simulated disk'):
            disk.rename('/robot/none', '/robot/new')
    assert found == {('/robot/old',), ('/robot/new',)}


def test_a_written_file_is_durable_and_readable(disk: Disk) -> None:
    open_database().close()
    content = disk.read_file(DATABASE)
    disk.write_file('/robot/copy.db', content)
    disk.power_loss()
    assert disk.read_file('/robot/copy.db') == disk.durable_file('/robot/copy.db') == content
    with closing(open_database('/robot/copy.db')) as copy:
        assert values(copy) == []
    with pytest.raises(FileNotFoundError, match='/robot/none'):
        disk.read_file('/robot/none')


# --- several connections ------------------------------------------------------------------------


def test_a_reader_sees_its_snapshot_while_another_connection_writes(disk: Disk) -> None:
    with closing(open_database()) as writer:
        reader = sqlite3.connect(f'file:{DATABASE}?mode=ro', uri=True, isolation_level=None)
        reader.execute('BEGIN')
        assert values(reader) == []
        writer.execute('INSERT INTO t VALUES (1)')
        assert (values(reader), values(writer)) == ([], [1])
        reader.execute('COMMIT')
        assert values(reader) == [1]
        with pytest.raises(sqlite3.OperationalError, match='readonly'):
            reader.execute('INSERT INTO t VALUES (2)')
        reader.close()
    with pytest.raises(sqlite3.OperationalError, match='unable to open'):
        sqlite3.connect('file:/robot/none.db?mode=ro', uri=True).execute('SELECT 1 FROM t')


@pytest.mark.parametrize('mode', ['WAL', 'DELETE'])
def test_a_second_writer_is_told_to_wait(disk: Disk, mode: str) -> None:
    with closing(open_database(mode=mode)) as one, closing(open_database(mode=mode)) as other:
        one.execute('BEGIN IMMEDIATE')
        with pytest.raises(sqlite3.OperationalError, match='locked'):
            other.execute('BEGIN IMMEDIATE')
        one.execute('INSERT INTO t VALUES (1)')
        one.execute('COMMIT')
        other.execute('INSERT INTO t VALUES (2)')
        assert values(one) == [1, 2]


def test_a_connection_that_has_the_file_alone_is_alone_until_it_dies(disk: Disk) -> None:
    alone = sqlite3.connect(DATABASE, isolation_level=None)
    alone.execute('PRAGMA locking_mode = EXCLUSIVE')
    alone.execute('PRAGMA journal_mode = WAL')
    alone.execute('CREATE TABLE t (a)')
    other = sqlite3.connect(DATABASE, timeout=0.0)
    with pytest.raises(sqlite3.OperationalError, match='locked'):
        values(other)
    other.close()
    disk.process_killed('')
    with closing(open_database()) as connection:
        assert values(connection) == []
    alone.close()


def test_a_killed_process_hurts_nobody_else() -> None:
    """Not even when Python closes its connection later, in the middle of a transaction."""
    owner = 'first'
    with installed(Disk(Random(1), host=Host(owner=lambda: owner))) as disk:
        first = open_database()
        owner = 'second'
        second = open_database()
        first.execute('INSERT INTO t VALUES (1)')
        first.execute('PRAGMA cache_size = 2')
        first.execute('BEGIN IMMEDIATE')
        for _ in range(100):  # more than its cache: it writes to the log before the commit
            first.execute('INSERT INTO t VALUES (zeroblob(2000))')
        disk.process_killed('first')
        second.execute('INSERT INTO t VALUES (2)')
        with pytest.raises(sqlite3.OperationalError, match='disk I/O error'):
            first.execute('COMMIT')
        first.close()
        second.execute('INSERT INTO t VALUES (3)')
        third = open_database()
        assert values(second) == values(third) == [1, 2, 3]
        assert third.execute('PRAGMA integrity_check').fetchone() == ('ok',)
        second.close()
        third.close()
        assert disk.files() == [DATABASE]
        assert disk.defect is None


def test_sqlite_waits_by_the_clock_of_the_host() -> None:
    waits: list[float] = []
    with installed(Disk(Random(1), host=Host(now_s=lambda: 86_400.5, sleep=waits.append))):
        one, other = open_database(), sqlite3.connect(DATABASE, timeout=1.0)
        assert one.execute("SELECT datetime('now')").fetchone() == ('1970-01-02 00:00:00',)
        one.execute('BEGIN IMMEDIATE')
        with pytest.raises(sqlite3.OperationalError, match='locked'):
            other.execute('BEGIN IMMEDIATE')
        assert sum(waits) == pytest.approx(1.0)
        one.close()
        other.close()


# --- planted faults -----------------------------------------------------------------------------


def test_a_planted_failure_strikes_once_at_its_operation(disk: Disk) -> None:
    with closing(open_database()) as connection:
        before = disk.counts
        disk.fail_next('write', FULL, skip=1)
        with pytest.raises(sqlite3.OperationalError, match='full'):
            connection.execute('INSERT INTO t VALUES (1)')
        assert disk.counts['write'] == before['write'] + 2
        connection.execute('INSERT INTO t VALUES (2)')
        assert values(connection) == [2]


def test_a_commit_that_the_power_cut_off_was_not_acknowledged() -> None:
    """Wherever in a commit the power fails; the last sync alone leads to success."""
    reached = 0
    for changes in range(1, 20):
        with installed(Disk(Random(changes))) as disk:
            connection = open_database()
            start = disk.changes
            disk.call_after(changes, disk.power_loss)
            try:
                connection.execute('INSERT INTO t VALUES (1)')
            except sqlite3.OperationalError:
                reached += 1
                assert disk.changes == start + changes
            else:
                assert disk.changes < start + changes
            connection.close()
    assert reached >= 4
    with pytest.raises(ValueError, match='changes is 0'):
        disk.call_after(0, disk.power_loss)


def test_an_exception_of_a_hook_is_an_io_error_and_is_kept(capfd: pytest.CaptureFixture) -> None:
    def clock() -> float:
        raise ZeroDivisionError('no clock')

    with installed(Disk(Random(1), host=Host(now_s=clock))) as disk:
        connection = open_database()
        connection.execute("SELECT datetime('now')").fetchone()  # SQLite answers NULL, or fails
        assert isinstance(disk.defect, ZeroDivisionError)
        connection.close()
    assert capfd.readouterr() == ('', '')


@pytest.mark.parametrize('rate', [-0.1, 1.5, float('nan')])
def test_a_rate_is_between_nothing_and_always(rate: float) -> None:
    with pytest.raises(ValueError, match=f'read_error is {rate}; a rate is from 0.0 to 1.0'):
        DiskFaults(read_error=rate)
    with pytest.raises(ValueError, match='slow_max_s is -1'):
        DiskFaults(slow_max_s=-1)


# --- installation -------------------------------------------------------------------------------


def test_one_seed_gives_the_same_bytes() -> None:
    def contents(seed: int) -> dict[str, bytes]:
        disk = Disk(Random(seed))
        lives = [Life(150, True, 20, True), Life(77, False, 5, True), Life(99, True, 1000, False)]
        Program(disk, 'WAL', FAILING, Random(seed)).live(lives)
        return {path: disk.read_file(path) for path in disk.files()}

    assert contents(7) == contents(7) != contents(8)


def test_afterwards_files_are_real_again_and_old_connections_stay(tmp_path: Path) -> None:
    path = str(tmp_path / 'a.db')
    with installed(Disk(Random(1))):
        left = open_database(path)
        sqlite3.connect(':memory:').execute('CREATE TABLE t (a)')
    assert list(tmp_path.iterdir()) == []
    with installed(Disk(Random(1))) as other:
        open_database(path).close()
        left.execute('INSERT INTO t VALUES (1)')
        assert values(left) == [1]
        left.close()
        with closing(open_database(path)) as connection:
            assert values(connection) == []
        assert other.files() == [path]
    with closing(open_database(path)) as connection:
        connection.execute('INSERT INTO t VALUES (2)')
    assert Path(path).stat().st_size > 0
