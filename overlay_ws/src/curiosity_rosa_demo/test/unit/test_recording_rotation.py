# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Of a folder of recordings only our oldest ones are deleted."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

from curiosity_rosa_demo.recording.recorder import delete_surplus, recording_name, surplus
from hypothesis import given
from hypothesis import strategies as st
import pytest

BEGAN = datetime(2026, 11, 23, 8, 0, 0, tzinfo=timezone.utc)
recordings = st.tuples(st.integers(0, 10**8), st.integers(1, 12))  # seconds after BEGAN, number


def name_of(recording: tuple[int, int], domain: str = '0') -> str:
    return recording_name(BEGAN + timedelta(seconds=recording[0]), domain, recording[1])


@given(st.sets(recordings, max_size=15), st.sets(recordings), st.integers(0, 6))
def test_the_oldest_of_this_domain_beyond_the_limit_are_surplus(
    ours: set[tuple[int, int]], others: set[tuple[int, int]], max_files: int
) -> None:
    names = [*map(name_of, ours), *(name_of(each, '7') for each in others)]
    expected = [name_of(each) for each in sorted(ours)][: max(0, len(ours) - max_files)]
    assert surplus(names, '0', max_files) == expected


@pytest.mark.parametrize(
    'name',
    [
        'run.mcap',
        'run_20260101T000000Z_0.html',
        'run_20260101T000000Z_0.mcap.bak',
        'my_run_20260101T000000Z_0.mcap',
        'run_20260101T000000Z_0_best.mcap',
        'rosbag2_2026_01_01-00_00_00_0.mcap',
    ],
)
def test_any_other_file_is_never_surplus(name: str) -> None:
    assert surplus([name], '0', 0) == []


def test_the_new_file_stays_even_when_the_clock_went_back(tmp_path: Path) -> None:
    names = [name_of((day * 86_400, 1)) for day in range(5)]
    for name in (*names, 'notes.txt'):
        (tmp_path / name).touch()
    deleted = delete_surplus(tmp_path, '0', 3, spare=tmp_path / names[0])
    assert [path.name for path in deleted] == names[1:3]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        'notes.txt',
        *names[:1],
        *names[3:],
    ]
