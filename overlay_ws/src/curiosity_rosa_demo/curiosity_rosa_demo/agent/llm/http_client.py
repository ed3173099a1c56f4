# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The HTTP client for OpenAI-compatible servers: repairs their answers, and waits as they ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import json
import time
from typing import Protocol

from curiosity_rosa_demo.agent.llm.wire import repaired_body, repaired_stream, retry_after_s
import httpx
from openai import DefaultHttpxClient

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
