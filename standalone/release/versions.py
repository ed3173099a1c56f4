# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether every file of the repository names the version that is to be released. Pure.

python -m release.versions VERSION [--snapshot]     exit status 1: some file does not
"""

from __future__ import annotations

import argparse
from pathlib import Path
import re
import sys

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.compile(r'\d+\.\d+\.\d+')
DECLARATIONS = {
    'package.xml': re.compile(r'<version>([^<]*)</version>'),
    'setup.py': re.compile(r"^\s*version='([^']*)',$", re.MULTILINE),
}
UNRELEASED = 'Unreleased'


def declared_versions(root: Path) -> dict[str, str]:
    """The version in each package.xml and setup.py, by path; '' where there is none."""
    found = {}
    for folder in ('overlay_ws/src', 'standalone/src'):
        for name, pattern in DECLARATIONS.items():
            for path in sorted((root / folder).glob(f'*/{name}')):
                match = pattern.search(path.read_text(encoding='utf-8'))
                found[str(path.relative_to(root))] = match[1] if match else ''
    return found


def version_problems(root: Path, version: str, *, snapshot: bool) -> list[str]:
    """Why ``version`` cannot be released; empty: it can. ``snapshot``: its changes may still be
    under the heading Unreleased of the changelog.
    """
    if not VERSION.fullmatch(version):
        return [f'{version!r} is no version such as 1.2.3']
    problems = [
        f'{path} has version {found or "(none)"}, not {version}'
        for path, found in declared_versions(root).items()
        if found != version
    ]
    text = (root / 'CHANGELOG.md').read_text(encoding='utf-8')
    heading = next(iter(re.findall(r'^## (.*)$', text, re.MULTILINE)), '')
    if snapshot and heading == UNRELEASED:
        return problems
    if heading.split()[:1] != [version]:
        problems.append(
            f'CHANGELOG.md begins with {heading or "(no heading)"!r}: '
            f'name the section "## {version} - <date>"'
        )
    return problems


def main() -> int | str:
    parser = argparse.ArgumentParser(prog='release.versions', description=__doc__.split('\n')[0])
    parser.add_argument('version')
    parser.add_argument('--snapshot', action='store_true', help='allow the heading Unreleased')
    options = parser.parse_args()
    problems = version_problems(ROOT, options.version, snapshot=options.snapshot)
    return '\n'.join(f'release: {each}' for each in problems) or 0


if __name__ == '__main__':
    sys.exit(main())
