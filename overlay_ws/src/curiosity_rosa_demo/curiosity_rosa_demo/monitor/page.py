# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""docs/reference/requirements.md, made from requirements.yaml:
``python -m curiosity_rosa_demo.monitor.page FILE`` writes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
import sys
from textwrap import wrap

from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.monitor.monitor import limits_of, load_requirements, Requirement
from curiosity_rosa_demo.monitor.signals import SIGNALS

WIDTH = 112
HEAD = """# Requirements

<!-- Made: python -m curiosity_rosa_demo.monitor.page docs/reference/requirements.md -->

The safety properties S1 to S6 and the flight rules FR-01 to FR-21. A rule in code keeps each
requirement. A property test and a test with real processes prove the rule. The
[monitor](monitor.md), which shares no code with the rules, checks the requirement on the topics of
the running system. A test fails if one of the four is missing.

Severity: an advisory informs, a caution holds an order back, a warning ends a motion, a critical
violation endangers the rover. Response: what the rule does, namely warn, hold the order, stop,
stow the mast, or stop and latch SAFE.

"""


def page(requirements: Iterable[Requirement], thresholds: Thresholds) -> str:
    """The page in Markdown."""
    entries = list(requirements)
    limits = limits_of(thresholds)
    summary = [
        (
            f'[{each.id}](#{_anchor(each)})',
            each.title,
            each.severity,
            each.response,
        )
        for each in entries
    ]
    parts = [HEAD + _table(('', 'requirement', 'severity', 'response'), summary)]
    parts += [_entry(each) for each in entries]
    signals = [(f'`{name}`', text) for name, text in SIGNALS.items()]
    seconds = [(f'`{name}`', f'{value:g}') for name, value in limits.items()]
    parts.append(
        '## Formulas\n\nPast-time metric temporal logic. `historically[0:b]` x: x for the last b '
        'seconds. `once[0:b]` x: x at least once\nin the last b seconds. x `since` y: y was true '
        'once, and x ever since. A formula is true while its requirement holds.\n\n'
        f'{_table(("signal", "is true while"), signals)}\n\n'
        'Limits in seconds, as the shipped configuration makes them:\n\n'
        f'{_table(("limit", "value"), seconds)}'
    )
    return '\n\n'.join(parts) + '\n'


def _anchor(requirement: Requirement) -> str:
    title = ''.join(c for c in requirement.title.lower() if c.isalnum() or c in ' -')
    return f'{requirement.id.lower()}-{title.replace(" ", "-")}'


def _entry(requirement: Requirement) -> str:
    proofs = [
        ('rule', requirement.rule),
        ('property', requirement.property_test),
        ('end to end', requirement.ros_test),
    ]
    lines = [(name, f'`{text}`') for name, text in proofs]
    lines.append(('source', requirement.source))
    monitor = (
        f'```text\n{_wrapped(requirement.formula)}\n```'
        if requirement.formula
        else _wrapped(f'Not monitored. {requirement.no_monitor}')
    )
    head = f'## {requirement.id} {requirement.title}'
    return '\n\n'.join([head, _wrapped(requirement.rationale), _table(('', ''), lines), monitor])


def _wrapped(text: str) -> str:
    return '\n'.join(wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False))


def _table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    rows = [list(head), *map(list, lines)]
    rows.insert(1, ['---'] * len(rows[0]))
    return '\n'.join(f'| {" | ".join(row)} |' for row in rows)


def main() -> int:
    if len(sys.argv) != 2:
        print('usage: python -m curiosity_rosa_demo.monitor.page FILE', file=sys.stderr)
        return 2
    text = page(load_requirements(), load_config().thresholds)
    Path(sys.argv[1]).write_text(text, encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
