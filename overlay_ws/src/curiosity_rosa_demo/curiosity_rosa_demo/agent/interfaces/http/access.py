# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Names of this server, tokens and sessions: what guard.py lets in, and what an address may take.

A session is a signed cookie that other sites cannot send. With a token it outlives the server.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
import hashlib
import ipaddress
import re
import secrets
import threading
import time

from curiosity_rosa_demo.infra.config.agent import HttpConfig
from curiosity_rosa_demo.infra.config_loader import ConfigError
from itsdangerous import BadSignature, TimestampSigner

# --- Addresses and names -----------------------------------------------------------------------

LOCALHOST = 'localhost'
MIN_TOKEN_CHARS = 16
_HOST = re.compile(r'(\[[0-9a-f:.]+\]|[^\[\]:/@\s]+)(:[0-9]{1,5})?', re.ASCII)


def check_binding(settings: HttpConfig, token: str) -> None:
    """Raises ConfigError when other machines could connect without a token, or it is short."""
    if not is_loopback(settings.host) and not token:
        raise ConfigError(
            f'agent.yaml: http.host is {settings.host!r}, which other machines can reach: set the '
            'environment variable CURIOSITY_HTTP_TOKEN to a long secret, or http.host to 127.0.0.1'
        )
    if 0 < len(token) < MIN_TOKEN_CHARS:
        raise ConfigError(
            f'agent.yaml: http.host is {settings.host!r}, and CURIOSITY_HTTP_TOKEN is too short '
            f'to be secret: it needs at least {MIN_TOKEN_CHARS} characters; '
            '"openssl rand -hex 32" makes one'
        )


def is_loopback(host: str) -> bool:
    address = _address(host)
    return host.lower() == LOCALHOST if address is None else address.is_loopback


def host_name_of(host: str) -> str | None:
    """The name or address in a Host header, without its port; None if it is invalid."""
    found = _HOST.fullmatch(host.lower()) if host.isascii() else None
    return None if found is None else found[1].strip('[]').removesuffix('.') or None


class AllowedHosts:
    """Against DNS rebinding, by which a foreign site makes its own name resolve to this machine.
    Allows loopback addresses, ``settings.host`` and ``settings.hosts``. A server that listens on
    all addresses allows any IP address: DNS rebinding needs a name.
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


def called_in_process(server: tuple[str, int | None] | None, name: str) -> bool:
    """Whether a test client calls the app directly as ``name``, so that no socket is involved.

    httpx.ASGITransport and Starlette's TestClient report the host of their base URL as the
    ``server``. A server that listens reports the address of its socket, or None: never a name.
    """
    if not server or _address(name) is not None:
        return False
    return str(server[0]).lower().removesuffix('.') == name


def client_address(host: str) -> str:
    """The address that limits count. For IPv6 its network: one client has many addresses there."""
    address = _address(host)
    if address is None or address.version == 4:
        return host if address is None else str(address)
    return str(ipaddress.ip_network((int(address), 64), strict=False))


# --- What one address may take -----------------------------------------------------------------

MAX_CLIENTS = 4096  # clients with a stored bucket
# Wrong tokens. Every token is compared, so that the right one works at any time and from any
# address. Beyond the limit a guess is answered 429 and costs its connection.
PER_ADDRESS = 10  # wrong tokens at once
PER_ADDRESS_S = 0.1  # further ones per second
IN_TOTAL = 100
IN_TOTAL_S = 1.0


class TokenBuckets:
    """A token bucket per client. ``rate``: tokens per second. The least recently seen client is
    removed first; a removed client gets a full bucket again.
    """

    def __init__(
        self,
        rate: float,
        burst: float,
        *,
        clients: int = MAX_CLIENTS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate, self._burst, self._clients, self._clock = rate, burst, clients, clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # level, time

    def seconds_until_granted(self, client: str) -> float:
        """0.0: the request is granted; otherwise the seconds until the next one is."""
        now = self._clock()
        level, at = self._levels.pop(client, (self._burst, now))
        level = min(self._burst, level + max(0.0, now - at) * self._rate)
        granted = level >= 1.0
        self._levels[client] = (level - 1.0 if granted else level, now)
        if len(self._levels) > self._clients:
            self._levels.popitem(last=False)
        return 0.0 if granted else (1.0 - level) / self._rate

    def __len__(self) -> int:
        return len(self._levels)


class WrongTokens:
    """Thread-safe: the stop is served in a thread of its own. Memory is bounded by MAX_CLIENTS."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._addresses = TokenBuckets(PER_ADDRESS_S, PER_ADDRESS, clock=clock)
        self._total = TokenBuckets(IN_TOTAL_S, IN_TOTAL, clients=1, clock=clock)

    def record(self, address: str) -> float:
        """Count a wrong token. 0.0: it is within the limits; otherwise the seconds until the next
        one is.
        """
        with self._lock:
            wait_s = self._addresses.seconds_until_granted(address)
            # An address over its limit takes nothing from the others.
            return wait_s or self._total.seconds_until_granted('')


# --- The token, and the sessions of pages ------------------------------------------------------

PAGE_SESSION = 'curiosity.page_session'  # of a scope: whether the request has a page's session
SESSION_LIFETIME_S = 30 * 86_400
SALT = b'curiosity rosa: the session of the page'
HASH_ROUNDS = 100_000  # makes it expensive to guess the token from a cookie


class Sessions:
    """``token``: signs the sessions; if it is empty, they end with this process."""

    def __init__(self, token: str = '', clock: Callable[[], float] = time.time) -> None:
        key = secrets.token_bytes(32)
        if token:
            key = hashlib.pbkdf2_hmac('sha256', token.encode(), SALT, HASH_ROUNDS)
        self._clock = clock
        self._signer = TimestampSigner(key, digest_method=hashlib.sha256)
        self._signer.get_timestamp = lambda: int(clock())  # type: ignore[method-assign]

    def create(self) -> str:
        """A new session's ID, for the cookie."""
        return self._signer.sign(secrets.token_hex(16)).decode()

    def is_valid(self, session_id: str) -> bool:
        try:
            _, created = self._signer.unsign(session_id, return_timestamp=True)
        except BadSignature:
            return False
        return self._clock() - created.timestamp() < SESSION_LIFETIME_S


def cookie_name(host: str) -> str:
    """Cookies ignore the port, so the name contains it."""
    port = host.rpartition(':')[2]
    return f'curiosity_{port if port.isdigit() else "page"}'


def set_cookie(host: str, session_id: str, *, secure: bool) -> str:
    """The value of a Set-Cookie header."""
    attributes = f'Path=/; Max-Age={SESSION_LIFETIME_S}; HttpOnly; SameSite=Strict'
    return f'{cookie_name(host)}={session_id}; {attributes}{"; Secure" if secure else ""}'


def digest(token: bytes) -> bytes:
    """Of a fixed length: comparing it takes a time that tells nothing of the token."""
    return hashlib.sha256(token).digest()
