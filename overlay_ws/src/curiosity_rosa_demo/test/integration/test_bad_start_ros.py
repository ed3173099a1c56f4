# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A node that cannot run as it was asked to says why in one line, and ends with status 2; and
whether a rover has simulated time, which decides how the nodes are started.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from curiosity_rosa_demo.agent.interfaces.triggers import topics
from curiosity_rosa_demo.infra.config.triggers import TopicField
from curiosity_rosa_demo.infra.config_loader import ConfigError
from harness import Process, Sandbox, wait_until
import pytest
from rosgraph_msgs.msg import Clock

pytestmark = pytest.mark.ros

# What the node is given, its name in its line, and words of that line.
PARAMETERS = [
    ('visualizer', 'rover_namespace:=a b', "parameter rover_namespace = 'a b': not a ROS name"),
    ('visualizer', 'rover_namespace:=on', 'parameter rover_namespace = True: must be text'),
    ('visualizer', f'rover_namespace:={"r" * 190}', 'a name of topics.yaml has no place'),
    ('agent', 'http_port:=70000', 'parameter http_port = 70000: must be from 0 to 65535'),
]
THRESHOLDS: list[tuple[str, dict[str, Any], str]] = [
    ('visualizer', {'viz': {'trace_lines': -1}}, 'viz.trace_lines = -1: Input should be greater'),
    ('simulator', {'capture': {'jpeg_quality': 500}}, 'capture.jpeg_quality = 500: '),
    ('adapter', {'motion': {'max_duration_s': -1.0}}, 'motion.max_duration_s = -1.0: '),
]


LOOK = """
import sys
from curiosity_rosa_demo.infra.ros.clock_look import clock_is_published
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
