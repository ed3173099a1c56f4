# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rehearsals of a run, and what came of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.trace.plan_events import RehearsalCompared, RehearsalMade


@dataclass
class RecordedRehearsal:
    """``compared``: with what came of it; None: the recording holds no comparison. ``outcome``:
    the comparison for people, at ``ended_s``. Seconds since the start of the run.
    """

    at_s: float
    rehearsal: Rehearsal
    text: str
    compared: Rehearsal | None = None
    outcome: str = ''
    ended_s: float | None = None

    @property
    def differs(self) -> bool:
        real = None if self.compared is None else self.compared.real
        return real is not None and bool(real.exceeded)


def recorded_rehearsals(events: Sequence[tuple[float, TraceEvent]]) -> list[RecordedRehearsal]:
    """``events``: the oldest first. A comparison belongs to the last rehearsal of this motion;
    that of an approved operation, which no event tells of before, stands alone.
    """
    found: list[RecordedRehearsal] = []
    for at_s, event in events:
        made, compared = RehearsalMade.of(event), RehearsalCompared.of(event)
        if made is not None:
            found.append(RecordedRehearsal(at_s, made.rehearsal, event.message))
        elif compared is not None:
            forecast = compared.rehearsal
            known = [
                each
                for each in found
                if each.compared is None and _is_same(each.rehearsal, forecast)
            ]
            if not known:
                known = [RecordedRehearsal(at_s, forecast, forecast.text)]
                found += known
            last = known[-1]
            last.compared, last.outcome, last.ended_s = forecast, event.message, at_s
    return found


def _is_same(one: Rehearsal, other: Rehearsal) -> bool:
    return (one.start, one.end, one.text) == (other.start, other.end, other.text)
