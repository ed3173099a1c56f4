# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether a sentence is an order that is understood as a whole, and the steps of it. Pure.

The clauses of a sentence are the cheapest split of its words into groups that frames match, with
the words that join them between. A word that no group takes makes the sentence no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise, zip_longest
import re
from typing import Literal

from curiosity_rosa_demo.agent.language.grammar import group_of, is_mark, MARKS, Step
from curiosity_rosa_demo.agent.language.lexicon import as_typed, lexicon, SkillWords, split_words
from curiosity_rosa_demo.agent.language.quantities import Token, UNKNOWN
from curiosity_rosa_demo.agent.language.steps import EXCLUDED, plan_of
from curiosity_rosa_demo.agent.language.tables import table

MAX_TOKENS = 120
MAX_STEPS = 40
_ASKED, _ACTIONS = (tuple(table('', 'frames')[name].split()) for name in ('asked', 'actions'))
_PLACES = ('BASE', 'BRIGHT', 'LIGHT', 'PLACE', 'SHADE', 'XY')
_FROM = ('de', 'del', 'desde')
_ACTS = ('CLOSE', 'FORWARD', 'OPEN', 'SHOOT', 'TURN')
_IF, _COMMA = Token('if', (('IF',),)), Token(',', (('COMMA',),))


IntentKind = Literal[
    'explore',
    'status',
    'command',
    'orders',
    'asked',
    'greeting',
    'help',
    'negated',
    'unclear',
    'unknown',
]


@dataclass(frozen=True)
class Intent:
    """What a goal orders; ``asked``: it would, if it were no question. ``tool`` is set for
    commands and the status, ``duration_s`` for a motion with a duration, ``steps`` for whatever is
    ordered. ``understood``: the parts of an unclear text that make sense; ``missing``: the words
    that do not, as typed, or ``number``, ``mast`` or ``backward``.
    """

    kind: IntentKind
    tool: str | None = None
    duration_s: float | None = None
    steps: tuple[Step, ...] = ()
    understood: tuple[Step, ...] = ()
    missing: str = ''


@lru_cache(maxsize=64)  # the door asks whether it is an order, the turn which
def read_sentence(text: str, language: str, extra: SkillWords = ()) -> Intent:
    """What ``text`` in ``language`` orders: orders, negated, unclear (some of it makes sense) or
    unknown. ``extra``: phrases of skills, with their names.
    """
    first = _read(text, language, extra)
    if language == 'zh' and first.kind in ('unclear', 'unknown'):  # Japanese without kana
        second = _read(text, 'ja', extra)
        if second.kind in ('orders', 'negated'):
            return second
    return first


def _read(text: str, language: str, extra: SkillWords) -> Intent:
    tokens = _rewritten(split_words(text, lexicon(language, extra)))
    unknown = _unknown_words(tokens)
    tokens, kept = _without_states(tokens)
    if tokens and all(token.can_be('SCRATCH') or is_mark(token) for token in tokens):
        return Intent('negated')  # never mind, forget it
    if (doubtful := table(language, 'words').get('doubtful')) and re.search(doubtful, text):
        return Intent('unclear', missing='number')
    if len(tokens) > MAX_TOKENS:
        return Intent('unclear', missing='...')
    plan = None if unknown else plan_of(tokens, language)
    if plan is not None and not _may_ask(tokens):
        return Intent('asked' if plan.steps else 'unknown', understood=tuple(plan.steps[:5]))
    if plan is None:
        return _not_understood(tokens, text, unknown, kept)
    steps = plan.steps
    if len(steps) > 1 and all(step == Step('explore') for step in steps):
        steps = steps[:1]  # an order in two languages
    if plan.excluded or any(step.verb in EXCLUDED[state] for step in steps for state in kept):
        return Intent('unclear', understood=tuple(steps), missing='mast')
    if not steps:
        return Intent('negated' if plan.negated else 'unknown')
    if len(steps) > MAX_STEPS or any(step.is_absurd for step in steps):
        return Intent('unclear', understood=tuple(steps), missing='number')
    if len(steps) == 1 and steps[0].verb == 'back':
        steps = [replace(steps[0], verb='home')]
    if any(token.can_be('INPLACE') for token in tokens):
        steps = [replace(each, in_place=each.verb in ('left', 'right')) for each in steps]
    return Intent('orders', steps=tuple(steps))


def _unknown_words(tokens: Sequence[Token]) -> list[str]:
    """The unknown words; characters without spaces between are one word."""
    words: list[str] = []
    runs = groupby(tokens, lambda token: (token.meanings == (UNKNOWN,), token.text.isascii()))
    for (is_unknown, is_spaced), run in runs:
        texts = [token.text for token in run]
        if is_unknown:
            words += texts if is_spaced else [''.join(texts)]
    return words


