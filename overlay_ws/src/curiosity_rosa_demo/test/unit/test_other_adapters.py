# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Two adapters in front of one rover notice each other, and neither moves it."""

from __future__ import annotations

from curiosity_rosa_demo.adapter.mast import MastAction
from curiosity_rosa_demo.adapter.motion_guard import MotionRefused
from curiosity_rosa_demo.adapter.other_adapters import (
    contest,
    decode_presence,
    encode_presence,
    MAX_AGE_S,
    OtherAdapters,
    Presence,
)
from curiosity_rosa_demo.domain.models import OTHER_ADAPTER
from guard_world import World
from hypothesis import given
from hypothesis import strategies as st
import pytest

OWN = Presence('/adapter', 'a', '/cmd_vel')
TWIN = Presence('/adapter', 'b', '/cmd_vel')
REASON = f'{OTHER_ADAPTER}: /r1/adapter'

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


def test_a_twin_has_the_same_name() -> None:
    others = OtherAdapters(OWN)
    others.record(TWIN, 0.0)
    assert contest(others.names(0.0)) == f'{OTHER_ADAPTER}: /adapter'


@pytest.fixture
def world() -> World:
    """A rover that stands with its mast closed."""
    world = World()
    world.step(2.0)
    assert world.ask_mast(MastAction.CLOSE) == ''
    world.step(3.0)
    assert world.guard.move_allowed
    return world


def test_another_adapter_ends_a_motion_and_forbids_the_next(world: World) -> None:
    assert world.ask_move() == ''
    world.step(1.0)
    assert world.moving
    world.guard.set_other_adapters(('/r1/adapter',))
    world.step(2.0)
    assert not world.moving
    assert not world.guard.move_allowed
    assert world.ask_move() == REASON
    assert world.guard.take_alarms() == [f'{REASON}; the rover was stopped']


@pytest.mark.parametrize('action', [MastAction.OPEN, MastAction.ROTATE])
def test_another_adapter_keeps_the_mast_down(world: World, action: MastAction) -> None:
    world.guard.set_other_adapters(('/r1/adapter',))
    world.step(2.0)
    with pytest.raises(MotionRefused, match=REASON):
        world.guard.check_mast(action)
    world.guard.check_mast(MastAction.CLOSE)


def test_once_it_has_left_the_rover_may_move_again(world: World) -> None:
    world.guard.set_other_adapters(('/r1/adapter',))
    world.step(2.0)
    world.guard.set_other_adapters(())
    assert world.guard.last_error == ''
    assert world.guard.move_allowed
    assert world.ask_move() == ''
