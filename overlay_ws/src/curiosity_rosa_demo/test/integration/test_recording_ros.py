# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A recording of real topics, its end by kill -9, and its replay, each in processes of its own."""

from __future__ import annotations

import json
from pathlib import Path
import signal
import sys
import time
from typing import Any

from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import history_qos, LossCounter, TracePublisher
from curiosity_rosa_demo.recording.file import RunReader
from curiosity_rosa_demo.recording.replay import REPLAY_PREFIX
from curiosity_rosa_demo.trace.trace_codec import decode, new_event
from geometry_msgs.msg import TransformStamped
from harness import Process, Sandbox, wait_until
from mcap_world import a_picture, a_string, an_event, an_odometry, by_library, write_run
from nav_msgs.msg import Odometry
import pytest
from rclpy.serialization import serialize_message
from sensor_msgs.msg import BatteryState, CompressedImage
from std_msgs.msg import String
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

pytestmark = pytest.mark.ros

CONFIG = load_config()
TOPICS = CONFIG.topics
CAPTURED = new_event(
    TraceKind.RESULT, 'captured', tool_name='capture_and_score', ok=True, score=0.5
)

# Records into argv[1]. USR1: :record status. USR2: :record off. TERM: closes.
RECORDER = """
import signal, sys
from pathlib import Path
import rclpy
from curiosity_rosa_demo.recording.recorder import RecordingControl
from curiosity_rosa_demo.infra.config_loader import load_config
signals = [signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM]
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
rclpy.init(signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
recording = RecordingControl(load_config(), Path(sys.argv[1]), print)
for command in ('status', 'off', 'on', 'on'):
    print(recording.run_command(command), flush=True)
while (heard := signal.sigwait(signals)) != signal.SIGTERM:
    print(recording.run_command('off' if heard == signal.SIGUSR2 else ''), flush=True)
recording.close()
print(recording.run_command('status'), flush=True)
rclpy.shutdown()
"""


class Recorder:
    def __init__(self, sandbox: Sandbox) -> None:
        folder = sandbox.folder / 'recordings'
        command = [sys.executable, '-c', RECORDER, str(folder)]
        self.process: Process = sandbox.run(command, 'recorder')
        wait_until(lambda: 'records already' in self.process.output(), 'the recording to begin')
        (self.path,) = folder.iterdir()

    def read(self, role: str) -> list[bytes]:
        return [entry.data for entry in RunReader(self.path) if entry.role == role]

    def messages(self, role: str) -> list[Any]:
        reader = RunReader(self.path)
        return [reader.decode(each) for each in reader if each.role == role]

    def wait_for(self, role: str, count: int = 1) -> list[Any]:
        wait_until(lambda: len(self.read(role)) >= count, f'{count} of {role} in the file')
        return self.messages(role)


def told(sandbox: Sandbox, recorder: Recorder, role: str, message: Any, topic: str) -> Any:
    """Publish it until it is in the file; the publisher."""
    publisher = sandbox.node.create_publisher(type(message), topic, 10)

    def in_the_file() -> bool:
        publisher.publish(message)
        return len(recorder.read(role)) > 0

    wait_until(in_the_file, f'{role} in the file')
    return publisher


def test_what_is_heard_is_recorded_and_told_until_the_operator_ends_it(sandbox: Sandbox) -> None:
    trace = TracePublisher(sandbox.node, CONFIG, LossCounter())
    trace.publish(new_event(TraceKind.DECIDE, 'before the recording 火'))
    captures = sandbox.node.create_publisher(
        CompressedImage, TOPICS.images.output_capture_compressed, history_qos(1)
    )
    captures.publish(CompressedImage(format='jpeg', data=b'\xff\xd8capture'))
    recorder = Recorder(sandbox)
    lines = recorder.process.output().splitlines()
    assert "'nothing is recorded'" in lines[0]
    assert 'ok=False' in lines[1]
    assert f'recording to {recorder.path}' in lines[2]
    assert recorder.path.name.endswith(f'Z_{sandbox.domain}.mcap')

    trace.publish(CAPTURED.model_copy(update={'event_id': 'old', 'ts': CAPTURED.ts - 60.0}))
    recorder.wait_for('trace', 2)
    assert captures.get_subscription_count() == 0  # else the simulator made pictures all the time
    trace.publish(CAPTURED.model_copy(update={'ts': time.time()}))
    (picture,) = recorder.wait_for('capture')
    assert bytes(picture.data) == b'\xff\xd8capture'
    wait_until(lambda: captures.get_subscription_count() == 0, 'the recorder to leave')

    link = TransformStamped(child_frame_id='base')
    told(sandbox, recorder, 'tf', TFMessage(transforms=[link]), '/tf')
    battery = BatteryState(percentage=0.75)
    told(sandbox, recorder, 'battery', battery, TOPICS.rover.battery_state)
    odometry = Odometry()
    publisher = told(sandbox, recorder, 'odometry', odometry, TOPICS.rover.odometry)
    for number in range(5):
        odometry.pose.pose.position.x = float(number)
        publisher.publish(odometry)
        wait_until(
            lambda at=float(number): recorder.messages('odometry')[-1].pose.pose.position.x == at,
            'the newest odometry in the file, although it came too soon',
        )
    recorder.process.popen.send_signal(signal.SIGUSR1)
    wait_until(lambda: ', none dropped' in recorder.process.output(), 'the status')
    recorder.process.popen.send_signal(signal.SIGUSR2)
    wait_until(lambda: "'recorded " in recorder.process.output(), 'the end of the recording')
    wait_until(lambda: publisher.get_subscription_count() == 0, 'it to leave the graph')
    assert recorder.process.kill(signal.SIGTERM) == 0

    reader = RunReader(recorder.path)
    entries = list(reader)
    assert len(entries) == len(by_library(recorder.path)) >= 11
    assert (reader.end or {})['why'] == 'by the operator'
    assert reader.info['domain'] == str(sandbox.domain)
    assert {entry.topic for entry in entries} >= {'/tf', TOPICS.trace.events}
    events = [decode(message.data).message for message in recorder.messages('trace')]
    assert events == ['before the recording 火', 'captured', 'captured']
    assert recorder.messages('battery')[0].percentage == 0.75
    assert abs(entries[-1].at_ns * 1e-9 - time.time()) < 60.0


