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
import json

from curiosity_rosa_demo.domain.ground_figures import ground_figures
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.drawing.colours import css
from curiosity_rosa_demo.recording.report.drawings import run_battery, run_map, run_scores
from curiosity_rosa_demo.recording.report.folded import folded, pages
from curiosity_rosa_demo.recording.report.run import RecordedRun
from curiosity_rosa_demo.recording.report.text import clock, utc, visible
from curiosity_rosa_demo.recording.report.timeline import timeline_svg
from curiosity_rosa_demo.trace.events import ModelCalled
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

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
    clock=clock,
    folded=folded,
    ground_figures=ground_figures,
    indented_json=lambda data: json.dumps(data, ensure_ascii=False, indent=1),
    pages=pages,
    utc=utc,
)


def page(run: RecordedRun) -> str:
    """Render the report. All texts are escaped; only our drawings and the style are markup."""
    drawings = [
        ('Map', run_map(run)),
        ('Score over position', run_scores(run)),
        ('Battery', run_battery(run)),
    ]
    return TEMPLATES.get_template('page.html.j2').render(
        run=run,
        policy=Markup(CONTENT_SECURITY_POLICY),
        colours=Markup(css()),
        warnings=_warnings(run),
        figures=_key_figures(run),
        drawings=[(title, Markup(drawing)) for title, drawing in drawings],
        timeline=Markup(timeline_svg(run.events)),
    )


def _warnings(run: RecordedRun) -> list[str]:
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


def _key_figures(run: RecordedRun) -> list[tuple[str, str]]:
    kinds = [event.kind for _, event in run.events]
    scores = [capture.score for capture in run.captures if capture.score is not None]
    good = sum(1 for capture in run.captures if capture.is_good)
    acts = kinds.count(TraceKind.ACT)
    failed = sum(1 for _, event in run.events if event.ok is False)
    figures = [
        ('Time', clock(run.length_s)),
        ('Driven', f'{run.distance_m:.1f} m' if run.trail else 'unknown'),
        ('Captures', f'{len(scores)}, {good} good'),
        ('Best score', f'{max(scores):.2f}' if scores else 'none'),
        ('Acts', str(acts)),
        ('Failures', str(failed)),
    ]
    figures += _model_figures([call for _, event in run.events if (call := ModelCalled.of(event))])
    if run.battery:
        first, last = run.battery[0][1], run.battery[-1][1]
        figures.append(('Battery', f'{100 * first:.0f} → {100 * last:.0f} %'))
    return figures


def _model_figures(calls: list[ModelCalled]) -> list[tuple[str, str]]:
    """Tokens and cost of the language model; empty without one."""
    if not calls:
        return []
    tokens = sum(call.input + call.output for call in calls)
    costs: dict[str, float] = {}
    for call in calls:
        if call.cost is not None:
            costs[call.currency] = costs.get(call.currency, 0.0) + call.cost
    parts = [f'{cost:.6g} {currency}' for currency, cost in costs.items()]
    unknown = sum(call.cost is None for call in calls)
    parts += [f'{count_text(unknown, "call")} unknown'] if unknown else []
    return [
        ('Model calls', str(len(calls))),
        ('Model tokens', f'{tokens:,}'),
        ('Model cost', ', '.join(parts)),
    ]