def _may_ask(tokens: Sequence[Token]) -> bool:
    """Only a polite request may have the form of a question, and what comes before an order:
    "what kind of ground is this? Analyse it".
    """
    asks = [i for i, token in enumerate(tokens) if token.meanings[0] == ('ASK',)]
    if not asks or any(token.can_be('POLITE') for token in tokens):
        return True
    rest = tokens[asks[-1] + 1 :]
    return any(not is_mark(token) for token in rest) and all(
        any(set(meaning) <= {*_ASKED, *MARKS} for meaning in token.meanings)
        for token in tokens[: asks[-1]]
    )


def _rewritten(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with the meanings that only their place in the sentence gives."""
    out = _with_neighbours(_without_le(_with_asked_condition(_without_statements(tokens))))
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


def _without_statements(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with a word as unknown that is part of a statement and no order: 10 seconds left,
    the team left, you are right, el rover avanza.
    """
    out = list(tokens)
    ends = [at for at, token in enumerate(tokens) if token.can_be('COMMA', 'AND', 'THEN')]
    for begin, end in pairwise([-1, *ends, len(tokens)]):
        clause = tokens[begin + 1 : end]
        acts = any(token.can_be('GO', 'TURN') for token in clause)
        # Who does something, or is somewhere.
        told = not acts and any(token.can_be('SUBJECT', 'BE', 'IT') for token in clause)
        for at in range(begin + 1, end):
            token = tokens[at]
            remains = token.text == 'left' and at > 0 and tokens[at - 1].can_be('DUR')
            if (told and token.can_be('LEFT', 'RIGHT', 'GO', 'TURN')) or (remains and not acts):
                out[at] = replace(token, meanings=(UNKNOWN,))
            named = token.can_be('SUBJECT') and token.text.startswith(('the ', 'el '))
            told = told or (named and at == begin + 1)
    return out


def _orders_nothing(token: Token, rest: Sequence[Token]) -> bool:
    """Whether ``token`` makes no order of the ``rest``: once it is bright (nothing waits);
    except 2 m; every 10 s, once a minute; 不是左转; 在前进 and 前进着, it is moving.
    """
    after = rest[0]
    if after.meanings[0] == ('DUR',):
        often = token.can_be('EACH') or token.text == '每'
        return often or (token.can_be('TIMES') and after.text.startswith(('a ', 'an ')))
    if token.can_be('AFTER') or token.text in ('once', 'by the time'):
        named = next((each for each in rest if not each.can_be('FILLER')), after)
        return named.can_be('BRIGHT', 'DARK')
    if token.text in ('as far as', 'as much as'):
        return not after.can_be('DIST', 'DUR', 'ANGLE', *_PLACES, 'FILLER')
    if token.text in ('except', 'excepto'):
        return after.can_be('DIST', 'DUR', 'ANGLE', 'A', 'FILLER')
    if token.text == '不是':  # what it is not, and no correction
        return not after.can_be('COMMA', 'CORRECT')
    if token.text == '在':
        return after.can_be(*_ACTS) and not after.can_be(*_PLACES)
    return after.text == '着' and token.can_be(*_ACTS) and all(map(is_mark, rest[1:]))


def _with_neighbours(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with the meanings that the word beside them gives: から behind a place and 从
    before one lead away from it; 前 behind an act or its amount is "before": 拍照前前进; 边 before
    an act is "while"; and the words that make no order of what follows are unknown.
    """
    out = list(tokens)
    for index, (token, after) in enumerate(pairwise(tokens)):
        goes = token.can_be('DIST', 'DUR', 'ANGLE') and index and tokens[index - 1].can_be(*_ACTS)
        if _orders_nothing(token, tokens[index + 1 :]):
            out[index] = replace(token, meanings=(UNKNOWN,))
        if token.text == '边' and after.can_be(*_ACTS):
            out[index] = replace(token, meanings=(('SIMUL',),))
        if after.text == '前' and (goes or token.can_be(*_ACTS)):
            out[index + 1] = replace(after, meanings=(('BEFORE',),))
        elif after.text == '前' and token.can_be('DUR') and not _leads_ahead(tokens[index + 2 :]):
            out[index + 1] = replace(after, meanings=(UNKNOWN,))
        if token.text == 'the' and after.can_be('GO', 'TURN'):  # the edge
            out[index + 1] = replace(after, meanings=(UNKNOWN,))
        if token.text.isascii() and token.can_be('LEFT', 'RIGHT') and after.can_be('PICTURE'):
            out[index] = replace(token, meanings=(UNKNOWN,))  # the right picture
        if token.text == '从' and after.can_be(*_PLACES):
            out[index] = replace(token, meanings=(('LEAVE',),))
        if token.text in _FROM and index and tokens[index - 1].can_be('GO', 'BACK'):
            out[index] = replace(token, meanings=(('LEAVE',),))
        if after.text == 'から' and token.can_be(*_PLACES):
            out[index + 1] = replace(after, meanings=(('LEAVE',),))
    return out


def _leads_ahead(rest: Sequence[Token]) -> bool:
    """Whether a 前 behind a time and in front of the ``rest`` is a direction: 5秒前へ進んで, not
    5秒前に前進して.
    """
    named = next((each for each in rest if not each.can_be('FILLER')), None)
    return named is not None and named.can_be('GO') and not named.can_be('FORWARD')


def _without_le(tokens: Sequence[Token]) -> list[Token]:
    """The tokens without a 了 that ends what is due or no longer is: 该回去了, 不用拍了."""
    out: list[Token] = []
    due = False
    for token, after in zip_longest(tokens, tokens[1:]):
        due = token.can_be('DUE') or (due and not token.can_be('COMMA'))
        if not (due and token.can_be('LE') and (after is None or after.can_be('COMMA'))):
            out.append(token)
    return out


def _without_states(tokens: list[Token]) -> tuple[list[Token], set[str]]:
    """The tokens without the states of the mast that something is to be done in, and these states,
    OPEN or CLOSE: "drive with the mast open" orders no mast.
    """
    states: set[str] = set()
    out: list[Token] = []
    conditional = any(token.can_be('IF', 'UNLESS') for token in tokens)
    at = 0
    while at < len(tokens):
        end = at + 1
        while end < len(tokens) and tokens[end].can_be(
            'MAST', 'OPEN', 'CLOSE', 'A', 'BE', 'FILLER'
        ):
            end += 1
        part = tokens[at:end]
        begins = tokens[at].can_be('WITH', 'MAST', 'OPEN', 'CLOSE') and not conditional
        state = _state_of(part) if begins else ''
        if state:
            states.add(state)
            at = end
        else:
            out.append(tokens[at])
            at += 1
    return out, states


def _state_of(tokens: Sequence[Token]) -> str:
    """OPEN or CLOSE if ``tokens`` say that the mast is so meanwhile, else empty."""
    meant = [token for token in tokens if not token.can_be('FILLER') or token.can_be('WITH')]
    while meant and meant[-1].can_be('BE', 'A'):
        meant.pop()
    names = any(token.meanings[0] == ('MAST',) for token in meant)
    kept = tokens[0].can_be('WITH') or any(token.can_be('KEPT') for token in meant)
    states = [each for each in EXCLUDED for token in meant if token.can_be(each)]
    return states[0] if names and kept and len(states) == 1 else ''


def _with_asked_condition(tokens: Sequence[Token]) -> list[Token]:
    """Read "too dark? Then drive to the light" as "if too dark, drive to the light"."""
    ask = next((i for i, token in enumerate(tokens) if token.meanings[0] == ('ASK',)), None)
    if not ask or any(token.can_be('IF', 'POLITE') for token in tokens):
        return list(tokens)
    if all(is_mark(token) for token in tokens[ask:]):
        return list(tokens)
    if any(token.can_be('NEG') for token in tokens[:ask]):  # is it not so, or is it?
        return list(tokens)
    asked = [_IF, *tokens[:ask]]
    group = group_of(asked, frozenset())
    if group is None or group.kind != 'cond':
        return list(tokens)
    return [*asked, _COMMA, *tokens[ask + 1 :]]


def _not_understood(
    tokens: Sequence[Token], text: str, unknown: list[str], kept: set[str]
) -> Intent:
    known: list[Step] = []
    at = 0
    while at < len(tokens):
        size, steps = _steps_at(tokens, at)
        known += [step for step in steps if step not in known]
        at += size
    action = any(token.can_be(*_ACTIONS) or token.tag_with('SAYING ') for token in tokens)
    missing = ' '.join(as_typed(word, text) for word in unknown[:12])
    if any(token.can_be('BACKWARD') for token in tokens):
        missing = 'backward'
    elif 'OPEN' in kept and any(token.can_be('GO', 'TURN') for token in tokens):
        missing = missing or 'mast'
    kind: IntentKind = 'unclear' if action else 'unknown'
    return Intent(kind, understood=tuple(known[:5]), missing=missing)


def _steps_at(tokens: Sequence[Token], at: int) -> tuple[int, tuple[Step, ...]]:
    """The longest clause that begins here: how many tokens, and its steps; one token, none."""
    for size in range(min(6, len(tokens) - at), 0, -1):
        group = group_of(tokens[at : at + size], frozenset())
        if group is not None and group.kind == 'step':
            return size, group.steps
    return 1, ()
