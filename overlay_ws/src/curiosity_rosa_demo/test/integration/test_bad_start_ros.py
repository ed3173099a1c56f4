# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A node that cannot run as it was asked to says why in one line, and ends with status 2."""

from __future__ import annotations

from typing import Any

from harness import Sandbox, wait_until
import pytest

pytestmark = pytest.mark.ros

# What the node is given, its name in its line, and words of that line.
PARAMETERS = [
    ('visualizer', 'rover_namespace:=a b', "parameter rover_namespace = 'a b': not a ROS name"),
    ('visualizer', 'rover_namespace:=r1//x', "rover_namespace = 'r1//x': not a ROS name"),
    ('visualizer', 'rover_namespace:=1', 'parameter rover_namespace = 1: must be text'),
    ('visualizer', 'rover_namespace:=on', 'parameter rover_namespace = True: must be text'),
    ('visualizer', f'rover_namespace:={"r" * 190}', 'a name of topics.yaml has no place'),
    ('agent', 'http_port:=70000', 'parameter http_port = 70000: must be from 0 to 65535'),
    ('agent', 'http_port:=eight', "parameter http_port = 'eight': must be a whole number"),
]
THRESHOLDS: list[tuple[str, dict[str, Any], str]] = [
    ('visualizer', {'viz': {'trace_lines': -1}}, 'viz.trace_lines = -1: Input should be greater'),
    ('simulator', {'capture': {'jpeg_quality': 500}}, 'capture.jpeg_quality = 500: '),
    ('adapter', {'motion': {'max_duration_s': -1.0}}, 'motion.max_duration_s = -1.0: '),
]


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
