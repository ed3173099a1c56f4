# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the policy keeps and tells: its file, and its decisions as a diary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
import sqlite3
from tempfile import TemporaryDirectory
from typing import Any

from curiosity_rosa_demo.agent.policy.decision_record import Decision, Rejection
from curiosity_rosa_demo.agent.policy.policy_store import PolicyStore, PolicyStoreError
from curiosity_rosa_demo.agent.policy.world_state import Memory, Ongoing, Source, WorldState
from curiosity_rosa_demo.infra.config.world import WorldView
from examples import examples
from full_disk import no_file_beyond
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

VIEW = WorldView.model_validate(
    {
        'says': 'a test',
        'measured': False,
        'begins': {'place': 'home', 'energy': 0.5},
        'places': {'home': {}, 'school': {}},
        'devices': {'phone': {'abilities': ['receive']}, 'lamp': {'abilities': ['shine']}},
        'activities': {
            'rest': {'says': 'rests', 'minutes': 5},
            'read': {'says': 'r', 'asks': 'r'},
        },
        'routine': [],
    }
)
STATE = WorldState.first(VIEW)
TEXT = st.text(max_size=20)
TIME = st.floats(0.0, 4e9)
TIMES = st.dictionaries(TEXT, TIME, max_size=3)
ONGOING = st.builds(
    Ongoing,
    activity=st.sampled_from([*VIEW.activities]),
    by=st.sampled_from(Source),
    began_at=TIME,
    until=st.none() | TIME,
    task_ids=st.lists(TEXT, max_size=2),
    rationale=TEXT,
    energy_at=TIME,
    held=st.booleans(),
)
STATES = st.builds(
    WorldState,
    place=st.sampled_from(['', *VIEW.places]),
    energy=st.floats(0.0, 1.0),
    activity=st.none() | ONGOING,
    suspended=st.lists(ONGOING, max_size=3),
    devices=st.fixed_dictionaries(dict.fromkeys(VIEW.devices, st.booleans())),
    memory=st.builds(Memory, began=TIMES, ended=TIMES, failed=TIMES, arrived=TIMES),
)
DECISIONS = st.builds(
    Decision,
    number=st.integers(0),
    at=TIME,
    cause=TEXT,
    missed=st.integers(0),
    path=st.lists(TEXT, max_size=4),
    answer_text=TEXT,
    rejected=st.lists(st.builds(Rejection, type=TEXT, by=st.sampled_from(Source), reason=TEXT)),
    done=TEXT,
    place=TEXT,
    energy=st.floats(0.0, 1.0),
    activity=TEXT,
)


def decision(number: int, at: float = 1e9) -> Decision:
    return Decision(number=number, at=at, cause='minute', place='home', energy=0.5)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / 'new folder' / 'pölicy #1?.db'


@pytest.fixture
def store(file: Path) -> Iterator[PolicyStore]:
    store = PolicyStore(file, 10)
    store.open(VIEW)
    yield store
    store.close()


def opened(file: Path, view: WorldView = VIEW) -> tuple[WorldState | None, PolicyStore]:
    """What is in the file; the store is closed."""
    store = PolicyStore(file, 10)
    state = store.open(view)
    store.close()
    return state, store


def refusal(file: Path) -> str:
    store = PolicyStore(file, 10)
    with pytest.raises(PolicyStoreError) as caught:
        store.open(VIEW)
    assert str(file) in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


def change(file: Path, *statements: str) -> None:
    connection = sqlite3.connect(file)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


# --- it comes back ---------------------------------------------------------------------------


@settings(max_examples=examples(30))
@given(ticks=st.lists(st.tuples(STATES, DECISIONS, st.booleans()), min_size=1, max_size=4))
def test_what_was_saved_comes_back_as_it_was(
    ticks: list[tuple[WorldState, Decision, bool]],
) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / 'policy.db'
        store = PolicyStore(file, 10)
        store.open(VIEW)
        for state, each, auto in ticks:
            store.save(state, each, auto)
        store.close()
        store = PolicyStore(file, 10)
        state, each, auto = ticks[-1]
        assert store.open(VIEW) == state.model_copy(update={'ticked_at': each.at})
        assert store.was_on is auto
        assert store.recent_decisions(10) == [each for _, each, _ in ticks]
        store.close()
        assert store.notes == []


