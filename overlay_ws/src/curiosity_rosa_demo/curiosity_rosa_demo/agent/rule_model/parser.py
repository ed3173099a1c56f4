# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What an utterance asks for, by rules, in English, Japanese and Chinese. Pure.

A motion needs the whole utterance to fit a small grammar, so that a negation, a condition or
anything else that is not understood never drives the rover. Harmless requests are found by words.
"""

from __future__ import annotations

from dataclasses import dataclass
import re
from typing import Literal
import unicodedata

from curiosity_rosa_demo.agent.rule_model import vocabulary
from curiosity_rosa_demo.agent.rule_model.grammar import parse_motion

MAX_REQUEST_CHARS = 500  # longer texts are no command; it also bounds the time the patterns take
Kind = Literal['explore', 'status', 'command', 'greeting', 'help', 'negated', 'unclear', 'unknown']


@dataclass(frozen=True)
class Intent:
    """``tool`` is set for commands and the status, ``duration_s`` for a motion that names one."""

    kind: Kind
    tool: str | None = None
    duration_s: float | None = None


_STATUS = Intent('status', 'get_status')


def detect_language(text: str) -> str:
    """``ja`` with kana, ``zh`` with other CJK characters, else ``en``."""
    if re.search('[\u3041-\u309f\u30a1-\u30fa\u30fc\uff66-\uff9d]', text):
        return 'ja'
    return 'zh' if re.search('[\u3400-\u9fff\uf900-\ufaff]', text) else 'en'


def parse_intent(text: str) -> Intent:
    """What ``text`` asks for. Doubt is ``unclear`` or ``unknown``, never a motion."""
    folded = unicodedata.normalize('NFKC', text).lower().replace('\u2019', "'")
    plain = ' '.join(folded.split()).strip(' .!。、,…"\'「」')
    said = plain.rstrip('? ')
    said = plain.rstrip('? ')
    question = bool(vocabulary.QUESTION.search(plain)) and not vocabulary.POLITE.search(said)
    if not said:
        return Intent('help')
    if vocabulary.NOT_STOP.search(said):
        return Intent('negated')
    if vocabulary.STOP.search(said) and not question:
        return Intent('command', 'move_stop')
    if len(said) > MAX_REQUEST_CHARS:
        return Intent('unknown')
    if vocabulary.GREETING.fullmatch(said):
        return Intent('greeting')
    if vocabulary.HELP.search(said):
        return Intent('help')
    if question:
        return _parse_question(said)
    asked = parse_motion(said)
    return Intent('command', *asked) if asked else _parse_request(said)


def _parse_question(said: str) -> Intent:
    """A question is answered with measurements, never with a motion."""
    if said.startswith(('how bright', '明るさ')):
        return Intent('command', 'capture_and_score')
    if vocabulary.STATUS.search(said) or vocabulary.ROVER.search(said):
        return _STATUS
    patterns = (vocabulary.ABOUT_EXPLORING, vocabulary.DRIVING, *vocabulary.COMMANDS.values())
    about_acting = any(pattern.search(said) for pattern in patterns)
    return Intent('unclear' if about_acting else 'unknown')


def _parse_request(said: str) -> Intent:
    commands = {tool for tool, pattern in vocabulary.COMMANDS.items() if pattern.search(said)}
    explore, driving = bool(vocabulary.EXPLORE.search(said)), bool(vocabulary.DRIVING.search(said))
    about_exploring = explore or bool(vocabulary.ABOUT_EXPLORING.search(said))
    acting = bool(commands) or about_exploring or driving
    if acting and vocabulary.NEGATION.search(said):
        return Intent('negated')
    if vocabulary.STATUS.search(said) and not acting:
        return _STATUS
    if acting and vocabulary.HEDGE.search(said):
        return Intent('unclear')
    if explore:
        return Intent('explore') if commands <= {'capture_and_score'} else Intent('unclear')
    if commands in ({'mast_open', 'capture_and_score'}, {'mast_open', 'mast_rotate'}):
        commands.discard('mast_open')  # the other one opens the mast where that is needed
    if len(commands) == 1 and not about_exploring and (not driving or 'mast_rotate' in commands):
        return Intent('command', commands.pop())
    return Intent('unclear' if acting else 'unknown')
