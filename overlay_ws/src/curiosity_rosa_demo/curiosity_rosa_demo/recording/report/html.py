# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A run as one HTML page that needs nothing from elsewhere and runs no script."""

from __future__ import annotations

import base64
from collections.abc import Iterable
import json

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.drawing.colours import css
from curiosity_rosa_demo.recording.report.drawings import run_battery, run_map, run_scores
from curiosity_rosa_demo.recording.report.run import Call, Run, Shot
from curiosity_rosa_demo.recording.report.text import clock, escaped, utc
from curiosity_rosa_demo.recording.report.timeline import timeline_svg

# Pictures come as data; nothing else may be loaded, whatever a recording holds.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"

STYLE = """
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 24px 16px 64px; color: var(--cr-ink);
  background: var(--cr-page); font: 15px/1.5 system-ui, 'DejaVu Sans', sans-serif; }
h1 { font-size: 26px; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 36px 0 10px; }
.soft { color: var(--cr-soft); }
.warn { border-left: 4px solid var(--cr-alarm-ink); padding: 6px 12px;
  background: var(--cr-panel); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(128px, 1fr)); gap: 10px; }
dl div, figure, .table, .cr-drawing { border: 1px solid var(--cr-faint); border-radius: 8px; }
dl div, figure { background: var(--cr-panel); }
dl div, figcaption { padding: 8px 12px; }
dt { color: var(--cr-soft); font-size: 13px; }
dd { margin: 0; font-size: 18px; white-space: nowrap; }
.drawings { display: grid; column-gap: 20px;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 440px), 1fr)); }
.drawings section:first-child { grid-row: span 2; }
.shots { display: grid; grid-template-columns: repeat(auto-fill, minmax(280px, 1fr)); gap: 14px; }
figure { margin: 0; overflow: hidden; }
figure:target { outline: 3px solid var(--cr-acting); }
figure img { display: block; width: 100%; height: auto; }
.none { padding: 40px 12px; text-align: center; color: var(--cr-soft); }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
td.tool { min-width: 11em; }
th, td { text-align: left; vertical-align: top; padding: 5px 10px;
  border-bottom: 1px solid var(--cr-faint); }
td { overflow-wrap: anywhere; unicode-bidi: isolate; white-space: pre-wrap; }
td.n, td.k { white-space: nowrap; }
tr.bad td { color: var(--cr-alarm-ink); }
tr td.n { font-variant-numeric: tabular-nums; color: var(--cr-soft); }
summary { cursor: pointer; color: var(--cr-soft); }
pre { margin: 4px 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px; }
@media print { body { max-width: none; } figure, tr { break-inside: avoid; } }
"""


def page(run: Run) -> str:
    drawings = _sections(
        ('Map', run_map(run)),
        ('Score over position', run_scores(run)),
        ('Battery', run_battery(run)),
    )
    body = _sections(
        ('Captures', _shots(run)),
        ('Time line', timeline_svg(run.events)),
        ('What was thought and done', _events(run)),
        ('Services that were called', _calls(run)),
        ('What the recording holds', _counts(run)),
    )
    title = escaped(run.name)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{title}</title>\n<style>{css()}{STYLE}</style>\n</head>\n<body>\n'
        f'<h1>{title}</h1>\n{_head(run)}\n{_sections(("Figures", _figures(run)))}'
        f'<div class="drawings">\n{drawings}</div>\n{body}</body>\n</html>\n'
    )


def _sections(*sections: tuple[str, str]) -> str:
    """Those in which there is something."""
    return ''.join(
        f'<section><h2>{title}</h2>\n{text}</section>\n' for title, text in sections if text
    )


def _head(run: Run) -> str:
    domain = escaped(run.info.get('domain', 'unknown'))
    text = f'{utc(run.began_s)}, {clock(run.length_s)}, ROS domain {domain}'
    dropped = (run.end or {}).get('dropped', '0')
    warnings = []
    if run.torn:
        warnings.append(f'The file is torn; this is what is whole ({escaped(run.torn)}).')
    elif run.end is None:
        warnings.append('The recording was cut off: up to a second is missing at its end.')
    if dropped != '0':
        warnings.append(f'{escaped(dropped)} messages found no room and are missing.')
    if run.unreadable:
        warnings.append(f'{run.unreadable} messages could not be read.')
    warned = ''.join(f'\n<p class="warn">{each}</p>' for each in warnings)
    return f'<p class="soft">{text}</p>{warned}'


