# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A console's requests to the agent's HTTP API. The standard library alone: it starts fast."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
import json
import os
from typing import Any
from urllib.parse import urlencode, urlsplit

from curiosity_rosa_demo.domain.origin import operator_name

DEFAULT_URL = 'http://127.0.0.1:8765'
URL_VARIABLE, TOKEN_VARIABLE = 'CURIOSITY_CONSOLE_URL', 'CURIOSITY_HTTP_TOKEN'
OPERATOR_VARIABLE = 'CURIOSITY_OPERATOR'
REQUEST_TIMEOUT_S = 20.0  # longer than the agent takes to answer a line or to confirm a stop
STREAM_TIMEOUT_S = 40.0  # longer than the agent's heartbeat of 15 s
MAX_ANSWER_BYTES = 16_000_000  # of one answer


class AgentUnavailable(Exception):
    """No agent answers at the address."""


class AgentRefused(Exception):
    """The agent answered with an error. The message is its own. ``status``: of HTTP."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


@dataclass(frozen=True)
class Frame:
    """A frame of the camera; ``at``: when it came, seconds since the epoch."""

    jpeg: bytes
    at: float


class AgentApi:
    """The agent at ``url``. ``client`` names this console to it, ``operator`` the person, for the
    others to see. Thread-safe: each request has a
    connection of its own, so that no request delays a stop.
    """

    def __init__(
        self,
        url: str,
        *,
        client: str,
        operator: str = '',
        token: str | None = None,
        timeout_s: float = REQUEST_TIMEOUT_S,
    ) -> None:
        """``token`` is by default that of the environment. ``timeout_s``: of each wait for the
        agent. Raises ValueError for a bad URL.
        """
        parts = urlsplit(url)
        if parts.scheme not in ('http', 'https') or not parts.hostname:
            raise ValueError(f'{url!r} is no address such as {DEFAULT_URL}')
        self.url, self.client = url.rstrip('/'), client
        self.operator = operator_name(operator)
        self._caller = urlencode({'client': client, 'operator': self.operator})
        self._host, self._port = parts.hostname, parts.port  # ValueError: the port is no number
        self._connection = HTTPSConnection if parts.scheme == 'https' else HTTPConnection
        token = os.environ.get(TOKEN_VARIABLE, '') if token is None else token
        self._headers = {'Authorization': f'Bearer {token}'} if token else {}
        self._timeout_s = timeout_s

    def say(self, line: str) -> dict[str, Any]:
        """The result of a line: ``ok``, ``words``, ``task``."""
        return self._json('POST', f'/say?{self._caller}', {'text': line, 'client': self.client})

    def stop(self) -> str:
        """Stop the rover and end all tasks. Returns the rover's answer. Raises AgentRefused for a
        stop that the rover did not confirm.
        """
        return str(self._json('POST', f'/stop?{self._caller}')['answer'])

    def state(self) -> dict[str, Any]:
        return self._json('GET', '/state')

    def questions(self) -> list[dict[str, Any]]:
        """The open ones, the oldest first."""
        with self._errors():
            found = json.loads(self._request('GET', '/approvals')[1])
            if not isinstance(found, list):
                raise ValueError('the answer is no JSON array')
        return found

    def frame(self, longest_px: int) -> Frame | None:
        """The newest frame of the camera, scaled down; None: there is none."""
        response, body = self._request('GET', f'/page/frame.jpg?px={longest_px}')
        if response.status != 200:
            return None
        with self._errors():
            return Frame(body, float(response.getheader('X-Timestamp') or 0.0))

    def task(self, task_id: str) -> dict[str, Any]:
        return self._json('GET', f'/tasks/{task_id}')

    def cancel(self, task_id: str) -> None:
        self._json('DELETE', f'/tasks/{task_id}?{self._caller}')

    def open_console(self, last_event_id: str, last: int) -> HTTPResponse:
        """What the console prints, as server-sent events. The caller closes the response."""
        headers = {'Last-Event-ID': last_event_id} if last_event_id else {}
        with self._errors():
            connection = self._connection(self._host, self._port, timeout=STREAM_TIMEOUT_S)
            connection.request(
                'GET', f'/console?last={last}', headers={**self._headers, **headers}
            )
            response = connection.getresponse()
            if response.status == 200:
                return response
            body = response.read()
            connection.close()
        raise _refusal(response.status, body)

    def _json(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Raises AgentUnavailable, AgentRefused."""
        _, text = self._request(method, path, body)
        with self._errors():
            answer = json.loads(text)
            if not isinstance(answer, dict):
                raise ValueError('the answer is no JSON object')
        return answer

    def _request(
        self, method: str, path: str, body: dict[str, Any] | None = None
    ) -> tuple[HTTPResponse, bytes]:
        """Raises AgentUnavailable, AgentRefused."""
        data = None if body is None else json.dumps(body).encode()
        headers = (
            self._headers
            if data is None
            else {**self._headers, 'Content-Type': 'application/json'}
        )
        with self._errors():
            connection = self._connection(self._host, self._port, timeout=self._timeout_s)
            try:
                connection.request(method, path, data, headers)
                response = connection.getresponse()
                text = response.read(MAX_ANSWER_BYTES)
            finally:
                connection.close()
        if response.status >= 400:
            raise _refusal(response.status, text)
        return response, text

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, HTTPException, ValueError) as error:
            raise AgentUnavailable(f'no agent answers at {self.url} ({error})') from None


def _refusal(status: int, body: bytes) -> AgentRefused:
    """The error with the agent's own words, which are a problem document (RFC 9457)."""
    if status == 401:
        text = f'the agent refuses the token; set {TOKEN_VARIABLE} to its token'
        return AgentRefused(status, text)
    try:
        detail = str(json.loads(body)['detail'])
    except (ValueError, KeyError, TypeError):
        detail = f'the agent answers with HTTP status {status}'
    return AgentRefused(status, detail)
