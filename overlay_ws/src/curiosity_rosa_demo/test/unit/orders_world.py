# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The corpora, and the product's whole reading of a sentence as a label: what would be done."""

from __future__ import annotations

from pathlib import Path
import re
from typing import NamedTuple

from curiosity_rosa_demo.agent.kernel.hci_ingress import classify
from curiosity_rosa_demo.agent.rule_model.language.frames import MOTIONS
from curiosity_rosa_demo.agent.rule_model.parser import Intent, parse_intent
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, UserInterruptType

CORPUS = Path(__file__).parent / 'corpus'
_NOT_DONE = ('question', 'doubt', 'refuse', 'stop', 'pause', 'resume', 'clear')


class Row(NamedTuple):
    language: str
    label: str
    text: str


def fields(name: str) -> list[list[str]]:
    r"""The rows of a corpus; none if there is no such file. A ``\uXXXX`` is its character."""
    path = CORPUS / name
    lines = path.read_text(encoding='utf-8').splitlines() if path.exists() else []
    return [
        [re.sub(r'\\u([0-9a-f]{4})', lambda found: chr(int(found[1], 16)), each) for each in row]
        for row in (line.split('\t') for line in lines if line.strip() and line[0] != '#')
    ]


def rows(name: str) -> list[Row]:
    """The rows of a corpus of orders."""
    return [Row(*row) for row in fields(name)]


def label_of(text: str) -> str:
    """The label of the reading of ``text`` by an agent that has asked nothing."""
    intent = classify(text)
    if intent.type is UserInterruptType.NORMAL:
        topics = intent.payload['topics']
        assert isinstance(topics, list)
        return 'doubt' if topics == ['doubt'] else f'question {topics[0]}'
    if intent.type is UserInterruptType.APPROVAL:  # without a question a no is a stop
        if intent.payload['action'] == ApprovalAction.REJECT.value:
            return 'stop'
    elif intent.type is not UserInterruptType.NEW_GOAL:
        return intent.type.value.lower()
    return order_label(parse_intent(text))


def order_label(intent: Intent) -> str:
    if intent.tool == 'move_stop':
        return 'stop'
    if intent.kind == 'status':
        return 'question status'
    if intent.kind == 'help':
        return 'question help'
    return ' > '.join(step.label for step in intent.steps) or 'refuse'


def motions_of(label: str) -> list[str]:
    """The steps of a label that may drive the rover, with their conditions."""
    if label.split()[0] in _NOT_DONE:
        return []
    steps = label.split(' > ')
    return [
        step
        for step in steps
        if step.partition(': ')[2].split(' ')[0] in MOTIONS or step.split(' ')[0] in MOTIONS
    ]
