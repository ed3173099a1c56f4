# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Intent of an utterance by rules, in English, Japanese and Chinese. Pure.

An order requires that the grammar of ``language`` takes every word of the utterance. A negation, a
quotation or an unknown word therefore never drives the rover. A stop is found by keywords.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
import re
from typing import Any, Literal
import unicodedata

from curiosity_rosa_demo.agent.rule_model import vocabulary
from curiosity_rosa_demo.agent.rule_model.beliefs import Beliefs, Mast
from curiosity_rosa_demo.agent.rule_model.language.frames import Step, TOOLS
from curiosity_rosa_demo.agent.rule_model.language.sentence import read_sentence, Sentence
from curiosity_rosa_demo.agent.rule_model.step_texts import reason, reason_text
from curiosity_rosa_demo.agent.rule_model.texts import text_for
from curiosity_rosa_demo.agent.rule_model.turn_view import TurnView

SkillWords = tuple[tuple[str, str], ...]  # phrases of skills, with the skills' names
MAX_REQUEST_CHARS = 500  # longer texts are rejected; this also bounds the matching time
Kind = Literal[
    'explore', 'status', 'command', 'orders', 'greeting', 'help', 'negated', 'unclear', 'unknown'
]
_COMMANDS = ('forward', 'left', 'right', 'open', 'close', 'rotate', 'picture')


@dataclass(frozen=True)
class Intent:
    """``tool`` is set for commands and the status, ``duration_s`` for a motion with a duration,
    ``steps`` for whatever is ordered. ``understood`` and ``missing``: parts of an unclear text.
    """

    kind: Kind
    tool: str | None = None
    duration_s: float | None = None
    steps: tuple[Step, ...] = ()
    understood: tuple[Step, ...] = ()
    missing: str = ''


_STATUS = Intent('status', 'get_status')


def detect_language(text: str) -> Literal['en', 'ja', 'zh']:
    """``ja`` with kana, ``zh`` with other CJK characters, else ``en``."""
    if re.search('[\u3041-\u309f\u30a1-\u30fa\u30fc\uff66-\uff9d]', text):
        return 'ja'
    return 'zh' if re.search('[\u3400-\u9fff\uf900-\ufaff]', text) else 'en'


@lru_cache(maxsize=64)  # a turn reads its goal several times a step
def parse_intent(text: str, skill_words: SkillWords = ()) -> Intent:
    """The intent of ``text``. Doubt gives ``unclear`` or ``unknown``, never a motion.

    ``skill_words``: phrases of skills that are no part of the grammar, with the skills' names.
    """
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
    sentence = read_sentence(text, detect_language(text), skill_words)
    if sentence.kind == 'order':
        return _intent_of(sentence)
    if vocabulary.GREETING.fullmatch(request):
        return Intent('greeting')
    if vocabulary.HELP.search(request):
        return Intent('help')
    if question and request.startswith(('how bright', '明るさ')):
        return Intent('command', 'capture_and_score')
    about_status = vocabulary.STATUS.search(request) or (
        question and vocabulary.ROVER.search(request)
    )
    if about_status and (question or sentence.kind == 'unknown'):
        return _STATUS
    kind: Kind = 'negated' if sentence.kind == 'negated' else 'unclear'
    if sentence.kind == 'unknown':
        kind = 'unknown'
    return Intent(kind, understood=sentence.understood, missing=sentence.missing)


def _intent_of(sentence: Sentence) -> Intent:
    """A single step that is one call is a command; the light and the ground are an exploration."""
    step = sentence.steps[0]
    if len(sentence.steps) == 1 and not step.condition:
        if step.verb in ('explore', 'light'):
            return Intent('explore', steps=sentence.steps)
        if step.verb == 'status':
            return _STATUS
        if step.verb in _COMMANDS and step.unit in ('', 's') and not step.count:
            seconds = step.amount if step.unit else None
            tool = TOOLS[step.verb]
            return Intent('command', tool, seconds, sentence.steps)
    return Intent('orders', steps=sentence.steps)


# -----------------------------------------------------------------------------------------------
# The input of a rule of the rule model, and the decisions that a rule can return. Pure.


MAX_ATTEMPTS = 3  # calls of a failing tool
_GOOD_ENDS = ('greeting', 'help')  # every other answer without a result is a failure


@dataclass(frozen=True)
class ToolCall:
    """Call this tool next. ``thought`` is the reason, in the language of the user."""

    tool: str
    thought: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FinalAnswer:
    """End the turn. ``text`` is the answer, in the language of the user. ``ok``: the user has got
    what was asked for.
    """

    text: str
    ok: bool = True


Decision = ToolCall | FinalAnswer
Rule = Callable[['RuleContext'], Decision | None]


@dataclass(frozen=True)
class RuleContext:
    """The view of a turn, with the beliefs, the intent and the language derived from it."""

    view: TurnView
    beliefs: Beliefs
    intent: Intent
    language: str
    explore_rules: tuple[Rule, ...] = ()  # for a drive to the light within an order

    def answer(self, key: str, **values: Any) -> FinalAnswer:
        return FinalAnswer(text_for(key, self.language, **values), ok=key in _GOOD_ENDS)

    def call(
        self, tool: str, key: str, arguments: Mapping[str, Any] | None = None, /, **values: Any
    ) -> ToolCall:
        """The call of ``tool`` for the reason ``key``."""
        return ToolCall(tool, reason_text(reason(key, **values), self.language), arguments or {})

    def capture(self, key: str, **values: Any) -> ToolCall:
        """The next call towards a capture: open a closed or unknown mast first, then capture."""
        if self.beliefs.mast in (Mast.UNKNOWN, Mast.CLOSED):
            return self.call('mast_open', 'open_to_capture', why=reason(key, **values))
        return self.call('capture_and_score', key, **values)

    def figures(self) -> dict[str, Any]:
        """The counts and values of the turn so far, for the texts of answers."""
        captures = self.beliefs.captures
        return {
            'score': f'{captures[-1].score:.2f}' if captures else '-',
            'captures': len(captures),
            'moves': len(self.beliefs.moves),
            'metres': f'{self.beliefs.driven_m():.1f}',
        }
