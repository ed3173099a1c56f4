# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""/trace/events over real DDS, between two processes."""

from __future__ import annotations

from collections.abc import Iterator
import signal
import sys

from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import history_qos
from curiosity_rosa_demo.trace.trace_codec import decode, MAX_EVENT_BYTES
from harness import Process, Sandbox, wait_until
import pytest
from std_msgs.msg import String

pytestmark = pytest.mark.ros

# Publishes argv[2] events, then one more at each SIGUSR1.
SOURCE = """
import signal, sys
import rclpy
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.loss_counter import LossCounter
from curiosity_rosa_demo.infra.ros_io import TracePublisher
from curiosity_rosa_demo.trace.trace_codec import new_event

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
rclpy.init()
publisher = TracePublisher(rclpy.create_node('source'), load_config(sys.argv[1]), LossCounter())
count = int(sys.argv[2])
for number in range(count):
    publisher.publish(new_event(TraceKind.ACT, str(number), data={'text': '火' * 9000}))
print('sent', flush=True)
while True:
    signal.sigwait([signal.SIGUSR1])
    publisher.publish(new_event(TraceKind.ACT, str(count)))
    count += 1
"""
SIZE = 7


@pytest.fixture
def source(sandbox: Sandbox) -> Iterator[Process]:
    """A process that has sent 25 events through a history of SIZE."""
    config_dir = sandbox.config_dir(thresholds={'trace': {'buffer_size': SIZE}})
    assert load_config(config_dir).thresholds.trace.buffer_size == SIZE
    command = [sys.executable, '-c', SOURCE, config_dir, '25']
    process = Process(command, sandbox.env, sandbox.folder / 'source.log')
    try:
        wait_until(lambda: 'sent' in process.output(), 'the source to have sent')
        yield process
    finally:
        process.kill()


def test_a_late_subscriber_gets_the_last_events_and_then_the_new_ones(
    sandbox: Sandbox, source: Process
) -> None:
    received = sandbox.collect(String, '/trace/events', history_qos(SIZE))
    wait_until(lambda: len(received) >= SIZE, f'the last {SIZE} events')
    source.popen.send_signal(signal.SIGUSR1)
    wait_until(lambda: len(received) > SIZE, 'the next event')

    events = [decode(message.data) for message in received]
    assert [event.message for event in events] == [str(number) for number in range(18, 26)]
    # What was too large came without its data, and says so.
    assert all('dropped' in (event.data or {}) for event in events[:SIZE])
    assert all(len(message.data.encode()) <= MAX_EVENT_BYTES for message in received)
