# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a sentence means: a stop, an answer, a question or an order, in any language of ``data``.
Rules only. Pure.

A stop is looked for first and alone. A text that may mean stop is a stop. An ambiguous clear,
resume or answer is a goal, which the agent reads in full. An order requires that the grammar takes
every word: a negation, a quotation or an unknown word never drives the rover.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
import re
from typing import Any

from curiosity_rosa_demo.agent.language.fold import heard, without_gaps
from curiosity_rosa_demo.agent.language.grammar import TOOLS
from curiosity_rosa_demo.agent.language.lexicon import SkillWords
from curiosity_rosa_demo.agent.language.questions import Kind, read_text, Topic
from curiosity_rosa_demo.agent.language.sentence import Intent, read_sentence
from curiosity_rosa_demo.agent.language.tables import detect_language, finds, is_wholly, replaced
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, UserInterruptType
from curiosity_rosa_demo.domain.models import Json
from pydantic import JsonValue

MAX_ANSWER_CHARS = 200  # a longer text is never a clear, a resume or an answer
MAX_ORDER_CHARS = 500  # a longer text is no order; this also bounds the matching time
_COMMANDS = ('forward', 'left', 'right', 'open', 'close', 'rotate', 'picture')
_MASK = ' # '
_PUNCTUATION = re.compile(
    r"(?:[\s.,;:!\"()\[\]。、，：；！…·「」『』“”#*_-]|(?<![a-z])'|'(?![a-z]))+"
)


@dataclass(frozen=True)
class Utterance:
    """``act``: what the kernel does with it. ``answer``: of an APPROVAL. ``topics``: of a question
    (NORMAL); DOUBT for a question that may be an order. ``urgent``: an order for now. ``intent``:
    what it orders, read when it is first asked for; ``skill_words``: the phrases of skills that
    are no part of the grammar, with the skills' names.
    """

    text: str
    language: str
    act: UserInterruptType
    answer: ApprovalAction | None = None
    topics: tuple[Topic, ...] = ()
    urgent: bool = False
    skill_words: SkillWords = ()

    @cached_property
    def intent(self) -> Intent:
        return _intent_of(self)

    def to_json(self) -> Json:
        """What it means, beside its text: for those who read it later."""
        topics: list[JsonValue] = [topic.value for topic in self.topics]
        return {'language': self.language, 'act': self.act.value, 'topics': topics}

    @classmethod
    def of(cls, text: str, meaning: Mapping[str, Any]) -> Utterance:
        """``text`` with its meaning, as ``to_json`` told it."""
        act, topics = UserInterruptType(meaning['act']), tuple(map(Topic, meaning['topics']))
        return cls(text, meaning['language'], act, topics=topics)


@lru_cache(maxsize=256)
def understand(text: str, skill_words: SkillWords = ()) -> Utterance:
    """The meaning of any ``text``; NONE for an empty one. Linear in its length."""
    act, answer, urgent = UserInterruptType.NEW_GOAL, None, False
    topics: tuple[Topic, ...] = ()
    folded, language = heard(text), detect_language(text)
    if not folded:
        act = UserInterruptType.NONE
    elif (named := _command(folded)) is not None:
        act, answer = named
    else:
        reading = read_text(folded, language)
        topics = (Topic.DOUBT,) if reading.kind is Kind.DOUBT else reading.topics
        if reading.kind in (Kind.QUESTION, Kind.ORDER) and len(text) <= MAX_ORDER_CHARS:
            intent = read_sentence(text, language, skill_words)
            if any(step.verb != 'status' for step in intent.steps):
                topics = ()  # each word of it is that of an order of more than a report
            elif reading.kind is Kind.ORDER and intent.kind == 'asked':
                topics = (Topic.DOUBT,)
        if topics:
            act = UserInterruptType.NORMAL
        # An open question may interrupt nothing.
        hurry = reading.kind in (Kind.ORDER, Kind.DOUBT)
        urgent = hurry and finds('urgent', folded)
    return Utterance(text, language, act, answer, topics, urgent, skill_words)


