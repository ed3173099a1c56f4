# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""scripts/report.sh: write the report of a recording as one HTML file."""

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
from curiosity_rosa_demo.recording.report.run import read_run


def write_report(file: Path, out: Path) -> None:
    """Write the report of ``file`` to ``out``, atomically. Raises NotARecording, OSError."""
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
