# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An agent without a console: clients use HTTP or the action."""

from __future__ import annotations

from contextlib import suppress
import queue
import signal
import sys

END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POLL_PERIOD_S = 0.2


def print_addresses(url: str, action: str) -> None:
    """Print the addresses of the agent to standard error. ``url`` is empty without a page."""
    page = f'at {url} and from' if url else 'without a page, only from'
    print(f'agent: headless; orders come {page} the action {action}', file=sys.stderr, flush=True)


def wait_for_a_signal() -> None:
    """Block until one of END_SIGNALS arrives. Call it in the main thread.

    The handler uses SimpleQueue.put, which is reentrant, because a second signal can interrupt
    the handler of the first. The wait is bounded and repeated: a signal that arrives just before
    a wait does not end it.
    """
    signals: queue.SimpleQueue[int] = queue.SimpleQueue()
    for signum in END_SIGNALS:
        signal.signal(signum, lambda number, _: signals.put(number))
    while True:
        with suppress(queue.Empty):
            signals.get(timeout=POLL_PERIOD_S)
            return
