# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An agent without a console: who wants something of it comes by HTTP or by the action."""

from __future__ import annotations

from contextlib import suppress
import queue
import signal
import sys

END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POLL_PERIOD_S = 0.2


def print_addresses(url: str, action: str) -> None:
    """On the error stream: where it can be reached. ``url`` is empty without a page."""
    page = f'at {url} and from' if url else 'without a page, only from'
    print(f'agent: headless; orders come {page} the action {action}', file=sys.stderr, flush=True)


def wait_for_a_signal() -> None:
    """Until one of ENDS comes; in the main thread.

    A queue and no Event: a second signal may come while the first one is being taken, and
    SimpleQueue.put can stand that. A bounded wait in a loop: one that comes in the moment before
    the wait would not end it.
    """
    told: queue.SimpleQueue[int] = queue.SimpleQueue()
    for signum in END_SIGNALS:
        signal.signal(signum, lambda number, _: told.put(number))
    while True:
        with suppress(queue.Empty):
            told.get(timeout=POLL_PERIOD_S)
            return
