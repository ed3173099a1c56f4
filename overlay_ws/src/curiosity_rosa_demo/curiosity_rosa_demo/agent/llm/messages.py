# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The messages of a request: their form, an upper estimate of their tokens, what the window holds.
Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
import json
import re
from typing import Any

from curiosity_rosa_demo.infra.config.agent import LlmConfig
from langchain_core.messages import BaseMessage, SystemMessage, trim_messages

ASCII_CHARS_PER_TOKEN = 3  # an upper estimate for Latin scripts; other characters count as one
MESSAGE_TOKENS = 4  # role and separators of a message
# Providers charge 85 + 170 for each tile of 512 px, or one token for a patch of 28 px.
PIXELS_PER_TOKEN = 576
PICTURE_TOKENS = 100  # besides its pixels
ANSWER_TOKENS = 512  # left to an answer without a limit
_TOOL_NAME = re.compile(r'\b[a-z0-9]+(?:_[a-z0-9]+)+\b')
# What ROSA's prompts say of tools without their names: those tools are not offered.
_OTHER_TOOLS = re.compile(
    r'\brosparams?\b|\b(?:math|calculation) tools?\b|\breading files\b'
    r'|\btopic or node names\b|\brosa_instructions\b',
    re.IGNORECASE,
)


def with_one_system_message(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """``messages`` with the texts of all system messages in one, in their order, at the front: the
    templates of Qwen and Mistral refuse a second one, and one that is not the first.
    """
    texts = [text for m in messages if isinstance(m, SystemMessage) if (text := m.text().strip())]
    others = [m for m in messages if not isinstance(m, SystemMessage)]
    return [SystemMessage('\n\n'.join(texts)), *others] if texts else others


def names_other_tools(text: str, offered: Collection[str]) -> bool:
    """Whether the prompt ``text`` speaks of tools that are not ``offered``."""
    named = set(_TOOL_NAME.findall(text)) - set(offered)
    return bool(named or _OTHER_TOOLS.search(text))


def fitting(
    messages: list[BaseMessage], talk: int, llm: LlmConfig, tools: Iterable[Any] = ()
) -> list[BaseMessage]:
    """As much of a request with these ``tools`` (schemas) as the window holds: the oldest of the
    talk goes first, then the oldest calls. The system message, the user's text and the newest call
    stay. ``talk``: the number of messages between the system message and the user's text.
    """
    if not llm.window_tokens:
        return messages
    most = llm.window_tokens - (llm.max_tokens or ANSWER_TOKENS) - estimated_tokens((), tools)

    def trimmed(begin: int, end: int, first: str | None = None) -> list[BaseMessage]:
        """``messages`` with the last of those from ``begin`` to ``end``."""
        before, after = messages[:begin], messages[end:]
        kept = trim_messages(
            messages[begin:end],
            max_tokens=most,
            start_on=first,
            token_counter=lambda part: estimated_tokens([*before, *part, *after], (), image_px),
        )
        return [*before, *kept, *after]

    image_px, question = llm.image_px, 1 + talk - len(messages)  # places from the end
    messages = trimmed(1, question)
    calls = [n for n in range(question, 0) if getattr(messages[n], 'tool_calls', None)]
    return trimmed(question + 1, calls[-1], 'ai') if calls else messages


def estimated_tokens(
    messages: Iterable[BaseMessage], tools: Iterable[Any] = (), image_px: int = 0
) -> int:
    """An upper estimate of the input of a request with these ``tools`` (schemas), and with
    pictures of ``image_px``, for any tokenizer.
    """
    return _tokens_of(list(tools)) + sum(message_tokens(each, image_px) for each in messages)


def message_tokens(message: BaseMessage, image_px: int = 0) -> int:
    blocks = message.content if isinstance(message.content, list) else [message.content]
    tokens = MESSAGE_TOKENS + _tokens_of(getattr(message, 'tool_calls', None))
    for block in blocks:
        if isinstance(block, dict) and block.get('type') in ('image', 'image_url', 'input_image'):
            tokens += PICTURE_TOKENS + image_px**2 // PIXELS_PER_TOKEN
        else:
            tokens += _tokens_of(block)
    return tokens


def _tokens_of(value: object) -> int:
    """Of a text, or of a value as JSON."""
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, default=str) if value else ''
    others = sum(not char.isascii() for char in value)
    return -(-(len(value) - others) // ASCII_CHARS_PER_TOKEN) + others
