# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The console of terminal.py before an agent in another process. A thread reads along what the
agent's console prints, and attaches again after a loss.
"""

from __future__ import annotations

from collections.abc import Callable
import threading
import time

from curiosity_rosa_demo.agent.interfaces.console_client.agent_api import (
    AgentApi,
    AgentRefused,
    AgentUnavailable,
)
from curiosity_rosa_demo.agent.interfaces.terminal.commands import is_stop_line
from curiosity_rosa_demo.domain.origin import caller_prefix, caller_text
from curiosity_rosa_demo.domain.skills import Outcome, outcome_of
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.domain.text import first_line, marked_lines, without_controls
import httpx
from httpx_sse import EventSource, SSEError

POLL_S = 0.2
RETRY_S = 1.0
GIVE_UP_S = 10.0  # an agent that does not answer for so long has failed the commands
QUIT_LINES = (':quit', '：quit', '：ｑｕｉｔ')
LOST_TEXT = '! The agent does not answer any more; this console attaches again once it does.'
ATTACHED_TEXT = '(attached again)'


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
