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

from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
import json
import math
from typing import Any

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
