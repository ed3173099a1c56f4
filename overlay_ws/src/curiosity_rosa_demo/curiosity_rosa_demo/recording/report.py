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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from itertools import groupby
import json
from pathlib import Path
import re
import sys
from typing import Any
from urllib.parse import quote

from curiosity_rosa_demo.domain.ground import ground_figures
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.operation import call_text
from curiosity_rosa_demo.domain.text import clip, count_text
from curiosity_rosa_demo.drawing.svg import css
from curiosity_rosa_demo.infra.files import replace_file
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
from curiosity_rosa_demo.trace.events import ModelCalled
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

# --- The figures of a run, or of many ----------------------------------------------------------


class Costs:
    """Tokens and money of some calls of models. ``cached`` is a part of ``input``; ``estimated``:
    some tokens are.
    """

    def __init__(self, calls: Sequence[ModelCalled]) -> None:
        self.calls = len(calls)
        self.input = sum(call.input for call in calls)
        self.cached = sum(call.cached for call in calls)
        self.output = sum(call.output for call in calls)
        self.tokens = self.input + self.output
        self.estimated = any(call.estimated for call in calls)
        priced = [call for call in calls if call.cost is not None]
        currencies = dict.fromkeys(call.currency for call in priced)
        parts = [
            f'{sum(call.cost or 0.0 for call in priced if call.currency == each):.6g} {each}'
            for each in currencies
        ]
        if unpriced := len(calls) - len(priced):
            parts.append(f'{count_text(unpriced, "call")} unknown')
        self.money_text = ', '.join(parts)


def costs_by_model(calls: Iterable[ModelCalled]) -> dict[str, Costs]:
    """In the order of the first call of each."""
    by_model: dict[str, list[ModelCalled]] = {}
    for call in calls:
        by_model.setdefault(call.model or call.provider, []).append(call)
    return {model: Costs(of_model) for model, of_model in by_model.items()}


def figures(*runs: RecordedRun) -> dict[str, str]:
    """Their sums by name. Without calls of a model there is no cost. Those of an index have no
    battery.
    """
    driven = [run.distance_m for run in runs if run.distance_m is not None]
    captures = [each for run in runs for each in run.captures]
    scores = [each.score for each in captures if each.score is not None]
    calls = [call for run in runs for call in run.model_calls]
    found = {
        'Time': clock(sum(run.length_s for run in runs)),
        'Driven': f'{sum(driven):.1f} m' if driven else 'unknown',
        'Captures': f'{len(scores)}, {sum(each.is_good for each in captures)} good',
        'Best score': f'{max(scores):.2f}' if scores else 'none',
        'Acts': str(sum(run.acts for run in runs)),
        'Failures': str(sum(run.failures for run in runs)),
        'Questions': str(sum(len(run.questions) for run in runs)),
    }
    if calls:
        costs = Costs(calls)
        found['Model calls'] = str(costs.calls)
        found['Tokens'] = f'{costs.tokens:,}'
        found['Cost'] = costs.money_text
    if runs and runs[0].battery:
        levels = [100 * level for _, level in runs[0].battery]
        found['Battery'] = f'{levels[0]:.0f} → {levels[-1]:.0f} %'
    return found


# --- The pages ---------------------------------------------------------------------------------


# Pictures are data URLs. The browser loads nothing else, whatever the recording contains.
CONTENT_SECURITY_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
# Of an index.
COLUMNS = ('Time', 'Driven', 'Captures', 'Best score', 'Questions', 'Tokens', 'Cost')
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
    groups = (list(group) for _, group in groupby(events, lambda each: _shown(each[1])))
    return [FoldedEvent(*group[0], len(group), group[-1][0]) for group in groups]


def _shown(event: TraceEvent) -> tuple[object, ...]:
    alone = None if event.score is None else event.event_id
    return event.kind, event.tool_name, event.message, event.ok, event.error_reason, alone


