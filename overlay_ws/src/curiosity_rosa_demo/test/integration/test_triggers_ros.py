# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A message on a real topic fires a real task; a wrong type or field is told at the start."""

from __future__ import annotations

import asyncio
import re

from curiosity_rosa_demo.agent.interfaces.triggers import topics
from curiosity_rosa_demo.agent.interfaces.triggers.board import TriggerBoard
from curiosity_rosa_demo.agent.interfaces.triggers.door import TriggerDoor
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.infra.config.triggers import TopicField, TriggerConfig
from curiosity_rosa_demo.infra.config_loader import ConfigError
from fake_robot import FakeRobot
from harness import Sandbox, wait_until
import pytest
from sensor_msgs.msg import BatteryState

pytestmark = pytest.mark.ros
KIND = 'sensor_msgs/msg/BatteryState'
LOW = TriggerConfig(
    name='low',
    watch=TopicField(topic='/battery_state', type=KIND, field='percentage'),
    below=0.3,
    skill='mast_close',
)


def test_a_message_fires_one_task(sandbox: Sandbox) -> None:
    board = TriggerBoard([LOW])
    topics.subscribe(sandbox.node, [LOW], board.put)
    publisher = sandbox.node.create_publisher(BatteryState, '/battery_state', 1)
    with FakeRobot() as robot:
        robot.paused = True
        events: list[str] = []
        loop = robot.do(_running_loop())
        door = TriggerDoor(
            board, robot, loop, facts=dict, trace=lambda kind, message, **_: events.append(message)
        )

        def tells(charge: float, words: str) -> bool:
            publisher.publish(BatteryState(percentage=charge))
            loop.call_soon_threadsafe(door.on_tick, None)
            return any(words in each for each in events)

        wait_until(lambda: tells(0.9, 'low armed'), 'the trigger to arm')
        wait_until(lambda: tells(0.1, 'low fired'), 'the trigger to fire')
        wait_until(lambda: robot.do(_tasks(robot)), 'the task')
        events.clear()
        wait_until(lambda: tells(0.9, 'low armed'), 'the trigger to arm again')
        wait_until(lambda: tells(0.1, 'low suppressed: min_interval_s'), 'no second task')
        (task,) = robot.do(_tasks(robot))
        assert (task.name, task.metadata['origin']) == ('mast_close', 'trigger')
        robot.paused = False


async def _running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


async def _tasks(robot: FakeRobot) -> list[Task]:
    return robot.runner.list_tasks()


def test_what_cannot_be_read_is_told_at_the_start() -> None:
    for kind, field, words in (
        ('no_such_msgs/msg/Thing', 'x', "low.watch.type = 'no_such_msgs/msg/Thing': this type is"),
        (KIND, 'charge_pct', "BatteryState has no field 'charge_pct'; it has header, voltage"),
        (KIND, 'header', 'header is std_msgs/Header; name a field that is a number'),
        (KIND, 'cell_voltage', 'cell_voltage is sequence<float>; name a field'),
    ):
        with pytest.raises(ConfigError, match=re.escape(words)):
            topics.message_type('low', TopicField(topic='/x', type=kind, field=field))
