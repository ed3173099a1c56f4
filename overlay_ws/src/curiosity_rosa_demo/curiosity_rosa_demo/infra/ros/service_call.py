# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A blocking service call with a deadline and retries."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
import math
import threading
import time
from typing import Any

from curiosity_rosa_demo.domain.models import Json, service_timeout, service_unavailable
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.clocks import MIN_WAIT_S
from curiosity_rosa_demo.infra.ros.publishers import TRANSPORT_ERRORS
from rclpy.client import Client

SEND_AGAIN_S = 0.05  # delay after the transport refused a request


class ServiceFailed(Exception):
    """The service was unavailable, did not respond in time, or refused. The message is the reason
    for people; ``code`` is of domain/refusal.py, '' for none; ``facts`` are what the reason says.
    """

    def __init__(self, reason: str, code: str = '', facts: Json | None = None) -> None:
        super().__init__(reason)
        self.code, self.facts = code, facts or {}


def call(
    client: Client,
    request: Any,
    *,
    timeout_s: float,
    discovery_s: float | None = None,
    done: threading.Event | None = None,
    sending: Callable[[], AbstractContextManager[Any]] = nullcontext,
    again_s: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Any:
    """Send ``request`` and return the response. Call it from a thread other than the one that
    spins ``client``.

    ``timeout_s``: seconds of ``clock`` for the response; ``clock`` is never faster than the steady
    one. ``discovery_s``: steady seconds until the service must be found; None: ``timeout_s``.
    ``done``: setting it ends the wait for the response. ``sending``: returns the context manager
    that each send runs in. ``again_s``: an idempotent request is sent again at this period, since
    a killed server may have received the first one. A request that a saturated transport refused
    is always sent again. Raises ServiceFailed.
    """
    name = client.srv_name
    find_s = timeout_s if discovery_s is None else discovery_s
    if not client.service_is_ready() and not client.wait_for_service(timeout_sec=find_s):
        raise ServiceFailed(service_unavailable(name), RefusalCode.NO_SERVICE.value)
    done = done or threading.Event()
    until_s = clock() + timeout_s
    send_at_s = -math.inf  # steady
    futures = []
    while not done.is_set() and (left_s := until_s - clock()) > 0.0:
        if (now_s := time.monotonic()) >= send_at_s:
            try:
                with sending():
                    futures.append(client.call_async(request))
            except TRANSPORT_ERRORS:
                send_at_s = now_s + SEND_AGAIN_S
            else:
                futures[-1].add_done_callback(lambda _: done.set())
                send_at_s = math.inf if again_s is None else now_s + again_s
        done.wait(max(MIN_WAIT_S, min(left_s, send_at_s - now_s)))
    for future in futures:
        if not future.done():
            client.remove_pending_request(future)
    for future in futures:
        if future.done() and not future.cancelled():
            return future.result()
    raise ServiceFailed(service_timeout(name), RefusalCode.NO_ANSWER.value)
