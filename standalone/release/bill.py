# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether a CycloneDX bill of materials has what is pinned, and nothing that must not be shipped.

python -m release.bill SBOM.json REQUIREMENTS.txt     exit status 1: it does not
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import re
import sys
from typing import Any

from release.licences import FORBIDDEN, normal

NAME = re.compile(r'^([A-Za-z0-9][\w.-]*)==(\S+)(\s*;.*)?$')


def pinned_packages(text: str) -> dict[str, str]:
    """The version of each package that every Python version of ``text`` gets, by its name.

    A package with a marker may belong to another Python version or system.
    """
    matches = (NAME.match(line.strip()) for line in text.splitlines())
    return {normal(match[1]): match[2] for match in matches if match and not match[3]}


def bill_problems(bill: dict[str, Any], pinned: dict[str, str]) -> list[str]:
    """What is wrong with the bill; empty: nothing."""
    if bill.get('bomFormat') != 'CycloneDX':
        return [f'bomFormat is {bill.get("bomFormat")!r}, not CycloneDX']
    listed = {normal(each['name']): each.get('version') for each in bill.get('components', [])}
    wrong = [
        f'{name} is {listed.get(name, "missing")} in the bill, and pinned to {version}'
        for name, version in pinned.items()
        if name not in FORBIDDEN and listed.get(name) != version
    ]
    return wrong + [f'{name} must not be shipped' for name in sorted(FORBIDDEN & set(listed))]


def main() -> int | str:
    parser = argparse.ArgumentParser(prog='release.bill', description=__doc__.split('\n')[0])
    parser.add_argument('bill', type=Path)
    parser.add_argument('requirements', type=Path)
    options = parser.parse_args()
    bill = json.loads(options.bill.read_text(encoding='utf-8'))
    pinned = pinned_packages(options.requirements.read_text(encoding='utf-8'))
    problems = bill_problems(bill, pinned)
    return '\n'.join(f'release: {options.bill.name}: {each}' for each in problems) or 0


if __name__ == '__main__':
    sys.exit(main())
