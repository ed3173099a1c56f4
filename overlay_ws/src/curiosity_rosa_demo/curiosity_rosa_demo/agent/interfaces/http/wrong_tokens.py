# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Limits for wrong tokens, per address and in total.

Every token is compared, so that the right one works at any time and from any address. What is
limited are the answers to wrong ones: beyond the limit a guess is answered 429 and costs its
connection.
"""

from __future__ import annotations

from collections.abc import Callable
import threading
import time

from curiosity_rosa_demo.agent.interfaces.http.limits import MAX_CLIENTS, TokenBuckets

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
