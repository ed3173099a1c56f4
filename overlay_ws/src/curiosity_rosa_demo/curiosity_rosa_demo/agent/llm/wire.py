# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Answers of OpenAI-compatible servers in the exact form of OpenAI's protocol.

The client and LangChain drop or refuse what deviates: arguments as an object, content as a list of
parts, a refusal in a stream, calls without an index, or one JSON body instead of a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
import json
from typing import Any

from curiosity_rosa_demo.agent.llm.errors import StreamCut
import httpx
from openai import DefaultHttpxClient

DATA, DONE = b'data:', b'data: [DONE]'
REFUSAL = 'refusal'  # the finish_reason of an answer that is a refusal
# Sent with each request: a compressed answer could not be repaired.
HEADERS = {'Accept-Encoding': 'identity'}


def make_http_client() -> httpx.Client:
    """A client for an OpenAI-compatible server, which repairs its answers."""
    return DefaultHttpxClient(event_hooks={'response': [_repair]})


def _repair(response: httpx.Response) -> None:
    if response.status_code == httpx.codes.OK and 'content-encoding' not in response.headers:
        is_stream = bool(json.loads(response.request.content).get('stream'))
        stream = response.stream
        assert isinstance(stream, httpx.SyncByteStream)
        response.stream = _RepairedBody(stream, is_stream)


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


# --- The repair of a body. Pure ----------------------------------------------------------------


def repaired_body(body: bytes) -> bytes:
    """A whole answer; unchanged if it is no JSON object."""
    return _Repair('message').repaired(body)


def repaired_stream(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of an answer that was asked for as a stream. Raises StreamCut."""
    repair, rest, is_stream, is_done = _Repair('delta'), b'', False, False
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
        yield DATA + repair.repaired(rest) + b'\n\n' + DONE + b'\n\n'
        return
    yield _repaired_line(rest, repair)
    if repair.is_open and not is_done:
        raise StreamCut


def _repaired_line(line: bytes, repair: _Repair) -> bytes:
    return DATA + repair.repaired(line[len(DATA) :]) if line.startswith(DATA) else line


class _Repair:
    """The repair of one answer, of which a stream shows one part after the other. ``part``: the
    name of a message in it. ``is_open``: it has begun and has no finish_reason yet.
    """

    def __init__(self, part: str) -> None:
        self.is_open, self._part = False, part
        self._refused = False
        self._calls: dict[Any, tuple[int, Any]] = {}  # index of the server: ours, and the ID
        self._count = 0

    def repaired(self, text: bytes) -> bytes:
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if not isinstance(answer, dict):
            return text
        for choice in _objects(answer.get('choices')):
            found = choice.pop('delta', None) or choice.pop('message', None) or {}
            choice[self._part] = found
            self._message(found)
            self.is_open = not choice.get('finish_reason')
            if self._refused and not self.is_open:
                choice['finish_reason'] = REFUSAL
        return json.dumps(answer).encode()

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
