# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The turns of a run: what was asked for, and what came of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.recording.report.costs import Costs, costs_of
from curiosity_rosa_demo.trace.events import ModelCalled, TurnAnswered, TurnStarted

Result = Literal['done', 'failed', 'no answer']


@dataclass(frozen=True)
class RecordedTurn:
    """``goal``: the text that began it. ``answer``: its answer; without one, the last error.
    ``ended_s`` None: the recording holds no answer. Seconds since the start of the run.
    """

    at_s: float
    goal: str
    result: Result
    answer: str
    ended_s: float | None
    costs: Costs


@dataclass
class _OpenTurn:
    at_s: float
    goal: str
    calls: list[ModelCalled] = field(default_factory=list)
    error: str = ''

    def ended(self, result: Result, answer: str, ended_s: float | None) -> RecordedTurn:
        return RecordedTurn(self.at_s, self.goal, result, answer, ended_s, costs_of(self.calls))


def recorded_turns(events: Sequence[tuple[float, TraceEvent]]) -> list[RecordedTurn]:
    """``events``: the oldest first. A turn that resumes is the one that was interrupted."""
    turns: list[RecordedTurn] = []
    current: _OpenTurn | None = None
    for at_s, event in events:
        start = TurnStarted.of(event)
        if start is not None and (current is None or start.calls == 0):
            if current is not None:
                turns.append(current.ended('no answer', current.error, None))
            current = _OpenTurn(at_s, event.message)
        elif current is not None:
            answered, call = TurnAnswered.of(event), ModelCalled.of(event)
            if answered is not None:
                result: Result = 'failed' if answered.ok is False else 'done'
                turns.append(current.ended(result, event.message, at_s))
                current = None
            elif call is not None:
                current.calls.append(call)
            elif event.kind is TraceKind.ERROR and event.tool_name is None:
                current.error = event.message
    if current is not None:
        turns.append(current.ended('no answer', current.error, None))
    return turns
