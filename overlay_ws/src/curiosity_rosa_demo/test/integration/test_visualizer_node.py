# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The visualizer as a real process: what RViz would get, and what cannot end it."""

from __future__ import annotations

import signal
import struct

from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.infra.ros_io import history_qos
from curiosity_rosa_demo.trace.trace_codec import encode, new_event
from curiosity_rosa_demo.viz.visualizer_node import MARKER_QOS
from diagnostic_msgs.msg import DiagnosticArray
from harness import Sandbox, wait_until
import pytest
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

pytestmark = pytest.mark.ros


class View:
    """What RViz shows: the arrays applied one after the other."""

    def __init__(self, sandbox: Sandbox, topic: str = '/visualization_marker_array') -> None:
        self.markers: dict[tuple[str, int], Marker] = {}
        self.arrays = 0
        sandbox.node.create_subscription(MarkerArray, topic, self._take, MARKER_QOS)

    def _take(self, array: MarkerArray) -> None:
        for marker in array.markers:
            key = (marker.ns, marker.id)
            if marker.action == Marker.ADD:
                self.markers[key] = marker
            else:
                self.markers.pop(key, None)
        self.arrays += 1

    def text(self, ns: str, id_: int = 0) -> str:
        marker = self.markers.get((ns, id_))
        return marker.text if marker else ''

    def lines(self) -> list[str]:
        """The trace lines, newest first."""
        return [self.markers[key].text for key in sorted(self.markers) if key[0] == 'trace']


GARBAGE = [
    '',
    'hello',
    'null',
    '{"event_id": "a"}',
    '{"event_id":"a","ts":NaN,"kind":"RESULT","message":"m","score":NaN}',
    '{"event_id":"a","ts":1,"kind":"RESULT","message":"m","data":{"is_good":1e999}}',
    '[' * 100_000,
    '{"a":' * 100_000,
    'x' * 3_000_000,
    '\x01\x1b[31m\u202e\u2028\ufffe',
    bytes(range(1, 256)),
    b'\xff\xfe\xed\xa0\x80',
    encode(
        new_event(
            TraceKind.RESULT, '', tool_name='capture_and_score', score=-1e308, data={'is_good': []}
        )
    ),
]


def test_nothing_on_the_trace_of_its_namespace_ends_it_but_a_signal(sandbox: Sandbox) -> None:
    visualizer = sandbox.start('curiosity_rosa_demo', 'visualizer_node', '-r', '__ns:=/demo')
    publisher = sandbox.node.create_publisher(String, '/demo/trace/events', history_qos(30))
    view = View(sandbox, '/demo/visualization_marker_array')
    publisher.publish(String(data=encode(new_event(TraceKind.ACT, 'there'))))
    wait_until(lambda: view.text('trace') == 'ACT there', 'the line below the namespace', 30.0)
    for number, garbage in enumerate(GARBAGE):
        if isinstance(garbage, bytes):  # CDR: little endian, length, characters, NUL
            head = b'\0\1\0\0' + struct.pack('<I', len(garbage) + 1)
            publisher.publish(head + garbage + b'\0')
        else:
            publisher.publish(String(data=garbage))
        publisher.publish(String(data=encode(new_event(TraceKind.ACT, f'after {number}'))))
        wait_until(lambda line=f'ACT after {number}': line in view.lines(), f'line {number}')
    assert len(view.lines()) == 1 + 2 * len(GARBAGE)  # a line each, and none is lost
    assert any('Unreadable trace event' in line for line in view.lines())
    assert all(line.isprintable() for line in view.lines())
    assert not view.text('score')

    late = View(sandbox, '/demo/visualization_marker_array')
    wait_until(lambda: late.arrays, 'the newest array, at once')
    assert late.lines() == view.lines()
    assert ('bright_zone', 0) in late.markers
    assert ('rover', 0) not in late.markers
    assert {marker.header.frame_id for marker in late.markers.values()} == {'odom'}
    diagnostics = sandbox.collect(DiagnosticArray, '/demo/diagnostics')
    wait_until(lambda: diagnostics, 'its diagnostics')
    assert diagnostics[0].status[0].name == 'demo/visualizer: markers'
    assert visualizer.kill(signal.SIGINT) == 0
    assert 'Traceback' not in visualizer.output()
