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
import os
from pathlib import Path
import sys
import tempfile

from curiosity_rosa_demo.recording.mcap.limits import NotARecording
from curiosity_rosa_demo.recording.report.html import page
from curiosity_rosa_demo.recording.report.index import index_page, IndexedRun, UnreadableRun
from curiosity_rosa_demo.recording.report.run import read_run
from curiosity_rosa_demo.recording.report.summary import RunSummary, summary_of

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