def test_the_time_of_the_last_tick_never_goes_back(store: PolicyStore, file: Path) -> None:
    store.save(STATE.model_copy(update={'ticked_at': 100.0}), decision(1, at=50.0), False)
    store.close()
    state, _ = opened(file)
    assert state is not None
    assert state.ticked_at == 100.0


def test_only_the_last_decisions_are_kept_also_where_their_numbers_begin_anew(
    store: PolicyStore,
) -> None:
    numbers = [*range(30), *range(4)]
    for number in numbers:
        store.save(STATE, decision(number), False)
        assert len(store.recent_decisions(1000)) <= 10
    assert [each.number for each in store.recent_decisions(1000)] == numbers[-10:]
    assert [each.number for each in store.recent_decisions(2)] == [2, 3]
    assert store.recent_decisions(0) == []


# --- it does not fit -------------------------------------------------------------------------


def going_on(**values: Any) -> WorldState:
    ongoing = Ongoing(activity='rest', by=Source.ROUTINE, began_at=0.0, energy_at=0.0)
    return STATE.model_copy(update={'activity': ongoing} | values)


def strange(activity: str) -> Ongoing:
    return Ongoing(activity=activity, by=Source.ROUTINE, began_at=0.0, energy_at=0.0)


@pytest.mark.parametrize(
    ('state', 'why'),
    [
        (going_on(activity=strange('dance')), "no activity 'dance'; it has rest, read"),
        (going_on(suspended=[strange('sing')]), "no activity 'sing'; it has rest, read"),
        (going_on(place='moon'), "no place 'moon'; it has home, school"),
    ],
)
def test_a_state_of_another_world_is_dropped_and_the_decisions_stay(
    store: PolicyStore, file: Path, state: WorldState, why: str
) -> None:
    store.save(state, decision(7), True)
    store.close()
    store = PolicyStore(file, 10)
    assert store.open(VIEW) is None
    (note,) = store.notes
    assert note == f'the state in {file} was dropped: the world view has {why}'
    assert store.was_on is True
    assert [each.number for each in store.recent_decisions(9)] == [7]
    store.save(STATE, decision(8), True)
    store.close()
    assert store.open(VIEW) == STATE.model_copy(update={'ticked_at': 1e9})
    assert store.notes == []
    store.close()


@pytest.mark.parametrize(
    ('text', 'why'),
    [
        ('{}', "('place',): Field required"),
        ('no JSON', '(): Invalid JSON'),
    ],
)
def test_a_state_of_another_shape_is_dropped(
    store: PolicyStore, file: Path, text: str, why: str
) -> None:
    store.save(STATE, decision(7), False)
    store.close()
    change(file, f"UPDATE kept SET state = '{text}'")
    state, again = opened(file)
    assert state is None
    (note,) = again.notes
    assert note.startswith(f'the state in {file} cannot be read ({why}')
    assert note.endswith('it was dropped')


def test_a_decision_of_another_shape_is_left_out(store: PolicyStore, file: Path) -> None:
    for number in range(3):
        store.save(STATE, decision(number), False)
    store.close()
    change(file, "UPDATE decision SET decision = '{}' WHERE seq = 2")
    again = PolicyStore(file, 10)
    again.open(VIEW)
    assert [each.number for each in again.recent_decisions(9)] == [0, 2]
    again.close()


@pytest.mark.parametrize(
    ('saved', 'available'),
    [
        pytest.param({'phone': False, 'radio': True}, True, id='as usable as they were'),
        pytest.param({'phone': True}, False, id='not usable where the file says so'),
    ],
)
def test_devices_are_those_of_the_world_view(
    store: PolicyStore, file: Path, saved: dict[str, bool], available: bool
) -> None:
    store.save(STATE.model_copy(update={'devices': saved}), decision(1), False)
    store.close()
    phone = VIEW.devices['phone'].model_copy(update={'available': available})
    state, _ = opened(file, VIEW.model_copy(update={'devices': {**VIEW.devices, 'phone': phone}}))
    assert state is not None
    assert state.devices == {'phone': False, 'lamp': True}


# --- the file --------------------------------------------------------------------------------