def a_file(sandbox: Sandbox, name: str = 'run.mcap') -> Path:
    link = TransformStamped(child_frame_id='base_footprint')
    link.header.frame_id, link.header.stamp.sec = 'odom', 5
    said = [
        ('trace', 0.0, an_event(new_event(TraceKind.DECIDE, 'go there'))),
        ('adapter', 0.1, a_string('{"moving": true}')),
        ('tf', 0.2, bytes(serialize_message(TFMessage(transforms=[link])))),
        ('odometry', 0.3, an_odometry(2.5)),
        ('calls', 0.3, b'{}'),
        ('capture', 0.4, a_picture(b'\xff\xd8picture')),
    ]
    return write_run(sandbox.folder / name, said)


def replay(sandbox: Sandbox, *options: str) -> Process:
    command = [sys.executable, '-m', 'curiosity_rosa_demo.recording.replay', *options]
    return sandbox.run(command, 'replay')


def test_a_replay_is_heard_as_one_and_commands_nothing(sandbox: Sandbox) -> None:
    trace = sandbox.collect(String, TOPICS.trace.events, history_qos(10))
    statuses = sandbox.collect(String, '/replay/status', history_qos(10))
    adapter = sandbox.collect(String, TOPICS.status.adapter, history_qos(1))
    tf = sandbox.collect(TFMessage, '/tf')
    captures = sandbox.collect(
        CompressedImage, TOPICS.images.output_capture_compressed, history_qos(1)
    )
    process = replay(sandbox, str(a_file(sandbox)), '--loop', '--speed', '2')
    wait_until(
        lambda: len(trace) >= 2 and len(tf) >= 2 and captures and statuses and adapter,
        'two rounds of the replay',
    )

    first, second = decode(trace[0].data), decode(trace[1].data)
    assert first.message == f'{REPLAY_PREFIX}go there'
    assert first.data is not None
    assert first.data['replay'] is True
    assert first.event_id != second.event_id
    assert json.loads(adapter[0].data) == {'moving': True, 'replay': True}
    assert abs(tf[0].transforms[0].header.stamp.sec - time.time()) < 60.0
    assert bytes(captures[0].data) == b'\xff\xd8picture'
    status = json.loads(statuses[0].data)
    assert (status['state'], status['file'], status['speed']) == ('playing', 'run.mcap', 2.0)

    names = sandbox.node.get_publisher_names_and_types_by_node
    wait_until(  # which node a publisher belongs to is known later than the publisher itself
        lambda: (
            ('replay', '/') in sandbox.node.get_node_names_and_namespaces()
            and TOPICS.trace.events in dict(names('replay', '/'))
        ),
        'the node of the replay',
    )
    published = dict(names('replay', '/'))
    assert TOPICS.rover.cmd_vel not in published
    assert not any('Twist' in each for types in published.values() for each in types)
    called = sandbox.node.get_client_names_and_types_by_node('replay', '/')
    assert called == []
    assert process.kill(signal.SIGINT) == 130
    assert '/service_calls is not played' in process.output()
    wait_until(lambda: json.loads(statuses[-1].data)['state'] == 'stopped', 'its last word')


def test_beside_an_adapter_nothing_is_replayed(sandbox: Sandbox) -> None:
    """Whether it was there before, or comes while the replay runs."""
    statuses = sandbox.collect(String, '/replay/status', history_qos(10))
    going = replay(sandbox, str(a_file(sandbox, 'going.mcap')), '--loop')
    wait_until(lambda: statuses, 'the replay to run')
    sandbox.node.create_service(
        Trigger, TOPICS.adapter.move_stop.name, lambda _, response: response
    )
    wait_until(lambda: not going.alive, 'the replay to end because of the adapter')
    assert going.popen.returncode == 1
    assert ' serves /adapter/move_stop' in going.output()

    sandbox.node.create_publisher(Odometry, TOPICS.rover.odometry, 10)
    late = replay(sandbox, str(a_file(sandbox, 'late.mcap')))
    wait_until(lambda: not late.alive, 'the second one to end at once')
    assert late.popen.returncode == 1
    assert 'a rover may be driving here' in late.output()
    assert not any('late.mcap' in status.data for status in statuses)
