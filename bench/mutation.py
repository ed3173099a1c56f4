# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Mutation score: how many changes of a rule the tests notice.

A mutant is a module of the rules in which one comparison, boolean, constant, return or statement
is another (bench/_mutants.py). The unit tests that import the module, directly or through their
helper modules, run on each mutant of a seeded sample, in a process of their own; Hypothesis has
its quick profile. Figures, by package:
- killed: a test fails, or the tests take over three times as long as without the change
- survived: all tests pass; the mutant is listed with file, line and change

Must never happen: tests that fail, or do not import the module, without a mutant.

Run: python bench/mutation.py [mutants, default 50] [the first of them, default 0] [seconds after
which no further mutant begins, default 3600]
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
import os
from pathlib import Path
import random
import subprocess
import sys
import tempfile
import time

from _bench import report, ROOT, table
from _mutants import count, Mutant, nth

PACKAGE = ROOT / 'overlay_ws/src/curiosity_rosa_demo/curiosity_rosa_demo'
TESTS = ROOT / 'overlay_ws/src/curiosity_rosa_demo/test'
SEED = 16
FIRST_FILES, MAX_FILES = 3, 9  # of tests; the others run on a mutant that survives the first
SLOW = ('test_exploration.py',)  # half a minute for each mutant
OUTCOMES = ('killed', 'timed_out', 'survived', 'left_out')
LIMIT_S = 60.0  # a module whose tests take longer is left out
ADAPTER_RULES = (
    'motion_guard', 'mast', 'stop', 'stop_result', 'agent_link', 'heartbeat_monitor',
    'other_adapters', 'unexpected_motion', 'obstacle_stop', 'alarm_fold',
)  # fmt: skip
TASK_RULES = ('transitions', 'task_scheduler', 'ready_queue', 'priority_inheritance', 'validation')
# The guardrails that are rules; the kernel without the patterns of its language.
PACKAGES: dict[str, list[Path]] = {
    'adapter': [PACKAGE / f'adapter/{name}.py' for name in ADAPTER_RULES],
    'guardrails': sorted((PACKAGE / 'agent/react/guardrails').glob('[a-z]*.py')),
    'tasks': [PACKAGE / f'agent/tasks/{name}.py' for name in TASK_RULES],
    'kernel': sorted((PACKAGE / 'agent/kernel').glob('[a-z]*.py')),
}
RULES = {file: package for package, files in PACKAGES.items() for file in files}


def module_of(file: Path) -> str:
    return '.'.join((PACKAGE.name, *file.relative_to(PACKAGE).with_suffix('').parts))


