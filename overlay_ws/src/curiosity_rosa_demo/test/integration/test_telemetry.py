# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The kernel's readings, from publishers of every kind."""

from __future__ import annotations

import asyncio
from contextlib import suppress
import json
import math
from typing import Any
from uuid import uuid4

from curiosity_rosa_demo.agent.kernel.loop import KernelLoop
from curiosity_rosa_demo.agent.kernel.sense import reading_problem
from curiosity_rosa_demo.agent.topics.telemetry import TelemetrySource
from curiosity_rosa_demo.domain.brain_state import Reading, Telemetry
from curiosity_rosa_demo.domain.serde import from_json, to_json
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import history_qos, make_transform_source
from harness import Sandbox, wait_until
from nav_msgs.msg import Odometry
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool, String

pytestmark = pytest.mark.ros

STANDING = {'mast': 'closed', 'moving': False, 'last_error_reason': '', 'rover_x': 1.0}


class Listener:
    """A source, how often it was urgent, and publishers to make it so."""

    def __init__(self, box: Sandbox, config: Config) -> None:
        self._box = box
        self.rover, self.status = config.topics.rover, config.topics.status
        self.urgent = 0
        self.kernel = KernelLoop(
            readings=lambda: self.source.snapshot(),
            tasks=list,
            question=lambda: None,
            act=lambda *_: None,
            tick_s=0.01,
            rules=config.thresholds,
        )
        transforms = make_transform_source(box.node, config)
        self.source = TelemetrySource(box.node, config, transforms, on_urgent=self._count)

    def _count(self, violation: str = '') -> None:
        self.urgent += 1
        if violation:
            self.kernel.violate(violation)

    def publisher(self, message: type, topic: str, qos: Any = 10) -> Any:
        publisher = self._box.node.create_publisher(message, topic, qos)
        wait_until(lambda: publisher.get_subscription_count() > 0, f'a listener on {topic}')
        return publisher

    def value(self, source: str) -> dict[str, Any] | None:
        reading = self.source.snapshot().get(source)
        return None if reading is None else reading.value

    def wait_for(self, source: str, **wanted: Any) -> Reading:
        def look() -> bool:
            value = self.value(source) or {}
            return all(value.get(key) == number for key, number in wanted.items())

        wait_until(lambda: self.value(source) is not None and look(), f'{source} with {wanted}')
        reading = self.source.snapshot()[source]
        # It passes through the kernel's state: JSON has to carry it.
        telemetry = Telemetry(readings={source: reading})
        assert from_json(Telemetry, to_json(telemetry)) == telemetry
        return reading


def own_config() -> Config:
    """Names that no test before this one used: what is latched may arrive late."""
    config = load_config()
    tag = f'/t{uuid4().hex[:8]}'
    topics = {
        name: section.model_copy(
            update={key: tag + topic for key, topic in section.model_dump().items()}
        )
        for name, section in (('rover', config.topics.rover), ('status', config.topics.status))
    }
    return config.model_copy(update={'topics': config.topics.model_copy(update=topics)})


@pytest.fixture
def listener(box: Sandbox) -> Listener:
    return Listener(box, own_config())


def test_the_rovers_own_messages_become_readings_that_the_kernel_takes(box: Sandbox) -> None:
    listener = Listener(box, load_config())
    rover = box.stand_in(initial_x=3.0, battery=0.5, battery_drain_per_s=0.0, e_stop=True)
    adapter = box.overlay('adapter_node')
    sources = {'odometry', 'battery', 'scan', 'estop', 'adapter'}
    wait_until(lambda: set(listener.source.snapshot()) == sources, 'all five')
    for source, reading in listener.source.snapshot().items():
        assert reading_problem(source, reading.value) == ''
    assert listener.wait_for('battery').value == {'fraction': 0.5}
    assert listener.wait_for('odometry').value['x'] == 3.0
    assert listener.wait_for('estop').value == {'pressed': True}
    listener.wait_for('adapter', mast='open', moving=False)
    before = listener.source.snapshot()
    wait_until(
        lambda: all(
            listener.source.snapshot()[source].received_s > before[source].received_s
            for source in sources - {'estop'}
        ),
        'newer readings, though nothing changes',
    )
    after = listener.source.snapshot()
    assert all(after[source].value == before[source].value for source in ('odometry', 'scan'))
    assert listener.urgent >= 2
    adapter.end()
    rover.end()


