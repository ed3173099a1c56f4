# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Check of the Host header against DNS rebinding: a foreign site can make its own name resolve to
this machine.
"""

from __future__ import annotations

from collections.abc import Iterable
import ipaddress
import re

from curiosity_rosa_demo.agent.interfaces.http.problems import refuse
from curiosity_rosa_demo.infra.config.agent import HttpConfig
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCALHOST = 'localhost'
_HOST = re.compile(r'(\[[0-9a-f:.]+\]|[^\[\]:/@\s]+)(:[0-9]{1,5})?', re.ASCII)


MIN_TOKEN_CHARS = 16


class BindingError(ValueError):
    """The configuration does not allow the server to listen on this address."""


def check_binding(settings: HttpConfig, token: str) -> None:
    """Raises BindingError when other machines could connect without a token, or it is short."""
    if not is_loopback(settings.host) and not token.strip():
        raise BindingError(
            f'http.host is {settings.host!r}, which other machines can reach: set the environment '
            'variable CURIOSITY_HTTP_TOKEN to a long secret, or http.host to 127.0.0.1'
        )
    if 0 < len(token.strip()) < MIN_TOKEN_CHARS:
        raise BindingError(
            f'http.host is {settings.host!r}, and CURIOSITY_HTTP_TOKEN is too short to be secret: '
            f'it needs at least {MIN_TOKEN_CHARS} characters; "openssl rand -hex 32" makes one'
        )


def is_loopback(host: str) -> bool:
    address = _address(host)
    return host.lower() == LOCALHOST if address is None else address.is_loopback


def host_name_of(host: bytes) -> str | None:
    """The name or address in a Host header, without its port; None if it is invalid."""
    try:
        found = _HOST.fullmatch(host.decode('ascii').lower())
    except UnicodeDecodeError:
        return None
    return None if found is None else found[1].strip('[]').removesuffix('.') or None


class AllowedHosts:
    """Allows loopback addresses, ``settings.host`` and ``settings.hosts``. A server that listens
    on all addresses allows any IP address: DNS rebinding needs a name.
    """

    def __init__(self, settings: HttpConfig) -> None:
        self._names = {_normalized(each) for each in (LOCALHOST, settings.host, *settings.hosts)}
        listens = _address(settings.host)
        self._any_address = listens is not None and listens.is_unspecified

    def __contains__(self, name: str) -> bool:
        address = _address(name)
        if address is None:
            return name in self._names
        return address.is_loopback or self._any_address or str(address) in self._names


def _normalized(name: str) -> str:
    address = _address(name)
    return name.lower().removesuffix('.') if address is None else str(address)


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name.strip('[]'))
    except ValueError:
        return None


def called_in_process(scope: Scope, name: str) -> bool:
    """Whether a test client calls the app directly as ``name``, so that no socket is involved.

    httpx.ASGITransport and Starlette's TestClient report the host of their base URL as the
    server. A server that listens reports the address of its socket, or None: never a name.
    """
    server = scope.get('server')
    if not server or _address(name) is not None:
        return False
    return str(server[0]).lower().removesuffix('.') == name


class HostCheck:
    """Middleware. ``in_process``: accept test clients under any name; the agent never does."""

    def __init__(self, app: ASGIApp, settings: HttpConfig, *, in_process: bool = False) -> None:
        self._app, self._names, self._in_process = app, AllowedHosts(settings), in_process

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope['type'] not in ('http', 'websocket'):
            await self._app(scope, receive, send)
            return
        hosts = headers(scope, b'host')
        name = host_name_of(hosts[0]) if len(hosts) == 1 else None
        if name is None:
            detail = 'The request must have one header Host that names this server.'
            await refuse(scope, receive, send, 400, detail)
        elif name not in self._names and not (self._in_process and called_in_process(scope, name)):
            detail = (
                f'This server is not {name[:100]!r}; to reach it under that name add it to '
                'http.hosts in agent.yaml'
            )
            await refuse(scope, receive, send, 421, detail)
        else:
            await self._app(scope, receive, send)


def headers(scope: Scope, name: bytes) -> list[bytes]:
    """All values of the header ``name``, which is in lower case."""
    pairs: Iterable[tuple[bytes, bytes]] = scope['headers']
    return [value for key, value in pairs if key.lower() == name]


# -----------------------------------------------------------------------------------------------
# Protection of browsers: refuses requests from pages of other sites, with or without cookies
#
# No other page may embed or frame this server's content. There is no CORS: other origins cannot
# read responses.


SAFE_METHODS = ('GET', 'HEAD', 'OPTIONS')
OWN_FETCH_SITES = (b'same-origin', b'none')  # none: the user has typed the address
SAFE_HEADERS = {
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Content-Security-Policy': "frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'same-origin',
}
_ORIGIN = re.compile(rb'(https?|wss?)://([^/?#@\s]+)', re.IGNORECASE)
_DEFAULT_PORT = {b'http': b':80', b'ws': b':80', b'https': b':443', b'wss': b':443'}


def changes_state(scope: Scope) -> bool:
    """Whether the request may change state. A websocket counts as such a request."""
    return scope['type'] == 'websocket' or scope['method'] not in SAFE_METHODS


def from_browser(scope: Scope) -> bool:
    return bool(headers(scope, b'origin') or headers(scope, b'sec-fetch-site'))


def same_origin(origin: bytes, host: bytes) -> bool:
    """Whether ``origin`` is the origin of the server that the request addresses as ``host``."""
    found = _ORIGIN.fullmatch(origin)
    if found is None:  # for example null
        return False
    port = _DEFAULT_PORT[found[1].lower()]
    return found[2].lower().removesuffix(port) == host.lower().removesuffix(port)


def is_foreign(scope: Scope) -> bool:
    """Whether a page of another site has sent the request without being allowed to."""
    sites = headers(scope, b'sec-fetch-site')
    if changes_state(scope):
        [host] = headers(scope, b'host')
        origins = headers(scope, b'origin')
        return any(site not in OWN_FETCH_SITES for site in sites) or not all(
            same_origin(origin, host) for origin in origins
        )
    # Other sites may link to the page, but not embed its content.
    followed = headers(scope, b'sec-fetch-mode') == [b'navigate']
    return not followed and any(site not in OWN_FETCH_SITES for site in sites)


class CrossSiteCheck:
    """Middleware, inside of HostCheck."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message['type'] == 'http.response.start':
                answered = MutableHeaders(scope=message)
                for name, value in SAFE_HEADERS.items():
                    answered.setdefault(name, value)
            await send(message)

        if scope['type'] not in ('http', 'websocket'):
            await self._app(scope, receive, send)
        elif is_foreign(scope):
            detail = 'The request comes from a page of another site.'
            await refuse(scope, receive, with_headers, 403, detail)
        else:
            await self._app(scope, receive, with_headers)
