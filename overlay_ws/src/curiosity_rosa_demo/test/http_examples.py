# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The examples of docs/reference/http.md, run by bash and curl as they stand there."""

from __future__ import annotations

from dataclasses import dataclass
import json
import os
from pathlib import Path
import re
import subprocess
from typing import Any

from harness import ROOT

PAGE = (ROOT / 'docs/reference/http.md').read_text(encoding='utf-8')
BLOCK = re.compile(r'```bash\n(.*?)```(?:\n\n```json\n(.*?)```)?', re.DOTALL)
COMMAND = re.compile(r'^(?:curl|export) .*?(?=^curl |\Z)', re.DOTALL | re.MULTILINE)
TIMED_OUT = 28  # curl's exit status
STREAM_S = 1  # of what has no end
CURL = f"""#!/bin/sh
case " $* " in *" -N "*) set -- --max-time {STREAM_S} "$@" ;; esac
exec /usr/bin/env -i PATH=/usr/bin:/bin curl -sS --fail-with-body --max-time 30 "$@"
"""


@dataclass(frozen=True)
class Example:
    """One command, and the fields that the page shows of its answer."""

    command: str
    shown: Any = None

    @property
    def streams(self) -> bool:
        return ' -N ' in self.command

    def run(self, folder: Path, **names: str) -> str:
        """Its output, with ``names`` as the variables; ``folder`` takes what it writes. Fails when
        curl does, also by an error of the server.
        """
        shim = folder / 'bin/curl'
        shim.parent.mkdir(exist_ok=True)
        shim.write_text(CURL)
        shim.chmod(0o755)
        ended = subprocess.run(
            ['bash', '-euo', 'pipefail', '-c', self.command],
            env={**names, 'PATH': f'{shim.parent}:{os.environ["PATH"]}'},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
        )
        fine = ended.returncode == (TIMED_OUT if self.streams else 0)
        assert fine, f'{self.command}\n{ended.stdout}\n{ended.stderr}'
        if self.shown is not None:
            missing = missing_in(json.loads(ended.stdout), self.shown)
            assert not missing, f'{self.command} answers nothing of {missing}: {ended.stdout}'
        return ended.stdout


def missing_in(answer: Any, shown: Any) -> list[str]:
    """The fields of ``shown`` that ``answer`` has not."""
    if not isinstance(shown, dict):
        return []
    if not isinstance(answer, dict):
        return sorted(shown)
    below = [
        name for key in shown if key in answer for name in missing_in(answer[key], shown[key])
    ]
    return [*(key for key in shown if key not in answer), *below]


def examples() -> list[Example]:
    """In the order of the page."""
    found = []
    for commands, answer in BLOCK.findall(PAGE):
        split = COMMAND.findall(commands)
        assert ''.join(split) == commands, commands
        found += [Example(each) for each in split[:-1]]
        found.append(Example(split[-1], json.loads(answer) if answer else None))
    return [each for each in found if not each.command.startswith('export URL=')]
