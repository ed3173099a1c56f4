# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What Mission Control has from ROS: the camera while somebody looks, the pictures of captures,
and the health and the events of the other nodes.
"""

from __future__ import annotations

import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
import itertools
import threading
import time

from curiosity_rosa_demo.agent.topics import camera, captures, node_health
from curiosity_rosa_demo.agent.topics.camera import CameraFeed
from curiosity_rosa_demo.agent.topics.captures import Captures
from curiosity_rosa_demo.agent.topics.node_health import NodeEvents, NodeHealth
from curiosity_rosa_demo.domain.brain_state import Reading
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.imaging.image_header import picture_size
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import history_qos
from curiosity_rosa_demo.trace.events import NodeStarted
from curiosity_rosa_demo.trace.trace_buffer import EventBus
from curiosity_rosa_demo.trace.trace_codec import encode, new_event
import cv2
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from harness import Sandbox, wait_until
import numpy as np
import pytest
from rclpy.duration import Duration
from sensor_msgs.msg import CompressedImage
from std_msgs.msg import String

pytestmark = pytest.mark.ros

CONFIG = load_config()
CAMERA = CONFIG.topics.images.input_compressed
SMALL_PX = 8
CAPTURES = CONFIG.topics.images.output_capture_compressed
POSE = RoverPose(x=6.0, frame_id='odom')


def jpeg(shade: int) -> bytes:
    return bytes(cv2.imencode('.jpg', np.full((60, 80, 3), shade, np.uint8))[1])


def compressed(data: bytes) -> CompressedImage:
    return CompressedImage(format='jpeg', data=array.array('B', data))


@contextmanager
def repeated(box: Sandbox, send: Callable[[], None]) -> Iterator[None]:
    """Called ten times a second, as a camera sends."""
    timer = box.node.create_timer(0.1, send)
    try:
        yield
    finally:
        box.node.destroy_timer(timer)


@pytest.fixture
def sandbox(shared: Sandbox) -> Iterator[Sandbox]:
    """What a test publishes and hears ends with it, also a picture that is latched."""
    node = shared.node
    publishers, subscriptions = set(node.publishers), set(node.subscriptions)

    def end() -> None:
        for publisher in set(node.publishers) - publishers:
            node.destroy_publisher(publisher)
        for subscription in set(node.subscriptions) - subscriptions:
            node.destroy_subscription(subscription)

    with shared.lent() as box:
        yield box
    ended = node.executor.create_task(end)
    wait_until(ended.done, 'the end of its publishers and subscriptions')


def test_the_camera_is_listened_to_while_somebody_looks(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(camera, 'KEEP_ON_S', 0.3)
    publisher = sandbox.node.create_publisher(CompressedImage, CAMERA, 1)
    feed = CameraFeed(sandbox.node, CONFIG)
    assert publisher.get_subscription_count() == 0

    seen: set[bytes] = set()

    def shows(wanted: bytes) -> bool:
        picture, small = feed.picture(), feed.picture(SMALL_PX)
        assert picture is None or abs(picture.at - time.time()) < 5.0
        assert small is None or SMALL_PX <= max(picture_size(small.jpeg)) <= 2 * SMALL_PX
        seen.update(() if picture is None else (picture.jpeg,))
        return wanted in seen

    frames = itertools.cycle((b'', b'no picture', jpeg(10)[:-40], jpeg(90), jpeg(120)))
    with repeated(sandbox, lambda: publisher.publish(compressed(next(frames)))):
        for good in (jpeg(90), jpeg(120)):
            wait_until(lambda good=good: shows(good), 'a good frame')
        wait_until(lambda: publisher.get_subscription_count() == 0, 'it to be left alone')
    assert seen == {jpeg(90), jpeg(120)}  # a broken frame leaves the last good one
    feed.close()


def captured(score: float, **fields: object) -> TraceEvent:
    return new_event(
        TraceKind.RESULT,
        'capture_and_score',
        **{'tool_name': 'capture_and_score', 'ok': True, 'score': score, **fields},
    )


def test_a_capture_has_its_picture_and_place(sandbox: Sandbox) -> None:
    publisher = sandbox.node.create_publisher(CompressedImage, CAPTURES, history_qos(1))
    kept = Captures(sandbox.node, CONFIG, lambda: POSE)
    for no_capture in (
        captured(0.5, ok=False, error_reason='No image received'),
        captured(0.5, tool_name='move_stop'),
        new_event(TraceKind.ACT, 'x', tool_name='capture_and_score'),
    ):
        kept.record_event(no_capture)
    wait_until(lambda: publisher.get_subscription_count() == 1, 'the subscription')
    is_over = threading.Event()
    sandbox.node.executor.create_task(is_over.wait, 10.0)  # a busy computer
    publisher.publish(compressed(jpeg(10)))
    publisher.publish(compressed(jpeg(90)))  # latched: the last one counts
    event = captured(0.8, data={'is_good': True})
    kept.record_event(event)
    is_over.set()
    (capture,) = wait_until(kept.recent, 'the picture')
    assert (capture.event_id, capture.score, capture.is_good) == (event.event_id, 0.8, True)
    assert capture.picture.jpeg == jpeg(90)
    assert capture.pose == POSE
    # Else the simulator would send pictures for ever.
    wait_until(lambda: publisher.get_subscription_count() == 0, 'it to be left alone')


@pytest.mark.parametrize('always_on', [False, True])
def test_a_capture_has_the_picture_with_the_stamp_of_its_frame(
    sandbox: Sandbox, always_on: bool
) -> None:
    """The simulator republishes later frames on the same topic."""
    publisher = sandbox.node.create_publisher(CompressedImage, CAPTURES, history_qos(1))
    kept = Captures(sandbox.node, CONFIG, lambda: POSE, always_on=always_on)
    wait_until(lambda: publisher.get_subscription_count() == int(always_on), 'the subscription')
    later, own = compressed(jpeg(160)), compressed(jpeg(40))
    later.header.stamp.sec, own.header.stamp.sec = 8, 7
    publisher.publish(later)
    event = captured(0.5, data={'image_stamp_s': 7.0})
    kept.record_event(event)
    wait_until(lambda: publisher.get_subscription_count() == 1, 'the subscription')
    publisher.publish(own)
    capture = kept.of(event)
    assert capture is not None
    assert capture.picture.jpeg == jpeg(40)


def test_the_picture_of_a_capture_is_found_while_its_topic_still_holds_it(
    sandbox: Sandbox,
) -> None:
    """Later pictures are published on the same topic."""
    publisher = sandbox.node.create_publisher(CompressedImage, CAPTURES, history_qos(1))
    kept = Captures(sandbox.node, CONFIG, lambda: POSE)
    kept.record_event(new_event(TraceKind.ACT, 'x', tool_name='capture_and_score'))
    wait_until(lambda: publisher.get_subscription_count() == 1, 'it to listen')
    own, later = compressed(jpeg(40)), compressed(jpeg(160))
    own.header.stamp.sec, later.header.stamp.sec = 7, 8
    for each in (own, later):
        publisher.publish(each)
        assert publisher.wait_for_all_acked(Duration(seconds=20))
    kept.record_event(captured(0.8, data={'image_stamp_s': 7.0}))
    (capture,) = wait_until(kept.recent, 'the picture')
    assert capture.picture.jpeg == jpeg(40)
    wait_until(lambda: publisher.get_subscription_count() == 0, 'it to be left alone')
    for kind in (TraceKind.ACT, TraceKind.ERROR):  # one that fails
        kept.record_event(new_event(kind, 'x', tool_name='capture_and_score', ok=False))
    wait_until(lambda: publisher.get_subscription_count() == 0, 'it to be left alone')
    assert len(kept.recent()) == 1


def test_a_capture_without_a_picture_is_not_waited_for(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captures, 'PICTURE_TIMEOUT_S', 1.0)
    publisher = sandbox.node.create_publisher(CompressedImage, CAPTURES, history_qos(1))
    kept = Captures(sandbox.node, CONFIG, lambda: POSE)
    kept.record_event(captured(0.5))
    wait_until(lambda: publisher.get_subscription_count() == 1, 'it to listen')
    wait_until(lambda: publisher.get_subscription_count() == 0, 'it to give up')
    publisher.publish(compressed(jpeg(90)))
    assert kept.recent() == []


def test_the_health_of_the_other_nodes_is_what_they_tell_of_themselves(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_health, 'MAX_AGE_S', 1.0)
    readings = {'adapter': Reading(value={}, received_s=time.monotonic() + 3600.0)}
    health = NodeHealth(sandbox.node, CONFIG, lambda: readings)
    topic = CONFIG.topics.status.diagnostics
    publisher = sandbox.node.create_publisher(DiagnosticArray, topic, 10)
    told = DiagnosticArray(
        status=[
            DiagnosticStatus(level=DiagnosticStatus.WARN, name='visualizer: x', message='no TF'),
            DiagnosticStatus(level=DiagnosticStatus.ERROR, name='simulator: x', message='dark'),
            DiagnosticStatus(level=DiagnosticStatus.ERROR, name='adapter: x', message='lost'),
            DiagnosticStatus(level=DiagnosticStatus.ERROR, name='other/adapter: x', message='no'),
        ]
    )

    def found() -> list[tuple[str, bool, str]]:
        return [(each.name, each.ok, each.text) for each in health.node_statuses()]

    names = ('adapter', 'simulator', 'visualizer')
    assert found() == [(name, name == 'adapter', '') for name in names]
    with repeated(sandbox, lambda: publisher.publish(told)):
        wait_until(lambda: found()[-1][2], 'the diagnostics')
        assert found() == [
            ('adapter', False, 'lost'), ('simulator', False, 'dark'), ('visualizer', True, 'no TF')
        ]  # fmt: skip
    wait_until(lambda: not found()[-1][1], 'a node that hangs to be missed')
    age_s = health.node_statuses()[-1].age_s
    assert age_s is not None
    assert age_s > 1.0


def test_events_of_the_other_nodes_are_fed_and_ours_only_once(sandbox: Sandbox) -> None:
    event_bus, said = EventBus(), list[str]()
    NodeEvents(sandbox.node, CONFIG, said.append, partial(event_bus.publish, own=False))
    qos = history_qos(CONFIG.thresholds.trace.buffer_size)
    publisher = sandbox.node.create_publisher(String, CONFIG.topics.trace.events, qos)
    ours = new_event(TraceKind.ACT, 'ours')
    event_bus.publish(ours)
    alarm = new_event(TraceKind.ERROR, 'the leash', ok=False, data={'node': 'adapter'})
    call = new_event(TraceKind.OBSERVE, 'called by /rqt', data={'node': 'adapter'})
    started = new_event(**NodeStarted('adapter', started=True).trace_fields('adapter started'))
    for event in (ours, alarm, started, call):
        publisher.publish(String(data=encode(event)))
    wait_until(lambda: len(event_bus.trace_events()) >= 4, 'the events')
    assert [each.message for each in event_bus.trace_events()] == [
        'ours',
        'the leash',
        'adapter started',
        'called by /rqt',
    ]
    assert said == ['  adapter: [ERROR] the leash', '  adapter: [OBSERVE] called by /rqt']
