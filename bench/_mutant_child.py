# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The process of one mutant: pytest on a tree in which one module has another source.

Nothing on the disk changes: an import hook compiles the source that it is given.

Run by bench/mutation.py as: python _mutant_child.py MODULE SOURCE_FILE TEST_FILE...
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
import importlib.util
from pathlib import Path
import sys
import types

import pytest


class MutantFinder(MetaPathFinder, InspectLoader):
    """Finds and loads one module."""

    def __init__(self, module: str, source: str) -> None:
        self._module, self._source = module, source

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self) if name == self._module else None

    def get_source(self, fullname: str) -> str:
        return self._source


def main() -> int:
    module, source_file, *tests = sys.argv[1:]
    sys.meta_path.insert(0, MutantFinder(module, Path(source_file).read_text(encoding='utf-8')))
    options = ['-x', '-q', '-p', 'no:cacheprovider', '--hypothesis-seed=0', '--tb=no', '-rN']
    status = int(pytest.main([*options, *tests]))
    if module not in sys.modules:
        print(f'{module} was not imported by {", ".join(tests)}')
        return 9
    return status


if __name__ == '__main__':
    sys.exit(main())
