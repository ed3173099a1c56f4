# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The console of terminal.py before an agent in another process, by the agent's HTTP API. A thread
reads along what the agent's console prints, and attaches again after a loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import os
import threading
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.terminal.commands import is_stop_line
from curiosity_rosa_demo.domain.origin import caller_prefix, caller_text, operator_name
from curiosity_rosa_demo.domain.skills import Outcome, outcome_of
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.domain.text import (
    first_line,
    marked_lines,
    valid_unicode,
    without_controls,
)
import httpx
from httpx_sse import EventSource, SSEError

DEFAULT_URL = 'http://127.0.0.1:8765'
URL_VARIABLE, TOKEN_VARIABLE = 'CURIOSITY_CONSOLE_URL', 'CURIOSITY_HTTP_TOKEN'
OPERATOR_VARIABLE = 'CURIOSITY_OPERATOR'
REQUEST_TIMEOUT_S = 20.0  # longer than the agent takes to answer a line or to confirm a stop
STREAM_TIMEOUT_S = 40.0  # longer than the agent's heartbeat of 15 s
POLL_S = 0.2
RETRY_S = 1.0
GIVE_UP_S = 10.0  # an agent that does not answer for so long has failed the commands
QUIT_LINES = (':quit', '：quit', '：ｑｕｉｔ')
LOST_TEXT = '! The agent does not answer any more; this console attaches again once it does.'
ATTACHED_TEXT = '(attached again)'


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
        token = os.environ.get(TOKEN_VARIABLE, '').strip() if token is None else token
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


