# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Whether a rover has simulated time, asked of a real domain."""

from __future__ import annotations

import sys

from harness import Process, Sandbox, wait_until
import pytest
from rosgraph_msgs.msg import Clock

pytestmark = pytest.mark.ros

LOOK = """
import sys
from curiosity_rosa_demo.infra.ros.clock_look import clock_is_published
print('published:', clock_is_published(sys.argv[1], within_s=float(sys.argv[2])))
"""


def look(sandbox: Sandbox, topic: str, within_s: float) -> str:
    process: Process = sandbox.run([sys.executable, '-c', LOOK, topic, str(within_s)], 'look')
    wait_until(lambda: 'published:' in process.output(), 'the answer', 60.0)
    return process.output().split('published: ')[1].strip()


def test_a_clock_is_found_by_its_publisher_alone_and_by_its_own_name(sandbox: Sandbox) -> None:
    assert look(sandbox, '/clock', 1.0) == 'False'
    sandbox.collect(Clock, '/clock')  # one who listens is no clock
    assert look(sandbox, '/clock', 1.0) == 'False'
    sandbox.node.create_publisher(Clock, '/clock', 10)  # never publishes, as a paused simulation
    assert look(sandbox, '/clock', 30.0) == 'True'
    assert look(sandbox, '/r1/clock', 1.0) == 'False'
