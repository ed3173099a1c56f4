# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The replayed rules beside what other channels recorded of the adapter: its status, its alarms in
the trace, and the answers that the agent got.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from curiosity_rosa_demo.domain.adapter_status import without_measured
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.simulation.recorded.decisions import (
    compared,
    Comparison,
    undecidable,
)
from curiosity_rosa_demo.simulation.recorded.log_replay import Moment
from curiosity_rosa_demo.simulation.recorded.recording import Recording
from curiosity_rosa_demo.simulation.recorded.rule_names import rule_of

LATE_S = 1.0  # longest way of a message from the adapter to the recorder
EARLY_S = 0.1  # the clock of the machine may be corrected
UNREPLAYED_FIELDS = ('replay',)
ALARM_NODE = 'adapter'
Span = tuple[float, float]


def is_covered(at_s: float, spans: Sequence[Span], margin_s: float = 0.0) -> bool:
    return any(first + margin_s <= at_s <= last for first, last in spans)


def compare_statuses(
    recording: Recording, moments: Sequence[Moment], spans: Sequence[Span], why: str
) -> Iterator[Comparison]:
    """Each change of a field that is not measured. It is the same if the replayed rules showed
    the value within LATE_S before the message. ``why``: why the rest is not decidable.
    """
    times = [each.at_s for each in moments]
    before: dict[str, object] = {}
    wrong: dict[str, object] = {}
    for at_s, status in recording.statuses:
        last = bisect_right(times, at_s + EARLY_S)
        first = max(0, bisect_right(times, at_s - LATE_S) - 1)
        shown = moments[first:last]
        known = is_covered(at_s, spans, LATE_S) and bool(shown)
        for key in shown[-1].status if known else without_measured(status):
            if key not in status or key in UNREPLAYED_FIELDS:
                continue  # an older status
            value, was = status[key], before.get(key)
            before[key] = value
            is_change = value != was
            rule, text = f'status: {key}', repr(value)
            if not known:
                if is_change and was is not None:
                    yield undecidable(at_s, rule, text, why)
                continue
            if any(each.status.get(key) == value for each in shown):
                wrong.pop(key, None)
                if is_change:
                    yield compared(at_s, rule, text, text)
            elif wrong.get(key, wrong) != value:  # once, not with each message
                wrong[key] = value
                own = repr(shown[-1].status.get(key))
                yield compared(at_s, rule, text, own, 'the replayed rules since then')


def adapter_alarms(recording: Recording) -> list[tuple[float, str]]:
    return [(at_s, event.message) for at_s, event in recording.events if _is_alarm(event)]


def _is_alarm(event: TraceEvent) -> bool:
    return event.kind is TraceKind.ERROR and (event.data or {}).get('node') == ALARM_NODE


def compare_alarms(
    recording: Recording, alarms: Sequence[tuple[float, str]], spans: Sequence[Span], why: str
) -> Iterator[Comparison]:
    """The adapter's alarms in the trace, which came another way than the log of inputs."""
    left = list(alarms)
    for at_s, text in adapter_alarms(recording):
        rule = f'trace: {rule_of(text, "motion_guard")}'
        found = next((each for each in left if each[1] == text and _is_near(at_s, each[0])), None)
        if found is not None:
            left.remove(found)
            yield compared(at_s, rule, text, text)
        elif is_covered(at_s, spans, LATE_S):
            yield compared(at_s, rule, text, '')
        else:
            yield undecidable(at_s, rule, text, why)


def _is_near(message_s: float, decided_s: float) -> bool:
    return -EARLY_S <= message_s - decided_s <= 2 * LATE_S
