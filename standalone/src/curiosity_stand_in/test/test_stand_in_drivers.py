# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


from __future__ import annotations

from functools import partial

from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_stand_in.drivers import DemoRover, MOTIONS, RunDemo
from curiosity_stand_in.faults import SERVICES
from curiosity_stand_in.kinematics import FORWARD, LEFT
from hypothesis import given
from hypothesis import strategies as st
import pytest

THRESHOLDS = load_config().thresholds
STANDS = (0.0, 0.0)


def test_it_repeats_its_twist_until_the_stop_which_sends_one_zero() -> None:
    sent: list[tuple[float, float]] = []
    run_demo = RunDemo(lambda x, z: sent.append((x, z)))
    run_demo.repeat()
    assert sent == []  # it has none yet
    run_demo.effects['move_forward']()
    assert sent == []  # the timer sends it
    run_demo.repeat()
    run_demo.repeat()
    run_demo.effects['turn_left']()
    run_demo.repeat()
    run_demo.effects['move_stop']()
    run_demo.repeat()
    assert sent == [FORWARD, FORWARD, LEFT, STANDS]


def test_every_service_of_the_demo_answers_at_once() -> None:
    answers: list[str] = []
    rover = DemoRover(THRESHOLDS)
    for service in SERVICES:
        rover.call(service, partial(answers.append, service))
        assert answers[-1] == service
    with pytest.raises(KeyError, match='fly'):
        rover.call('fly')


@given(st.lists(st.sampled_from([*MOTIONS, 'move_stop']), min_size=1, max_size=6))
def test_a_node_that_hangs_keeps_its_queue_and_serves_it_in_order(calls: list[str]) -> None:
    answers: list[str] = []
    rover = DemoRover(THRESHOLDS)
    rover.drive.hanging = True
    for service in calls:
        rover.call(service, partial(answers.append, service))
    assert not rover.advance_to(3.0).moves
    assert answers == []
    rover.drive.hanging = False
    state = rover.advance_to(6.0)
    assert answers == calls
    assert rover.run_demo.motion == calls[-1].replace('move_stop', '')
    assert state.moves == (calls[-1] != 'move_stop')


def test_the_wheels_keep_the_twist_of_a_node_that_hangs_and_a_foreign_zero_stops_them() -> None:
    rover = DemoRover(THRESHOLDS)
    rover.call('move_forward')
    rover.advance_to(2.0)
    rover.drive.hanging = True
    rover.call('move_stop')
    assert rover.advance_to(10.0).moves
    rover.body.drive(*STANDS)
    assert not rover.advance_to(12.0).moves
    rover.call('mast_close')  # another node
    assert rover.advance_to(15.0).joints.fold == pytest.approx(1.57)


def test_a_foreign_zero_does_not_stop_a_node_that_repeats_its_twist() -> None:
    rover = DemoRover(THRESHOLDS)
    rover.call('move_forward')
    rover.advance_to(2.0)
    rover.body.drive(*STANDS)
    assert rover.advance_to(5.0).moves
