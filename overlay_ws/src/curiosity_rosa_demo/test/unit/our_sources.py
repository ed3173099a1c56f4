# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Every Python file of this project, read without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
import warnings

ROOT = Path(__file__).resolve().parents[5]
PACKAGE = Path(__file__).resolve().parents[2]
FOLDERS = (PACKAGE, ROOT / 'standalone', ROOT / 'bench', ROOT / 'examples', ROOT / 'docker')
MADE = {'build', 'install', 'log'}  # by colcon
OLDEST = (3, 10)


def files() -> list[Path]:
    """The package, and where the whole checkout is here, all else in it."""
    return sorted(
        file
        for folder in FOLDERS
        for file in folder.rglob('*.py')
        if not MADE.intersection(file.relative_to(folder).parts)
    )


def parsed(text: str) -> ast.Module:
    """Raises SyntaxError for what the oldest Python does not know, and for what a newer one warns
    of.
    """
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        tree = ast.parse(text, feature_version=OLDEST)
        compile(tree, 'text', 'exec', dont_inherit=True)
        return tree


@cache
def trees() -> dict[Path, ast.Module]:
    return {file: parsed(file.read_text(encoding='utf-8')) for file in files()}


def imports(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """The dotted name of everything imported, and of each attribute of an imported module."""
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from ((node, f'{node.module}.{each.name}') for each in node.names)
        elif isinstance(node, ast.Import):
            for each in node.names:
                yield node, each.name
                modules[each.asname or each.name] = each.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id)
            if module:
                yield node, f'{module}.{node.attr}'
