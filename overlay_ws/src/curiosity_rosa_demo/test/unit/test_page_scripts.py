# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page's JavaScript: what is installed of it, and what checks it."""

from __future__ import annotations

from fnmatch import fnmatch
import json
from pathlib import Path
import re

from curiosity_rosa_demo.agent.interfaces.page import panels
import nicegui
from our_sources import ROOT
import pytest

PAGE = Path(panels.__file__).parent
PACKAGE = PAGE.parents[2]
MODULES = sorted(each.name for each in (PAGE / 'modules').glob('*.js'))
SCRIPTS = sorted(PAGE.parent.rglob('*.js'))
LICENCES = {'Apache-2.0', 'MIT', 'MIT OR Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause'}


@pytest.mark.parametrize('script', SCRIPTS, ids=lambda each: each.name)
def test_a_script_is_installed_and_finds_what_it_imports(script: Path) -> None:
    setup = (ROOT / 'overlay_ws/src/curiosity_rosa_demo/setup.py').read_text()
    name = str(script.relative_to(PACKAGE))
    assert any(fnmatch(name, pattern) for pattern in re.findall(r"'(agent/[^']+\*[^']*)'", setup))
    for imported in re.findall(r"^import .* from '([^']+)';$", script.read_text(), re.MULTILINE):
        folder, _, module = imported.rpartition('/')
        assert imported == 'vue' or (folder in ('curiosity', '.') and module in MODULES)


def test_the_types_are_those_of_the_vue_that_runs() -> None:
    library = Path(nicegui.__file__).parent / 'static/vue.esm-browser.prod.js'
    running = re.search(r'vue v(\d+\.\d+\.\d+)', library.read_text()[:200])
    assert running is not None
    wanted = json.loads((ROOT / 'package.json').read_text())['devDependencies']['vue']
    assert running[1] == wanted


def test_each_package_of_the_checks_is_pinned_by_its_checksum_and_may_be_used() -> None:
    lock = json.loads((ROOT / 'package-lock.json').read_text())
    packages = {name: each for name, each in lock['packages'].items() if name}
    assert {'node_modules/@biomejs/biome', 'node_modules/typescript'} <= set(packages)
    for name, package in packages.items():
        assert package['integrity'].startswith('sha512-'), name
        assert 'resolved' not in package, f'{name} names the server that it came from'
        assert package['license'] in LICENCES, name
