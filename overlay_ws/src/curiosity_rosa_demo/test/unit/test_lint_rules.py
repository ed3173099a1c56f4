# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""ruff, ament_flake8 and ament_pep257 are told the same, and what ruff cannot see is seen here."""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path
import re

from harness import ROOT
import pytest

PACKAGE = ROOT / 'overlay_ws/src/curiosity_rosa_demo'
PROJECT = (ROOT / 'pyproject.toml').read_text(encoding='utf-8')  # tomllib came with Python 3.11
LICENSE = (ROOT / 'LICENSE').read_text(encoding='utf-8')
FILES = sorted(
    file
    for folder in (PACKAGE, ROOT / 'standalone/src')
    for file in folder.rglob('*.py')
    if not {'build', 'install'} & set(file.parts)
)


def rules() -> dict[str, str]:
    parser = ConfigParser()
    assert parser.read(PACKAGE / 'test/ament_flake8.ini')
    return dict(parser['flake8'])


def docstring_codes(text: str) -> set[str]:
    return set(re.findall(r'\bD\d{3}\b', text))


def plain(text: str) -> str:
    return ' '.join(text.split())


def test_the_same_docstring_rules_are_off_for_both() -> None:
    ignored = re.search(r'^ignore = \[(.*?)^(?=\S)', PROJECT, re.MULTILINE | re.DOTALL)
    assert ignored is not None
    assert docstring_codes(ignored[1]) == docstring_codes(rules()['extend-ignore'])


def test_the_lines_are_as_long_for_both() -> None:
    assert f'line-length = {rules()["max-line-length"]}\n' in PROJECT


def test_no_line_is_too_long_with_its_pragma() -> None:
    """Ruff measures a line without a trailing pragma, flake8 with it."""
    longest = int(rules()['max-line-length'])
    found = [
        f'{file.relative_to(ROOT)}:{number}'
        for file in FILES
        for number, line in enumerate(file.read_text(encoding='utf-8').splitlines(), 1)
        if len(line) > longest
    ]
    assert found == []


@pytest.mark.parametrize('folder', [PACKAGE, ROOT / 'standalone/src'], ids=lambda it: it.name)
def test_every_file_has_the_header_that_the_licence_asks_for(folder: Path) -> None:
    """As ament_copyright reads it: a year, a name, then the text, however its lines are broken."""
    notice = plain(LICENSE[LICENSE.rindex('Licensed under the Apache License') :])
    checked = 0
    for file in FILES:
        text = file.read_text(encoding='utf-8')
        if folder not in file.parents or not text.strip():
            continue
        lines = re.sub(r'\A#!.*\n', '', text).splitlines()
        end = next((n for n, line in enumerate(lines) if not line.startswith('#')), len(lines))
        block = plain(' '.join(line[1:] for line in lines[:end]))
        said = re.fullmatch(r'Copyright \d{4}(?:-\d{4})? Curiosity ROSA maintainers (.*)', block)
        assert said, f'{file}: no copyright notice; copy it from a neighbour'
        assert said[1] == notice, file
        checked += 1
    assert checked > 10


def test_the_number_of_examples_of_each_property_follows_the_profile() -> None:
    """See examples.py; a literal number is the same in every profile."""
    literal = re.compile(r'max_examples=\d')
    assert [file for file in FILES if literal.search(file.read_text(encoding='utf-8'))] == []
