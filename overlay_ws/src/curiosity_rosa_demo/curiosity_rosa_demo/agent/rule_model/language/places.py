# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Places that are given as coordinates in the world frame. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from curiosity_rosa_demo.agent.rule_model.language.lexicon import Meaning

# --- The tokens of a sentence. Pure ------------------------------------------------------------


UNKNOWN: Meaning = ('UNKNOWN',)


@dataclass(frozen=True)
class Token:
    """``text`` as folded, ``meanings`` in the order of the lexicon, ``value`` of a quantity."""

    text: str
    meanings: tuple[Meaning, ...]
    value: float = 0.0
    y: float = 0.0  # of a place, whose ``value`` is its x

    def can_be(self, tag: str) -> bool:
        return any(tag in meaning for meaning in self.meanings)

    def tag_with(self, prefix: str) -> str:
        """The tag that begins with ``prefix``; '' for none."""
        for meaning in self.meanings:
            for tag in meaning:
                if tag.startswith(prefix):
                    return tag
        return ''


@dataclass(frozen=True)
class Words:
    """The tokens of a ``text``. ``sayings``: the words to speak, as given, by their index."""

    tokens: tuple[Token, ...]
    text: str = ''
    sayings: tuple[str, ...] = ()


BRACKETS = ('()', '[]', '【】')


def with_places(tokens: Sequence[Token]) -> list[Token]:
    """Join two numbers that are coordinates: x 3, y 0; (3, 0); 3,0."""
    out: list[Token] = []
    at = 0
    while at < len(tokens):
        place = _place_at(tokens, at)
        if place is None:
            out.append(tokens[at])
            at += 1
        else:
            token, at = place
            after = tokens[at].text if at < len(tokens) else ''
            if out and out[-1].text + after in BRACKETS:
                out.pop()
                at += 1
            out.append(token)
    return out


def _place_at(tokens: Sequence[Token], at: int) -> tuple[Token, int] | None:
    x, at = _coordinate(tokens, at, 'AXISX')
    if x is None:
        return None
    joined = at
    while (
        joined < len(tokens)
        and tokens[joined].meanings[0] != ('NUM',)
        and (
            tokens[joined].can_be('COMMA')
            or tokens[joined].can_be('AND')
            or tokens[joined].can_be('FILLER')
        )
    ):
        joined += 1
    named = joined < len(tokens) and tokens[joined].can_be('AXISY')
    y, end = _coordinate(tokens, joined, 'AXISY')
    comma = any(token.text in (',', '、') for token in tokens[at:joined])
    if y is None or not (named or comma or joined == at):
        return None
    return Token(f'{x:g} {y:g}', (('XY',),), x, y), end


def _coordinate(tokens: Sequence[Token], at: int, axis: str) -> tuple[float | None, int]:
    start = at
    if at < len(tokens) and tokens[at].can_be(axis):
        at += 1
        while at < len(tokens) and tokens[at].can_be('FILLER') and not tokens[at].can_be('NUM'):
            at += 1
    if at >= len(tokens):
        return None, start
    token = tokens[at]
    is_metres = token.meanings[0] == ('DIST',) and start != at
    if token.meanings[0] != ('NUM',) and not is_metres:
        return None, start
    return token.value, at + 1
