# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Protection of browsers: refuses requests from pages of other sites, with or without cookies.

No other page may embed or frame this server's content. There is no CORS: other origins cannot read
responses.
"""

from __future__ import annotations

import re

from curiosity_rosa_demo.agent.interfaces.http.host_check import headers
from curiosity_rosa_demo.agent.interfaces.http.problems import refuse
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
