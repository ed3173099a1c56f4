# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The one check before every route: the name of this server, foreign pages, rate, size, token.

A request needs the token, or the session of a page that was opened with it. Without a token (on
the loopback only) a script may do everything. A browser still needs a session for requests that
change something, so that only our own page in this browser can act. The stop alone needs no
session there: it must also work after a restart. It has no limit of rate, and its body is not
read. Nor has a sentence or a call over MCP that stops: their routes tell which do.

No other page may embed or frame this server's content. There is no CORS: other origins cannot
read responses.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import math
import re

from curiosity_rosa_demo.agent.interfaces.http.access import (
    AllowedHosts,
    called_in_process,
    client_address,
    cookie_name,
    digest,
    host_name_of,
    PAGE_SESSION,
    Sessions,
    set_cookie,
    TokenBuckets,
    WrongTokens,
)
from curiosity_rosa_demo.agent.interfaces.http.problems import Problem, refuse
from curiosity_rosa_demo.infra.config.agent import HttpConfig
from prometheus_client import Counter
from starlette.datastructures import MutableHeaders, QueryParams
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BURST_WINDOW_S = 10.0  # the burst is the number of requests in this time
BODY_TIMEOUT_S = 10.0
FLEET_STOP_PATH = '/fleet/stop'
STOP_PATHS = ('/stop', FLEET_STOP_PATH)
SAY_PATH, MCP_PATH = '/say', '/mcp'  # their bodies tell whether they stop
OVER_RATE = 'curiosity.over_rate'  # of a scope: its Problem, if its body is no stop
PUBLIC_PATH = '/healthz'  # needs no token
FLEET_PAGE = '/fleet'
PAGES = ('/', FLEET_PAGE)
PAGE_FILES_PREFIX = '/static/'  # many files, which browsers cache: they have no limit of rate
KNOWN_METHODS = ('GET', 'POST', 'PATCH', 'DELETE')  # as labels of the figures
SAFE_METHODS = ('GET', 'HEAD', 'OPTIONS')
OWN_FETCH_SITES = ('same-origin', 'none')  # none: the user has typed the address
SAFE_HEADERS = {
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Content-Security-Policy': "frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'same-origin',
}
CHALLENGE = {'WWW-Authenticate': 'Bearer realm="curiosity"'}
CLOSE = {'Connection': 'close'}
LOGIN_FORM = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Curiosity ROSA</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>:root{{color-scheme:light dark}}body{{font:1rem system-ui,sans-serif;display:grid;
place-items:center;min-height:90vh}}form{{display:grid;gap:.75rem;width:min(20rem,90vw)}}
input,button{{font:inherit;padding:.6rem}}</style></head>
<body><form method="post"><h1>Curiosity ROSA</h1>
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>Open</button><p role="alert">{message}</p></form></body></html>
"""
_ORIGIN = re.compile(r'(https?|wss?)://([^/?#@\s]+)', re.IGNORECASE)
_DEFAULT_PORT = {'http': ':80', 'ws': ':80', 'https': ':443', 'wss': ':443'}
_log = logging.getLogger('curiosity_rosa.http')


class Guard:
    """The middleware. ``token``: empty if none is needed. ``requests`` counts the answers by
    method, route and code. ``in_process``: accept test clients under any name; the agent never
    does.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: HttpConfig,
        token: str,
        sessions: Sessions,
        requests: Counter,
        in_process: bool,
    ) -> None:
        self._app, self._in_process, self._requests = app, in_process, requests
        self._hosts, self._max_body_bytes = AllowedHosts(settings), settings.max_body_bytes
        per_s = settings.requests_per_s
        self._buckets = TokenBuckets(per_s, max(1.0, per_s * BURST_WINDOW_S))
        self._sessions, self._wrong_tokens = sessions, WrongTokens()
        self._digest = digest(token.encode()) if token else b''

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope['type'] not in ('http', 'websocket'):
            await self._app(scope, receive, send)
            return
        request, started, cookie = HTTPConnection(scope), False, ''

        async def sending(message: Message) -> None:
            nonlocal started
            if message['type'] == 'http.response.start':
                started = True
                self._count(scope, message['status'])
                headers = MutableHeaders(scope=message)
                for name, value in SAFE_HEADERS.items():
                    headers.setdefault(name, value)
                if cookie and message['status'] < 400:
                    headers.append('set-cookie', cookie)
            await send(message)

        try:
            self._check_host(request)
            if _is_foreign(request):
                raise Problem(403, 'The request comes from a page of another site.')
            self._check_rate(request)
            scope[PAGE_SESSION] = self._has_session(request)
            body = await self._body(request, receive)
            answer = self._login(request, body or b'') or self._check_access(request)
            if answer is None and _wants_page(request) and not scope[PAGE_SESSION]:
                cookie = self._new_cookie(request)
            receive = receive if body is None else replay(body, receive)
            await (answer or self._app)(scope, receive, sending)
        except Problem as problem:
            await refuse(scope, receive, sending, problem)
        except Exception as error:
            if scope['type'] != 'http':
                raise
            _log.exception('event=request_failed path=%r error=%r', scope['path'], error)
            if not started:
                fault = Problem(500, 'An internal error, which the log of the agent tells.')
                await refuse(scope, receive, sending, fault)

    def _count(self, scope: Scope, status: int) -> None:
        # The path of the route, not of the request: the number of labels stays bounded.
        route = getattr(scope.get('route'), 'path', '') or 'other'
        method = scope['method'] if scope['method'] in KNOWN_METHODS else 'other'
        self._requests.labels(method, route, str(status)).inc()

    def _check_host(self, request: HTTPConnection) -> None:
        hosts = request.headers.getlist('host')
        name = host_name_of(hosts[0]) if len(hosts) == 1 else None
        if name is None:
            raise Problem(400, 'The request must have one header Host that names this server.')
        in_process = self._in_process and called_in_process(request.scope.get('server'), name)
        if name not in self._hosts and not in_process:
            raise Problem(
                421,
                f'This server is not {name[:100]!r}; to reach it under that name add it to '
                'http.hosts in agent.yaml',
            )

    def _check_rate(self, request: HTTPConnection) -> None:
        path = request.scope['path']
        if path in STOP_PATHS or path.startswith(PAGE_FILES_PREFIX):
            return
        if wait_s := self._buckets.seconds_until_granted(_client(request)):
            detail = f'Too many requests; try again in {math.ceil(wait_s)} s.'
            problem = Problem(429, detail, headers=_retry_after(wait_s))
            if path not in (SAY_PATH, MCP_PATH):
                raise problem
            request.scope[OVER_RATE] = problem

    async def _body(self, request: HTTPConnection, receive: Receive) -> bytes | None:
        """The whole body; None: it has none, or nobody reads it."""
        headers, scope = request.headers, request.scope
        has_body = 'content-length' in headers or 'transfer-encoding' in headers
        if scope['type'] != 'http' or not has_body or scope['path'] in STOP_PATHS:
            return None
        length = headers.get('content-length', '')
        if length.isdecimal() and (len(length) > 18 or int(length) > self._max_body_bytes):
            raise self._too_large()
        try:
            return await asyncio.wait_for(self._read_body(receive), BODY_TIMEOUT_S)
        except asyncio.TimeoutError:
            detail = f'The body did not come within {BODY_TIMEOUT_S:g} s.'
            raise Problem(408, detail, headers=CLOSE) from None

    async def _read_body(self, receive: Receive) -> bytes:
        body, more = b'', True
        while more:
            message = await receive()
            body += message.get('body', b'')
            if len(body) > self._max_body_bytes:
                raise self._too_large()
            more = message.get('more_body', False)
        return body

    def _too_large(self) -> Problem:
        detail = f'The body is larger than {self._max_body_bytes} bytes.'
        return Problem(413, detail, headers=CLOSE)

    def _check_access(self, request: HTTPConnection) -> Response | None:
        """The page for the token where a browser lacks it. None: the request is let in."""
        path = request.scope['path']
        if path == PUBLIC_PATH or request.scope[PAGE_SESSION]:
            return None
        if not self._digest:
            if _is_browser(request) and _changes_state(request) and path not in STOP_PATHS:
                raise Problem(403, "The page's session is missing or has ended; reload the page.")
            return None
        given = request.headers.getlist('authorization')
        scheme, _, token = given[0].partition(' ') if len(given) == 1 else ('', '', '')
        if scheme.lower() == 'bearer' and self._is_token(token.encode('latin-1').strip()):
            return None
        wait_s = self._wrong_tokens.record(_client(request)) if given else 0.0
        # A stop with a wrong token is counted, but its client always learns what is wrong.
        if wait_s and path not in STOP_PATHS:
            headers = {**_retry_after(wait_s), **CLOSE}
            raise Problem(429, 'Too many wrong tokens.', headers=headers)
        if _wants_page(request):
            return _login_page('', 401)
        detail = 'The token is missing or wrong: send "Authorization: Bearer <token>".'
        raise Problem(401, detail, headers=CHALLENGE)

    def _is_token(self, given: bytes) -> bool:
        """In a time that depends neither on the token nor on its length."""
        return hmac.compare_digest(digest(given), self._digest)

    def _has_session(self, request: HTTPConnection) -> bool:
        return self._sessions.is_valid(request.cookies.get(cookie_name(_host(request)), ''))

    def _new_cookie(self, request: HTTPConnection) -> str:
        secure = request.scope['scheme'] == 'https'
        return set_cookie(_host(request), self._sessions.create(), secure=secure)

    def _login(self, request: HTTPConnection, body: bytes) -> Response | None:
        """Exchange the token of ``/?token=``, or of the form that a page posts to itself, for a
        session, and redirect to the address without the token. None: the request is no login.
        """
        scope = request.scope
        if scope['type'] != 'http' or scope['path'] not in PAGES:
            return None
        values = QueryParams(body) if scope['method'] == 'POST' else request.query_params
        given = values.get('token')
        if given is None:
            return None
        if self._digest and not self._is_token(given.encode('utf-8', 'replace')):
            wait_s = self._wrong_tokens.record(_client(request))
            if not wait_s:
                return _login_page('This is not the token.', 401)
            answer = _login_page('Too many wrong tokens.', 429)
            answer.headers.update({**_retry_after(wait_s), **CLOSE})
            return answer
        url = request.url.remove_query_params('token')
        target = f'{url.path}?{url.query}' if url.query else url.path
        return RedirectResponse(target, 303, {'Set-Cookie': self._new_cookie(request)})


