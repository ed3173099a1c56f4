# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Each event reaches each listener once, whatever the others do."""

from __future__ import annotations

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.trace.fan_out import TraceFanOut
from curiosity_rosa_demo.trace.trace_codec import new_event
from hypothesis import given
from hypothesis import strategies as st
import pytest


class FanOut:
    """``broken`` says of each listener whether it raises."""

    def __init__(self, broken: list[bool], *, report_fails: bool = False) -> None:
        self.heard: list[tuple[int, TraceEvent]] = []
        self.failed: list[tuple[str, str]] = []
        self.report_fails = report_fails
        self.fan_out = TraceFanOut(self._report)
        for number, raises in enumerate(broken):
            self._add(number, raises)

    def _add(self, number: int, raises: bool) -> None:
        def listener(event: TraceEvent) -> None:
            if raises:
                raise OSError(28, 'No space left on device')
            self.heard.append((number, event))

        self.fan_out.add(f'listener {number}', listener)

    def _report(self, name: str, error: Exception) -> None:
        self.failed.append((name, str(error)))
        if self.report_fails:
            raise BrokenPipeError


@given(st.lists(st.booleans(), max_size=6), st.booleans())
def test_a_listener_that_fails_hurts_neither_the_emitter_nor_the_others(
    broken: list[bool], report_fails: bool
) -> None:
    world = FanOut(broken, report_fails=report_fails)
    events = [new_event(TraceKind.ACT, str(number)) for number in range(2)]
    for event in events:
        world.fan_out.emit(event)
    well = [number for number, raises in enumerate(broken) if not raises]
    assert world.heard == [(number, event) for event in events for number in well]
    ill = [f'listener {number}' for number, raises in enumerate(broken) if raises]
    assert [name for name, _ in world.failed] == ill * 2
    assert all('No space left' in error for _, error in world.failed)


def test_a_request_to_end_the_process_is_no_failure_of_a_listener() -> None:
    fan_out = TraceFanOut(lambda name, error: None)

    def leave(event: TraceEvent) -> None:
        raise SystemExit(143)

    fan_out.add('console', leave)
    with pytest.raises(SystemExit):
        fan_out.emit(new_event(TraceKind.ACT, 'x'))
