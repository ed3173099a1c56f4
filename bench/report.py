# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The tables of bench/results for the pages of docs/reference, which include each by its name.
scripts/docs.sh runs this, before the site.
"""

from __future__ import annotations

import json
from pathlib import Path
import textwrap
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / 'bench/results'
TABLES = ROOT / 'run/tables/results'


def section(saved: dict[str, Any]) -> str:
    """A result as Markdown: the sentence, the table, the aim."""
    rows = [saved['columns'], ['---'] * len(saved['columns']), *saved['rows']]
    lines = [f'| {" | ".join(map(_cell, row))} |' for row in rows]
    aim = f'Aim: {saved["aim"]}: {"met" if saved["met"] else "missed"}.' if saved['aim'] else ''
    told = f'**{saved["title"]}.** {saved["what"]}'
    made = f'Measured {saved["measured"]} by `{saved["command"]}`.'
    before, after = ('\n'.join(textwrap.wrap(text, 120)) for text in (told, aim))
    return '\n'.join((before, '', *lines, '', *([after] if after else []), made))


def _cell(value: Any) -> str:
    if value is None:
        return '-'
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f'{value:,}' if number else str(value).replace('|', '/')


def read_results(folder: Path = RESULTS) -> dict[str, dict[str, Any]]:
    return {file.stem: json.loads(file.read_text()) for file in sorted(folder.glob('*.json'))}


def main() -> None:
    TABLES.mkdir(parents=True, exist_ok=True)
    for name, saved in read_results().items():
        (TABLES / f'{name}.md').write_text(f'{section(saved)}\n', encoding='utf-8')


if __name__ == '__main__':
    main()
