# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Whether the rover has simulated time, asked before any node of ours starts."""

from __future__ import annotations

import time

import rclpy
from rclpy.context import Context
from rclpy.node import Node

LOOK_S = 2.5  # discovery takes up to a second or two on a busy machine
POLL_S = 0.05


def clock_is_published(topic: str = '/clock', *, within_s: float = LOOK_S) -> bool:
    """Whether a publisher of ``topic`` is seen ``within_s`` seconds; it returns as soon as it is.

    It has a context of its own, so that it works before and beside any other use of rclpy.
    """
    context = Context()
    rclpy.init(args=[], context=context)
    try:
        node = Node(
            '_clock_look',
            context=context,
            enable_rosout=False,
            start_parameter_services=False,
            use_global_arguments=False,
        )
        try:
            deadline = time.monotonic() + within_s
            while not node.count_publishers(topic):
                if time.monotonic() > deadline:
                    return False
                time.sleep(POLL_S)
            return True
        finally:
            node.destroy_node()
    finally:
        context.try_shutdown()


def time_text(topic: str, published: bool, option: str) -> str:
    """What was taken, and the ``option`` for the other."""
    if published:
        return f'{topic} is published: simulated time'
    return f'nobody publishes {topic}: wall clock; for a simulation that starts later: {option}'
