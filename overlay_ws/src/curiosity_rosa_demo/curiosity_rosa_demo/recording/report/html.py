# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Render a run as one HTML page without external resources or scripts."""

from __future__ import annotations

from collections.abc import Sequence

from curiosity_rosa_demo.recording.report.costs import costs_by_model
from curiosity_rosa_demo.recording.report.drawings import (
    rehearsal_map,
    run_battery,
    run_map,
    run_scores,
)
from curiosity_rosa_demo.recording.report.plans import recorded_plans
from curiosity_rosa_demo.recording.report.questions import recorded_questions
from curiosity_rosa_demo.recording.report.rehearsals import recorded_rehearsals, RecordedRehearsal
from curiosity_rosa_demo.recording.report.run import RecordedRun
from curiosity_rosa_demo.recording.report.summary import key_figures, RunSummary, summary_of
from curiosity_rosa_demo.recording.report.templates import render
from curiosity_rosa_demo.recording.report.timeline import timeline_svg
from curiosity_rosa_demo.trace.events import ModelCalled
from markupsafe import Markup

MAX_REHEARSAL_MAPS = 50


def page(run: RecordedRun, summary: RunSummary | None = None) -> str:
    """Render the report. ``summary``: of this run, if the caller has it already."""
    summary = summary or summary_of(run)
    drawings = [
        ('Map', run_map(run)),
        ('Score over position', run_scores(run)),
        ('Battery', run_battery(run)),
    ]
    return render(
        'page.html.j2',
        run.name,
        run=run,
        warnings=summary.warnings,
        key_figures=key_figures(summary),
        drawings=[(title, Markup(drawing)) for title, drawing in drawings],
        turns=summary.turns,
        plans=recorded_plans(run.events),
        questions=recorded_questions(run.events),
        rehearsals=_with_maps(run, recorded_rehearsals(run.events)),
        costs=costs_by_model(call for _, event in run.events if (call := ModelCalled.of(event))),
        timeline=Markup(timeline_svg(run.events)),
    )


def _with_maps(
    run: RecordedRun, rehearsals: Sequence[RecordedRehearsal]
) -> list[tuple[RecordedRehearsal, Markup]]:
    """Only the first MAX_REHEARSAL_MAPS are drawn."""
    return [
        (each, Markup(rehearsal_map(run, each) if number < MAX_REHEARSAL_MAPS else ''))
        for number, each in enumerate(rehearsals)
    ]
