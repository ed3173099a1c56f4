# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Intent of an utterance by rules, in English, Japanese and Chinese. Pure.

A motion requires that the whole utterance matches a small grammar. A negation, a condition or an
unknown word therefore never drives the rover. Requests without motion are found by keywords.
"""

from __future__ import annotations

from dataclasses import dataclass
import re
from typing import Literal
import unicodedata

from curiosity_rosa_demo.agent.rule_model import vocabulary
from curiosity_rosa_demo.agent.rule_model.grammar import parse_motion

MAX_REQUEST_CHARS = 500  # longer texts are rejected; this also bounds the matching time
Kind = Literal['explore', 'status', 'command', 'greeting', 'help', 'negated', 'unclear', 'unknown']


@dataclass(frozen=True)
class Intent:
    """``tool`` is set for commands and the status, ``duration_s`` for a motion with a duration."""

    kind: Kind
    tool: str | None = None
    duration_s: float | None = None


_STATUS = Intent('status', 'get_status')


def detect_language(text: str) -> Literal['en', 'ja', 'zh']:
    """``ja`` with kana, ``zh`` with other CJK characters, else ``en``."""
    if re.search('[\u3041-\u309f\u30a1-\u30fa\u30fc\uff66-\uff9d]', text):
        return 'ja'
    return 'zh' if re.search('[\u3400-\u9fff\uf900-\ufaff]', text) else 'en'


def parse_intent(text: str) -> Intent:
    """The intent of ``text``. Doubt gives ``unclear`` or ``unknown``, never a motion."""
    folded = unicodedata.normalize('NFKC', text).lower().replace('\u2019', "'")
    plain = ' '.join(folded.split()).strip(' .!。、,…"\'「」')
    request = plain.rstrip('? ')
    question = bool(vocabulary.QUESTION.search(plain)) and not vocabulary.POLITE.search(request)
    if not request:
        return Intent('help')
    if vocabulary.NOT_STOP.search(request):
        return Intent('negated')
    if vocabulary.STOP.search(request) and not question:
        return Intent('command', 'move_stop')
    if len(request) > MAX_REQUEST_CHARS:
        return Intent('unknown')
    if vocabulary.GREETING.fullmatch(request):
        return Intent('greeting')
    if vocabulary.HELP.search(request):
        return Intent('help')
    if question:
        return _parse_question(request)
    motion = parse_motion(request)
    return Intent('command', *motion) if motion else _parse_request(request)


def _parse_question(request: str) -> Intent:
    """The intent of a question: a measurement or the status, never a motion."""
    if request.startswith(('how bright', '明るさ')):
        return Intent('command', 'capture_and_score')
    if vocabulary.STATUS.search(request) or vocabulary.ROVER.search(request):
        return _STATUS
    patterns = (vocabulary.ABOUT_EXPLORING, vocabulary.DRIVING, *vocabulary.COMMANDS.values())
    about_acting = any(pattern.search(request) for pattern in patterns)
    return Intent('unclear' if about_acting else 'unknown')


def _parse_request(request: str) -> Intent:
    commands = {tool for tool, pattern in vocabulary.COMMANDS.items() if pattern.search(request)}
    explore = bool(vocabulary.EXPLORE.search(request))
    driving = bool(vocabulary.DRIVING.search(request))
    about_exploring = explore or bool(vocabulary.ABOUT_EXPLORING.search(request))
    acting = bool(commands) or about_exploring or driving
    if acting and vocabulary.NEGATION.search(request):
        return Intent('negated')
    if vocabulary.STATUS.search(request) and not acting:
        return _STATUS
    if acting and vocabulary.HEDGE.search(request):
        return Intent('unclear')
    if explore:
        return Intent('explore') if commands <= {'capture_and_score'} else Intent('unclear')
    if commands in ({'mast_open', 'capture_and_score'}, {'mast_open', 'mast_rotate'}):
        commands.discard('mast_open')  # the other command opens the mast if needed
    if len(commands) == 1 and not about_exploring and (not driving or 'mast_rotate' in commands):
        return Intent('command', commands.pop())
    return Intent('unclear' if acting else 'unknown')