def replay(body: bytes, receive: Receive) -> Receive:
    """What receives ``body`` first."""
    rest: list[Message] = [{'type': 'http.request', 'body': body, 'more_body': False}]

    async def first_body() -> Message:
        return rest.pop() if rest else await receive()

    return first_body


def _host(request: HTTPConnection) -> str:
    return request.headers['host']


def _client(request: HTTPConnection) -> str:
    return client_address('' if request.client is None else request.client.host)


def _retry_after(wait_s: float) -> dict[str, str]:
    return {'Retry-After': str(math.ceil(wait_s))}


def _changes_state(request: HTTPConnection) -> bool:
    """Whether the request may change state. A websocket counts as such a request."""
    scope = request.scope
    return scope['type'] == 'websocket' or scope['method'] not in SAFE_METHODS


def _is_browser(request: HTTPConnection) -> bool:
    return 'origin' in request.headers or 'sec-fetch-site' in request.headers


def _is_foreign(request: HTTPConnection) -> bool:
    """Whether a page of another site has sent the request without being allowed to."""
    headers = request.headers
    foreign = any(site not in OWN_FETCH_SITES for site in headers.getlist('sec-fetch-site'))
    if not _changes_state(request):
        # Other sites may link to the page, but not embed its content.
        return foreign and headers.getlist('sec-fetch-mode') != ['navigate']
    origins = headers.getlist('origin')
    return foreign or not all(_is_same_origin(each, headers['host']) for each in origins)


def _is_same_origin(origin: str, host: str) -> bool:
    """Whether ``origin`` is the origin of the server that the request addresses as ``host``."""
    found = _ORIGIN.fullmatch(origin)
    if found is None:  # for example null
        return False
    port = _DEFAULT_PORT[found[1].lower()]
    return found[2].lower().removesuffix(port) == host.lower().removesuffix(port)


def _wants_page(request: HTTPConnection) -> bool:
    scope = request.scope
    return (
        scope['type'] == 'http'
        and scope['path'] in PAGES
        and scope['method'] == 'GET'
        and any('text/html' in value for value in request.headers.getlist('accept'))
    )


def _login_page(message: str, status: int) -> Response:
    headers = {'Cache-Control': 'no-store', **CHALLENGE}
    return HTMLResponse(LOGIN_FORM.format(message=message), status, headers)
