# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Exit with 0 as soon as each expected node of nodes.yaml has published on the diagnostics topic.
After WAIT_S seconds print the names of the silent nodes and exit with 1.
"""

from __future__ import annotations

import os
import sys
import time

from curiosity_rosa_demo.infra.config_loader import load_config, shipped_config_dir
from diagnostic_msgs.msg import DiagnosticArray
import rclpy
from rclpy.node import Node

WAIT_S = 10.0  # covers discovery; each node publishes once a second


def main() -> int:
    config = load_config(str(shipped_config_dir()))
    headless = os.environ.get('CURIOSITY_AGENT', 'headless') == 'headless'
    expected = ('', 'agent') if headless else ('',)
    silent = {spec.name for spec in config.nodes.nodes if spec.when in expected}
    rclpy.init()
    node = Node('health')

    def on_diagnostics(message: DiagnosticArray) -> None:
        silent.difference_update(status.name.split(':')[0] for status in message.status)

    node.create_subscription(DiagnosticArray, config.topics.status.diagnostics, on_diagnostics, 10)
    end = time.monotonic() + WAIT_S
    while silent and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.2)
    node.destroy_node()
    rclpy.shutdown()
    print('silent: ' + ', '.join(sorted(silent)) if silent else 'all nodes live')
    return 1 if silent else 0


if __name__ == '__main__':
    sys.exit(main())
