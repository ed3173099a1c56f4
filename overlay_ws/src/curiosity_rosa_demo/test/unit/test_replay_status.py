# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the status of a replay says."""

from __future__ import annotations

import json
from typing import Any

from curiosity_rosa_demo.recording.replay.status import MAX_STATUS_CHARS, playing_text
from hypothesis import given
from hypothesis import strategies as st
import pytest

PLAYING = {'state': 'playing', 'file': 'run.mcap', 'at_s': 12.3, 'length_s': 60.0, 'speed': 2.0}


@pytest.mark.parametrize(
    ('change', 'text'),
    [
        ({}, 'run.mcap, 12 s of 60 s, 2 times as fast as recorded'),
        ({'file': 'a\nb'}, 'a b, 12 s of 60 s, 2 times as fast as recorded'),
        ({'state': 'ended'}, ''),
        ({'state': 'stopped'}, ''),
        ({'at_s': None}, ''),
        ({'why': 'x' * MAX_STATUS_CHARS}, ''),
        ({'speed': float('nan')}, ''),
    ],
)
def test_only_a_replay_that_plays_has_a_text(change: dict[str, Any], text: str) -> None:
    assert playing_text(json.dumps({**PLAYING, **change})) == text


@given(st.text() | st.recursive(st.none() | st.text(), st.lists).map(json.dumps))
def test_foreign_text_never_raises(text: str) -> None:
    assert playing_text(text) == ''
