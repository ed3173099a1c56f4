# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Print the results of bench/results into the pages of docs/reference.

A page has a place for each result: ``<!-- result: NAME -->`` to ``<!-- end -->``.

Run: scripts/bench.sh --report
"""

from __future__ import annotations

import json
from pathlib import Path
import re
import sys
import textwrap
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / 'docs/reference'
RESULTS = ROOT / 'bench/results'
PLACE = re.compile(r'(<!-- result: (\w+) -->\n).*?(<!-- end -->)', re.DOTALL)


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


def filled(page: str, results: dict[str, dict[str, Any]]) -> str:
    """The page with each result in its place. Raises KeyError for a result that is missing."""
    return PLACE.sub(lambda m: f'{m[1]}\n{section(results[m[2]])}\n\n{m[3]}', page)


def main() -> int:
    results = read_results()
    for file in sorted(PAGES.glob('*.md')):
        page = file.read_text(encoding='utf-8')
        if (made := filled(page, results)) != page:
            file.write_text(made, encoding='utf-8')
            print(f'{file.relative_to(ROOT)} is new')
    return 0


if __name__ == '__main__':
    sys.exit(main())
