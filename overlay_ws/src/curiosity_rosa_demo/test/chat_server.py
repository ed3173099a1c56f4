# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A server of OpenAI's chat-completions protocol that answers by a script, whole or as a stream.

It listens on a free port of 127.0.0.1, keeps every request, and nothing in it outlives ``close``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
import sys
import threading
from typing import Any

LONGEST_HANG_S = 30.0
HEAD = {'id': 'chatcmpl-1', 'created': 1, 'model': 'scripted'}


@dataclass(frozen=True)
class Call:
    """A tool call; ``arguments`` is sent as it is when it is text, as JSON otherwise."""

    name: str
    arguments: Any = field(default_factory=dict)

    @property
    def text(self) -> str:
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments)


@dataclass(frozen=True)
class Say:
    """An answer: text, tool calls, or both. ``piece`` is how many characters a chunk carries.
    ``tokens``: a stream reports them only if it was asked to, as OpenAI's does.
    """

    text: str = ''
    calls: tuple[Call, ...] = ()
    piece: int = 4
    finish: str = ''
    tokens: tuple[int, int] | None = None  # reported input and output


def call(name: str, text: str = '', **arguments: Any) -> Say:
    """One tool call, with what is said beside it."""
    return Say(text, (Call(name, arguments),))


@dataclass(frozen=True)
class Fault:
    """An HTTP error. ``quote_key`` puts the key that came with the request into the body.
    ``wait``: its Retry-After header.
    """

    status: int
    quote_key: bool = False
    wait: str = ''


@dataclass(frozen=True)
class Wire:
    """A body of status 200 as it is, also where a stream was asked for, and then the end of the
    connection. ``kind``: its content type.
    """

    body: bytes
    kind: str = 'text/event-stream'


class Hang:
    """No answer while the server lives."""


class Trickle:
    """An answer that comes a byte at a time and has no end."""


@dataclass(frozen=True)
class Cut:
    """An answer that is broken off half way."""

    answer: Say


Reply = Say | Fault | Wire | Hang | Trickle | Cut


@dataclass(frozen=True)
class Request:
    path: str
    authorization: str
    body: dict[str, Any]

    @property
    def tools(self) -> list[str]:
        return [tool['function']['name'] for tool in self.body.get('tools', [])]

    def messages(self, role: str) -> list[dict[str, Any]]:
        return [message for message in self.body['messages'] if message['role'] == role]

    def texts(self, role: str) -> list[str]:
        return [message['content'] for message in self.messages(role)]


