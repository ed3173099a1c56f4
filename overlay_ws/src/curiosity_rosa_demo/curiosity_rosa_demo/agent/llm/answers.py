# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""What is wrong with a model's answer before any goal is considered. Pure."""

from __future__ import annotations

from collections.abc import Collection
import re

from curiosity_rosa_demo.agent.llm.wire import REFUSAL
from curiosity_rosa_demo.domain.text import clip, printable
from langchain_core.messages import AIMessage

FILTERED_TEXT = "The server withheld the model's answer (content_filter)."
CUT_TEXT = "The model's answer was cut at its limit of tokens (llm.max_tokens of agent.yaml)."
CALL_AS_TEXT = 'The model wrote a tool call as text, so nothing was called.'

_THINKING = re.compile(r'\A.*?</think>\s*', re.DOTALL)  # some templates omit the opening tag
_MARKS = re.compile(
    r'</?tool_calls?>|<function[=_(>]|<[|｜]tool[_▁]|<\|python_tag\|>|\[TOOL_CALLS\]',
    re.IGNORECASE,
)
_NAME = re.compile(r"""["'](?:name|tool|tool_name|function|action)["']\s*:\s*["']([^"']*)["']""")
_ARGUMENTS = re.compile(r"""["'](?:arguments|parameters|args)["']\s*:""")
_BARE_CALL = re.compile(r'\W*(\w+)\s*\(.*\)\W*', re.DOTALL)


def without_thinking(message: AIMessage) -> AIMessage:
    """``message`` without the thoughts that a server left in its text."""
    if not isinstance(message.content, str) or '</think>' not in message.content:
        return message
    return message.model_copy(update={'content': _THINKING.sub('', message.content)})


def answer_problem(message: AIMessage, offered: Collection[str]) -> str:
    """Why this answer is neither a call nor an answer in text; empty if it is one of them.
    ``offered``: the names of the tools.
    """
    metadata = message.response_metadata
    ending = str(metadata.get('finish_reason') or metadata.get('stop_reason') or '')
    if 'content_filter' in ending:
        return FILTERED_TEXT
    if message.tool_calls:
        return ''
    text = message.text().strip()
    if REFUSAL in ending:
        return f'The model refused: {clip(printable(text))}'
    if 'length' in ending or 'max_tokens' in ending:
        return CUT_TEXT
    return CALL_AS_TEXT if holds_tool_call(text, offered) else ''


def holds_tool_call(text: str, offered: Collection[str]) -> bool:
    """Whether ``text`` has a tool call in it, in the form of JSON, of tags or of code."""
    if _MARKS.search(text):
        return True
    bare = _BARE_CALL.fullmatch(text)
    if bare and bare.group(1) in offered:
        return True
    names = _NAME.findall(text)
    return any(name in offered for name in names) or bool(names and _ARGUMENTS.search(text))
