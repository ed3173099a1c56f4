# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What RViz gets of the visualizer, bad starts of nodes, clocks and the threads of an agent."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
import re
import signal
import struct
import sys
import threading
from typing import Any

from curiosity_rosa_demo.agent import agent_node
from curiosity_rosa_demo.agent.interfaces.terminal.options import parse_arguments
from curiosity_rosa_demo.agent.interfaces.triggers import topics
from curiosity_rosa_demo.agent.runtime.rosa_loader import RosaLoader
from curiosity_rosa_demo.agent.startup import startup
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.infra.config.behaviour import TopicField
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.infra.ros_io import history_qos
from curiosity_rosa_demo.trace.trace_codec import encode, new_event
from curiosity_rosa_demo.viz.visualizer_node import MARKER_QOS
from diagnostic_msgs.msg import DiagnosticArray
from harness import Process, ROOT, Sandbox, wait_until
import pytest
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
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
            if marker.action == Marker.DELETEALL:
                self.markers.clear()
            else:
                self.markers[marker.ns, marker.id] = marker
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


# --- a node that cannot run as it was asked to ---------------------------------------------------


# What the node is given, its name in its line, and words of that line.
PARAMETERS = [
    ('visualizer', 'rover_namespace:=a b', "parameter rover_namespace = 'a b': not a ROS name"),
    ('visualizer', 'rover_namespace:=on', 'parameter rover_namespace = True: must be text'),
    ('visualizer', f'rover_namespace:={"r" * 190}', 'in the namespace rrrr'),
    (
        'agent',
        'http_port:=70000',
        'parameter http_port = 70000: port 70000: Input should be less',
    ),
]
THRESHOLDS: list[tuple[str, dict[str, Any], str]] = [
    ('visualizer', {'viz': {'trace_lines': -1}}, 'viz.trace_lines = -1: Input should be greater'),
    ('simulator', {'capture': {'jpeg_quality': 500}}, 'capture.jpeg_quality = 500: '),
    ('adapter', {'motion': {'max_duration_s': -1.0}}, 'motion.max_duration_s = -1.0: '),
]


LOOK = """
import sys
from curiosity_rosa_demo.infra.clocks import clock_is_published
print('published:', clock_is_published(sys.argv[1], within_s=float(sys.argv[2])))
"""


def test_what_a_node_cannot_run_with_is_one_clear_line(sandbox: Sandbox) -> None:
    bad = [(node, each, words) for node, each, words in PARAMETERS]
    for node, changes, words in THRESHOLDS:
        bad.append((node, f'config_dir:={sandbox.config_dir(thresholds=changes)}', words))
    started = [
        (sandbox.start('curiosity_rosa_demo', f'{node}_node', '-p', given), node, words)
        for node, given, words in bad
    ]
    for process, node, words in started:
        wait_until(lambda ended=process: not ended.alive, f'the end of {node}', 60.0)
        assert process.popen.returncode == 2, words
        (line,) = process.output().splitlines()
        assert line.startswith(f'{node}: ')
        assert words in line


def look(sandbox: Sandbox, topic: str, within_s: float) -> str:
    process: Process = sandbox.run([sys.executable, '-c', LOOK, topic, str(within_s)], 'look')
    wait_until(lambda: 'published:' in process.output(), 'the answer', 60.0)
    return process.output().split('published: ')[1].strip()


def test_a_clock_is_found_by_its_publisher_alone_and_by_its_own_name(sandbox: Sandbox) -> None:
    sandbox.collect(Clock, '/clock')  # one who listens is no clock
    assert look(sandbox, '/clock', 1.0) == 'False'
    sandbox.node.create_publisher(Clock, '/clock', 10)  # never publishes, as a paused simulation
    assert look(sandbox, '/clock', 30.0) == 'True'
    assert look(sandbox, '/r1/clock', 1.0) == 'False'


BATTERY = 'sensor_msgs/msg/BatteryState'
UNREADABLE = [
    ('no_such_msgs/msg/Thing', 'x', "low.watch.type = 'no_such_msgs/msg/Thing': this type is"),
    (BATTERY, 'charge_pct', "BatteryState has no field 'charge_pct'; it has header, voltage"),
    (BATTERY, 'header', 'header is std_msgs/Header; name a field that is a number'),
    (BATTERY, 'cell_voltage', 'cell_voltage is sequence<float>; name a field'),
]


def test_what_a_trigger_cannot_read_of_a_topic_is_told_at_the_start() -> None:
    for kind, field, words in UNREADABLE:
        with pytest.raises(ConfigError, match=re.escape(words)):
            topics.message_type('low', TopicField(topic='/x', type=kind, field=field))


# --- the threads of a real agent, in this process ------------------------------------------------


MAP = (ROOT / 'docs/explanation/architecture.md').read_text(encoding='utf-8')
PATIENT_S = 120.0  # the imports of the web framework
MOST_THREADS = 9
SUBSCRIBER = re.compile(r'(?<=^events ).+')


def names_in(section: str) -> set[str]:
    """The threads in the first column of the section's table."""
    rows = MAP.partition(f'### {section}\n')[2].partition('\n### ')[0]
    return {
        name
        for row in re.findall(r'^\| ([^|]+) \|', rows, re.MULTILINE)
        for name in re.findall(r'`([^`]+)`', row)
    }


def with_any_port(node: Node, config: Config) -> Config:
    return config.changed(agent={'http': {'port': 0}})


def test_the_threads_of_an_agent_are_those_on_the_map(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path))
    monkeypatch.setattr(agent_node, 'with_http_parameters', with_any_port)
    monkeypatch.setattr(startup, 'wait_for_nodes', lambda *_: None)
    monkeypatch.setattr(RosaLoader, 'start', lambda *_: None)  # its imports take a while
    monkeypatch.setattr(RosaLoader, 'wait_until_loaded', lambda _: None)
    before = set(threading.enumerate())

    def names() -> set[str]:
        """A thread that has a number is one of several; one of a subscriber has its name."""
        threads = set(threading.enumerate()) - before
        return {re.sub(r'_\d+$', '', SUBSCRIBER.sub('<name>', each.name)) for each in threads}

    for_the_run = names_in('Agent: for the whole run')
    for_a_while = names_in('Agent: for a while')
    with closing(agent_node.AgentApp(parse_arguments(['--headless']))) as app:
        assert names() == set(), 'a constructor has started a thread'
        app.start()
        assert app.doors.startup.complete.wait(PATIENT_S)
        wait_until(lambda: names() >= for_the_run, f'{for_the_run}', PATIENT_S)
        assert names() <= for_the_run | for_a_while
        wait_until(lambda: names() == for_the_run, 'the others to end', PATIENT_S)
        assert len(for_the_run) + 1 <= MOST_THREADS  # and the main thread
    assert names() <= for_a_while
