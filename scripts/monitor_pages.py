# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What is made from monitor/requirements.yaml: the body of docs/reference/requirements.md, which
scripts/docs.sh includes in the site, and the files that NASA's Ogma reads to make a C monitor for
ROS 2. ``python scripts/monitor_pages.py`` writes them; with ``--page`` the page alone.

The format for Ogma is that of curiosity_rover_ogma in space-ros/demos: document.json holds Copilot
expressions, vars-db.json the topics. Ogma evaluates all properties at each message of an input. So
the one input is the topic of the signals, which our node publishes at a fixed rate, and a time in
the formulas becomes a number of messages.
"""

from __future__ import annotations

from collections.abc import Iterable
import json
from pathlib import Path
import re
import sys
from textwrap import indent, wrap
from typing import Any

from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.monitor.monitor import limits_of, load_requirements, Requirement
from curiosity_rosa_demo.monitor.signals import RATE_HZ, SIGNALS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / 'run/tables/requirements.md'
OGMA = ROOT / 'contrib/space-ros-demos/curiosity_rover_rosa/ogma'

# --- the page -----------------------------------------------------------------------------------

WIDTH = 112


def page(requirements: Iterable[Requirement], thresholds: Thresholds) -> str:
    """The body of the page in Markdown."""
    entries = list(requirements)
    summary = [
        (f'[{each.id}](#{_anchor(each)})', each.title, each.severity, each.response)
        for each in entries
    ]
    proofs = [
        (each.id, f'`{each.rule}`', f'`{each.property_test}`', f'`{each.ros_test}`', each.source)
        for each in entries
    ]
    signals = [(f'`{name}`', text) for name, text in SIGNALS.items()]
    seconds = [(f'`{name}`', f'{value:g}') for name, value in limits_of(thresholds).items()]
    parts = [
        _table(('', 'requirement', 'severity', 'response'), summary),
        _table(('', 'rule', 'property', 'end to end', 'source'), proofs),
        *map(_entry, entries),
        '## Formulas\n\nPast-time metric temporal logic. `historically[0:b]` x: x for the last b '
        'seconds. `once[0:b]` x: x at least once\nin the last b seconds. x `since` y: y was true '
        'once, and x ever since. A formula is true while its requirement holds.',
        _table(('signal', 'is true while'), signals),
        'Limits in seconds, as the shipped configuration makes them:',
        _table(('limit', 'value'), seconds),
    ]
    return '\n\n'.join(parts) + '\n'


def _anchor(requirement: Requirement) -> str:
    title = ''.join(c for c in requirement.title.lower() if c.isalnum() or c in ' -')
    return f'{requirement.id.lower()}-{title.replace(" ", "-")}'


def _entry(requirement: Requirement) -> str:
    monitor = (
        indent(_wrapped(requirement.formula), '    ')
        if requirement.formula
        else _wrapped(f'Not monitored. {requirement.no_monitor}')
    )
    head = f'## {requirement.id} {requirement.title}'
    return '\n\n'.join([head, _wrapped(requirement.rationale), monitor])


def _wrapped(text: str) -> str:
    return '\n'.join(wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False))


def _table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    rows = [list(head), *map(list, lines)]
    rows.insert(1, ['---'] * len(rows[0]))
    return '\n'.join(f'| {" | ".join(row)} |' for row in rows)


# --- the files for Ogma -------------------------------------------------------------------------

INPUT, TYPE = 'signals', 'std_msgs::msg::UInt64'
TOKEN = re.compile(
    r'\s*(historically|once|since|\[([\d.]+):([\d.]+)\]|\{(\w+)\}|!|&&|\|\||->|\(|\))'
)
BINARY = (('->', '==>'), ('||', '||'), ('&&', '&&'), ('since', '`since`'))  # weakest first


def copilot(formula: str) -> str:
    """A formula with its numbers as a Copilot expression. Raises ValueError."""
    tokens, at = [], 0
    formula = formula.strip()
    while at < len(formula):
        match = TOKEN.match(formula, at)
        if match is None:
            raise ValueError(f'cannot be read from here: {formula[at:]}')
        tokens.append(match[1])
        at = match.end()
    text = _binary(tokens, 0)
    if tokens:
        raise ValueError(f'left over: {" ".join(tokens)}')
    return text


def _binary(tokens: list[str], level: int) -> str:
    if level == len(BINARY):
        return _unary(tokens)
    ours, theirs = BINARY[level]
    text = _binary(tokens, level + 1)
    while tokens and tokens[0] == ours:
        tokens.pop(0)
        text = f'({text} {theirs} {_binary(tokens, level + 1)})'
    return text


def _unary(tokens: list[str]) -> str:
    token = tokens.pop(0) if tokens else 'the end'
    if token == '!':
        return f'(not {_unary(tokens)})'
    if token in ('historically', 'once'):
        bounds = re.fullmatch(r'\[([\d.]+):([\d.]+)\]', tokens[0]) if tokens else None
        if bounds is None:
            raise ValueError(f'{token} needs its bounds')
        tokens.pop(0)
        low, high = (round(float(each) * RATE_HZ) for each in bounds.groups())
        operator = 'alwaysBeen' if token == 'historically' else 'eventuallyPrev'
        return f'(MTL.{operator} {low} {high} clock 1 {_unary(tokens)})'
    if token == '(':
        text = _binary(tokens, 0)
        if not tokens or tokens.pop(0) != ')':
            raise ValueError('a bracket is not closed')
        return text
    if token.startswith('{'):
        return f'(({INPUT} .&. {1 << list(SIGNALS).index(token[1:-1])}) /= 0)'
    raise ValueError(f'{token} is not expected here')


def files(config: Config) -> dict[str, str]:
    """The text of each file by its name."""
    limits = limits_of(config.thresholds)
    properties = [
        {
            'id': each.id.replace('-', ''),
            'formula': copilot(each.formula_with(limits)),
            'description': each.title,
        }
        for each in load_requirements()
        if each.formula
    ]
    scope = 'ros/message'
    connection = {'scope': scope, 'topic': config.topics.monitor.signals}
    found: dict[str, dict[str, Any]] = {
        'document.json': {
            'auxiliary_defs': [],
            'inputs': [{'name': INPUT, 'type': 'Word64', 'meaning': 'one bit for each signal'}],
            'properties': properties,
        },
        'vars-db.json': {
            'inputs': [
                {'name': INPUT, 'type': 'uint64_t', 'active': True, 'connections': [connection]}
            ],
            'topics': [{**connection, 'type': TYPE}],
            'types': [
                {'fromScope': scope, 'fromType': TYPE, 'toScope': 'C', 'toType': 'uint64_t'}
            ],
        },
        'project.ogma': {
            'projectName': 'Curiosity ROSA',
            'projectInputFiles': [['document.json', 'cwd:default', 'literal']],
            'projectVariableFiles': None,
            'projectVariableDBFile': 'vars-db.json',
            'projectHandlerFile': None,
            'projectCommandPropVia': None,
            'projectTemplateDir': None,
            'projectTargetDir': 'cwd:monitor',
            'projectExtraJSONFile': None,
        },
    }
    return {name: json.dumps(value, indent=2) + '\n' for name, value in found.items()}


def main() -> None:
    config = load_config()
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(load_requirements(), config.thresholds), encoding='utf-8')
    for name, text in files(config).items() if '--page' not in sys.argv else ():
        (OGMA / name).write_text(text, encoding='utf-8')


if __name__ == '__main__':
    main()
