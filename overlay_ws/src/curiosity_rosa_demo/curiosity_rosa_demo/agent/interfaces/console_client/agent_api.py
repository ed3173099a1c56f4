# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A console's requests to the agent's HTTP API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from typing import Any

from curiosity_rosa_demo.domain.origin import operator_name
from curiosity_rosa_demo.domain.text import valid_unicode
import httpx

DEFAULT_URL = 'http://127.0.0.1:8765'
URL_VARIABLE, TOKEN_VARIABLE = 'CURIOSITY_CONSOLE_URL', 'CURIOSITY_HTTP_TOKEN'
OPERATOR_VARIABLE = 'CURIOSITY_OPERATOR'
REQUEST_TIMEOUT_S = 20.0  # longer than the agent takes to answer a line or to confirm a stop
STREAM_TIMEOUT_S = 40.0  # longer than the agent's heartbeat of 15 s


class AgentUnavailable(Exception):
    """No agent answers at the address."""


class AgentRefused(Exception):
    """The agent answered with an error. The message is its own. ``status``: of HTTP."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class AgentApi:
    """The agent at ``url``. ``client`` names this console to it, ``operator`` the person, for the
    others to see. Thread-safe: each request has a connection of its own, so that none delays a
    stop. The methods raise AgentUnavailable and AgentRefused.
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
        try:
            parts = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise ValueError(f'{url!r}: {error}') from None
        if parts.scheme not in ('http', 'https') or not parts.host:
            raise ValueError(f'{url!r} is no address such as {DEFAULT_URL}')
        self.url, self.client = url.rstrip('/'), client
        self.operator = operator_name(operator)
        self._caller = {'client': client, 'operator': self.operator}
        token = os.environ.get(TOKEN_VARIABLE, '') if token is None else token
        self._http = httpx.Client(
            base_url=self.url,
            headers={'Authorization': f'Bearer {token}'} if token else {},
            timeout=timeout_s,
            limits=httpx.Limits(max_keepalive_connections=0),
            trust_env=False,  # no proxy stands between a person and the rover's stop
        )

    def say(self, line: str) -> dict[str, Any]:
        """The result of a line: ``ok``, ``words``, ``task``."""
        said = {'text': valid_unicode(line), 'client': self.client}
        return self._json('POST', '/say', params=self._caller, json=said)

    def stop(self) -> str:
        """Stop the rover and end all tasks. Returns the rover's answer. Raises AgentRefused for a
        stop that the rover did not confirm.
        """
        return str(self._json('POST', '/stop', params=self._caller)['answer'])

    def state(self) -> dict[str, Any]:
        return self._json('GET', '/state')

    def task(self, task_id: str) -> dict[str, Any]:
        return self._json('GET', f'/tasks/{task_id}')

    def cancel(self, task_id: str) -> None:
        self._json('DELETE', f'/tasks/{task_id}', params=self._caller)

    def open_console(self, last_event_id: str, last: int) -> httpx.Response:
        """What the console prints, as server-sent events. The caller closes the response."""
        headers = {'Last-Event-ID': last_event_id} if last_event_id else {}
        with self._errors():
            request = self._http.build_request(
                'GET', '/console', params={'last': last}, headers=headers, timeout=STREAM_TIMEOUT_S
            )
            response = self._http.send(request, stream=True)
            if response.status_code == 200:
                return response
            response.read()
        raise _refusal(response)

    def _json(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        with self._errors():
            response = self._http.request(method, path, **request)
            answer = {} if response.is_error else response.json()
            if not isinstance(answer, dict):
                raise ValueError('the answer is no JSON object')
        if response.is_error:
            raise _refusal(response)
        return answer

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise AgentUnavailable(f'no agent answers at {self.url} ({error})') from None


def _refusal(response: httpx.Response) -> AgentRefused:
    """The error with the agent's own words, which are a problem document (RFC 9457)."""
    if response.status_code == 401:
        text = f'the agent refuses the token; set {TOKEN_VARIABLE} to its token'
        return AgentRefused(401, text)
    try:
        detail = str(response.json()['detail'])
    except (ValueError, KeyError, TypeError):
        detail = f'the agent answers with HTTP status {response.status_code}'
    return AgentRefused(response.status_code, detail)
