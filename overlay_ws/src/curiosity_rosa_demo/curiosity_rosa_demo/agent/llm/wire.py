# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Answers of OpenAI-compatible servers in the exact form of OpenAI's protocol. Pure.

The client and LangChain drop or refuse what deviates: arguments as an object, content as a list of
parts, a refusal in a stream, calls without an index, or one JSON body instead of a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from email.utils import parsedate_to_datetime
import json
import math
import re
import time
from typing import Any, Protocol, TypeVar

from curiosity_rosa_demo.agent.llm.vision import image_tokens
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.infra.config.agent import LlmConfig
import httpx
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from openai import DefaultHttpxClient

# --- The messages of a request in the form that every chat template accepts. Pure --------------
# The templates of Qwen and Mistral refuse a second system message, and one that is not the first.


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


DONE = b'data: [DONE]'
REFUSAL = 'refusal'  # the finish_reason of an answer that is a refusal


class StreamCut(Exception):
    """The stream ended before its answer did."""


def retry_after_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """The seconds that a server asks to wait; None if it does not. ``now_s``: since the epoch."""
    text = headers.get('retry-after', '')
    try:
        wait_s = float(text)
    except ValueError:
        try:
            wait_s = parsedate_to_datetime(text).timestamp() - now_s
        except (ValueError, TypeError, OverflowError):
            return None
    return wait_s if math.isfinite(wait_s) and wait_s >= 0.0 else None


def repaired_body(body: bytes) -> bytes:
    """A whole answer; unchanged if it is no JSON object."""
    answer = _json_object(body)
    return body if answer is None else json.dumps(_Repair().answer(answer)).encode()


def repaired_stream(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of an answer that was asked for as a stream. Raises StreamCut."""
    repair, rest, is_stream, is_done = _Repair(), b'', False, False
    for part in parts:
        rest += part
        if not is_stream and rest.lstrip()[:1] in (b'', b'{'):
            continue  # one JSON body, for a server that ignores ``stream``
        is_stream = True
        *lines, rest = rest.split(b'\n')
        for line in lines:
            is_done = is_done or line.startswith(DONE)
            yield _repaired_line(line, repair) + b'\n'
    if not is_stream:
        yield _as_event(rest, repair)
        return
    yield _repaired_line(rest, repair)
    if repair.is_open and not is_done:
        raise StreamCut


def _as_event(body: bytes, repair: _Repair) -> bytes:
    answer = _json_object(body)
    if answer is None:
        return body
    for choice in _objects(answer.get('choices')):
        choice['delta'] = choice.pop('message', None) or {}
    return b'data: ' + json.dumps(repair.answer(answer)).encode() + b'\n\n' + DONE + b'\n\n'


def _repaired_line(line: bytes, repair: _Repair) -> bytes:
    answer = _json_object(line[5:]) if line.startswith(b'data:') else None
    return line if answer is None else b'data: ' + json.dumps(repair.answer(answer)).encode()


class _Repair:
    """The repair of one answer, of which a stream shows one part after the other. ``is_open``: it
    has begun and has no finish_reason yet.
    """

    def __init__(self) -> None:
        self.is_open = False
        self._refused = False
        self._calls: dict[Any, tuple[int, Any]] = {}  # index of the server: ours, and the ID
        self._count = 0

    def answer(self, answer: dict[str, Any]) -> dict[str, Any]:
        for choice in _objects(answer.get('choices')):
            self._message(choice.get('delta') or choice.get('message') or {})
            self.is_open = not choice.get('finish_reason')
            if self._refused and not self.is_open:
                choice['finish_reason'] = REFUSAL
        return answer

    def _message(self, message: Any) -> None:
        if not isinstance(message, dict):
            return
        content = message.get('content')
        if isinstance(content, list):
            parts = (each.get('text') for each in _objects(content))
            message['content'] = ''.join(part for part in parts if isinstance(part, str))
        if isinstance(message.get('refusal'), str) and message['refusal']:
            self._refused = True
            message['content'] = (message.get('content') or '') + message['refusal']
        for call in _objects(message.get('tool_calls')):
            self._call(call)

    def _call(self, call: dict[str, Any]) -> None:
        function = call.get('function')
        if not isinstance(function, dict):
            return
        if isinstance(function.get('arguments'), (dict, list)):
            function['arguments'] = json.dumps(function['arguments'])
        index, call_id = call.get('index'), call.get('id')
        known = self._calls.get(index)
        is_new = known is None or bool(call_id and known[1] and call_id != known[1])
        if function.get('name') and (is_new or index is None):
            known = self._calls[index] = (self._count, call_id)
            self._count += 1
        elif function.get('name'):
            function['name'] = None  # repeated: LangChain would join the two
        call['index'] = 0 if known is None else known[0]


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _json_object(text: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# -----------------------------------------------------------------------------------------------
# The HTTP client for OpenAI-compatible servers: repairs their answers, and waits as they ask.


# Sent with each request: a compressed answer could not be repaired.
HEADERS = {'Accept-Encoding': 'identity'}


class AttemptListener(Protocol):
    def record_attempt(self) -> None:
        """A request is sent, for the first time or again."""

    def record_response(self, ok: bool) -> None:
        """It is answered. ``ok``: without an error."""


def make_http_client(
    longest_wait_s: float, listener: AttemptListener | None = None
) -> httpx.Client:
    """A client that retries only if the server asks to wait ``longest_wait_s`` at most."""
    requests: list[Callable[[httpx.Request], None]] = []
    responses = [_on_response(longest_wait_s)]
    if listener is not None:
        requests.append(lambda request: listener.record_attempt())
        responses.append(lambda response: listener.record_response(response.is_success))
    return DefaultHttpxClient(event_hooks={'request': requests, 'response': responses})


def _on_response(longest_wait_s: float) -> Callable[[httpx.Response], None]:
    def on_response(response: httpx.Response) -> None:
        wait_s = retry_after_s(response.headers, time.time())
        if wait_s is not None and wait_s > longest_wait_s:
            response.headers['x-should-retry'] = 'false'  # the client obeys this header
        if response.status_code != httpx.codes.OK or 'content-encoding' in response.headers:
            return
        is_stream = bool(json.loads(response.request.content).get('stream'))
        stream = response.stream
        assert isinstance(stream, httpx.SyncByteStream)
        response.stream = _RepairedBody(stream, is_stream)

    return on_response


class _RepairedBody(httpx.SyncByteStream):
    def __init__(self, body: httpx.SyncByteStream, is_stream: bool) -> None:
        self._body, self._is_stream = body, is_stream

    def __iter__(self) -> Iterator[bytes]:
        if self._is_stream:
            yield from repaired_stream(self._body)
        else:
            yield repaired_body(b''.join(self._body))

    def close(self) -> None:
        self._body.close()
