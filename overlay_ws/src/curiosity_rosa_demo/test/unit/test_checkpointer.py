# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where turns are kept: what is on the disk when, and what happens when it cannot be."""

from __future__ import annotations

from pathlib import Path
import sqlite3
from typing import Any

from chat_server import Call, Say
from curiosity_rosa_demo.agent.react.checkpointer import TurnCheckpointer
from curiosity_rosa_demo.agent.react.loop import TURN_LOST_TEXT
from curiosity_rosa_demo.agent.react.turn.approval_queue import ApprovalQueue
from curiosity_rosa_demo.agent.react.turn.request import TurnEnvironment, TurnRequest, TurnResult
from curiosity_rosa_demo.agent.runtime.execution.rosa_loader import ModelUnavailable, RosaLoader
from curiosity_rosa_demo.domain.cancellation import Cancellation
import pytest
from react_world import REGISTRY
from tool_rover import SimulatedRover
from turn_world import KEY, rosa_of, SHIPPED, SimulatedRoverWorld, World

STATUS = '現在のローバーの状態を教えて'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / 'turns.db'


def turn(
    file: Path | str, thread: str, rover: SimulatedRover | None = None, **kept: Any
) -> TurnResult:
    """A turn of the routine, which asks for the status and tells it."""
    rover = rover or SimulatedRover()
    saver = kept.get('saver') or TurnCheckpointer(file)
    rosa = rosa_of(rover, SHIPPED, saver=saver)
    rosa.turn_executor.request = TurnRequest(STATUS, Cancellation(), thread)
    rosa.invoke(STATUS)
    assert rosa.turn_executor.last_result is not None
    if 'saver' not in kept:
        saver.close()
    return rosa.turn_executor.last_result


def rows(file: Path, table: str = 'checkpoints') -> list[tuple[Any, ...]]:
    with sqlite3.connect(file) as connection:
        return connection.execute(f'SELECT thread_id, checkpoint_id FROM {table}').fetchall()


def test_only_the_newest_checkpoint_of_each_turn_is_kept(file: Path) -> None:
    for thread in 'abc':
        assert turn(file, thread).ok
    assert sorted(thread for thread, _ in rows(file)) == ['a', 'b', 'c']
    assert rows(file, 'writes') == []


def test_the_last_checkpoint_is_the_newest_also_after_the_clock_was_set_back(
    file: Path,
) -> None:
    turn(file, 'a')
    (before,) = rows(file)
    saver = TurnCheckpointer(file)
    config: Any = {'configurable': {'thread_id': 'a', 'checkpoint_ns': ''}}
    found = saver.get_tuple(config)
    assert found is not None
    early = {**found.checkpoint, 'id': '0' * 8 + found.checkpoint['id'][8:]}
    assert early['id'] < before[1]
    saver.put(config, early, found.metadata, {})  # type: ignore[arg-type]
    saver.close()
    assert rows(file) == [('a', early['id'])]


def test_the_turns_that_nobody_goes_on_with_are_forgotten(file: Path) -> None:
    for thread in 'abc':
        turn(file, thread)
    saver = TurnCheckpointer(file)
    saver.delete_others({'b', 'never begun'})
    saver.close()
    assert [thread for thread, _ in rows(file)] == ['b']


def test_each_commit_is_on_the_disk_before_the_next_step(file: Path) -> None:
    saver = TurnCheckpointer(file)
    assert saver.conn.execute('PRAGMA journal_mode').fetchone() == ('wal',)
    assert saver.conn.execute('PRAGMA synchronous').fetchone() == (2,)
    assert not saver.conn.in_transaction
    saver.close()


# --- disks that fail --------------------------------------------------------------------------


class Full(TurnCheckpointer):
    """The disk is full from this commit on."""

    def __init__(self, file: Path, room: int) -> None:
        super().__init__(file)
        self.room = room

    def put(self, *args: Any) -> Any:
        if not self.room:
            raise sqlite3.OperationalError('database or disk is full')
        self.room -= 1
        return super().put(*args)


