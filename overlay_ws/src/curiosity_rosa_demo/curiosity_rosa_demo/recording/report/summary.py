# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The figures of a run: what stands at the top of its report, and in its row of an index. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.recording.report.costs import Costs, costs_of
from curiosity_rosa_demo.recording.report.questions import recorded_questions
from curiosity_rosa_demo.recording.report.run import RecordedRun
from curiosity_rosa_demo.recording.report.text import clock
from curiosity_rosa_demo.recording.report.turns import recorded_turns, RecordedTurn
from curiosity_rosa_demo.trace.events import ModelCalled


@dataclass(frozen=True)
class RunSummary:
    """``began_s``: seconds since the epoch. ``distance_m`` None: the place is unknown.
    ``captures``: those with a score. ``battery``: its first and last level, 0 to 1; None: unknown.
    """

    name: str
    began_s: float
    length_s: float
    distance_m: float | None
    captures: int
    good_captures: int
    best_score: float | None
    acts: int
    failures: int
    turns: tuple[RecordedTurn, ...]
    questions: int
    costs: Costs
    battery: tuple[float, float] | None
    warnings: tuple[str, ...]

    @property
    def driven_text(self) -> str:
        return 'unknown' if self.distance_m is None else f'{self.distance_m:.1f} m'

    @property
    def captures_text(self) -> str:
        return f'{self.captures}, {self.good_captures} good'

    @property
    def best_text(self) -> str:
        return 'none' if self.best_score is None else f'{self.best_score:.2f}'


def summary_of(run: RecordedRun) -> RunSummary:
    kinds = [event.kind for _, event in run.events]
    scores = [capture.score for capture in run.captures if capture.score is not None]
    calls = [call for _, event in run.events if (call := ModelCalled.of(event))]
    return RunSummary(
        name=run.name,
        began_s=run.began_s,
        length_s=run.length_s,
        distance_m=run.distance_m if run.trail else None,
        captures=len(scores),
        good_captures=sum(capture.is_good for capture in run.captures),
        best_score=max(scores, default=None),
        acts=kinds.count(TraceKind.ACT),
        failures=sum(event.ok is False for _, event in run.events),
        turns=tuple(recorded_turns(run.events)),
        questions=len(recorded_questions(run.events)),
        costs=costs_of(calls),
        battery=(run.battery[0][1], run.battery[-1][1]) if run.battery else None,
        warnings=tuple(warnings_of(run)),
    )


def key_figures(summary: RunSummary) -> list[tuple[str, str]]:
    """Names and values for the top of a report. Without calls of a model there is no cost."""
    figures = [
        ('Time', clock(summary.length_s)),
        ('Driven', summary.driven_text),
        ('Captures', summary.captures_text),
        ('Best score', summary.best_text),
        ('Acts', str(summary.acts)),
        ('Failures', str(summary.failures)),
        ('Questions', str(summary.questions)),
    ]
    if summary.costs.calls:
        figures += [
            ('Model calls', str(summary.costs.calls)),
            ('Model tokens', f'{summary.costs.tokens:,}'),
            ('Model cost', summary.costs.money_text),
        ]
    if summary.battery:
        first, last = summary.battery
        figures.append(('Battery', f'{100 * first:.0f} → {100 * last:.0f} %'))
    return figures


def warnings_of(run: RecordedRun) -> list[str]:
    """What is missing in the recording, and so in the report."""
    warnings = []
    dropped = (run.end or {}).get('dropped', '0')
    if run.end_problem:
        warnings.append(f'The file is torn; this is what is whole ({run.end_problem}).')
    elif run.end is None:
        warnings.append('The recording was cut off: up to a second is missing at its end.')
    if dropped != '0':
        noun = 'message' if dropped == '1' else 'messages'
        warnings.append(f'No room was left for {dropped} {noun}.')
    if run.left_out:
        count = count_text(run.left_out, 'message')
        warnings.append(f'The report leaves out {count} beyond its size.')
    if run.unreadable:
        warnings.append(f'{count_text(run.unreadable, "message")} could not be read.')
    return warnings
