# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page's session: a signed cookie that other sites cannot send. With a token it outlives the
server.
"""

from __future__ import annotations

from collections.abc import Callable
import hashlib
import hmac
import re
import secrets
import time

SESSION_LIFETIME_S = 30 * 86_400
SALT = b'curiosity rosa: the session of the page'
HASH_ROUNDS = 100_000  # makes it expensive to guess the token from a cookie
_ID = re.compile(r'([0-9]{1,12})\.([0-9a-f]{32})\.([0-9a-f]{64})', re.ASCII)


class Sessions:
    """``token``: signs the sessions; if it is empty, they end with this process."""

    def __init__(self, token: str = '', clock: Callable[[], float] = time.time) -> None:
        self._key = secrets.token_bytes(32)
        if token:
            self._key = hashlib.pbkdf2_hmac('sha256', token.encode(), SALT, HASH_ROUNDS)
        self._clock = clock

    def create(self) -> str:
        """A new session's ID, for the cookie."""
        body = f'{int(self._clock())}.{secrets.token_hex(16)}'
        return f'{body}.{self._sign(body)}'

    def is_valid(self, session_id: str) -> bool:
        found = _ID.fullmatch(session_id)
        if found is None:
            return False
        signed = hmac.compare_digest(self._sign(f'{found[1]}.{found[2]}'), found[3])
        return signed and self._clock() - int(found[1]) < SESSION_LIFETIME_S

    def _sign(self, body: str) -> str:
        return hmac.new(self._key, body.encode(), 'sha256').hexdigest()


def cookie_name(host: bytes) -> str:
    """Cookies ignore the port, so the name contains it."""
    port = host.rpartition(b':')[2]
    return f'curiosity_{port.decode() if port.isdigit() else "page"}'


def set_cookie(host: bytes, session_id: str, *, secure: bool) -> str:
    """The value of a Set-Cookie header."""
    attributes = f'Path=/; Max-Age={SESSION_LIFETIME_S}; HttpOnly; SameSite=Strict'
    return f'{cookie_name(host)}={session_id}; {attributes}{"; Secure" if secure else ""}'
