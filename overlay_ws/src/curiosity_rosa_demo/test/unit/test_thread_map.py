# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The names of the agent's threads in the code are those on the map of the architecture page."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
import re

import curiosity_rosa_demo
from harness import ROOT

PACKAGE = Path(curiosity_rosa_demo.__file__).parent
MAP = (ROOT / 'docs/explanation/architecture.md').read_text(encoding='utf-8')
# What starts a thread, with the position of the thread's name; Thread has it as a keyword.
STARTERS = {
    'Thread': None,
    'SpinThread': 0,
    'EventLoopThread': 0,
    'PeriodicWorker': 0,
    'DrainThread': 0,
    'run_in_thread': 0,
    '_in_thread': 1,
}
WRAPPERS = {'event_loop_thread.py', 'periodic_worker.py'}  # the owner gives the name


def text_of(name: ast.expr | None) -> str | None:
    """The name, with ``<...>`` for what differs."""
    if isinstance(name, ast.Constant):
        return str(name.value)
    if isinstance(name, ast.JoinedStr):
        return ''.join(
            str(part.value) if isinstance(part, ast.Constant) else '<name>' for part in name.values
        )
    return None


def names_in_code() -> Iterator[tuple[str, str | None]]:
    for where in ('agent/**', 'recording/**', 'infra/tracing/**', 'infra/event_thread'):
        for path in PACKAGE.glob(f'{where}/*.py' if where.endswith('**') else f'{where}.py'):
            if path.name in WRAPPERS:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
                if not isinstance(node, ast.Call):
                    continue
                called = getattr(node.func, 'attr', getattr(node.func, 'id', ''))
                if called not in STARTERS:
                    continue
                position = STARTERS[called]
                keywords = {each.arg: each.value for each in node.keywords}
                name = keywords.get('name') if position is None else node.args[position]
                if not isinstance(name, ast.Name):  # a helper of which the name is an argument
                    yield f'{path.name}:{node.lineno}', text_of(name)


def names_on_the_map() -> set[str]:
    tables = MAP.partition('### Agent: for the whole run\n')[2].partition('\nNothing waits')[0]
    rows = re.findall(r'^\| ([^|]+) \|', tables, re.MULTILINE)
    return {name for row in rows for name in re.findall(r'`([^`]+)`', row)}


def test_the_threads_that_the_code_starts_are_on_the_map_and_no_others() -> None:
    in_code = dict(names_in_code())
    assert [place for place, name in in_code.items() if name is None] == []
    assert set(in_code.values()) == names_on_the_map()
