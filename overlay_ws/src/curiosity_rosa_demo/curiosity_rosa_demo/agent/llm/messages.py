# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The messages of a request in the form that every chat template accepts. Pure.

The templates of Qwen and Mistral refuse a second system message, and one that is not the first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
import json
import re
from typing import Any, TypeVar

from curiosity_rosa_demo.agent.llm.vision import image_tokens
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.infra.config.agent import LlmConfig
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

_TOOL_NAME = re.compile(r'\b[a-z0-9]+(?:_[a-z0-9]+)+\b')
# What ROSA's prompts say of tools without their names: those tools are not offered.
_OTHER_TOOLS = re.compile(
    r'\brosparams?\b|\b(?:math|calculation) tools?\b|\breading files\b'
    r'|\btopic or node names\b|\brosa_instructions\b',
    re.IGNORECASE,
)
CHARS_PER_TOKEN = 3
ANSWER_TOKENS = 512  # left to an answer without a limit
_Step = TypeVar('_Step')
_Fits = Callable[[list[BaseMessage], list[_Step]], bool]
NO_TEXT = '(no text)'  # some servers refuse an empty message
MAX_SAID_CHARS = 2000  # characters of a rejected answer that the model reads again
HOW = (
    'Call one tool now, with its arguments as a JSON object, or call decide with ABORT and the '
    'reason. Answer in text only if the task is done.'
)


def with_one_system_message(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """``messages`` with the texts of all system messages in one, in their order, at the front."""
    texts = [text for m in messages if isinstance(m, SystemMessage) if (text := m.text().strip())]
    others = [m for m in messages if not isinstance(m, SystemMessage)]
    return [SystemMessage('\n\n'.join(texts)), *others] if texts else others


def estimated_tokens(messages: Sequence[BaseMessage], image_px: int = 0) -> int:
    """An upper estimate of the tokens of these messages, for any tokenizer of a Latin script, and
    with pictures of ``image_px``.
    """
    calls = (message.tool_calls for message in messages if isinstance(message, AIMessage))
    chars = sum(len(message.text()) for message in messages) + len(str(list(calls)))
    return chars // CHARS_PER_TOKEN + image_tokens(messages, image_px)


def message_tokens(llm: LlmConfig, tools: Iterable[Any]) -> int:
    """The tokens that the window leaves to the messages; 0: no limit. ``tools``: their schemas."""
    if not llm.window_tokens:
        return 0
    answer = llm.max_tokens or ANSWER_TOKENS
    offered = sum(len(json.dumps(tool)) for tool in tools) // CHARS_PER_TOKEN
    return max(1, llm.window_tokens - answer - offered)


def fitting(
    history: Sequence[BaseMessage], steps: Sequence[_Step], fits: _Fits[_Step]
) -> tuple[list[BaseMessage], list[_Step]]:
    """The longest end of the talk and of the calls that fits: the oldest of the talk goes first,
    then the oldest calls. System messages and the newest call stay.
    """
    kept, calls = list(history), list(steps)
    while not fits(kept, calls):
        oldest = next((m for m in kept if not isinstance(m, SystemMessage)), None)
        if oldest is not None:
            kept.remove(oldest)
        elif len(calls) > 1:
            del calls[0]
        else:
            break
    return kept, calls


def names_other_tools(text: str, offered: Collection[str]) -> bool:
    """Whether the prompt ``text`` speaks of tools that are not ``offered``."""
    named = set(_TOOL_NAME.findall(text)) - set(offered)
    return bool(named or _OTHER_TOOLS.search(text))


def rejected_answer(said: str, why: str) -> list[BaseMessage]:
    """The messages that show a model its own answer and why it is asked again."""
    return [AIMessage(clip(said.strip(), MAX_SAID_CHARS) or NO_TEXT), HumanMessage(f'{why} {HOW}')]
