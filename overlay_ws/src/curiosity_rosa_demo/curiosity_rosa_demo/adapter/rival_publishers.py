# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Topics of the rover that several nodes publish: two rovers in one domain, or two simulators.

Their messages mix, and no message says from whom it is. It is shown and forbids nothing: several
broadcasters may share the joint states, and readings that contradict each other stop a motion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from curiosity_rosa_demo.adapter.graph_names import GraphThread, publishers
from rclpy.node import Node

CLOCK = '/clock'


class RivalPublishers:
    """``found``: the publishing nodes by topic, of those topics that have several. Read it from
    any thread.
    """

    def __init__(self, node: Node, graph: GraphThread, topics: Sequence[str]) -> None:
        self._node, self._topics = node, topics
        self.found: dict[str, list[str]] = {}
        graph.add(self._check)

    def _check(self) -> None:
        clock = [CLOCK] if self._node.get_clock().ros_time_is_active else []
        several = [
            topic for topic in (*self._topics, *clock) if self._node.count_publishers(topic) > 1
        ]
        names = {topic: publishers(self._node, topic) for topic in several}
        self.found = {topic: _counted(nodes) for topic, nodes in names.items() if len(nodes) > 1}


def _counted(nodes: Sequence[str]) -> list[str]:
    return [
        name if count == 1 else f'{name} ({count} times)' for name, count in Counter(nodes).items()
    ]
