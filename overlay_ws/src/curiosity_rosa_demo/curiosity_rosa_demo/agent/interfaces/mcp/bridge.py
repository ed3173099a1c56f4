# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""stdio for desktop clients: passes messages between stdin/stdout and the running agent's /mcp.

There is one agent and one gate; this process has neither. stdout carries only the protocol.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from typing import Any

from curiosity_rosa_demo.domain.text import printable

URL_VARIABLE, TOKEN_VARIABLE = 'CURIOSITY_MCP_URL', 'CURIOSITY_HTTP_TOKEN'
DEFAULT_URL = 'http://127.0.0.1:8765/mcp'
READ_TIMEOUT_S = 3600.0
PROBE_TIMEOUT_S = 5.0
WATCH_PERIOD_S = 2.0
MAX_REASON_CHARS = 400
NEWER_PROTOCOL = 'server/discover'  # answered here: over stdio the handshake's protocol is spoken


def main() -> None:
    parser = argparse.ArgumentParser(
        prog='mcp', description='Connect an MCP client on stdin and stdout to the running agent.'
    )
    parser.add_argument(
        '--url',
        default=os.environ.get(URL_VARIABLE, DEFAULT_URL),
        help=f'address of /mcp (default: ${URL_VARIABLE}, else {DEFAULT_URL}); '
        f'the token is read from ${TOKEN_VARIABLE}',
    )
    url = parser.parse_args().url
    log = logging.StreamHandler()
    log.setFormatter(_OneLine())
    logging.basicConfig(handlers=[log])
    import anyio

    problem = _problem(url)
    if problem:
        sys.exit(f'mcp: {problem}')
    try:
        anyio.run(_bridge, url)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # no traceback into a client's log
        sys.exit(f'mcp: the connection to {url} has failed: {_first(error)}')


def _headers() -> dict[str, str]:
    token = os.environ.get(TOKEN_VARIABLE, '').strip()
    return {'Authorization': f'Bearer {token}'} if token else {}


def _problem(url: str) -> str:
    """Why no client can be served; '' if the agent serves MCP at ``url``."""
    import httpx

    try:
        answer = httpx.request(
            'OPTIONS',
            url,
            headers=_headers(),
            timeout=PROBE_TIMEOUT_S,
            trust_env=False,  # no proxy gets the token, or stands before a stop
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return f'no agent answers at {url} ({error}); start it with scripts/run_demo.sh'
    if answer.status_code == 401:
        return f'the agent at {url} refuses the token; set {TOKEN_VARIABLE} to its token'
    if answer.status_code == 404:
        return f'the agent at {url} serves no MCP; set http.mcp: true in agent.yaml'
    if answer.is_error and answer.status_code != 405:  # that of /mcp to OPTIONS
        return f'{url} answers {answer.status_code}: {printable(answer.text[:MAX_REASON_CHARS])}'
    return ''


def _first(error: BaseException) -> BaseException:
    """The first plain exception of a group."""
    inner = getattr(error, 'exceptions', None)
    return _first(inner[0]) if inner else error


class _OneLine(logging.Formatter):
    """Of the SDK's warnings; no traceback into a client's log."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info and record.exc_info[1]
        return f'mcp: {record.getMessage()}' + (f': {_first(error)}' if error else '')


def _end(why: str) -> None:
    print(f'mcp: {why}', file=sys.stderr, flush=True)
    os._exit(1)  # a thread waits for stdin, and nothing can cancel that


async def _bridge(url: str) -> None:
    """Until stdin ends; the session's end on the agent then cancels its open calls. Or until no
    agent answers or knows the session, which ends the process.
    """
    import anyio
    import httpx2
    from mcp.client.streamable_http import streamable_http_client
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage
    from mcp_types import ErrorData, JSONRPCError, JSONRPCRequest, METHOD_NOT_FOUND

    async def check_session(answer: httpx2.Response) -> None:
        if answer.status_code == 404:
            _end(f'the agent at {url} does not know this session; it has been restarted')

    options: dict[str, Any] = {
        'timeout': httpx2.Timeout(30.0, read=READ_TIMEOUT_S),
        'event_hooks': {'response': [check_session]},
    }
    async with (
        httpx2.AsyncClient(headers=_headers(), trust_env=False, **options) as client,
        stdio_server() as (local_in, local_out),
        streamable_http_client(url, http_client=client) as (remote_in, remote_out),
        local_out,  # its end is what stdio_server waits for
        anyio.create_task_group() as group,
    ):

        async def to_agent() -> None:
            async for message in local_in:
                if isinstance(message, Exception):
                    print(f'mcp: unreadable message: {type(message).__name__}', file=sys.stderr)
                    continue
                request = message.message
                if isinstance(request, JSONRPCRequest) and request.method == NEWER_PROTOCOL:
                    error = ErrorData(code=METHOD_NOT_FOUND, message='Method not found')
                    answer = JSONRPCError(jsonrpc='2.0', id=request.id, error=error)
                    await local_out.send(SessionMessage(answer))
                    continue
                await remote_out.send(message)
            group.cancel_scope.cancel()

        async def to_client() -> None:
            async for message in remote_in:
                if isinstance(message, Exception):
                    print(f'mcp: {_first(message)}', file=sys.stderr)
                    continue
                await local_out.send(message)
            _end(f'the connection to {url} has ended')

        async def watch() -> None:
            while True:
                await anyio.sleep(WATCH_PERIOD_S)
                try:
                    await client.options(url, timeout=PROBE_TIMEOUT_S)
                except httpx2.ConnectError as error:
                    _end(f'no agent answers at {url} ({error})')
                except httpx2.HTTPError:  # it is busy
                    continue

        for each in (to_agent, to_client, watch):
            group.start_soon(each)


if __name__ == '__main__':
    main()
