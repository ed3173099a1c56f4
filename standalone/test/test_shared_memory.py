"""Files that Fast DDS leaves in shared memory: held ones stay, abandoned ones go."""

from __future__ import annotations

import fcntl
import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.shared_memory import sweep

HOLD = """
import fcntl, sys
file = open(sys.argv[1], 'rb')
fcntl.flock(file, int(sys.argv[2]))
print('held', flush=True)
sys.stdin.read()
"""


def leave(folder: Path, name: str, *, kind: str = 'el') -> list[Path]:
    """The three files of one segment or port."""
    files = [folder / name, folder / f'{name}_{kind}', folder / f'sem.{name}_mutex']
    for file in files:
        file.write_bytes(b'x')
    return files


@pytest.mark.parametrize(('kind', 'how'), [('el', fcntl.LOCK_EX), ('sl', fcntl.LOCK_SH)])
def test_held_files_stay_until_their_owner_is_killed(tmp_path: Path, kind: str, how: int) -> None:
    files = leave(tmp_path, 'fastrtps_port7400', kind=kind)
    owner = subprocess.Popen(
        [sys.executable, '-c', HOLD, str(tmp_path / f'fastrtps_port7400_{kind}'), str(how)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert owner.stdin is not None
    assert owner.stdout is not None
    try:
        assert owner.stdout.readline() == b'held\n'
        assert sweep(tmp_path) == 0
        assert all(file.exists() for file in files)
    finally:
        owner.kill()
        owner.wait(timeout=10)
        owner.stdin.close()
        owner.stdout.close()
    assert sweep(tmp_path) == 3
    assert not any(file.exists() for file in files)


def test_a_folder_that_is_not_there_is_no_trouble(tmp_path: Path) -> None:
    assert sweep(tmp_path / 'nothing') == 0


def test_a_file_without_a_lock_stays_while_somebody_has_it_mapped(tmp_path: Path) -> None:
    port, other = tmp_path / 'fastrtps_port7411', tmp_path / 'fastrtps_port7413'
    for file in (port, other):
        file.write_bytes(b'x' * 4096)
    with port.open('rb') as held, mmap.mmap(held.fileno(), 0, access=mmap.ACCESS_READ):
        assert sweep(tmp_path) == 1
        assert port.exists()
    assert not other.exists()
    assert sweep(tmp_path) == 1
    assert not port.exists()


def test_what_is_not_ours_to_remove_stays(tmp_path: Path) -> None:
    strangers = [tmp_path / name for name in ('sem.other', 'pulse_el', 'lttng-ust-wait-6', 'x_sl')]
    for file in strangers:
        file.touch()
    folder = tmp_path / 'fastrtps_folder_el'
    folder.mkdir()
    assert sweep(tmp_path) == 0
    assert all(file.exists() for file in [*strangers, folder])


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(held=st.sets(st.integers(0, 6)), present=st.sets(st.integers(0, 6)))
def test_exactly_the_abandoned_ones_go(tmp_path: Path, held: set[int], present: set[int]) -> None:
    files = {number: leave(tmp_path, f'fastrtps_{number:016x}') for number in present}
    locks = []
    for number in held & present:
        descriptor = os.open(tmp_path / f'fastrtps_{number:016x}_el', os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        locks.append(descriptor)
    try:
        assert sweep(tmp_path) == 3 * len(present - held)
        for number, each in files.items():
            assert all(file.exists() is (number in held) for file in each)
    finally:
        for descriptor in locks:
            os.close(descriptor)
        sweep(tmp_path)
