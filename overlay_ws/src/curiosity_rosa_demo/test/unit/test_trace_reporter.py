# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the console says of a status."""

from __future__ import annotations

from curiosity_rosa_demo.trace.reporter import status_text
import pytest

FULL = {
    'mast_is_open': True,
    'mast': 'open',
    'move_allowed': False,
    'moving': False,
    'last_error_reason': 'Need to close mast',
    'rover_x': 1.4567,
    'rover_y': -0.5,
    'yaw_rad': 1.5708,
}


@pytest.mark.parametrize(
    ('change', 'text'),
    [
        ({}, 'x 1.46 m, y -0.50 m, heading 90 deg; standing still; mast open, may not drive'),
        ({'rover_x': None}, 'position unknown'),
        ({'moving': True}, 'moving'),
        ({'mast': 'closed', 'move_allowed': True}, 'mast closed, may drive'),
        ({'appendages': {'arm': 'stowed'}}, 'mast open, arm stowed, may not drive'),
        ({'real_time_factor': 0.25}, 'may not drive; real-time factor 0.25; last: '),
        ({'real_time_factor': None}, 'may not drive; last: '),
        ({}, 'last: Need to close mast'),
    ],
)
def test_a_status_is_told_in_words(change: dict[str, object], text: str) -> None:
    assert text in status_text({**FULL, **change})


def test_an_empty_status_is_told_as_unknown() -> None:
    told = 'position unknown; standing still; mast unknown, may not drive'
    assert status_text({}) == told