class RemoteConsole:
    """Sends lines to the agent, and prints by ``write`` what the agent's console prints.

    The answer to a line is part of that text, so this class adds only what the agent's console
    does not have: an answer that is an error of HTTP, and what happens to the connection.
    """

    def __init__(self, api: AgentApi, write: Callable[[str], None]) -> None:
        self._api, self._write = api, write
        name = caller_text(api.client, api.operator) if api.operator else f'http {api.client}'
        self._echo = f'{caller_prefix(name)} '
        self._lock = threading.Lock()
        self._unseen_echoes = 0  # of lines that the person has typed here
        self._task_ids: list[str] = []  # of this console, unfinished
        self._outcome: Outcome | None = None
        self._ready = False
        self.status = ''  # the line below the prompt
        self._stream: httpx.Response | None = None  # what the agent prints; None: not attached
        self._last_event_id = ''
        self._newest_s = time.monotonic()  # of the last text
        self._closed = threading.Event()
        self._reader = threading.Thread(target=self._read_along, name='transcript', daemon=True)

    # --- what the agent prints ------------------------------------------------------------------

    def attach(self, last: int) -> None:
        """Attach, and show the ``last`` texts first. Raises AgentUnavailable, AgentRefused."""
        self._stream = self._api.open_console('', last)
        self._reader.start()

    def close(self) -> None:
        """Show nothing more."""
        self._closed.set()

    def wait_until_quiet(self, quiet_s: float, timeout_s: float) -> None:
        """Wait until no text has come for ``quiet_s``, ``timeout_s`` at most."""
        deadline = time.monotonic() + timeout_s
        while (now := time.monotonic()) < min(deadline, self._newest_s + quiet_s):
            self._closed.wait(min(deadline, self._newest_s + quiet_s) - now)

    def print_notice(self, text: str) -> None:
        """Print a text of this console itself, in one line."""
        self._write(without_controls(text))

    def _read_along(self) -> None:
        while self._stream is not None and not self._closed.is_set():
            self._read(self._stream)
            self._stream, self.status = None, ''
            if not self._closed.is_set():
                self._write(LOST_TEXT)
            while self._stream is None and not self._closed.wait(RETRY_S):
                try:
                    self._stream = self._api.open_console(self._last_event_id, 0)
                except (AgentUnavailable, AgentRefused):
                    continue
                self._write(ATTACHED_TEXT)

    def _read(self, stream: httpx.Response) -> None:
        """Until the connection ends, or the agent is silent for longer than its heartbeat."""
        try:
            for event in EventSource(stream).iter_sse():
                if self._closed.is_set():
                    return
                if event.data:  # a comment has none
                    self._last_event_id = event.id or self._last_event_id
                    self._show(event.event, event.json())
        except (httpx.HTTPError, SSEError, ValueError, KeyError):
            return
        finally:
            stream.close()

    def _show(self, kind: str, content: dict[str, str]) -> None:
        """An event, except for the echo of a line of this console."""
        if kind == 'status':
            self.status = content['text']
            return
        self._newest_s = time.monotonic()
        if kind == 'gap':
            self._write(f'({content["detail"]})')
            return
        with self._lock:
            is_echo = self._unseen_echoes > 0 and content['text'].startswith(self._echo)
            self._unseen_echoes -= is_echo
        if not is_echo:
            self._write(content['text'])

    # --- lines ----------------------------------------------------------------------------------

    def handle_line(self, line: str) -> bool:
        """Send a line. Returns False for ``:quit``, which detaches this console only."""
        line = line.strip()
        if line.lower() in QUIT_LINES:
            return False
        if not line:
            return True
        if not is_stop_line(line):
            self._send(line)
            return True
        outcome = self.stop('the console')  # at once: nothing may delay it
        if line.startswith((':', '：')) or not outcome.ok:
            self._report(outcome)
        else:
            self._send(line)  # for its words: a sentence may order something besides
        return True

    def stop(self, by: str) -> Outcome:
        """Stop the rover and end all tasks, of all consoles. Blocks until the rover's answer."""
        try:
            return Outcome(True, self._api.stop())
        except AgentRefused as error:
            return Outcome(False, str(error))
        except AgentUnavailable as error:
            return Outcome(False, f'The stop by {by} did not reach the agent: {error}')

    def _send(self, line: str) -> None:
        with self._lock:
            self._unseen_echoes += 1
        try:
            reply = self._api.say(line)
        except (AgentRefused, AgentUnavailable) as error:
            with self._lock:  # most errors come before the echo
                self._unseen_echoes = max(0, self._unseen_echoes - 1)
            self._report(Outcome(False, str(error)))
            return
        task = reply['task']
        if task is not None:
            self._task_ids.append(str(task['id']))
            return
        ok, words = bool(reply['ok']), str(reply['words'])
        if self._stream is None:
            self._report(Outcome(ok, words))
        self._outcome = Outcome(ok, first_line(words) if ok else words)  # the text has all lines

    def _report(self, outcome: Outcome) -> None:
        self._outcome = outcome
        shown = marked_lines(outcome.answer)
        self._write(shown if outcome.ok else f'! {shown}')

    # --- for commands in a script ---------------------------------------------------------------

    def wait_until_idle(self, timeout_s: float | None = None) -> bool:
        """Wait until the agent is ready and the tasks of this console have ended; False after
        ``timeout_s``. An agent that does not answer for GIVE_UP_S fails them.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        answered_s = time.monotonic()
        while True:
            try:
                if not self._is_busy():
                    return True
                answered_s = time.monotonic()
            except (AgentRefused, AgentUnavailable) as error:
                if time.monotonic() - answered_s > GIVE_UP_S:
                    self._task_ids.clear()
                    self._outcome, self._ready = Outcome(False, str(error)), True
                    return True
            left = POLL_S if deadline is None else min(POLL_S, deadline - time.monotonic())
            if left <= 0.0:
                return False
            self._closed.wait(left)

    def _is_busy(self) -> bool:
        """Raises AgentRefused, AgentUnavailable."""
        if not self._ready:
            self._ready = not self._api.state()['ready']
        for task_id in list(self._task_ids):
            task = self._api.task(task_id)
            if LifecycleState(task['state']).terminal:
                self._task_ids.remove(task_id)
                state = LifecycleState(task['state'])
                self._outcome = outcome_of(state, task['metadata'], task['reason'])
        return not self._ready or bool(self._task_ids)

    def take_outcome(self) -> Outcome | None:
        """The outcome of the last line; None: there is none since the last call."""
        outcome, self._outcome = self._outcome, None
        return outcome

    def blocked_reason(self) -> str:
        """Why the tasks of this console wait for a person; '': they do not, or nobody knows."""
        if not self._task_ids:
            return ''
        try:
            kernel = self._api.state()['brain_state']['tasks']
            if kernel['mode'] == 'SAFE':
                return f'SAFE: {kernel["mode_reason"]}'
            first, *others = [self._api.task(each) for each in self._task_ids]
        except (AgentRefused, AgentUnavailable):
            return ''
        if not all(task['held'] for task in (first, *others)):
            return ''
        short = first['id'][:8]
        return f'Task {short} is held ({first["reason"]}); :resume {short} continues it'

    def cancel_requests(self, why: str) -> None:
        """Cancel the unfinished tasks of this console."""
        for task_id in self._task_ids:
            try:
                self._api.cancel(task_id)
            except (AgentRefused, AgentUnavailable) as error:
                self.print_notice(f'! Task {task_id[:8]} is not cancelled ({why}): {error}')
        self._task_ids.clear()

    def reject_questions(self) -> None:
        """Leave the questions open: another console, or the page, may answer them."""
