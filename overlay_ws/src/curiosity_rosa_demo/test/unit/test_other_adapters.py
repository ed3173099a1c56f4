# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which other adapters live in front of the same rover; the guard has its own tests."""

from __future__ import annotations

from curiosity_rosa_demo.adapter.other_adapters import (
    decode_presence,
    encode_presence,
    MAX_AGE_S,
    OtherAdapters,
    Presence,
)
from hypothesis import given
from hypothesis import strategies as st
import pytest

OWN = Presence('/adapter', 'a', '/cmd_vel')

presences = st.builds(
    Presence,
    node=st.sampled_from(['/adapter', '/r1/adapter']),
    identity=st.sampled_from(['a', 'b', 'c']),
    rover=st.sampled_from(['/cmd_vel', '/r1/cmd_vel']),
)


@given(st.lists(st.tuples(presences, st.floats(0.0, 2 * MAX_AGE_S)), max_size=20))
def test_it_names_exactly_the_living_others_of_its_own_rover(
    heard: list[tuple[Presence, float]],
) -> None:
    others, now = OtherAdapters(OWN), 0.0
    last: dict[str, tuple[str, float]] = {}
    for presence, wait_s in heard:
        now += wait_s
        others.record(presence, now)
        if presence.rover == OWN.rover and presence.identity != OWN.identity:
            last[presence.identity] = (presence.node, now)
        alive = sorted(node for node, at in last.values() if now - at <= MAX_AGE_S)
        assert list(others.names(now)) == alive
    assert others.names(now + MAX_AGE_S + 0.1) == ()


@given(presences)
def test_a_presence_survives_its_message(presence: Presence) -> None:
    assert decode_presence(encode_presence(presence)) == presence


@pytest.mark.parametrize(
    'text', ['', '{}', '[]', '7', '{"node": 1, "identity": "b", "rover": "/cmd_vel"}', '[' * 9999]
)
def test_a_text_that_is_no_presence_is_ignored(text: str) -> None:
    assert decode_presence(text) is None
