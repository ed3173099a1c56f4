"""scripts/report.sh: a recording as one HTML file."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from curiosity_rosa_demo.trace.mcap_reader import NotARecording
from curiosity_rosa_demo.trace.report_html import page
from curiosity_rosa_demo.trace.report_run import read_run


def write_report(file: Path, out: Path) -> None:
    """``out`` is written at one go: it is whole, or as it was. Raises NotARecording, OSError."""
    text = page(read_run(file))
    if out.exists() and out.samefile(file):
        raise NotARecording(f'{out}: the report would overwrite the recording')
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
        prog='report.sh', description='Write the report of a recording.', allow_abbrev=False
    )
    parser.add_argument('file', type=Path, help='an MCAP file that :record made')
    parser.add_argument('out', type=Path, nargs='?', help='the report; beside FILE if left out')
    options = parser.parse_args(arguments)
    out = options.out or options.file.with_suffix('.html')
    try:
        write_report(options.file, out)
    except (NotARecording, OSError) as error:
        print(f'report: {error}', file=sys.stderr)
        return 2
    print(out)
    return 0


if __name__ == '__main__':
    sys.exit(run(sys.argv[1:]))