def utc(seconds: float) -> str:
    """Seconds since the epoch as date and time in UTC."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime('%Y-%m-%d %H:%M:%S UTC')


def data_url(image: bytes) -> str:
    kind = 'png' if image.startswith(b'\x89P') else 'jpeg'
    return f'data:image/{kind};base64,{base64.b64encode(image).decode()}'


def _visible(value: Any) -> Any:
    return value if isinstance(value, Markup) else _HIDDEN.sub('\ufffd', str(value))


def _drawn(draw: Callable[..., str], *arguments: Any) -> Markup:
    return Markup(draw(*arguments))


TEMPLATES = Environment(
    autoescape=True,
    finalize=_visible,
    loader=PackageLoader('curiosity_rosa_demo.recording', 'templates'),
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
# All texts are escaped; only Markup, our drawings and the style, is markup.
TEMPLATES.globals.update(policy=Markup(CONTENT_SECURITY_POLICY), colours=Markup(css()))
TEMPLATES.filters.update(
    clip=clip,
    clock=clock,
    costs=Costs,
    costs_by_model=costs_by_model,
    count_text=count_text,
    data_url=data_url,
    figures=figures,
    folded=folded,
    ground_figures=ground_figures,
    indented_json=lambda data: json.dumps(data, ensure_ascii=False, indent=1),
    quote=quote,  # a colon, too: it would begin another scheme
    step_text=lambda step: call_text(step.action, step.parameters),
    utc=utc,
    **{
        each.__name__: partial(_drawn, each)
        for each in (rehearsal_map, run_battery, run_map, run_scores, timeline_svg)
    },
)


def page(run: RecordedRun) -> str:
    return TEMPLATES.get_template('page.html.j2').render(title=run.name, run=run)


def index_page(title: str, runs: Mapping[str, RecordedRun], unreadable: Mapping[str, str]) -> str:
    """The newest run first. ``title``: the name of the folder. ``runs``: by their report, relative
    to the index, with / between folders. ``unreadable``: the names of files that have none, and
    what is wrong with them.
    """
    turns = [turn for run in runs.values() for turn in run.turns]
    done = sum(turn.result == 'done' for turn in turns)
    goals = {'Runs': str(len(runs)), 'Goals': f'{len(turns)}, {done} done'}
    return TEMPLATES.get_template('index.html.j2').render(
        title=title,
        runs=sorted(runs.items(), key=lambda each: (-each[1].began_s, each[1].name)),
        unreadable=unreadable,
        columns=COLUMNS,
        key_figures={**goals, **figures(*runs.values())},
    )


# --- The command -------------------------------------------------------------------------------


INDEX = 'index.html'


def write_report(file: Path, out: Path) -> RecordedRun:
    """Write the report of ``file`` to ``out``, atomically. Raises NotARecording, OSError."""
    run = read_run(file)
    text = page(run)
    if out.exists() and out.samefile(file):
        raise NotARecording(f'{out}: the report would overwrite the recording')
    replace_file(out, text.encode(errors='replace'))
    return run


def write_index(folder: Path, out: Path) -> dict[str, str]:
    """Write into the folder ``out`` the report of each ``.mcap`` file below ``folder``, and their
    index. Returns the names of the files that have no report, with what is wrong with them; the
    index names them, too. Raises NotARecording for a folder without such files, and OSError.
    """
    files = sorted(each for each in folder.rglob('*.mcap') if each.is_file())
    if not files:
        raise NotARecording(f'{folder} holds no .mcap file')
    runs, unreadable = {}, {}
    for file in files:
        name = file.relative_to(folder)
        report = name.with_suffix('.html')
        try:
            if report == Path(INDEX):
                raise NotARecording(f'{file}: its report would be the index; rename it')
            (out / report).parent.mkdir(parents=True, exist_ok=True)
            runs[report.as_posix()] = write_report(file, out / report)
            runs[report.as_posix()].drop_data()
        except (NotARecording, OSError) as error:
            unreadable[name.as_posix()] = str(error)
    out.mkdir(parents=True, exist_ok=True)
    index = index_page(folder.resolve().name, runs, unreadable)
    replace_file(out / INDEX, index.encode(errors='replace'))
    return unreadable


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
