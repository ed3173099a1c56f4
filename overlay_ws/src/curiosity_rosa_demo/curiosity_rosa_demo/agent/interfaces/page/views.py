# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The sockets on which browsers follow a view: each gets all of it first, then what changes.

One look serves all sockets, and what is equal for them is encoded once. Runs in the page's loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
import json
import logging
import secrets
import time

from curiosity_rosa_demo.agent.interfaces.http.streams import SEND_TIMEOUT_S
from curiosity_rosa_demo.agent.interfaces.page.document import Document, patch_of
from curiosity_rosa_demo.domain.skills import Outcome
from starlette.websockets import WebSocket, WebSocketDisconnect

CLIENT_GONE = (OSError, asyncio.TimeoutError)  # the client is gone, or slow
UPDATE_PERIOD_S = 0.2
PROCESS = secrets.token_hex(4)  # a page of another run of the agent loads itself anew

_log = logging.getLogger('curiosity_rosa.page')


@dataclass(frozen=True)
class Snapshot:
    """``document``: without nulls outside of lists. ``ages``: in seconds. ``now``: seconds since
    the epoch; ``clock``: steady seconds. ``lines``: of the trace, as JSON; the last one has number
    ``count``.
    """

    document: Document
    ages: Mapping[str, float | None]
    now: float
    clock: float
    lines: Sequence[str] = ()
    count: int = 0


@dataclass(eq=False)
class Follower:
    """One socket. ``replies``: still to be sent."""

    socket: WebSocket
    replies: list[str] = field(default_factory=list)
    wake: asyncio.Event = field(default_factory=asyncio.Event)


class Views:
    """``snapshot``: what is to be seen now; taken only while somebody follows. ``stop``: of the
    person with a name.
    """

    def __init__(
        self, snapshot: Callable[[], Snapshot], stop: Callable[[str], Awaitable[Outcome]]
    ) -> None:
        self._snapshot, self._stop = snapshot, stop
        self._followers: set[Follower] = set()
        self._shown: Snapshot | None = None
        self._before: Snapshot | None = None
        self._change = ''  # from ``_before`` to ``_shown``, encoded
        self._looking: asyncio.Task[None] | None = None
        self._stops: set[asyncio.Task[None]] = set()

    async def follow(self, socket: WebSocket) -> None:
        """Serve ``socket`` until it closes."""
        await socket.accept()
        follower = Follower(socket)
        self._followers.add(follower)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().create_task(self._look())
        sender = asyncio.get_running_loop().create_task(self._send(follower))
        try:
            while True:
                self._receive(follower, await socket.receive_text())
        except (WebSocketDisconnect, KeyError, RuntimeError):  # closed, or it sent no text
            pass
        finally:
            self._followers.discard(follower)
            sender.cancel()
            await asyncio.wait([sender])

    def _receive(self, follower: Follower, text: str) -> None:
        """``stop``: the name of a person; ``echo``: comes back at once."""
        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(given, dict):
            return
        if 'stop' in given:
            job = asyncio.get_running_loop().create_task(self._run_stop(follower, given['stop']))
            self._stops.add(job)
            job.add_done_callback(self._stops.discard)
        if isinstance(echo := given.get('echo'), int | float):
            self._reply(follower, {'echo': echo})

    async def _run_stop(self, follower: Follower, name: object) -> None:
        try:
            outcome = await self._stop(name if isinstance(name, str) else '')
        except Exception as error:
            _log.exception('event=page_request_failed')
            outcome = Outcome(False, f'It failed inside ({type(error).__name__}).')
        self._reply(follower, {'stopped': {'ok': outcome.ok, 'words': outcome.answer}})

    def _reply(self, follower: Follower, message: Document) -> None:
        follower.replies.append(json.dumps(message))
        follower.wake.set()

    async def _look(self) -> None:
        while self._followers:
            began = time.monotonic()
            # Without updates, the pages themselves report that their data is stale.
            try:
                self._take(self._snapshot())
            except Exception:
                _log.exception('event=page_not_looked')
            await asyncio.sleep(
                max(UPDATE_PERIOD_S / 4, UPDATE_PERIOD_S - (time.monotonic() - began))
            )

    def _take(self, shown: Snapshot) -> None:
        self._before, self._shown = self._shown, shown
        if self._before is not None:
            self._change = self._since(self._before, shown)
        for follower in self._followers:
            follower.wake.set()

    async def _send(self, follower: Follower) -> None:
        sent: Snapshot | None = None
        try:
            # Python 3.11's wait_for may take a cancellation for the end of the send.
            while follower in self._followers:
                await follower.wake.wait()
                follower.wake.clear()
                texts, follower.replies = follower.replies, []
                if (shown := self._shown) is not None and shown is not sent:
                    texts.append(self._message(sent, shown))
                    sent = shown
                for text in texts:
                    await asyncio.wait_for(follower.socket.send_text(text), SEND_TIMEOUT_S)
        except (*CLIENT_GONE, WebSocketDisconnect, RuntimeError):
            with suppress(*CLIENT_GONE, WebSocketDisconnect, RuntimeError):  # its page asks anew
                await asyncio.wait_for(follower.socket.close(), SEND_TIMEOUT_S)

    def _message(self, sent: Snapshot | None, shown: Snapshot) -> str:
        is_next = sent is not None and sent is self._before
        return self._change if is_next else self._since(sent, shown)

    def _since(self, sent: Snapshot | None, shown: Snapshot) -> str:
        """What of ``shown`` is new after ``sent``, as JSON."""
        beat = {
            'clock': shown.clock,
            'now': shown.now,
            'ages': dict(shown.ages),
            'pages': len(self._followers),
        }
        message: Document = {'patch': patch_of(sent.document if sent else {}, shown.document)}
        message['beat'] = beat
        fresh = len(shown.lines) if sent is None else shown.count - sent.count
        if sent is None:
            message['process'] = PROCESS
        if sent is None or fresh > len(shown.lines):
            message['replace'] = True
        lines = shown.lines[max(0, len(shown.lines) - fresh) :] if fresh else ()
        return f'{json.dumps(message, default=str)[:-1]},"lines":[{",".join(lines)}]}}'
