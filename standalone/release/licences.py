# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The licences of the Python packages of an environment, and whether we may depend on them.

python -m release.licences SITE_PACKAGES OUTPUT.csv     exit status 1: one may not
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
import csv
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
import re
import sys

# Licences that Apache-2.0 software may depend on. MPL-2.0 binds the package's own files only.
ALLOWED = frozenset({
    '0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CNRI-Python', 'ISC', 'MIT', 'MIT-0',
    'MIT-CMU', 'MPL-2.0', 'PSF-2.0', 'Unlicense', 'Zlib',
})  # fmt: skip
# The words of old metadata, in the order in which they are tried.
WORDS = (
    (re.compile(r'mozilla public license|mpl.?2', re.IGNORECASE), 'MPL-2.0'),
    (re.compile(r'\b[AL]?GPL|general public license', re.IGNORECASE), 'GPL'),
    (re.compile(r'apache', re.IGNORECASE), 'Apache-2.0'),
    (re.compile(r'\bbsd', re.IGNORECASE), 'BSD-3-Clause'),
    (re.compile(r'\bmit\b', re.IGNORECASE), 'MIT'),
    (re.compile(r'\bisc\b', re.IGNORECASE), 'ISC'),
    (re.compile(r'python software foundation|\bpsf', re.IGNORECASE), 'PSF-2.0'),
)
# Packages whose metadata says less than their licence file.
KNOWN = {
    'docutils': 'BSD-2-Clause',  # the GPL of its metadata is that of one file for Emacs
    'setuptools': 'MIT',
}
FORBIDDEN = frozenset({'stdiomask'})  # GPL-3.0-or-later, and nothing of ours imports it
COLUMNS = ('name', 'version', 'licence', 'declared', 'homepage')


@dataclass(frozen=True)
class Licence:
    """``licence``: an SPDX expression; '' if the metadata gives none. ``declared``: its words."""

    name: str
    version: str
    licence: str
    declared: str
    homepage: str

    @property
    def problem(self) -> str:
        """Why the package may not be part of the product; '': it may."""
        if normal(self.name) in FORBIDDEN:
            return f'{self.name} must not be shipped'
        if not self.licence:
            return f'{self.name} {self.version} names no licence that is known: {self.declared!r}'
        if not is_allowed(self.licence):
            return f'{self.name} {self.version} has the licence {self.licence}'
        return ''


def normal(name: str) -> str:
    return re.sub(r'[-_.]+', '-', name).lower()


def is_allowed(expression: str) -> bool:
    """Whether one choice of the SPDX expression has only ALLOWED licences. Brackets may stand
    around a choice (``A AND (B OR C)``), which covers the expressions of packages.
    """
    parts = re.split(r'\s+AND\s+(?![^(]*\))', expression)
    if len(parts) > 1:
        return all(is_allowed(part) for part in parts)
    inner = expression.strip().removeprefix('(').removesuffix(')')
    if ' OR ' in inner:
        return any(is_allowed(part) for part in inner.split(' OR '))
    return inner.strip() in ALLOWED


def licence_of(package: Distribution) -> Licence:
    metadata = package.metadata
    name = metadata['Name']
    expression = _field(package, 'License-Expression')
    classifiers = [
        each.rpartition(' :: ')[2]
        for each in metadata.get_all('Classifier') or []
        if each.startswith('License ::')
    ]
    first_line = next(iter(_field(package, 'License').splitlines()), '')
    declared = expression or '; '.join(classifiers) or first_line
    licence = KNOWN.get(normal(name)) or expression or spdx(classifiers or [first_line])
    return Licence(name, package.version, licence, declared, _homepage(package))


def spdx(words: Iterable[str]) -> str:
    """The licences that are named in ``words``, all of which then apply; '': none is known."""
    found: list[str] = []
    for each in words:
        if re.fullmatch(r'[\w.-]+( (AND|OR) [\w.-]+)+', each) and is_allowed(each):
            found.append(each)
            continue
        matches = [licence for pattern, licence in WORDS if pattern.search(each)]
        found += matches[:1] if matches else [each] if each in ALLOWED else []
    return ' AND '.join(dict.fromkeys(found))


def _homepage(package: Distribution) -> str:
    named = package.metadata.get_all('Project-URL') or []
    urls = [_field(package, 'Home-page'), *(each.partition(',')[2].strip() for each in named)]
    return next(filter(None, urls), '')


def _field(package: Distribution, name: str) -> str:
    """The first value of a field of the metadata; '' without one."""
    return str(next(iter(package.metadata.get_all(name) or []), '')).strip()


def licences_in(folder: Path) -> list[Licence]:
    """Those of all packages that are installed in ``folder``, by name."""
    found = {normal(each.metadata['Name']): each for each in distributions(path=[str(folder)])}
    return [licence_of(found[name]) for name in sorted(found)]


def write_table(licences: Iterable[Licence], path: Path) -> None:
    with path.open('w', encoding='utf-8', newline='') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow(COLUMNS)
        writer.writerows([getattr(each, column) for column in COLUMNS] for each in licences)


def main() -> int | str:
    parser = argparse.ArgumentParser(prog='release.licences', description=__doc__.split('\n')[0])
    parser.add_argument('folder', type=Path)
    parser.add_argument('output', type=Path)
    options = parser.parse_args()
    licences = licences_in(options.folder)
    problems = [each.problem for each in licences if each.problem]
    if not licences:
        problems = [f'{options.folder} has no packages']
    write_table(licences, options.output)
    return '\n'.join(f'release: {each}' for each in problems) or 0


if __name__ == '__main__':
    sys.exit(main())
