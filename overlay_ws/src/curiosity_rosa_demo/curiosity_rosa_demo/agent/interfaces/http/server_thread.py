# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The HTTP server of the agent, in a separate thread with its own loop. acceptor.py accepts its
connections and serves POST /stop, in another one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import errno
import logging
import socket
import threading
from typing import Any, TYPE_CHECKING

from curiosity_rosa_demo.infra.config.agent import HttpConfig

if TYPE_CHECKING:
    from curiosity_rosa_demo.agent.interfaces.http.acceptor import Acceptor

BACKLOG = 1024  # connections that the kernel holds; beyond, it makes clients wait for 1 s
START_TIMEOUT_S = 60.0  # the imports, on a busy machine
CLOSE_TIMEOUT_S = 3.0
KEEP_ALIVE_S = 10  # of a connection without a request
MAX_MESSAGE_BYTES = 1_000_000  # bytes of one message of a page's socket

_log = logging.getLogger('curiosity_rosa.http')


class HttpUnavailable(Exception):
    """The server is not available. The message gives the reason and the remedy."""


class HttpThread:
    """``make_app`` is called in the thread and may import slow modules. The port is bound at once:
    early clients wait until the server is ready. Raises HttpUnavailable.
    """

    def __init__(self, make_app: Callable[[], Any], settings: HttpConfig) -> None:
        self._make_app, self._settings = make_app, settings
        self._socket = _listen(settings.host, settings.port)
        self.url = _url(self._socket)
        self._done = threading.Event()  # set when it serves, or has ended
        self._error: BaseException | None = None
        self._server: Any = None
        self._acceptor: Acceptor | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._run, name='http', daemon=True)

    def start(self) -> str:
        """Start to serve and return the URL. Raises HttpUnavailable."""
        if self._closing:
            raise HttpUnavailable(f'{self.url} was given up')
        self._thread.start()
        in_time = self._done.wait(START_TIMEOUT_S)
        if in_time and self._error is None:
            return self.url
        self.close()  # otherwise waiting clients would wait for ever
        late = f'it did not begin to answer in {START_TIMEOUT_S:g} s'
        why = repr(self._error) if self._error is not None else late
        raise HttpUnavailable(f'{self.url} cannot be served: {why}')

    def close(self) -> None:
        """Close the server and its streams. Waits CLOSE_TIMEOUT_S at most; never for an import."""
        self._closing = True
        if self._acceptor is not None:
            self._acceptor.close(CLOSE_TIMEOUT_S)
        if self._server is not None:
            self._server.should_exit = True
            self._thread.join(CLOSE_TIMEOUT_S)
        self._socket.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # uvicorn raises SystemExit when the app cannot start
            self._error = error
            if not self._closing:
                _log.exception('event=server_ended')
        finally:
            self._done.set()

    async def _serve(self) -> None:
        from curiosity_rosa_demo.agent.interfaces.http.acceptor import Acceptor, MAX_HEAD_BYTES
        import uvicorn

        thread = self

        class Server(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                if thread._closing:  # closed during the imports; the socket is gone
                    self.should_exit = True
                    return
                await super().startup(sockets)
                limit = thread._settings.max_connections
                thread._acceptor = Acceptor(thread._socket, self, limit)
                if not thread._closing:
                    thread._acceptor.start()
                thread._done.set()

        _redirect_library_logs()
        config = uvicorn.Config(
            self._make_app(),
            loop='none',
            http='h11',
            log_config=None,
            access_log=False,  # a URL may contain the token
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=0,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
            ws_max_size=MAX_MESSAGE_BYTES,
            ws_per_message_deflate=False,  # for each page, again and again
        )
        self._server = Server(config)
        if not self._closing:
            await self._server.serve(sockets=[])


def _listen(host: str, port: int) -> socket.socket:
    """Raises HttpUnavailable."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise HttpUnavailable(
            f'{host}:{port} is no address of this machine ({error.strerror or error}); '
            'set http.host in agent.yaml'
        ) from None
    try:
        # Otherwise the port of a killed agent would stay in use for a minute.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise HttpUnavailable(_bind_error(host, port, error)) from None
    return listener


def _bind_error(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f'{host}:{port} is taken; set http.port in agent.yaml'
    if error.errno == errno.EACCES:
        return f'{host}:{port} may not be used by this user; set http.port in agent.yaml'
    return f'{host}:{port} cannot be used ({error.strerror}); set http.host in agent.yaml'


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f'http://[{host}]:{port}/' if ':' in host else f'http://{host}:{port}/'


def _redirect_library_logs() -> None:
    """Send the logs of the libraries to the agent's file instead of the console."""
    for name in ('uvicorn', 'uvicorn.error', 'asyncio'):
        logging.getLogger(name).parent = _log
        logging.getLogger(name).propagate = True
