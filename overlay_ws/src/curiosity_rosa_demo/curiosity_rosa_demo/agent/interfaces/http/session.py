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

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
import hashlib
import hmac
import re
import secrets
import threading
import time
from typing import TypeVar

from curiosity_rosa_demo.agent.interfaces.http.limits import MAX_CLIENTS, TokenBuckets
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import SkillRunner
from curiosity_rosa_demo.agent.tasks.task import StoreError, TaskError

# --- Limits for wrong tokens, per address and in total -----------------------------------------
# Every token is compared, so that the right one works at any time and from any address. What is
# limited are the answers to wrong ones: beyond the limit a guess is answered 429 and costs its
# connection.


PER_ADDRESS = 10  # wrong tokens at once
PER_ADDRESS_S = 0.1  # further ones per second
IN_TOTAL = 100
IN_TOTAL_S = 1.0


class WrongTokens:
    """Thread-safe: the stop is served in a thread of its own. Memory is bounded by MAX_CLIENTS."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._addresses = TokenBuckets(
            PER_ADDRESS_S, PER_ADDRESS, clients=MAX_CLIENTS, clock=clock
        )
        self._total = TokenBuckets(IN_TOTAL_S, IN_TOTAL, clients=1, clock=clock)

    def record(self, address: str) -> float:
        """Count a wrong token. 0.0: it is within the limits; otherwise the seconds until the next
        one is.
        """
        with self._lock:
            wait_s = self._addresses.seconds_until_granted(address)
            # An address over its limit takes nothing from the others.
            return wait_s or self._total.seconds_until_granted('')


PAGE_SESSION = 'curiosity.page_session'  # of a scope: whether the request has a page's session
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


# --- Calls into the SkillRunner, in the loop to which it belongs -------------------------------


T = TypeVar('T')


class RunnerAccess:
    """With a ``robot``, the runner belongs to the robot's loop, in another thread.

    Without one, the runner belongs to the server's loop. The first request starts it if needed, so
    that tasks can be submitted and queried without a lifespan. Tasks run only in a lifespan.
    """

    def __init__(self, runner: SkillRunner, robot: Robot | None) -> None:
        self.runner = runner
        self._robot = robot
        self._starting: asyncio.Task[bool] | None = None

    async def call(self, work: Callable[[SkillRunner], Awaitable[T]]) -> T:
        """Run ``work`` in the runner's loop; returns its result or raises its exception."""

        async def run() -> T:
            return await work(self.runner)

        if self._robot is not None:
            return await self._robot.call(run())
        await self.start()
        return await run()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the tasks within the context, then stop the runner. Ignores a foreign runner."""
        if self._robot is not None or not await self.start():
            yield
            return
        loop = asyncio.get_running_loop().create_task(self.runner.run_loop())
        try:
            yield
        finally:
            await self.runner.stop()
            await loop

    async def start(self) -> bool:
        """Start the runner. False: other code had started it already. Raises StoreError."""
        if self._starting is None:
            self._starting = asyncio.get_running_loop().create_task(self._start())
        return await asyncio.shield(self._starting)

    async def _start(self) -> bool:
        try:
            await self.runner.start()
        except StoreError:
            raise
        except TaskError:
            return False
        return True
