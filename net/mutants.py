# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""200 mutants of the rules, the tasks and the interfaces: what was killed stays killed.

expected/mutants.tsv lists them, each with the test that killed it. A check runs that test, and
only if it passes or is gone the other tests of the module. Survivors run with --update only, which
also draws others, of the same seed, for those whose code is gone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
import importlib.util
import json
import multiprocessing
from multiprocessing.pool import Pool
import os
from pathlib import Path
import random
import subprocess
import sys
import types
from typing import NamedTuple

from cases import named

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / 'overlay_ws/src/curiosity_rosa_demo/curiosity_rosa_demo'
TESTS = PACKAGE.parent / 'test'
STORES = (ROOT / 'standalone/test/test_durable_files.py',)  # a unit test of many stores
EXPECTED = ROOT / 'net/expected/mutants.tsv'
FOLDERS = ('adapter', 'agent/react', 'agent/kernel', 'agent/tasks', 'agent/interfaces')
EACH = 40  # mutants of each folder
SEED = 16
MOST_FILES = 8  # of tests for a mutant, the closest first
SLOW = ('test_exploration.py', 'test_missions.py')
WORKERS = 2
TEST_S, SESSION_S = 30, 60  # a test that hangs kills its mutant; the tests end after the second


class Mutant(NamedTuple):
    file: str
    name: str
    killer: str = ''  # the test, by pytest's ID; '' if it survived


class MutantFinder(MetaPathFinder, InspectLoader):
    """Finds and loads one module from another source."""

    def __init__(self, module: str, source: str) -> None:
        self._module, self._source = module, source

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self) if name == self._module else None

    def get_source(self, fullname: str) -> str:
        return self._source


class Failures:
    """A plugin of pytest: the tests that failed, in their order."""

    def __init__(self) -> None:
        self.tests: list[str] = []

    def pytest_runtest_logreport(self, report: object) -> None:
        self._hear(report)

    def pytest_collectreport(self, report: object) -> None:
        self._hear(report)

    def _hear(self, report: object) -> None:
        if getattr(report, 'failed', False):
            self.tests.append(str(getattr(report, 'nodeid', '')))


def module_of(file: str) -> str:
    return '.'.join((PACKAGE.name, *Path(file).with_suffix('').parts))


@cache
def helpers() -> dict[str, Path]:
    return {each.stem: each for each in TESTS.rglob('*.py') if not each.name.startswith('test_')}


@cache
def own_imports(file: Path) -> frozenset[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding='utf-8'))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f'{node.module}.{each.name}' for each in node.names)}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return frozenset(found)


@cache
def imports_of(file: Path) -> frozenset[str]:
    """What a test imports, directly or through the tests' helpers."""
    own = own_imports(file)
    used = [helpers()[name] for name in own if name in helpers() and helpers()[name] != file]
    return own.union(*map(imports_of, used))


@cache
def tests_of(file: str) -> tuple[str, ...]:
    """The test files that import a module: those named after it, then those that import least."""
    module = module_of(file)
    found = []
    for test in (*TESTS.rglob('test_*.py'), *STORES):
        imports = imports_of(test)
        if 'integration' in test.parts or test.name in SLOW:
            continue
        if module in imports:
            named = test.stem.startswith(f'test_{Path(file).stem}')
            own = own_imports(test)
            near = (not named, module not in own, len(imports))
            found.append((*near, str(test)))
    return tuple(test for *_, test in sorted(found))[:MOST_FILES]


def placed(test: str) -> str:
    """The ID of a test whose file may have moved; '' if it is nowhere."""
    file, _, name = test.partition('::')
    if (ROOT / file).is_file():
        return test
    found = named(name.partition('[')[0].rpartition('::')[2])
    return f'{found[0].partition("::")[0]}::{name}' if found else ''


def killer_of(job: tuple[Mutant, str]) -> tuple[Mutant, str]:
    """Which test fails on the mutant, '' if none does. In a process of its own."""
    mutant, source = job
    sys.meta_path.insert(0, MutantFinder(module_of(mutant.file), source))
    known = placed(mutant.killer) if mutant.killer else ''
    failed = failing([known], '-x') if known else []
    # A second run in the process finds the modules loaded, with the mutant.
    failed = failed or failing(tests_of(mutant.file), '-x', f'--session-timeout={SESSION_S}')
    return mutant, failed[0] if failed else ''


