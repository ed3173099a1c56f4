# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The wheels are told to stand, each time that a zero Twist is due."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.adapter.standstill_command import StandstillCommand
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.loss_counter import LossCounter
from geometry_msgs.msg import Twist
import pytest
from rclpy._rclpy_pybind11 import RCLError

ROVER = load_config().topics.rover
TWIST, WHEELS = ROVER.cmd_vel, ROVER.wheel_commands


class Transport:
    """A node, and what its publishers sent by topic. Those of ``saturated`` fail."""

    def __init__(self, *saturated: str) -> None:
        self.sent, self.saturated = dict[str, list[Any]](), saturated

    def create_publisher(self, _type: type, topic: str, _qos: object) -> Publisher:
        self.sent[topic] = []
        return Publisher(self, topic)


class Publisher:
    def __init__(self, transport: Transport, topic: str) -> None:
        self.transport, self.topic = transport, topic

    def publish(self, message: Any) -> None:
        if self.topic in self.transport.saturated:
            raise RCLError('Failed to publish: cannot publish data')
        self.transport.sent[self.topic].append(message)


def command(
    transport: Any, wheels: int = 6, topic: str = WHEELS, losses: LossCounter | None = None
) -> StandstillCommand:
    topics = ROVER.model_copy(update={'wheel_commands': topic})
    return StandstillCommand.create(
        transport, topics, wheels=wheels, losses=losses or LossCounter()
    )


@pytest.mark.parametrize('wheels', [1, 4, 6])
def test_each_wheel_gets_a_zero_with_the_zero_twist(wheels: int) -> None:
    transport = Transport()
    assert command(transport, wheels).publish()
    assert transport.sent[TWIST] == [Twist()]
    assert [list(each.data) for each in transport.sent[WHEELS]] == [[0.0] * wheels]


@pytest.mark.parametrize(('wheels', 'topic'), [(0, WHEELS), (6, '')])
def test_a_robot_without_the_topic_gets_zero_twists_alone(wheels: int, topic: str) -> None:
    transport = Transport()
    assert command(transport, wheels, topic).publish()
    assert transport.sent == {TWIST: [Twist()]}


@pytest.mark.parametrize(('lost', 'kept'), [(TWIST, WHEELS), (WHEELS, TWIST)])
def test_the_loss_of_one_keeps_the_other_and_is_told(lost: str, kept: str) -> None:
    transport, losses = Transport(lost), LossCounter()
    assert not command(transport, losses=losses).publish()
    assert (len(transport.sent[kept]), len(transport.sent[lost])) == (1, 0)
    assert losses.counts() == {lost: 1}
