# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Proofs that must stand: the doors, the requirements, the faults planted into search and monitor.

expected/cases.txt says how many cases of each test passed. A case that is gone is a difference.
"""

from __future__ import annotations

from collections import Counter
from contextlib import redirect_stdout
import io
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / 'overlay_ws/src/curiosity_rosa_demo/test'
EXPECTED = ROOT / 'net/expected/cases.txt'
WHAT = {
    'doors': (
        'test_every_door_and_every_rule_is_tried',
        'test_a_rule_refuses_at_every_door_in_the_same_words',
        'test_what_the_adapter_refuses_is_told_at_every_door_in_its_words',
        'test_every_door_asks_the_operator_the_same_question',
    ),
    'requirements': (
        'test_each_requirement_is_there_once_in_order_with_its_rule_and_both_proofs',
    ),
    'planted faults': (
        'test_a_planted_fault_is_found_by_its_shortest_way',
        'test_it_finds_each_planted_fault',
    ),
}


class Passed:
    """A plugin of pytest: how many cases of each test passed, and which failed."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: object) -> None:
        test = str(getattr(report, 'nodeid', ''))
        if getattr(report, 'failed', False):
            self.failed.append(test)
        elif getattr(report, 'when', '') == 'call':
            self.counts[test.partition('[')[0].rpartition('::')[2]] += 1


def named(test: str) -> list[str]:
    """Where tests of this name stand, as pytest takes them: files move."""
    found = [
        each for each in TESTS.rglob('test_*.py') if f'def {test}(' in each.read_text('utf-8')
    ]
    return [f'{each}::{test}' for each in found]


def doors() -> int:
    """Rules times doors, by the table of test_doors.py."""
    from curiosity_rosa_demo.agent.react.guardrails import RULES, TURN_RULES
    from curiosity_rosa_demo.domain.origin import Origin

    return (len(RULES) - len(TURN_RULES) + 1) * len(Origin)


def requirements() -> int:
    """Those that the test walks through."""
    from curiosity_rosa_demo.monitor.monitor import load_requirements

    return len(load_requirements())


def counted() -> tuple[dict[str, int], list[str]]:
    """How many cases of each test of WHAT passed, and which failed."""
    import pytest

    tests = [test for each in WHAT.values() for test in each]
    places = [place for test in tests for place in named(test)]
    passed = Passed()
    with redirect_stdout(io.StringIO()):
        pytest.main(['-q', '-p', 'no:cacheprovider', *places], [passed])
    return {test: passed.counts[test] for test in tests}, passed.failed


def differences(*, update: bool) -> list[str]:
    counts, failed = counted()
    counts['rules x doors'] = doors()
    counts['requirements'] = requirements()
    if update:
        lines = [f'{test} {count}\n' for test, count in counts.items()]
        EXPECTED.write_text(''.join(lines), encoding='utf-8')
    fewer = []
    for line in EXPECTED.read_text(encoding='utf-8').splitlines():
        test, _, least = line.rpartition(' ')
        if counts.get(test, 0) < int(least):
            fewer.append(f'{test}: {counts.get(test, 0)} cases passed, expected {least}')
    return fewer + [f'failed: {test}' for test in failed]
