# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tables of docs/reference/contracts.md and configuration.md, made from the running system and
from the code. ``scripts/contracts.sh`` writes them anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
import sys
from typing import Any

from contract_run import ContractRun, PATIENCE_S
from contract_tables import contracts, table
from curiosity_rosa_demo.infra.config.world import WorldView
from curiosity_rosa_demo.infra.config_loader import CONFIG_FILES, load_config, shipped_config_dir
from harness import ROOT, Sandbox, wait_until
from yaml_keys import rows

TYPES = ROOT / 'overlay_ws/src/curiosity_rosa_interfaces'
PARTS = {'.action': ('goal', 'result', 'feedback'), '.srv': ('request', 'response')}
CONTRACTS, CONFIGURATION = (
    ROOT / 'docs/reference/contracts.md',
    ROOT / 'docs/reference/configuration.md',
)


class PageError(Exception):
    """The message names the page and the part."""


def with_parts(page: str, parts: Mapping[str, str], name: str) -> str:
    """The page with each part between its markers exchanged. Raises PageError."""
    for part, text in parts.items():
        begin, end = f'<!-- begin: {part} -->\n', f'<!-- end: {part} -->'
        before, found, rest = page.partition(begin)
        _, ended, after = rest.partition(end)
        if not (found and ended):
            raise PageError(f'{name}: needs the lines {begin.strip()} and {end}')
        page = f'{before}{begin}{text}\n{end}{after}'
    return page


# --- docs/reference/configuration.md ---------------------------------------------------------


def configuration() -> dict[str, str]:
    """The parts of docs/reference/configuration.md."""
    files = {
        name: (model, shipped_config_dir() / f'{name}.yaml')
        for name, model in CONFIG_FILES.items()
    }
    parts = {name: _keys(model, shipped) for name, (model, shipped) in files.items()}
    return {**parts, 'world': _keys(WorldView, None)}


def _keys(model: Any, shipped: Path | None) -> str:
    lines = [(f'`{row.key}`', row.default, row.kind, row.says) for row in rows(model, shipped)]
    return table(('key', 'default', 'may be', ''), lines)


# --- docs/reference/contracts.md -------------------------------------------------------------


def interfaces() -> dict[str, str]:
    """The part of docs/reference/contracts.md that needs no run: the fields of our own types."""
    lines = []
    for path in (*sorted(TYPES.glob('action/*.action')), *sorted(TYPES.glob('srv/*.srv'))):
        parts = PARTS[path.suffix]
        for part, text in zip(parts, path.read_text(encoding='utf-8').split('---'), strict=True):
            for line in text.strip().splitlines():
                declared, _, says = line.partition('#')
                if declared:
                    type_, name = declared.split()
                    lines.append((path.stem, part, f'`{name}`', f'`{type_}`', says.strip()))
    return {'fields': table(('interface', 'part', 'field', 'type', ''), lines)}


# --- writing them ----------------------------------------------------------------------------


def observed() -> dict[str, str]:
    """The parts of docs/reference/contracts.md of a run that is made for them."""
    topics = load_config().topics
    with Sandbox() as box:
        run = ContractRun(box, topics)
        run.show_all()
        seen: list[int] = []

        def settled() -> bool:
            seen.append(len(run.look().uses))
            return len(seen) > 100 and seen[-1] == seen[-100]

        wait_until(settled, 'nothing new to show up', PATIENCE_S)
        return contracts(run.graph, run.overlay(), run.parameters(), topics)


def main() -> int:
    try:
        parts = {CONFIGURATION: configuration(), CONTRACTS: {**interfaces(), **observed()}}
        pages = {path: path.read_text(encoding='utf-8') for path in parts}
        new_pages = {path: with_parts(pages[path], parts[path], path.name) for path in parts}
    except (AssertionError, LookupError, PageError) as error:  # a wait, a rule without words
        print(f'contracts: {error}', file=sys.stderr)
        return 1
    for path, new in new_pages.items():
        path.write_text(new, encoding='utf-8')
        same = new == pages[path]
        print(f'{path.relative_to(ROOT)}: {"is as it should be" if same else "written"}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
