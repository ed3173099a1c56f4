# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A sentence to its steps. Pure.

The clauses of a sentence are the cheapest split of its words into groups that frames match, with
the words that join them between. A word that no group takes makes the sentence no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from curiosity_rosa_demo.agent.rule_model.language.clauses import group_of, is_mark, MARKS
from curiosity_rosa_demo.agent.rule_model.language.frames import Step
from curiosity_rosa_demo.agent.rule_model.language.lexicon import lexicon
from curiosity_rosa_demo.agent.rule_model.language.places import Token, UNKNOWN, with_places, Words
from curiosity_rosa_demo.agent.rule_model.language.step_order import plan_of
from curiosity_rosa_demo.agent.rule_model.language.words import as_typed, split_words

MAX_TOKENS = 120
MAX_STEPS = 40


@dataclass(frozen=True)
class Sentence:
    """``steps`` of a sentence that was understood as a whole, else empty. ``understood``:
    the parts of another one that make sense. ``missing``: the words that do not, as typed,
    or ``number`` or ``backward``. ``kind``: order, negated, unclear (some of it makes sense) or
    unknown.
    """

    kind: str
    steps: tuple[Step, ...] = ()
    understood: tuple[Step, ...] = ()
    missing: str = ''


def read_sentence(text: str, language: str, extra: tuple[tuple[str, str], ...] = ()) -> Sentence:
    """The reading of ``text`` in ``language``. ``extra``: phrases of skills, with their names."""
    first = _read(split_words(text, lexicon(language, extra)), language)
    if language == 'zh' and first.kind in ('unclear', 'unknown'):  # Japanese without kana
        second = _read(split_words(text, lexicon('ja', extra)), 'ja')
        if second.kind in ('order', 'negated'):
            return second
    return first


def _read(words: Words, language: str) -> Sentence:
    tokens = _rewritten(with_places(words.tokens))
    unknown = _unknown_words(tokens)
    if tokens and all(token.can_be('SCRATCH') or is_mark(token) for token in tokens):
        return Sentence('negated')  # never mind, forget it
    if len(tokens) > MAX_TOKENS:
        return Sentence('unclear', missing='...')
    if unknown or not _may_ask(tokens):
        return _not_understood(tokens, words, unknown)
    plan = plan_of(tokens, words, language)
    if plan is None:
        return _not_understood(tokens, words, [])
    steps = _without_echo(plan.steps)
    if not steps:
        return Sentence('negated' if plan.negated else 'unknown')
    if len(steps) > MAX_STEPS or any(step.problem for step in steps):
        return Sentence('unclear', understood=tuple(steps), missing='number')
    if len(steps) == 1 and steps[0].verb == 'back':
        steps = [replace(steps[0], verb='home')]
    return Sentence('order', tuple(steps))


def _unknown_words(tokens: Sequence[Token]) -> list[str]:
    """The unknown words; characters without spaces between are one word."""
    words: list[str] = []
    joins = False
    for token in tokens:
        unknown = token.meanings == (UNKNOWN,)
        if unknown and joins and not token.text.isascii():
            words[-1] += token.text
        elif unknown:
            words.append(token.text)
        joins = unknown and not token.text.isascii()
    return words


def _without_echo(steps: list[Step]) -> list[Step]:
    """An order to explore that is given in two languages is one order."""
    echo = len(steps) > 1 and all(step == Step('explore') for step in steps)
    return steps[:1] if echo else steps


def _may_ask(tokens: Sequence[Token]) -> bool:
    """Only a polite request may have the form of a question, and what comes before an order:
    "what kind of ground is this? Analyse it".
    """
    asks = [i for i, token in enumerate(tokens) if token.meanings[0] == ('ASK',)]
    if not asks or any(token.can_be('POLITE') for token in tokens):
        return True
    rest = tokens[asks[-1] + 1 :]
    return any(not is_mark(token) for token in rest) and all(
        any(set(meaning) <= _ASKED for meaning in token.meanings) for token in tokens[: asks[-1]]
    )


# What a question in front of an order may be about: nothing that is done.
_ASKED = frozenset(
    (
        *('WH', 'GROUND', 'LIGHT', 'BRIGHT', 'DARK', 'PLACE', 'BE', 'AROUND', 'A', 'SHADE'),
        *('IF', 'ASK', 'MAST', 'OPEN', 'CLOSE', 'COMMA', 'END', 'BATTERY', 'ABOVE', 'BELOW'),
        *('NUM', 'PCT'),
        *MARKS,
    )
)


def _rewritten(tokens: list[Token]) -> list[Token]:
    """The tokens with the meanings that only their place in the sentence gives."""
    out = _with_asked_condition(tokens)
    last = len(out) - 1
    while last > 0 and is_mark(out[last]) and out[last].text != 'first':
        last -= 1
    if last < 0:
        return out
    joined = any(each.can_be('BUT') or each.text == 'so' for each in out[:last])
    if out[last].text == 'first' and joined:  # "but raise the mast first"
        out[last] = replace(out[last], meanings=(('BACKBEFORE',),))
    if out[last].text.endswith('こと'):  # at the end of a sentence it orders
        meanings = tuple(
            tuple(tag for tag in meaning if tag != 'ING') for meaning in out[last].meanings
        )
        out[last] = replace(out[last], meanings=meanings)
    return out


def _with_asked_condition(tokens: list[Token]) -> list[Token]:
    """Read "too dark? Then drive to the light" as "if too dark, drive to the light"."""
    ask = next((i for i, token in enumerate(tokens) if token.meanings[0] == ('ASK',)), None)
    if not ask or any(token.can_be(tag) for token in tokens for tag in ('IF', 'POLITE')):
        return list(tokens)
    if all(is_mark(token) for token in tokens[ask:]):
        return list(tokens)
    asked = [Token('if', (('IF',),)), *tokens[:ask]]
    group = group_of(asked, Words(()), frozenset())
    if group is None or group.kind != 'cond':
        return list(tokens)
    return [*asked, Token(',', (('COMMA',),)), *tokens[ask + 1 :]]


def _not_understood(tokens: Sequence[Token], words: Words, unknown: list[str]) -> Sentence:
    known: list[Step] = []
    at = 0
    while at < len(tokens):
        size, steps = _steps_at(tokens, at, words)
        known += [step for step in steps if step not in known]
        at += size
    action = any(
        tag in _ACTIONS for token in tokens for meaning in token.meanings for tag in meaning
    )
    missing = ' '.join(as_typed(word, words.text) for word in unknown[:12])
    if any(token.can_be('BACKWARD') for token in tokens):
        missing = 'backward'
    return Sentence('unclear' if action else 'unknown', (), tuple(known[:5]), missing)


def _steps_at(tokens: Sequence[Token], at: int, words: Words) -> tuple[int, tuple[Step, ...]]:
    """The longest clause that begins here: how many tokens, and its steps; one token, none."""
    for size in range(min(6, len(tokens) - at), 0, -1):
        group = group_of(tokens[at : at + size], words, frozenset())
        if group is not None and group.kind == 'step':
            return size, group.steps
    return 1, ()


_ACTIONS = frozenset(
    [
        'GO',
        'TURN',
        'FORWARD',
        'LEFT',
        'RIGHT',
        'UTURN',
        'SPIN',
        'OPEN',
        'CLOSE',
        'MAST',
        'SHOOT',
        'PICTURE',
        'TAKE',
        'EXPLORE',
        'LIGHT',
        'FIND',
        'HOMEWARD',
        'BACK',
        'WAIT',
        'SAYING',
        'LOOK',
        'BASE',
        'BACKWARD',
        'SKILL',
    ]
)