@pytest.mark.parametrize('room', range(4))
def test_a_full_disk_ends_the_turn_with_a_clear_error(
    file: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    saver = Full(file, room)
    with World(Say('', (Call('mast_open'),)), Say('Done.'), saver=saver) as world:
        last = world.turn()
        assert not last.ok
        assert last.answer.startswith('The turn cannot be saved: database or disk is full; make ')
        assert str(file) in last.answer
        assert world.errors() == [last.answer]
        # The third commit is the intent: without it nothing is done.
        assert world.calls == ([] if room < 3 else ['mast_open'])
        saver.room = 100
        assert world.turn().ok, 'the next turn works'


def test_a_disk_that_cannot_be_written_ends_the_turn_before_anything_is_done(file: Path) -> None:
    turn(file, 'a')
    saver, rover = TurnCheckpointer(file), SimulatedRover()
    saver.conn.execute('PRAGMA query_only=ON')
    last = turn(file, 'b', rover, saver=saver)
    assert last.answer.startswith('The turn cannot be saved: attempt to write a readonly database')
    assert rover.calls == []
    saver.close()


def test_a_file_of_something_else_makes_the_brain_unavailable(tmp_path: Path) -> None:
    file = tmp_path / 'turns.db'
    file.write_bytes(b'This is no database, ' * 100)
    rover = SimulatedRover()
    environment = TurnEnvironment(
        registry=REGISTRY,
        world=SimulatedRoverWorld(rover, SHIPPED),
        approval_queue=ApprovalQueue(timeout_s=1.0),
        checkpoints=file,
        trace=lambda *_, **__: None,
        recall=lambda: '',
        on_react_state=lambda react: None,
    )
    with pytest.raises(
        ModelUnavailable, match=r'^Turns cannot be kept in .*turns.db: file is not'
    ):
        RosaLoader(environment).run_turn(TurnRequest('Hello', Cancellation()))


# --- what cannot be read --------------------------------------------------------------------


def overwrite(file: Path, change: Any) -> None:
    with sqlite3.connect(file) as connection:
        ((kind, blob),) = connection.execute('SELECT type, checkpoint FROM checkpoints').fetchall()
        connection.execute('UPDATE checkpoints SET checkpoint = ?', (change(kind, blob),))


def of_another_version(field: str) -> Any:
    """Turns ``field`` into one that nobody knows."""

    def change(_: str, blob: bytes) -> bytes:
        assert field.encode() in blob
        return blob.replace(field.encode(), field[::-1].encode())

    return change


BROKEN = {
    'garbage': lambda kind, blob: b'\xc1garbage',
    'half': lambda kind, blob: blob[: len(blob) // 2],
    'empty': lambda kind, blob: b'',
    'a field unknown': of_another_version('failures_in_a_row'),
    'a part unknown': of_another_version('telemetry'),
}


@pytest.mark.parametrize('change', BROKEN.values(), ids=BROKEN.keys())
def test_a_turn_that_cannot_be_read_ends_with_a_clear_error(file: Path, change: Any) -> None:
    turn(file, 'a')
    overwrite(file, change)
    rover = SimulatedRover()
    last = turn(file, 'a', rover)
    assert not last.ok
    assert last.answer.startswith(TURN_LOST_TEXT)
    assert rover.calls == []
    assert turn(file, 'b').ok, 'another turn works'


def test_a_turn_that_was_kept_before_a_field_was_new_goes_on(file: Path) -> None:
    first = turn(file, 'a')

    def older(kind: str, blob: bytes) -> bytes:
        saver = TurnCheckpointer(':memory:')
        checkpoint = saver.serde.loads_typed((kind, blob))
        brain = checkpoint['channel_values']['brain']
        data = brain.model_dump()
        del data['react']['same_in_a_row']
        react = type(brain.react).model_construct(**data['react'])
        # As an older agent would have written it: without the field.
        del react.__dict__['same_in_a_row']
        checkpoint['channel_values']['brain'] = brain.model_copy(update={'react': react})
        return bytes(saver.serde.dumps_typed(checkpoint)[1])

    overwrite(file, older)
    assert turn(file, 'a') == first