@cache
def imports_of(file: Path) -> frozenset[str]:
    """The product's modules that a test imports, directly or through the tests' helper modules."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding='utf-8'))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f'{node.module}.{each.name}' for each in node.names)]
            names += filter(None, (_origins(node.module).get(each.name) for each in node.names))
        elif isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        for name in names:
            helpers = [folder / f'{name}.py' for folder in (TESTS, TESTS / 'unit')]
            helper = next((path for path in helpers if path.is_file()), None)
            found |= imports_of(helper) if helper else {name}
    return frozenset(name for name in found if name.startswith(PACKAGE.name))


@cache
def _origins(package: str) -> dict[str, str]:
    """The module from which the ``__init__`` of a package of ours takes each name."""
    file = PACKAGE.parent / package.replace('.', '/') / '__init__.py'
    if not package.startswith(PACKAGE.name) or not file.is_file():
        return {}
    return {
        each.asname or each.name: node.module
        for node in ast.parse(file.read_text(encoding='utf-8')).body
        if isinstance(node, ast.ImportFrom) and node.module
        for each in node.names
    }


@cache
def tests_of(file: Path) -> tuple[Path, ...]:
    """The test files of a module, the closest first: those that import it, then those that import
    a rule which does.
    """
    module = module_of(file)
    users = {module_of(each) for each in RULES if module in imports_of(each)}
    found = []
    for test in sorted((TESTS / 'unit').glob('test_*.py')):
        imports = imports_of(test)
        if test.name not in SLOW and (module in imports or users & imports):
            named = not test.stem.startswith(f'test_{file.stem}')
            found.append((named, module not in imports, len(imports), test))
    return tuple(test for *_, test in sorted(found))[:MAX_FILES]


def run_tests(
    file: Path, source: str, tests: tuple[Path, ...], limit_s: float
) -> tuple[int | None, str]:
    """The status of pytest, None after ``limit_s``, and its last line."""
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder) / file.name
        changed.write_text(source, encoding='utf-8')
        child = [sys.executable, str(ROOT / 'bench/_mutant_child.py'), module_of(file)]
        try:
            done = subprocess.run(
                [*child, str(changed), *map(str, tests)],
                cwd=ROOT,
                env={**os.environ, 'HYPOTHESIS_PROFILE': 'quick', 'PYTHONDONTWRITEBYTECODE': '1'},
                capture_output=True,
                text=True,
                timeout=limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, f'no end after {limit_s:.0f} s'
    return done.returncode, (done.stdout.strip().splitlines() or [done.stderr[-200:]])[-1]


def main() -> int:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    ends_at = time.monotonic() + (float(sys.argv[3]) if len(sys.argv) > 3 else 3600.0)
    everything = [
        (file, number)
        for file in RULES
        if tests_of(file)
        for number in range(count(file.read_text(encoding='utf-8')))
    ]
    chosen = random.Random(SEED).sample(everything, len(everything))[first : first + wanted]
    began = time.perf_counter()
    baseline: dict[Path, float | None] = {}
    ended: Counter[tuple[str, str]] = Counter()
    survivors, faults = [], []
    for file, number in chosen:
        if time.monotonic() > ends_at:
            break
        source = file.read_text(encoding='utf-8')
        tests = tests_of(file)[:FIRST_FILES]
        if file not in baseline:
            before = time.perf_counter()
            status, line = run_tests(file, source, tests, LIMIT_S)
            if status not in (0, None):
                faults.append(f'{module_of(file)}: its tests fail without a mutant: {line}')
            baseline[file] = None if status is None else time.perf_counter() - before
        usual_s = baseline[file]
        if usual_s is None:
            ended[RULES[file], 'left_out'] += 1
            continue
        mutant: Mutant = nth(source, number)
        status, _ = run_tests(file, mutant.source, tests, min(LIMIT_S, 3 * usual_s + 10.0))
        if status == 0 and (others := tests_of(file)[FIRST_FILES:]):
            status = 1 if run_tests(file, mutant.source, others, 2 * LIMIT_S)[0] == 1 else 0
        outcome = {0: 'survived', None: 'timed_out'}.get(status, 'killed')
        ended[RULES[file], outcome] += 1
        at = f'{file.relative_to(PACKAGE)}:{mutant.line}'
        print(f'{outcome:9} {at} ({mutant.operator})', flush=True)
        if outcome == 'survived':
            print(f'          - {mutant.before}\n          + {mutant.after}', flush=True)
            survivors.append(f'{at}: {mutant.before} -> {mutant.after}')
    packages = {package: {how: ended[package, how] for how in OUTCOMES} for package in PACKAGES}
    table(
        ['package', *OUTCOMES],
        [[name, *figures.values()] for name, figures in packages.items()],
    )
    left = sum(each['survived'] for each in packages.values())
    left_out = sum(each['left_out'] for each in packages.values())
    total = sum(ended.values()) - left_out
    return report(
        'mutation',
        faults,
        mutants=len(everything),
        first=first,
        run=total,
        noticed=total - left,
        survived=left,
        left_out=left_out,
        packages=packages,
        survivors=survivors,
        seconds=round(time.perf_counter() - began, 1),
    )


if __name__ == '__main__':
    sys.exit(main())
