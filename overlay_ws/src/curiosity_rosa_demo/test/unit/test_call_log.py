# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whose calls of /adapter/* the adapter reports as not the agent's."""

from __future__ import annotations

from collections import Counter

from curiosity_rosa_demo.adapter.call_log import Call, caller_text, CallLog, CLAIM_WAIT_S
from curiosity_rosa_demo.domain.heartbeat import decode_calls, encode_heartbeat
from hypothesis import given
from hypothesis import strategies as st
import pytest

STOP, DRIVE, RQT = '/adapter/move_stop', '/adapter/move_forward', '/rqt'
BEAT_S = 0.2


class World:
    """An adapter, an agent that beats while it lives, and nodes that call."""

    def __init__(self) -> None:
        self.log, self.now, self.sent = CallLog(), 0.0, Counter[str]()
        self.agent_lives, self.tick = True, 0
        self.foreign: list[Call] = []

    def wait(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now += BEAT_S
            if self.agent_lives:
                self.tick += 1
                self.log.record_sent(self.tick, self.sent, self.now)
            self.foreign += self.log.take_foreign(self.now)

    def arrives(self, service: str, *others: str, agent: bool = True) -> Call:
        call = self.log.begin(service, self.now)
        self.log.name(service, has_agent=agent, others=others, until=self.now)
        call.answer = ''
        return call

    def agent_calls(self, service: str, *others: str) -> Call:
        self.sent[service] += 1
        return self.arrives(service, *others)


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from([STOP, DRIVE]), st.floats(0.0, 3.0)), max_size=30
    )
)
def test_as_many_calls_are_reported_as_others_have_made(
    steps: list[tuple[bool, str, float]],
) -> None:
    world, made = World(), Counter[str]()
    world.wait(1.0)
    for is_agent, service, pause_s in steps:
        if is_agent:
            world.agent_calls(service, RQT)
        else:
            world.arrives(service, RQT)
            made[service] += 1
        world.wait(pause_s)
    world.wait(2 * CLAIM_WAIT_S)
    assert Counter(call.service for call in world.foreign) == made


@pytest.mark.parametrize(('wait_s', 'kept'), [(0.5, True), (CLAIM_WAIT_S + 1.0, False)])
def test_a_claim_waits_for_its_call_but_that_of_a_lost_request_not_for_ever(
    wait_s: float, kept: bool
) -> None:
    world = World()
    world.wait(1.0)
    world.sent[DRIVE] += 1
    world.wait(wait_s)
    call = world.arrives(DRIVE, RQT)
    world.wait(2 * CLAIM_WAIT_S)
    assert world.foreign == ([] if kept else [call])


def test_calls_of_an_agent_that_restarts_are_its_own() -> None:
    world = World()
    world.agent_calls(STOP)
    world.wait(5.0)
    world.sent.clear()
    world.tick = 0
    world.agent_calls(STOP)
    world.wait(5.0)
    assert world.foreign == []


def test_numbers_from_before_the_adapter_started_claim_nothing() -> None:
    world = World()
    world.sent[DRIVE] = 7
    world.wait(1.0)
    call = world.arrives(DRIVE, RQT)
    world.wait(5.0)
    assert world.foreign == [call]


def test_a_call_is_reported_with_its_answer_only() -> None:
    world = World()
    call = world.arrives(DRIVE, RQT)
    call.answer = None
    world.wait(10.0)
    assert world.foreign == []
    call.answer = 'Move in progress'
    world.wait(1.0)
    assert world.foreign == [call]


@pytest.mark.parametrize(
    ('lives', 'agent', 'others', 'reported'),
    [
        (True, True, [RQT], True),
        (True, True, [], True),  # a node that the graph does not show yet
        (False, True, [RQT], True),
        (False, True, [], False),  # an agent on its way out: nobody is accused
        (False, False, [], True),
    ],
)
def test_a_call_that_no_agent_claims(
    lives: bool, agent: bool, others: list[str], reported: bool
) -> None:
    world = World()
    world.agent_lives = lives
    call = world.arrives(STOP, *others, agent=agent)
    world.wait(5.0)
    assert world.foreign == ([call] if reported else [])


@pytest.mark.parametrize(
    ('others', 'text'),
    [([], 'an unknown node'), ([RQT], '/rqt'), ([RQT, '/cli'], 'one of /cli, /rqt')],
)
def test_the_caller_is_named_as_far_as_it_is_known(others: list[str], text: str) -> None:
    assert caller_text(others) == text


@given(st.dictionaries(st.text(), st.integers(min_value=0)))
def test_the_heartbeat_carries_the_numbers(calls: dict[str, int]) -> None:
    assert decode_calls(encode_heartbeat(1, '', calls)) == calls


@pytest.mark.parametrize(
    ('text', 'calls'),
    [
        *((text, None) for text in ('', '[]', '{"tick": 1}', '{"calls": 3}')),
        ('{"calls": {"a": -1, "b": true, "c": "1", "d": 2}}', {'d': 2}),
    ],
)
def test_what_is_no_number_of_calls_is_left_out(text: str, calls: dict[str, int] | None) -> None:
    assert decode_calls(text) == calls