def failing(tests: Sequence[str], *options: str) -> list[str]:
    import pytest

    with open(os.devnull, 'w') as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    failures = Failures()
    limits = (f'--timeout={TEST_S}', '--tb=no', '-m', 'not ros and not e2e and not browser')
    pytest.main(['-q', '-p', 'no:cacheprovider', *limits, *options, *tests], [failures])
    return failures.tests


def sources_of(mutants: Iterable[Mutant]) -> dict[tuple[str, str], str]:
    wanted: dict[str, list[str]] = {}
    for each in mutants:
        if (PACKAGE / each.file).is_file():
            wanted.setdefault(each.file, []).append(each.name)
    return {(file, name): source for file, name, source in ask_mutmut(wanted)}


def ask_mutmut(wanted: object) -> list[tuple[str, str, str]]:
    made = subprocess.run(
        [str(ROOT / '.venv-net/bin/python'), str(ROOT / 'net/mutate.py')],
        cwd=ROOT,  # pyproject.toml configures mutmut
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        check=True,
    )
    return [tuple(json.loads(line)) for line in made.stdout.splitlines()]


def load() -> list[Mutant]:
    if not EXPECTED.is_file():
        return []
    lines = EXPECTED.read_text(encoding='utf-8').splitlines()
    return [Mutant(*line.split('\t')) for line in lines]


def drawn(kept: Sequence[Mutant]) -> list[Mutant]:
    """``kept`` and others, to EACH of each folder."""
    chosen = list(kept)
    for folder in FOLDERS:
        files = sorted(
            str(each.relative_to(PACKAGE))
            for each in (PACKAGE / folder).rglob('[a-z]*.py')
            if tests_of(str(each.relative_to(PACKAGE)))
        )
        every = [Mutant(file, name) for file, name, _ in ask_mutmut(dict.fromkeys(files))]
        known = {(each.file, each.name) for each in kept}
        random.Random(SEED).shuffle(every)
        has = sum(each.file.startswith(f'{folder}/') for each in kept)
        others = [each for each in every if (each.file, each.name) not in known]
        chosen += others[: EACH - has]
    return chosen


def pool() -> Pool:
    """Processes that end after each job."""
    os.environ.update(HYPOTHESIS_PROFILE='quick', PYTHONDONTWRITEBYTECODE='1')
    os.chdir(ROOT)
    preload()
    return multiprocessing.get_context('fork').Pool(WORKERS, maxtasksperchild=1)


def run(mutants: Sequence[Mutant], sources: dict[tuple[str, str], str]) -> Iterator[Mutant]:
    """Each mutant, as its tests end, with the one that kills it now."""
    jobs = [(each, sources[each.file, each.name]) for each in mutants]
    with pool() as workers:
        for mutant, killer in workers.imap_unordered(killer_of, jobs, chunksize=1):
            yield mutant._replace(killer=killer)


def preload() -> None:
    """What each process would import anew; nothing of the product."""
    import cv2  # noqa: F401
    from hypothesis.internal.conjecture import engine
    import langchain_core.messages  # noqa: F401
    import langgraph.graph  # noqa: F401
    import numpy  # noqa: F401
    import pytest  # noqa: F401
    import rclpy  # noqa: F401

    engine.MAX_SHRINKING_SECONDS = 0  # that a test fails is enough


def differences() -> list[str]:
    expected = load()
    sources = sources_of(expected)
    gone = [each for each in expected if (each.file, each.name) not in sources]
    killed = [each for each in expected if each.killer and each not in gone]
    survived = [each for each in run(killed, sources) if not each.killer]
    killers = sorted({placed(each.killer) for each in killed} - {''})
    with pool() as workers:
        idle = workers.apply(failing, (killers,))
    return [
        *(f'mutant survives: {each.file} {each.name}' for each in survived),
        *(f'mutant is gone: {each.file} {each.name}' for each in gone),
        *(f'fails without a mutant: {test}' for test in idle),
    ]


def update() -> None:
    """Keep what is there and runs; add others, each as its tests end."""
    sources = sources_of(load())
    kept = [each for each in load() if (each.file, each.name) in sources]
    others = drawn(kept)[len(kept) :]
    random.Random(SEED).shuffle(others)
    EXPECTED.parent.mkdir(exist_ok=True)
    for each in run(others, sources_of(others)):
        kept.append(each)
        print(
            len(kept), each.file, each.name, each.killer or 'survives', file=sys.stderr, flush=True
        )
        lines = sorted('\t'.join(mutant) + '\n' for mutant in kept)
        EXPECTED.write_text(''.join(lines), encoding='utf-8')
