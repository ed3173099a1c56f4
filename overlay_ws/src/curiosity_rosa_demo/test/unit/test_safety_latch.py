# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The safety latch in its file, and the checkpoint of the kernel, which loosens no latch."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
import tempfile
import threading
from typing import Any

from curiosity_rosa_demo.agent.kernel.checkpoint import durable_part, KernelCheckpoint
from curiosity_rosa_demo.agent.react.checkpointer import TurnCheckpointer
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Mode,
    TasksState,
)
from curiosity_rosa_demo.infra.storage.paths import SafetyLatch
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_strategies import states
import pytest
from runtime_world import RuntimeBench, settle
from test_runtime import press

reasons = st.text(
    st.characters(exclude_categories=['Cs', 'Cc', 'Zl', 'Zp']), min_size=1, max_size=80
).map(str.strip)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'tasks.db.safety'


@given(st.lists(reasons | st.just(''), max_size=6))
@settings(max_examples=examples(50), deadline=None)
def test_what_was_saved_last_is_read(changes: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'safety')
        latch = SafetyLatch(path)
        for reason in changes:
            latch.set(reason)
            latch.save()
            assert SafetyLatch(path).reason == reason
        assert [each.name for each in path.parent.iterdir()] == ['safety'] * bool(latch.reason)


@pytest.mark.parametrize('content', [b'', b' \n', b'\xff\xfe'])
def test_a_file_that_tells_nothing_latches(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    latch = SafetyLatch(path)
    assert str(path) in latch.reason
    assert 'clear' in latch.reason
    latch.set('')
    latch.save()
    assert SafetyLatch(path).reason == ''


def test_a_file_that_cannot_be_written_is_an_error_and_the_latch_holds(path: Path) -> None:
    latch = SafetyLatch(path)
    latch.set('e-stop pressed')
    path.with_name(f'{path.name}.new').mkdir()
    with pytest.raises(OSError, match='new'):
        latch.save()
    assert latch.reason == 'e-stop pressed'


def test_the_time_of_a_latch_outlives_the_process_and_a_new_reason(path: Path) -> None:
    began = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
    times = iter([began, datetime(2026, 2, 2, tzinfo=timezone.utc)])
    latch = SafetyLatch(path, now=lambda: next(times))
    for reason in ('e-stop pressed', 'e-stop pressed; tilt'):
        latch.set(reason)
        latch.save()
        again = SafetyLatch(path)
        assert (again.reason, again.since) == (reason, began)
        again.save()  # as an agent does that ends while the latch holds
        assert SafetyLatch(path).since == began


WAIT_S = 20.0


class SlowDisk(TurnCheckpointer):
    """It keeps what it was given, and waits until it is set free."""

    def __init__(self) -> None:
        super().__init__(':memory:')
        self.states: list[BrainState] = []
        self.begun, self.free = threading.Event(), threading.Event()

    def put(self, config: Any, checkpoint: Any, metadata: Any, versions: Any, /) -> Any:
        self.begun.set()
        assert self.free.wait(WAIT_S), 'nobody sets the disk free'
        self.states.append(checkpoint['channel_values']['brain'])
        return super().put(config, checkpoint, metadata, versions)


def stored(file: Path) -> BrainState | None:
    """What another process finds."""
    checkpoint = KernelCheckpoint(lambda: TurnCheckpointer(file), lambda error: None)
    found = checkpoint.open()
    checkpoint.close()
    return found


@given(states())
def test_the_durable_part_has_the_mode_the_latch_the_task_and_the_log(state: BrainState) -> None:
    part = durable_part(state)
    assert part.robot.safety_latch == state.robot.safety_latch
    assert part.trace == state.trace
    for name in ('mode', 'mode_reason', 'active_task_id'):
        assert getattr(part.tasks, name) == getattr(state.tasks, name)
    assert part == durable_part(part)


def test_a_slow_disk_holds_up_no_tick_and_gets_the_newest_state() -> None:
    disk = SlowDisk()
    checkpoint = KernelCheckpoint(lambda: disk, lambda error: None)
    assert checkpoint.open() is None
    checkpoint.record(BrainState())
    assert disk.begun.wait(WAIT_S)
    for number in range(50):
        tasks = TasksState(active_task_id=f't{number}')
        checkpoint.record(BrainState(tasks=tasks))  # returns while the disk hangs
    disk.free.set()
    checkpoint.close()
    assert [state.tasks.active_task_id for state in disk.states] == [None, 't49']


# --- in the runtime --------------------------------------------------------------------------


def test_a_restart_tells_how_the_last_run_ended(tmp_path: Path) -> None:
    with RuntimeBench(tmp_path) as bench:
        press(bench)
        bench.mode('SAFE')
    found = stored(tmp_path / 'tasks.db.kernel')
    assert found is not None
    assert (found.tasks.mode, found.robot.safety_latch) == (Mode.SAFE, 'e-stop pressed')
    with RuntimeBench(tmp_path) as bench:
        bench.replies('The last run ended in SAFE: e-stop pressed')
        bench.console.handle_line(':clear')
        bench.replies('cleared: e-stop pressed')
    with RuntimeBench(tmp_path) as bench:
        bench.runtime.call(settle())
        assert bench.runtime.state.tasks.mode is Mode.IDLE
        assert not any('last run' in line for line in bench.traced())


@pytest.mark.parametrize('damage', ['', 'no database' * 100])
def test_a_lost_or_damaged_checkpoint_loosens_no_latch(tmp_path: Path, damage: str) -> None:
    with RuntimeBench(tmp_path) as bench:
        press(bench)
        bench.mode('SAFE')
    for left in tmp_path.glob('tasks.db.kernel*'):
        left.unlink()
    if damage:
        (tmp_path / 'tasks.db.kernel').write_text(damage)
    with RuntimeBench(tmp_path) as bench:
        bench.mode('SAFE')
        assert bench.runtime.state.robot.safety_latch == 'e-stop pressed'
        if damage:
            bench.replies("The kernel's state cannot be kept in")


def test_a_safe_mode_without_a_latch_ends_with_its_cause(tmp_path: Path) -> None:
    saver = TurnCheckpointer(tmp_path / 'tasks.db.kernel')
    checkpoint = KernelCheckpoint(lambda: saver, lambda error: None)
    checkpoint.open()
    silent = TasksState(mode=Mode.SAFE, mode_reason='adapter is silent')
    checkpoint.record(BrainState(tasks=silent))
    checkpoint.close()
    with RuntimeBench(tmp_path) as bench:
        bench.replies('The last run ended in SAFE: adapter is silent')
        bench.mode('IDLE')
