# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Authentication: a request needs the token, or the session of a page that was opened with it.

Without a token (on the loopback only) a script may do everything. A browser still needs a session
for requests that change something, so that only our own page in this browser can act. The stop
alone needs no session there: it must also work after a restart.
"""

from __future__ import annotations

import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie
import math
from urllib.parse import parse_qs, urlencode

from curiosity_rosa_demo.agent.interfaces.http.host_check import (
    changes_state,
    from_browser,
    headers,
)
from curiosity_rosa_demo.agent.interfaces.http.limits import client_address, STOP_PATHS
from curiosity_rosa_demo.agent.interfaces.http.problems import refuse
from curiosity_rosa_demo.agent.interfaces.http.session import (
    cookie_name,
    PAGE_SESSION,
    Sessions,
    set_cookie,
    WrongTokens,
)
from starlette.datastructures import MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PUBLIC_PATH = '/healthz'
PAGE, FLEET_PAGE, LOGIN = '/', '/fleet', '/login'
PAGES = (PAGE, FLEET_PAGE)
RETURN_KEY = 'page'  # of the login's query: where the browser goes afterwards
CHALLENGE = {'WWW-Authenticate': 'Bearer realm="curiosity"'}
LOGIN_FORM = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Curiosity ROSA</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>:root{{color-scheme:light dark}}body{{font:1rem system-ui,sans-serif;display:grid;
place-items:center;min-height:90vh}}form{{display:grid;gap:.75rem;width:min(20rem,90vw)}}
input,button{{font:inherit;padding:.6rem}}</style></head>
<body><form method="post" action="{action}"><h1>Curiosity ROSA</h1>
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>Open</button><p role="alert">{message}</p></form></body></html>
"""


