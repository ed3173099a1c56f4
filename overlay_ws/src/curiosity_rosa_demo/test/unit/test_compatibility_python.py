# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""All of this runs on Python 3.10 (Humble) and 3.12 (Jazzy), whichever runs the tests.

What the product takes from the standard library is mypy's to check: it is told the oldest Python.
"""

from __future__ import annotations

import ast
import re

from our_sources import files, imports, OLDEST, ROOT, trees

NEWER = {
    'asyncio': 'Barrier Runner TaskGroup eager_task_factory timeout timeout_at',
    'calendar': 'Day Month',
    'contextlib': 'chdir',
    'datetime': 'UTC',
    'enum': 'EnumCheck FlagBoundary ReprEnum StrEnum global_enum member nonmember property verify',
    'hashlib': 'file_digest',
    'inspect': 'BufferFlags getmembers_static markcoroutinefunction',
    'itertools': 'batched',
    'logging': 'getHandlerByName getLevelNamesMapping',
    'math': 'cbrt exp2 sumprod',
    'operator': 'call',
    'sqlite3': 'Blob LEGACY_TRANSACTION_CONTROL',
    'sys': 'activate_stack_trampoline exception monitoring',
    'types': 'get_original_bases',
    'typing': 'LiteralString Never NotRequired Required Self TypeAliasType TypeVarTuple Unpack '
    'assert_never assert_type clear_overloads dataclass_transform get_overloads override '
    'reveal_type',
}
NEWER_NAMES = {f'{module}.{name}' for module in NEWER for name in NEWER[module].split()}
NEWER_BUILTINS = {'BaseExceptionGroup', 'ExceptionGroup'}
GONE = {'asynchat', 'asyncore', 'binhex', 'distutils', 'imp', 'smtpd'}  # by 3.12


def newer(tree: ast.AST) -> set[str]:
    """What 3.10 has not, and what 3.12 has no more."""
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & NEWER_BUILTINS
    for _, name in imports(tree):
        found |= {name} & NEWER_NAMES | {name.split('.')[0]} & (GONE | {'tomllib'})
    return found


def test_every_file_is_in_the_oldest_python_and_none_warns() -> None:
    assert len(trees()) > 300 or not (ROOT / 'standalone').exists()
    assert set(trees()) == set(files())


def test_no_file_uses_what_one_of_the_pythons_lacks() -> None:
    found = {str(file): newer(tree) for file, tree in trees().items()}
    assert {file: names for file, names in found.items() if names} == {}


def test_the_checkers_are_told_the_oldest_python() -> None:
    pyproject = ROOT / 'pyproject.toml'
    if not pyproject.exists():  # the package alone, in a workspace of somebody else's
        return
    oldest = '.'.join(map(str, OLDEST))
    text = pyproject.read_text(encoding='utf-8')
    assert re.search(r'^requires-python = ">=(.*),', text, re.M)[1] == oldest  # type: ignore
    assert f'python_version = "{oldest}"' in text
    assert f'target-version = "py{oldest.replace(".", "")}"' in text
