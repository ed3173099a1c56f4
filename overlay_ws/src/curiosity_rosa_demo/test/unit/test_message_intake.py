# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a message on a topic, where any node may publish, can do to the agent."""

from __future__ import annotations

from pathlib import Path

from autonomy_world import AutonomyBench
from curiosity_rosa_demo.agent.topics.telemetry import MessageIntake, WINDOW_S
from curiosity_rosa_demo.infra.loss_counter import LossCounter
from hypothesis import given
from hypothesis import strategies as st

TOPIC = '/agent/messages'


class Intake:
    """An intake with a clock, and what came of its messages."""

    def __init__(self, per_min: int) -> None:
        self.at_s = 0.0
        self.posted_s: list[float] = []
        self.said: list[str] = []
        self.losses = LossCounter()
        self.intake = MessageIntake(
            TOPIC,
            per_min,
            post=lambda text: self.posted_s.append(self.at_s),
            say=self.said.append,
            losses=self.losses,
            clock=lambda: self.at_s,
        )


@given(st.integers(1, 8), st.lists(st.floats(0.0, 40.0), max_size=80))
def test_no_minute_has_more_messages_than_it_may(per_min: int, pauses: list[float]) -> None:
    world = Intake(per_min)
    for pause in pauses:
        world.at_s += pause
        world.intake.take('hello')
    for at_s in world.posted_s:
        within = [each for each in world.posted_s if at_s <= each < at_s + WINDOW_S]
        assert len(within) <= per_min
    dropped = world.losses.counts().get(TOPIC, 0)
    assert dropped + len(world.posted_s) == len(pauses)


def test_a_flood_is_told_once_and_its_size_afterwards() -> None:
    world = Intake(2)
    for _ in range(1000):
        world.at_s += 0.1
        world.intake.take('hello')
    assert world.said == [f'! More than 2 messages a minute on {TOPIC}: the others are dropped']
    dropped = world.losses.counts()[TOPIC]
    world.at_s += WINDOW_S + 1.0
    world.intake.take('hello')
    assert world.said[1:] == [f'! {dropped} messages on {TOPIC} had no effect: they came too fast']
    assert len(world.said) == 2


def test_a_message_that_may_not_interrupt_is_only_said(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path) as bench:
        bench.on()
        bench.goes_on('survey')
        begun = bench.session.stops
        assert bench.autonomy.post_message('rain is coming', interrupts=False).ok
        bench.until(lambda: bench.spoken == ['A message came: rain is coming'], 'it to be spoken')
        bench.pass_time(60.0)
        assert bench.activity == 'survey'
        assert bench.states('react') == ['ACTIVE']
        assert bench.session.stops == begun
        assert not any('by the emergency' in each.done for each in bench.decisions())
