# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Tokens of a model's calls, and for whom a call is made. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal
import json
from typing import Any
import uuid

ASCII_CHARS_PER_TOKEN = 3  # an upper estimate for Latin scripts; other characters count as one
IMAGE_TOKENS = 1600  # of one image block: the most that the large providers charge at 1 Mpixel
MESSAGE_TOKENS = 4  # role and separators of a message
_IMAGE_TYPES = ('image', 'image_url', 'input_image')


@dataclass(frozen=True)
class Tokens:
    """Of one call. ``cached`` is a part of ``input``, ``reasoning`` one of ``output``.
    ``estimated``: the provider reported none, or not for all attempts.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        return self.input + self.output


@dataclass(frozen=True)
class Spending:
    """The sum of some calls. ``cost``: of those with a known price; ``unpriced``: the number of
    the others.
    """

    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    estimated: int = 0  # calls with estimated tokens
    cost: Decimal = Decimal(0)
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        return self.input + self.output

    @classmethod
    def of(cls, tokens: Tokens, cost: Decimal | None) -> Spending:
        return cls(
            1,
            tokens.input,
            tokens.output,
            tokens.cached,
            tokens.reasoning,
            int(tokens.estimated),
            cost or Decimal(0),
            int(cost is None),
        )

    def __add__(self, other: Spending) -> Spending:
        return self._joined(other, 1)

    def __sub__(self, other: Spending) -> Spending:
        return self._joined(other, -1)

    def _joined(self, other: Spending, sign: int) -> Spending:
        return Spending(
            **{name: mine + sign * getattr(other, name) for name, mine in vars(self).items()}
        )

    def to_json(self, currency: str) -> dict[str, Any]:
        """``cost`` is None while no price is known."""
        known = self.unpriced < self.calls or not self.calls
        cost = round(float(self.cost), 9) if known else None
        whole = {name: each for name, each in vars(self).items() if name != 'cost'}
        return {**whole, 'cost': cost, 'currency': currency}


@dataclass(frozen=True)
class Scope:
    """For whom a call is made; '' for neither a turn nor a task, as for the policy."""

    turn: str = ''
    task: str = ''


_scope: ContextVar[Scope | None] = ContextVar('usage_scope', default=None)


def current_scope() -> Scope:
    return _scope.get() or Scope()


@contextmanager
def turn_scope(task: str) -> Iterator[None]:
    """Calls within count for a new turn of ``task``. A turn that resumes counts anew; its task
    goes on counting.
    """
    token = _scope.set(Scope(uuid.uuid4().hex, task))
    try:
        yield
    finally:
        _scope.reset(token)


@dataclass(frozen=True)
class CallUsage:
    """A call that has ended. ``cost`` None: its price is unknown."""

    provider: str
    model: str
    tokens: Tokens
    cost: Decimal | None
    currency: str
    scope: Scope = field(default_factory=Scope)


def text_tokens(text: str) -> int:
    """An upper estimate of the tokens of ``text``."""
    others = sum(not char.isascii() for char in text)
    return -(-(len(text) - others) // ASCII_CHARS_PER_TOKEN) + others


def request_tokens(messages: Sequence[Any], tools: object = ()) -> int:
    """An upper estimate of the input of a request: LangChain messages, and schemas of tools."""
    return text_tokens(_json(tools)) + sum(map(_message_tokens, messages))


def reported_tokens(message: Any) -> Tokens | None:
    """The tokens in LangChain's ``usage_metadata``; None: the provider reported none."""
    usage = getattr(message, 'usage_metadata', None)
    if not isinstance(usage, Mapping):
        return None
    given, made = _count(usage, 'input_tokens'), _count(usage, 'output_tokens')
    if not given and not made:
        return None
    cached = _count(usage.get('input_token_details'), 'cache_read')
    reasoning = _count(usage.get('output_token_details'), 'reasoning')
    return Tokens(given, made, min(cached, given), min(reasoning, made))


def answer_tokens(message: Any) -> int:
    """An upper estimate of the output of an answer that came without a count."""
    return _message_tokens(message)


def _message_tokens(message: Any) -> int:
    blocks = message.content if isinstance(message.content, list) else [message.content]
    tokens = MESSAGE_TOKENS
    for block in blocks:
        is_dict = isinstance(block, dict)
        if is_dict and block.get('type') in _IMAGE_TYPES:
            tokens += IMAGE_TOKENS
        else:
            tokens += text_tokens(_json(block) if is_dict else str(block))
    calls = getattr(message, 'tool_calls', None)
    return tokens + (text_tokens(_json(calls)) if calls else 0)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str) if value else ''


def _count(holder: object, name: str) -> int:
    value = holder.get(name) if isinstance(holder, Mapping) else None
    return value if type(value) is int and value > 0 else 0