def test_what_json_cannot_carry_is_no_number(listener: Listener) -> None:
    odometry = listener.publisher(Odometry, listener.rover.odometry)
    message = Odometry()
    message.pose.pose.position.x, message.pose.pose.position.y = math.nan, -2.0
    odometry.publish(message)
    value = listener.wait_for('odometry', x=None, y=-2.0).value
    assert 'x is None' in reading_problem('odometry', value)
    battery = listener.publisher(BatteryState, listener.rover.battery_state)
    battery.publish(BatteryState(percentage=math.nan))
    listener.wait_for('battery', fraction=None)


def test_an_e_stop_is_heard_from_every_kind_of_publisher(box: Sandbox) -> None:
    for durability in (DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL):
        for reliability in (ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT):
            listener = Listener(box, own_config())
            qos = QoSProfile(depth=1, reliability=reliability, durability=durability)
            button = listener.publisher(Bool, listener.rover.e_stop, qos)
            button.publish(Bool(data=True))
            listener.wait_for('estop', pressed=True)
            button.publish(Bool(data=False))
            listener.wait_for('estop', pressed=False)
            wait_until(lambda: listener.urgent >= 2, 'both changes')  # noqa: B023
    config = own_config()
    pressed = box.node.create_publisher(Bool, config.topics.rover.e_stop, history_qos(1))
    pressed.publish(Bool(data=True))
    Listener(box, config).wait_for('estop', pressed=True)  # although it came before we listened


def test_a_press_that_is_over_before_the_next_tick_latches_safe(listener: Listener) -> None:
    button = listener.publisher(Bool, listener.rover.e_stop)
    for pressed in (True, False):
        button.publish(Bool(data=pressed))
    listener.wait_for('estop', pressed=False)
    with suppress(asyncio.TimeoutError):
        asyncio.run(asyncio.wait_for(listener.kernel.run(), 0.1))
    assert listener.kernel.state.robot.safety_latch == 'e-stop pressed'


def test_only_a_change_is_urgent(listener: Listener) -> None:
    button = listener.publisher(Bool, listener.rover.e_stop)
    button.publish(Bool(data=False))
    first = listener.wait_for('estop', pressed=False)
    wait_until(lambda: listener.urgent == 1, 'the first word to be urgent')
    button.publish(Bool(data=False))
    wait_until(
        lambda: listener.source.snapshot()['estop'].received_s > first.received_s, 'the second'
    )
    status = listener.publisher(String, listener.status.adapter, history_qos(1))
    for x in (1.0, 2.0):
        status.publish(String(data=json.dumps({**STANDING, 'rover_x': x})))
        listener.wait_for('adapter', rover_x=x)
    wait_until(lambda: listener.urgent >= 2, 'the first status to be urgent')
    status.publish(String(data=json.dumps({**STANDING, 'moving': True})))
    listener.wait_for('adapter', moving=True)
    wait_until(lambda: listener.urgent >= 3, 'the change to be urgent')
    assert listener.urgent == 3


def test_a_status_that_is_none_is_refused_by_the_kernel_and_harms_nobody(
    box: Sandbox, listener: Listener
) -> None:
    status = listener.publisher(String, listener.status.adapter, history_qos(1))
    for text in ('', '[1, 2]', '[' * 100_000, '{"mast": NaN}'):
        status.publish(String(data=text))
        wait_until(
            lambda: reading_problem('adapter', listener.value('adapter') or {'mast': 'closed'}),
            'the text',
        )
        status.publish(String(data=json.dumps(STANDING)))
        value = listener.wait_for('adapter', mast='closed').value
        assert reading_problem('adapter', value) == ''
    assert box.crashes == []
