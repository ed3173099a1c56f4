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
import os
import sys

URL_VARIABLE, TOKEN_VARIABLE = 'CURIOSITY_MCP_URL', 'CURIOSITY_HTTP_TOKEN'
DEFAULT_URL = 'http://127.0.0.1:8765/mcp'
READ_TIMEOUT_S = 3600.0
PROBE_TIMEOUT_S = 5.0
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
    token = os.environ.get(TOKEN_VARIABLE, '')
    return {'Authorization': f'Bearer {token}'} if token else {}


def _problem(url: str) -> str:
    """Why no client can be served; '' if the agent serves MCP at ``url``."""
    import httpx

    try:
        answer = httpx.request('OPTIONS', url, headers=_headers(), timeout=PROBE_TIMEOUT_S)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return f'no agent answers at {url} ({error}); start it with scripts/run_demo.sh'
    if answer.status_code == 401:
        return f'the agent at {url} refuses the token; set {TOKEN_VARIABLE} to its token'
    if answer.status_code == 404:
        return f'the agent at {url} serves no MCP; set http.mcp: true in agent.yaml'
    return ''


def _first(error: BaseException) -> BaseException:
    """The first plain exception of a group."""
    inner = getattr(error, 'exceptions', None)
    return _first(inner[0]) if inner else error


async def _bridge(url: str) -> None:
    """Until stdin or the agent ends. The session's end on the agent cancels its open calls."""
    import anyio
    import httpx2
    from mcp.client.streamable_http import streamable_http_client
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage
    from mcp_types import ErrorData, JSONRPCError, JSONRPCRequest, METHOD_NOT_FOUND

    timeout = httpx2.Timeout(30.0, read=READ_TIMEOUT_S)
    async with (
        httpx2.AsyncClient(headers=_headers(), timeout=timeout) as client,
        stdio_server() as (local_in, local_out),
        streamable_http_client(url, http_client=client) as (remote_in, remote_out),
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
            group.cancel_scope.cancel()

        group.start_soon(to_agent)
        group.start_soon(to_client)


if __name__ == '__main__':
    main()