class ChatServer:
    """Answers request n with reply n of the script; the last one repeats. A context manager."""

    def __init__(self, *script: Reply) -> None:
        self.script: Sequence[Reply] = script
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._calls = 0
        self._http = _Http(('127.0.0.1', 0), _handler_of(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f'http://127.0.0.1:{self._http.server_port}/v1'

    def __enter__(self) -> ChatServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=5)

    def says(self, *script: Reply) -> None:
        """Start a new script; the requests so far are forgotten."""
        with self._lock:
            self.script = script
            self.requests.clear()

    def take(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            return self.script[min(len(self.requests), len(self.script)) - 1]

    def call_id(self) -> str:
        with self._lock:
            self._calls += 1
            return f'call_{self._calls}'


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client may leave at any time
            super().handle_error(request, client_address)


def _handler_of(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'
        disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement

        def log_message(self, *_: Any) -> None: ...

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
            key = self.headers.get('Authorization', '')
            reply = server.take(Request(self.path, key, body))
            self._counts = bool((body.get('stream_options') or {}).get('include_usage'))
            try:
                self._answer(reply, streaming=bool(body.get('stream')), key=key)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client had enough

        def _answer(self, reply: Reply, *, streaming: bool, key: str) -> None:
            if isinstance(reply, Fault):
                quoted = f': {key.removeprefix("Bearer ")}' if reply.quote_key else ''
                error = {'message': f'Incorrect{quoted}', 'type': 'x', 'code': reply.status}
                self._send(reply.status, json.dumps({'error': error}), wait=reply.wait)
            elif isinstance(reply, Wire):
                self.send_response(200)
                self.send_header('Content-Type', reply.kind)
                self.send_header('Connection', 'close')
                self.end_headers()
                self.wfile.write(reply.body)
                self.close_connection = True
            elif isinstance(reply, Hang):
                server.closing.wait(LONGEST_HANG_S)
                self.close_connection = True
            elif isinstance(reply, Trickle):
                self._head(200, streaming, length=1_000_000)
                while not server.closing.wait(0.05):
                    self._body(b': \n\n' if streaming else b' ', streaming)
                self.close_connection = True
            elif isinstance(reply, Cut):
                self._cut(reply.answer, streaming)
            elif streaming:
                self._stream(_chunks(reply, server.call_id, self._counts))
            else:
                self._send(200, json.dumps(_whole(reply, server.call_id)))

        def _cut(self, answer: Say, streaming: bool) -> None:
            whole = json.dumps(_whole(answer, server.call_id))
            if streaming:
                whole = ''.join(f'data: {each}\n\n' for each in _chunks(answer, server.call_id))
            self._head(200, streaming, length=1_000_000)
            self._body(whole[: len(whole) // 2].encode(), streaming)
            self.close_connection = True

        def _send(self, status: int, text: str, *, wait: str = '') -> None:
            data = text.encode()
            self._head(status, False, length=len(data), wait=wait)
            self._body(data, False)

        def _stream(self, chunks: Iterator[str]) -> None:
            self._head(200, True, length=0)
            for each in chunks:
                self._body(f'data: {each}\n\n'.encode(), True)
            self._body(b'data: [DONE]\n\n', True)
            self.wfile.write(b'0\r\n\r\n')

        def _head(self, status: int, streaming: bool, *, length: int, wait: str = '') -> None:
            self.send_response(status)
            if wait:
                self.send_header('Retry-After', wait)
            else:
                self.send_header('retry-after-ms', '1')  # else the client waits half a second
            if streaming:
                self.send_header('Content-Type', 'text/event-stream')
                self.send_header('Transfer-Encoding', 'chunked')
            else:
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(length))
            self.end_headers()

        def _body(self, data: bytes, streaming: bool) -> None:
            if streaming:
                data = b'%x\r\n%s\r\n' % (len(data), data)
            self.wfile.write(data)
            self.wfile.flush()

    return Handler


def _finish(say: Say) -> str:
    return say.finish or ('tool_calls' if say.calls else 'stop')


def _whole(say: Say, call_id: Any) -> dict[str, Any]:
    message: dict[str, Any] = {'role': 'assistant', 'content': say.text or None}
    if say.calls:
        message['tool_calls'] = [_tool(call_id(), call.name, call.text) for call in say.calls]
    choice = {'index': 0, 'message': message, 'finish_reason': _finish(say)}
    usage = _usage(say.tokens or (1, 1))
    return {**HEAD, 'object': 'chat.completion', 'choices': [choice], 'usage': usage}


def _tool(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {'id': call_id, 'type': 'function', 'function': {'name': name, 'arguments': arguments}}


def _usage(tokens: tuple[int, int]) -> dict[str, int]:
    given, made = tokens
    return {'prompt_tokens': given, 'completion_tokens': made, 'total_tokens': given + made}


def _chunks(say: Say, call_id: Any, counts: bool = False) -> Iterator[str]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {'index': 0, 'delta': delta, 'finish_reason': finish}
        return json.dumps({**HEAD, 'object': 'chat.completion.chunk', 'choices': [choice]})

    def pieces(text: str) -> Iterator[str]:
        for start in range(0, len(text), say.piece):
            yield text[start : start + say.piece]

    yield chunk({'role': 'assistant', 'content': ''})
    for piece in pieces(say.text):
        yield chunk({'content': piece})
    for index, call in enumerate(say.calls):
        yield chunk({'tool_calls': [{'index': index, **_tool(call_id(), call.name, '')}]})
        for piece in pieces(call.text):
            yield chunk({'tool_calls': [{'index': index, 'function': {'arguments': piece}}]})
    yield chunk({}, _finish(say))
    if counts and say.tokens:
        yield json.dumps({**json.loads(chunk({})), 'choices': [], 'usage': _usage(say.tokens)})
