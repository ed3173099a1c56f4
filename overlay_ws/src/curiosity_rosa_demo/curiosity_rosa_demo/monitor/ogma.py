# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The formulas as the files that NASA's Ogma reads to make a C monitor for ROS 2.

``python -m curiosity_rosa_demo.monitor.ogma DIR`` writes them. The format is that of
curiosity_rover_ogma in space-ros/demos: document.json holds Copilot expressions, vars-db.json the
topics. Ogma evaluates all properties at each message of an input. So the one input is the topic
of the signals, which our node publishes at a fixed rate, and a time in the formulas becomes a
number of messages.
"""

from __future__ import annotations

from collections.abc import Mapping
import json
from pathlib import Path
import re
import sys
from typing import Any

from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.monitor.monitor import limits_of, load_requirements, Requirement
from curiosity_rosa_demo.monitor.signals import SIGNALS

RATE_HZ = 10  # of the signals topic
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


def document(requirements: tuple[Requirement, ...], limits: dict[str, float]) -> dict[str, Any]:
    """document.json: inputs and properties."""
    return {
        'auxiliary_defs': [],
        'inputs': [{'name': INPUT, 'type': 'Word64', 'meaning': 'one bit for each signal'}],
        'properties': [
            {
                'id': each.id.replace('-', ''),
                'formula': copilot(each.formula_with(limits)),
                'description': each.title,
            }
            for each in requirements
            if each.formula
        ],
    }


def variables(topic: str) -> dict[str, Any]:
    """vars-db.json: the topic and the types of the input."""
    scope = 'ros/message'
    connection = {'scope': scope, 'topic': topic}
    return {
        'inputs': [
            {'name': INPUT, 'type': 'uint64_t', 'active': True, 'connections': [connection]}
        ],
        'topics': [{**connection, 'type': TYPE}],
        'types': [{'fromScope': scope, 'fromType': TYPE, 'toScope': 'C', 'toType': 'uint64_t'}],
    }


def files(config: Config) -> dict[str, str]:
    """The text of each file by its name."""
    project = {
        'projectName': 'Curiosity ROSA',
        'projectInputFiles': [['document.json', 'cwd:default', 'literal']],
        'projectVariableFiles': None,
        'projectVariableDBFile': 'vars-db.json',
        'projectHandlerFile': None,
        'projectCommandPropVia': None,
        'projectTemplateDir': None,
        'projectTargetDir': 'cwd:monitor',
        'projectExtraJSONFile': None,
    }
    found: Mapping[str, dict[str, Any]] = {
        'document.json': document(load_requirements(), limits_of(config.thresholds)),
        'vars-db.json': variables(config.topics.monitor.signals),
        'project.ogma': project,
    }
    return {name: json.dumps(value, indent=2) + '\n' for name, value in found.items()}


def main() -> int:
    if len(sys.argv) != 2:
        print('usage: python -m curiosity_rosa_demo.monitor.ogma DIR', file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files(load_config()).items():
        (folder / name).write_text(text, encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
