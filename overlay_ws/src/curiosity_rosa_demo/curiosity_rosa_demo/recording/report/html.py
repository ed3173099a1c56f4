# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Render a run as one HTML page without external resources or scripts."""

from __future__ import annotations

import base64
from collections.abc import Sequence
import json
from typing import Any

from curiosity_rosa_demo.domain.ground import ground_figures
from curiosity_rosa_demo.domain.text import clip, count_text
from curiosity_rosa_demo.drawing.svg import css
from curiosity_rosa_demo.recording.report.run import folded, pages, RecordedRun
from curiosity_rosa_demo.recording.report.summary import (
    key_figures,
    rehearsal_map,
    run_battery,
    run_map,
    run_scores,
    RunSummary,
    summary_of,
    timeline_svg,
)
from curiosity_rosa_demo.recording.report.text import clock, utc, visible
from curiosity_rosa_demo.recording.report.turns import (
    costs_by_model,
    recorded_plans,
    recorded_questions,
    recorded_rehearsals,
    RecordedRehearsal,
)
from curiosity_rosa_demo.trace.events import ModelCalled
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

# --- The templates of report and index: HTML without external resources or scripts -------------


# Pictures are data URLs. The browser loads nothing else, whatever the recording contains.
CONTENT_SECURITY_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


TEMPLATES = Environment(
    autoescape=True,
    finalize=lambda value: value if isinstance(value, Markup) else visible(value),
    loader=PackageLoader('curiosity_rosa_demo.recording.report', '.'),
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
TEMPLATES.filters.update(
    base64=lambda data: base64.b64encode(data).decode(),
    clip=clip,
    clock=clock,
    count_text=count_text,
    folded=folded,
    ground_figures=ground_figures,
    indented_json=lambda data: json.dumps(data, ensure_ascii=False, indent=1),
    pages=pages,
    utc=utc,
)


def render(template: str, title: str, **values: Any) -> str:
    """All texts are escaped; only Markup, our drawings and the style, is markup."""
    return TEMPLATES.get_template(template).render(
        title=title,
        policy=Markup(CONTENT_SECURITY_POLICY),
        colours=Markup(css()),
        **values,
    )


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