class Auth:
    """Middleware, inside of CrossSiteCheck. ``token``: empty if none is needed."""

    def __init__(self, app: ASGIApp, token: str, sessions: Sessions) -> None:
        self._app, self._sessions = app, sessions
        self._digest = _digest(token.encode()) if token else b''
        self._wrong_tokens = WrongTokens()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope['type'] not in ('http', 'websocket') or scope['path'] == PUBLIC_PATH:
            await self._app(scope, receive, send)
            return
        has_session = scope[PAGE_SESSION] = self._has_session(scope)
        if scope['type'] == 'http' and scope['path'] in (*PAGES, LOGIN):
            given = await _token_of_form(scope, receive)
            if given is not None or scope['path'] == LOGIN:
                await self._log_in(given, scope)(scope, receive, send)
                return
        if not self._digest:
            if (
                from_browser(scope)
                and changes_state(scope)
                and not has_session
                and scope['path'] not in STOP_PATHS
            ):
                detail = "The page's session is missing or has ended; reload the page."
                await refuse(scope, receive, send, 403, detail)
                return
        elif not has_session and not self._has_token(scope):
            await self._refuse(scope, receive, send)
            return
        if _wants_page(scope) and not has_session:
            send = self._with_session(scope, send)
        await self._app(scope, receive, send)

    def _has_token(self, scope: Scope) -> bool:
        values = headers(scope, b'authorization')
        scheme, _, given = values[0].partition(b' ') if len(values) == 1 else (b'', b'', b'')
        return scheme.lower() == b'bearer' and self._is_token(given.strip())

    def _is_token(self, given: bytes) -> bool:
        """In a time that depends neither on the token nor on its length."""
        return hmac.compare_digest(_digest(given), self._digest)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_tried = bool(headers(scope, b'authorization'))
        wait_s = self._wrong_tokens.record(client_address(scope)) if has_tried else 0.0
        # A stop with a wrong token is counted, but its client always learns what is wrong.
        if wait_s and scope['path'] not in STOP_PATHS:
            detail = 'Too many wrong tokens.'
            await refuse(scope, receive, send, 429, detail, _retry_headers(wait_s))
        elif _wants_page(scope):
            await _login_page('', 401, scope)(scope, receive, send)
        else:
            detail = 'The token is missing or wrong: send "Authorization: Bearer <token>".'
            await refuse(scope, receive, send, 401, detail, CHALLENGE)

    def _has_session(self, scope: Scope) -> bool:
        cookie = cookie_of(scope)
        return cookie is not None and self._sessions.is_valid(cookie)

    def _cookie(self, scope: Scope) -> str:
        [host] = headers(scope, b'host')
        secure = scope['scheme'] == 'https'
        return set_cookie(host, self._sessions.create(), secure=secure)

    def _with_session(self, scope: Scope, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message['type'] == 'http.response.start' and message['status'] < 400:
                MutableHeaders(scope=message).append('set-cookie', self._cookie(scope))
            await send(message)

        return sending

    def _log_in(self, given: str | None, scope: Scope) -> Response:
        """Exchange the token for a session and redirect to the address without the token."""
        if given is None:
            return _login_page('', 200, scope)
        if self._digest and not self._is_token(given.encode('utf-8', 'replace')):
            wait_s = self._wrong_tokens.record(client_address(scope))
            message = 'Too many wrong tokens.' if wait_s else 'This is not the token.'
            page = _login_page(message, 429 if wait_s else 401, scope)
            page.headers.update(_retry_headers(wait_s) if wait_s else {})
            return page
        return RedirectResponse(
            _url_without_token(scope), 303, {'Set-Cookie': self._cookie(scope)}
        )


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


def _retry_headers(wait_s: float) -> dict[str, str]:
    return {'Retry-After': str(math.ceil(wait_s)), 'Connection': 'close'}


def cookie_of(scope: Scope) -> str | None:
    [host] = headers(scope, b'host')
    for value in headers(scope, b'cookie'):
        try:
            cookies = SimpleCookie(value.decode('latin-1'))
        except CookieError:
            continue
        if (found := cookies.get(cookie_name(host))) is not None:
            return found.value
    return None


def _wants_page(scope: Scope) -> bool:
    return (
        scope['type'] == 'http'
        and scope['path'] in PAGES
        and scope['method'] == 'GET'
        and any(b'text/html' in value for value in headers(scope, b'accept'))
    )


async def _token_of_form(scope: Scope, receive: Receive) -> str | None:
    """The token in ``/?token=`` or in the form."""
    if scope['path'] in PAGES and scope['method'] == 'GET':
        text = scope['query_string']
    elif scope['path'] == LOGIN and scope['method'] == 'POST':
        text = await _read_body(receive)
    else:
        return None
    values = parse_qs(text.decode('latin-1'), keep_blank_values=True).get('token')
    return None if values is None else values[0]


async def _read_body(receive: Receive) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get('body', b''))
        if not message.get('more_body', False):
            return b''.join(parts)


def _url_without_token(scope: Scope) -> str:
    query = parse_qs(scope['query_string'].decode('latin-1'), keep_blank_values=True)
    page = _page_of(scope)
    for key in ('token', RETURN_KEY):
        query.pop(key, None)
    return f'{page}?{urlencode(query, doseq=True)}' if query else page


def _page_of(scope: Scope) -> str:
    """The page that the browser wants; the login form carries it. Never another address."""
    if scope['path'] in PAGES:
        return str(scope['path'])
    query = parse_qs(scope['query_string'].decode('latin-1'))
    wanted = query.get(RETURN_KEY, [PAGE])[0]
    return wanted if wanted in PAGES else PAGE


def _login_page(message: str, status: int, scope: Scope) -> Response:
    page = _page_of(scope)
    action = LOGIN if page == PAGE else f'{LOGIN}?{urlencode({RETURN_KEY: page})}'
    return HTMLResponse(
        LOGIN_FORM.format(message=message, action=action),
        status,
        {'Cache-Control': 'no-store', **CHALLENGE},
    )
