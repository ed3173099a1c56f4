# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Only what this run's dead processes left in shared memory is removed."""

from __future__ import annotations

import fcntl
import mmap
import os
from pathlib import Path
import time

from runner.shared_memory import remove_dead_segments

SEGMENT = 'fastrtps_bc3133a298e0a96e'
PORT = ['fastrtps_port7412', 'fastrtps_port7412_el', 'sem.fastrtps_port7412_mutex']


def make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_bytes(bytes(mmap.PAGESIZE))


def test_what_nobody_has_is_removed_with_its_lock_and_its_semaphore(tmp_path: Path) -> None:
    make(tmp_path, *PORT, SEGMENT, 'fastdds_port7412', 'fastrtps_other', 'psm_1')
    removed = remove_dead_segments(time.time() - 60.0, tmp_path)
    assert sorted(removed) == sorted([*PORT, SEGMENT, 'fastdds_port7412'])
    assert sorted(os.listdir(tmp_path)) == ['fastrtps_other', 'psm_1']


def test_what_a_living_process_has_locked_stays(tmp_path: Path) -> None:
    make(tmp_path, *PORT)
    with (tmp_path / PORT[1]).open('rb') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert remove_dead_segments(0.0, tmp_path) == []
    assert sorted(remove_dead_segments(0.0, tmp_path)) == sorted(PORT)


def test_what_a_living_process_has_mapped_stays(tmp_path: Path) -> None:
    make(tmp_path, SEGMENT)
    with (tmp_path / SEGMENT).open('r+b') as file, mmap.mmap(file.fileno(), 0):
        assert remove_dead_segments(0.0, tmp_path) == []
    assert remove_dead_segments(0.0, tmp_path) == [SEGMENT]


def test_what_is_older_than_the_run_stays_and_no_folder_is_no_fault(tmp_path: Path) -> None:
    make(tmp_path, SEGMENT)
    assert remove_dead_segments(time.time() + 60.0, tmp_path) == []
    assert remove_dead_segments(0.0, tmp_path / 'none') == []
