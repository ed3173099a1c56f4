# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The loops of bench/kill.py find what a demo leaves behind."""

from __future__ import annotations

import sys

from harness import Sandbox
import pytest
from start_loops import Loop, SHARED_MEMORY, Way

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]
# Leaves a process in a session of its own, a file, and shared memory that it has mapped.
LEAKS = """
import mmap, os, subprocess, sys, tempfile, time
segment = open(sys.argv[1], 'w+b')
segment.truncate(4096)
memory = mmap.mmap(segment.fileno(), 4096)
tempfile.mkstemp(prefix='leftover-')
subprocess.Popen(['sleep', '60'], start_new_session=True)
time.sleep(60)
"""


def test_a_loop_finds_what_a_demo_leaves(sandbox: Sandbox) -> None:
    segment = SHARED_MEMORY / f'curiosity-test-{sandbox.domain}'
    way = Way('leaky', 1, lambda _: [sys.executable, '-c', LEAKS, str(segment)])
    try:
        # The seed's moment is late enough for the leaks, and its victim is not the sleep.
        loop = Loop(sandbox, way, 0, 5, latest_kill_s=4.0, gone_s=1.0)
        left = ' '.join(loop.run().left)
    finally:
        segment.unlink(missing_ok=True)
    assert 'sleep' in left
    assert 'leftover-' in left
    assert segment.name in left
