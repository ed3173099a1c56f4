# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Reads along what the agent's console prints, in a thread, and attaches again after a loss."""

from __future__ import annotations

from collections.abc import Callable
import json
import threading
import time

from curiosity_rosa_demo.agent.interfaces.console_client.agent_api import (
    AgentApi,
    AgentRefused,
    AgentUnavailable,
)
import httpx
from httpx_sse import EventSource, SSEError

RETRY_S = 1.0
LOST_TEXT = '! The agent does not answer any more; this console attaches again once it does.'
ATTACHED_TEXT = '(attached again)'


class Transcript:
    """``show`` gets each printed text. Its texts come from the thread, one after another."""

    def __init__(self, api: AgentApi, show: Callable[[str], None]) -> None:
        self.status = ''  # the line below the prompt
        self._api, self._show = api, show
        self._last_event_id = ''
        self._attached, self._closed = threading.Event(), threading.Event()
        self._newest_s = time.monotonic()  # of the last text
        self._response: httpx.Response | None = None
        self._thread = threading.Thread(target=self._run, name='transcript', daemon=True)

    @property
    def is_attached(self) -> bool:
        return self._attached.is_set()

    def start(self, last: int) -> None:
        """Attach, and show the ``last`` texts first. Raises AgentUnavailable, AgentRefused."""
        self._response = self._api.open_console('', last)
        self._attached.set()
        self._thread.start()

    def wait_until_quiet(self, quiet_s: float, timeout_s: float) -> None:
        """Wait until no text has come for ``quiet_s``, ``timeout_s`` at most."""
        deadline = time.monotonic() + timeout_s
        while (now := time.monotonic()) < deadline:
            left = self._newest_s + quiet_s - now
            if left <= 0.0:
                return
            self._closed.wait(min(left, deadline - now))

    def close(self) -> None:
        """Show nothing more."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.is_set():
            response, self._response = self._response, None
            if response is not None:
                self._read(response)
            if self._closed.is_set():
                return
            if self._attached.is_set():
                self._attached.clear()
                self.status = ''
                self._show(LOST_TEXT)
            self._closed.wait(RETRY_S)
            self._attach_again()

    def _read(self, response: httpx.Response) -> None:
        """Until the connection ends, or the agent is silent for longer than its heartbeat."""
        try:
            for event in EventSource(response).iter_sse():
                if self._closed.is_set():
                    return
                text = _text(event.data)
                if text is None:
                    continue
                self._last_event_id = event.id or self._last_event_id
                if event.event == 'status':
                    self.status = text
                else:
                    self._newest_s = time.monotonic()
                    self._show(f'({text})' if event.event == 'gap' else text)
        except (httpx.HTTPError, SSEError):
            return
        finally:
            response.close()

    def _attach_again(self) -> None:
        try:
            self._response = self._api.open_console(self._last_event_id, 0)
        except (AgentUnavailable, AgentRefused):
            return
        self._attached.set()
        self._show(ATTACHED_TEXT)


def _text(data: str) -> str | None:
    """What a person reads of the event: its text, or the detail of a gap."""
    try:
        content = json.loads(data)
    except ValueError:
        return None
    if not isinstance(content, dict):
        return None
    text = content.get('text', content.get('detail'))
    return text if isinstance(text, str) else None
