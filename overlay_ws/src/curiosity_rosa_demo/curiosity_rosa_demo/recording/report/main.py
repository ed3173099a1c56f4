# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""scripts/report.sh: write the report of a recording, or those of a folder with an index."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
import os
from pathlib import Path
import sys
import tempfile
from urllib.parse import quote

from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.recording.mcap.file import NotARecording
from curiosity_rosa_demo.recording.report.html import page, render
from curiosity_rosa_demo.recording.report.run import read_run
from curiosity_rosa_demo.recording.report.summary import RunSummary, summary_of
from curiosity_rosa_demo.recording.report.text import clock
from curiosity_rosa_demo.recording.report.turns import RecordedTurn

# -----------------------------------------------------------------------------------------------
# Render the index of many runs as one HTML page without external resources or scripts.


COLUMNS = ('Time', 'Driven', 'Captures', 'Best score', 'Questions', 'Tokens', 'Cost')
SHOWN_TURNS = 3  # of a run


@dataclass(frozen=True)
class IndexedRun:
    """A run with its report, at ``report`` relative to the index, with / between folders."""

    report: str
    summary: RunSummary

    @property
    def name(self) -> str:
        return self.summary.name

    @property
    def began_s(self) -> float:
        return self.summary.began_s

    @property
    def link(self) -> str:
        """A colon, too, is quoted: it would begin another scheme."""
        return quote(self.report)

    @property
    def shown_turns(self) -> Sequence[RecordedTurn]:
        return self.summary.turns[:SHOWN_TURNS]

    @property
    def more_turns(self) -> int:
        return max(0, len(self.summary.turns) - SHOWN_TURNS)

    @property
    def warnings(self) -> Sequence[str]:
        return self.summary.warnings

    @property
    def figures(self) -> list[tuple[str, str]]:
        """A text for each of COLUMNS."""
        summary, costs = self.summary, self.summary.costs
        texts = (
            clock(summary.length_s),
            summary.driven_text,
            summary.captures_text,
            summary.best_text,
            str(summary.questions),
            f'{costs.tokens:,}' if costs.calls else 'none',
            costs.money_text or 'none',
        )
        return list(zip(COLUMNS, texts, strict=True))


@dataclass(frozen=True)
class UnreadableRun:
    """A file that has no report. ``reason``: names the file and what is wrong with it."""

    name: str
    reason: str


def index_page(
    title: str, runs: Sequence[IndexedRun], unreadable: Sequence[UnreadableRun] = ()
) -> str:
    """The newest run first. ``title``: the name of the folder."""
    return render(
        'index.html.j2',
        title,
        runs=sorted(runs, key=lambda run: (-run.began_s, run.name)),
        unreadable=unreadable,
        columns=COLUMNS,
        key_figures=_key_figures([run.summary for run in runs]),
    )


def _key_figures(runs: Sequence[RunSummary]) -> list[tuple[str, str]]:
    """The sums."""
    answered = [turn for run in runs for turn in run.turns]
    done = sum(turn.result == 'done' for turn in answered)
    scores = [run.best_score for run in runs if run.best_score is not None]
    money: dict[str, float] = {}
    for currency, amount in (pair for run in runs for pair in run.costs.money):
        money[currency] = money.get(currency, 0.0) + amount
    figures = [
        ('Runs', str(len(runs))),
        ('Goals', f'{len(answered)}, {done} done'),
        ('Time', clock(sum(run.length_s for run in runs))),
        ('Driven', f'{sum(run.distance_m or 0.0 for run in runs):.1f} m'),
        (
            'Captures',
            f'{sum(run.captures for run in runs)}, {sum(run.good_captures for run in runs)} good',
        ),
        ('Best score', f'{max(scores):.2f}' if scores else 'none'),
        ('Questions', str(sum(run.questions for run in runs))),
        ('Failures', str(sum(run.failures for run in runs))),
    ]
    if any(run.costs.calls for run in runs):
        unpriced = sum(run.costs.unpriced for run in runs)
        parts = [f'{amount:.6g} {currency}' for currency, amount in money.items()]
        parts += [f'{count_text(unpriced, "call")} unknown'] if unpriced else []
        figures += [
            ('Model tokens', f'{sum(run.costs.tokens for run in runs):,}'),
            ('Model cost', ', '.join(parts)),
        ]
    return figures


INDEX = 'index.html'


def write_report(file: Path, out: Path) -> RunSummary:
    """Write the report of ``file`` to ``out``, atomically. Raises NotARecording, OSError."""
    run = read_run(file)
    summary = summary_of(run)
    text = page(run, summary)
    if out.exists() and out.samefile(file):
        raise NotARecording(f'{out}: the report would overwrite the recording')
    _write(out, text)
    return summary


def write_index(folder: Path, out: Path) -> list[UnreadableRun]:
    """Write into the folder ``out`` the report of each ``.mcap`` file below ``folder``, and their
    index. Returns the files that have no report; the index names them. Raises NotARecording for a
    folder without such files, and OSError.
    """
    files = sorted(each for each in folder.rglob('*.mcap') if each.is_file())
    if not files:
        raise NotARecording(f'{folder} holds no .mcap file')
    runs, unreadable = [], []
    for file in files:
        name = file.relative_to(folder)
        report = name.with_suffix('.html')
        try:
            if report == Path(INDEX):
                raise NotARecording(f'{file}: its report would be the index; rename it')
            (out / report).parent.mkdir(parents=True, exist_ok=True)
            runs.append(IndexedRun(report.as_posix(), write_report(file, out / report)))
        except (NotARecording, OSError) as error:
            unreadable.append(UnreadableRun(name.as_posix(), str(error)))
    out.mkdir(parents=True, exist_ok=True)
    _write(out / INDEX, index_page(folder.resolve().name, runs, unreadable))
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
    unreadable: list[UnreadableRun] = []
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
    for each in unreadable:
        print(f'report: {each.reason}', file=sys.stderr)
    print(out)
    return 1 if unreadable else 0


if __name__ == '__main__':
    sys.exit(run(sys.argv[1:]))
