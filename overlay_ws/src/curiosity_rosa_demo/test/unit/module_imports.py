# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Who imports whom in the package, read from the code without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = 'curiosity_rosa_demo'


@dataclass
class Imports:
    """What a module imports: ours by full name, others by their top-level name.

    ``eager`` is what is imported with the module; ``ever`` adds the imports inside functions and
    those for type checkers alone.
    """

    eager: set[str] = field(default_factory=set)
    ever: set[str] = field(default_factory=set)


def read(folder: Path) -> dict[str, Imports]:
    """Every module below ``folder``, the package's own folder, by its full name."""
    files = {_name(file, folder): file for file in folder.rglob('*.py')}
    found = {}
    for name, file in files.items():
        tree = ast.parse(file.read_bytes())
        found[name] = Imports(
            {one for node in _at_once(tree.body) for one in _imported(node, files)},
            {one for node in ast.walk(tree) for one in _imported(node, files)},
        )
    return found


def _name(file: Path, folder: Path) -> str:
    parts = file.relative_to(folder.parent).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


def _at_once(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.If) and 'TYPE_CHECKING' in ast.unparse(node.test):
            yield from _at_once(node.orelse)
            continue
        yield node
        for part in ('body', 'orelse', 'finalbody'):
            yield from _at_once(getattr(node, part, []))
        for handler in getattr(node, 'handlers', []):
            yield from _at_once(handler.body)


def _imported(node: ast.AST, ours: Mapping[str, object]) -> set[str]:
    if isinstance(node, ast.Import):
        names = {alias.name for alias in node.names}
    elif isinstance(node, ast.ImportFrom) and node.module:
        parts = {f'{node.module}.{alias.name}' for alias in node.names}
        names = {part for part in parts if part in ours}
        if len(names) < len(parts):
            names.add(node.module)
    else:
        return set()
    return {name if name in ours else name.partition('.')[0] for name in names}


def reach(name: str, modules: Mapping[str, Imports]) -> set[str]:
    """All that is imported when ``name`` is, itself and foreign modules included."""
    seen: set[str] = set()
    todo = {name}
    while todo:
        one = todo.pop()
        seen.add(one)
        if one in modules:
            todo |= modules[one].eager - seen
    return seen