def is_stop(text: str) -> bool:
    folded = heard(text)
    return folded != '' and _is_stop(folded)


def _is_stop(folded: str) -> bool:
    plain = _without_punctuation(folded)
    if len(folded) <= MAX_ANSWER_CHARS:
        if is_wholly('clear', plain):
            return False
        if is_wholly('stop_whole', plain):
            return True
    if not finds('stop', without_gaps(folded)):
        return False
    return finds('stop_first', folded) or finds('stop', without_gaps(_without_masked(folded)))


def _command(folded: str) -> tuple[UserInterruptType, ApprovalAction | None] | None:
    """A stop, an answer, or a word to the tasks; None: it is something else."""
    if _is_stop(folded):
        return UserInterruptType.STOP, None
    if len(folded) <= MAX_ANSWER_CHARS:
        plain = _without_punctuation(folded)
        if is_wholly('clear', plain):
            return UserInterruptType.CLEAR, None
        for name, answer in (
            ('approve', ApprovalAction.APPROVE),
            ('reject', ApprovalAction.REJECT),
        ):
            if is_wholly(name, plain):
                return UserInterruptType.APPROVAL, answer
        rest = _without_masked(folded) if finds('stop', without_gaps(folded)) else folded
        rest = _without_punctuation(without_gaps(rest))
        if rest and is_wholly('resume', rest):
            return UserInterruptType.RESUME, None
    if finds('pause', replaced('pause_mask', _MASK, without_gaps(folded))):
        return UserInterruptType.PAUSE, None
    return None


def _without_punctuation(text: str) -> str:
    """Remove punctuation from ``text``, except question marks: a question is never an answer."""
    return without_gaps(_PUNCTUATION.sub(' ', text).strip())


def _without_masked(folded: str) -> str:
    """Mask words of a stop that are not used as one, such as the stop in "bus stop"."""
    return replaced('stop_mask', _MASK, folded)


def beside_the_stop(text: str) -> str:
    """What a ``text`` with a stop says besides, folded: "don't move, take a picture" also asks for
    a picture.
    """
    return replaced('stop', ', ', without_gaps(heard(text))).strip(' ,.!')


def _intent_of(said: Utterance) -> Intent:
    """Doubt gives ``unclear`` or ``unknown``, never a motion."""
    folded = heard(said.text)
    if not _without_punctuation(folded).strip('?'):
        return Intent('help')
    if said.act is UserInterruptType.STOP:
        return Intent('command', 'move_stop')
    if len(said.text) > MAX_ORDER_CHARS:
        return Intent('unknown')
    intent = read_sentence(said.text, said.language, said.skill_words)
    if intent.kind == 'orders' and said.act is UserInterruptType.APPROVAL:
        return Intent('unclear', understood=intent.steps)  # "go ahead": nothing was asked
    if intent.kind == 'orders':
        return _ordered(intent)
    if is_wholly('greeting', _without_punctuation(folded)):
        return Intent('greeting')
    if {Topic.HELP, Topic.HOWTO} & set(said.topics):
        return Intent('help')
    if {Topic.STATUS, Topic.POSITION, Topic.MAST} & set(said.topics):
        return Intent('status', 'get_status')
    return replace(intent, kind='unclear') if intent.kind == 'asked' else intent


def _ordered(orders: Intent) -> Intent:
    """A single step that is one call is a command; the light and the ground are an exploration."""
    step = orders.steps[0]
    if len(orders.steps) == 1 and not step.condition:
        if step.verb in ('explore', 'light'):
            return replace(orders, kind='explore')
        if step.verb == 'status':
            return Intent('status', 'get_status')
        if step.verb in _COMMANDS and step.unit in ('', 's') and not step.count:
            seconds = step.amount if step.unit else None
            tool = TOOLS[step.verb]
            return replace(orders, kind='command', tool=tool, duration_s=seconds)
    return orders


is_stop('stop')  # compiles the patterns: the first stop takes no longer than the next
