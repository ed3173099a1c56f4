# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""scripts/report.sh: write the report of a recording, or those of a folder with an index.

Each is one HTML page without external resources or scripts.
"""

from __future__ import annotations

import argparse
import base64
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
import json
import os
from pathlib import Path
import re
import sys
import tempfile
from typing import Any
from urllib.parse import quote

from curiosity_rosa_demo.domain.ground import ground_figures
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.text import clip, count_text
from curiosity_rosa_demo.drawing.svg import css
from curiosity_rosa_demo.recording.drawings import (
    clock,
    rehearsal_map,
    run_battery,
    run_map,
    run_scores,
    timeline_svg,
)
from curiosity_rosa_demo.recording.file import NotARecording
from curiosity_rosa_demo.recording.run import read_run, RecordedRun
from curiosity_rosa_demo.recording.turns import Costs, Turn
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

# --- The figures of a run, or of many ----------------------------------------------------------


@dataclass
class Totals:
    """``driven_m`` None: unknown. ``captures``: those with a score. ``best``: of the scores."""

    length_s: float = 0.0
    driven_m: float | None = None
    captures: int = 0
    good: int = 0
    best: float | None = None
    acts: int = 0
    failures: int = 0
    questions: int = 0
    costs: Costs = field(default_factory=Costs)

    def add(self, other: Totals) -> None:
        self.length_s += other.length_s
        self.captures += other.captures
        self.good += other.good
        self.acts += other.acts
        self.failures += other.failures
        self.questions += other.questions
        self.costs.add(other.costs)
        if other.driven_m is not None:
            self.driven_m = (self.driven_m or 0.0) + other.driven_m
        if other.best is not None:
            self.best = other.best if self.best is None else max(self.best, other.best)

    def figures(self) -> dict[str, str]:
        """By name. Without calls of a model there is no cost."""
        figures = {
            'Time': clock(self.length_s),
            'Driven': 'unknown' if self.driven_m is None else f'{self.driven_m:.1f} m',
            'Captures': f'{self.captures}, {self.good} good',
            'Best score': 'none' if self.best is None else f'{self.best:.2f}',
            'Acts': str(self.acts),
            'Failures': str(self.failures),
            'Questions': str(self.questions),
        }
        if self.costs.calls:
            figures['Model calls'] = str(self.costs.calls)
            figures['Tokens'] = f'{self.costs.tokens:,}'
            figures['Cost'] = self.costs.money_text
        return figures


def totals_of(run: RecordedRun) -> Totals:
    scores = [capture.score for capture in run.captures if capture.score is not None]
    totals = Totals(
        run.length_s,
        run.distance_m,
        captures=len(scores),
        good=sum(capture.is_good for capture in run.captures),
        best=max(scores, default=None),
        acts=sum(event.kind is TraceKind.ACT for _, event in run.events),
        failures=sum(event.ok is False for _, event in run.events),
        questions=len(run.told.questions),
    )
    for costs in run.told.costs.values():
        totals.costs.add(costs)
    return totals


# --- The pages ---------------------------------------------------------------------------------


# Pictures are data URLs. The browser loads nothing else, whatever the recording contains.
CONTENT_SECURITY_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
MAX_REHEARSAL_MAPS = 50
COLUMNS = (
    'Time',
    'Driven',
    'Captures',
    'Best score',
    'Questions',
    'Tokens',
    'Cost',
)  # of an index
# Control characters that HTML forbids, and those that change the direction of text.
_HIDDEN = re.compile('[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]')


@dataclass(frozen=True)
class FoldedEvent:
    """``count`` equal events from ``at_s`` to ``last_s``; ``event`` is the first."""

    at_s: float
    event: TraceEvent
    count: int
    last_s: float


def folded(events: Sequence[tuple[float, TraceEvent]]) -> list[FoldedEvent]:
    """Neighbours that differ in no more than time and data are one. A scored event stays alone."""
    found: list[FoldedEvent] = []
    for at_s, event in events:
        if found and event.score is None and _shown(found[-1].event) == _shown(event):
            found[-1] = replace(found[-1], count=found[-1].count + 1, last_s=at_s)
        else:
            found.append(FoldedEvent(at_s, event, 1, at_s))
    return found


def _shown(event: TraceEvent) -> tuple[object, ...]:
    reason, score = event.error_reason, event.score
    return event.kind, event.tool_name, event.message, event.ok, reason, score


def utc(seconds: float) -> str:
    """Seconds since the epoch as date and time in UTC."""
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime('%Y-%m-%d %H:%M:%S UTC')
    except (ValueError, OverflowError, OSError):
        return f'{seconds:g} s'


def data_url(image: bytes) -> str:
    kind = 'png' if image.startswith(b'\x89P') else 'jpeg'
    return f'data:image/{kind};base64,{base64.b64encode(image).decode()}'


def _visible(value: Any) -> Any:
    return value if isinstance(value, Markup) else _HIDDEN.sub('\ufffd', str(value))


TEMPLATES = Environment(
    autoescape=True,
    finalize=_visible,
    loader=PackageLoader('curiosity_rosa_demo.recording', 'templates'),
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
TEMPLATES.filters.update(
    clip=clip,
    clock=clock,
    count_text=count_text,
    data_url=data_url,
    folded=folded,
    ground_figures=ground_figures,
    indented_json=lambda data: json.dumps(data, ensure_ascii=False, indent=1),
    quote=quote,  # a colon, too: it would begin another scheme
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


def page(run: RecordedRun) -> str:
    """The report. Only the first MAX_REHEARSAL_MAPS rehearsals are drawn."""
    figures = totals_of(run).figures()
    if run.battery:
        first, last = run.battery[0][1], run.battery[-1][1]
        figures['Battery'] = f'{100 * first:.0f} → {100 * last:.0f} %'
    drawings = {
        'Map': run_map(run),
        'Score over position': run_scores(run),
        'Battery': run_battery(run),
    }
    maps = [rehearsal_map(run, each) for each in run.told.rehearsals[:MAX_REHEARSAL_MAPS]]
    return render(
        'page.html.j2',
        run.name,
        run=run,
        told=run.told,
        key_figures=figures,
        drawings={name: Markup(drawing) for name, drawing in drawings.items()},
        rehearsal_maps=[Markup(each) for each in maps],
        timeline=Markup(timeline_svg(run.events)),
    )


@dataclass(frozen=True)
class IndexedRun:
    """A run with its report, at ``report`` relative to the index, with / between folders."""

    report: str
    name: str
    began_s: float
    totals: Totals
    turns: Sequence[Turn]
    warnings: Sequence[str]

    @classmethod
    def of(cls, run: RecordedRun, report: str) -> IndexedRun:
        return cls(report, run.name, run.began_s, totals_of(run), run.told.turns, run.warnings)


def index_page(
    title: str, runs: Sequence[IndexedRun], unreadable: Iterable[tuple[str, str]] = ()
) -> str:
    """The newest run first. ``title``: the name of the folder. ``unreadable``: the names of files
    that have no report, and what is wrong with them.
    """
    total = Totals()
    for run in runs:
        total.add(run.totals)
    turns = [turn for run in runs for turn in run.turns]
    done = sum(turn.result == 'done' for turn in turns)
    return render(
        'index.html.j2',
        title,
        runs=sorted(runs, key=lambda run: (-run.began_s, run.name)),
        unreadable=unreadable,
        columns=COLUMNS,
        key_figures={
            'Runs': str(len(runs)),
            'Goals': f'{len(turns)}, {done} done',
            **total.figures(),
        },
    )


# --- The command -------------------------------------------------------------------------------


INDEX = 'index.html'


def write_report(file: Path, out: Path) -> RecordedRun:
    """Write the report of ``file`` to ``out``, atomically. Raises NotARecording, OSError."""
    run = read_run(file)
    text = page(run)
    if out.exists() and out.samefile(file):
        raise NotARecording(f'{out}: the report would overwrite the recording')
    _write(out, text)
    return run


def write_index(folder: Path, out: Path) -> dict[str, str]:
    """Write into the folder ``out`` the report of each ``.mcap`` file below ``folder``, and their
    index. Returns the names of the files that have no report, with what is wrong with them; the
    index names them, too. Raises NotARecording for a folder without such files, and OSError.
    """
    files = sorted(each for each in folder.rglob('*.mcap') if each.is_file())
    if not files:
        raise NotARecording(f'{folder} holds no .mcap file')
    runs, unreadable = [], {}
    for file in files:
        name = file.relative_to(folder)
        report = name.with_suffix('.html')
        try:
            if report == Path(INDEX):
                raise NotARecording(f'{file}: its report would be the index; rename it')
            (out / report).parent.mkdir(parents=True, exist_ok=True)
            runs.append(IndexedRun.of(write_report(file, out / report), report.as_posix()))
        except (NotARecording, OSError) as error:
            unreadable[name.as_posix()] = str(error)
    out.mkdir(parents=True, exist_ok=True)
    _write(out / INDEX, index_page(folder.resolve().name, runs, unreadable.items()))
    return unreadable


def _write(out: Path, text: str) -> None:
    number, name = tempfile.mkstemp(prefix=f'.{out.name}.', dir=out.parent)
    try:
        with os.fdopen(number, 'w', encoding='utf-8', errors='replace') as written:
            written.write(text)
        os.chmod(name, 0o644)
        os.replace(name, out)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog='report.sh',
        description='Write the report of a recording, or the reports of a folder with an index.',
        allow_abbrev=False,
    )
    parser.add_argument('file', type=Path, help='an MCAP file that :record made, or a folder')
    parser.add_argument(
        'out', type=Path, nargs='?', help='the report, or the folder of reports; default: beside'
    )
    options = parser.parse_args(arguments)
    file: Path = options.file
    unreadable: dict[str, str] = {}
    try:
        if file.is_dir():
            folder = options.out or file
            unreadable, out = write_index(file, folder), folder / INDEX
        else:
            out = options.out or file.with_suffix('.html')
            write_report(file, out)
    except (NotARecording, OSError) as error:
        print(f'report: {error}', file=sys.stderr)
        return 2
    for reason in unreadable.values():
        print(f'report: {reason}', file=sys.stderr)
    print(out)
    return 1 if unreadable else 0


if __name__ == '__main__':
    sys.exit(run(sys.argv[1:]))