def filled(file: Path) -> bytes:
    store = PolicyStore(file, 100)
    store.open(VIEW)
    for number in range(100):
        store.save(STATE, decision(number), False)
    store.close()
    return file.read_bytes()


def no_database(file: Path) -> None:
    file.write_bytes(b'no database ' * 400)


def foreign(file: Path) -> None:
    change(file, 'CREATE TABLE precious (x)', 'INSERT INTO precious VALUES (42)')


def halved(file: Path) -> None:
    file.write_bytes(filled(file)[:10000])


def blotted(file: Path) -> None:
    page = 4096
    whole = filled(file)
    file.write_bytes(whole[: 3 * page + 100] + bytes(page // 2) + whole[3 * page + 2148 :])


def without_a_table(file: Path) -> None:
    opened(file)
    change(file, 'DROP TABLE kept')


def not_unicode(file: Path) -> None:
    filled(file)
    change(file, "UPDATE kept SET state = CAST(x'ff' AS TEXT)")


@pytest.mark.parametrize(
    'spoil', [no_database, foreign, halved, blotted, without_a_table, not_unicode]
)
def test_a_corrupt_or_foreign_file_is_set_aside_whole(
    file: Path, spoil: Callable[[Path], None]
) -> None:
    file.parent.mkdir()
    asides = set()
    for _ in range(2):
        spoil(file)
        before = file.read_bytes()
        state, store = opened(file)
        assert state is None
        (note,) = store.notes
        assert note.startswith(f'{file} could not be read (')
        aside = Path(note.rpartition(' as ')[2])
        assert aside.read_bytes() == before
        asides.add(aside)
        assert opened(file)[1].notes == []
        file.unlink()
    assert {*file.parent.iterdir()} == asides  # none was overwritten
    assert len(asides) == 2


def test_it_writes_ahead_and_shares_no_memory(store: PolicyStore, file: Path) -> None:
    assert Path(f'{file}-wal').exists()
    assert not Path(f'{file}-shm').exists()


def test_a_file_of_a_newer_version_is_left_alone(file: Path) -> None:
    opened(file)
    change(file, 'PRAGMA user_version = 2')
    before = file.read_bytes()
    assert 'has version 2, this program knows versions up to 1; run the newer' in refusal(file)
    assert file.read_bytes() == before


def test_a_file_is_used_by_one_at_a_time(store: PolicyStore, file: Path) -> None:
    store.save(STATE, decision(1), False)
    assert refusal(file).endswith('is in use by another program; end that program')
    store.save(STATE, decision(2), False)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / 'file').write_text('')
    assert refusal(tmp_path / 'file' / 'policy.db').endswith(
        'make the file and its folder writable'
    )


def test_it_is_to_be_opened_once_first(file: Path) -> None:
    store = PolicyStore(file, 10)
    for use in (
        lambda: store.save(STATE, decision(1), False),
        lambda: store.save_was_on(True),
        lambda: store.recent_decisions(1),
    ):
        with pytest.raises(PolicyStoreError, match=r'is not open; call open\(\) first'):
            use()
    store.open(VIEW)
    with pytest.raises(PolicyStoreError, match='is already open'):
        store.open(VIEW)
    store.close()
    store.close()
    with pytest.raises(ValueError, match='kept is 0; it must be at least 1'):
        PolicyStore(file, 0)


def test_when_the_disk_fails_nothing_is_half_kept_and_it_goes_on_afterwards(
    store: PolicyStore, file: Path
) -> None:
    store.save(STATE, decision(1), True)
    long = decision(2).model_copy(update={'answer_text': 'x' * 100_000})
    with no_file_beyond(50_000):
        with pytest.raises(PolicyStoreError, match='free some space or check the disk'):
            store.save(going_on(), long, False)
        with pytest.raises(PolicyStoreError, match='free some space or check the disk'):
            store.save(going_on(), long, False)
        assert [each.number for each in store.recent_decisions(9)] == [1]
        assert store.was_on is True
    store.save(going_on(), decision(3), True)
    store.close()
    store = PolicyStore(file, 10)
    assert store.open(VIEW) == going_on(ticked_at=1e9)
    assert [each.number for each in store.recent_decisions(9)] == [1, 3]
    store.close()
