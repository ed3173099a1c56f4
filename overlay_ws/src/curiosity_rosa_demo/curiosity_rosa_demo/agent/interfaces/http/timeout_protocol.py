# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""HTTP/1.1 with a time-out for the head of a request, against slow hostile clients. uvicorn itself
waits for ever.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_TIMEOUT_S = 10.0  # from the connection, or a head's first byte, to the end of the head


class TimeoutProtocol(H11Protocol):
    """``received``: bytes that were read from the connection before this protocol got it."""

    _deadline: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, received: bytes = b'', **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._received = received

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._start_timer()
        if self._received:
            # not at once: the transport begins to read after this call, also if it was paused
            self.loop.call_soon(self.data_received, self._received)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        is_http = self.transport.get_protocol() is self  # otherwise it became a websocket
        if is_http and self.conn.their_state is h11.IDLE:
            self._start_timer()
        else:
            self._cancel_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_TIMEOUT_S, self.transport.close)

    def _cancel_timer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
