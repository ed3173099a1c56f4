"""A run as one HTML page that needs nothing from elsewhere and runs no script."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.trace.report_run import Call, Run, Shot
from curiosity_rosa_demo.trace.report_svg import battery_svg, map_svg, score_svg
from curiosity_rosa_demo.trace.report_text import clock, escaped, utc
from curiosity_rosa_demo.trace.report_timeline import timeline_svg

# Pictures come as data; nothing else may be loaded, whatever a recording holds.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"

STYLE = """
:root { color-scheme: light dark; --ink: #1d1a18; --paper: #faf7f4; --card: #fff; --line: #ded5cd;
  --soft: #6b615a; --blue: #1f6fc4; --good: #1b8a45; --dark: #a86400; --bad: #c22a1e;
  --zone: #ffe9a8; }
@media (prefers-color-scheme: dark) { :root { --ink: #ece6e1; --paper: #191614; --card: #221e1b;
  --line: #40372f; --soft: #a79b92; --blue: #6db1ff; --good: #5fd38a; --dark: #f0b050;
  --bad: #ff7a6b; --zone: #4a4020; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 24px 16px 64px; color: var(--ink);
  background: var(--paper); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 26px; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 36px 0 10px; }
.soft { color: var(--soft); }
.warn { border-left: 4px solid var(--bad); padding: 6px 12px; background: var(--card); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(128px, 1fr)); gap: 10px; }
dl div { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 8px 12px; }
dt { color: var(--soft); font-size: 13px; } dd { margin: 0; font-size: 18px; white-space: nowrap; }
svg { width: 100%; height: auto; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; }
svg text { fill: var(--soft); font-size: 12px; } svg .x { text-anchor: middle; }
svg .y, svg .lane { text-anchor: end; }
.grid { stroke: var(--line); stroke-width: 1; } .zone { fill: var(--zone); }
.trail { fill: none; stroke: var(--blue); stroke-width: 2.5; stroke-linejoin: round; }
.begin { fill: var(--soft); } .end { fill: var(--blue); }
circle.good, circle.result, rect.result { fill: var(--good); }
circle.dark, circle.act, rect.act { fill: var(--dark); }
circle.failed, rect.failed, circle.error { fill: var(--bad); }
circle.observe { fill: var(--blue); } circle.hypothesize, circle.decide { fill: var(--soft); }
.shots { display: grid; grid-template-columns: repeat(auto-fill, minmax(280px, 1fr)); gap: 14px; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  overflow: hidden; } figure:target { outline: 3px solid var(--blue); }
figure img { display: block; width: 100%; height: auto; } figcaption { padding: 8px 12px; }
.none { padding: 40px 12px; text-align: center; color: var(--soft); }
.table { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px;
  background: var(--card); }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
td.tool { min-width: 11em; }
th, td { text-align: left; vertical-align: top; padding: 5px 10px;
  border-bottom: 1px solid var(--line); }
td { overflow-wrap: anywhere; unicode-bidi: isolate; white-space: pre-wrap; }
td.n, td.k { white-space: nowrap; } td.n { font-variant-numeric: tabular-nums;
  color: var(--soft); }
tr.bad td { color: var(--bad); } tr.bad td.n { color: var(--soft); }
summary { cursor: pointer; color: var(--soft); }
pre { margin: 4px 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px; }
@media print { body { max-width: none; } figure, tr { break-inside: avoid; } }
"""


def page(run: Run) -> str:
    sections = (
        ('Figures', _figures(run)),
        ('Map', map_svg(run)),
        ('Captures', _shots(run)),
        ('Score over position', score_svg(run.shots)),
        ('Time line', timeline_svg(run.events)),
        ('Battery', battery_svg(run.battery)),
        ('What was thought and done', _events(run)),
        ('Services that were called', _calls(run)),
        ('What the recording holds', _counts(run)),
    )
    body = ''.join(f'<h2>{title}</h2>\n{text}\n' for title, text in sections if text)
    title = escaped(run.name)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n'
        f'<h1>{title}</h1>\n{_head(run)}\n{body}</body>\n</html>\n'
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
