# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""README, CONTRIBUTING and docs/: their links lead somewhere, their paths exist, and their tables
of commands and arguments are complete. scripts/docs.sh checks the links between pages of docs/.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import re

from curiosity_rosa_demo.agent.interfaces.terminal.commands import COMMANDS, usage
from curiosity_rosa_demo.agent.react.graph import mermaid
from harness import ROOT

DOCS = ROOT / 'docs'
PAGES = sorted(DOCS.rglob('*.md'))
OUTSIDE = [
    ROOT / 'README.md',
    ROOT / 'CONTRIBUTING.md',
    *sorted(ROOT.glob('examples/*/README.md')),
]
PACKAGE = ROOT / 'overlay_ws/src/curiosity_rosa_demo'
ROOTS = [
    ROOT,
    PACKAGE,
    PACKAGE / 'curiosity_rosa_demo',
    ROOT / 'standalone/src/curiosity_stand_in',
]
CODE = re.compile(r'^```.*?^```', re.DOTALL | re.MULTILINE)
LINK = re.compile(r'\]\(([^)\s]+)\)')
HEADING = re.compile(r'^#+ (.*)$', re.MULTILINE)
FILE = re.compile(r'`(\w[\w.-]*(?:/[\w.-]+)+\.(?:py|yaml|json|sh|xml|xacro|md|js|tsv|txt))`')
MADE = re.compile(
    r'^(?:my_config|scout_config|look_around|out|run|DIR|keystore)/'
)  # by the reader


def text_of(page: Path) -> str:
    """Without code."""
    return CODE.sub('', page.read_text(encoding='utf-8'))


def anchors(page: Path) -> set[str]:
    """As the site and the usual viewers of repositories make them."""
    plain = (
        re.sub(r'[^\w\s-]', '', heading).strip().lower()
        for heading in HEADING.findall(text_of(page))
    )
    return {re.sub(r'\s', '-', each) for each in plain}


def links(page: Path) -> Iterator[tuple[str, str]]:
    for target in LINK.findall(text_of(page)):
        if not re.match(r'\w+:', target):
            path, _, anchor = target.partition('#')
            yield path, anchor


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_a_link_of_a_page_outside_docs_leads_somewhere() -> None:
    wrong = []
    for page in OUTSIDE:
        for path, anchor in links(page):
            target = page.parent / path if path else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                wrong.append((name(page), path, anchor))
    assert wrong == []


def test_a_file_that_a_page_names_exists() -> None:
    found = [(page, file) for page in (*OUTSIDE, *PAGES) for file in FILE.findall(text_of(page))]
    assert [
        (name(page), file)
        for page, file in found
        if not any((root / file).exists() for root in ROOTS) and not MADE.match(file)
    ] == []


def test_the_page_of_the_console_lists_every_command_as_it_is() -> None:
    page = (DOCS / 'reference/console.md').read_text(encoding='utf-8').replace('\\|', '|')
    shown = re.findall(r'^\| `(:[^`]+)` \|', page, re.MULTILINE)
    assert shown == [usage(spec) for spec in COMMANDS.values()]


def test_the_page_of_the_launch_file_lists_every_argument() -> None:
    launch = (PACKAGE / 'launch/demo.launch.py').read_text(encoding='utf-8')
    arguments = re.findall(r"^    '(\w+)': \('|^    '(\w+)': \(str\(", launch, re.MULTILINE)
    names = ['agent', *(one or other for one, other in arguments)]
    page = (DOCS / 'reference/launch.md').read_text(encoding='utf-8')
    assert sorted(re.findall(r'^\| `(\w+)` \|', page, re.MULTILINE)) == sorted(names)


def test_the_picture_of_the_graph_is_that_of_the_graph() -> None:
    page = (DOCS / 'explanation/react.md').read_text(encoding='utf-8')
    assert f'```mermaid\n{mermaid().strip()}\n```' in page
