# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""After a fault that stopped the rover, what waits is held until a person says go on."""

from __future__ import annotations

from pathlib import Path
import tempfile

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from runtime_world import RuntimeBench

FAULT = 'Motion ended early: Service unavailable: /adapter/get_status'
LINES = (':forward 20', ':left 3', ':mast_close', ':demo', 'drive 2 m', ':cap')


@given(
    running=st.sampled_from(LINES),
    waiting=st.lists(st.sampled_from(LINES), min_size=1, max_size=4),
    fails=st.booleans(),
)
@settings(max_examples=examples(15), deadline=None)
def test_nothing_that_waits_begins_after_a_fault_before_a_person_resumes(
    running: str, waiting: list[str], fails: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder, RuntimeBench(Path(folder)) as bench:
        bench.runs(running)
        for line in waiting:
            bench.console.handle_line(line)
        bench.until(lambda: len(bench.runtime.list_tasks()) > len(waiting), 'all to be queued')
        bench.session.fault, bench.session.fails = FAULT, FAULT if fails else ''
        bench.session.release.set()

        def is_held() -> bool:
            first, *others = bench.runtime.list_tasks()
            return first.terminal and all(task.held for task in others)

        bench.until(is_held, 'what waits to be held')
        assert len(bench.session.ran) == 1
        assert all(FAULT in task.reason for task in bench.runtime.list_tasks()[1:])
        bench.until(lambda: any('held (' in each for each in bench.said), 'a person to be told')
        bench.console.handle_line(':resume')
        bench.finish()
        assert len(bench.session.ran) == 1 + len(waiting)