def _figures(run: Run) -> str:
    kinds = [event.kind for _, event in run.events]
    scores = [shot.score for shot in run.shots if shot.score is not None]
    good = sum(1 for shot in run.shots if shot.is_good)
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
    if run.battery:
        first, last = run.battery[0][1], run.battery[-1][1]
        figures.append(('Battery', f'{100 * first:.0f} → {100 * last:.0f} %'))
    return '<dl>' + ''.join(f'<div><dt>{a}</dt><dd>{b}</dd></div>' for a, b in figures) + '</dl>'


def _shots(run: Run) -> str:
    return f'<div class="shots">{"".join(map(_shot, run.shots))}</div>' if run.shots else ''


def _shot(shot: Shot) -> str:
    if shot.image:
        data = base64.b64encode(shot.image).decode()
        picture = f'<img alt="capture {shot.number}" src="data:{shot.media_type};base64,{data}">'
    else:
        picture = '<div class="none">no picture</div>'
    if shot.score is None:
        verdict = f'failed: {escaped(shot.reason)}'
    else:
        verdict = f'score {shot.score:.2f}, {"good" if shot.is_good else "dark"}'
    where = f' at x = {shot.place.x:.2f} m, y = {shot.place.y:.2f} m' if shot.place else ''
    return (
        f'<figure id="shot-{shot.number}">{picture}<figcaption><b>{shot.number}</b> {verdict}<br>'
        f'<span class="soft">{clock(shot.at_s)}{where}</span></figcaption></figure>'
    )


def _events(run: Run) -> str:
    rows = (_event(at_s, event) for at_s, event in run.events)
    return _table(('Time', 'Kind', 'Tool', 'What'), rows)


def _event(at_s: float, event: TraceEvent) -> str:
    words = escaped(event.message)
    if event.error_reason and event.error_reason not in event.message:
        words += f'<br>{escaped(event.error_reason)}'
    if event.score is not None:
        words += f' <span class="soft">score {event.score:.3g}</span>'
    if event.data:
        told = escaped(json.dumps(event.data, ensure_ascii=False, indent=1))
        words += f'<details><summary>data</summary><pre>{told}</pre></details>'
    look = ' class="bad"' if event.ok is False or event.kind is TraceKind.ERROR else ''
    return (
        f'<tr{look}><td class="n">{clock(at_s)}</td><td class="k">{event.kind.value}</td>'
        f'<td class="tool">{escaped(event.tool_name or "")}</td><td>{words}</td></tr>'
    )


def _calls(run: Run) -> str:
    return _table(('Time', 'Service', 'Took', 'Answer'), map(_call, run.calls))


def _call(call: Call) -> str:
    look = '' if call.ok else ' class="bad"'
    return (
        f'<tr{look}><td class="n">{clock(call.at_s)}</td><td>{escaped(call.service)}</td>'
        f'<td class="n">{1e3 * call.duration_s:.0f} ms</td><td>{escaped(call.answer)}</td></tr>'
    )


def _counts(run: Run) -> str:
    rows = (
        f'<tr><td>{escaped(topic)}</td><td>{escaped(kind)}</td><td class="n">{count}</td></tr>'
        for (topic, kind), count in sorted(run.counts.items())
    )
    return _table(('Topic', 'Type', 'Messages'), rows)


def _table(heads: tuple[str, ...], rows: Iterable[str]) -> str:
    lines = '\n'.join(rows)
    if not lines:
        return ''
    head = ''.join(f'<th>{each}</th>' for each in heads)
    return (
        f'<div class="table"><table><thead><tr>{head}</tr></thead>\n<tbody>{lines}</tbody>'
        '</table></div>'
    )
