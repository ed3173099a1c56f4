# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs turns on request: a JSON object a line on stdin, the record of it a line on stdout.

Inspect has an environment of its own; this process has the product's.

Run: python -m models.worker, in the folder bench
"""

from __future__ import annotations

from dataclasses import asdict
import json
import os
import sys
from typing import Any

from models.turns import Contender, run_sentence, run_world


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The record of a request: a contender, and a seed or a label and a text."""
    contender = Contender(**request['contender'])
    if 'seed' in request:
        return asdict(run_world(contender, int(request['seed'])))
    return asdict(run_sentence(contender, str(request['label']), str(request['text'])))


def main() -> int:
    answers = os.fdopen(os.dup(sys.stdout.fileno()), 'w')
    sys.stdout = sys.stderr  # whatever a library prints is no answer
    for line in sys.stdin:
        try:
            said = {'record': answer(json.loads(line))}
        except Exception as error:
            said = {'error': f'{type(error).__name__}: {error}'}
        print(json.dumps(said), file=answers, flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
